"""The flights on which localisation is measured: take off, explore, and land where it took off.

The seed chooses the way, the noise and, where a world has it, how the world is furnished. Every flight is flown once
without cameras before it counts, and the first way without a collision is taken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.datasets.recording_run import plan_recording, record
from skyloop.sim.assembly import build
from skyloop.sim.parts import PilotPart
from skyloop.sim.scenario import Scenario, load_scenario, make_scenario
from skyloop.sim.simulation import Simulation
from skyloop.world.world import build_world
from skyloop_autonomy.evaluation.free_space import FreeSpace, Slab, exploring_round, way_length
from skyloop_autonomy.evaluation.localising import MessageSource
from skyloop_autonomy.vio.calibration import chosen_streams
from skyloop_client.errors import DatasetError, unknown_name
from skyloop_client.messages import Array, Event, EventKind, Message, VehicleState
from skyloop_client.streams import NS_PER_S

RATE_HZ = 30.0
"""Pairs of images per second."""
SETTLE_S = 1.0
"""Simulated s on the ground after landing."""
WAYS = 8
"""Ways that are tried with one seed."""
LANDED_WITHIN = 0.3
"""m from the position of take-off."""


@dataclass(frozen=True)
class VioFlight:
    """A kind of flight. Its scenario is `<world>-vio`, with the way of seed 1 in it."""

    world: str
    length: float
    """m of way at flying height."""
    speed: float
    """m/s at most."""
    slab: Slab
    """What the flight passes through."""
    clearance: float
    """m between the vehicle's middle and any obstacle."""
    altitude: float = 1.5
    """m of the body's origin above the home point."""
    pilot: dict[str, Any] = field(default_factory=dict)
    """Further settings of the trajectory."""
    points: tuple[tuple[float, float], ...] = ()
    """m, x and y of the corners of the way; empty: the seed chooses them."""

    @property
    def scenario(self) -> str:
        return f"{self.world}-vio"


FLIGHTS = {
    # the keyboard flight of e2es: 1.5 m high, at most 1 m/s
    "room": VioFlight("room", 82.0, 1.0, Slab((-10.0, -10.0), (10.0, 10.0), 0.8, 2.1), 0.7),
    "corridor": VioFlight("corridor", 100.0, 1.0, Slab((-3.2, -4.0), (36.8, 4.0), 0.8, 2.1), 0.7),
    # the doors are 1 m wide
    "house": VioFlight("house", 100.0, 2.0, Slab((-20.0, -20.0), (20.0, 20.0), 1.0, 1.9), 0.42),
    "warehouse": VioFlight("warehouse", 100.0, 2.0, Slab((-30.0, -20.0), (30.0, 20.0), 1.9, 3.2), 0.9, 2.5),
    "park": VioFlight("park", 100.0, 5.0, Slab((-60.0, -60.0), (60.0, 60.0), 2.5, 5.5, 0.25), 2.0, 4.0),
}
ON_THE_TRUTH: dict[str, Any] = {"vehicles.drone.state": "truth", "vehicles.drone.estimators": {}}
VIO = "vio"
ON_THE_ESTIMATE: dict[str, Any] = {
    "vehicles.drone.state": "vio",
    "vehicles.drone.estimators": {"vio": {"kind": VIO, "inputs": ["imu0", "cam0", "cam1"]}},
}
TRAJECTORY = {"kind": "legs", "acceleration": 1.5, "turn_rate": 0.5}


def flight_scenario(
    name: str | VioFlight, seed: int, overrides: dict[str, Any] | None = None, *, way: int = 0
) -> Scenario:
    """The scenario of a flight with the way that the seed chooses; `way` is another one of the same seed.

    It flies on the truth and estimates nothing, unless `overrides` has ON_THE_ESTIMATE."""
    flight = _flight(name) if isinstance(name, str) else name
    scenario = load_scenario(flight.scenario, {"seed": seed, **ON_THE_TRUTH, **(overrides or {})})
    data = scenario.model_dump(mode="json")
    data["vehicles"][0]["pilot"]["takeoff_altitude"] = flight.altitude
    data["vehicles"][0]["pilot"]["trajectory"] = trajectory_of(flight, scenario, seed, way)
    return make_scenario(data, place=f"{flight.scenario}, seed {seed}")


def trajectory_of(flight: VioFlight, scenario: Scenario, seed: int, way: int = 0) -> dict[str, Any]:
    """The trajectory through the scenario's world, as a scenario states it."""
    settings = {**TRAJECTORY, **flight.pilot, "speed": flight.speed}
    if flight.points:
        return {**settings, "points": [[x, y, flight.altitude] for x, y in flight.points]}
    world = build_world(scenario.world, scenario.seed, None)
    world.model.freeze()
    space = FreeSpace(world.model, flight.slab, flight.clearance)
    start = np.array(scenario.vehicles[0].position[:2])
    corners = exploring_round(space, start, flight.length, 1000 * way + seed)
    points = [[round(float(x), 2), round(float(y), 2), flight.altitude] for x, y in corners]
    return {**settings, "points": points}


@dataclass(frozen=True, slots=True, eq=False)
class DryFlight:
    """What a flight without cameras shows."""

    landed_s: float
    """Simulated s at which the pilot was done."""
    length: float
    """m flown."""
    fastest: float
    """m/s."""
    off_start: float
    """m between the positions of landing and of take-off, level."""
    trouble: str
    """Why it does not count; empty: it does."""


def dry_flight(scenario: Scenario) -> DryFlight:
    """Fly on the truth without sensors, which change nothing in flight, and look for collisions."""
    vehicle = scenario.vehicles[0]
    changes = {"sensors": {}, "estimators": {}, "state": "truth"}
    bare = scenario.model_copy(update={"vehicles": [vehicle.model_copy(update=changes)]})
    states: list[VehicleState] = []
    events: list[Event] = []
    with build(bare) as simulation:
        simulation.bus.on(f"truth/{vehicle.name}", lambda message: states.append(message.data))
        simulation.bus.on(f"{vehicle.name}/events", lambda message: events.append(message.data))
        pilots = simulation.parts_of(PilotPart)
        while simulation.now < scenario.duration and not all(part.done for part in pilots):
            simulation.step()
        done, landed_s = all(part.done for part in pilots), simulation.now
    positions = np.array([state.position for state in states])
    speeds = np.array([np.linalg.norm(state.velocity_world) for state in states])
    trouble = "" if done else f"it did not land within {scenario.duration:g} s"
    hit = next((event for event in events if _is_collision(event, float(positions[0, 2]))), None)
    if hit is not None:
        trouble = f"at {hit.t_ns / NS_PER_S:.1f} s: {hit.text}"
    off = float(np.linalg.norm((positions[-1] - positions[0])[:2]))
    if not trouble and off > LANDED_WITHIN:
        trouble = f"it landed {off:.2f} m from where it took off"
    return DryFlight(landed_s, way_length(positions), float(speeds.max()), off, trouble)


def _is_collision(event: Event, standing: float) -> bool:
    """A contact above the point where the vehicle stands; `standing` is the height of its origin there."""
    above = event.kind == EventKind.CONTACT and event.contact is not None and event.contact.position[2] > standing
    return bool(above or event.kind == EventKind.CRASH)


def checked_flight(
    name: str | VioFlight, seed: int, overrides: dict[str, Any] | None = None
) -> tuple[Scenario, DryFlight]:
    """The first way of the seed that is flown without touching anything."""
    for way in range(WAYS):
        scenario = flight_scenario(name, seed, overrides, way=way)
        flown = dry_flight(scenario)
        if not flown.trouble:
            return scenario, flown
    world = name if isinstance(name, str) else name.world
    raise DatasetError(f"flight in '{world}', seed {seed}: none of {WAYS} ways is free; the last: {flown.trouble}")


def record_flight(name: str | VioFlight, seed: int, folder: Path, *, workers: int = 1) -> dict[str, Any]:
    """Record a whole flight, from standing on the ground to standing there again. Returns the recording's summary."""
    scenario, flown = checked_flight(name, seed)
    frames = int((flown.landed_s + SETTLE_S) * RATE_HZ)
    plan_recording(scenario, folder, frames=frames, rate_hz=RATE_HZ, formats=(), whole_flight=True)
    return record(folder, workers)


def _flight(name: str) -> VioFlight:
    if name not in FLIGHTS:
        raise unknown_name("flight", name, FLIGHTS)
    return FLIGHTS[name]


def corners_of(scenario: Scenario) -> Array:
    """(n, 3) m, of the way in a scenario."""
    return np.array(scenario.vehicles[0].pilot.trajectory.points)  # type: ignore[union-attr]


@contextmanager
def flown(scenario: Scenario) -> Iterator[MessageSource]:
    """The source of one flight. Its messages can be read once; reading them flies."""
    with build(scenario) as simulation:
        yield source_of(simulation, scenario)


def source_of(simulation: Simulation, scenario: Scenario) -> MessageSource:
    vehicle, infos = scenario.vehicles[0].name, simulation.bus.infos
    sensed = {name: info for name, info in infos.items() if info.vehicle == vehicle and not name.startswith("truth")}
    return MessageSource(
        Path(scenario.name), dict(infos), lambda: messages_of(simulation, scenario), chosen_streams(sensed)
    )


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
