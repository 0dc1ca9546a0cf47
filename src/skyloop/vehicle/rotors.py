"""Motors and propellers: first-order response, quadratic thrust, per-rotor aerodynamics, faults."""

import numpy as np

from skyloop.core.jit import inlined
from skyloop.core.rotations import cross
from skyloop.vehicle.battery import voltage_ratio
from skyloop.vehicle.kernel_records import (
    DRAG_ROTOR,
    DRAG_ROTOR_LINEAR,
    DRAG_ROTOR_LUMPED,
    FAULT_LOST,
    FAULT_SLOW,
    FAULT_STUCK,
)


@inlined
def rotor_targets(s, p, w, t):  # type: ignore[no-untyped-def]
    """The speed that each motor follows: the command, limited by the battery and changed by faults."""
    target, slowness, efficiency = w.target, w.slowness, w.efficiency
    limit = p.max_speed * voltage_ratio(s, p)
    for i in range(p.n_rotors):
        target[i] = min(s.command[i], limit)
        slowness[i] = 1.0
        efficiency[i] = 1.0
    for k in range(p.n_rotor_faults):
        if p.fault_start[k] <= t < p.fault_end[k]:
            i = p.fault_rotor[k]
            if p.fault_kind[k] == FAULT_LOST:
                efficiency[i] = p.fault_value[k]
            elif p.fault_kind[k] == FAULT_STUCK:
                target[i] = min(p.fault_value[k] * p.max_speed, limit)
            elif p.fault_kind[k] == FAULT_SLOW:
                slowness[i] = p.fault_value[k]


@inlined
def rotor_response(s, p, w, dt):  # type: ignore[no-untyped-def]
    """Exact first-order response over the step: speeds and accelerations at its start, middle and end."""
    target, slowness, speed, spin_up = w.target, w.slowness, w.speed, w.spin_up
    for i in range(p.n_rotors):
        before = s.rotor_speed[i]
        wanted = target[i]
        tau = p.tau_up if wanted > before else p.tau_down
        decay = p.half_step_decay_up if wanted > before else p.half_step_decay_down
        if slowness[i] != 1.0:
            tau *= slowness[i]
            decay = np.exp(-0.5 * dt / tau)
        if p.lag_on_thrust:
            gap = before * before - wanted * wanted
            for stage in range(3):
                speed[stage, i] = np.sqrt(max(0.0, wanted * wanted + gap))
                spin_up[stage, i] = -gap / (2.0 * tau * max(speed[stage, i], 1.0))
                gap *= decay
        else:
            gap = before - wanted
            for stage in range(3):
                speed[stage, i] = wanted + gap
                spin_up[stage, i] = -gap / tau
                gap *= decay


@inlined
def ground_effect_factor(p, height):  # type: ignore[no-untyped-def]
    """Cheeseman and Bennett (1955), held constant below half a rotor radius where it would diverge."""
    ratio = p.rotor_radius / (4.0 * max(height, 0.5 * p.rotor_radius))
    return 1.0 + p.ground_effect * (1.0 / (1.0 - ratio * ratio) - 1.0)


@inlined
def drag_per_speed(p, model, lift):  # type: ignore[no-untyped-def]
    """N/(m/s) of one rotor in its plane: eq. (6), or its linear form (9)."""
    if model == DRAG_ROTOR:
        return p.rotor_drag * np.sqrt(lift)
    if model == DRAG_ROTOR_LINEAR:
        return p.rotor_drag * (p.sqrt_slope * lift + p.sqrt_offset)
    return 0.0


@inlined
def rotor_wrench(s, p, w, row, density_ratio, height, motion):  # type: ignore[no-untyped-def]
    """Force and torque of all rotors in body axes; their thrusts go to s.thrust.

    row: of the rotor speeds. height: of the centre of mass above ground. motion: velocity through the air and rates,
    both in body axes. This file uses scalars throughout, because arrays in memory would cost more than the arithmetic.
    """
    air_x, air_y, air_z, wx, wy, wz = motion
    # read once: after each store to s.thrust the compiler must assume that p and w have changed
    place, row_speed, row_spin_up = p.rotor_position, w.speed, w.spin_up
    per_speed_squared = p.thrust_coefficient * density_ratio
    torque_ratio, inertia, model = p.torque_ratio, p.rotor_inertia, p.drag_model
    inflow = p.translational_lift + p.axial_inflow > 0.0
    angular_momentum = 0.0
    total_x = total_y = total = 0.0
    torque_x = torque_y = torque_z = 0.0
    for i in range(p.n_rotors):
        dx, dy, dz = place[i, 0], place[i, 1], place[i, 2]
        ux, uy, uz = cross(wx, wy, wz, dx, dy, dz)
        ux += air_x
        uy += air_y
        uz += air_z

        # thrust and its corrections
        omega = row_speed[row, i]
        static_thrust = per_speed_squared * omega * omega * w.efficiency[i]
        lift = static_thrust
        if p.ground_effect > 0.0:
            lift *= ground_effect_factor(p, height + dz)
        if inflow and omega > 1.0:
            lift += w.efficiency[i] * (p.translational_lift * (ux * ux + uy * uy) - p.axial_inflow * omega * uz)
            lift = max(0.0, lift)
        s.thrust[i] = lift

        # drag in the rotor plane
        c = drag_per_speed(p, model, lift)
        fx, fy = -c * ux, -c * uy

        tx, ty, tz = cross(dx, dy, dz, fx, fy, lift)
        spin = p.rotor_spin[i]
        total_x += fx
        total_y += fy
        total += lift
        torque_x += tx
        torque_y += ty
        torque_z += tz - spin * (torque_ratio * static_thrust + inertia * row_spin_up[row, i])
        angular_momentum += spin * inertia * omega

    # eq. (13): the sum of (9) without the rotation rate
    if p.drag_model == DRAG_ROTOR_LUMPED:
        c = p.rotor_drag * (p.sqrt_slope * total + p.n_rotors * p.sqrt_offset)
        total_x -= c * air_x
        total_y -= c * air_y

    # including the gyroscopic torque of the spinning rotors
    torque_x -= wy * angular_momentum
    torque_y += wx * angular_momentum
    return total_x, total_y, total, torque_x, torque_y, torque_z
