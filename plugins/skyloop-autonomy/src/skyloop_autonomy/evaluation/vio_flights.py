"""The flights on which localisation is measured: take off, explore, and land where it took off.

The seed chooses the way, the noise and, where a world has it, how the world is furnished. Every flight is flown once
without cameras before it counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from skyloop import Scenario, Simulation, build, load_scenario
from skyloop.datasets.recording_run import plan_recording, record
from skyloop.sim.parts import PilotPart
from skyloop.sim.survey import survey_of
from skyloop.vehicle.pilots.pilots import TrajectoryPilotConfig
from skyloop.vehicle.trajectories.trajectories import ExploreConfig, LegsConfig
from skyloop.world.free_space import way_length
from skyloop_autonomy.evaluation.localising import MessageSource
from skyloop_autonomy.vio.calibration import chosen_streams
from skyloop_client.errors import DatasetError, unknown_name
from skyloop_client.messages import Array, Event, EventKind, Message, VehicleState
from skyloop_client.streams import NS_PER_S

RATE_HZ = 30.0
"""Pairs of images per second."""
SETTLE_S = 1.0
"""Simulated s on the ground after landing."""
LANDED_WITHIN = 0.3
"""m from the position of take-off."""


@dataclass(frozen=True)
class VioFlight:
    """A kind of flight: the scenario `<world>-vio`, and what of its trajectory is changed."""

    world: str
    trajectory: dict[str, Any] = field(default_factory=dict)
    """Changes of it; `kind: legs` replaces it."""
    takeoff_altitude: float | None = None
    """m; None: that of the scenario."""

    @property
    def scenario(self) -> str:
        return f"{self.world}-vio"

    def changed(self, **trajectory: Any) -> VioFlight:
        return replace(self, trajectory={**self.trajectory, **trajectory})

    @property
    def explored(self) -> ExploreConfig:
        """What the scenario draws."""
        trajectory = flight_scenario(self, 1).vehicles[0].pilot.trajectory  # type: ignore[union-attr]
        assert isinstance(trajectory, ExploreConfig)
        return trajectory


FLIGHTS = {world: VioFlight(world) for world in ("room", "corridor", "house", "warehouse", "park")}
ON_THE_TRUTH: dict[str, Any] = {"vehicles.drone.state": "truth", "vehicles.drone.estimators": {}}
VIO = "vio"
ON_THE_ESTIMATE: dict[str, Any] = {
    "vehicles.drone.state": "vio",
    "vehicles.drone.estimators": {"vio": {"kind": VIO, "inputs": ["imu0", "cam0", "cam1"]}},
}


def flight_scenario(name: str | VioFlight, seed: int, overrides: dict[str, Any] | None = None) -> Scenario:
    """The scenario of a flight. It flies on the truth and estimates nothing, unless `overrides` has ON_THE_ESTIMATE."""
    flight = _flight(name) if isinstance(name, str) else name
    changes: dict[str, Any] = {"seed": seed, **ON_THE_TRUTH}
    if flight.takeoff_altitude is not None:
        changes["vehicles.drone.pilot.takeoff_altitude"] = flight.takeoff_altitude
    key = "vehicles.drone.pilot.trajectory"
    if flight.trajectory.get("kind", "explore") != "explore":
        changes[key] = flight.trajectory
    else:
        changes |= {f"{key}.{name}": value for name, value in flight.trajectory.items()}
    return load_scenario(flight.scenario, {**changes, **(overrides or {})})


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
    """The scenario of a flight that was flown once on the truth without touching anything."""
    scenario = flight_scenario(name, seed, overrides)
    flown = dry_flight(scenario)
    if flown.trouble:
        raise DatasetError(f"flight '{scenario.name}', seed {seed}: {flown.trouble}")
    return scenario, flown


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
    """(n, 3) m, of the way that the scenario draws or states."""
    vehicle = scenario.vehicles[0]
    assert isinstance(vehicle.pilot, TrajectoryPilotConfig)
    trajectory = vehicle.pilot.drawn(survey_of(scenario, vehicle)).trajectory
    assert isinstance(trajectory, LegsConfig)
    return np.array(trajectory.points)


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
