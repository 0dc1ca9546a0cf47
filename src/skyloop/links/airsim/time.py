"""Pausing, and going on for an exact while."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skyloop.links.airsim.listener import Reply
from skyloop.links.pace import Pace

if TYPE_CHECKING:
    from skyloop.sim.simulation import Simulation


class TimeKeeper:
    def __init__(self, simulation: Simulation, pace: Pace) -> None:
        self._simulation, self._pace = simulation, pace
        self.is_paused = False
        self._until_ns: int | None = None
        self._waiting: list[Reply] = []

    def pause(self, is_paused: bool) -> None:
        """A pause asked for ends a continuing before its time."""
        self._until_ns = None
        self._release()
        if self.is_paused and not is_paused:
            self._pace.restart()
        self.is_paused = is_paused

    def continue_for(self, span_ns: int, reply: Reply) -> None:
        self.pause(False)
        self._pace.restart()
        until_ns = self._until_ns = self._simulation.clock.now_ns + span_ns
        self._waiting.append(reply)
        self._simulation.schedule.at(until_ns, lambda: self._stop(until_ns))

    def _stop(self, at_ns: int) -> None:
        if self._until_ns == at_ns:
            self._until_ns, self.is_paused = None, True
            self._release()

    def _release(self) -> None:
        waiting, self._waiting = self._waiting, []
        for reply in waiting:
            reply.give(None)

    def fail(self, why: str) -> None:
        """Whoever waits is told that time does not go on."""
        waiting, self._waiting = self._waiting, []
        for reply in waiting:
            reply.fail(why)

    def stop_at(self, t_ns: int) -> int:
        return t_ns if self._until_ns is None else min(t_ns, self._until_ns)
