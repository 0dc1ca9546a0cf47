"""The compiled arithmetic of the error-state Kalman filter.

Nominal state (17): position 0:3, velocity 3:6, quat_wxyz 6:10, gyro bias 10:13, accel bias 13:16, baro 16.
Error state (16): position 0:3, velocity 3:6, attitude 6:9, gyro bias 9:12, accel bias 12:15, baro 15.
The attitude error is a rotation vector in world axes, R_true = exp(error) R, so element 8 is the heading error.
Position and velocity are those of the IMU, not of the body's origin, so no angular acceleration is needed.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int64, void

from skyloop.core.jit import WHEN_CALLED, inlined, kernel, record_type
from skyloop_client.messages import Array

N_NOMINAL = 17
N_ERROR = 16
N_OUTPUT = 22
"""Position 3, velocity 3, quat_wxyz 4, body rates 3, then the sd of position, velocity and attitude."""

# Indices into the `noise` array: squared densities, then gravity and the uncertainty that an IMU gap adds.
(GYRO_DENSITY, ACCEL_DENSITY, GYRO_WALK, ACCEL_WALK, BAROMETER_WALK, GRAVITY, GAP_LIMIT, GAP_RATE, GAP_ACCEL) = range(9)

_SUBSTEP = 0.02
_FLOOR_POSITION = 1e-6
_FLOOR_VELOCITY = 1e-6
_FLOOR_ATTITUDE = 1e-10
_FLOOR_GYRO_BIAS = 1e-12
_FLOOR_ACCEL_BIAS = 1e-8
_FLOOR_BAROMETER = 1e-6


@inlined
def _matrix(q, R):
    w, x, y, z = q[0], q[1], q[2], q[3]
    R[0, 0] = 1.0 - 2.0 * (y * y + z * z)
    R[0, 1] = 2.0 * (x * y - w * z)
    R[0, 2] = 2.0 * (x * z + w * y)
    R[1, 0] = 2.0 * (x * y + w * z)
    R[1, 1] = 1.0 - 2.0 * (x * x + z * z)
    R[1, 2] = 2.0 * (y * z - w * x)
    R[2, 0] = 2.0 * (x * z - w * y)
    R[2, 1] = 2.0 * (y * z + w * x)
    R[2, 2] = 1.0 - 2.0 * (x * x + y * y)


@inlined
def exponential(x, y, z):
    """The quaternion of a rotation vector."""
    angle = np.sqrt(x * x + y * y + z * z)
    scale = 0.5 - angle * angle / 48.0 if angle < 1e-4 else np.sin(0.5 * angle) / angle
    return np.cos(0.5 * angle), scale * x, scale * y, scale * z


@inlined
def multiply(a, b, out):
    """The product of two quaternions (w, x, y, z), of unit length, into `out`."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    w = aw * bw - ax * bx - ay * by - az * bz
    x = aw * bx + ax * bw + ay * bz - az * by
    y = aw * by - ax * bz + ay * bw + az * bx
    z = aw * bz + ax * by - ay * bx + az * bw
    scale = 1.0 / np.sqrt(w * w + x * x + y * y + z * z)
    out[0] = w * scale
    out[1] = x * scale
    out[2] = y * scale
    out[3] = z * scale


@inlined
def floor_and_symmetrise(P):
    for i in range(N_ERROR):
        for j in range(i):
            mean = 0.5 * (P[i, j] + P[j, i])
            P[i, j] = mean
            P[j, i] = mean
    for i in range(3):
        P[i, i] = max(P[i, i], _FLOOR_POSITION)
        P[3 + i, 3 + i] = max(P[3 + i, 3 + i], _FLOOR_VELOCITY)
        P[6 + i, 6 + i] = max(P[6 + i, 6 + i], _FLOOR_ATTITUDE)
        P[9 + i, 9 + i] = max(P[9 + i, 9 + i], _FLOOR_GYRO_BIAS)
        P[12 + i, 12 + i] = max(P[12 + i, 12 + i], _FLOOR_ACCEL_BIAS)
    P[15, 15] = max(P[15, 15], _FLOOR_BAROMETER)


@inlined
def _propagate_covariance(P, R, f, dt, noise):
    """P <- F P F' + Q with F = 1 + A dt. Only the non-zero blocks of A are used, first on rows, then on columns."""
    for j in range(N_ERROR):
        t0, t1, t2 = P[6, j], P[7, j], P[8, j]
        for i in range(3):
            P[i, j] += dt * P[3 + i, j]
        P[3, j] += dt * (f[2] * t1 - f[1] * t2)
        P[4, j] += dt * (f[0] * t2 - f[2] * t0)
        P[5, j] += dt * (f[1] * t0 - f[0] * t1)
        for i in range(3):
            P[3 + i, j] -= dt * (R[i, 0] * P[12, j] + R[i, 1] * P[13, j] + R[i, 2] * P[14, j])
            P[6 + i, j] -= dt * (R[i, 0] * P[9, j] + R[i, 1] * P[10, j] + R[i, 2] * P[11, j])
    for j in range(N_ERROR):
        t0, t1, t2 = P[j, 6], P[j, 7], P[j, 8]
        for i in range(3):
            P[j, i] += dt * P[j, 3 + i]
        P[j, 3] += dt * (f[2] * t1 - f[1] * t2)
        P[j, 4] += dt * (f[0] * t2 - f[2] * t0)
        P[j, 5] += dt * (f[1] * t0 - f[0] * t1)
        for i in range(3):
            P[j, 3 + i] -= dt * (R[i, 0] * P[j, 12] + R[i, 1] * P[j, 13] + R[i, 2] * P[j, 14])
            P[j, 6 + i] -= dt * (R[i, 0] * P[j, 9] + R[i, 1] * P[j, 10] + R[i, 2] * P[j, 11])
    for i in range(3):
        P[3 + i, 3 + i] += noise[ACCEL_DENSITY] * dt
        P[6 + i, 6 + i] += noise[GYRO_DENSITY] * dt
        P[9 + i, 9 + i] += noise[GYRO_WALK] * dt
        P[12 + i, 12 + i] += noise[ACCEL_WALK] * dt
    P[15, 15] += noise[BAROMETER_WALK] * dt
    floor_and_symmetrise(P)


VECTOR = float64[::1]
MATRIX = float64[:, ::1]


@kernel(void(VECTOR, MATRIX, VECTOR, VECTOR, float64, VECTOR), turn=WHEN_CALLED)
def predict(nominal, covariance, gyro, accel, dt, noise):
    """Propagates state and covariance over `dt` with one body-axes measurement, the mean of the interval."""
    wx = (gyro[0] - nominal[10]) * dt
    wy = (gyro[1] - nominal[11]) * dt
    wz = (gyro[2] - nominal[12]) * dt
    q = nominal[6:10]
    middle = np.empty(4)
    multiply((q[0], q[1], q[2], q[3]), exponential(0.5 * wx, 0.5 * wy, 0.5 * wz), middle)
    R = np.empty((3, 3))
    _matrix(middle, R)
    f = np.empty(3)
    for i in range(3):
        f[i] = (
            R[i, 0] * (accel[0] - nominal[13]) + R[i, 1] * (accel[1] - nominal[14]) + R[i, 2] * (accel[2] - nominal[15])
        )
    for i in range(3):
        a = f[i] - noise[GRAVITY] if i == 2 else f[i]
        nominal[i] += dt * (nominal[3 + i] + 0.5 * dt * a)
        nominal[3 + i] += dt * a
    multiply((q[0], q[1], q[2], q[3]), exponential(wx, wy, wz), q)
    _propagate_covariance(covariance, R, f, dt, noise)


@inlined
def _inflate_for_gap(P, gap, noise):
    """Raises the covariance after `gap` s without a sample, for the rate and acceleration that were missed."""
    for i in range(3):
        P[i, i] += (0.5 * noise[GAP_ACCEL] * gap * gap) ** 2
        P[3 + i, 3 + i] += (noise[GAP_ACCEL] * gap) ** 2
        P[6 + i, 6 + i] += min((noise[GAP_RATE] * gap) ** 2, 1.0)


@inlined
def _write_motion(nominal, R, rates, levers, antenna, out):
    """Writes the motion of the body origin to `out` and that of the antenna to `antenna`; levers start at the IMU."""
    for k in range(2):
        lx, ly, lz = levers[k, 0], levers[k, 1], levers[k, 2]
        tx = rates[1] * lz - rates[2] * ly
        ty = rates[2] * lx - rates[0] * lz
        tz = rates[0] * ly - rates[1] * lx
        target = out if k == 0 else antenna
        for i in range(3):
            target[i] = nominal[i] + R[i, 0] * lx + R[i, 1] * ly + R[i, 2] * lz
            target[3 + i] = nominal[3 + i] + R[i, 0] * tx + R[i, 1] * ty + R[i, 2] * tz
    for i in range(4):
        out[6 + i] = nominal[6 + i]
    for i in range(3):
        out[10 + i] = rates[i]


@inlined
def _write_sds(P, offset_variance, out):
    for i in range(3):
        out[13 + i] = np.sqrt(P[i, i] + offset_variance[i])
        out[16 + i] = np.sqrt(P[3 + i, 3 + i])
        out[19 + i] = np.sqrt(P[6 + i, 6 + i])


class Remembered(NamedTuple):
    """The part of a filter's state that changes with every IMU sample."""

    nominal: Array
    covariance: Array
    last_imu: Array
    """(6,) the previous sample, body axes."""
    ring: Array
    """(n, 6) position and velocity of the antenna at past samples."""
    offset_variance: Array
    """(3,) m², the variance of the slow part of the GNSS error."""


class Fitted(NamedTuple):
    """How a filter's sensors are mounted on the body, and how well they measure."""

    body_from_imu: Array
    levers: Array
    """(2, 3) m, body axes, from the IMU to the body's origin and to the antenna."""
    noise: Array
    """Indexed by the constants at the top of this file."""


_REMEMBERED = record_type(
    Remembered, nominal=VECTOR, covariance=MATRIX, last_imu=VECTOR, ring=MATRIX, offset_variance=VECTOR
)
_FITTED = record_type(Fitted, body_from_imu=MATRIX, levers=MATRIX, noise=VECTOR)


@kernel(void(_REMEMBERED, _FITTED, VECTOR, float64, int64, VECTOR))
def advance(memory, fitted, sample, dt, row, out):
    """Processes one IMU sample (gyro, accel; sensor axes): predicts up to it and outputs the motion of the body.

    Samples are instantaneous, so the mean of the last and the new one stands for the interval between them. The new
    sample is written to `last_imu`, and the antenna's position and velocity to `ring[row]`.
    """
    nominal, P, last, ring, offset_variance = memory
    body_from_imu, levers, noise = fitted
    gyro, accel, rates = np.empty(3), np.empty(3), np.empty(3)
    for i in range(3):
        w = body_from_imu[i, 0] * sample[0] + body_from_imu[i, 1] * sample[1] + body_from_imu[i, 2] * sample[2]
        a = body_from_imu[i, 0] * sample[3] + body_from_imu[i, 1] * sample[4] + body_from_imu[i, 2] * sample[5]
        gyro[i] = 0.5 * (last[i] + w)
        accel[i] = 0.5 * (last[3 + i] + a)
        last[i] = w
        last[3 + i] = a
        rates[i] = w - nominal[10 + i]
    if dt > 0.0:
        steps = int(np.ceil(dt / _SUBSTEP - 1e-9))
        for _ in range(steps):
            predict(nominal, P, gyro, accel, dt / steps, noise)
        if dt > noise[GAP_LIMIT]:
            _inflate_for_gap(P, dt, noise)
    R = np.empty((3, 3))
    _matrix(nominal[6:10], R)
    _write_motion(nominal, R, rates, levers, ring[row], out)
    _write_sds(P, offset_variance, out)


@kernel(void(VECTOR, MATRIX))
def world_from_body(nominal, out):
    _matrix(nominal[6:10], out)
