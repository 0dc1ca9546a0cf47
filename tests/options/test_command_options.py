"""Every setpoint, every field of it and every request moves the vehicle in its own way."""

from __future__ import annotations

import dataclasses
from typing import Any, get_args

import numpy as np
import pytest
from option_flights import ALOFT, DRONE, Flight, Script, check_change, end, fly, joined, most, repeated

from skyloop_client.messages import (
    Arm,
    Attitude,
    Disarm,
    Goal,
    GoHome,
    Hover,
    Land,
    Motors,
    Position,
    Rates,
    Request,
    Setpoint,
    TakeOff,
    Velocity,
)

HOVER_THRUST = 1.535 * 9.80665


def vector(*values: float) -> Any:
    return np.array(values, dtype=np.float64)


def forward_lean(flight: Flight) -> float:
    """rad about the left axis, at most."""
    w, x, y, z = flight.quat.T
    return float(np.arcsin(2 * (w * y - z * x)).max())


HERE = {"position": vector(0, 0, 5), "yaw": 0.0}
STILL = {"quat_wxyz": vector(1, 0, 0, 0), "thrust": HOVER_THRUST}
LEANING = vector(np.cos(0.1), 0, np.sin(0.1), 0)

# fields of each setpoint: the fields it starts from, the changed value, what must change and by how much
SETPOINTS: dict[type, dict[str, tuple[dict[str, Any], Any, Any, float]]] = {
    Position: {
        "position": (HERE, vector(2, 0, 5), end("position", 0), 1.5),
        "yaw": (HERE, 1.0, end("yaw"), 0.9),
        "yaw_rate": ({**HERE, "yaw": None}, 0.5, end("yaw"), 0.8),
        "velocity": (HERE, vector(1, 0, 0), end("position", 0), 0.3),
        "acceleration": (HERE, vector(2, 0, 0), end("position", 0), 0.2),
        "jerk": (HERE, vector(20, 0, 0), forward_lean, 0.05),
        "snap": (HERE, vector(500, 0, 0), most("rates", 1), 0.2),
    },
    Velocity: {
        "velocity": ({"velocity": vector(0, 0, 0)}, vector(2, 0, 0), end("position", 0), 1.5),
        "frame": ({"velocity": vector(2, 0, 0), "yaw": 1.5}, "body", end("position", 1), 0.8),
        "yaw": ({"velocity": vector(0, 0, 0)}, 1.0, end("yaw"), 0.9),
        "yaw_rate": ({"velocity": vector(0, 0, 0)}, -0.5, end("yaw"), -0.8),
    },
    Attitude: {
        "quat_wxyz": (STILL, LEANING, end("position", 0), 1.0),
        "thrust": (STILL, 1.2 * HOVER_THRUST, end("position", 2), 2.0),
        "yaw_rate": (STILL, 0.5, end("yaw"), 0.05),
    },
    Rates: {
        "angular_velocity_body": (
            {"angular_velocity_body": vector(0, 0, 0), "thrust": HOVER_THRUST}, vector(0, 0, 0.5), end("yaw"), 0.8,
        ),
        "thrust": (
            {"angular_velocity_body": vector(0, 0, 0), "thrust": HOVER_THRUST}, 1.2 * HOVER_THRUST,
            end("position", 2), 2.0,
        ),
    },
    Motors: {"throttle": ({"throttle": np.full(4, 0.7)}, np.full(4, 0.85), end("position", 2), 3.0)},
    Goal: {
        "position": (HERE, vector(2, 0, 5), end("position", 0), 1.5),
        "yaw": (HERE, 1.0, end("yaw"), 0.9),
        "speed": ({**HERE, "position": vector(9, 0, 5)}, 0.5, end("position", 0), -1.5),
    },
}  # fmt: skip


def flown(setpoint: Setpoint, controller: str) -> Flight:
    orders = joined([(0.0, Arm())], repeated(setpoint, 0.0, 2.0, 0.1))
    return fly(Script(orders, 2.0, {**ALOFT, DRONE + "controller": controller}))


def test_every_setpoint_has_its_cases() -> None:
    assert set(SETPOINTS) == set(get_args(Setpoint))
    for kind, cases in SETPOINTS.items():
        assert set(cases) == {f.name for f in dataclasses.fields(kind)}


FEED_FORWARDS = {"velocity", "acceleration", "jerk", "snap"}
"""Of a Position: SimpleFlight has no trajectories, as AirSim has none."""


@pytest.mark.parametrize(
    ("controller", "kind", "name"),
    [
        (controller, kind, name)
        for controller in ("cascade", "simpleflight")
        for kind, cases in SETPOINTS.items()
        for name in cases
        if controller == "cascade" or kind is not Position or name not in FEED_FORWARDS
    ],
)
def test_setpoint(controller: str, kind: type, name: str) -> None:
    before, value, measure, least = SETPOINTS[kind][name]
    if controller == "simpleflight":
        least *= 0.3
    first, second = flown(kind(**before), controller), flown(kind(**{**before, name: value}), controller)
    check_change(f"{kind.__name__}.{name}", measure(first), measure(second), least)


# ---- requests

UP = [(0.2, Arm()), (0.3, TakeOff(2.0))]
AWAY = [*UP, (3.0, Goal(vector(4, 0, 2)))]


def script(*orders: Any, seconds: float) -> Script:
    return Script(tuple(orders), seconds)


def test_arm_makes_the_motors_idle_and_disarm_stops_them() -> None:
    flight = fly(script((0.2, Arm()), (0.6, Disarm()), seconds=1.2))
    assert not flight.rotor_speeds[flight.at(0.18)].any()
    np.testing.assert_allclose(flight.rotor_speeds[flight.at(0.58)], 100.0, rtol=1e-3)
    assert flight.rotor_speeds[-1].max() < 1.0


@pytest.mark.parametrize("altitude", [1.0, 2.0])
def test_take_off_goes_to_its_altitude(altitude: float) -> None:
    flight = fly(script((0.2, Arm()), (0.3, TakeOff(altitude)), seconds=5.0))
    assert flight.position[-1, 2] - flight.position[0, 2] == pytest.approx(altitude, abs=0.1)
    assert flight.status[-1].mode == "hover"


def test_land_comes_down_and_disarms() -> None:
    flight = fly(script(*UP, (4.0, Land()), seconds=9.0))
    assert flight.position[flight.at(4.0), 2] > 1.8
    assert flight.position[-1, 2] == pytest.approx(flight.position[0, 2], abs=0.01)
    assert flight.status[-1].landed and not flight.status[-1].armed


def test_hover_stops_on_the_way() -> None:
    far = [*UP, (3.0, Goal(vector(12, 0, 2)))]
    flight = fly(script(*far, (4.5, Hover()), seconds=8.0))
    going_on = fly(script(*far, seconds=8.0))
    assert flight.position[-1, 0] < going_on.position[-1, 0] - 1.0
    assert np.linalg.norm(flight.velocity[-1]) < 0.05


def test_go_home_returns_and_lands() -> None:
    flight = fly(script(*AWAY, (7.0, GoHome()), seconds=18.0))
    assert flight.position[flight.at(7.0), 0] > 3.5
    assert np.linalg.norm(flight.position[-1] - flight.position[0]) < 0.6
    assert flight.status[-1].landed


def test_every_request_is_tested_above() -> None:
    assert set(get_args(Request)) == {Arm, Disarm, TakeOff, Land, Hover, GoHome}


def test_a_moving_position_is_followed_between_setpoints() -> None:
    """Carried forward by its own derivatives: at 10 Hz the vehicle still flies smoothly at 2 m/s."""
    orders: list[tuple[float, Any]] = [
        (0.0, Arm()),
        *((0.0 + 0.1 * k, Position(vector(0.2 * k, 0, 5), 0.0, velocity=vector(2, 0, 0))) for k in range(40)),
    ]
    flight = fly(Script(tuple(orders), 4.0, ALOFT))
    late = flight.t > 3.0
    assert np.abs(flight.velocity[late, 0] - 2.0).max() < 0.2
    assert np.abs(flight.position[late, 0] - 2.0 * flight.t[late]).max() < 0.3
