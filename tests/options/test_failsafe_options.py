"""Every failsafe acts, each of its numbers is felt, and what cannot be done is refused with a reason."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from option_flights import ALOFT, DRONE, Case, Flight, Script, at, check, end, fields_of, fly, joined, most, repeated

from skyloop.vehicle.failsafes import Failsafes
from skyloop.world.worlds.room import BOXES
from skyloop_client.messages import Arm, Goal, Hover, Land, TakeOff, Velocity

EAST = Velocity(np.array([2.0, 0.0, 0.0]))
LOW_BATTERY = Script(((0.0, Arm()), (0.0, Goal(np.array([6.0, 0.0, 5.0])))), 12.0, {**ALOFT, DRONE + "charge": 0.1525})
SILENCE = Script(joined([(0.0, Arm())], repeated(EAST, 0.0, 1.0)), 9.0, ALOFT)
LANDING = Script(((0.0, Arm()), (0.0, Hover()), (0.5, Land())), 4.0, ALOFT)
BLIND = Script(
    ((0.1, Arm()), (0.1, Hover())),
    9.0,
    {
        **ALOFT,
        DRONE + "state": "drone/mocap",
        DRONE + "sensors": {
            "mocap": {"kind": "option_plugins.py:MotionCapture", "rate_hz": 100, "options": {"lost_at": 2.0}}
        },
    },
)


def time_of_low_battery(flight: Flight) -> float:
    return min(flight.event_time("failsafe", "battery low"), 100.0)


def time_of_lost_setpoint(flight: Flight) -> float:
    return flight.event_time("failsafe", "setpoint lost: hovering")


def time_of_landing_after_loss(flight: Flight) -> float:
    return min(flight.event_time("failsafe", "setpoint lost: landing"), 100.0)


def time_of_lost_estimate(flight: Flight) -> float:
    return flight.event_time("failsafe", "estimate lost")


x, y = BOXES[4]
ROOM = {**ALOFT, "world": "room", DRONE + "position": [x + 0.2, y, 4.0]}
OVER_A_BOX = Script(((0.0, Arm()), (0.0, Hover()), (0.5, Land())), 14.0, ROOM)
HOME = LOW_BATTERY.but({DRONE + "failsafes.battery_action": "home"})
FAILSAFES = {
    "battery_low": Case(0.1, LOW_BATTERY, time_of_low_battery, 50.0),
    "battery_action": Case("home", LOW_BATTERY, end("position", 0), -0.5),
    "setpoint_timeout": Case(1.5, SILENCE, time_of_lost_setpoint, 0.9),
    "setpoint_land_after": Case(2.0, SILENCE, time_of_landing_after_loss, -2.9),
    "estimate_timeout": Case(1.0, BLIND, time_of_lost_estimate, 0.6),
    "descent_speed": Case(1.4, LANDING, at(3.0, "velocity", 2), -0.5),
    "landing_search": Case(0.0, OVER_A_BOX, end("position", 2), 0.3),
    "home_altitude": Case(8.0, HOME.but({DRONE + "position": [0.0, 0.0, 2.0]}), most("position", 2), 2.5),
}


def test_every_failsafe_option_has_a_case() -> None:
    assert set(FAILSAFES) == fields_of(Failsafes)


@pytest.mark.parametrize("name", FAILSAFES)
def test_failsafe(name: str) -> None:
    check(FAILSAFES[name], DRONE + f"failsafes.{name}")


ACTIONS = get_args(Failsafes.model_fields["battery_action"].annotation)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_low_battery_lands_goes_home_or_flies_on(action: str) -> None:
    flight = fly(LOW_BATTERY.but(seconds=25.0), {DRONE + "failsafes.battery_action": action})
    if action == "none":
        assert time_of_low_battery(flight) == 100.0
        np.testing.assert_allclose(flight.position[-1], [6, 0, 5], atol=0.3)
        return
    began = time_of_low_battery(flight)
    assert began < 5.0
    assert flight.status[-1].landed and not flight.status[-1].armed
    where = flight.position[-1, 0]
    if action == "home":
        assert abs(where) < 0.6
    else:
        assert where > flight.position[flight.at(began), 0] - 0.1


def test_a_low_battery_takes_no_more_orders() -> None:
    stubborn = Script((*LOW_BATTERY.orders, (6.0, Goal(np.array([50.0, 0.0, 5.0])))), 7.0, LOW_BATTERY.base)
    assert fly(stubborn).event_time("refused", "battery low") == pytest.approx(6.0, abs=0.03)


def test_a_lost_setpoint_hovers_then_lands() -> None:
    flight = fly(SILENCE.but(seconds=16.0))
    hovered = flight.at(time_of_lost_setpoint(flight) + 3.0)
    assert np.linalg.norm(flight.velocity[hovered]) < 0.05
    assert flight.position[hovered, 2] == pytest.approx(5.0, abs=0.2)
    assert flight.status[-1].landed


def test_a_setpoint_that_returns_ends_the_failsafe() -> None:
    script = Script(joined(SILENCE.orders, repeated(EAST, 3.0, 4.0)), 4.0, ALOFT)
    flight = fly(script)
    assert flight.status[-1].failsafe == ""
    assert flight.velocity[-1, 0] > 1.5


def test_a_lost_estimate_descends_level_and_lands() -> None:
    flight = fly(BLIND.but(seconds=14.0))
    falling = slice(flight.at(4.0), flight.at(5.0))
    assert flight.velocity[falling, 2].mean() == pytest.approx(-0.7, abs=0.2)
    assert flight.tilt[falling].max() < 0.05
    assert flight.status[-1].landed and not flight.status[-1].armed


def test_an_estimate_that_returns_ends_the_descent() -> None:
    faults = [{"kind": "off", "start": 2.0, "end": 3.0}]
    script = BLIND.but(
        {DRONE + "sensors": {"mocap": {"kind": "option_plugins.py:MotionCapture", "rate_hz": 100, "faults": faults}}},
        seconds=5.0,
    )
    flight = fly(script)
    assert time_of_lost_estimate(flight) < 2.5
    assert flight.event_time("failsafe over") == pytest.approx(3.0, abs=0.05)
    assert np.linalg.norm(flight.velocity[-1]) < 0.1


# ---- refusals


@pytest.mark.parametrize(
    ("changes", "orders", "reason"),
    [
        ({DRONE + "charge": 0.1}, [(0.2, Arm())], "battery at 10"),
        ({**BLIND.base, DRONE + "position": [0.0, 0.0]}, [(0.0, Arm())], "before the estimate is valid"),
        ({}, [(0.2, TakeOff(2.0))], "while disarmed"),
    ],
    ids=["low battery", "no estimate", "disarmed"],
)
def test_refusal(changes: dict[str, object], orders: list[object], reason: str) -> None:
    flight = fly(Script(tuple(orders), 1.0, changes))  # type: ignore[arg-type]
    assert flight.event_time("refused", reason) < 0.3
    assert not flight.status[-1].armed
    assert not flight.rotor_speeds.any()
    assert np.abs(flight.position[-1] - flight.position[0]).max() < 1e-3


def test_without_a_battery_action_a_low_battery_may_arm() -> None:
    script = Script(((0.2, Arm()),), 1.0, {DRONE + "charge": 0.1})
    assert fly(script, {DRONE + "failsafes.battery_action": "none"}).status[-1].armed
