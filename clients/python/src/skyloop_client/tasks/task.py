"""What a task is: initialisation, a loop until a condition, finalisation. Tasks start tasks.

A task talks to a session in blocking style, so the same one runs in the simulator's process, over a link and on a
target. These files travel to the target: numpy, OpenCV and the foundation's messages, errors and streams are all they
may use. Times are execution times (ET) of the session; no other clock is looked at.
"""

from __future__ import annotations

import dataclasses
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from skyloop_client.bundle import Bundle
from skyloop_client.errors import SkyloopError
from skyloop_client.messages import Request, Setpoint
from skyloop_client.streams import NS_PER_S, StreamInfo

PlainData = dict[str, Any]
"""For JSON."""


class SessionLike(Protocol):
    """The session of a task: `skyloop_client.Session`, or `skyloop.links.loop.in_process.InProcess` without a link."""

    @property
    def vehicle(self) -> str: ...

    @property
    def infos(self) -> Mapping[str, StreamInfo]: ...

    def now(self) -> int: ...

    def ask(
        self,
        *send: Setpoint | Request,
        want: Sequence[str] | None = (),
        fresh: Sequence[str] = (),
        until_ns: int | None = None,
    ) -> Bundle: ...

    def publish(self, name: str, record: object) -> None: ...

    def begin_task(self, name: str, deadline: float | None = None) -> None: ...

    def end_task(self, name: str) -> None: ...


@dataclasses.dataclass
class TaskRecord:
    """The result of one run of a task and of the tasks it started, as plain data."""

    task: str
    options: PlainData
    """Options that differ from the defaults."""
    start_ns: int
    end_ns: int | None = None
    """None while it runs."""
    loops: int = 0
    """Iterations of its loop."""
    result: PlainData = dataclasses.field(default_factory=dict)
    failure: str = ""
    """Why it was aborted. Empty if it was not."""
    children: list[TaskRecord] = dataclasses.field(default_factory=list)

    @property
    def seconds(self) -> float:
        """ET from begin to end. 0 while it runs."""
        return 0.0 if self.end_ns is None else (self.end_ns - self.start_ns) / NS_PER_S

    def plain(self) -> dict[str, object]:
        return dataclasses.asdict(self)

    def json(self) -> str:
        return json.dumps(self.plain(), indent=1)

    def lines(self, deepest: int = 9) -> list[str]:
        """For people: a line for each task, indented below the task that started it."""
        shown = {key: f"{value:.4g}" if isinstance(value, float) else value for key, value in self.result.items()}
        results = ", ".join(f"{key} {value}" for key, value in shown.items())
        line = f"{self.task}: {self.seconds:.3f} s, {self.loops} loops" + (f", {results}" if results else "")
        line += f", broken off: {self.failure}" if self.failure else ""
        below = [f"  {text}" for child in self.children for text in child.lines(deepest - 1)] if deepest > 0 else []
        return [line, *below]


@dataclasses.dataclass
class Task(ABC):
    """A dataclass whose fields are its options. The return value of `finalise` is its result."""

    name: ClassVar[str]
    flies: ClassVar[bool] = True
    """The vehicle must be in the air. A hover follows."""
    deadline: float | None = dataclasses.field(default=None, kw_only=True)
    """s of ET within which it must end. The simulator reports a miss."""

    def __post_init__(self) -> None:
        self.session: SessionLike
        self.record: TaskRecord

    def initialise(self) -> None:  # noqa: B027  (not every task has something to do here)
        """Called once, before the loop."""

    @abstractmethod
    def is_done(self) -> bool:
        """Whether the loop ends. Called before every iteration."""

    @abstractmethod
    def step(self) -> None:
        """One iteration of the loop."""

    def finalise(self) -> PlainData:
        """Called once, after the loop. Returns plain data."""
        return {}

    def perform(self, session: SessionLike) -> TaskRecord:
        """Run the whole task."""
        self.session = session
        self.record = TaskRecord(self.name, changed_options(self), session.now())
        if self.deadline is not None:
            session.begin_task(self.name, self.deadline)
        try:
            self.initialise()
            while not self.is_done():
                self.record.loops += 1
                self.step()
            self.record.result = self.finalise()
        except SkyloopError as error:
            self.record.failure = str(error)
            raise
        finally:
            self.record.end_ns = session.now()
            if self.deadline is not None:
                session.end_task(self.name)
        return self.record

    def run(self, other: Task) -> PlainData:
        """Run another task as a step of this one. Its record is a child of this one's."""
        try:
            return other.perform(self.session).result
        finally:
            self.record.children.append(other.record)

    def ask(self, *send: Setpoint | Request, fresh: str = "") -> Bundle:
        """Ask the session. With `fresh` it waits for that stream's next sample and gets it."""
        streams = [fresh] if fresh else []
        return self.session.ask(*send, want=streams, fresh=streams)


def changed_options(task: Task) -> dict[str, object]:
    """As plain data. Fields with repr=False are not options."""
    options = {field.name: plain(getattr(task, field.name)) for field in dataclasses.fields(task) if field.repr}
    usual = {field.name: plain(field.default) for field in dataclasses.fields(task)}
    return {name: value for name, value in options.items() if value != usual[name]}


def plain(value: object) -> object:
    """The value in a form for JSON."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
