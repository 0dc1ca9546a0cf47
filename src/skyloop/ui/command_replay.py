"""Repeats the orders of a cockpit flight at the instants at which a person gave them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from skyloop.links.inbox import Inbox
from skyloop.links.link_gate import Link, LinkConfig, LinkGate, Onlooker
from skyloop.sim.scenario import Scenario
from skyloop.sim.simulation_port import SimulationPort
from skyloop.ui.commands_file import Command, read_commands
from skyloop.ui.orders import END, Orders
from skyloop_client.errors import LinkError


class CommandsConfig(LinkConfig):
    """Repeats the orders of a cockpit flight: its commands.csv."""

    kind: ClassVar[str] = "commands"
    bare: ClassVar[str] = "file"

    file: Path

    def open(self, scenario: Scenario, inbox: Inbox) -> Sequence[Link]:
        return [CommandReplay(read_commands(self.file))]


class CommandReplay(Onlooker):
    """A link without a peer. Orders come between the same two events as in the first flight."""

    name = "commands"

    def __init__(self, commands: list[Command]) -> None:
        self._left = deque(commands)
        self._ended = False
        self.done = 0
        self._was_ended = any(command.order == END for command in commands)

    @property
    def lasts(self) -> bool:
        """A person ended the first flight: this one ends at the same instant, not when a pilot is done."""
        return self._was_ended

    @property
    def over(self) -> bool | None:
        return self._ended or None

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        self._port = port
        self._orders = Orders(port)

    def poll(self) -> None:
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
