"""Pauses time, and continues it for an exact span."""

from __future__ import annotations

from skyloop.links.airsim.listener import Reply
from skyloop.links.pace import Pace
from skyloop.sim.simulation_port import SimulationPort


class TimeKeeper:
    def __init__(self, port: SimulationPort, pace: Pace) -> None:
        self._port, self._pace = port, pace
        self.is_paused = False
        self._until_ns: int | None = None
        self._waiting: list[Reply] = []

    @property
    def is_free(self) -> bool:
        """Whether time passes freely, neither paused nor in an exact step."""
        return not self.is_paused and self._until_ns is None and self._pace.factor is not None

    def pause(self, is_paused: bool) -> None:
        """A pause also ends an exact step early."""
        self._until_ns = None
        self._release()
        if self.is_paused and not is_paused:
            self._pace.restart()
        self.is_paused = is_paused

    def continue_for(self, span_ns: int, reply: Reply) -> None:
        self.pause(False)
        self._pace.restart()
        self._until_ns = self._port.now_ns + span_ns
        self._waiting.append(reply)

    def poll(self) -> None:
        """Called when all events of this instant are done: pause if the exact step ends here."""
        if self._until_ns is not None and self._port.now_ns >= self._until_ns:
            self._until_ns, self.is_paused = None, True
            self._release()

    def _release(self) -> None:
        waiting, self._waiting = self._waiting, []
        for reply in waiting:
            reply.give(None)

    def fail(self, why: str) -> None:
        """Answer waiting calls that time does not continue."""
        waiting, self._waiting = self._waiting, []
        for reply in waiting:
            reply.fail(why)

    def stop_at(self, t_ns: int) -> int:
        return t_ns if self._until_ns is None else min(t_ns, self._until_ns)
