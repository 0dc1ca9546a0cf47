"""Every pilot and trajectory, and every number of theirs, changes what is flown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
from option_flights import ALOFT, DRONE, Flight, Script, check_change, end, fields_of, fly, most, top_speed

from skyloop.vehicle.pilots.pilots import PILOTS
from skyloop.vehicle.trajectories.trajectories import TrajectoryConfig

PILOT = DRONE + "pilot"
FIELD = Script((), 9.0, ALOFT)
"""Begins in the air at (0, 0, 5), from where pilots take off again."""
LONG = FIELD.but(seconds=18.0)


def time_landed(flight: Flight) -> float:
    return min(flight.event_time("landed"), 99.0)


def way(flight: Flight) -> float:
    return float(np.linalg.norm(np.diff(flight.position[:, :2], axis=0), axis=1).sum())


def peak_turn(flight: Flight) -> float:
    return float(np.abs(flight.rates[:, 2]).max())


def time_of_top_speed(flight: Flight) -> float:
    speed = np.linalg.norm(flight.velocity[:, :2], axis=1)
    return float(flight.t[np.argmax(speed > 0.95 * speed.max())])


def roughness(flight: Flight) -> float:
    """Scatter of the turn rates between neighbouring samples."""
    return float(np.abs(np.diff(flight.rates, axis=0)).mean())


Number = tuple[dict[str, Any], Any, Callable[[Flight], float], float]
"""Conditions, changed value, what must change, and by how much."""

LINE = {"kind": "legs", "points": [[0, 0, 5.3], [4, 0, 5.3]], "speed": 2.0}
TRIP = {"waypoints": [[2, 0, 5.3], [2, 3, 5.3]], "takeoff_altitude": 0.3}
PILOT_NUMBERS: dict[str, dict[str, Number]] = {
    "hover": {
        "rate_hz": ({"duration": 0.33}, 1.0, time_landed, 0.3),
        "altitude": ({}, 3.0, end("position", 2), 0.9),
        "duration": ({}, 1.0, end("position", 2), -4.0),
    },
    "trajectory": {
        "rate_hz": ({"trajectory": LINE}, 4.0, roughness, 1e-4),
        "trajectory": ({"trajectory": LINE}, {**LINE, "points": [[0, 0, 5.3], [0, 4, 5.3]]}, most("position", 1), 3.5),
        "takeoff_altitude": ({"trajectory": LINE}, 4.0, most("position", 2), 1.5),
        "stand": ({"trajectory": LINE}, 3.0, time_of_top_speed, 2.5),
        "land": ({"trajectory": LINE}, False, end("position", 2), 3.0),
    },
    "waypoints": {
        "rate_hz": (TRIP, 0.7, time_landed, 0.5),
        "waypoints": (TRIP, [[4, 0, 5.3]], most("position", 0), 1.5),
        "takeoff_altitude": (TRIP, 4.0, most("position", 2), 2.0),
        "acceptance_radius": (TRIP, 1.5, time_landed, -0.2),
        "yaw": (TRIP, 1.5, end("yaw"), 1.4),
        "speed": (TRIP, 1.0, top_speed, -0.5),
        "land": (TRIP, False, end("position", 2), 3.0),
        "home": (TRIP, True, lambda flight: -float(np.linalg.norm(flight.position[-1, :2])), 2.0),
    },
}  # fmt: skip


def test_every_pilot_option_has_a_case() -> None:
    # these have files of their own: test_navigate_options.py, test_landing_options.py
    kinds = set(PILOTS) - {"navigate", "landing"}
    assert set(PILOT_NUMBERS) == kinds
    for kind in kinds:
        assert set(PILOT_NUMBERS[kind]) == fields_of(PILOTS[kind].Config, "kind")


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, cases in PILOT_NUMBERS.items() for name in cases])
def test_pilot(kind: str, name: str) -> None:
    conditions, value, measure, least = PILOT_NUMBERS[kind][name]
    takeoff = {"altitude" if kind == "hover" else "takeoff_altitude": 0.3 if kind != "hover" else 2.0}
    script = FIELD.but(seconds=14.0 if name != "home" else 20.0)
    pilot = {"kind": kind, **takeoff, **conditions}
    before, after = (measure(fly(script, {PILOT: {**pilot, **changed}})) for changed in ({}, {name: value}))
    check_change(f"{kind}.{name}", before, after, least)


def test_a_pilot_may_be_given_by_name_alone() -> None:
    assert fly(FIELD.but(seconds=4.0), {PILOT: "hover"}).position[-1, 2] > 6.5
    assert abs(fly(FIELD.but(seconds=4.0)).position[-1, 2] - 0.119) < 0.1


# ---- trajectories

ORIGIN = [0.0, 0.0, 5.3]
CIRCLE = {"centre": [-2, 0, 5.3], "radius": 2.0, "speed": 2.0}
EIGHT = {"centre": ORIGIN, "minimum_radius": 0.7, "speed": 2.0}
SQUARE = {"corner": ORIGIN, "side": 3.0, "speed": 2.0, "yaw": 0.0}
TURNING = {key: value for key, value in SQUARE.items() if key != "yaw"}
LEGS = {"points": [ORIGIN, [3, 0, 5.3], [3, 3, 5.3]], "speed": 2.0}
SNAP = {"waypoints": [ORIGIN, [2, 2, 5.3], [5, 0, 5.3]], "speed": 2.0}
TIMED = {"waypoints": SNAP["waypoints"], "segment_times": [2.0, 2.0]}

TRAJECTORY_NUMBERS: dict[str, dict[str, Number]] = {
    "circle": {
        "centre": (CIRCLE, [2, 0, 5.3], most("position", 0), 3.5),
        "radius": (CIRCLE, 3.0, most("position", 1), 0.8),
        "speed": (CIRCLE, 1.0, top_speed, -0.8),
        "laps": (CIRCLE, 2.0, way, 10.0),
        "ramp": (CIRCLE, 4.0, time_of_top_speed, 1.0),
        "yaw": (CIRCLE, 0.0, end("yaw"), -1.0),
        "start_angle": (CIRCLE, 1.5, end("position", 0), -1.0),
    },
    "lemniscate": {
        "centre": (EIGHT, [2, 0, 5.3], most("position", 0), 1.8),
        "minimum_radius": (EIGHT, 1.2, most("position", 0), 1.0),
        "speed": (EIGHT, 1.0, top_speed, -0.8),
        "laps": (EIGHT, 2.0, way, 8.0),
        "ramp": (EIGHT, 4.0, time_of_top_speed, 1.0),
        "yaw": (EIGHT, 0.0, peak_turn, -0.5),
        "axis_angle": (EIGHT, 1.57, most("position", 1), 1.0),
    },
    "square": {
        "corner": (SQUARE, [1, 0, 5.3], most("position", 0), 0.9),
        "side": (SQUARE, 4.0, most("position", 0), 0.9),
        "speed": (SQUARE, 1.0, top_speed, -0.5),
        "laps": (SQUARE, 2, way, 5.0),
        "first_heading": (SQUARE, 1.57, most("position", 0), -2.0),
        "acceleration": (SQUARE, 1.0, top_speed, -0.4),
        "yaw": (TURNING, 0.0, peak_turn, -0.5),
        "turn_rate": (TURNING, 0.4, peak_turn, -0.4),
    },
    "legs": {
        "points": (LEGS, [ORIGIN, [3, 0, 5.3]], most("position", 1), -2.8),
        "speed": (LEGS, 1.0, top_speed, -0.5),
        "legs": (LEGS, 3, way, 2.8),
        "acceleration": (LEGS, 1.0, top_speed, -0.4),
        "yaw": (LEGS, 0.0, end("yaw"), -1.4),
        "turn_rate": (LEGS, 0.4, peak_turn, -0.4),
    },
    "waypoints": {
        "waypoints": (SNAP, [ORIGIN, [2, 3, 5.3], [5, 0, 5.3]], most("position", 1), 0.8),
        "speed": (SNAP, 1.0, top_speed, -0.8),
        "segment_times": (TIMED, [4.0, 4.0], top_speed, -0.8),
        "acceleration": ({**SNAP, "speed": 6.0}, 1.0, top_speed, -0.8),
        "yaws": (SNAP, [0.0, 1.0, 2.0], end("yaw"), 1.5),
        "optimise_times": (
            {**SNAP, "waypoints": [ORIGIN, [1, 1, 5.3], [6, -2, 5.3], [6.5, 0, 5.3]]}, True, way, -1.0,
        ),
    },
}  # fmt: skip
LONGER = ("laps", "legs", "optimise_times", "start_angle")
CONFIGS = {config.model_fields["kind"].default: config for config in get_args(get_args(TrajectoryConfig)[0])}


def test_every_trajectory_option_has_a_case() -> None:
    # what is drawn becomes legs: test_drawn_options.py
    assert {*TRAJECTORY_NUMBERS, "explore"} == set(CONFIGS)
    for kind, cases in TRAJECTORY_NUMBERS.items():
        assert set(cases) == fields_of(CONFIGS[kind], "kind")


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, cases in TRAJECTORY_NUMBERS.items() for name in cases]
)
def test_trajectory(kind: str, name: str) -> None:
    conditions, value, measure, least = TRAJECTORY_NUMBERS[kind][name]

    def measured(**changed: Any) -> float:
        trajectory = {"kind": kind, **conditions, **changed}
        pilot = {"kind": "trajectory", "takeoff_altitude": 0.3, "trajectory": trajectory, "land": False}
        return measure(fly(LONG if name in LONGER else FIELD, {PILOT: pilot}))

    check_change(f"{kind}.{name}", measured(), measured(**{name: value}), least)
