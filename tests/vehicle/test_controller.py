"""The mixer's priorities, what each kind of setpoint does, the limits, and how well positions are held."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from flying import GRAVITY, IRIS, ask, fly, make_fleet, record

from skyloop.core.frames import euler_from_quat, matrix_from_quat, quat_from_euler, yaw_from_quat
from skyloop.vehicle.airframe import Airframe
from skyloop.vehicle.fleet import Fleet
from skyloop.vehicle.kernel_records import (
    MAX_ROTORS,
    SET_ATTITUDE,
    SET_DESCEND,
    SET_MOTORS,
    SET_POSITION,
    SET_RATES,
    SET_VELOCITY_BODY,
    SET_VELOCITY_WORLD,
)
from skyloop.vehicle.rotors import mix
from skyloop_client.messages import Array, VehicleState

WEIGHT = IRIS.mass * GRAVITY
MAX_THRUST = IRIS.motor.thrust_coefficient * IRIS.motor.max_speed**2
MIN_THRUST = IRIS.motor.thrust_coefficient * IRIS.motor.idle_speed**2
HEAVY_NOSE = IRIS.model_copy(update={"centre_of_mass": (0.04, -0.03, 0.0)})


@numba.njit(error_model="numpy")
def _call_mix(states, params, collective, tx, ty, tz, lift):
    mix(states[0], params[0], collective, tx, ty, tz, lift)


def _mixed(collective: float, torque: Any, airframe: Airframe = IRIS) -> tuple[Array, Array, bool]:
    """(collective, roll, pitch, yaw) really made, the rotor thrusts, and whether something was given up."""
    fleet = make_fleet(airframe=airframe)
    fleet.params["thrust_per_speed_squared"] = IRIS.motor.thrust_coefficient
    fleet.params["max_rotor_thrust"] = MAX_THRUST
    _call_mix(fleet.states, fleet.params, collective, *map(float, torque), np.zeros(MAX_ROTORS))
    thrusts = IRIS.motor.thrust_coefficient * fleet.states["command"][0, :4] ** 2
    effect = np.zeros((4, 4))
    for i, rotor in enumerate(airframe.rotors):
        x, y, _ = np.subtract(rotor.position, airframe.centre_of_mass)
        effect[:, i] = 1.0, y, -x, (-1 if rotor.spin == "ccw" else 1) * airframe.motor.torque_ratio
    assert (thrusts > MIN_THRUST - 1e-9).all()
    assert (thrusts < MAX_THRUST + 1e-9).all()
    return effect @ thrusts, thrusts, bool(fleet.states["saturated"][0])


@pytest.mark.parametrize("airframe", [IRIS, HEAVY_NOSE])
def test_mixer_gives_what_is_possible(airframe: Airframe) -> None:
    wanted = np.array([WEIGHT, 0.2, -0.15, 0.05])
    made, _, saturated = _mixed(WEIGHT, wanted[1:], airframe)
    np.testing.assert_allclose(made, wanted, rtol=1e-9)
    assert not saturated


@pytest.mark.parametrize("airframe", [IRIS, HEAVY_NOSE])
def test_mixer_gives_up_yaw_first(airframe: Airframe) -> None:
    wanted = np.array([WEIGHT, 0.3, -0.2, 5.0])
    made, thrusts, _ = _mixed(WEIGHT, wanted[1:], airframe)
    np.testing.assert_allclose(made[:3], wanted[:3], rtol=1e-9)
    assert 0.0 < made[3] < 1.0
    at_limit = np.isclose(thrusts, MIN_THRUST) | np.isclose(thrusts, MAX_THRUST)
    assert at_limit.any()


@pytest.mark.parametrize("airframe", [IRIS, HEAVY_NOSE])
@pytest.mark.parametrize("collective", [0.0, 4 * MAX_THRUST])
def test_mixer_shifts_the_collective_to_keep_roll_and_pitch(collective: float, airframe: Airframe) -> None:
    wanted = np.array([0.4, -0.3, 0.5])
    made, _, saturated = _mixed(collective, wanted, airframe)
    np.testing.assert_allclose(made[1:3], wanted[:2], rtol=1e-9)
    assert saturated
    assert abs(made[0] - collective) > 1.0
    assert abs(made[3]) < 0.5


def test_mixer_shrinks_roll_and_pitch_together_when_all_else_is_gone() -> None:
    made, thrusts, saturated = _mixed(WEIGHT, (6.0, -3.0, 0.5))
    assert saturated
    assert made[1] / made[2] == pytest.approx(-2.0, rel=1e-9)
    assert 0.0 < made[1] < 6.0
    assert thrusts.min() == pytest.approx(MIN_THRUST)
    assert thrusts.max() == pytest.approx(MAX_THRUST)


def _flying(**params: Any) -> Fleet:
    return make_fleet(drag=IRIS.drag, **params)


def _tilt(state: VehicleState) -> float:
    return float(np.arccos(matrix_from_quat(state.quat_wxyz)[2, 2]))


def test_position_setpoint_is_reached_with_its_yaw() -> None:
    fleet = _flying()
    ask(fleet, SET_POSITION, position=(3.0, -4.0, 2.0), absolute_yaw=1, yaw=0.7)
    state = fly(fleet, 15.0)
    np.testing.assert_allclose(state.position, [3.0, -4.0, 2.0], atol=0.01)
    assert yaw_from_quat(state.quat_wxyz) == pytest.approx(0.7, abs=1e-3)


@pytest.mark.parametrize(("kind", "turned"), [(SET_VELOCITY_WORLD, 0.0), (SET_VELOCITY_BODY, np.radians(40.0))])
def test_velocity_setpoints_in_both_frames(kind: int, turned: float) -> None:
    fleet = _flying()
    fleet.place(0, np.zeros(3), np.radians(40.0))
    ask(fleet, kind, velocity=(2.0, 1.0, 0.5))
    state = fly(fleet, 8.0)
    c, s = np.cos(turned), np.sin(turned)
    np.testing.assert_allclose(state.velocity_world, [2 * c - s, 2 * s + c, 0.5], atol=0.03)
    assert yaw_from_quat(state.quat_wxyz) == pytest.approx(np.radians(40.0), abs=0.01)


def test_yaw_rate_is_followed() -> None:
    fleet = _flying()
    ask(fleet, SET_VELOCITY_WORLD, velocity=(0.0, 0.0, 0.0), yaw_rate=0.5)
    early, late = fly(fleet, 4.0), fly(fleet, 6.0)
    turned = yaw_from_quat(late.quat_wxyz) - yaw_from_quat(early.quat_wxyz)
    assert turned == pytest.approx(1.0, abs=0.01)
    np.testing.assert_allclose(late.velocity_world, 0.0, atol=0.02)


def test_attitude_setpoint_holds_tilt_and_thrust() -> None:
    fleet = make_fleet()
    ask(fleet, SET_ATTITUDE, quat=quat_from_euler(0.2, -0.3, 0.5), thrust=16.0)
    state = fly(fleet, 5.0)
    np.testing.assert_allclose(euler_from_quat(state.quat_wxyz), [0.2, -0.3, 0.5], atol=2e-3)
    assert state.rotor_thrusts.sum() == pytest.approx(16.0, rel=5e-3)


def test_rates_setpoint_turns_at_that_rate() -> None:
    fleet = make_fleet()
    ask(fleet, SET_RATES, rates=(0.6, -0.4, 0.8), thrust=WEIGHT)
    state = fly(fleet, 1.5)
    np.testing.assert_allclose(state.angular_velocity_body, [0.6, -0.4, 0.8], atol=0.03)
    assert state.rotor_thrusts.sum() == pytest.approx(WEIGHT, rel=0.01)


@pytest.mark.parametrize("linear_in", ["speed", "thrust"])
def test_motor_setpoint_is_throttle(linear_in: str) -> None:
    fleet = make_fleet(throttle_is_thrust=linear_in == "thrust")
    ask(fleet, SET_MOTORS)
    throttle = np.array([0.25, 0.5, -0.2, 1.3])
    fleet.inputs[0]["throttle"][:4] = throttle
    share = np.clip(throttle, 0.0, 1.0)
    expected = (np.sqrt(share) if linear_in == "thrust" else share) * IRIS.motor.max_speed
    np.testing.assert_allclose(fly(fleet, 1.0).rotor_speeds, expected, rtol=1e-9, atol=1e-9)


def test_blind_descent_sinks_level_and_drifts() -> None:
    fleet = make_fleet()
    fleet.states["motion"][0, 3:5] = (1.0, -0.5)
    ask(fleet, SET_DESCEND, velocity=(0.0, 0.0, -0.7))
    state = fly(fleet, 6.0)
    assert state.velocity_world[2] == pytest.approx(-0.7, abs=0.02)
    assert _tilt(state) < 1e-3
    np.testing.assert_allclose(state.velocity_world[:2], [1.0, -0.5], atol=0.02)


def test_disarmed_motors_stop() -> None:
    fleet = make_fleet()
    ask(fleet, SET_POSITION)
    assert fly(fleet, 1.0).rotor_speeds.min() > 500.0
    fleet.inputs["armed"] = 0
    assert fly(fleet, 2.0).rotor_speeds.max() < 1e-9


def test_tilt_is_limited() -> None:
    fleet = _flying(max_tilt=0.35, max_acceleration=20.0)
    ask(fleet, SET_VELOCITY_WORLD, velocity=(20.0, 10.0, 0.0))
    _, states = record(fleet, 0.05, 4.0, 0.05)
    tilts = [_tilt(s) for s in states]
    assert 0.3 < max(tilts) < 0.35 * 1.1


def test_speed_is_limited_by_the_airframe_and_by_the_setpoint() -> None:
    cases: list[tuple[dict[str, Any], dict[str, float], float]]
    cases = [({}, {"max_speed_horizontal": 6.0}, 6.0), ({"speed_limit": 3.0}, {}, 3.0)]
    for fields, params, limit in cases:
        fleet = _flying(**params)
        ask(fleet, SET_POSITION, position=(120.0, -160.0, 0.0), **fields)
        _, states = record(fleet, 0.1, 15.0, 0.1)
        speeds = [float(np.hypot(*s.velocity_world[:2])) for s in states]
        assert limit * 0.97 < speeds[-1] < limit * 1.03
        assert max(speeds) < limit * 1.1


@pytest.mark.parametrize(("target", "limit"), [(60.0, IRIS.limits.climb), (-60.0, IRIS.limits.descent)])
def test_climb_and_descent_are_limited(target: float, limit: float) -> None:
    fleet = _flying()
    ask(fleet, SET_POSITION, position=(0.0, 0.0, target))
    _, states = record(fleet, 0.1, 8.0, 0.1)
    speeds = np.abs([s.velocity_world[2] for s in states])
    assert speeds[-1] == pytest.approx(limit, rel=0.03)
    # a dip of a tenth of a second while the motors start is no climb
    assert speeds[20:].max() < 1.1 * limit


def test_rates_are_limited() -> None:
    fleet = make_fleet(max_rate=(2.0, 2.0, 0.5))
    ask(fleet, SET_RATES, rates=(9.0, 0.0, -9.0), thrust=WEIGHT)
    state = fly(fleet, 1.5)
    np.testing.assert_allclose(state.angular_velocity_body, [2.0, 0.0, -0.5], atol=0.05)


@pytest.mark.parametrize("airframe", [IRIS, HEAVY_NOSE])
def test_position_is_held_to_two_millimetres_in_wind(airframe: Airframe) -> None:
    fleet = make_fleet(airframe=airframe, drag=IRIS.drag)
    fleet.inputs["wind_mean"] = (4.0, -2.0, 0.0)
    ask(fleet, SET_POSITION, position=(1.0, 2.0, 3.0))
    _, states = record(fleet, 20.0, 25.0, 0.05)
    errors = [float(np.linalg.norm(s.position - [1.0, 2.0, 3.0])) for s in states]
    assert max(errors) < 0.002


def test_a_ten_metre_step_overshoots_little() -> None:
    fleet = _flying()
    ask(fleet, SET_POSITION, position=(0.0, 0.0, 0.0))
    fly(fleet, 5.0)
    ask(fleet, SET_POSITION, position=(6.0, 8.0, 0.0))
    times, states = record(fleet, 5.0, 17.0, 0.02)
    along = np.array([s.position @ [0.6, 0.8, 0.0] for s in states])
    assert along.max() < 11.0
    assert times[np.argmax(along > 9.0)] - 5.0 < 4.0
    np.testing.assert_allclose(states[-1].position, [6.0, 8.0, 0.0], atol=0.02)
    assert np.abs([s.position[2] for s in states]).max() < 0.3


def _circle_error(derivatives: bool) -> float:
    """m, RMS over the last of four rounds of 3 m radius at 3 m/s, setpoints at 50 Hz."""
    fleet = _flying()
    fleet.place(0, np.array([3.0, 0.0, 0.0]), 0.0)
    squares = []
    for k in range(round(4 * 2 * np.pi / 0.02)):
        t = 0.02 * k
        c, s = 3 * np.cos(t), 3 * np.sin(t)
        fields: dict[str, Any] = {"position": (c, s, 0.0)}
        if derivatives:
            fields |= {"velocity": (-s, c, 0), "acceleration": (-c, -s, 0), "jerk": (s, -c, 0), "snap": (c, s, 0)}
        ask(fleet, SET_POSITION, **fields)
        state = fly(fleet, t + 0.02)
        if t > 3 * 2 * np.pi:
            ahead = 3 * np.array([np.cos(t + 0.02), np.sin(t + 0.02), 0.0])
            squares.append(((state.position - ahead) ** 2).sum())
    return float(np.sqrt(np.mean(squares)))


def test_feed_forward_of_a_trajectory_lowers_its_error() -> None:
    plain, fed = _circle_error(False), _circle_error(True)
    assert fed < 0.05
    assert fed < 0.1 * plain
