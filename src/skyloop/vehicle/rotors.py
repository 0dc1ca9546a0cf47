"""Motors and propellers: first-order response, quadratic thrust, per-rotor aerodynamics, faults."""

import numpy as np

from skyloop.compiled import inlined
from skyloop.rotations import cross
from skyloop.vehicle.layout import (
    DRAG_ROTOR,
    DRAG_ROTOR_LINEAR,
    DRAG_ROTOR_LUMPED,
    FAULT_LOST,
    FAULT_SLOW,
    FAULT_STUCK,
)


@inlined
def rotor_targets(s, p, w, t):  # type: ignore[no-untyped-def]
    """What each motor really runs after: the command, limited by the battery and spoilt by faults."""
    target, slowness, efficiency = w.target, w.slowness, w.efficiency
    limit = p.max_speed
    if p.has_battery:
        limit *= min(1.0, s.voltage / p.voltage_full)
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
        tau = (p.tau_up if wanted > before else p.tau_down) * slowness[i]
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
def rotor_wrench(s, p, w, row, density_ratio, height, wx, wy, wz):  # type: ignore[no-untyped-def]
    """Force and torque of all rotors in body axes, added to w.wrench; their thrusts go to s.thrust.

    row: of the rotor speeds. height: of the centre of mass above ground. wx, wy, wz: body rates.
    """
    place, air, wrench = p.rotor_position, w.air, w.wrench
    angular_momentum = 0.0
    total = 0.0
    for i in range(p.n_rotors):
        dx, dy, dz = place[i, 0], place[i, 1], place[i, 2]
        ux, uy, uz = cross(wx, wy, wz, dx, dy, dz)
        ux += air[0]
        uy += air[1]
        uz += air[2]

        # thrust and its corrections
        omega = w.speed[row, i]
        static_thrust = p.thrust_coefficient * density_ratio * omega * omega * w.efficiency[i]
        lift = static_thrust
        if p.ground_effect > 0.0:
            lift *= ground_effect_factor(p, height + dz)
        if omega > 1.0:
            lift += w.efficiency[i] * (p.translational_lift * (ux * ux + uy * uy) - p.axial_inflow * omega * uz)
        lift = max(0.0, lift)
        s.thrust[i] = lift
        total += lift

        # drag in the rotor plane, eq. (6) and its linear form (9)
        fx = 0.0
        fy = 0.0
        if p.drag_model == DRAG_ROTOR:
            c = p.rotor_drag * np.sqrt(lift)
            fx = -c * ux
            fy = -c * uy
        elif p.drag_model == DRAG_ROTOR_LINEAR:
            c = p.rotor_drag * (p.sqrt_slope * lift + p.sqrt_offset)
            fx = -c * ux
            fy = -c * uy

        tx, ty, tz = cross(dx, dy, dz, fx, fy, lift)
        spin = p.rotor_spin[i]
        wrench[0] += fx
        wrench[1] += fy
        wrench[2] += lift
        wrench[3] += tx
        wrench[4] += ty
        wrench[5] += tz - spin * (p.torque_ratio * static_thrust + p.rotor_inertia * w.spin_up[row, i])
        angular_momentum += spin * p.rotor_inertia * omega

    # gyroscopic torque of the spinning rotors
    wrench[3] -= wy * angular_momentum
    wrench[4] += wx * angular_momentum

    # eq. (13): the sum of (9) without the turn rate
    if p.drag_model == DRAG_ROTOR_LUMPED:
        c = p.rotor_drag * (p.sqrt_slope * total + p.n_rotors * p.sqrt_offset)
        wrench[0] -= c * air[0]
        wrench[1] -= c * air[1]
