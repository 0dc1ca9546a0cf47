"""The cascade controller and the mixer: `vehicle/controller.py` and `vehicle/rotors.py` for arrays of numbers.

The kind of setpoint is the same for all vehicles and known when the flight is compiled. Positions are points at rest,
as the actions of the environments give them: there are no derivatives to feed forward.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from skyloop.vehicle.kernel_records import (
    SET_MOTORS,
    SET_POSITION,
    SET_RATES,
    SET_VELOCITY_BODY,
    SET_VELOCITY_WORLD,
)
from skyloop_jax.contact import cross, multiply, to_world
from skyloop_jax.craft import Craft
from skyloop_jax.flight import FlightArrays, Vector

KINDS = (SET_POSITION, SET_VELOCITY_WORLD, SET_VELOCITY_BODY, SET_RATES, SET_MOTORS)
SMOOTHING_S = 0.004
"""s, of the derivative of the body rates."""


class Setpoint(NamedTuple):
    """What n vehicles follow; a kind reads its own fields only. Units are those of `kernel_records.INPUT`."""

    throttle: Vector = ()
    thrust: jax.Array | None = None
    rates: Vector = ()
    velocity: Vector = ()
    position: Vector = ()
    yaw: jax.Array | None = None
    """None: not an absolute heading, but a rate."""
    yaw_rate: jax.Array | None = None
    """None: the heading stays."""


def commanded(craft: Craft, kind: int, flight: FlightArrays, wanted: Setpoint) -> tuple[Vector, FlightArrays]:
    """The rotor speed commands, and the state with the controller's new memory; as `fleet_kernels.control_vehicle`."""
    if kind == SET_MOTORS:
        return tuple(_throttle_to_speed(craft.p, throttle) for throttle in wanted.throttle), flight
    command, flight = _cascade(craft, kind, flight, wanted)
    return command, flight


def measured_motion(craft: Craft, flight: FlightArrays) -> Vector:
    """The motion of the body origin."""
    m, position = flight.motion, craft.p.centre_of_mass
    if not any(position):
        return m
    arm = to_world(*m[6:10], *position)
    speed = to_world(*m[6:10], *cross(*m[10:13], *position))
    return (*(m[k] - arm[k] for k in range(3)), *(m[3 + k] - speed[k] for k in range(3)), *m[6:])


def _throttle_to_speed(p, throttle):
    clipped = jnp.clip(throttle, 0.0, 1.0)
    return (jnp.sqrt(clipped) if p.throttle_is_thrust else clipped) * p.max_speed


def _yaw_of(m):
    w, x, y, z = m[6:10]
    return jnp.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def _follow_yaw(p, flight, wanted, dt):
    """The new target of the heading, and the yaw rate to feed forward."""
    yaw_rate = 0.0 if wanted.yaw_rate is None else wanted.yaw_rate
    if wanted.yaw is None:
        return flight.yaw_target + yaw_rate * dt, yaw_rate
    gap = wanted.yaw - flight.yaw_target
    gap = gap - 2.0 * math.pi * jnp.round(gap / (2.0 * math.pi))
    reach = 0.7 * p.max_rate[2] * dt
    return flight.yaw_target + jnp.clip(gap, -reach, reach), jnp.where(jnp.abs(gap) > reach, 0.0, yaw_rate)


def _approach_speed(error, gain, acceleration):
    knee = acceleration / (gain * gain)
    far = jnp.sqrt(2.0 * acceleration * jnp.maximum(error - 0.5 * knee, 0.0))
    return jnp.where(error <= knee, gain * error, far)


def _towards(p, m, position):
    """The velocity towards a point at rest."""
    ex, ey, ez = (position[k] - m[k] for k in range(3))
    distance = jnp.sqrt(ex * ex + ey * ey)
    speed = jnp.minimum(_approach_speed(distance, p.position_p[0], 0.5 * p.max_acceleration), p.max_speed_horizontal)
    share = jnp.where(distance > 1e-9, speed / jnp.maximum(distance, 1e-9), 0.0)
    climb = _approach_speed(jnp.abs(ez), p.position_p[2], 0.25 * p.max_acceleration)
    return share * ex, share * ey, jnp.where(ez > 0.0, climb, -climb)


def _wanted_velocity(p, kind, m, wanted):
    if kind == SET_POSITION:
        vx, vy, vz = _towards(p, m, wanted.position)
    else:
        vx, vy, vz = wanted.velocity
        if kind == SET_VELOCITY_BODY:
            yaw = _yaw_of(m)
            c, d = jnp.cos(yaw), jnp.sin(yaw)
            vx, vy = c * vx - d * vy, d * vx + c * vy
    horizontal = jnp.sqrt(vx * vx + vy * vy)
    share = jnp.where(horizontal > p.max_speed_horizontal, p.max_speed_horizontal / horizontal, 1.0)
    return share * vx, share * vy, jnp.clip(vz, -p.max_speed_down, p.max_speed_up)


def _wanted_acceleration(p, flight, m, velocity, dt):
    """The acceleration that the thrust must give, gravity included, and the new integral."""
    a, integrals = [], []
    for k in range(3):
        integral = flight.velocity_integral[k]
        error = velocity[k] - m[3 + k]
        push = p.velocity_p[k] * error
        held = (jnp.abs(push) > p.max_acceleration) | (flight.saturated & (error * integral > 0.0))
        if k < 2:
            held = held | flight.legs_down
        integral = jnp.where(held, integral, integral + p.velocity_i[k] * error * dt)
        reach = (0.5 if k < 2 else 0.8) * p.gravity
        integral = jnp.clip(integral, -reach, reach)
        push = jnp.clip(push, -p.max_acceleration, p.max_acceleration)
        a.append(push + integral + p.drag_feedforward[k] * velocity[k])
        integrals.append(integral)
    ax, ay = a[0], a[1]
    az = jnp.maximum(a[2] + p.gravity, 0.2 * p.gravity)
    strongest = 0.95 * p.n_rotors * p.max_rotor_thrust / p.mass
    most = jnp.minimum(az * math.tan(p.max_tilt), jnp.sqrt(jnp.maximum(strongest * strongest - az * az, 0.1)))
    horizontal = jnp.sqrt(ax * ax + ay * ay)
    share = jnp.where(horizontal > most, most / horizontal, 1.0)
    return (share * ax, share * ay, az), tuple(integrals)


def _attitude_from_acceleration(ax, ay, az, yaw):
    """The quaternion whose up axis is along the acceleration and whose heading is `yaw`."""
    size = jnp.sqrt(ax * ax + ay * ay + az * az)
    zx, zy, zz = ax / size, ay / size, az / size
    w = jnp.sqrt(0.5 * (1.0 + zz))
    tx, ty = -zy / (2.0 * w), zx / (2.0 * w)
    yx, yy, yz = cross(zx, zy, zz, jnp.cos(yaw), jnp.sin(yaw), 0.0)
    # both products have the length of (yx, yy, yz) as a factor, which atan2 does not see
    lx, ly, lz = to_world(w, tx, ty, 0.0, 0.0, 1.0, 0.0)
    fx, fy, fz = to_world(w, tx, ty, 0.0, 1.0, 0.0, 0.0)
    turn = jnp.arctan2(-(yx * fx + yy * fy + yz * fz), yx * lx + yy * ly + yz * lz)
    return multiply((w, tx, ty, 0.0), (jnp.cos(0.5 * turn), 0.0, 0.0, jnp.sin(0.5 * turn)))


def _rates_from_attitude(p, m, quat):
    """Tilt by the shortest rotation of the thrust axis, then yaw; each as 2 sin(angle/2)."""
    ew, ex, ey, ez = multiply((m[6], -m[7], -m[8], -m[9]), quat)
    twist = jnp.sqrt(ew * ew + ez * ez)
    upright = twist > 1e-9
    per_twist = 2.0 / jnp.where(upright, twist, 1.0)
    tilt_x = jnp.where(upright, per_twist * (ew * ex - ey * ez), 2.0 * ex)
    tilt_y = jnp.where(upright, per_twist * (ew * ey + ex * ez), 2.0 * ey)
    yaw = jnp.where(upright, jnp.where(ew >= 0.0, per_twist * ez, -per_twist * ez), 0.0)
    return p.attitude_p[0] * tilt_x, p.attitude_p[1] * tilt_y, p.attitude_p[2] * yaw


def _torque_from_rates(p, flight, m, rates, dt):
    """PID on the body rates, then times inertia plus the gyroscopic part; and the controller's new memory."""
    smooth = dt / (dt + SMOOTHING_S)
    torque, integrals, derivatives = [], [], []
    held = flight.saturated | flight.legs_down
    for k in range(3):
        error = jnp.clip(rates[k], -p.max_rate[k], p.max_rate[k]) - m[10 + k]
        slope = (m[10 + k] - flight.rate_before[k]) / dt
        derivative = flight.rate_derivative[k]
        derivative = jnp.where(flight.controller_ran, derivative + smooth * (slope - derivative), derivative)
        integral = flight.rate_integral[k]
        holds = held | flight.yaw_saturated if k == 2 else held
        integral = jnp.clip(jnp.where(holds, integral, integral + p.rate_i[k] * error * dt), -20.0, 20.0)
        torque.append(p.inertia[k] * (p.rate_p[k] * error + integral - p.rate_d[k] * derivative))
        integrals.append(integral)
        derivatives.append(derivative)
    gyroscopic = cross(*m[10:13], *(p.inertia[k] * m[10 + k] for k in range(3)))
    flight = flight._replace(
        rate_integral=tuple(integrals),
        rate_derivative=tuple(derivatives),
        rate_before=tuple(m[10:13]),
        controller_ran=jnp.ones_like(flight.controller_ran),
    )
    return [a + b for a, b in zip(torque, gyroscopic, strict=True)], flight


def _mix(p, collective, torque):
    """Rotor speeds, whether roll, pitch or collective was cut, and whether yaw was; as `mixer.mix`."""
    n, top = p.n_rotors, p.max_rotor_thrust
    floor = p.thrust_per_speed_squared * p.idle_speed * p.idle_speed
    rows = p.mixer[:n]
    shares = [max(n * row[0], 0.1) for row in rows]
    lift = [row[1] * torque[0] + row[2] * torque[1] for row in rows]
    spread = _most(lift) - _least(lift)
    too_wide = spread > top - floor
    scale = jnp.where(too_wide, (top - floor) / spread, 1.0)
    lift = [part * scale + row[0] * collective for part, row in zip(lift, rows, strict=True)]
    low = _most([(floor - part) / share for part, share in zip(lift, shares, strict=True)])
    high = _least([(top - part) / share for part, share in zip(lift, shares, strict=True)])
    shift = jnp.where(low <= high, jnp.minimum(jnp.maximum(0.0, low), high), 0.5 * (low + high))
    lift = [part + shift * share for part, share in zip(lift, shares, strict=True)]
    yaw_scale = jnp.ones_like(collective)
    for part, row in zip(lift, rows, strict=True):
        turning = row[3] * torque[2]
        room = jnp.where(turning > 0.0, top - part, part - floor)
        fits = jnp.maximum(0.0, room / jnp.where(turning == 0.0, 1.0, jnp.abs(turning)))
        yaw_scale = jnp.minimum(yaw_scale, jnp.where(turning == 0.0, 1.0, fits))
    lift = [jnp.clip(part + yaw_scale * row[3] * torque[2], floor, top) for part, row in zip(lift, rows, strict=True)]
    speeds = tuple(jnp.minimum(p.max_speed, jnp.sqrt(part / p.thrust_per_speed_squared)) for part in lift)
    return speeds, too_wide | (shift != 0.0), yaw_scale < 1.0


def _most(numbers):
    most = numbers[0]
    for number in numbers[1:]:
        most = jnp.maximum(most, number)
    return most


def _least(numbers):
    least = numbers[0]
    for number in numbers[1:]:
        least = jnp.minimum(least, number)
    return least


def _cascade(craft, kind, flight, wanted):
    p, dt, m = craft.p, craft.dt * craft.p.control_divider, measured_motion(craft, flight)
    if kind == SET_RATES:
        rates, collective = wanted.rates, wanted.thrust
    else:
        yaw_target, yaw_rate = _follow_yaw(p, flight, wanted, dt)
        velocity = _wanted_velocity(p, kind, m, wanted)
        (ax, ay, az), integral = _wanted_acceleration(p, flight, m, velocity, dt)
        quat = _attitude_from_acceleration(ax, ay, az, yaw_target)
        rates = _rates_from_attitude(p, m, quat)
        bx, by, bz = to_world(*m[6:10], 0.0, 0.0, 1.0)
        collective = p.mass * jnp.maximum(ax * bx + ay * by + az * bz, 0.0)
        up = 1.0 - 2.0 * (quat[1] * quat[1] + quat[2] * quat[2])
        rates = (rates[0], rates[1], rates[2] + yaw_rate * up)
        flight = flight._replace(yaw_target=yaw_target, velocity_integral=integral)
    torque, flight = _torque_from_rates(p, flight, m, rates, dt)
    command, saturated, yaw_saturated = _mix(p, collective, torque)
    return command, flight._replace(saturated=saturated, yaw_saturated=yaw_saturated)
