"""What the coordinator knows of one pilot at the other end of a link."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from skyloop.links.loop.listener import Peer
from skyloop_client.messages import Event


@dataclass(slots=True)
class Deadlines:
    """What a SUT said it would keep, and how it did."""

    period_ns: int | None = None
    duration_ns: int | None = None
    missed: int = 0
    worst_ns: int = 0
    """Beyond the deadline."""

    def check(self, since_asked_ns: int | None, computed_ns: int) -> str:
        """What was missed, in words."""
        over = []
        if self.period_ns is not None and since_asked_ns is not None and since_asked_ns > self.period_ns:
            over.append(("period", since_asked_ns, self.period_ns))
        if self.duration_ns is not None and computed_ns > self.duration_ns:
            over.append(("duration", computed_ns, self.duration_ns))
        for _, took, allowed in over:
            self.worst_ns = max(self.worst_ns, took - allowed)
        self.missed += bool(over)
        return ", ".join(f"{what} {took / 1e6:.1f} ms, {allowed / 1e6:.1f} declared" for what, took, allowed in over)


@dataclass(slots=True)
class Question:
    """An `ask` that was not answered yet."""

    number: int
    et_ns: int
    send: list[Any]
    want: list[str]
    fresh: set[str]
    until_ns: int
    slept_ns: int
    due_ns: int
    """When ST comes to it."""
    st_asked_ns: int
    wall_asked_ns: int
    acted_ns: int | None = None
    commands: int = 0
    """How many it sent."""
    wall_acted_ns: int = 0
    refused: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Pilot:
    """One session; watchers have one, too."""

    token: str
    peer: Peer
    vehicle: str
    watch: bool
    client: str
    deadlines: Deadlines
    bound_ns: int
    """Its execution time is at least this."""
    went_on_ns: int
    """Execution time at which it began to compute."""
    question: Question | None = None
    parts: dict[str, Peer] = field(default_factory=dict)
    """By stream: the connections other than the first that carry it."""
    joined: list[Peer] = field(default_factory=list)
    """The connections other than the first."""
    given: dict[str, int] = field(default_factory=dict)
    """By stream: the number of the newest sample it was given."""
    events: deque[Event] = field(default_factory=lambda: deque(maxlen=100))
    """Of its vehicle, not told yet."""
    asked_ns: int | None = None
    """ET of its last question."""
    heard: float = 0.0
    """Wall time of the last sign of life."""
    busy_ns: int = 0
    """ET spent computing."""
    slept_ns: int = 0
    """ET spent in sleeps the simulator was not told of."""
    said_bye: bool = False

    @property
    def holds_time(self) -> bool:
        """It computes: time may not pass `bound_ns`."""
        return not self.watch and self.question is None
