"""The two entry points of flight: advance every vehicle to a step, and read a state between two steps."""

# mypy: allow-untyped-defs

import numpy as np
from numba import float64, int64, types, void

from skyloop.core.jit import FIRST, LAST, inlined, kernel
from skyloop.core.rotations import cross, multiply, to_world
from skyloop.vehicle.contact_search import fleet_params_type, states_type
from skyloop.vehicle.controller import MAX_EXTRAPOLATION, cascade, coast, measured_motion, yaw_of
from skyloop.vehicle.kernel_records import (
    CONTROL_CASCADE,
    CONTROL_SIMPLEFLIGHT,
    SCRATCH,
    SET_IDLE,
    SET_MOTORS,
    input_type,
    params_type,
    scratch_type,
    state_type,
)
from skyloop.vehicle.rigid_body import close_step, step_vehicle
from skyloop.vehicle.rotors import throttle_to_speed
from skyloop.vehicle.simpleflight import simpleflight
from skyloop.world.ground import HeightField, height_field_type

STATE_SIZE = 22
"""position 3, velocity 3, quaternion 4, rates 3, acceleration 3, angular acceleration 3, wind 3."""
MOST_MOTION = 1e7
"""m, m/s and rad/s: a state beyond this, or one that is not a number, has diverged."""


_HEIGHTS = float64[:, ::1]
inputs_type = types.Array(input_type, 1, "C")


@inlined
def rest_controller(s, u, p, w, dt):
    """While the controller has nothing to do, its integrals are reset and its yaw target follows the heading."""
    for k in range(3):
        s.velocity_integral[k] = 0.0
        s.rate_integral[k] = 0.0
    s.controller_ran = 0
    measured_motion(s, u, p, s.step * dt, w.measured)
    s.yaw_target = yaw_of(w.measured)


@kernel(void(state_type, input_type, params_type, scratch_type, float64), turn=FIRST)
def control_vehicle(s, u, p, w, dt):
    """Sets the rotor speed commands for the next step."""
    if not u.armed or s.crashed:
        for i in range(p.n_rotors):
            s.command[i] = 0.0
        s.thrust_wanted = 0.0
        rest_controller(s, u, p, w, dt)
    elif u.kind == SET_IDLE:
        for i in range(p.n_rotors):
            s.command[i] = p.idle_speed
        s.thrust_wanted = 0.0
    elif u.kind == SET_MOTORS:
        for i in range(p.n_rotors):
            s.command[i] = throttle_to_speed(p, u.throttle[i])
        if s.step % p.control_divider == 0:
            rest_controller(s, u, p, w, dt)
    elif s.step % p.control_divider == 0:
        t = s.step * dt
        measured_motion(s, u, p, t, w.measured)
        if u.on_estimate and t - u.estimate_t > MAX_EXTRAPOLATION:
            coast(s, p, w)
        elif p.control == CONTROL_CASCADE:
            cascade(s, u, p, w, t, dt * p.control_divider)
        elif p.control == CONTROL_SIMPLEFLIGHT:
            simpleflight(s, u, p, w, t, dt * p.control_divider)


@kernel(void(state_type, input_type, params_type, scratch_type, _HEIGHTS, float64, int64), turn=FIRST)
def move_vehicle(s, u, p, w, heights, dt, last):
    """One physics step, compiled apart from the controllers. After the last step come the accelerations."""
    step_vehicle(s, u, p, w, heights, dt)
    if last:
        close_step(s, p, w, heights, dt)


@inlined
def is_sane(s):
    """Whether every number of the motion is finite and within MOST_MOTION."""
    for k in range(13):
        if not abs(s.motion[k]) < MOST_MOTION:
            return False
    return bool(abs(s.energy_used) < np.inf)


@kernel(int64(states_type, inputs_type, fleet_params_type, float64, int64, height_field_type), turn=LAST)
def advance(states, inputs, params, dt, until_step, ground):
    """Advances every vehicle to physics step `until_step`; `ground` is that of `Ground.kernel_arguments`.

    Returns the first vehicle whose motion has diverged, or -1.
    """
    lost = -1
    field = HeightField(*ground)
    scratch = np.zeros(1, SCRATCH)
    for i in range(states.shape[0]):
        # a record does not keep its array alive: made before the loop, it would refer to freed memory
        w = scratch[0]
        w.origin_x = field.origin_x
        w.origin_y = field.origin_y
        w.cell = field.cell
        s = states[i]
        u = inputs[i]
        p = params[i]
        while s.step < until_step:
            control_vehicle(s, u, p, w, dt)
            move_vehicle(s, u, p, w, field.heights, dt, s.step + 1 == until_step)
        if lost < 0 and not is_sane(s):
            lost = i
    return lost


@kernel(void(states_type, fleet_params_type, int64, float64, float64, float64[::1]))
def read_state(states, params, index, dt, fraction, out):
    """Dense output of the body origin's motion between the last two steps, by cubic Hermite interpolation.

    `out` is laid out as STATE_SIZE says, followed by the speeds of the rotors and their thrusts.
    """
    s = states[index]
    p = params[index]
    f = fraction
    a, b = s.motion_before, s.motion
    h00 = (1.0 + 2.0 * f) * (1.0 - f) ** 2
    h10 = f * (1.0 - f) ** 2 * dt
    h01 = f * f * (3.0 - 2.0 * f)
    h11 = f * f * (f - 1.0) * dt
    for k in range(3):
        out[k] = h00 * a[k] + h10 * a[3 + k] + h01 * b[k] + h11 * b[3 + k]
        out[3 + k] = h00 * a[3 + k] + h10 * s.acceleration_before[k] + h01 * b[3 + k] + h11 * s.acceleration[k]
        out[10 + k] = (
            h00 * a[10 + k] + h10 * s.angular_acceleration_before[k] + h01 * b[10 + k]
            + h11 * s.angular_acceleration[k]
        )  # fmt: skip
        out[13 + k] = (1.0 - f) * s.acceleration_before[k] + f * s.acceleration[k]
        out[16 + k] = (1.0 - f) * s.angular_acceleration_before[k] + f * s.angular_acceleration[k]
        out[19 + k] = s.wind[k]
        if s.step < s.impact_end:
            out[13 + k] += s.impact_acceleration[k]
            out[16 + k] += s.impact_angular_acceleration[k]

    # attitude: cubic Hermite too, with the slopes ½ q ⊗ (0, ω); slerp would miss the angular acceleration
    a0, a1, a2, a3 = multiply((a[6], a[7], a[8], a[9]), (0.0, a[10], a[11], a[12]))
    b0, b1, b2, b3 = multiply((b[6], b[7], b[8], b[9]), (0.0, b[10], b[11], b[12]))
    out[6] = h00 * a[6] + h01 * b[6] + 0.5 * (h10 * a0 + h11 * b0)
    out[7] = h00 * a[7] + h01 * b[7] + 0.5 * (h10 * a1 + h11 * b1)
    out[8] = h00 * a[8] + h01 * b[8] + 0.5 * (h10 * a2 + h11 * b2)
    out[9] = h00 * a[9] + h01 * b[9] + 0.5 * (h10 * a3 + h11 * b3)
    norm = np.sqrt(out[6] * out[6] + out[7] * out[7] + out[8] * out[8] + out[9] * out[9])
    for k in range(6, 10):
        out[k] /= norm

    # from the centre of mass to the body origin
    cx, cy, cz = -p.centre_of_mass[0], -p.centre_of_mass[1], -p.centre_of_mass[2]
    qw, qx, qy, qz = out[6], out[7], out[8], out[9]
    wx, wy, wz = out[10], out[11], out[12]
    dx, dy, dz = to_world(qw, qx, qy, qz, cx, cy, cz)
    ex, ey, ez = cross(wx, wy, wz, cx, cy, cz)
    vx, vy, vz = to_world(qw, qx, qy, qz, ex, ey, ez)
    gx, gy, gz = cross(wx, wy, wz, ex, ey, ez)
    hx, hy, hz = cross(out[16], out[17], out[18], cx, cy, cz)
    ax, ay, az = to_world(qw, qx, qy, qz, gx + hx, gy + hy, gz + hz)
    out[0] += dx
    out[1] += dy
    out[2] += dz
    out[3] += vx
    out[4] += vy
    out[5] += vz
    out[13] += ax
    out[14] += ay
    out[15] += az
    for i in range(p.n_rotors):
        out[STATE_SIZE + i] = (1.0 - f) * s.rotor_speed_before[i] + f * s.rotor_speed[i]
        out[STATE_SIZE + p.n_rotors + i] = s.thrust[i]
