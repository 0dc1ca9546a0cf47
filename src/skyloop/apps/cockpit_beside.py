"""The cockpit beside another verb, which decides what is flown; and flights that a person steers or has steered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from skyloop.cockpit.cockpit_link import CockpitLink
from skyloop.cockpit.courier import LogLines
from skyloop.cockpit.orders import CommandReplay, read_commands
from skyloop.cockpit.server_start import PORT, CockpitServer
from skyloop.links.link_gate import LinkGate
from skyloop.sim.scenario import Scenario

LASTS_S = 86_400.0
"""Simulated s after which a flight in the cockpit ends by itself."""


def about(scenario: Scenario) -> dict[str, Any]:
    return {
        "scenario": scenario.name, "seed": scenario.seed, "world": scenario.world.name or scenario.world.file,
        "duration": scenario.duration, "description": scenario.description,
    }  # fmt: skip


def planned(scenario: Scenario) -> frozenset[str]:
    """Vehicles whose pilot flies to goals between obstacles."""
    pilots = {vehicle.name: vehicle.pilot for vehicle in scenario.vehicles}
    return frozenset(name for name, pilot in pilots.items() if pilot is not None and pilot.kind == "navigate")


def for_people(scenario: Scenario) -> Scenario:
    """A flight that waits for a person's goals, and does not end when a pilot has nothing more to do."""
    vehicles = []
    for vehicle in scenario.vehicles:
        if vehicle.pilot is not None and vehicle.pilot.kind == "navigate":
            waiting = vehicle.pilot.model_copy(update={"goals": (), "wait": LASTS_S})
            vehicle = vehicle.model_copy(update={"pilot": waiting})
        vehicles.append(vehicle)
    return scenario.model_copy(update={"vehicles": vehicles, "duration": LASTS_S})


def links_for(commands: Path | None) -> LinkGate:
    """The links of a flight that a cockpit joins, or that repeats the orders of another one."""
    gate = LinkGate()
    if commands is not None:
        rows = read_commands(commands)
        gate.links["commands"] = CommandReplay(rows)
    return gate


class Beside:
    """A cockpit beside another verb: shows its flight, and steers where that verb allows it."""

    def __init__(self, host: str = "127.0.0.1", port: int = PORT) -> None:
        self._link: CockpitLink | None = None
        self.server = CockpitServer(self._on_order, host, port)
        self._log = LogLines(self.server.courier)

    def link_for(self, scenario: Scenario | None) -> CockpitLink:
        told = about(scenario) if scenario is not None else {"scenario": "", "seed": 0, "world": "", "description": ""}
        reached = frozenset() if scenario is None else planned(scenario)
        self._link = CockpitLink(self.server.courier, about=told, planned=reached)
        return self._link

    def watch(self, simulation: Any, scenario: Scenario | None = None) -> None:
        """Join the links of a simulation that was just built."""
        gate = next((gate for gate in simulation.clock.gates if isinstance(gate, LinkGate)), None)
        link = self.link_for(scenario)
        if gate is not None:
            gate.links["cockpit"] = link
            return
        gate = LinkGate()
        gate.links["cockpit"] = link
        simulation.clock.gates = (*simulation.clock.gates, gate)
        gate.attach(simulation.port)

    def _on_order(self, order: dict[str, Any]) -> None:
        if order.get("kind") == "order" and self._link is not None:
            self._link.deliver(order)
        elif order.get("id") is not None:
            why = "this cockpit shows one flight that was started from the command line"
            self.server.courier.tell({"kind": "reply", "id": order["id"], "ok": False, "error": why})

    def close(self) -> None:
        self._log.close()
        self.server.close()
