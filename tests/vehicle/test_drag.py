"""Every drag model against its formula in numpy, read from the accelerations at a prescribed motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flying import GRAVITY, IRIS, hold_rotors, initial_state, make_fleet, set_motion

from skyloop.core.frames import quat_from_euler, rotate_inverse
from skyloop.vehicle.airframe import Drag
from skyloop.vehicle.fleet import Fleet
from skyloop.world.atmosphere import density
from skyloop.world.ground import Ground
from skyloop_client.messages import Array

QUAT = quat_from_euler(0.3, -0.4, 1.1)
VELOCITY = np.array([5.0, -3.0, 1.5])
RATES = np.array([1.2, -0.7, 2.0])
WIND = np.array([-1.0, 2.0, 0.5])
SPEEDS = np.array([700.0, 760.0, 650.0, 720.0])
THRUSTS = IRIS.motor.thrust_coefficient * SPEEDS**2
PLACES = np.array([rotor.position for rotor in IRIS.rotors])
SPINS = np.array([1.0 if rotor.spin == "ccw" else -1.0 for rotor in IRIS.rotors])
UP = np.array([0.0, 0.0, 1.0])
AIR = rotate_inverse(QUAT, VELOCITY - WIND)


def _moving(drag: Drag, *, velocity: Any = VELOCITY, wind: Any = WIND, rates: Any = RATES, **params: Any) -> Fleet:
    fleet = make_fleet(drag=drag, rotor_inertia=0.0, **params)
    set_motion(fleet, velocity=velocity, quat=QUAT, rates=rates)
    fleet.inputs["wind_mean"] = wind
    hold_rotors(fleet, SPEEDS)
    return fleet


def _wrench(drag: Drag, **changes: Any) -> tuple[Array, Array]:
    """Body force and torque without gravity, from the reported accelerations."""
    rates = np.asarray(changes.get("rates", RATES))
    state = initial_state(_moving(drag, **changes))
    force = IRIS.mass * rotate_inverse(QUAT, state.acceleration_world + UP * GRAVITY)
    inertia = np.array(IRIS.inertia)
    return force, inertia * state.angular_acceleration_body + np.cross(rates, inertia * rates)


def _expected(thrusts: Array, rotor_force: Array, frame_force: Array) -> tuple[Array, Array]:
    """Thrust, plane force and propeller torque of all rotors, and the frame's force at the centre."""
    forces = rotor_force + thrusts[:, None] * UP
    torque = np.cross(PLACES, forces).sum(axis=0)
    torque[2] -= (SPINS * IRIS.motor.torque_ratio * THRUSTS).sum()
    return forces.sum(axis=0) + frame_force, torque


def _same(actual: tuple[Array, Array], expected: tuple[Array, Array]) -> None:
    # the density is that of half a step on, 0.75 mm higher
    np.testing.assert_allclose(actual[0], expected[0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(actual[1], expected[1], rtol=1e-6, atol=1e-6)


NO_ROTOR_FORCE = np.zeros((4, 3))
ROTOR_AIR = (AIR + np.cross(RATES, PLACES)) * [1.0, 1.0, 0.0]


MATRIX, FACES, FRAME = np.array([0.5, 0.8, 0.2]), np.array([0.03, 0.05, 0.14]), np.array([0.02, 0.05, 0.09])
LINEAR: dict[str, Any] = {"rotor": 0.07, "sqrt_slope": 0.3, "sqrt_offset": 0.45}
NO_FORCE = np.zeros(3)
MODELS: dict[str, tuple[Drag, Array, Array]] = {
    "none": (Drag(model="none"), NO_ROTOR_FORCE, NO_FORCE),
    "linear, eq. 5": (Drag(model="linear", linear=tuple(MATRIX)), NO_ROTOR_FORCE, -MATRIX * AIR),
    "box": (Drag(model="box", box=tuple(FACES)), NO_ROTOR_FORCE, -FACES * np.abs(AIR) * AIR),
    "parasitic": (
        Drag(model="linear", linear=tuple(MATRIX), parasitic=tuple(FRAME)),
        NO_ROTOR_FORCE,
        -MATRIX * AIR - FRAME * np.linalg.norm(AIR) * AIR,
    ),
    "rotor, eq. 6": (Drag(model="rotor", rotor=0.07), -0.07 * np.sqrt(THRUSTS)[:, None] * ROTOR_AIR, NO_FORCE),
    "rotor-linear, eq. 9": (
        Drag(model="rotor-linear", **LINEAR), -0.07 * (0.3 * THRUSTS + 0.45)[:, None] * ROTOR_AIR, NO_FORCE
    ),
    "rotor-lumped, eq. 13": (
        Drag(model="rotor-lumped", **LINEAR),
        NO_ROTOR_FORCE,
        -0.07 * (0.3 * THRUSTS.sum() + 4 * 0.45) * AIR * [1.0, 1.0, 0.0],
    ),
}  # fmt: skip
"""Each with its force at every rotor and that on the frame."""


@pytest.mark.parametrize("name", MODELS)
def test_every_model_against_its_equation(name: str) -> None:
    drag, rotor_force, frame_force = MODELS[name]
    _same(_wrench(drag), _expected(THRUSTS, rotor_force, frame_force))


def test_airsims_faces_feel_nothing_below_a_tenth_of_a_metre_per_second() -> None:
    slow = VELOCITY * 0.099 / np.linalg.norm(VELOCITY)
    still = _wrench(Drag(model="none"), velocity=slow, wind=0.0)
    _same(_wrench(MODELS["box"][0], velocity=slow, wind=0.0), still)


def test_lumping_drops_exactly_the_turn_rate_terms() -> None:
    """Force: Σ c_i (ω×d_i); without turning the forces agree."""
    linear, lumped = Drag(model="rotor-linear", **LINEAR), Drag(model="rotor-lumped", **LINEAR)
    still = np.zeros(3)
    np.testing.assert_allclose(_wrench(linear, rates=still)[0], _wrench(lumped, rates=still)[0], atol=1e-9)
    c = 0.07 * (0.3 * THRUSTS + 0.45)
    lost = -(c[:, None] * np.cross(RATES, PLACES) * [1.0, 1.0, 0.0]).sum(axis=0)
    assert np.linalg.norm(lost) > 1e-3
    np.testing.assert_allclose(_wrench(linear)[0] - _wrench(lumped)[0], lost, atol=1e-7)


def test_fitted_line_follows_the_root_around_hover() -> None:
    fitted = _wrench(Drag(model="rotor-linear", rotor=0.07))[0]
    root = _wrench(Drag(model="rotor", rotor=0.07))[0]
    np.testing.assert_allclose(fitted[:2], root[:2], rtol=0.03)


@pytest.mark.parametrize("model", ["linear", "box", "rotor", "rotor-linear", "rotor-lumped"])
def test_wind_equals_moving_the_other_way(model: str) -> None:
    drag = IRIS.drag.model_copy(
        update={"model": model, "parasitic": (0.01, 0.02, 0.03), "translational_lift": 0.01, "axial_inflow": 1e-4}
    )
    moving = _wrench(drag, velocity=VELOCITY, wind=np.zeros(3))
    standing = _wrench(drag, velocity=np.zeros(3), wind=-VELOCITY)
    np.testing.assert_allclose(moving[0], standing[0], atol=1e-5)
    np.testing.assert_allclose(moving[1], standing[1], atol=1e-5)


def test_translational_lift_grows_with_the_square_of_speed_in_the_rotor_plane() -> None:
    lift = THRUSTS + 0.02 * (ROTOR_AIR**2).sum(axis=1)
    _same(_wrench(Drag(model="none", translational_lift=0.02)), _expected(lift, NO_ROTOR_FORCE, np.zeros(3)))


def test_axial_inflow_takes_thrust_when_climbing_and_gives_it_when_sinking() -> None:
    drag = Drag(model="none", axial_inflow=1.5e-4)
    axial = (AIR + np.cross(RATES, PLACES))[:, 2]
    lift = THRUSTS - 1.5e-4 * SPEEDS * axial
    _same(_wrench(drag), _expected(lift, NO_ROTOR_FORCE, np.zeros(3)))
    level = quat_from_euler(0.0, 0.0, 0.0)
    for climb, sign in ((2.0, -1.0), (-2.0, 1.0)):
        fleet = _moving(drag, velocity=(0, 0, climb), wind=0.0, rates=0.0)
        set_motion(fleet, quat=level)
        gain = initial_state(fleet).rotor_thrusts - THRUSTS
        np.testing.assert_allclose(gain, sign * 1.5e-4 * SPEEDS * 2.0, rtol=2e-2)


def test_ground_effect_is_cheeseman_and_bennett_at_the_rotor_plane() -> None:
    radius = IRIS.motor.radius
    for height in (0.2, 0.5, 2.0):
        fleet = make_fleet(drag=Drag(model="none", ground_effect=1.0), ground=Ground.flat(), n_contacts=0)
        fleet.place(0, np.array([0.0, 0.0, height]), 0.0)
        hold_rotors(fleet, SPEEDS)
        factor = 1.0 / (1.0 - (radius / (4.0 * (height + PLACES[0, 2]))) ** 2)
        factor *= float(density(height)) / 1.225
        lifted = initial_state(fleet).acceleration_world[2] + GRAVITY
        assert lifted == pytest.approx(factor * THRUSTS.sum() / IRIS.mass, rel=1e-6)
