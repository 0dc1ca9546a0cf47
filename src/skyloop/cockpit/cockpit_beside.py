"""A cockpit beside a flight that was started from the command line: `--link cockpit[:[HOST:]PORT]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from skyloop.cockpit.cockpit_link import CockpitLink
from skyloop.cockpit.server_bridge import LogLines
from skyloop.cockpit.server_start import PORT, CockpitServer
from skyloop.cockpit.wire import Fields
from skyloop.links.inbox import Inbox
from skyloop.links.link_gate import Link, LinkConfig
from skyloop.links.registry import Address
from skyloop.sim.scenario import Scenario


def about(scenario: Scenario) -> Fields:
    """What the page tells of the flight."""
    return {
        "scenario": scenario.name, "seed": scenario.seed, "world": scenario.world.name or scenario.world.file,
        "duration": scenario.duration, "description": scenario.description,
    }  # fmt: skip


def planned(scenario: Scenario) -> frozenset[str]:
    """Vehicles whose pilot flies to goals between obstacles."""
    pilots = {vehicle.name: vehicle.pilot for vehicle in scenario.vehicles}
    return frozenset(name for name, pilot in pilots.items() if pilot is not None and pilot.kind == "navigate")


class CockpitConfig(LinkConfig):
    """A page in a browser shows the flight, and steers it."""

    kind: ClassVar[str] = "cockpit"
    bare: ClassVar[str] = "address"
    invitation: ClassVar[str] = "the cockpit is at %s"

    address: Address = ("127.0.0.1", PORT)

    def open(self, scenario: Scenario, inbox: Inbox) -> Sequence[Link]:
        link = CockpitBeside(scenario, *self.address)
        self.announce(link.server.url)
        return [link]


class CockpitBeside(CockpitLink):
    """With a server of its own, for this flight only."""

    def __init__(self, scenario: Scenario, host: str = "127.0.0.1", port: int = PORT) -> None:
        self.server = CockpitServer(self._on_order, host, port)
        super().__init__(self.server.courier, about=about(scenario), planned=planned(scenario))
        self._log = LogLines(self.server.courier)

    def _on_order(self, order: dict[str, object]) -> None:
        if order.get("kind") == "order":
            self.deliver(order)
        else:
            why = "this cockpit shows one flight that was started from the command line"
            self.server.courier.refuse(order, why)

    def close(self) -> None:
        self._log.close()
        self.server.close()
