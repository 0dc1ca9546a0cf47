"""Every number of an airframe changes how it flies."""

from __future__ import annotations

from itertools import combinations
from typing import Any, get_args

import numpy as np
import pytest
from option_flights import (
    AIRFRAME,
    ALOFT,
    DRONE,
    HOVER,
    IRIS,
    STEP,
    Case,
    Flight,
    Script,
    at,
    battery_end,
    check,
    end,
    fields_of,
    fly,
    hold,
    joined,
    most,
    repeated,
)

from skyloop.sim.scenario import AIRFRAMES, Vehicle
from skyloop.vehicle.airframe import Airframe, Battery, ContactConfig, Motor, Rotor
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Arm, Land, Motors, TakeOff, Velocity


def throttle(*shares: float) -> Script:
    """From rest in the air, rotors held at shares of full speed."""
    return Script(joined([(0.0, Arm())], repeated(Motors(np.array(shares)), 0.0, 0.4)), 0.4, ALOFT)


CHARGE = battery_end("state_of_charge")
LEVEL = throttle(0.7, 0.7, 0.7, 0.7)
ROLLING = throttle(0.6, 0.7, 0.7, 0.6)
"""Left rotors stronger: rolls right."""
YAWING = throttle(0.7, 0.7, 0.5, 0.5)
"""Counter-clockwise rotors faster: turns clockwise."""
IDLE = Script(((0.5, Arm()),), 1.0)
REST = Script((), 1.5)
DROP = Script((), 1.5, {DRONE + "position": [0.0, 0.0, 0.6]})
CUT = Script(
    joined([(0.0, Arm())], repeated(Motors(np.full(4, 0.8)), 0.0, 0.3), [(0.3, Motors(np.zeros(4)))]), 0.4, ALOFT
)
SHOVED = Script((), 2.0, {DRONE + "wrenches": [{"start": 0.5, "end": 1.0, "force": [9.0, 0.0, 0.0]}]})
TOPPLED = Script((), 3.0, {DRONE + "wrenches": [{"start": 0.2, "end": 0.7, "torque": [4.0, 0.0, 0.0]}]})

AT_A_WALL = Script(
    ((0.0, Arm()), *repeated(Velocity(np.array([3.0, 0.0, 0.0])), 0.0, 2.0)),
    2.0,
    {**ALOFT, "world": "option_plugins.py:Barrier"},
)


def front_share(flight: Flight) -> float:
    """Thrust of the front rotors over that of all."""
    return float(flight.thrust[-1, [0, 2]].sum() / flight.thrust[-1].sum())


def yaw_kick(flight: Flight) -> float:
    """Turn rate while the rotors spin up, before drag torque has had time to act."""
    return float(abs(flight.rates[flight.at(0.04), 2]))


def sag(flight: Flight) -> float:
    return flight.battery[1].voltage - flight.battery[-1].voltage


def bounce(flight: Flight) -> float:
    """m, the highest rebound after the first touch."""
    touch = int(np.argmax(flight.velocity[:, 2] > 0.0))
    return float(flight.position[touch:, 2].max())


def wider(factor: float) -> list[dict[str, Any]]:
    return [
        {**rotor, "position": [factor * x for x in rotor["position"][:2]] + [rotor["position"][2]]}
        for rotor in IRIS["rotors"]
    ]


MIRRORED = [{**rotor, "spin": {"cw": "ccw", "ccw": "cw"}[rotor["spin"]]} for rotor in IRIS["rotors"]]
LONG_LEGS = [[x, y, -0.3] for x, y, _ in IRIS["contact"]["legs"]]
BIG_BODY = [[x, y, 0.3] for x, y, _ in IRIS["contact"]["body"]]

OPTIONS: dict[type, dict[str, Case]] = {
    Airframe: {
        "mass": Case(2.0, HOVER, end("rotor_speeds"), 50.0),
        "inertia": Case([0.06, 0.06, 0.1], ROLLING, at(0.2, "rates", 0), -1.0),
        "centre_of_mass": Case([0.03, 0.0, 0.0], HOVER, front_share, 0.05),
        "controller": Case("simpleflight", STEP, lambda flight: float(flight.tilt.max()), -0.05),
    },
    Rotor: {
        "position": Case(wider(1.5), ROLLING, at(0.2, "rates", 0), 1.0),
        "spin": Case(MIRRORED, YAWING, at(0.2, "rates", 2), 1.0),
    },
    Motor: {
        "thrust_coefficient": Case(8e-6, HOVER, end("rotor_speeds"), -50.0),
        "torque_ratio": Case(0.12, YAWING, at(0.2, "rates", 2), -0.5),
        "max_speed": Case(1300.0, LEVEL, end("velocity", 2), 1.0),
        "idle_speed": Case(200.0, IDLE, end("rotor_speeds"), 99.0),
        "tau_up": Case(0.05, LEVEL, at(0.02, "rotor_speeds"), -200.0),
        "tau_down": Case(0.1, CUT, at(0.32, "rotor_speeds"), 200.0),
        "radius": Case(0.2, HOVER, battery_end("current"), -2.0),
        "inertia": Case(5e-4, YAWING, yaw_kick, 0.5),
        "lag": Case("thrust", LEVEL, at(0.02, "rotor_speeds"), 20.0),
        "throttle": Case("thrust", LEVEL, end("velocity", 2), 1.0),
    },
    Battery: {
        "cells": Case(4, HOVER, battery_end("voltage"), 4.0),
        "capacity_ah": Case(1.0, HOVER, CHARGE, -0.005),
        "resistance": Case(0.1, HOVER, battery_end("voltage"), -0.5),
        "cell_full": Case(4.35, HOVER, battery_end("voltage"), 0.4),
        "cell_empty": Case(2.0, HOVER.but({DRONE + "charge": 0.5}), battery_end("voltage"), -1.5),
        "efficiency": Case(0.8, HOVER, battery_end("current"), -3.0),
        "hotel_power": Case(100.0, HOVER, battery_end("current"), 5.0),
    },
    ContactConfig: {
        "legs": Case(LONG_LEGS, REST, end("position", 2), 0.17),
        "body": Case(BIG_BODY, TOPPLED, end("position", 2), 0.05),
        "friction": Case(0.1, SHOVED, end("position", 0), 0.1),
        "sink": Case(0.01, REST, end("position", 2), -0.008),
        "damping_ratio": Case(0.1, DROP, bounce, 0.05),
        "restitution": Case(0.9, AT_A_WALL, most("velocity", 0, sign=-1), 0.5),
        "crash_speed": Case(0.5, AT_A_WALL, end("rotor_speeds"), -300.0),
    },
}
PLACES = {Airframe: "", Rotor: "rotors", Motor: "motor.", Battery: "battery.", ContactConfig: "contact."}
ELSEWHERE = {
    Airframe: (
        "name",
        "sources",
        "provenance",
        "rotors",
        "motor",
        "drag",
        "battery",
        "contact",
        "limits",
        "gains",
        "simpleflight_gains",
    )
}
"""Labels, and parts with cases of their own."""


@pytest.mark.parametrize("model", OPTIONS)
def test_every_airframe_option_has_a_case(model: Any) -> None:
    assert set(OPTIONS[model]) == fields_of(model, *ELSEWHERE.get(model, ()))


@pytest.mark.parametrize(("model", "name"), [(model, name) for model, cases in OPTIONS.items() for name in cases])
def test_airframe(model: Any, name: str) -> None:
    path = AIRFRAME + PLACES[model] + ("" if model is Rotor else name)
    check(OPTIONS[model][name], path)


# ---- what the scenario says of the battery and the controller


def test_a_battery_that_is_switched_off_never_sags() -> None:
    with_battery, without = fly(HOVER), fly(HOVER, {DRONE + "battery": False})
    assert sag(with_battery) > 0.1
    assert sag(without) == 0.0
    assert CHARGE(without) == 1.0 > CHARGE(with_battery)
    full = IRIS["battery"]["cells"] * IRIS["battery"].get("cell_full", 4.2)
    assert [record.voltage for record in without.battery] == pytest.approx([full] * len(without.battery))


def test_an_airframe_may_have_no_battery() -> None:
    assert CHARGE(fly(HOVER, {AIRFRAME + "battery": None})) == 1.0


def test_a_half_charged_battery_gives_less_thrust() -> None:
    full_throttle = throttle(1.0, 1.0, 1.0, 1.0)
    half = fly(full_throttle, {DRONE + "charge": 0.5})
    assert CHARGE(half) == pytest.approx(0.5, abs=0.01)
    assert end("velocity", 2)(half) < end("velocity", 2)(fly(full_throttle)) - 0.5


def test_a_slow_controller_follows_worse() -> None:
    assert "controller_rate_hz" in Vehicle.model_fields
    fast, slow = fly(STEP), fly(STEP, {DRONE + "controller_rate_hz": 62.5})
    assert np.abs(fast.position - slow.position).max() > 0.005


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_a_controller_of_ones_own_is_obeyed(share: float) -> None:
    changes = {DRONE + "controller": "option_plugins.py:HoverThrottle", DRONE + "controller_options": {"share": share}}
    speed = fly(HOVER, changes).rotor_speeds[-1]
    np.testing.assert_allclose(speed, share * IRIS["motor"]["max_speed"], rtol=1e-3)


def test_options_without_a_taker_are_refused() -> None:
    with pytest.raises(ScenarioError, match="controller_options work with a controller of your own only"):
        fly(HOVER, {DRONE + "controller_options": {"share": 0.5}})


CONTROLLERS = get_args(Airframe.model_fields["controller"].annotation)


@pytest.mark.parametrize("airframe", ["iris", "x500", "airsim-quad", "f450"])
@pytest.mark.parametrize("controller", CONTROLLERS)
def test_each_controller_flies_several_airframes(airframe: str, controller: str) -> None:
    there = Script(((0.0, Arm()), (0.0, hold(2, 1, 6, 0.5))), 12.0, ALOFT)
    flight = fly(there, {DRONE + "airframe": airframe, DRONE + "controller": controller})
    assert np.linalg.norm(flight.position[-1] - [2, 1, 6]) < 0.5
    assert flight.yaw[-1] == pytest.approx(0.5, abs=0.1)


def test_the_two_controllers_fly_differently() -> None:
    first, second = (fly(STEP, {DRONE + "controller": controller}) for controller in CONTROLLERS)
    assert np.abs(first.position - second.position).max() > 0.1


# ---- the airframes that ship

UP_AND_DOWN = Script(((0.2, Arm()), (0.4, TakeOff(1.5)), (6.0, Land())), 12.0)


@pytest.mark.parametrize("airframe", list(AIRFRAMES))
def test_it_takes_off_hovers_and_lands(airframe: str) -> None:
    flight = fly(UP_AND_DOWN, {DRONE + "airframe": airframe})
    hovering = (flight.t > 5.0) & (flight.t < 6.0)
    start = flight.position[0]
    assert np.linalg.norm(flight.position[hovering] - start - [0, 0, 1.5], axis=1).max() < 0.15
    assert flight.event_time("took off") < 6.0 < flight.event_time("landed")
    assert not flight.status[-1].armed
    assert np.linalg.norm(flight.position[-1] - start) < 0.15
    assert flight.tilt[-1] < 0.02


def test_no_two_airframes_fly_alike() -> None:
    flights = {name: fly(UP_AND_DOWN, {DRONE + "airframe": name}) for name in list(AIRFRAMES)}
    for one, other in combinations(flights, 2):
        difference = np.abs(flights[one].rotor_speeds - flights[other].rotor_speeds)[flights[one].at(2.0) :].max()
        assert difference > 1.0, (one, other)
