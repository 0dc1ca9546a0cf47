"""The algebra of the filter: rows of a measurement into the covariance, columns in and out of it.

Rows are whitened, so their noise is one. A row names the columns in which it is not zero. Loops run along rows of
memory and in one fixed order, so they are fast without threads and give the same bytes every time.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math

import numpy as np
from numba import boolean, float64, int64, void

from skyloop.core.jit import WHEN_CALLED, inlined, kernel

_V = float64[::1]
_M = float64[:, ::1]
_I = int64[::1]
_IM = int64[:, ::1]


@inlined
def chi_square_limit(dof, sigmas):
    """What a sum of `dof` squares exceeds as seldom as one normal number exceeds `sigmas` (Wilson and Hilferty)."""
    a = 2.0 / (9.0 * dof)
    c = 1.0 - a + sigmas * math.sqrt(a)
    return dof * c * c * c


@kernel(float64(float64, float64), turn=WHEN_CALLED)
def gate_limit(dof, sigmas):
    return chi_square_limit(dof, sigmas)


@inlined
def doubt(distance, dof):
    """A factor of at most 1 on the rows of a corner whose squared distance is larger than usual (Huber).

    Errors of corners have long tails: most are small, some are ten times as large. Without it those few decide."""
    usual = chi_square_limit(dof, 1.0)
    return 1.0 if distance <= usual else math.sqrt(usual / distance)


@kernel(float64(float64, float64), turn=WHEN_CALLED)
def doubt_factor(distance, dof):
    return doubt(distance, dof)


@inlined
def _factor(s):
    """s becomes its lower Cholesky factor; False if it is not positive."""
    n = s.shape[0]
    for j in range(n):
        total = s[j, j]
        for k in range(j):
            total -= s[j, k] * s[j, k]
        if not total > 0.0:
            return False
        root = math.sqrt(total)
        s[j, j] = root
        for i in range(j + 1, n):
            value = s[i, j]
            for k in range(j):
                value -= s[i, k] * s[j, k]
            s[i, j] = value / root
    return True


@inlined
def _add_weighted_rows(covariance, columns, weights, out):
    """Adds to `out` the rows of the covariance that `columns` names, each times its weight."""
    for a in range(weights.shape[0]):
        f = weights[a]
        if f != 0.0:
            row = columns[a]
            for j in range(out.shape[0]):
                out[j] += f * covariance[row, j]


@inlined
def _whiten(s, across, residuals, weighted):
    """Solves with the triangle `s`: `across` in place, the residuals into `weighted`."""
    m, n = across.shape
    for i in range(m):
        value = residuals[i]
        for k in range(i):
            f = s[i, k]
            value -= f * weighted[k]
            for j in range(n):
                across[i, j] -= f * across[k, j]
        inverse = 1.0 / s[i, i]
        weighted[i] = value * inverse
        for j in range(n):
            across[i, j] *= inverse


@kernel(float64(_M, _IM, _M, _V), turn=WHEN_CALLED)
def squared_distance(covariance, columns, values, residuals):
    """rᵀ (H P Hᵀ + 1)⁻¹ r; infinite if the covariance is not positive."""
    m, width = values.shape
    s = np.empty((m, m))
    for i in range(m):
        for j in range(i + 1):
            total = 0.0
            for a in range(width):
                f = values[i, a]
                if f != 0.0:
                    row = columns[i, a]
                    inner = 0.0
                    for b in range(width):
                        inner += covariance[row, columns[j, b]] * values[j, b]
                    total += f * inner
            s[i, j] = total + (1.0 if i == j else 0.0)
    if not _factor(s):
        return np.inf
    distance = 0.0
    held = np.empty(m)
    for i in range(m):
        value = residuals[i]
        for k in range(i):
            value -= s[i, k] * held[k]
        held[i] = value / s[i, i]
        distance += held[i] * held[i]
    return distance


@kernel(boolean(_M, _IM, _M, _V, _V), turn=WHEN_CALLED)
def update(covariance, columns, values, residuals, change):
    """The Kalman update: covariance in place, `change` (n,) how far to move the state. False: nothing was done."""
    n = covariance.shape[0]
    m, width = values.shape
    across = np.zeros((m, n))
    for i in range(m):
        _add_weighted_rows(covariance, columns[i], values[i], across[i])
    s = np.empty((m, m))
    for i in range(m):
        for j in range(i + 1):
            total = 1.0 if i == j else 0.0
            for a in range(width):
                total += across[i, columns[j, a]] * values[j, a]
            s[i, j] = total
    if not _factor(s):
        return False
    weighted = np.empty(m)
    _whiten(s, across, residuals, weighted)
    for j in range(n):
        change[j] = 0.0
    for i in range(m):
        for j in range(n):
            change[j] += across[i, j] * weighted[i]
    # P -= WᵀW, the upper triangle, a few rows of W at a time
    for i in range(n):
        for k in range(m):
            f = across[k, i]
            for j in range(i, n):
                covariance[i, j] -= f * across[k, j]
    for i in range(n):
        for j in range(i):
            covariance[i, j] = covariance[j, i]
    return True


@kernel(_M(_M, _I), turn=WHEN_CALLED)
def gathered(covariance, chosen):
    """The covariance of the chosen states, in that order; a state may be chosen twice, which makes a copy of it."""
    n = chosen.shape[0]
    out = np.empty((n, n))
    for i in range(n):
        row = chosen[i]
        for j in range(n):
            out[i, j] = covariance[row, chosen[j]]
    return out


@kernel(void(_M, _IM, _M, int64), turn=WHEN_CALLED)
def replace_point(covariance, columns, jacobian, first):
    """States first … first + 2 become `jacobian` (3, 15) times the states in `columns` (1, 15); in place."""
    n = covariance.shape[0]
    rows = np.zeros((3, n))
    for i in range(3):
        _add_weighted_rows(covariance, columns[0], jacobian[i], rows[i])
    block = np.zeros((3, 3))
    for i in range(3):
        for k in range(3):
            for a in range(15):
                block[i, k] += rows[i, columns[0, a]] * jacobian[k, a]
    for i in range(3):
        for j in range(n):
            covariance[first + i, j] = rows[i, j]
            covariance[j, first + i] = rows[i, j]
    for i in range(3):
        for k in range(3):
            covariance[first + i, first + k] = 0.5 * (block[i, k] + block[k, i])


@kernel(_M(_M, _I, _M, _M, _V, _V), turn=WHEN_CALLED)
def with_point(covariance, columns, by_states, by_point, residuals, change):
    """The covariance with a new point behind it, of which is known: residual = by_states·x + by_point·δ + noise of 1.

    by_point is upper triangular. `change` (3,) is what the point is to be moved by."""
    n = covariance.shape[0]
    width = columns.shape[0]
    inverse = np.zeros((3, 3))
    for c in range(3):
        for i in range(2, -1, -1):
            value = 1.0 if i == c else 0.0
            for k in range(i + 1, 3):
                value -= by_point[i, k] * inverse[k, c]
            inverse[i, c] = value / by_point[i, i]
    gain = np.zeros((3, width))
    for i in range(3):
        change[i] = 0.0
        for k in range(3):
            change[i] += inverse[i, k] * residuals[k]
            for a in range(width):
                gain[i, a] -= inverse[i, k] * by_states[k, a]
    out = np.empty((n + 3, n + 3))
    for i in range(n):
        for j in range(n):
            out[i, j] = covariance[i, j]
    rows = np.zeros((3, n))
    for i in range(3):
        _add_weighted_rows(covariance, columns, gain[i], rows[i])
    for i in range(3):
        for j in range(n):
            out[n + i, j] = out[j, n + i] = rows[i, j]
        for k in range(3):
            total = 0.0
            for a in range(width):
                total += rows[i, columns[a]] * gain[k, a]
            for a in range(3):
                total += inverse[i, a] * inverse[k, a]
            out[n + i, n + k] = total
    return out


@kernel(int64(_M, _V), turn=WHEN_CALLED)
def compress(values, residuals):
    """QR of the rows in place: afterwards the first rows, whose number it returns, hold all that they tell."""
    m, n = values.shape
    if m <= n:
        return m
    v, held = np.empty(m), np.empty(n)
    for c in range(n):
        norm = 0.0
        for i in range(c, m):
            norm += values[i, c] * values[i, c]
        norm = math.sqrt(norm)
        if norm < 1e-14:
            continue
        alpha = -norm if values[c, c] > 0.0 else norm
        square = 0.0
        for i in range(c, m):
            v[i] = values[i, c] - (alpha if i == c else 0.0)
            square += v[i] * v[i]
        f = 2.0 / square
        dot = 0.0
        for j in range(c, n):
            held[j] = 0.0
        for i in range(c, m):
            dot += v[i] * residuals[i]
            for j in range(c, n):
                held[j] += v[i] * values[i, j]
        for i in range(c, m):
            w = f * v[i]
            residuals[i] -= w * dot
            for j in range(c, n):
                values[i, j] -= w * held[j]
    return n
