"""Every gain and every limit of the controllers changes the flight, each along its own axis."""

from __future__ import annotations

import numpy as np
import pytest
from option_flights import (
    AIRFRAME,
    ALOFT,
    DRONE,
    Case,
    Flight,
    Script,
    check,
    fields_of,
    fly,
    hold,
    joined,
    most,
    numbered,
    repeated,
    top_speed,
)

from skyloop.sim.assembly import load_airframe
from skyloop.vehicle.airframe import Gains, Limits, SimpleFlightGains
from skyloop.vehicle.kernel_packing import complete_gains
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Arm, Attitude, Goal, Rates, Velocity

IRIS = load_airframe("iris")
GAINS = complete_gains(IRIS.gains, IRIS.motor)
DISTURBED = Script(
    ((0.0, Arm()), (0.0, hold(5, 4, 8, 1.5))),
    3.0,
    {
        **ALOFT,
        DRONE + "wrenches": [{"start": 0.5, "end": 9.0, "force": [1, 1, 2], "torque": [0.1, 0.1, 0.05]}],
        AIRFRAME + "gains": GAINS.model_dump(),
    },
)
SIMPLE = DISTURBED.but({DRONE + "controller": "simpleflight"})

# m along the axis for what steers position, rad/s about it for what steers attitude
LEAST = {
    "position_p": 0.05,
    "velocity_p": 0.05,
    "velocity_i": 0.01,
    "attitude_p": 0.02,
    "rate_p": 0.02,
    "rate_i": 0.002,
    "rate_d": 0.01,
}


def difference(one: Flight, other: Flight, name: str, axis: int) -> float:
    if name.startswith(("position", "velocity")):
        return float(np.abs(one.position - other.position)[:, axis].max())
    return float(np.abs(one.rates - other.rates)[:, axis].max())


@pytest.mark.parametrize("axis", range(3), ids="xyz")
@pytest.mark.parametrize("name", sorted(fields_of(Gains)))
def test_cascade_gain(name: str, axis: int) -> None:
    gains = list(getattr(GAINS, name))
    gains[axis] = 0.5 * gains[axis] or 0.5
    if name == "position_p" and axis < 2:
        gains[1 - axis] = gains[axis]
    changed = fly(DISTURBED, {AIRFRAME + f"gains.{name}": gains})
    assert difference(fly(DISTURBED), changed, name, axis) > LEAST[name]


def test_a_gain_that_cannot_act_is_refused() -> None:
    with pytest.raises(ScenarioError, match="same x and y"):
        fly(DISTURBED, {AIRFRAME + "gains.position_p": [1.0, 2.0, 1.0]})


@pytest.mark.parametrize("axis", range(3), ids="xyz")
@pytest.mark.parametrize("name", sorted(fields_of(SimpleFlightGains)))
def test_simpleflight_gain(name: str, axis: int) -> None:
    gains = list(getattr(SimpleFlightGains(), name))
    gains[axis] = 0.5 * gains[axis] or 0.5
    changed = fly(SIMPLE, {AIRFRAME + f"simpleflight_gains.{name}": gains})
    assert difference(fly(SIMPLE), changed, name, axis) > LEAST[name]


# ---- limits

DASH = Script(
    joined([(0.0, Arm())], repeated(Velocity(np.array([40.0, 0.0, 0.0])), 0.0, 6.0)),
    6.0,
    {**ALOFT, AIRFRAME + "limits.acceleration": 20.0},
)
RISE = Script(((0.0, Arm()), (0.0, hold(0, 0, 30))), 4.0, ALOFT)
SINK = Script(((0.0, Arm()), (0.0, hold(0, 0, 5))), 4.0, {DRONE + "position": [0.0, 0.0, 30.0]})
CROSS = Script(((0.0, Arm()), (0.0, hold(20, 0, 5))), 3.0, ALOFT)
TRIP = Script(((0.0, Arm()), (0.0, Goal(np.array([40.0, 0.0, 5.0]), 0.0))), 5.0, ALOFT)


def spin(axis: int) -> Script:
    rates = np.zeros(3)
    rates[axis] = 20.0
    return Script(joined([(0.0, Arm())], repeated(Rates(rates, 15.0), 0.0, 0.6, 0.1)), 0.6, ALOFT)


def steepest(flight: Flight) -> float:
    return float(flight.tilt[flight.t > 0.5].max())


LIMITS = {
    "speed": [Case(4.0, DASH, top_speed, -5.0)],
    "cruise_speed": [Case(2.0, TRIP, top_speed, -2.0)],
    "climb": [Case(1.0, RISE, most("velocity", 2), -1.0)],
    "descent": [Case(1.0, SINK, most("velocity", 2, sign=-1), -0.8)],
    "acceleration": [Case(1.0, CROSS, top_speed, -2.0)],
    "tilt_deg": [Case(15.0, DASH, steepest, -0.3)],
    "rates_deg": [
        Case([90.0, 360.0, 120.0], spin(0), most("rates", 0), -3.0),
        Case([360.0, 90.0, 120.0], spin(1), most("rates", 1), -3.0),
        Case([360.0, 360.0, 30.0], spin(2), most("rates", 2), -0.5),
    ],
}


def test_every_limit_has_a_case() -> None:
    assert set(LIMITS) == fields_of(Limits)


@pytest.mark.parametrize(("name", "number"), numbered(LIMITS))
def test_limit(name: str, number: int) -> None:
    check(LIMITS[name][number], AIRFRAME + f"limits.{name}")


TURN = Script(((0.0, Arm()), (0.0, hold(0, 0, 5, 3.0))), 2.0, ALOFT)
OWN_LIMITS = {
    "speed": Case(1.0, DASH, top_speed, -1.0),
    "cruise_speed": Case(2.0, TRIP, top_speed, -0.5),
    "climb": Case(1.0, RISE, most("velocity", 2), -1.0),
    "descent": Case(1.0, SINK, most("velocity", 2, sign=-1), -0.8),
    "rates_deg": Case([360.0, 360.0, 30.0], TURN, most("rates", 2), -0.2),
}
FIXED = {"tilt_deg": (15.0, DASH), "acceleration": (1.0, CROSS)}
"""SimpleFlight's own, as in AirSim and as the docstring of Limits says."""


@pytest.mark.parametrize("name", sorted(fields_of(Limits)))
def test_simpleflight_limit(name: str) -> None:
    simple = {DRONE + "controller": "simpleflight"}
    if name in FIXED:
        value, script = FIXED[name]
        changed = fly(script, {**simple, AIRFRAME + f"limits.{name}": value})
        np.testing.assert_array_equal(changed.position, fly(script, simple).position)
        return
    case = OWN_LIMITS[name]
    check(Case(case.value, case.script.but(simple), case.measure, case.least), AIRFRAME + f"limits.{name}")


def test_attitude_setpoints_know_no_tilt_limit() -> None:
    """They are the inner loop's: whoever sends them has taken that responsibility."""
    leaning = np.array([np.cos(0.5), 0.0, np.sin(0.5), 0.0])
    script = Script(joined([(0.0, Arm())], repeated(Attitude(leaning, 20.0), 0.0, 1.0)), 1.0, ALOFT)
    assert steepest(fly(script, {AIRFRAME + "limits.tilt_deg": 15.0})) == pytest.approx(1.0, abs=0.1)
