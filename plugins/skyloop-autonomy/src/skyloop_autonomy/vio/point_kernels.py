"""The rows of all points in the state that the newest pose sees, each tested before it counts."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import float64, int64, types, uint8

from skyloop.core.jit import WHEN_CALLED, kernel
from skyloop_autonomy.vio.measurement_kernels import RIG, STEREO, Rig, look
from skyloop_autonomy.vio.update_kernels import chi_square_limit, doubt, squared_distance

_V = float64[::1]
_M = float64[:, ::1]
UNSEEN, TAKEN, REFUSED = 0, 1, 2


@kernel(
    int64(
        types.Tuple((float64[:, :, ::1], _M)), types.Tuple((_M, int64[::1])), types.Tuple((_M, uint8[::1])), RIG, _M,
        types.UniTuple(float64, 2), types.Tuple((int64[:, ::1], _M, _V, uint8[::1])),
    ),
    turn=WHEN_CALLED,
)  # fmt: skip
def point_rows(poses, state, seen, rig_fields, covariance, limits, out):
    """Writes whitened rows (columns, values, residuals) and what became of each point; returns the number of rows.

    state: points and anchors; seen: rows and what is known at the newest pose; limits: gate in sigmas, least inverse
    depth."""
    rig = Rig(*rig_fields)
    points, anchors = state
    rows, known = seen
    columns, values, residuals, fate = out
    observer = poses[1].shape[0] - 1
    first_point = 15 + 6 * (observer + 1)
    z, by_pose, by_point = np.empty(3), np.empty((3, 12)), np.empty((3, 3))
    m = 0
    for k in range(points.shape[0]):
        fate[k] = UNSEEN
        if known[k] == 0:
            continue
        if not look((anchors[k], observer), poses, points[k], rig, (z, by_pose, by_point)):
            fate[k] = REFUSED
            continue
        count = 3 if known[k] == STEREO else 2
        for i in range(count):
            w = rig.weights[i]
            for j in range(6):
                columns[m + i, j] = 15 + 6 * anchors[k] + j
                columns[m + i, 6 + j] = 15 + 6 * observer + j
                values[m + i, j] = w * by_pose[i, j]
                values[m + i, 6 + j] = w * by_pose[i, 6 + j]
            for j in range(3):
                columns[m + i, 12 + j] = first_point + 3 * k + j
                values[m + i, 12 + j] = w * by_point[i, j]
            residuals[m + i] = w * (rows[k, i] - z[i])
        end = m + count
        distance = squared_distance(covariance, columns[m:end], values[m:end], residuals[m:end])
        if distance <= chi_square_limit(count, limits[0]) and points[k, 2] > limits[1]:
            fate[k] = TAKEN
            scale = doubt(distance, count)
            for i in range(m, end):
                residuals[i] *= scale
                for j in range(15):
                    values[i, j] *= scale
            m = end
        else:
            fate[k] = REFUSED
    return m
