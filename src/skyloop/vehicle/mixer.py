"""Turns a collective thrust and three torques into rotor speeds. Saturated rotors give up the least important part."""

import numpy as np

from skyloop.core.jit import inlined
from skyloop.vehicle.battery import voltage_ratio


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
