"""Rigid body, motors and integrator against closed forms and somebody else's solver."""

from __future__ import annotations

import numpy as np
import pytest
from flying import GRAVITY, HOVER_SPEED, IRIS, fly, hold_rotors, initial_state, make_fleet, ns, record, ring, set_motion
from scipy.integrate import solve_ivp

from skyloop.core.frames import matrix_from_quat, quat_from_euler, quat_from_rotvec, rotate, rotate_inverse
from skyloop.vehicle.airframe import Drag
from skyloop.vehicle.fleet import Fleet
from skyloop.vehicle.kernel_records import SET_MOTORS
from skyloop.world.atmosphere import density

ASYMMETRIC = np.array([0.02, 0.031, 0.045])


def test_free_fall_is_the_exact_parabola() -> None:
    fleet = make_fleet()
    velocity = np.array([3.0, -2.0, 5.0])
    set_motion(fleet, velocity=velocity)
    for t in (0.5, 1.2345, 4.0):
        state = fly(fleet, t)
        np.testing.assert_allclose(state.position, velocity * t - [0, 0, 0.5 * GRAVITY * t * t], atol=1e-10)
        np.testing.assert_allclose(state.velocity_world, velocity - [0, 0, GRAVITY * t], atol=1e-11)
        np.testing.assert_allclose(state.acceleration_world, [0, 0, -GRAVITY], atol=1e-12)


def test_torque_free_precession_keeps_energy_and_angular_momentum() -> None:
    fleet = make_fleet(inertia=ASYMMETRIC)
    rates = np.array([1.0, 3.0, -2.0])
    set_motion(fleet, rates=rates)

    def euler(_: float, w: np.ndarray) -> np.ndarray:
        return -np.cross(w, ASYMMETRIC * w) / ASYMMETRIC

    reference = solve_ivp(euler, (0.0, 10.0), rates, method="DOP853", rtol=1e-12, atol=1e-13, dense_output=True)
    energy, momentum = rates @ (ASYMMETRIC * rates), ASYMMETRIC * rates
    for t in (2.5, 5.0, 10.0):
        state = fly(fleet, t)
        w = state.angular_velocity_body
        np.testing.assert_allclose(w, reference.sol(t), atol=1e-9)
        assert w @ (ASYMMETRIC * w) == pytest.approx(energy, rel=1e-9)
        drift = rotate(state.quat_wxyz, ASYMMETRIC * w) - momentum
        assert np.linalg.norm(drift) < 1e-9 * np.linalg.norm(momentum)


def _steady_flight(drag: Drag, tilt: float, thrust: float) -> tuple[float, float]:
    """Speed and weight in balance in level flight, nose down by `tilt`: drag equals the thrust's pull."""
    c, s = np.cos(tilt), np.sin(tilt)
    pull, per_rotor = thrust * s, thrust / 4
    rotor = {
        "rotor": 4 * drag.rotor * np.sqrt(per_rotor),
        "rotor-linear": 4 * drag.rotor * (0.3 * per_rotor + 0.4),
        "rotor-lumped": drag.rotor * (0.3 * thrust + 4 * 0.4),
    }
    if drag.model == "linear":
        speed = pull / (drag.linear[0] * c * c + drag.linear[2] * s * s)
        forward, up = drag.linear[0] * speed * c, drag.linear[2] * speed * s
    elif drag.model == "box":
        speed = np.sqrt(pull / (drag.box[0] * c**3 + drag.box[2] * s**3))
        forward, up = drag.box[0] * (speed * c) ** 2, drag.box[2] * (speed * s) ** 2
    elif drag.model == "none":
        speed = np.sqrt(pull / (drag.parasitic[0] * c * c + drag.parasitic[2] * s * s))
        forward, up = drag.parasitic[0] * speed**2 * c, drag.parasitic[2] * speed**2 * s
    else:
        speed = pull / (rotor[drag.model] * c * c)
        forward, up = rotor[drag.model] * speed * c, 0.0
    return float(speed), thrust * c + forward * s - up * c


@pytest.mark.parametrize("model", ["linear", "box", "rotor", "rotor-linear", "rotor-lumped", "none"])
def test_steady_speed_at_fixed_tilt(model: str) -> None:
    """A body too heavy to turn holds its attitude; it starts slow along its own forward axis."""
    drag = Drag(
        model=model,  # type: ignore[arg-type]
        linear=(0.5, 0.6, 0.3),
        box=(0.03, 0.04, 0.13),
        rotor=0.07,
        sqrt_slope=0.3,
        sqrt_offset=0.4,
        parasitic=(0.05, 0.02, 0.09) if model == "none" else (0.0, 0.0, 0.0),
    )
    tilt, thrust = 0.3, 18.0
    speed, weight = _steady_flight(drag, tilt, thrust)
    quat = quat_from_euler(0.0, tilt, 0.0)
    fleet = make_fleet(drag=drag, inertia=(1e12, 1e12, 1e12), gravity=weight / IRIS.mass, hz=200)
    hold_rotors(fleet, np.sqrt(thrust / 4 / IRIS.motor.thrust_coefficient))
    set_motion(fleet, quat=quat, velocity=(speed, 0.0, 0.0))
    np.testing.assert_allclose(initial_state(fleet).acceleration_world, 0.0, atol=1e-5)
    set_motion(fleet, quat=quat, velocity=[speed, 0.0, 0.0] - 0.5 * speed * rotate(quat, [1.0, 0.0, 0.0]))
    assert abs(initial_state(fleet).acceleration_world[0]) > 0.5
    for k in range(1, 121):
        fly(fleet, 0.5 * k)
        fleet.states["motion"][0, 2] = 0.0  # the air must not thin
    assert fly(fleet, 60.0).velocity_world[0] == pytest.approx(speed, rel=1e-4)


@pytest.mark.parametrize("on_thrust", [0, 1])
def test_motor_step_response(on_thrust: int) -> None:
    fleet = make_fleet(lag_on_thrust=on_thrust, tau_up=0.02, tau_down=0.05)
    row = fleet.inputs[0]
    row["armed"], row["kind"] = 1, SET_MOTORS
    row["throttle"][:4] = 0.6
    times, states = record(fleet, 0.0, 0.2, 0.01)
    power = 2 if on_thrust else 1
    top = (0.6 * 1100.0) ** power
    rising = [s.rotor_speeds[0] ** power for s in states]
    np.testing.assert_allclose(rising, top * (1 - np.exp(-times / 0.02)), rtol=1e-9, atol=1e-6)
    row["throttle"][:4] = 0.2
    bottom, top = (0.2 * 1100.0) ** power, rising[-1]
    times, states = record(fleet, 0.2, 0.4, 0.01)
    falling = bottom + (top - bottom) * np.exp(-(times - 0.2) / 0.05)
    np.testing.assert_allclose([s.rotor_speeds[0] ** power for s in states], falling, rtol=1e-9)
    coefficient = IRIS.motor.thrust_coefficient * float(density(states[-1].position[2])) / 1.225
    np.testing.assert_allclose(states[-1].rotor_thrusts, coefficient * states[-1].rotor_speeds ** 2, rtol=1e-12)


@pytest.mark.parametrize("altitude", [0.0, 1500.0, 4000.0])
def test_hover_speed_grows_as_the_air_thins(altitude: float) -> None:
    fleet = make_fleet(home_altitude=altitude)
    ratio = float(density(altitude)) / 1.225
    hold_rotors(fleet, HOVER_SPEED / np.sqrt(ratio))
    state = initial_state(fleet)
    np.testing.assert_allclose(state.acceleration_world, 0.0, atol=1e-6)
    np.testing.assert_allclose(state.rotor_thrusts, IRIS.mass * GRAVITY / 4, rtol=1e-6)


def _tumble(hz: int, until: float) -> Fleet:
    fleet = make_fleet(hz=hz, drag=Drag(model="rotor", rotor=0.07, parasitic=(0.05, 0.04, 0.08)), inertia=ASYMMETRIC)
    set_motion(fleet, velocity=(6.0, -3.0, 2.0), rates=(4.0, -6.0, 3.0))
    fleet.inputs["wind_mean"] = (2.0, 1.0, 0.0)
    hold_rotors(fleet, [700.0, 705.0, 702.0, 698.0])
    fleet.advance_to(ns(until))
    return fleet


def test_integrator_is_of_fourth_order() -> None:
    exact = _tumble(4000, 2.0).states["motion"][0]
    errors = [np.abs(_tumble(hz, 2.0).states["motion"][0] - exact).max() for hz in (50, 100, 200, 1000)]
    orders = np.log2(np.divide(errors[:2], errors[1:3]))
    assert (orders > 3.5).all(), (errors, orders)
    # what is left at the usual rate is the density, held over a step
    assert errors[3] < 2e-9


def test_dense_output_matches_a_finer_simulation() -> None:
    coarse, fine = _tumble(500, 0.5), _tumble(8000, 0.5)
    start = 250
    for k in range(1, 16):
        t = ns(0.5) + k * 125_000
        coarse.advance_to(ns(0.502))
        fine.advance_to(t)
        a, b = coarse.state(0, t), fine.state(0, t)
        assert coarse.states["step"][0] == start + 1
        np.testing.assert_allclose(a.position, b.position, atol=1e-9)
        np.testing.assert_allclose(a.velocity_world, b.velocity_world, atol=2e-9)
        np.testing.assert_allclose(a.quat_wxyz, b.quat_wxyz, atol=1e-9)
        np.testing.assert_allclose(a.angular_velocity_body, b.angular_velocity_body, atol=2e-9)


def test_dense_output_is_continuous_across_steps() -> None:
    fleet = _tumble(1000, 0.1)
    left = fleet.state(0, ns(0.1))
    fleet.advance_to(ns(0.101))
    right = fleet.state(0, ns(0.1))
    for name in ("position", "velocity_world", "quat_wxyz", "angular_velocity_body", "rotor_speeds"):
        np.testing.assert_allclose(getattr(left, name), getattr(right, name), rtol=0, atol=1e-14)
    np.testing.assert_allclose(left.acceleration_world, right.acceleration_world, atol=1e-5)
    np.testing.assert_allclose(left.angular_acceleration_body, right.angular_acceleration_body, atol=1e-5)


def test_rotors_spinning_up_take_their_angular_momentum_from_the_body() -> None:
    fleet = make_fleet(rotor_inertia=4e-5, thrust_coefficient=0.0, n_rotors=2)
    row = fleet.inputs[0]
    row["armed"], row["kind"] = 1, SET_MOTORS
    row["throttle"][:2] = 0.5
    rate = fly(fleet, 0.5).angular_velocity_body[2]
    speeds = fleet.states["rotor_speed"][0, :2]
    assert (fleet.params["rotor_spin"][0, :2] == 1).all()
    # two rotors turning counter-clockwise: the body turns clockwise, the sum stays zero
    assert rate < 0
    assert IRIS.inertia[2] * rate == pytest.approx(-4e-5 * speeds.sum(), rel=1e-7)


def test_spinning_rotors_resist_like_a_gyroscope() -> None:
    fleet = make_fleet(rotor_inertia=4e-5, torque_ratio=0.0, n_rotors=2)
    fleet.params["rotor_position"] = 0.0
    rates = np.array([2.0, -3.0, 0.0])
    set_motion(fleet, rates=rates)
    hold_rotors(fleet, 600.0)
    inertia = np.array(IRIS.inertia)
    momentum = inertia * rates + [0, 0, 2 * 4e-5 * 600.0]
    expected = -np.cross(rates, momentum) / inertia
    assert abs(expected[0]) > 1.0
    np.testing.assert_allclose(initial_state(fleet).angular_acceleration_body, expected, rtol=1e-12)


@pytest.mark.parametrize("n", [4, 6, 8, 16])
def test_any_number_of_rotors_flies_level(n: int) -> None:
    fleet = make_fleet(airframe=ring(n))
    row = fleet.inputs[0]
    row["armed"], row["kind"] = 1, SET_MOTORS
    hover = np.sqrt(IRIS.mass * GRAVITY / n / IRIS.motor.thrust_coefficient)
    row["throttle"][:n] = 1.05 * hover / 1100.0
    state = fly(fleet, 2.0)
    up = (1.05**2 - 1) * GRAVITY
    np.testing.assert_allclose(state.quat_wxyz, [1, 0, 0, 0], atol=1e-9)
    assert state.acceleration_world[2] == pytest.approx(up, rel=2e-3)
    assert len(state.rotor_speeds) == n


def test_a_batch_equals_its_members_to_the_bit() -> None:
    n = 1000
    rng = np.random.default_rng(5)
    quats = quat_from_rotvec(rng.normal(size=(n, 3)))
    velocities, rates = rng.normal(size=(n, 3)) * 5, rng.normal(size=(n, 3)) * 3
    targets = rng.normal(size=(n, 3)) * 10

    def prepare(fleet: Fleet, i: int, k: int) -> None:
        set_motion(fleet, i, velocity=velocities[k], quat=quats[k], rates=rates[k])
        fleet.inputs[i]["armed"], fleet.inputs[i]["kind"] = 1, 1 + k % 3
        fleet.inputs[i]["position"], fleet.inputs[i]["velocity"] = targets[k], targets[k] / 5
        fleet.params[i]["drag_model"] = k % 6

    batch = make_fleet(count=n, drag=IRIS.drag, has_battery=True)
    for k in range(n):
        prepare(batch, k, k)
    batch.advance_to(ns(0.1))
    single = make_fleet(drag=IRIS.drag, has_battery=True)
    fresh = single.snapshot()
    for k in range(n):
        single.restore(fresh)
        prepare(single, 0, k)
        single.advance_to(ns(0.1))
        assert single.states[0].tobytes() == batch.states[k].tobytes()


def test_a_spinning_body_turns_about_its_centre_of_mass() -> None:
    offset = np.array([0.05, -0.02, 0.03])
    airframe = IRIS.model_copy(update={"centre_of_mass": tuple(offset)})
    fleet = make_fleet(airframe=airframe, gravity=0.0)
    fleet.place(0, np.array([1.0, 2.0, 3.0]), 0.4)
    centre = fleet.states["motion"][0, 0:3].copy()
    w = np.array([0.0, 0.0, 2.0])
    set_motion(fleet, rates=w)
    for t in (0.1, 0.7, 1.5):
        state = fly(fleet, t)
        turn = matrix_from_quat(state.quat_wxyz)
        w_world = turn @ state.angular_velocity_body
        arm = -turn @ offset
        np.testing.assert_allclose(state.position, centre + arm, atol=1e-12)
        np.testing.assert_allclose(state.velocity_world, np.cross(w_world, arm), atol=1e-12)
        np.testing.assert_allclose(state.acceleration_world, np.cross(w_world, np.cross(w_world, arm)), atol=1e-9)


def test_thrust_beside_the_centre_of_mass_turns_the_body() -> None:
    offset = np.array([0.05, -0.02, 0.0])
    fleet = make_fleet(airframe=IRIS.model_copy(update={"centre_of_mass": tuple(offset)}))
    hold_rotors(fleet, HOVER_SPEED)
    state = initial_state(fleet)
    torque = np.cross(-offset, [0.0, 0.0, IRIS.mass * GRAVITY])
    np.testing.assert_allclose(state.angular_acceleration_body, torque / IRIS.inertia, rtol=1e-6, atol=1e-12)
    acceleration = np.cross(state.angular_acceleration_body, -offset)
    np.testing.assert_allclose(rotate_inverse(state.quat_wxyz, state.acceleration_world), acceleration, atol=1e-5)
