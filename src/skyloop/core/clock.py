"""Simulated time. Only the clock moves it; how fast, and whether at all, is up to its pacing and gates."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from skyloop_client.streams import NS_PER_S


class Pacing(Protocol):
    def wait(self, t_ns: int) -> None:
        """Return when simulated time may reach `t_ns`."""

    def restart(self) -> None:
        """Time was set to another instant: pace from there."""


class Gate(Protocol):
    def pass_to(self, t_ns: int) -> int:
        """Return when whoever holds the gate (an autopilot, a paused SUT) lets time go on: to `t_ns`, or to an earlier
        instant at which something came up.
        """


class FreeRunning:
    """As fast as the machine goes."""

    def wait(self, t_ns: int) -> None:
        pass

    def restart(self) -> None:
        pass


GIVE_UP_S = 1.0
"""s of wall time behind from which on nothing is caught up: a pause between two runs, or a slow machine."""


class RealTime:
    """A fixed number of simulated seconds per second of wall time; never catches up by skipping, starts anew when
    time was set or is too far behind.
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
        self._started = False

    def restart(self) -> None:
        self._started = False

    def wait(self, t_ns: int) -> None:
        due = t_ns / NS_PER_S / self.factor
        if not self._started:
            self._start = self._wall() - due
            self._started = True
        ahead = self._start + due - self._wall()
        if ahead > 0:
            self._sleep(ahead)
            return
        self.worst_lateness = max(self.worst_lateness, -ahead)
        self._started = -ahead <= GIVE_UP_S


class Clock:
    """The one owner of simulated time."""

    def __init__(self, pacing: Pacing | None = None, gates: tuple[Gate, ...] = ()) -> None:
        self.now_ns = 0
        self.pacing: Pacing = pacing or FreeRunning()
        self.gates = gates

    def advance(self, t_ns: int) -> int:
        """To an instant, or to an earlier one if a gate says so; returns which."""
        for gate in self.gates:
            t_ns = gate.pass_to(t_ns)
        self.pacing.wait(t_ns)
        self.now_ns = t_ns
        return t_ns

    def set(self, t_ns: int) -> None:
        """Go to an instant without passing through the time between."""
        self.now_ns = t_ns
        self.pacing.restart()
