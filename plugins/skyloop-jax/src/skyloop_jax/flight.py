"""The motion of many vehicles: `vehicle/rigid_body.py`, `rotors.py` and `drag.py` for arrays of numbers.

Every number of the state is an array of its own with one entry per vehicle. So nearly all operations are elementwise,
and the compiler fuses a whole step into few passes over memory. Where the kernels branch, both sides are computed.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from skyloop.vehicle.kernel_records import (
    DRAG_BOX,
    DRAG_LINEAR,
    DRAG_ROTOR,
    DRAG_ROTOR_LINEAR,
    DRAG_ROTOR_LUMPED,
)
from skyloop.vehicle.rigid_body import BOX_THRESHOLD, REFERENCE_DENSITY
from skyloop.world import atmosphere
from skyloop_client.messages import Array
from skyloop_jax.contact import contact_wrench, cross, settle_anchors, to_body, to_world
from skyloop_jax.craft import Craft

Vector = tuple[jax.Array, ...]
"""Arrays of shape (n,), one per component."""


class FlightArrays(NamedTuple):
    """The state of n vehicles; fields and units are those of `kernel_records.STATE`."""

    motion: Vector
    rotor_speed: Vector
    velocity_integral: Vector
    rate_integral: Vector
    rate_before: Vector
    rate_derivative: Vector
    yaw_target: jax.Array
    controller_ran: jax.Array
    saturated: jax.Array
    yaw_saturated: jax.Array
    # contact; (contacts, n), then (n,)
    anchor_x: jax.Array
    anchor_y: jax.Array
    anchored: jax.Array
    legs_down: jax.Array
    body_down: jax.Array
    impact_speed: jax.Array
    crashed: jax.Array


def flight_from(states: Any, craft: Craft, dtype: Any) -> FlightArrays:
    """The state of the kernels' records."""

    def numbers(field: str, size: int) -> Vector:
        return tuple(jnp.asarray(states[field][:, k], dtype) for k in range(size))

    def flags(field: str) -> jax.Array:
        return jnp.asarray(states[field] != 0)

    contacts = slice(0, craft.n_contacts)
    return FlightArrays(
        motion=numbers("motion", 13),
        rotor_speed=numbers("rotor_speed", craft.p.n_rotors),
        velocity_integral=numbers("velocity_integral", 3),
        rate_integral=numbers("rate_integral", 3),
        rate_before=numbers("rate_before", 3),
        rate_derivative=numbers("rate_derivative", 3),
        yaw_target=jnp.asarray(states["yaw_target"], dtype),
        controller_ran=flags("controller_ran"),
        saturated=flags("saturated"),
        yaw_saturated=flags("yaw_saturated"),
        anchor_x=jnp.asarray(states["anchor"][:, contacts, 0].T, dtype),
        anchor_y=jnp.asarray(states["anchor"][:, contacts, 1].T, dtype),
        anchored=jnp.asarray(states["anchored"][:, contacts].T != 0),
        legs_down=flags("legs_down"),
        body_down=flags("body_down"),
        impact_speed=jnp.asarray(states["impact_speed"], dtype),
        crashed=flags("crashed"),
    )


def density_ratio_at(altitude):
    """As `atmosphere.air_density`, over the reference."""
    kelvin = atmosphere.SEA_LEVEL_TEMPERATURE - atmosphere.LAPSE_RATE * jnp.minimum(altitude, atmosphere.TROPOPAUSE)
    pressure = atmosphere.SEA_LEVEL_PRESSURE * (kelvin / atmosphere.SEA_LEVEL_TEMPERATURE) ** atmosphere.EXPONENT
    above = jnp.maximum(altitude - atmosphere.TROPOPAUSE, 0.0)
    pressure *= jnp.exp(-above / atmosphere.STRATOSPHERE_SCALE_HEIGHT)
    return pressure / (atmosphere.GAS_CONSTANT * REFERENCE_DENSITY * kelvin)


def rotor_response(craft, rotor_speed, command):
    """Speeds and accelerations of each rotor at the start, the middle and the end of a step."""
    p = craft.p
    rows: tuple[list[Any], ...] = ([], [], [])
    for before, ordered in zip(rotor_speed, command, strict=True):
        wanted = jnp.minimum(ordered, p.max_speed)
        rises = wanted > before
        tau = jnp.where(rises, p.tau_up, p.tau_down)
        decay = jnp.where(rises, p.half_step_decay_up, p.half_step_decay_down)
        gap = before * before - wanted * wanted if p.lag_on_thrust else before - wanted
        for row in rows:
            if p.lag_on_thrust:
                speed = jnp.sqrt(jnp.maximum(0.0, wanted * wanted + gap))
                row.append((speed, -gap / (2.0 * tau * jnp.maximum(speed, 1.0))))
            else:
                row.append((wanted + gap, -gap / tau))
            gap = gap * decay
    return rows


def _lift(p, omega, density_ratio, height, air):
    """Thrust of one rotor, without its corrections and with them."""
    static_thrust = p.thrust_coefficient * density_ratio * omega * omega
    lift = static_thrust
    if p.ground_effect > 0.0:
        ratio = p.rotor_radius / (4.0 * jnp.maximum(height, 0.5 * p.rotor_radius))
        lift = lift * (1.0 + p.ground_effect * (1.0 / (1.0 - ratio * ratio) - 1.0))
    if p.translational_lift + p.axial_inflow > 0.0:
        ux, uy, uz = air
        inflow = p.translational_lift * (ux * ux + uy * uy) - p.axial_inflow * omega * uz
        lift = jnp.where(omega > 1.0, jnp.maximum(0.0, lift + inflow), lift)
    return static_thrust, lift


def _drag_per_speed(p, lift):
    if p.drag_model == DRAG_ROTOR:
        return p.rotor_drag * jnp.sqrt(lift)
    if p.drag_model == DRAG_ROTOR_LINEAR:
        return p.rotor_drag * (p.sqrt_slope * lift + p.sqrt_offset)
    return None


def rotor_wrench(craft, row, density_ratio, height, air, rates):
    """Force and torque of all rotors in body axes; as `rotors.rotor_wrench`."""
    p = craft.p
    total_x = total_y = total = torque_x = torque_y = torque_z = angular_momentum = 0.0
    for i, (omega, spin_up) in enumerate(row):
        position, spin = p.rotor_position[i], p.rotor_spin[i]
        turned = cross(*rates, *position)
        ux, uy, uz = air[0] + turned[0], air[1] + turned[1], air[2] + turned[2]
        static_thrust, lift = _lift(p, omega, density_ratio, height + position[2], (ux, uy, uz))
        c, fx, fy = _drag_per_speed(p, lift), 0.0, 0.0
        if c is not None:
            fx, fy = -c * ux, -c * uy
        tx, ty, tz = cross(*position, fx, fy, lift)
        total_x, total_y, total = total_x + fx, total_y + fy, total + lift
        torque_x, torque_y = torque_x + tx, torque_y + ty
        torque_z = torque_z + tz - spin * (p.torque_ratio * static_thrust + p.rotor_inertia * spin_up)
        angular_momentum = angular_momentum + spin * p.rotor_inertia * omega
    if p.drag_model == DRAG_ROTOR_LUMPED:
        c = p.rotor_drag * (p.sqrt_slope * total + p.n_rotors * p.sqrt_offset)
        total_x, total_y = total_x - c * air[0], total_y - c * air[1]
    torque = (torque_x - rates[1] * angular_momentum, torque_y + rates[0] * angular_momentum, torque_z)
    return (total_x, total_y, total), torque


def frame_drag(p, density_ratio, air):
    speed = density_ratio * jnp.sqrt(air[0] * air[0] + air[1] * air[1] + air[2] * air[2])
    force = []
    for k in range(3):
        drag = -p.parasitic[k] * speed * air[k]
        if p.drag_model == DRAG_LINEAR:
            drag = drag - p.linear_drag[k] * air[k]
        elif p.drag_model == DRAG_BOX:
            face = p.box_drag[k] * density_ratio * jnp.abs(air[k]) * air[k]
            drag = drag - jnp.where(jnp.abs(air[k]) > BOX_THRESHOLD, face, 0.0)
        force.append(drag)
    return force


def slope_of(craft, flight, row, density_ratio, y):
    """The time derivative of the 13 motion states `y`; as `rigid_body.derivative`."""
    p = craft.p
    quat, rates = y[6:10], y[10:13]
    qw, qx, qy, qz = quat
    wx, wy, wz = rates
    air = to_body(*quat, y[3] - craft.wind[0], y[4] - craft.wind[1], y[5] - craft.wind[2])
    force, torque = rotor_wrench(craft, row, density_ratio, y[2] - craft.ground, air, rates)
    wrenches = []
    if p.has_frame_drag:
        wrenches.append((frame_drag(p, density_ratio, air), (0.0, 0.0, 0.0)))
    if craft.n_contacts:
        wrenches.append(contact_wrench(craft, flight, y))
    for more_force, more_torque in wrenches:
        force = [a + b for a, b in zip(force, more_force, strict=True)]
        torque = [a + b for a, b in zip(torque, more_torque, strict=True)]
    ax, ay, az = to_world(*quat, *force)
    jx, jy, jz = p.inertia
    return (
        y[3], y[4], y[5],
        ax * p.inverse_mass, ay * p.inverse_mass, az * p.inverse_mass - p.gravity,
        0.5 * (-qx * wx - qy * wy - qz * wz),
        0.5 * (qw * wx + qy * wz - qz * wy),
        0.5 * (qw * wy + qz * wx - qx * wz),
        0.5 * (qw * wz + qx * wy - qy * wx),
        (torque[0] - (jz - jy) * wy * wz) * p.inverse_inertia[0],
        (torque[1] - (jx - jz) * wx * wz) * p.inverse_inertia[1],
        (torque[2] - (jy - jx) * wx * wy) * p.inverse_inertia[2],
    )  # fmt: skip


def _by_stage(number, first, between, last):
    """What a stage of the Runge-Kutta step uses, of numbers or pairs of numbers."""
    return jax.tree.map(lambda a, b, c: jnp.where(number < 1, a, jnp.where(number < 3, b, c)), first, between, last)


def moved(craft: Craft, flight: FlightArrays, command: Vector) -> FlightArrays:
    """After one physics step with these rotor speed commands; as `rigid_body.step_vehicle`."""
    dt, y = craft.dt, flight.motion
    density_ratio = density_ratio_at(craft.p.home_altitude + y[2] + 0.5 * dt * y[5])
    start, middle, end = rotor_response(craft, flight.rotor_speed, command)

    def stage(number, so_far):
        """Runge-Kutta of fourth order; so far: where the slope is taken, and the weighted sum of slopes."""
        trial, total = so_far
        row = [_by_stage(number, *at) for at in zip(start, middle, end, strict=True)]
        slope = slope_of(craft, flight, row, density_ratio, trial)
        reach, weight = jnp.where(number < 2, 0.5 * dt, dt), _by_stage(number, 1.0, 2.0, 1.0)
        trial = tuple(a + reach * b for a, b in zip(y, slope, strict=True))
        return trial, tuple(a + weight * b for a, b in zip(total, slope, strict=True))

    # with contact the stages are compiled once and not four times: it is slow code that few vehicles need
    _, total = jax.lax.fori_loop(0, 4, stage, (y, tuple(map(jnp.zeros_like, y))), unroll=not craft.n_contacts)
    new = tuple(a + dt / 6.0 * b for a, b in zip(y, total, strict=True))
    norm = 1.0 / jnp.sqrt(new[6] * new[6] + new[7] * new[7] + new[8] * new[8] + new[9] * new[9])
    new = (*new[:6], *(q * norm for q in new[6:10]), *new[10:])
    flown = flight._replace(motion=new, rotor_speed=tuple(speed for speed, _ in end))
    return settle_anchors(craft, flown, y) if craft.n_contacts else flown


def motion_of(flight: FlightArrays) -> Array:
    """(n, 13), as in the kernels' records."""
    return np.stack([np.asarray(numbers) for numbers in flight.motion], axis=1)
