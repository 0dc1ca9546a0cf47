"""The coordinator's state about one program at the other end of a link."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from skyloop.links.loop.peer import Peer
from skyloop.links.loop.task_deadlines import TaskDeadlines
from skyloop_client.codec import size_of
from skyloop_client.messages import Event, Message

STEP = math.log(1.01)
"""Times within one percent share a bin, so that a long flight needs no more memory."""
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}


@dataclass(slots=True)
class CycleTimes:
    """Computation between an answer and the next question, ET, of all cycles."""

    count: int = 0
    longest_ns: int = 0
    _counts: Counter[int] = field(default_factory=Counter)

    def join(self, other: CycleTimes) -> None:
        """Takes in the cycles of another program."""
        self.count += other.count
        self.longest_ns = max(self.longest_ns, other.longest_ns)
        self._counts.update(other._counts)

    def add(self, ns: int) -> None:
        self.count += 1
        self.longest_ns = max(self.longest_ns, ns)
        self._counts[round(math.log(max(ns, 1)) / STEP)] += 1

    def quantile(self, share: float) -> float:
        """s, within one percent: the quantile of the cycle times."""
        passed = 0
        for bin_ in sorted(self._counts):
            passed += self._counts[bin_]
            if passed >= share * self.count:
                return min(math.exp(bin_ * STEP), self.longest_ns) / 1e9
        return 0.0

    def plain(self) -> dict[str, float]:
        found = {name: self.quantile(share) for name, share in QUANTILES.items()}
        return {"count": self.count, **found, "max": self.longest_ns / 1e9}


@dataclass(slots=True)
class EnergyMeter:
    """Energy of one computer over simulated time."""

    watts: float = 0.0
    """W, the current power."""
    _joules: float = 0.0
    _since_ns: int = 0

    def turn_to(self, watts: float, t_ns: int) -> None:
        self._joules, self._since_ns, self.watts = self.joules(t_ns), t_ns, watts

    def joules(self, t_ns: int) -> float:
        """J used so far."""
        return self._joules + self.watts * (t_ns - self._since_ns) / 1e9


# ---- sessions


@dataclass(slots=True)
class Deadlines:
    """Deadlines that a SUT declared, and the misses."""

    period_ns: int | None = None
    duration_ns: int | None = None
    met: int = 0
    missed: int = 0
    worst_ns: int = 0
    """The largest excess over the deadline."""

    @property
    def declared(self) -> bool:
        return self.period_ns is not None or self.duration_ns is not None

    def check(self, since_asked_ns: int | None, computed_ns: int) -> str:
        """The missed deadlines as text."""
        over = []
        if self.period_ns is not None and since_asked_ns is not None and since_asked_ns > self.period_ns:
            over.append(("period", since_asked_ns, self.period_ns))
        if self.duration_ns is not None and computed_ns > self.duration_ns:
            over.append(("duration", computed_ns, self.duration_ns))
        for _, took, allowed in over:
            self.worst_ns = max(self.worst_ns, took - allowed)
        self.missed += bool(over)
        self.met += self.declared and not over
        return ", ".join(f"{what} {took / 1e6:.1f} ms, {allowed / 1e6:.1f} declared" for what, took, allowed in over)


@dataclass(slots=True)
class Question:
    """An `ask` that is not answered yet."""

    number: int
    et_ns: int
    send: list[object]
    want: list[str]
    wants_all: bool
    """All streams of its vehicle that exist when it takes effect."""
    fresh: set[str]
    any_of: set[str]
    """Answered when one of these has a new message. Empty if one had, or if none was requested."""
    takes_held: bool
    """The held messages come with the answer."""
    publish: list[object]
    """Pairs of a name and a record."""
    until_ns: int
    slept_ns: int
    due_ns: int
    """The ST at which it takes effect."""
    st_asked_ns: int
    wall_asked_ns: int
    acted_ns: int | None = None
    commands: int = 0
    """Number of commands in it."""
    wall_acted_ns: int = 0
    refused: list[str] = field(default_factory=list)


ROLES = ("estimator", "companion", "pilot", "watcher")
"""In the order in which questions of one instant take effect."""
MOST_HELD = 10_000
MOST_HELD_BYTES = 128 << 20
"""Messages held for one session: more than a second of several cameras."""


class HeldMessages:
    """All messages of some streams until a session takes them. If there are too many, the oldest are dropped."""

    def __init__(self) -> None:
        self.streams: set[str] = set()
        self.lost = 0
        """Number dropped since the last take."""
        self._messages: deque[tuple[Message, int]] = deque()
        self._bytes = 0

    def __bool__(self) -> bool:
        return bool(self._messages)

    def put(self, message: Message) -> None:
        size = size_of(message.data)
        self._messages.append((message, size))
        self._bytes += size
        while len(self._messages) > MOST_HELD or self._bytes > MOST_HELD_BYTES:
            self._bytes -= self._messages.popleft()[1]
            self.lost += 1

    def has(self, stream: str) -> bool:
        return any(message.stream == stream for message, _ in self._messages)

    def take(self) -> tuple[list[Message], int]:
        """All messages, and the number dropped."""
        messages, lost = [message for message, _ in self._messages], self.lost
        self._messages.clear()
        self._bytes = self.lost = 0
        return messages, lost


@dataclass(slots=True)
class ClientSession:
    """One session of a pilot, companion or watcher."""

    token: str
    peer: Peer
    vehicle: str
    role: str
    client: str
    deadlines: Deadlines
    bound_ns: int
    """Its execution time is at least this."""
    went_on_ns: int
    """Execution time at which it began to compute."""
    claimed: str = ""
    """The stream of the estimator that it provides."""
    question: Question | None = None
    parts: dict[str, Peer] = field(default_factory=dict)
    """By stream: the further connections that carry it."""
    joined: list[Peer] = field(default_factory=list)
    """The connections after the first."""
    given: dict[str, int] = field(default_factory=dict)
    """By stream: the number of the newest sample it was given."""
    held: HeldMessages = field(default_factory=HeldMessages)
    """Held messages of the streams requested with `every`."""
    known_streams: set[str] = field(default_factory=set)
    """Streams that it knows."""
    n_known_streams: int = 0
    """Number of streams at the last search for new ones."""
    events: deque[Event] = field(default_factory=lambda: deque(maxlen=100))
    """Events of its vehicle that were not sent yet."""
    asked_ns: int | None = None
    """ET of its last question."""
    heard: float = 0.0
    """Wall time of the last message."""
    busy_ns: int = 0
    """ET spent computing."""
    slept_ns: int = 0
    """ET spent in sleeps that the simulator did not know of."""
    said_bye: bool = False
    tasks: TaskDeadlines = field(default_factory=TaskDeadlines)
    """The tasks that it reports."""
    cycles: CycleTimes = field(default_factory=CycleTimes)
    """ET it computed between an answer and the next question."""
    hears_energy: bool = False
    """Its answers include the battery and its computer's energy."""
    meter: EnergyMeter = field(default_factory=EnergyMeter)
    """Energy of its computer."""

    @property
    def watch(self) -> bool:
        return self.role == "watcher"

    @property
    def rank(self) -> int:
        """If several questions are due at one instant, the lowest goes first."""
        return ROLES.index(self.shown_role)

    @property
    def order(self) -> tuple[int, str, str]:
        """In which questions of one instant take effect, whoever's came first."""
        return self.rank, self.vehicle, self.claimed

    @property
    def shown_role(self) -> str:
        """For people. A pilot that also gives estimates is shown as a pilot."""
        return "estimator" if self.claimed and self.role != "pilot" else self.role

    @property
    def sender(self) -> str:
        """Its name for error messages to others that publish under the same name."""
        return f"the {self.role} at {self.peer.name}"

    def is_due(self, t_ns: int) -> bool:
        """Whether it has a question that takes effect by then."""
        question = self.question
        return question is not None and question.acted_ns is None and question.due_ns <= t_ns

    @property
    def blocks_time(self) -> bool:
        """It computes, so time may not pass `bound_ns`."""
        return not self.watch and self.question is None

    @property
    def computes(self) -> bool:
        """At this instant of simulated time, which is before its question."""
        return self.question is None or self.question.acted_ns is None

    def take_back_memory(self, starts: Iterable[int] | None) -> None:
        """What it no longer uses of the memory shared with it; None: it uses that memory no longer, or never could."""
        memory = self.peer.memory
        if memory is None:
            return
        if starts is None:
            self.peer.memory = None
            memory.close()
        else:
            memory.take_back(starts)
