"""Simulated time. Only the clock moves it. Its pacing and its gates decide how fast it moves, and whether it may."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from skyloop_client.streams import NS_PER_S


class Pacing(Protocol):
    def wait(self, t_ns: int) -> None:
        """Return when simulated time may reach `t_ns`."""

    def restart(self) -> None:
        """Restart the pacing, because time was set to another instant."""


class Gate(Protocol):
    def pass_to(self, t_ns: int) -> int:
        """Wait until time may go on, then return the instant it may reach: `t_ns`, or an earlier one.

        An autopilot in lockstep or a software under test holds the gate while it computes.
        """


class FreeRunning:
    """No pacing: the simulation runs as fast as the machine can."""

    def wait(self, t_ns: int) -> None:
        pass

    def restart(self) -> None:
        pass


GIVE_UP_S = 1.0
"""s of wall time. When the simulation is further behind, the lost time is not caught up."""


class RealTime:
    """A fixed number of simulated seconds per second of wall time.

    It never skips time to catch up. It starts anew when time was set or is too far behind.
    """

    def __init__(
        self,
        factor: float = 1.0,
        wall: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.factor = factor
        self.worst_lateness = 0.0
        """s of wall time, the most by which the simulation was late."""
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
        """Move time to an instant, or to an earlier one if a gate says so. Returns the instant reached."""
        for gate in self.gates:
            t_ns = gate.pass_to(t_ns)
        self.pacing.wait(t_ns)
        self.now_ns = t_ns
        return t_ns

    def set(self, t_ns: int) -> None:
        """Set time to an instant without passing through the time between."""
        self.now_ns = t_ns
        self.pacing.restart()
