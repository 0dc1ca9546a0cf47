"""Standing, sliding, dropping, tipping and landing."""

from __future__ import annotations

import numpy as np
import pytest
from flying import GRAVITY, IRIS, ask, fly, make_fleet, record, set_motion, stand

from skyloop.core.frames import matrix_from_quat, quat_from_euler, rotate
from skyloop.vehicle.airframe import Drag
from skyloop.vehicle.fleet import Fleet
from skyloop.vehicle.kernel_packing import Wrench
from skyloop.vehicle.kernel_records import SET_POSITION, SET_VELOCITY_WORLD
from skyloop.world.ground import Ground

WEIGHT = IRIS.mass * GRAVITY
FRICTION = IRIS.contact.friction
LEG_LENGTH = 0.12


def _creep(fleet: Fleet) -> float:
    """m/s, the largest speed and the mean drift after a second of settling, over nine more."""
    _, states = record(fleet, 1.0, 10.0, 0.1)
    fastest = max(float(np.linalg.norm(s.velocity_world)) for s in states)
    return max(fastest, float(np.linalg.norm(states[-1].position - states[0].position)) / 9.0)


def test_stands_still() -> None:
    fleet = make_fleet(ground=Ground.flat())
    stand(fleet)
    assert _creep(fleet) < 1e-6
    state = fly(fleet, 10.0)
    assert state.position[2] == pytest.approx(LEG_LENGTH - IRIS.contact.sink, abs=1e-6)
    np.testing.assert_allclose(state.acceleration_world, 0.0, atol=1e-6)
    assert fleet.states["legs_down"][0] == 4
    assert fleet.states["body_down"][0] == 0


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_does_not_creep_in_a_wind_below_friction(share: float) -> None:
    fleet = make_fleet(ground=Ground.flat(), drag=Drag(model="linear", linear=(0.5, 0.5, 0.5)))
    stand(fleet)
    push = share * FRICTION * WEIGHT
    fleet.inputs["wind_mean"] = np.array([0.8, -0.6, 0.0]) * push / 0.5
    assert _creep(fleet) < 1e-6
    assert np.linalg.norm(fly(fleet, 10.0).position[:2]) < 0.01


def test_slides_when_pushed_above_friction() -> None:
    force = 1.4 * FRICTION * WEIGHT
    fleet = make_fleet(
        ground=Ground.flat(), wrenches=[Wrench(start=1.0, end=2.0, force=(0.6 * force, 0.8 * force, 0.0))]
    )
    stand(fleet)
    early, late, stopped = fly(fleet, 1.3), fly(fleet, 1.9), fly(fleet, 5.0)
    change = (late.velocity_world - early.velocity_world) / 0.6
    np.testing.assert_allclose(change, 0.4 * FRICTION * GRAVITY * np.array([0.6, 0.8, 0.0]), atol=0.01)
    assert np.linalg.norm(stopped.velocity_world) < 1e-6
    # it brakes with μg from the speed at the end of the push; the legs' give lets it start a little faster
    top = 0.4 * FRICTION * GRAVITY
    path = 0.5 * top + top**2 / (2 * FRICTION * GRAVITY)
    assert np.linalg.norm(stopped.position[:2]) == pytest.approx(path, rel=0.05)


def _energy(fleet: Fleet) -> float:
    """J, with the energy stored in the legs' springs."""
    motion, params = fleet.states["motion"][0], fleet.params[0]
    n = int(params["n_contacts"])
    points = motion[2] + rotate(motion[6:10], params["contact_position"][:n])[:, 2]
    depth = np.maximum(0.0, -points)
    kinetic = 0.5 * IRIS.mass * motion[3:6] @ motion[3:6]
    turning = 0.5 * motion[10:13] @ (np.array(IRIS.inertia) * motion[10:13])
    return float(kinetic + turning + WEIGHT * motion[2] + 0.5 * params["contact_stiffness"] * (depth**2).sum())


def test_dropped_it_comes_to_rest_and_never_gains_energy() -> None:
    fleet = make_fleet(ground=Ground.flat())
    fleet.place(0, np.array([0.0, 0.0, 0.5 + LEG_LENGTH]), 0.3)
    before = energy = _energy(fleet)
    for k in range(1, 3000):
        fly(fleet, 0.001 * k)
        now = _energy(fleet)
        assert now < energy + 1e-3 * before
        energy = min(energy, now)
    assert fleet.states["impact_speed"][0] == pytest.approx(np.sqrt(2 * GRAVITY * 0.5), rel=0.005)
    state = fly(fleet, 4.0)
    assert np.linalg.norm(state.velocity_world) < 1e-6
    assert state.position[2] == pytest.approx(LEG_LENGTH - IRIS.contact.sink, abs=1e-6)


def test_dropped_tilted_and_moving_it_never_rises_above_its_start() -> None:
    fleet = make_fleet(ground=Ground.flat())
    fleet.place(0, np.array([0.0, 0.0, 0.6]), 0.0)
    set_motion(fleet, quat=quat_from_euler(0.7, -0.5, 0.2), velocity=(2.0, -1.0, 0.0), rates=(1.0, 3.0, -2.0))
    start = _energy(fleet)
    _, states = record(fleet, 0.005, 6.0, 0.005)
    assert _energy(fleet) < 0.3 * start
    assert max(s.position[2] for s in states) <= 0.6 + 1e-9
    assert np.linalg.norm(states[-1].velocity_world) < 1e-5
    assert np.linalg.norm(states[-1].angular_velocity_body) < 1e-5


def test_pushed_over_it_lies_on_its_body() -> None:
    fleet = make_fleet(ground=Ground.flat(), wrenches=[Wrench(start=1.0, end=1.35, torque=(8.0, 0.0, 0.0))])
    stand(fleet)
    state = fly(fleet, 8.0)
    up = matrix_from_quat(state.quat_wxyz)[2, 2]
    assert up < 0.5
    assert fleet.states["body_down"][0] >= 3
    assert fleet.states["legs_down"][0] == 0
    assert np.linalg.norm(state.velocity_world) < 1e-5
    points = np.array([*IRIS.contact.legs, *IRIS.contact.body])
    lowest = (state.position + rotate(state.quat_wxyz, points))[:, 2].min()
    assert -0.005 < lowest < 0.0


def _on_slope(angle: float) -> Fleet:
    ground = Ground.from_function(lambda x, y: np.tan(angle) * x, (-60.0, -60.0, 60.0, 60.0), 1.0)
    fleet = make_fleet(ground=ground)
    quat = quat_from_euler(0.0, -angle, 0.0)
    set_motion(fleet, position=rotate(quat, [0.0, 0.0, LEG_LENGTH]), quat=quat)
    return fleet


def test_stands_on_a_slope_below_the_friction_angle() -> None:
    assert _creep(_on_slope(0.9 * np.arctan(FRICTION))) < 1e-6


def test_slides_down_a_slope_above_the_friction_angle() -> None:
    angle = np.radians(40.0)
    fleet = _on_slope(angle)
    early, late = fly(fleet, 1.0), fly(fleet, 3.0)
    down = np.array([-np.cos(angle), 0.0, -np.sin(angle)])
    gained = (late.velocity_world - early.velocity_world) / 2.0
    expected = GRAVITY * (np.sin(angle) - FRICTION * np.cos(angle))
    np.testing.assert_allclose(gained, expected * down, atol=0.02)


def test_lands_from_flight() -> None:
    fleet = make_fleet(ground=Ground.flat(), drag=IRIS.drag)
    stand(fleet)
    ask(fleet, SET_POSITION, position=(1.0, -1.0, 2.0))
    assert fly(fleet, 6.0).position[2] == pytest.approx(2.0, abs=0.05)
    assert fleet.states["legs_down"][0] == 0
    ask(fleet, SET_VELOCITY_WORLD, velocity=(0.0, 0.0, -0.5))
    fly(fleet, 12.0)
    assert fleet.states["legs_down"][0] == 4
    assert fleet.states["impact_speed"][0] == pytest.approx(0.5, abs=0.1)
    fleet.inputs["armed"] = 0
    state = fly(fleet, 14.0)
    assert np.linalg.norm(state.velocity_world) < 1e-6
    assert state.position[2] == pytest.approx(LEG_LENGTH - IRIS.contact.sink, abs=1e-5)
    np.testing.assert_allclose(state.position[:2], [1.0, -1.0], atol=0.05)
