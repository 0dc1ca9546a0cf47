"""Repeats the orders of a cockpit flight at the instants at which a person gave them."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

from skyloop.cockpit.commands_file import Command
from skyloop.cockpit.orders import END, Orders
from skyloop.links.link_gate import LinkGate
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import LinkError


class CommandReplay:
    """A link without a peer. Orders come between the same two events as in the first flight."""

    leisurely = False

    def __init__(self, commands: list[Command]) -> None:
        self._left = deque(commands)
        self._ended = False
        self.done = 0
        self.lasts = any(command.order == END for command in commands)
        """A person ended the first flight: this one ends at the same instant, not when a pilot is done."""

    @property
    def over(self) -> bool:
        return self._ended

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        self._port = port
        self._orders = Orders(port)

    def stop_at(self, t_ns: int) -> int:
        return t_ns

    def holds(self, t_ns: int) -> bool:
        return False

    def look_round(self) -> None:
        now = self._port.now_ns
        while self._left and self._left[0].t_ns <= now:
            command = self._left.popleft()
            if command.t_ns < now:
                raise LinkError(
                    f"an order was given at {command.t_ns} ns, between two events of this flight; "
                    "repeat orders with the scenario.yaml of their own run folder"
                )
            self.done += 1
            if command.order == END:
                self._ended = True
                continue
            self._orders.carry_out(command.vehicle, command.order, command.arguments)

    def finish(self, why: str) -> None:
        self._left.clear()

    def summary(self) -> dict[str, Any]:
        return {"orders": self.done}
