"""Battery, mixer, motors and propellers.

The battery has an open-circuit voltage by charge, a voltage drop by current, and counts the energy used. The mixer
turns a collective thrust and three torques into rotor speeds; saturated rotors give up the least important part. Rotors
have a first-order response, quadratic thrust, aerodynamics of their own and faults.
"""

import numpy as np

from skyloop.core.jit import inlined
from skyloop.core.rotations import cross
from skyloop.vehicle.kernel_records import (
    DRAG_ROTOR,
    DRAG_ROTOR_LINEAR,
    DRAG_ROTOR_LUMPED,
    FAULT_LOST,
    FAULT_SLOW,
    FAULT_STUCK,
)


@inlined
def voltage_ratio(s, p):  # type: ignore[no-untyped-def]
    """The share of the full rotor speed that the battery still allows."""
    return min(1.0, s.voltage / p.voltage_full) if p.has_battery else 1.0


@inlined
def drain_battery(s, p, dt, density_ratio):  # type: ignore[no-untyped-def]
    """One step: each rotor draws its ideal induced power T^1.5/√(2ρA) over the efficiency of propeller and drive."""
    if not p.has_battery:
        return
    # T^1.5 is (k ρ)^1.5 ω³, so that one root is enough for all rotors
    per_speed_squared = p.thrust_coefficient * density_ratio
    disc = np.sqrt(2.0 * 1.225 * np.pi * density_ratio / per_speed_squared) * p.rotor_radius
    cubes = 0.0
    for i in range(p.n_rotors):
        cubes += s.rotor_speed[i] ** 3
    power = p.hotel_power + cubes * per_speed_squared / (disc * p.power_efficiency)
    charge_left = max(0.0, 1.0 - s.charge_used / p.capacity)
    open_voltage = p.voltage_empty + (p.voltage_full - p.voltage_empty) * charge_left
    # power = (open - R i) i; the cells cannot give more than the largest power of this equation
    spread = open_voltage * open_voltage - 4.0 * p.resistance * power
    current = (open_voltage - np.sqrt(max(0.0, spread))) / (2.0 * p.resistance)
    if charge_left <= 0.0:
        current = 0.0
        open_voltage = 0.0
    s.current = current
    s.voltage = open_voltage - p.resistance * current
    s.charge_used += current * dt
    s.energy_used += s.voltage * current * dt


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


@inlined
def mix(s, p, collective, tx, ty, tz, lift):  # type: ignore[no-untyped-def]
    """Sets s.command. Priorities: roll and pitch first, then collective, then yaw. `lift` is scratch, one per rotor."""
    n = p.n_rotors
    # never below idle, or an empty battery would leave no range to mix in
    top = p.max_rotor_thrust * max(0.1, voltage_ratio(s, p)) ** 2
    floor = p.thrust_per_speed_squared * p.idle_speed * p.idle_speed
    s.saturated = 0
    s.yaw_saturated = 0

    # roll and pitch alone must fit between idle and full thrust
    lowest = 1e30
    highest = -1e30
    for i in range(n):
        lift[i] = p.mixer[i, 1] * tx + p.mixer[i, 2] * ty
        lowest = min(lowest, lift[i])
        highest = max(highest, lift[i])
    scale = 1.0
    if highest - lowest > top - floor:
        scale = (top - floor) / (highest - lowest)
        s.saturated = 1

    # the collective moves up or down until they fit
    shift_low = -1e30
    shift_high = 1e30
    for i in range(n):
        lift[i] = lift[i] * scale + p.mixer[i, 0] * collective
        share = max(n * p.mixer[i, 0], 0.1)  # a share of the mean collective; 1 with the centre of mass in the middle
        shift_low = max(shift_low, (floor - lift[i]) / share)
        shift_high = min(shift_high, (top - lift[i]) / share)
    shift = min(max(0.0, shift_low), shift_high) if shift_low <= shift_high else 0.5 * (shift_low + shift_high)
    if shift != 0.0:
        s.saturated = 1

    # yaw gets the range that is left
    yaw_scale = 1.0
    for i in range(n):
        lift[i] += shift * max(n * p.mixer[i, 0], 0.1)
        part = p.mixer[i, 3] * tz
        if part > 0.0:
            yaw_scale = min(yaw_scale, max(0.0, (top - lift[i]) / part))
        elif part < 0.0:
            yaw_scale = min(yaw_scale, max(0.0, (lift[i] - floor) / -part))
    if yaw_scale < 1.0:
        s.yaw_saturated = 1
    for i in range(n):
        lift[i] = min(max(lift[i] + yaw_scale * p.mixer[i, 3] * tz, floor), top)
        s.command[i] = min(p.max_speed, np.sqrt(lift[i] / p.thrust_per_speed_squared))


@inlined
def throttle_to_speed(p, throttle):  # type: ignore[no-untyped-def]
    """Throttle 0..1 of an external controller, linear in speed or in thrust as the airframe says."""
    clipped = min(max(throttle, 0.0), 1.0)
    if p.throttle_is_thrust:
        return np.sqrt(clipped) * p.max_speed
    return clipped * p.max_speed
