"""What every landing board is to the simulator, and the time its turns take.

A board works in turns: one for each image its logic has seen, or one after a while without images, so that it answers
the PC all the same. A turn that takes long makes the next one late, and images that come meanwhile are missed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skyloop_client.errors import LinkError
from skyloop_landing.board.simulated_uart import StampedBytes

ObjectWords: TypeAlias = NDArray[np.uint32]
"""The logic's list of one image, as docs/explanations/landing-detector.md lays it out."""
TRANSFER_NS = 16_000_000
"""720p60 has 750 lines of 1650 clocks at 74.25 MHz. The 720th line has gone over the cable after 16 ms."""
IDLE_NS = 20_000_000
"""Without an image for this long, a board turns all the same."""
MIN_AREA = 32


@dataclass(frozen=True, slots=True)
class Turn:
    """What a board did in one turn."""

    sent: bytes
    execution_ns: int


class BoardProgram(Protocol):
    """The software of a board, wherever it runs."""

    @property
    def name(self) -> str: ...

    @property
    def least_area(self) -> int:
        """px: smaller objects need not be listed by the logic."""

    def turn(self, t_ns: int, received: bytes, words: ObjectWords | None) -> Turn:
        """received: from the PC since the last turn. words: the list of a new image, if there is one."""

    def close(self) -> None: ...


class LandingBoard(Protocol):
    """A board on the serial line, that sees by the logic's object lists."""

    @property
    def name(self) -> str: ...

    @property
    def has_own_line(self) -> bool:
        """Its bytes travel in wall time on a real line, so no line is simulated for it. It sees the video output."""

    @property
    def least_area(self) -> int:
        """px: smaller objects need not be listed."""

    def advance(
        self, t_ns: int, received: Sequence[StampedBytes], words: ObjectWords | None = None
    ) -> list[StampedBytes]:
        """Everything the board sends up to `t_ns` and what it has begun by then, with the instants it is handed over.

        `received`: bytes with the instants they arrived, none later than `t_ns`. `words`: the list of an image that
        was taken at `t_ns`. Instants must not go back.
        """

    def summary(self) -> dict[str, Any]: ...

    def close(self) -> None: ...


@dataclass(slots=True)
class TurnTimes:
    """Execution times of a board's turns with an image."""

    count: int = 0
    missed: int = 0
    """Images that were replaced by newer ones before the board could look."""
    total_ns: int = 0
    least_ns: int = 0
    most_ns: int = 0

    def add(self, execution_ns: int) -> None:
        self.least_ns = min(self.least_ns, execution_ns) if self.count else execution_ns
        self.most_ns = max(self.most_ns, execution_ns)
        self.total_ns += execution_ns
        self.count += 1

    def summary(self) -> dict[str, float]:
        mean = self.total_ns / self.count if self.count else 0.0
        return {
            "images": self.count, "images_missed": self.missed, "execution_us_least": self.least_ns / 1e3,
            "execution_us_mean": mean / 1e3, "execution_us_most": self.most_ns / 1e3,
        }  # fmt: skip


@dataclass(slots=True)
class TurningBoard:
    """A board program in simulated time: it starts when the list is there and sends when it has computed."""

    program: BoardProgram
    transfer_ns: int = TRANSFER_NS
    """From the image's instant to its list: the way over the video cable through the logic."""
    slower: float = 1.0
    """A slower computer: every turn takes so many times as long."""
    latency_ns: int = 0
    """By which answers come later, without keeping the board from the next image: more latency, the same rate."""
    times: TurnTimes = field(default_factory=TurnTimes)
    _lists: deque[tuple[int, ObjectWords]] = field(default_factory=deque)
    _received: deque[StampedBytes] = field(default_factory=deque)
    _busy_until_ns: int = 0
    _last_start_ns: int = 0
    has_own_line: bool = False

    def __post_init__(self) -> None:
        if not self.slower >= 1.0:
            raise LinkError(f"a board throttled by {self.slower:g}: give 1 or more")
        if self.latency_ns < 0:
            raise LinkError(f"a latency of {self.latency_ns} ns: give 0 or more")

    @property
    def name(self) -> str:
        slower = f", {self.slower:g} times slower" if self.slower > 1.0 else ""
        return self.program.name + slower + (f", {self.latency_ns / 1e6:g} ms late" if self.latency_ns else "")

    @property
    def least_area(self) -> int:
        return self.program.least_area

    def advance(
        self, t_ns: int, received: Sequence[StampedBytes], words: ObjectWords | None = None
    ) -> list[StampedBytes]:
        self._received.extend(received)
        if words is not None:
            self._lists.append((t_ns + self.transfer_ns, words))
        sent: list[StampedBytes] = []
        while (start_ns := self._next_start_ns()) <= t_ns:
            newest = self._newest(start_ns)
            turn = self.program.turn(start_ns, self._arrived(start_ns), newest)
            execution_ns = round(turn.execution_ns * self.slower)
            if newest is not None:
                self.times.add(execution_ns)
            self._last_start_ns, self._busy_until_ns = start_ns, start_ns + execution_ns
            if turn.sent:
                sent.append(StampedBytes(self._busy_until_ns + self.latency_ns, turn.sent))
        return sent

    def _next_start_ns(self) -> int:
        due_ns = self._last_start_ns + IDLE_NS
        if self._lists:
            due_ns = min(due_ns, self._lists[0][0])
        return max(due_ns, self._busy_until_ns)

    def _arrived(self, start_ns: int) -> bytes:
        taken = bytearray()
        while self._received and self._received[0].t_ns <= start_ns:
            taken += self._received.popleft().data
        return bytes(taken)

    def _newest(self, start_ns: int) -> ObjectWords | None:
        newest = None
        while self._lists and self._lists[0][0] <= start_ns:
            self.times.missed += newest is not None
            newest = self._lists.popleft()[1]
        return newest

    def summary(self) -> dict[str, Any]:
        late = {"latency_ms": self.latency_ns / 1e6} if self.latency_ns else {}
        return {"board": self.name, **self.times.summary(), **late}

    def close(self) -> None:
        self.program.close()
