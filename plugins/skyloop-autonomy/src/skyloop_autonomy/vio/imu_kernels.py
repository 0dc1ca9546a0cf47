"""Integration of the IMU, with the transition and noise of the right-invariant error.

The error ξ of the state (R, v, p) is defined by true = exp(ξ)·estimated: R = exp(θ)·R̂, v = exp(θ)·v̂ + J·ξv,
p = exp(θ)·p̂ + J·ξp, all in world axes. With it the transition depends on the estimate only through the biases, so that
the four directions nobody can observe (position and heading) stay unobservable whatever the linearisation point is, and
the filter does not grow overconfident about them. The order is θ 0-2, ξv 3-5, ξp 6-8, gyro bias 9-11, accelerometer
bias 12-14.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math

import numpy as np
from numba import float64, types, void

from skyloop.core.jit import WHEN_CALLED, inlined, kernel

N_IMU = 15
TURN, VELOCITY, PLACE, GYRO_BIAS, ACCEL_BIAS = 0, 3, 6, 9, 12

_V = float64[::1]
_M = float64[:, ::1]


@inlined
def turn_matrix(x, y, z, out):
    """out = exp([x, y, z]×), the rotation by a rotation vector."""
    square = x * x + y * y + z * z
    angle = math.sqrt(square)
    if angle < 1e-5:
        a, b = 1.0 - square / 6.0, 0.5 - square / 24.0
    else:
        a, b = math.sin(angle) / angle, (1.0 - math.cos(angle)) / square
    out[0, 0], out[0, 1], out[0, 2] = 1.0 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y
    out[1, 0], out[1, 1], out[1, 2] = b * x * y + a * z, 1.0 - b * (x * x + z * z), b * y * z - a * x
    out[2, 0], out[2, 1], out[2, 2] = b * x * z - a * y, b * y * z + a * x, 1.0 - b * (x * x + y * y)


@inlined
def product(a, b, out):
    """out = a·b of 3 by 3 matrices; out is neither of them."""
    for i in range(3):
        for j in range(3):
            out[i, j] = a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j]


@inlined
def cross_times(v, m, sign, out, row, column):
    """out[row:, column:] = sign · [v]× m, for a 3 by 3 m."""
    for j in range(3):
        out[row, column + j] = sign * (v[1] * m[2, j] - v[2] * m[1, j])
        out[row + 1, column + j] = sign * (v[2] * m[0, j] - v[0] * m[2, j])
        out[row + 2, column + j] = sign * (v[0] * m[1, j] - v[1] * m[0, j])


@inlined
def _nominal_step(state, first, second, dt, gravity, middle):
    """One step between two samples of (gyro, accel); `middle` becomes the rotation half-way. Forces change linearly."""
    rotation, motion, biases = state
    w0x, w0y, w0z = first[0] - biases[0, 0], first[1] - biases[0, 1], first[2] - biases[0, 2]
    w1x, w1y, w1z = second[0] - biases[0, 0], second[1] - biases[0, 1], second[2] - biases[0, 2]
    # the mean rate, and the coning of rates that change direction
    c = dt * dt / 12.0
    tx = 0.5 * dt * (w0x + w1x) + c * (w0y * w1z - w0z * w1y)
    ty = 0.5 * dt * (w0y + w1y) + c * (w0z * w1x - w0x * w1z)
    tz = 0.5 * dt * (w0z + w1z) + c * (w0x * w1y - w0y * w1x)
    step, after = np.empty((3, 3)), np.empty((3, 3))
    turn_matrix(0.5 * tx, 0.5 * ty, 0.5 * tz, step)
    product(rotation, step, middle)
    product(middle, step, after)
    for i in range(3):
        a0 = a1 = 0.0
        for j in range(3):
            a0 += rotation[i, j] * (first[3 + j] - biases[1, j])
            a1 += after[i, j] * (second[3 + j] - biases[1, j])
        if i == 2:
            a0 -= gravity
            a1 -= gravity
        motion[1, i] += dt * motion[0, i] + dt * dt * (a0 / 3.0 + a1 / 6.0)
        motion[0, i] += 0.5 * dt * (a0 + a1)
    for i in range(3):
        for j in range(3):
            rotation[i, j] = after[i, j]


@inlined
def _transition(middle, velocity, position, dt, gravity, out):
    """out (15, 15) of one step; `middle` the rotation half-way, velocity and position those half-way as well."""
    for i in range(15):
        for j in range(15):
            out[i, j] = 1.0 if i == j else 0.0
    # [g]× with g = (0, 0, -gravity)
    out[3, 1], out[4, 0] = dt * gravity, -dt * gravity
    out[6, 1], out[7, 0] = 0.5 * dt * dt * gravity, -0.5 * dt * dt * gravity
    for i in range(3):
        out[6 + i, 3 + i] = dt
    cross_times(velocity, middle, -dt, out, 3, 9)
    cross_times(position, middle, -dt, out, 6, 9)
    for j in range(3):
        # the turn that a gyro bias has made by the middle of the step tilts gravity
        out[3, 9 + j] -= 0.5 * dt * dt * gravity * middle[1, j]
        out[4, 9 + j] += 0.5 * dt * dt * gravity * middle[0, j]
    for i in range(3):
        for j in range(3):
            out[i, 9 + j] = -dt * middle[i, j]
            out[3 + i, 12 + j] = -dt * middle[i, j]
            out[6 + i, 12 + j] = -0.5 * dt * dt * middle[i, j]


@inlined
def _add_noise(middle, velocity, position, dt, noise, q):
    """q += G·N·Gᵀ·dt; noise: variances of gyro, accel, gyro walk, accel walk per Hz."""
    g = np.zeros((9, 3))
    cross_times(velocity, middle, -1.0, g, 3, 0)
    cross_times(position, middle, -1.0, g, 6, 0)
    for i in range(3):
        for j in range(3):
            g[i, j] = -middle[i, j]
    for i in range(9):
        for j in range(9):
            q[i, j] += dt * noise[0] * (g[i, 0] * g[j, 0] + g[i, 1] * g[j, 1] + g[i, 2] * g[j, 2])
    for i in range(3):
        # the white force noise is isotropic, so its axes do not matter
        q[3 + i, 3 + i] += dt * noise[1]
        q[3 + i, 6 + i] += 0.5 * dt * dt * noise[1]
        q[6 + i, 3 + i] += 0.5 * dt * dt * noise[1]
        q[6 + i, 6 + i] += dt * dt * dt / 3.0 * noise[1]
        q[9 + i, 9 + i] += dt * noise[2]
        q[12 + i, 12 + i] += dt * noise[3]


@kernel(void(types.UniTuple(_M, 3), _M, float64, _V, types.UniTuple(_M, 2)), turn=WHEN_CALLED)
def integrate(state, samples, gravity, noise, out):
    """Moves state = (rotation, motion: velocity and position, biases) along `samples` (s, gyro, accel), in place.

    out = (transition, q), both (15, 15), become those of the whole way."""
    motion = state[1]
    transition, q = out
    middle, velocity, position = np.empty((3, 3)), np.empty(3), np.empty(3)
    step, held = np.empty((15, 15)), np.empty((15, 15))
    for i in range(15):
        for j in range(15):
            transition[i, j] = 1.0 if i == j else 0.0
            q[i, j] = 0.0
    for k in range(samples.shape[0] - 1):
        dt = samples[k + 1, 0] - samples[k, 0]
        if dt <= 0.0:
            continue
        for i in range(3):
            velocity[i], position[i] = motion[0, i], motion[1, i]
        _nominal_step(state, samples[k, 1:], samples[k + 1, 1:], dt, gravity, middle)
        for i in range(3):
            velocity[i] = 0.5 * (velocity[i] + motion[0, i])
            position[i] = 0.5 * (position[i] + motion[1, i])
        _transition(middle, velocity, position, dt, gravity, step)
        multiply(step, transition, held)
        transition[:, :] = held
        multiply(step, q, held)
        multiply_transposed(held, step, q)
        _add_noise(middle, velocity, position, dt, noise, q)


@inlined
def multiply(a, b, out):
    """out = a·b of square matrices; out is neither of them."""
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            out[i, j] = 0.0
        for k in range(n):
            f = a[i, k]
            if f != 0.0:
                for j in range(n):
                    out[i, j] += f * b[k, j]


@inlined
def multiply_transposed(a, b, out):
    """out = a·bᵀ of square matrices; out is neither of them."""
    n = a.shape[0]
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += a[i, k] * b[j, k]
            out[i, j] = total


@kernel(void(_M, _M, _M, _M), turn=WHEN_CALLED)
def carry(covariance, transition, q, out):
    """out = transition·covariance·transitionᵀ + q, all (15, 15)."""
    held = np.empty((15, 15))
    multiply(transition, covariance, held)
    multiply_transposed(held, transition, out)
    for i in range(15):
        for j in range(15):
            out[i, j] += q[i, j]
    for i in range(15):
        for j in range(i):
            mean = 0.5 * (out[i, j] + out[j, i])
            out[i, j] = out[j, i] = mean


@kernel(void(_M, _M, _M), turn=WHEN_CALLED)
def carry_all(covariance, transition, q):
    """The same for the whole covariance (n, n), whose first 15 rows are the IMU's; in place."""
    n = covariance.shape[0]
    block, out, across = np.empty((15, 15)), np.empty((15, 15)), np.empty((15, n))
    for i in range(15):
        for j in range(15):
            block[i, j] = covariance[i, j]
    carry(block, transition, q, out)
    for i in range(15):
        for j in range(n):
            across[i, j] = 0.0
        for k in range(15):
            f = transition[i, k]
            if f != 0.0:
                for j in range(15, n):
                    across[i, j] += f * covariance[k, j]
    for i in range(15):
        for j in range(15):
            covariance[i, j] = out[i, j]
        for j in range(15, n):
            covariance[i, j] = across[i, j]
            covariance[j, i] = across[i, j]


@kernel(void(_M, _M, _M, _M, _M), turn=WHEN_CALLED)
def ordinary_covariance(covariance, rotation, motion, levers, out):
    """From the invariant error of the IMU to the ordinary one of the body: position, velocity, turn, biases (15, 15).

    levers: rows are the body's origin from the IMU and the velocity that turning gives it, world axes."""
    t = np.zeros((15, 15))
    for i in range(3):
        t[i, 6 + i] = t[3 + i, 3 + i] = t[6 + i, i] = t[9 + i, 9 + i] = t[12 + i, 12 + i] = 1.0
    # δp = ξp + θ × p with p that of the body's origin, and likewise δv
    for block in range(2):
        x = motion[1 - block, 0] + levers[block, 0]
        y = motion[1 - block, 1] + levers[block, 1]
        z = motion[1 - block, 2] + levers[block, 2]
        row = 3 * block
        t[row, 1], t[row, 2] = z, -y
        t[row + 1, 0], t[row + 1, 2] = -z, x
        t[row + 2, 0], t[row + 2, 1] = y, -x
    held = np.empty((15, 15))
    multiply(t, covariance, held)
    multiply_transposed(held, t, out)
