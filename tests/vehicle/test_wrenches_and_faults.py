"""Scheduled pushes and rotors that fail."""

from __future__ import annotations

import numpy as np
import pytest
from flying import HOVER_SPEED, IRIS, ask, fly, hold_rotors, make_fleet, record, set_motion

from skyloop.core.frames import quat_from_euler, rotate
from skyloop.vehicle.kernel_packing import RotorFault, Wrench
from skyloop.vehicle.kernel_records import SET_MOTORS
from skyloop_client.errors import ScenarioError

FORCE = np.array([3.0, -2.0, 5.0])
TORQUE = np.array([0.02, -0.01, 0.03])
QUAT = quat_from_euler(0.4, -0.3, 1.2)


@pytest.mark.parametrize("frame", ["world", "body"])
def test_a_push_changes_momentum_by_force_times_time(frame: str) -> None:
    push = Wrench(start=0.5, end=0.75, force=tuple(FORCE), frame=frame)  # type: ignore[arg-type]
    fleet = make_fleet(gravity=0.0, wrenches=[push])
    set_motion(fleet, quat=QUAT)
    assert np.linalg.norm(fly(fleet, 0.5).velocity_world) == 0.0
    during = fly(fleet, 0.6).acceleration_world
    gained = fly(fleet, 2.0).velocity_world
    force = rotate(QUAT, FORCE) if frame == "body" else FORCE
    np.testing.assert_allclose(during, force / IRIS.mass, rtol=1e-12)
    np.testing.assert_allclose(gained, force * 0.25 / IRIS.mass, rtol=1e-12)


@pytest.mark.parametrize("frame", ["world", "body"])
def test_a_twist_changes_angular_momentum_by_torque_times_time(frame: str) -> None:
    twist = Wrench(start=0.1, end=0.2, torque=tuple(TORQUE), frame=frame)  # type: ignore[arg-type]
    fleet = make_fleet(wrenches=[twist])
    set_motion(fleet, quat=QUAT)
    state = fly(fleet, 1.0)
    momentum = rotate(state.quat_wxyz, np.array(IRIS.inertia) * state.angular_velocity_body)
    torque = rotate(QUAT, TORQUE) if frame == "body" else TORQUE
    # a body torque turns along with the body, by less than a hundredth of a radian here
    np.testing.assert_allclose(momentum, torque * 0.1, atol=1e-8 if frame == "world" else 5e-5)


def test_pushes_add_up() -> None:
    pushes = [Wrench(start=0.1 * k, end=0.1 * k + 0.2, force=(1.0, 0.0, 0.0)) for k in range(16)]
    fleet = make_fleet(gravity=0.0, wrenches=pushes)
    assert fly(fleet, 3.0).velocity_world[0] == pytest.approx(16 * 0.2 / IRIS.mass, rel=2e-3)
    with pytest.raises(ScenarioError, match="at most 16"):
        make_fleet(wrenches=[*pushes, *pushes])


def test_a_damaged_propeller_turns_but_lifts_less() -> None:
    fleet = make_fleet(rotor_faults=[RotorFault(rotor=2, kind="lost", start=0.1, end=0.2, value=0.3)])
    hold_rotors(fleet, HOVER_SPEED)
    healthy = fly(fleet, 0.1).rotor_thrusts
    state = fly(fleet, 0.11)
    np.testing.assert_allclose(state.rotor_thrusts / healthy, [1, 1, 0.3, 1], rtol=1e-5)
    np.testing.assert_allclose(state.rotor_speeds, HOVER_SPEED)
    # rotor 2 is front left: without it the left side sinks and the nose goes down
    assert state.angular_acceleration_body[0] < 0
    assert state.angular_acceleration_body[1] > 0
    np.testing.assert_allclose(fly(fleet, 0.21).rotor_thrusts / healthy, 1.0, rtol=1e-4)


def test_a_stuck_motor_ignores_its_command() -> None:
    fleet = make_fleet(rotor_faults=[RotorFault(rotor=0, kind="stuck", start=0.2, value=0.9)])
    ask(fleet, SET_MOTORS)
    fleet.inputs[0]["throttle"][:4] = 0.5
    np.testing.assert_allclose(fly(fleet, 0.2).rotor_speeds, 550.0, rtol=1e-4)
    np.testing.assert_allclose(fly(fleet, 0.6).rotor_speeds, [990.0, 550.0, 550.0, 550.0], rtol=1e-4)
    fleet.inputs[0]["throttle"][:4] = 0.1
    np.testing.assert_allclose(fly(fleet, 1.2).rotor_speeds, [990.0, 110.0, 110.0, 110.0], rtol=1e-4)


def test_a_slow_motor_follows_with_longer_time_constants() -> None:
    fleet = make_fleet(rotor_faults=[RotorFault(rotor=3, kind="slow", start=0.0, value=4.0)])
    ask(fleet, SET_MOTORS)
    fleet.inputs[0]["throttle"][:4] = 0.5
    times, states = record(fleet, 0.0, 0.1, 0.01)
    speeds = np.array([s.rotor_speeds for s in states])
    tau = IRIS.motor.tau_up
    np.testing.assert_allclose(speeds[:, 0], 550.0 * (1 - np.exp(-times / tau)), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(speeds[:, 3], 550.0 * (1 - np.exp(-times / (4 * tau))), rtol=1e-9, atol=1e-9)


def test_a_fault_of_a_rotor_that_is_not_there_is_refused() -> None:
    with pytest.raises(ScenarioError, match="rotors 0 to 3"):
        make_fleet(rotor_faults=[RotorFault(rotor=4, kind="lost", start=0.0)])
