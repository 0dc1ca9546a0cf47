"""A vehicle that ends in any other way than upright on its legs has crashed, and nothing of it is under the ground."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import yaml
from flying import IRIS, make_fleet, read_airframe, ring, set_motion

from skyloop.core.frames import quat_from_euler, rotate
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop.vehicle.airframe import Airframe, hubs_of
from skyloop.vehicle.hull import SIDES, added_contacts
from skyloop.vehicle.kernel_records import MAX_CONTACTS
from skyloop.world.ground import Ground
from skyloop_client.messages import Array, Event, EventKind

BARE = IRIS.contact.model_copy(update={"body": []})
OWN = yaml.safe_load("""
name: own
sources: [a motor's data sheet]
mass: 3.2
rotors:
  - {position: [0.35, 0.0, 0.05], spin: cw}
  - {position: [0.175, 0.303, 0.05], spin: ccw}
  - {position: [-0.175, 0.303, 0.05], spin: cw}
  - {position: [-0.35, 0.0, 0.05], spin: ccw}
  - {position: [-0.175, -0.303, 0.05], spin: cw}
  - {position: [0.175, -0.303, 0.05], spin: ccw}
motor: {thrust_coefficient: 1.3e-5, torque_ratio: 0.016, max_speed: 850, idle_speed: 80, radius: 0.127}
contact: {legs: [[0.2, 0.0, -0.2], [-0.1, 0.17, -0.2], [-0.1, -0.17, -0.2]]}
""")
AIRFRAMES = {
    "iris": IRIS,
    "crazyflie": read_airframe("crazyflie"),
    "quad": IRIS.model_copy(update={"contact": BARE}),
    "hexa": ring(6, contact=BARE),
    "octo": ring(8, contact=BARE, mass=2.5),
    "own": Airframe(**OWN),
}
DEEPEST = 0.06
"""m below ground to which an impact at 6 m/s may press a point, for some hundredths of a second."""
RESTING = 0.006
"""The same at rest."""


def outline(airframe: Airframe) -> Array:
    """(n, 3) m, body axes: hubs, rims, legs and body points."""
    angle = 2.0 * np.pi * np.arange(24) / 24
    rim = airframe.motor.radius * np.column_stack([np.cos(angle), np.sin(angle), 0.0 * angle])
    hubs = hubs_of(airframe.rotors)
    return np.vstack([hubs, (hubs[:, None] + rim).reshape(-1, 3), airframe.contact.legs, *airframe.contact.body])


@pytest.mark.parametrize("name", AIRFRAMES)
def test_contact_points_enclose_rotors_and_legs(name: str) -> None:
    airframe = AIRFRAMES[name]
    added, of_rotors = added_contacts(airframe)
    known = np.array([*airframe.contact.legs, *airframe.contact.body, *added])
    assert len(known) <= MAX_CONTACTS and 0 <= of_rotors <= len(added)
    assert not airframe.contact.body or len(added) < SIDES
    shape = outline(airframe)
    ways = np.random.default_rng(1).normal(size=(2000, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    size = np.linalg.norm(shape, axis=1).max()
    assert ((shape @ ways.T).max(axis=0) - (known @ ways.T).max(axis=0)).max() < 0.05 * size


@pytest.mark.parametrize("name", AIRFRAMES)
def test_thrown_down_in_any_attitude_it_ends_on_the_ground_and_not_in_it(name: str) -> None:
    airframe, rng = AIRFRAMES[name], np.random.default_rng(7)
    fleet = make_fleet(airframe=airframe, count=16, ground=Ground.flat(), has_battery=False)
    for i in range(16):
        quat = quat_from_euler(*rng.uniform((-3.1, -1.5, -3.1), (3.1, 1.5, 3.1)))
        fleet.place(i, np.array([3.0 * i, 0.0, 1.5]), 0.0)
        set_motion(fleet, i, quat=quat, velocity=rng.uniform(-1.5, 1.5, 3), rates=rng.uniform(-3.0, 3.0, 3))
    shape = outline(airframe) - airframe.centre_of_mass
    tolerated = 0.05 * np.linalg.norm(shape, axis=1).max()
    lowest = np.inf
    for step in range(1, 801):
        fleet.advance_to(step * 10_000_000)
        motion = fleet.states["motion"]
        depths = [(m[2] + rotate(m[6:10], shape)[:, 2]).min() for m in motion]
        lowest = min(lowest, *depths)
    assert lowest > -(DEEPEST + tolerated)
    assert min(depths) > -(RESTING + tolerated)
    assert np.abs(fleet.states["motion"][:, 3:6]).max() < 0.02


def flown(airframe: str, seed: int, **vehicle: Any) -> tuple[list[Event], Airframe, list[float], float]:
    """Events, airframe, heights of its lowest point from the fault on, and the cosine of its tilt in the end."""
    own = AIRFRAMES[airframe].model_dump(mode="json")
    pilot = {"kind": "hover", "altitude": 3.0, "duration": 6.0}
    wind = {"kind": "dryden", "mean": [2.0, 1.0, 0.0], "w20_kt": 15}
    data = {"seed": seed, "wind": wind, "vehicles": [{"airframe": own, "pilot": pilot, **vehicle}]}
    events: list[Event] = []
    shape, heights = outline(AIRFRAMES[airframe]), []
    with build(make_scenario(data)) as simulation:
        simulation.bus.on("drone/events", lambda message: events.append(message.data))
        for k in range(1, 801):
            simulation.run_until(0.02 * k)
            state = simulation.fleet.state(0, simulation.clock.now_ns)
            heights.append(float((state.position + rotate(state.quat_wxyz, shape))[:, 2].min()))
        x, y = state.quat_wxyz[1:3]
    return events, AIRFRAMES[airframe], heights, float(1.0 - 2.0 * (x * x + y * y))


LOST: list[dict[str, Any]] = [{"rotor": 1, "kind": "lost", "start": 5.0}]
TWO_LOST: list[dict[str, Any]] = [*LOST, {"rotor": 0, "kind": "stuck", "start": 5.3, "value": 0.2}]
FLIGHTS = [("quad", 1, LOST), ("hexa", 2, TWO_LOST), ("own", 3, TWO_LOST)]
MORE = [
    (name, seed, faults) for name in AIRFRAMES for seed in (4, 5) for faults in (LOST, TWO_LOST)
]  # fmt: skip


@pytest.mark.flights
@pytest.mark.parametrize(
    ("airframe", "seed", "faults"),
    [*FLIGHTS, *(pytest.param(*each, marks=pytest.mark.slow("16 s of flight each")) for each in MORE)],
)
def test_a_vehicle_that_loses_rotors_crashes_or_stands(airframe: str, seed: int, faults: list[dict[str, Any]]) -> None:
    events, flew, heights, up = flown(airframe, seed, rotor_faults=faults)
    crashed = any(event.kind == EventKind.CRASH for event in events)
    landed = any(event.kind == EventKind.LANDED for event in events)
    assert crashed != landed
    if crashed:
        assert up < 0.9 or any("rotors stopped" in event.text for event in events)
    else:
        assert up > 0.9
    size = np.linalg.norm(outline(flew), axis=1).max()
    assert min(heights) > -(0.05 * size + DEEPEST)
    assert min(heights[-50:]) > -(0.05 * size + RESTING)
