"""The compiled corrections of the Kalman filter. `ekf_kernels` describes the layout of its states."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np
from numba import float64, int64, types

from skyloop.core.jit import inlined, kernel
from skyloop.vehicle.estimation.ekf_kernels import MATRIX, N_ERROR, VECTOR, exponential, floor_and_symmetrise, multiply


@inlined
def _apply_scalar(P, h, innovation, variance, gain_mask, ph, correction):
    """Applies one scalar measurement in Joseph's form, so that P stays a covariance with a masked (suboptimal) gain."""
    s = variance
    for i in range(N_ERROR):
        total = 0.0
        for j in range(N_ERROR):
            total += P[i, j] * h[j]
        ph[i] = total
    for i in range(N_ERROR):
        s += h[i] * ph[i]
        innovation -= h[i] * correction[i]
    for i in range(N_ERROR):
        k = gain_mask[i] * ph[i] / s
        correction[i] += k * innovation
        for j in range(i + 1):
            kj = gain_mask[j] * ph[j] / s
            value = P[i, j] - k * ph[j] - ph[i] * kj + s * k * kj
            P[i, j] = value
            P[j, i] = value


@inlined
def _inject(nominal, correction):
    for i in range(6):
        nominal[i] += correction[i]
    q = nominal[6:10]
    multiply(exponential(correction[6], correction[7], correction[8]), (q[0], q[1], q[2], q[3]), q)
    for i in range(7):
        nominal[10 + i] += correction[9 + i]


@inlined
def _worst_innovation(P, innovation, jacobian, variance):
    """The largest innovation, in sigmas; NaN if any value is not finite."""
    worst = 0.0
    for m in range(innovation.shape[0]):
        s = variance[m]
        for i in range(N_ERROR):
            if jacobian[m, i] != 0.0:
                for j in range(N_ERROR):
                    s += jacobian[m, i] * P[i, j] * jacobian[m, j]
        sigmas = abs(innovation[m]) / np.sqrt(s)
        if not np.isfinite(sigmas) or not np.isfinite(s):
            return np.nan
        worst = max(worst, sigmas)
    return worst


_MEASUREMENT = types.Tuple((VECTOR, MATRIX, VECTOR))
_PAST = types.Tuple((MATRIX, int64[::1], int64))


@kernel(float64(VECTOR, MATRIX, _MEASUREMENT, VECTOR, float64, _PAST))
def update(nominal, P, measurement, gain_mask, gate, past):
    """Applies scalar measurements one after another, or none of them if one is beyond `gate` sigmas.

    measurement: innovation, Jacobian and variance. past: the remembered motion of the antenna, its instants, and now.
    Returns the largest innovation in sigmas. The remembered motion is corrected too, or the next late fix would correct
    the same error again.
    """
    innovation, jacobian, variance = measurement
    ring, ring_t_ns, t_ns = past
    worst = _worst_innovation(P, innovation, jacobian, variance)
    if not worst <= gate:
        return worst
    ph, correction = np.empty(N_ERROR), np.zeros(N_ERROR)
    for m in range(innovation.shape[0]):
        _apply_scalar(P, jacobian[m], innovation[m], variance[m], gain_mask, ph, correction)
    floor_and_symmetrise(P)
    _inject(nominal, correction)
    for row in range(ring.shape[0]):
        age = (t_ns - ring_t_ns[row]) * 1e-9
        for i in range(3):
            ring[row, i] += correction[i] - age * correction[3 + i]
            ring[row, 3 + i] += correction[3 + i]
    return worst


@kernel(float64(MATRIX, int64[::1], int64, int64, VECTOR))
def recall(ring, ring_t_ns, count, t_ns, out):
    """Interpolates the ring at `t_ns` (or its nearest end) into `out`; returns the age in s."""
    size = ring.shape[0]
    newest = count - 1
    oldest = max(count - size, 0)
    after = newest
    while after - 1 > oldest and ring_t_ns[(after - 1) % size] >= t_ns:
        after -= 1
    before = max(after - 1, oldest)
    t0, t1 = ring_t_ns[before % size], ring_t_ns[after % size]
    share = min(max((t_ns - t0) / (t1 - t0), 0.0), 1.0) if t1 > t0 else 1.0
    for i in range(6):
        out[i] = (1.0 - share) * ring[before % size, i] + share * ring[after % size, i]
    return (ring_t_ns[newest % size] - t0 - share * (t1 - t0)) * 1e-9
