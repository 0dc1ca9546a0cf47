"""A flight as a source for localisation while it is flown, so that its images need not be stored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from skyloop.sim.assembly import build
from skyloop.sim.parts import PilotPart
from skyloop.sim.scenario import Scenario
from skyloop.sim.simulation import Simulation
from skyloop_autonomy.evaluation.localising import Source
from skyloop_autonomy.evaluation.vio_flights import SETTLE_S
from skyloop_autonomy.vio.calibration import chosen_streams
from skyloop_client.messages import Message


@contextmanager
def flown(scenario: Scenario) -> Iterator[Source]:
    """The source of one flight. Its messages can be read once; reading them flies."""
    with build(scenario) as simulation:
        yield source_of(simulation, scenario)


def source_of(simulation: Simulation, scenario: Scenario) -> Source:
    vehicle, infos = scenario.vehicles[0].name, simulation.bus.infos
    sensed = {name: info for name, info in infos.items() if info.vehicle == vehicle and not name.startswith("truth")}
    return Source(Path(scenario.name), dict(infos), lambda: messages_of(simulation, scenario), chosen_streams(sensed))


def messages_of(simulation: Simulation, scenario: Scenario) -> Iterator[Message]:
    """Every message in the order of publication, until the pilots are done and the vehicle has settled."""
    published: list[Message] = []
    simulation.bus.on_every(published.append)
    pilots = simulation.parts_of(PilotPart)
    end = scenario.duration
    while simulation.now < end:
        simulation.step()
        if pilots and all(part.done for part in pilots):
            end, pilots = min(end, simulation.now + SETTLE_S), []
        yield from published
        published.clear()
