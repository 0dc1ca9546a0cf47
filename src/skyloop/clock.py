"""Simulated time. Only the clock moves it; how fast, and whether at all, is up to its pacing and gates."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from skyloop.streams import NS_PER_S


class Pacing(Protocol):
    def wait(self, t_ns: int) -> None:
        """Return when simulated time may reach `t_ns`."""


class Gate(Protocol):
    def pass_to(self, t_ns: int) -> None:
        """Return when whoever holds the gate (an autopilot, a paused SUT) lets time reach `t_ns`."""


class FreeRunning:
    """As fast as the machine goes."""

    def wait(self, t_ns: int) -> None:
        pass


class RealTime:
    """A fixed number of simulated seconds per second of wall time; never catches up by skipping, starts anew
    when time was set back.
    """

    def __init__(
        self,
        factor: float = 1.0,
        wall: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.factor = factor
        self.worst_lateness = 0.0
        """s of wall time the simulation was behind at worst."""
        self._wall = wall
        self._sleep = sleep
        self._start = 0.0
        self._latest_ns: int | None = None

    def wait(self, t_ns: int) -> None:
        if self._latest_ns is None or t_ns < self._latest_ns:
            self._start = self._wall() - t_ns / NS_PER_S / self.factor
        self._latest_ns = t_ns
        ahead = self._start + t_ns / NS_PER_S / self.factor - self._wall()
        if ahead > 0:
            self._sleep(ahead)
        else:
            self.worst_lateness = max(self.worst_lateness, -ahead)


class Clock:
    """The one owner of simulated time."""

    def __init__(self, pacing: Pacing | None = None, gates: tuple[Gate, ...] = ()) -> None:
        self.now_ns = 0
        self.pacing: Pacing = pacing or FreeRunning()
        self.gates = gates

    def advance(self, t_ns: int) -> None:
        for gate in self.gates:
            gate.pass_to(t_ns)
        self.pacing.wait(t_ns)
        self.now_ns = t_ns
