"""Six degrees of freedom: accelerations from forces, and one Runge-Kutta step of fourth order.

The drag of the rotors is in `rotors.py`, where each rotor's thrust is known.
"""

# mypy: allow-untyped-defs

import numpy as np

from skyloop.core.jit import inlined
from skyloop.core.rotations import to_body, to_world
from skyloop.vehicle.contact import contact_wrench, settle_anchors, touch_wrench
from skyloop.vehicle.kernel_records import DRAG_BOX, DRAG_LINEAR
from skyloop.vehicle.rotors import drain_battery, rotor_response, rotor_targets, rotor_wrench
from skyloop.world.atmosphere import advance_gust, air_density, gust_velocity, initial_gust
from skyloop.world.ground import ground_at

BOX_THRESHOLD = 0.1
"""m/s of normal velocity below which AirSim ignores a face."""


@inlined
def _box_face(factor, speed):
    """Only the face that meets the air counts. It lies on the axis, so there is no torque."""
    return factor * abs(speed) * speed if abs(speed) > BOX_THRESHOLD else 0.0


@inlined
def frame_drag(p, density_ratio, air_x, air_y, air_z):
    """Force in body axes. air: velocity of the vehicle through the air, body axes."""
    speed = density_ratio * np.sqrt(air_x * air_x + air_y * air_y + air_z * air_z)
    fx = -p.parasitic[0] * speed * air_x
    fy = -p.parasitic[1] * speed * air_y
    fz = -p.parasitic[2] * speed * air_z
    if p.drag_model == DRAG_LINEAR:
        # eq. (5), in body axes
        fx -= p.linear_drag[0] * air_x
        fy -= p.linear_drag[1] * air_y
        fz -= p.linear_drag[2] * air_z
    elif p.drag_model == DRAG_BOX:
        fx -= _box_face(p.box_drag[0] * density_ratio, air_x)
        fy -= _box_face(p.box_drag[1] * density_ratio, air_y)
        fz -= _box_face(p.box_drag[2] * density_ratio, air_z)
    return fx, fy, fz


REFERENCE_DENSITY = 1.225
"""kg/m³ of air, for which airframes give thrust and drag."""


@inlined
def scheduled_wrench(p, t, y):
    """Force and torque of the wrenches that act at time t, body axes."""
    force, torque = p.wrench_force, p.wrench_torque
    total_x = total_y = total_z = torque_x = torque_y = torque_z = 0.0
    for k in range(p.n_wrenches):
        if p.wrench_start[k] <= t < p.wrench_end[k]:
            fx, fy, fz = force[k, 0], force[k, 1], force[k, 2]
            tx, ty, tz = torque[k, 0], torque[k, 1], torque[k, 2]
            if not p.wrench_in_body[k]:
                fx, fy, fz = to_body(y[6], y[7], y[8], y[9], fx, fy, fz)
                tx, ty, tz = to_body(y[6], y[7], y[8], y[9], tx, ty, tz)
            total_x += fx
            total_y += fy
            total_z += fz
            torque_x += tx
            torque_y += ty
            torque_z += tz
    return total_x, total_y, total_z, torque_x, torque_y, torque_z


@inlined
def derivative(s, p, w, heights, t, stage, held):
    """Writes the time derivative of the 13 motion states in w.trial to w.slope[stage].

    held, over the step: the air's density over the reference, the ground's height, and the vertical part of its normal.
    The height above ground times that part is the distance to the slope.
    """
    density_ratio, ground_height, upright = held
    y, out = w.trial, w.slope
    qw, qx, qy, qz = y[6], y[7], y[8], y[9]
    wx, wy, wz = y[10], y[11], y[12]

    # forces and torques in body axes
    ux, uy, uz = to_body(qw, qx, qy, qz, y[3] - s.wind[0], y[4] - s.wind[1], y[5] - s.wind[2])
    height = y[2] - ground_height
    # rotor speeds are known at the start, the middle and the end of a step
    row = (stage + 1) // 2
    fx, fy, fz, tx, ty, tz = rotor_wrench(s, p, w, row, density_ratio, height, (ux, uy, uz, wx, wy, wz))
    if p.has_frame_drag:
        dx, dy, dz = frame_drag(p, density_ratio, ux, uy, uz)
        fx, fy, fz = fx + dx, fy + dy, fz + dz
    if height * upright < p.bounding_radius:
        cx, cy, cz, gx, gy, gz = contact_wrench(s, p, w, heights, y)
        fx, fy, fz, tx, ty, tz = fx + cx, fy + cy, fz + cz, tx + gx, ty + gy, tz + gz
    if s.n_touches:
        touch_wrench(s, p, w)
        push = w.push
        fx, fy, fz = fx + push[0], fy + push[1], fz + push[2]
        tx, ty, tz = tx + push[3], ty + push[4], tz + push[5]
    if p.n_wrenches:
        cx, cy, cz, gx, gy, gz = scheduled_wrench(p, t, y)
        fx, fy, fz, tx, ty, tz = fx + cx, fy + cy, fz + cz, tx + gx, ty + gy, tz + gz

    # Newton and Euler
    ax, ay, az = to_world(qw, qx, qy, qz, fx, fy, fz)
    for k in range(3):
        out[stage, k] = y[3 + k]
    per_mass = p.inverse_mass
    out[stage, 3] = ax * per_mass
    out[stage, 4] = ay * per_mass
    out[stage, 5] = az * per_mass - p.gravity
    out[stage, 6] = 0.5 * (-qx * wx - qy * wy - qz * wz)
    out[stage, 7] = 0.5 * (qw * wx + qy * wz - qz * wy)
    out[stage, 8] = 0.5 * (qw * wy + qz * wx - qx * wz)
    out[stage, 9] = 0.5 * (qw * wz + qx * wy - qy * wx)
    jx, jy, jz = p.inertia[0], p.inertia[1], p.inertia[2]
    out[stage, 10] = (tx - (jz - jy) * wy * wz) * p.inverse_inertia[0]
    out[stage, 11] = (ty - (jx - jz) * wx * wz) * p.inverse_inertia[1]
    out[stage, 12] = (tz - (jy - jx) * wx * wy) * p.inverse_inertia[2]


@inlined
def update_wind(s, u, p, dt, ground_height):
    """The wind is held over a step, so that the integrator has a smooth right-hand side."""
    for k in range(3):
        s.wind[k] = u.wind_mean[k]
    if p.gusts:
        height = max(0.0, s.motion[2] - ground_height)
        vx = s.motion[3] - u.wind_mean[0]
        vy = s.motion[4] - u.wind_mean[1]
        vz = s.motion[5] - u.wind_mean[2]
        airspeed = max(p.airspeed_floor, np.sqrt(vx * vx + vy * vy + vz * vz))
        if s.step == 0:
            initial_gust(s.gust, p.wind_key)
        advance_gust(s.gust, p.wind_key, s.step, dt, airspeed, height, p.w20)
        gx, gy, gz = gust_velocity(s.gust, u.wind_mean[0], u.wind_mean[1], height, p.w20)
        s.wind[0] += gx
        s.wind[1] += gy
        s.wind[2] += gz


@inlined
def step_vehicle(s, u, p, w, heights, dt):
    y, trial, k = s.motion, w.trial, w.slope
    t = s.step * dt
    ground_height, _, _, upright = ground_at(heights, w.origin_x, w.origin_y, w.cell, y[0], y[1])
    # held over the step; taken at its middle, because taken at its start it would cost the integrator its order
    density_ratio = air_density(p.home_altitude + y[2] + 0.5 * dt * y[5]) / REFERENCE_DENSITY
    update_wind(s, u, p, dt, ground_height)
    rotor_targets(s, p, w, t)
    rotor_response(s, p, w, dt)

    # keep the previous state for the dense output
    for j in range(13):
        s.motion_before[j] = y[j]
        trial[j] = y[j]
    for i in range(p.n_rotors):
        s.rotor_speed_before[i] = s.rotor_speed[i]

    # Runge-Kutta, fourth order; the rotor speeds are known exactly at both ends and in the middle
    for stage in range(4):
        if stage > 0:
            fraction = dt if stage == 3 else 0.5 * dt
            for j in range(13):
                trial[j] = y[j] + fraction * k[stage - 1, j]
        derivative(s, p, w, heights, t, stage, (density_ratio, ground_height, upright))
    for j in range(13):
        y[j] += dt / 6.0 * (k[0, j] + 2.0 * k[1, j] + 2.0 * k[2, j] + k[3, j])
    norm = 1.0 / np.sqrt(y[6] * y[6] + y[7] * y[7] + y[8] * y[8] + y[9] * y[9])
    for j in range(6, 10):
        y[j] *= norm
    for i in range(p.n_rotors):
        s.rotor_speed[i] = w.speed[2, i]
    for j in range(3):
        s.acceleration_before[j] = k[0, 3 + j]
        s.angular_acceleration_before[j] = k[0, 10 + j]

    if (y[2] - ground_height) * upright < p.bounding_radius:
        settle_anchors(s, p, w, heights, dt)
    elif s.legs_down or s.body_down:
        for i in range(p.n_contacts):
            s.anchored[i] = 0
        s.legs_down = 0
        s.body_down = 0
    drain_battery(s, p, dt, density_ratio)
    s.step += 1


@inlined
def close_step(s, p, w, heights, dt):
    """Accelerations at the end of the last step, for the dense output and the accelerometers."""
    for j in range(13):
        w.trial[j] = s.motion[j]
    ground_height, _, _, upright = ground_at(heights, w.origin_x, w.origin_y, w.cell, s.motion[0], s.motion[1])
    density_ratio = air_density(p.home_altitude + s.motion[2]) / REFERENCE_DENSITY
    derivative(s, p, w, heights, s.step * dt, 3, (density_ratio, ground_height, upright))
    for j in range(3):
        s.acceleration[j] = w.slope[3, 3 + j]
        s.angular_acceleration[j] = w.slope[3, 10 + j]
