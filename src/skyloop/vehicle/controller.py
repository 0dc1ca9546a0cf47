"""The cascade controller: position, velocity, attitude on SO(3), rates, mixer. It runs inside the flight kernel."""

# mypy: allow-untyped-defs

import numpy as np

from skyloop.core.jit import inlined
from skyloop.core.rotations import cross, multiply, to_world
from skyloop.vehicle.kernel_records import SET_ATTITUDE, SET_DESCEND, SET_POSITION, SET_RATES, SET_VELOCITY_BODY
from skyloop.vehicle.rotors import mix, voltage_ratio

BLIND_THRUST = 0.97
"""The share of the weight that is carried when the state is unknown."""
MAX_EXTRAPOLATION = 0.1
"""s over which a setpoint or estimate is extrapolated by its own derivatives; after that it is held."""


@inlined
def measured_motion(s, u, p, t, m):
    """The state the controller uses: motion of the body origin, from truth or from the estimate extrapolated to now."""
    if u.on_estimate:
        age = min(max(t - u.estimate_t, 0.0), MAX_EXTRAPOLATION)
        for k in range(13):
            m[k] = u.estimate[k]
        for k in range(3):
            m[k] += age * m[3 + k]
        half = 0.5 * age
        w, x, y, z = multiply((m[6], m[7], m[8], m[9]), (1.0, half * m[10], half * m[11], half * m[12]))
        norm = 1.0 / np.sqrt(w * w + x * x + y * y + z * z)
        m[6], m[7], m[8], m[9] = w * norm, x * norm, y * norm, z * norm
        return
    y13 = s.motion
    for k in range(13):
        m[k] = y13[k]
    cx, cy, cz = p.centre_of_mass[0], p.centre_of_mass[1], p.centre_of_mass[2]
    dx, dy, dz = to_world(m[6], m[7], m[8], m[9], cx, cy, cz)
    ex, ey, ez = cross(m[10], m[11], m[12], cx, cy, cz)
    fx, fy, fz = to_world(m[6], m[7], m[8], m[9], ex, ey, ez)
    m[0] -= dx
    m[1] -= dy
    m[2] -= dz
    m[3] -= fx
    m[4] -= fy
    m[5] -= fz


@inlined
def yaw_of(m):
    w, x, y, z = m[6], m[7], m[8], m[9]
    return np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


@inlined
def follow_yaw(s, u, p, m, t, dt):
    """Moves s.yaw_target, at most as fast as the vehicle may turn; returns the yaw rate to feed forward."""
    if u.kind == SET_ATTITUDE or u.kind == SET_RATES or u.kind == SET_DESCEND:
        s.yaw_target = yaw_of(m)
        return 0.0
    if u.absolute_yaw:
        age = min(max(t - u.t, 0.0), MAX_EXTRAPOLATION)
        gap = u.yaw + u.yaw_rate * age - s.yaw_target
        gap -= 2.0 * np.pi * np.round(gap / (2.0 * np.pi))
        reach = 0.7 * p.max_rate[2] * dt
        if abs(gap) > reach:
            s.yaw_target += reach if gap > 0.0 else -reach
            # no feed-forward: a turn that starts at full rate would saturate the rotors
            return 0.0
        s.yaw_target += gap
    else:
        s.yaw_target += u.yaw_rate * dt
    return u.yaw_rate


@inlined
def approach_speed(error, gain, acceleration):
    """Linear near the target and a square root farther out, so that braking needs no more than `acceleration`."""
    knee = acceleration / (gain * gain)
    if error <= knee:
        return gain * error
    return np.sqrt(2.0 * acceleration * (error - 0.5 * knee))


@inlined
def wanted_velocity(u, p, m, t, yaw, out):
    """Writes out[0:3] velocity, out[3:6] acceleration and out[6:9] jerk to feed forward."""
    for k in range(9):
        out[k] = 0.0
    speed_limit = min(p.max_speed_horizontal, u.speed_limit)
    if u.kind == SET_POSITION:
        age = min(max(t - u.t, 0.0), MAX_EXTRAPOLATION)
        ex = u.position[0] - m[0]
        ey = u.position[1] - m[1]
        ez = u.position[2] - m[2]
        for k in range(3):
            out[k] = u.velocity[k] + age * (u.acceleration[k] + 0.5 * age * u.jerk[k])
            out[3 + k] = u.acceleration[k] + age * (u.jerk[k] + 0.5 * age * u.snap[k])
            out[6 + k] = u.jerk[k] + age * u.snap[k]
        ex += age * (u.velocity[0] + age * (0.5 * u.acceleration[0] + age * u.jerk[0] / 6.0))
        ey += age * (u.velocity[1] + age * (0.5 * u.acceleration[1] + age * u.jerk[1] / 6.0))
        ez += age * (u.velocity[2] + age * (0.5 * u.acceleration[2] + age * u.jerk[2] / 6.0))
        distance = np.sqrt(ex * ex + ey * ey)
        if distance > 1e-9:
            speed = min(approach_speed(distance, p.position_p[0], 0.5 * p.max_acceleration), speed_limit)
            out[0] += speed * ex / distance
            out[1] += speed * ey / distance
        climb = approach_speed(abs(ez), p.position_p[2], 0.25 * p.max_acceleration)
        out[2] += min(climb, p.max_speed_up) if ez > 0.0 else -min(climb, p.max_speed_down)
    else:
        vx, vy = u.velocity[0], u.velocity[1]
        if u.kind == SET_VELOCITY_BODY:
            c, d = np.cos(yaw), np.sin(yaw)
            vx, vy = c * vx - d * vy, d * vx + c * vy
        out[0], out[1], out[2] = vx, vy, u.velocity[2]
    horizontal = np.sqrt(out[0] * out[0] + out[1] * out[1])
    if horizontal > speed_limit:
        out[0] *= speed_limit / horizontal
        out[1] *= speed_limit / horizontal
    out[2] = min(max(out[2], -p.max_speed_down), p.max_speed_up)


@inlined
def wanted_acceleration(s, u, p, m, dt, v, a):
    """PI on velocity with the feed-forwards in `v`; returns the acceleration the thrust must give, gravity included.

    a is scratch. A descent without an estimate keeps level and controls only its vertical speed.
    """
    level = u.kind == SET_DESCEND
    for k in range(3):
        goal = v[k]
        if level:
            goal = u.velocity[2] if k == 2 else m[3 + k]
        error = goal - m[3 + k]
        push = p.velocity_p[k] * error
        # a saturated mixer, a clipped force or the friction of the ground must not wind the integral up
        if abs(push) > p.max_acceleration:
            push = p.max_acceleration if push > 0.0 else -p.max_acceleration
        elif not (s.saturated and error * s.velocity_integral[k] > 0.0) and not (k < 2 and s.legs_down):
            s.velocity_integral[k] += p.velocity_i[k] * error * dt
        reach = 0.5 * p.gravity if k < 2 else 0.8 * p.gravity
        s.velocity_integral[k] = min(max(s.velocity_integral[k], -reach), reach)
        a[k] = v[3 + k] + push + s.velocity_integral[k] + p.drag_feedforward[k] * goal
    if level:
        a[0] = 0.0
        a[1] = 0.0
        s.velocity_integral[0] = 0.0
        s.velocity_integral[1] = 0.0
    ax, ay = a[0], a[1]
    az = max(a[2] + p.gravity, 0.2 * p.gravity)
    # limits of tilt and thrust: keep the vertical part, reduce the horizontal
    strongest = 0.95 * p.n_rotors * p.max_rotor_thrust * voltage_ratio(s, p) ** 2 / p.mass
    most = min(az * np.tan(p.max_tilt), np.sqrt(max(strongest * strongest - az * az, 0.1)))
    horizontal = np.sqrt(ax * ax + ay * ay)
    if horizontal > most:
        ax *= most / horizontal
        ay *= most / horizontal
    return ax, ay, az


@inlined
def attitude_from_acceleration(ax, ay, az, yaw):
    """The quaternion whose up axis is along the acceleration and whose heading is `yaw`."""
    size = np.sqrt(ax * ax + ay * ay + az * az)
    zx, zy, zz = ax / size, ay / size, az / size
    # the shortest rotation from vertical to z, then yaw about the vertical first
    w = np.sqrt(0.5 * (1.0 + zz))
    tx, ty = -zy / (2.0 * w), zx / (2.0 * w)
    # heading: rotate about the body's z so that the nose points along yaw in the horizontal plane
    c, d = np.cos(yaw), np.sin(yaw)
    yx, yy, yz = cross(zx, zy, zz, c, d, 0.0)
    norm = 1.0 / np.sqrt(yx * yx + yy * yy + yz * yz)
    yx, yy, yz = yx * norm, yy * norm, yz * norm
    # the left axis of the pure tilt, and the angle from it to the wanted left axis about z
    lx, ly, lz = to_world(w, tx, ty, 0.0, 0.0, 1.0, 0.0)
    fx, fy, fz = to_world(w, tx, ty, 0.0, 1.0, 0.0, 0.0)
    turn = np.arctan2(-(yx * fx + yy * fy + yz * fz), yx * lx + yy * ly + yz * lz)
    return multiply((w, tx, ty, 0.0), (np.cos(0.5 * turn), 0.0, 0.0, np.sin(0.5 * turn)))


@inlined
def rates_from_attitude(p, m, qw, qx, qy, qz, out):
    """Geometric attitude error, split so that a large yaw error never disturbs the tilt that holds the vehicle up.

    The tilt part is the shortest rotation of the thrust axis, the yaw part is the rest. Each enters as 2 sin(angle/2),
    which does not decrease beyond 90 degrees.
    """
    ew, ex, ey, ez = multiply((m[6], -m[7], -m[8], -m[9]), (qw, qx, qy, qz))
    # swing and twist of the error about the thrust axis
    twist = np.sqrt(ew * ew + ez * ez)
    if twist > 1e-9:
        tilt_x = 2.0 * (ew * ex - ey * ez) / twist
        tilt_y = 2.0 * (ew * ey + ex * ez) / twist
        yaw = 2.0 * ez / twist if ew >= 0.0 else -2.0 * ez / twist
    else:
        tilt_x, tilt_y, yaw = 2.0 * ex, 2.0 * ey, 0.0
    out[0] = p.attitude_p[0] * tilt_x
    out[1] = p.attitude_p[1] * tilt_y
    out[2] = p.attitude_p[2] * yaw


@inlined
def torque_from_rates(s, p, m, rates, acceleration, dt, out):
    """PID on the body rates, in angular accelerations, then times inertia plus the gyroscopic part."""
    smooth = dt / (dt + 0.004)
    for k in range(3):
        goal = min(max(rates[k], -p.max_rate[k]), p.max_rate[k])
        error = goal - m[10 + k]
        if s.controller_ran:
            slope = (m[10 + k] - s.rate_before[k]) / dt
            s.rate_derivative[k] += smooth * (slope - s.rate_derivative[k])
        s.rate_before[k] = m[10 + k]
        if not (s.saturated or s.legs_down or (k == 2 and s.yaw_saturated)):
            s.rate_integral[k] += p.rate_i[k] * error * dt
        s.rate_integral[k] = min(max(s.rate_integral[k], -20.0), 20.0)
        wanted = p.rate_p[k] * error + s.rate_integral[k] - p.rate_d[k] * s.rate_derivative[k]
        out[k] = p.inertia[k] * (wanted + (1.0 + p.rate_d[k]) * acceleration[k])
    s.controller_ran = 1
    jx, jy, jz = p.inertia[0] * m[10], p.inertia[1] * m[11], p.inertia[2] * m[12]
    gx, gy, gz = cross(m[10], m[11], m[12], jx, jy, jz)
    out[0] += gx
    out[1] += gy
    out[2] += gz


@inlined
def cascade(s, u, p, w, t, dt):
    """One controller step on the motion in w.measured."""
    m, v, rates, turn, torque = w.measured, w.goal, w.rates, w.turn, w.torque
    yaw_rate = follow_yaw(s, u, p, m, t, dt)
    for k in range(3):
        turn[k] = 0.0

    # the wanted rates and thrust
    if u.kind == SET_RATES:
        for k in range(3):
            rates[k] = u.rates[k]
        collective = u.thrust
    elif u.kind == SET_ATTITUDE:
        rates_from_attitude(p, m, u.quat[0], u.quat[1], u.quat[2], u.quat[3], rates)
        rates[2] += u.yaw_rate
        collective = u.thrust
    else:
        wanted_velocity(u, p, m, t, yaw_of(m), v)
        ax, ay, az = wanted_acceleration(s, u, p, m, dt, v, torque)
        qw, qx, qy, qz = attitude_from_acceleration(ax, ay, az, s.yaw_target)
        rates_from_attitude(p, m, qw, qx, qy, qz, rates)

        # the thrust that gives the wanted acceleration along the present up axis
        bx, by, bz = to_world(m[6], m[7], m[8], m[9], 0.0, 0.0, 1.0)
        collective = p.mass * max(ax * bx + ay * by + az * bz, 0.0)

        # differential flatness: jerk turns the thrust vector, snap accelerates that turn
        specific = np.sqrt(ax * ax + ay * ay + az * az)
        xx, xy, xz = to_world(qw, qx, qy, qz, 1.0, 0.0, 0.0)
        yx, yy, yz = to_world(qw, qx, qy, qz, 0.0, 1.0, 0.0)
        up = 1.0 - 2.0 * (qx * qx + qy * qy)
        jx = v[6] + p.drag_feedforward[0] * v[3]
        jy = v[7] + p.drag_feedforward[1] * v[4]
        jz = v[8]
        rates[0] -= (jx * yx + jy * yy + jz * yz) / specific
        rates[1] += (jx * xx + jy * xy + jz * xz) / specific
        rates[2] += yaw_rate * up
        if u.kind == SET_POSITION:
            turn[0] = -(u.snap[0] * yx + u.snap[1] * yy + u.snap[2] * yz) / specific
            turn[1] = (u.snap[0] * xx + u.snap[1] * xy + u.snap[2] * xz) / specific

    torque_from_rates(s, p, m, rates, turn, dt, torque)
    s.thrust_wanted = collective
    mix(s, p, collective, torque[0], torque[1], torque[2], w.lift)


@inlined
def coast(s, p, w):
    """Without a state: all rotors give the same thrust, a little below the weight. An old state would spin it."""
    s.controller_ran = 0
    s.thrust_wanted = BLIND_THRUST * p.mass * p.gravity
    mix(s, p, s.thrust_wanted, 0.0, 0.0, 0.0, w.lift)
