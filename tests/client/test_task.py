"""Tasks, their loops, and the tree of records."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from skyloop_client.bundle import Bundle
from skyloop_client.errors import TaskError
from skyloop_client.messages import Estimate
from skyloop_client.tasks.task import Task


class Counting:
    """A session in which every question takes a second."""

    vehicle = "drone"
    infos: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.ns = 0
        self.tasks: list[tuple[Any, ...]] = []

    def now(self) -> int:
        return self.ns

    def ask(self, *send: Any, **_: Any) -> Bundle:
        self.ns += 1_000_000_000
        return Bundle(self.ns, "drone", {}, Estimate.unknown(self.ns))

    def begin_task(self, name: str, deadline: float | None = None) -> None:
        self.tasks.append(("begin", name, deadline))

    def end_task(self, name: str) -> None:
        self.tasks.append(("end", name))


def counting() -> Any:
    return Counting()


@dataclass
class Inner(Task):
    name: ClassVar[str] = "inner"
    passes: int = 2

    def is_done(self) -> bool:
        return self.record.loops == self.passes

    def step(self) -> None:
        if self.record.loops == 5:
            raise TaskError("tired")
        self.ask()

    def finalise(self) -> dict[str, Any]:
        return {"passes": self.passes}


@dataclass
class Outer(Task):
    name: ClassVar[str] = "outer"
    inner: tuple[int, ...] = (1, 2)

    def initialise(self) -> None:
        self.ask()
        self.results: list[dict[str, Any]] = []

    def is_done(self) -> bool:
        return len(self.results) == len(self.inner)

    def step(self) -> None:
        self.results.append(self.run(Inner(self.inner[len(self.results)])))

    def finalise(self) -> dict[str, Any]:
        self.ask()
        return {"sum": sum(result["passes"] for result in self.results)}


def test_the_record_is_a_tree_with_times_and_loops() -> None:
    record = Outer().perform(counting())
    assert (record.task, record.loops, record.seconds, record.result) == ("outer", 2, 5.0, {"sum": 3})
    inner = [(child.start_ns // 10**9, child.end_ns, child.loops, child.options) for child in record.children]
    # options that are as usual are not told
    assert inner == [(1, 2 * 10**9, 1, {"passes": 1}), (2, 4 * 10**9, 2, {})]


def test_it_is_printed_and_written() -> None:
    record = Outer((1,)).perform(counting())
    assert record.lines() == ["outer: 3.000 s, 1 loops, sum 1", "  inner: 1.000 s, 1 loops, passes 1"]
    assert record.lines(0) == record.lines()[:1]
    written = json.loads(record.json())
    assert written == record.plain()
    assert written["options"] == {"inner": [1]}
    assert written["children"][0]["result"] == {"passes": 1}


def test_a_loop_that_is_done_before_it_begins_has_no_pass() -> None:
    assert Inner(0).perform(counting()).loops == 0


def test_a_broken_task_leaves_its_record() -> None:
    task = Outer((1, 9))
    with pytest.raises(TaskError, match="tired"):
        task.perform(counting())
    assert task.record.failure == "tired"
    assert task.record.end_ns == 6 * 10**9
    assert [child.failure for child in task.record.children] == ["", "tired"]
    assert "broken off: tired" in task.record.lines()[0]


def test_a_deadline_is_told_to_the_session_and_nothing_without_one() -> None:
    session = counting()
    Outer().perform(session)
    assert session.tasks == [], "a session without deadlines is as it was"
    record = Outer(deadline=4.0).perform(session)
    assert session.tasks == [("begin", "outer", 4.0), ("end", "outer")]
    assert record.options == {"deadline": 4.0}
    with pytest.raises(TaskError):
        Inner(9, deadline=1.5).perform(session)
    assert session.tasks[2:] == [("begin", "inner", 1.5), ("end", "inner")], "it ends when it is broken off, too"
