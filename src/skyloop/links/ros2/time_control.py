"""Whether simulated time may pass: pauses, steps, and waiting for the answer of a node (lockstep)."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from skyloop.recording.ros2.types import STORE, decode
from skyloop_client.errors import LinkError, ScenarioError
from skyloop_client.streams import NS_PER_S, Rate

log = logging.getLogger(__name__)

SETTLE_S = 1.0
"""Wall s after a node was found until time begins: its own subscriptions need as long."""
FIRST_S = 0.5
"""Wall s to wait at an instant as long as nothing was ever answered."""
PATIENCE_S = 10.0
"""Wall s to wait for an answer. A node that is silent for longer is taken for lost, and time goes on without it."""
MOST_WAITING = 1000
"""Answers that wait for their instant. A node that sends more without stamps runs ever further ahead."""


class Pauses:
    """Time stands still while paused, except for steps that somebody asked for."""

    def __init__(self) -> None:
        self.paused = False
        self._until_ns: int | None = None
        self._done: Callable[[int], None] = lambda t_ns: None

    @property
    def is_stepping(self) -> bool:
        return self._until_ns is not None

    def run_to(self, t_ns: int, done: Callable[[int], None]) -> None:
        """Only while paused. `done` is called with the instant, when everything at it has happened."""
        self._until_ns, self._done = t_ns, done

    def cancel(self) -> None:
        self._until_ns = None

    def stop_at(self, t_ns: int) -> int:
        return t_ns if self._until_ns is None else min(t_ns, self._until_ns)

    def look(self, now_ns: int) -> None:
        if self._until_ns is not None and now_ns >= self._until_ns:
            done, self._until_ns = self._done, None
            done(now_ns)

    def blocks_time(self, t_ns: int) -> bool:
        return self.paused and (self._until_ns is None or t_ns > self._until_ns)


@dataclass(slots=True)
class Lockstep:
    """Time waits at every due instant of `rate` for a message of the node that is newer than the instant before.

    One message counts at each instant and is obeyed there, at whatever moment it came; those after it wait for the next
    instant. So a flight does not depend on how many more a node sends, and when. The first instant is 0. A node may
    have to wait for its first input: until its first answer an instant lasts FIRST_S at most."""

    topic: str
    rate: Rate
    is_there: Callable[[], bool]
    """Whether the node's publisher was found."""
    lost: Callable[[], None]
    """Called once, when it was silent for too long."""
    answers: int = 0
    """Messages that were obeyed."""
    surplus: int = 0
    """Messages that came when their instant had been answered already."""
    waited_s: float = 0.0
    """Wall s in which time stood still for it."""
    _next: int = 0
    _waiting: deque[tuple[int | None, Callable[[], None]]] = field(default_factory=deque)
    """Stamps and what to do, in the order in which they came."""
    _found: float | None = None
    _since: float | None = None
    _is_over: bool = False
    _told: set[str] = field(default_factory=set)

    def stop_at(self, t_ns: int, now_ns: int) -> int:
        halt_ns = self.rate.due_ns(self._next)
        return t_ns if self._is_over or now_ns >= halt_ns else min(t_ns, halt_ns)

    def answer(self, stamp_ns: int | None, obey: Callable[[], None]) -> None:
        """A message with its stamp. One without a stamp counts for any instant."""
        if self._is_over:
            obey()
        elif len(self._waiting) < MOST_WAITING:
            self._waiting.append((stamp_ns, obey))
        else:
            self.surplus += 1
            self._tell_once(
                f"{MOST_WAITING} answers on {self.topic} wait for their instants, and no more are kept; send one per "
                "instant, or give them the stamp of what they answer"
            )

    def _obey_one(self) -> bool:
        """The first message that is newer than the instant before. Older ones are answers too many."""
        before_ns = self.rate.due_ns(self._next - 1)
        while self._waiting:
            stamp_ns, obey = self._waiting.popleft()
            if stamp_ns is None or stamp_ns > before_ns:
                self.answers += 1
                obey()
                return True
            self.surplus += 1
            if stamp_ns == 0 and self._next > 1:
                self._tell_once(
                    f"answers on {self.topic} have no stamp, so nobody knows what they answer; copy the stamp of the "
                    "message they answer, or use a type without a header"
                )
        return False

    def _tell_once(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            log.warning("ROS 2: %s", line)

    def blocks_time(self, t_ns: int) -> bool:
        """Whether time must not advance to `t_ns` yet."""
        if self._is_over:
            return False
        if not self._is_ready():
            return True
        if t_ns <= self.rate.due_ns(self._next):
            return False
        if self._since is None:
            self._since = time.perf_counter()
        waited = time.perf_counter() - self._since
        is_answered = self._obey_one()
        self._is_over = not is_answered and self.answers > 0 and waited > PATIENCE_S
        if self._is_over:
            self.lost()
        if is_answered or self._is_over or (not self.answers and waited > FIRST_S):
            self._next += 1
            self.waited_s += waited
            self._since = None
        # the stop was chosen before; it is chosen again
        return not self._is_over

    def _is_ready(self) -> bool:
        if self._found is None and self.is_there():
            self._found = time.perf_counter()
        return self._found is not None and time.perf_counter() - self._found >= SETTLE_S


def parsed(text: str) -> tuple[str, Rate]:
    """`/drone/cmd_vel` or `/drone/cmd_vel@30`: the topic of the answers, and how many per simulated second."""
    topic, _, hz = text.partition("@")
    try:
        rate = Rate.from_hz(hz) if hz else Rate(50)
    except (ValueError, ZeroDivisionError, ScenarioError):
        raise LinkError(f"--ros2-lockstep {text}: '{hz}' is no rate; give TOPIC or TOPIC@HZ") from None
    return topic, rate


# ---- stamps


def stamp_of(kind: str, data: bytes) -> int | None:
    """ns, or None where there is none: in a type without a header, or in bytes that are no message."""
    if STORE.fielddefs[kind][1][0][0] != "header":
        return None
    try:
        stamp = decode(kind, data).header.stamp
    except ValueError:
        return None
    return int(stamp.sec * NS_PER_S + stamp.nanosec)
