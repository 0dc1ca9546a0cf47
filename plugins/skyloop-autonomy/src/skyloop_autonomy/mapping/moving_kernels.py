"""Compiled code for objects that move: points where the map knows free space, their clusters, and images without them.

A cluster is a row: m² that its pixels cover, x and y of its middle, lowest and highest point, half of its width, all m
and world, and 1 if it touches the left or right edge of the image, otherwise 0.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float32, float64, int8, int32, int64, types, void

from skyloop.core.jit import inlined, kernel, record_type
from skyloop_autonomy.mapping.point_clouds import DEPTH, LENS, is_surface

AREA, MIDDLE_X, MIDDLE_Y, LOWEST, HIGHEST, HALF_WIDTH, AT_EDGE = range(7)
CLUSTER_COLUMNS = 7
POINT_COLUMNS = 5
"""x, y, z, the area of the pixel, and whether it is at the edge of the image."""
EDGE_SAMPLES = 2
"""Samples from the left or right edge of an image within which an object may be cut off."""

_MATRIX = types.Array(float64, 2, "C", readonly=True)


class OddLimits(NamedTuple):
    """Which pixels are looked at, and when a voxel counts as free."""

    near: float
    far: float
    edge: float
    low: float
    high: float
    """m, world, the heights between which points count."""
    stride: int
    free_below: int
    occupied_above: int


_LIMITS = record_type(
    OddLimits, near=float64, far=float64, edge=float64, low=float64, high=float64, stride=int64, free_below=int64,
    occupied_above=int64,
)  # fmt: skip


@inlined
def _is_in_the_open(counters, i, j, k, limits):
    """Whether a voxel is free and none around it is occupied: poses are not exact, so walls seem to move a little."""
    if counters[i, j, k] >= limits.free_below:
        return False
    nx, ny, nz = counters.shape
    for a in range(max(i - 1, 0), min(i + 2, nx)):
        for b in range(max(j - 1, 0), min(j + 2, ny)):
            for c in range(max(k - 1, 0), min(k + 2, nz)):
                if counters[a, b, c] > limits.occupied_above:
                    return False
    return True


@kernel(int64(DEPTH, LENS, _MATRIX, int8[:, :, :], types.UniTuple(float64, 4), _LIMITS, float64[:, ::1]))
def odd_points(depth, lens, m, counters, grid, given, out):
    """Fills `out` with the points in the open; returns how many.

    grid: x, y, z of the lower corner of the counters, and the edge of a voxel, m."""
    limits = OddLimits(*given)
    fx, fy, cx, cy = lens
    ox, oy, oz, cell = grid
    nx, ny, nz = counters.shape
    far_2, n, stride = limits.far * limits.far, 0, limits.stride
    for v in range(stride // 2, depth.shape[0], stride):
        y = (v - cy) / fy
        for u in range(stride // 2, depth.shape[1], stride):
            d = float64(depth[v, u])
            x = (u - cx) / fx
            if not (d > limits.near and d * d * (1.0 + x * x + y * y) <= far_2):
                continue
            pz = m[2, 3] + d * (m[2, 0] * x + m[2, 1] * y + m[2, 2])
            if pz < limits.low or pz > limits.high:
                continue
            px = m[0, 3] + d * (m[0, 0] * x + m[0, 1] * y + m[0, 2])
            py = m[1, 3] + d * (m[1, 0] * x + m[1, 1] * y + m[1, 2])
            i, j, k = int64(np.floor((px - ox) / cell)), int64(np.floor((py - oy) / cell)), int64((pz - oz) // cell)
            if not (0 <= i < nx and 0 <= j < ny and 0 <= k < nz):
                continue
            if not _is_in_the_open(counters, i, j, k, limits) or not is_surface(depth, v, u, limits.edge):
                continue
            out[n, 0], out[n, 1], out[n, 2] = px, py, pz
            out[n, 3] = (d * stride) ** 2 / (fx * fy)
            margin = EDGE_SAMPLES * stride
            out[n, 4] = 1.0 if u < margin or u >= depth.shape[1] - margin else 0.0
            n += 1
            if n == out.shape[0]:
                return n
    return n


@inlined
def _spread(labels, stack, i, j, label):
    """Labels all cells that are joined to (i, j); unlabelled ones are -1, empty ones -2."""
    side = labels.shape[0]
    stack[0], n = i * side + j, 1
    labels[i, j] = label
    while n > 0:
        n -= 1
        a, b = stack[n] // side, stack[n] % side
        for p in range(max(a - 1, 0), min(a + 2, side)):
            for q in range(max(b - 1, 0), min(b + 2, side)):
                if labels[p, q] == -1:
                    labels[p, q] = label
                    stack[n] = p * side + q
                    n += 1


@kernel(int64(float64[:, ::1], types.UniTuple(float64, 3), int32[:, ::1], int32[::1], float64[:, ::1]))
def clusters(points, window, labels, stack, out):
    """Fills `out` with the clusters of points that are neighbours seen from above; returns how many.

    window: x and y of the corner of the square cells, and their side, m."""
    x0, y0, cell = window
    side = labels.shape[0]
    labels[:] = -2
    for n in range(points.shape[0]):
        i, j = int64((points[n, 0] - x0) / cell), int64((points[n, 1] - y0) / cell)
        if 0 <= i < side and 0 <= j < side:
            labels[i, j] = -1
    count = 0
    for i in range(side):
        for j in range(side):
            if labels[i, j] == -1 and count < out.shape[0]:
                _spread(labels, stack, i, j, count)
                out[count] = 0.0
                out[count, LOWEST], out[count, HIGHEST] = np.inf, -np.inf
                count += 1
    for again in range(2):
        for n in range(points.shape[0]):
            i, j = int64((points[n, 0] - x0) / cell), int64((points[n, 1] - y0) / cell)
            if not (0 <= i < side and 0 <= j < side) or labels[i, j] < 0:
                continue
            row = out[labels[i, j]]
            if again == 0:
                row[AREA] += points[n, 3]
                row[MIDDLE_X] += points[n, 3] * points[n, 0]
                row[MIDDLE_Y] += points[n, 3] * points[n, 1]
                row[LOWEST], row[HIGHEST] = min(row[LOWEST], points[n, 2]), max(row[HIGHEST], points[n, 2])
                row[AT_EDGE] = max(row[AT_EDGE], points[n, 4])
            else:
                away = np.sqrt((points[n, 0] - row[MIDDLE_X]) ** 2 + (points[n, 1] - row[MIDDLE_Y]) ** 2)
                row[HALF_WIDTH] = max(row[HALF_WIDTH], away)
        if again == 0:
            for c in range(count):
                out[c, MIDDLE_X] /= out[c, AREA]
                out[c, MIDDLE_Y] /= out[c, AREA]
    return count


@inlined
def _extent(one, m, lens, width):
    """The first and the last + 1 column of an image in which an upright cylinder may be, and its depths there."""
    fx, _, cx, _ = lens
    first, end, least, most = width, 0, np.inf, -np.inf
    for height in range(2):
        dx, dy, dz = one[0] - m[0, 3], one[1] - m[1, 3], one[2 + height] - m[2, 3]
        right = m[0, 0] * dx + m[1, 0] * dy + m[2, 0] * dz
        ahead = m[0, 2] * dx + m[1, 2] * dy + m[2, 2] * dz
        nearest = ahead - one[4]
        least, most = min(least, nearest), max(most, ahead + one[4])
        if nearest < 0.2:
            if ahead + one[4] > 0.0:
                first, end = 0, width
            continue
        # the nearer side of the cylinder is farther from the middle of the image, be it left or right
        for side in (-one[4], one[4]):
            for depth in (nearest, ahead + one[4]):
                u = int64(cx + fx * (right + side) / depth)
                first, end = min(first, u - 1), max(end, u + 2)
    return max(first, 0), min(end, width), least, most


@kernel(void(float32[:, ::1], LENS, _MATRIX, float64[:, ::1]))
def erase_objects(depth, lens, m, objects):
    """Sets the pixels of objects to 0. An object is a row: x, y, lowest and highest point, radius; m, world."""
    fx, fy, cx, cy = lens
    for number in range(objects.shape[0]):
        one = objects[number]
        first, end, least, most = _extent(one, m, lens, depth.shape[1])
        for v in range(depth.shape[0]):
            y = (v - cy) / fy
            for u in range(first, end):
                d = float64(depth[v, u])
                if not (d > 0.0 and least <= d <= most):
                    continue
                x = (u - cx) / fx
                px = m[0, 3] + d * (m[0, 0] * x + m[0, 1] * y + m[0, 2]) - one[0]
                py = m[1, 3] + d * (m[1, 0] * x + m[1, 1] * y + m[1, 2]) - one[1]
                if px * px + py * py > one[4] * one[4]:
                    continue
                pz = m[2, 3] + d * (m[2, 0] * x + m[2, 1] * y + m[2, 2])
                if one[2] <= pz <= one[3]:
                    depth[v, u] = 0.0
