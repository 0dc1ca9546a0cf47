"""Imitates a slower computer in real time: its questions leave when that computer would have sent them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skyloop_client.proxy import Proxy


class SlowBoard:
    """One core of `speed`: computation takes longer by that factor, and questions wait for it."""

    def __init__(self, cpu_ns: Callable[[], int], speed: float) -> None:
        self._cpu_ns = cpu_ns
        self._speed = speed
        self._free_at = 0.0
        """Wall s at which the board has finished all its work so far."""
        self._counted_ns: int | None = None
        """Processor time up to which work was counted. None before the connection: preparation does not count."""
        self._waiting: list[tuple[float, Proxy, bytes]] = []

    @property
    def busy(self) -> bool:
        """Whether a question waits for the board."""
        return bool(self._waiting)

    def goes_on(self) -> None:
        """It got an answer: the next computation begins now, or when the board has finished the rest."""
        self._count()
        self._free_at = max(self._free_at, time.perf_counter())

    def send(self, passage: Proxy, frame: bytes) -> None:
        """Forward a question when the board would have sent it."""
        self._count()
        self._waiting.append((self._free_at, passage, frame))

    def let_pass(self) -> float:
        """Send the questions that are due. Returns wall s until the next."""
        now = time.perf_counter()
        while self._waiting and self._waiting[0][0] <= now:
            _, passage, frame = self._waiting.pop(0)
            passage.simulator.write(frame)
        return self._waiting[0][0] - now if self._waiting else 1.0

    def _count(self) -> None:
        spent_ns = self._cpu_ns()
        if self._counted_ns is not None:
            self._free_at += 1e-9 * (spent_ns - self._counted_ns) / self._speed
        self._counted_ns = spent_ns
