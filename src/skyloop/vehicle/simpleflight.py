"""AirSim's SimpleFlight cascade with its published gains and limits, written for our axes.

Every stage gives an output in -1..1 that is multiplied by the limit of the stage below it. Velocity errors are in full
body axes, throttle and thrust are proportional, and the mixer only adds or subtracts.
"""

# mypy: allow-untyped-defs

import numpy as np

from skyloop.core.jit import inlined
from skyloop.core.rotations import to_body
from skyloop.vehicle.controller import follow_yaw, wanted_velocity
from skyloop.vehicle.kernel_records import SET_ATTITUDE, SET_DESCEND, SET_POSITION, SET_RATES

RATE_LIMIT = 2.5
LEVEL_LIMIT = np.pi / 5.5
VELOCITY_LIMIT = 6.0
MIN_THROTTLE = 0.3
MIN_ANGLING_THROTTLE = 0.05
INTEGRAL_DISCOUNT = 0.9999


@inlined
def unit(value):
    return min(max(value, -1.0), 1.0)


@inlined
def angle_to_rate(p, k, error):
    while error > np.pi:
        error -= 2.0 * np.pi
    while error < -np.pi:
        error += 2.0 * np.pi
    return unit(p.attitude_p[k] * error) * RATE_LIMIT


@inlined
def follow_velocity(s, p, k, error, dt):
    """The share -1..1 of the next stage's limit, by a PI whose integral leaks."""
    s.velocity_integral[k] = unit(s.velocity_integral[k] * INTEGRAL_DISCOUNT + p.velocity_i[k] * error * dt)
    return unit(p.velocity_p[k] * error + s.velocity_integral[k])


@inlined
def euler(w, x, y, z):
    """Roll, pitch and yaw of a quaternion."""
    roll = np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = np.arcsin(unit(2.0 * (w * y - z * x)))
    return roll, pitch, np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


@inlined
def simple_velocity(u, p, w, t, yaw):
    """Position to velocity, written to w.goal."""
    m, v = w.measured, w.goal
    wanted_velocity(u, p, m, t, yaw, v)
    if u.kind == SET_POSITION:
        for k in range(3):
            v[k] = unit(p.position_p[k] * (u.position[k] - m[k])) * VELOCITY_LIMIT
        speed = np.sqrt(v[0] * v[0] + v[1] * v[1])
        limit = min(VELOCITY_LIMIT, u.speed_limit)
        if speed > limit:
            v[0] *= limit / speed
            v[1] *= limit / speed
        v[2] = min(max(v[2], -p.max_speed_down), p.max_speed_up)
    elif u.kind == SET_DESCEND:
        v[0], v[1], v[2] = m[3], m[4], u.velocity[2]


@inlined
def mix_signs(s, p, w, throttle):
    """Rates to rotor commands: every rotor gets throttle plus or minus each axis, lifted and scaled into 0..1."""
    m, rates, lift = w.measured, w.rates, w.lift
    ux = unit(p.rate_p[0] * (rates[0] - m[10]))
    uy = unit(p.rate_p[1] * (rates[1] - m[11]))
    uz = unit(p.rate_p[2] * (rates[2] - m[12]))
    lowest = 1e30
    highest = -1e30
    for i in range(p.n_rotors):
        lift[i] = throttle
        if throttle >= MIN_ANGLING_THROTTLE:
            lift[i] += ux * np.sign(p.rotor_position[i, 1]) - uy * np.sign(p.rotor_position[i, 0])
            lift[i] -= uz * p.rotor_spin[i]
        lowest = min(lowest, lift[i])
    for i in range(p.n_rotors):
        lift[i] += max(0.0, -lowest)
        highest = max(highest, lift[i])
    for i in range(p.n_rotors):
        share = unit(lift[i] / max(highest, 1.0))
        s.command[i] = np.sqrt(max(share, 0.0)) * p.max_speed


@inlined
def simpleflight(s, u, p, w, t, dt):
    """One controller step on the motion in w.measured."""
    m, v, rates = w.measured, w.goal, w.rates
    roll, pitch, yaw = euler(m[6], m[7], m[8], m[9])
    yaw_rate = follow_yaw(s, u, p, m, t, dt)
    top = p.max_rotor_thrust * p.n_rotors

    if u.kind == SET_RATES:
        for k in range(3):
            rates[k] = u.rates[k]
        throttle = u.thrust / top
    elif u.kind == SET_ATTITUDE:
        goal_roll, goal_pitch, goal_yaw = euler(u.quat[0], u.quat[1], u.quat[2], u.quat[3])
        rates[0] = angle_to_rate(p, 0, goal_roll - roll)
        rates[1] = angle_to_rate(p, 1, goal_pitch - pitch)
        rates[2] = angle_to_rate(p, 2, goal_yaw - yaw) + u.yaw_rate
        throttle = u.thrust / top
    else:
        # velocity to roll, pitch and throttle
        simple_velocity(u, p, w, t, yaw)
        ex, ey, ez = to_body(m[6], m[7], m[8], m[9], v[0] - m[3], v[1] - m[4], v[2] - m[5])
        forward = follow_velocity(s, p, 0, ex, dt)
        left = follow_velocity(s, p, 1, ey, dt)
        rates[0] = angle_to_rate(p, 0, -left * LEVEL_LIMIT - roll)
        rates[1] = angle_to_rate(p, 1, forward * LEVEL_LIMIT - pitch)
        rates[2] = angle_to_rate(p, 2, s.yaw_target - yaw) + yaw_rate
        throttle = max(0.5 * (1.0 + follow_velocity(s, p, 2, ez, dt)), MIN_THROTTLE)

    s.thrust_wanted = throttle * top
    mix_signs(s, p, w, throttle)
