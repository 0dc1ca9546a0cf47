"""A flight shown in Foxglove, as a link: `--link foxglove[:[HOST:]PORT]`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from skyloop.links.foxglove.stream import PORT, FoxgloveStream
from skyloop.links.inbox import Inbox
from skyloop.links.link_gate import Link, LinkConfig, LinkGate, Onlooker
from skyloop.links.registry import Address
from skyloop.sim.scenario import Scenario
from skyloop.sim.simulation_port import SimulationPort


class FoxgloveConfig(LinkConfig):
    """Foxglove shows the flight."""

    kind: ClassVar[str] = "foxglove"
    bare: ClassVar[str] = "address"
    invitation: ClassVar[str] = "Foxglove may connect to %s"

    address: Address = ("127.0.0.1", PORT)

    def open(self, scenario: Scenario, inbox: Inbox) -> Sequence[Link]:
        return [FoxgloveLink(FoxgloveStream(*self.address), self)]


class FoxgloveLink(Onlooker):
    """For people to watch, so in real time unless another link has another pace."""

    name = "foxglove"
    allows_realtime = True

    def __init__(self, stream: FoxgloveStream, config: FoxgloveConfig) -> None:
        self.stream, self._config = stream, config

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        self.stream.attach(port)
        self._config.announce(self.stream.url)

    def close(self) -> None:
        self.stream.close()
