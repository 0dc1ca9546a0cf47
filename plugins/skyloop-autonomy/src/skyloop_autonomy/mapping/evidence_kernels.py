"""What one image or one sweep says about a box of voxels: where rays ended, and which voxels they passed.

`evidence` is flat: for voxel number o, [2o] counts pixels that ended there and [2o + 1] those that passed it. Positions
are in voxels from the lower corner of the box.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import boolean, float64, int8, int32, int64, types, void

from skyloop.core.jit import inlined, kernel, record_type
from skyloop_autonomy.mapping.point_clouds import DEPTH, LENS, is_surface

SIZE = types.UniTuple(int64, 3)


class ImageLimits(NamedTuple):
    """Which pixels count, as `Sight` has them."""

    near: float
    far: float
    reach: float
    """m, the range up to which a surface counts. Rays end at `far`, a diagonal of a voxel earlier: else the last voxels
    that they pass would be free although a surface behind them, out of range, is in the same voxel."""
    edge: float
    stride: int
    blank_is_far: bool


_LIMITS = record_type(
    ImageLimits, near=float64, far=float64, reach=float64, edge=float64, stride=int64, blank_is_far=boolean
)  # fmt: skip


class CountLimits(NamedTuple):
    """When a voxel is hit or missed by one image, and the limit of its counter."""

    hit_pixels: int
    hit_share: float
    miss_share: float
    limit: int


COUNT_LIMITS = record_type(CountLimits, hit_pixels=int64, hit_share=float64, miss_share=float64, limit=int64)


@inlined
def _clipped(start, along, n, enter, leave):
    """The part of a ray, as shares of its length, between 0 and n on one axis."""
    if along == 0.0:
        return (enter, leave) if 0.0 <= start < n else (1.0, 0.0)
    first, last = -start / along, (n - start) / along
    return max(enter, min(first, last)), min(leave, max(first, last))


@inlined
def _index(position, n):
    return min(max(int64(np.floor(position)), 0), n - 1)


@inlined
def _next_face(start, along, index):
    """The share of the ray at which it leaves the voxel `index` along one axis, and the share that a voxel takes."""
    if along > 0.0:
        return (index + 1 - start) / along, 1.0 / along
    if along < 0.0:
        return (index - start) / along, -1.0 / along
    return np.inf, np.inf


@inlined
def walk(evidence, size, start, end, weight):
    """Adds `weight` to the passes of every voxel from start to end. The last one counts only if the ray leaves the box
    there: a ray that ends in it, be it for lack of range, does not say that the rest of it is free.

    Each axis takes exactly as many steps as there are voxels between the two ends, so rounding cannot lead astray.
    """
    nx, ny, nz = size
    x, y, z = start
    dx, dy, dz = end[0] - x, end[1] - y, end[2] - z
    enter, leave = _clipped(x, dx, nx, 0.0, 1.0)
    enter, leave = _clipped(y, dy, ny, enter, leave)
    enter, leave = _clipped(z, dz, nz, enter, leave)
    if enter >= leave:
        return
    i, j, k = _index(x + enter * dx, nx), _index(y + enter * dy, ny), _index(z + enter * dz, nz)
    left_x = abs(_index(x + leave * dx, nx) - i)
    left_y = abs(_index(y + leave * dy, ny) - j)
    left_z = abs(_index(z + leave * dz, nz) - k)
    tx, step_x = _next_face(x, dx, i)
    ty, step_y = _next_face(y, dy, j)
    tz, step_z = _next_face(z, dz, k)
    stride_x, stride_y, stride_z = 2 * ny * nz, 2 * nz, 2
    stride_x, stride_y, stride_z = (
        stride_x if dx > 0.0 else -stride_x,
        stride_y if dy > 0.0 else -stride_y,
        stride_z if dz > 0.0 else -stride_z,
    )
    tx, ty, tz = tx if left_x else np.inf, ty if left_y else np.inf, tz if left_z else np.inf
    at = 2 * ((i * ny + j) * nz + k) + 1
    for _ in range(left_x + left_y + left_z):
        evidence[at] += weight
        if tx <= ty and tx <= tz:
            at += stride_x
            left_x -= 1
            tx = tx + step_x if left_x else np.inf
        elif ty <= tz:
            at += stride_y
            left_y -= 1
            ty = ty + step_y if left_y else np.inf
        else:
            at += stride_z
            left_z -= 1
            tz = tz + step_z if left_z else np.inf
    if leave < 1.0:
        evidence[at] += weight


@inlined
def _is_blank(depth, v, u, stride):
    """Whether no pixel around (v, u) has a value: random gaps are single pixels, what is out of range is large."""
    reach = max(stride // 2, 2)
    for row in range(max(v - reach, 0), min(v + reach + 1, depth.shape[0])):
        for column in range(max(u - reach, 0), min(u + reach + 1, depth.shape[1])):
            if depth[row, column] > 0.0:
                return False
    return True


@inlined
def _carve(depth, lens, m, limits, size, evidence):
    """One ray for each block of pixels, with the weight of the block."""
    fx, fy, cx, cy = lens
    start = (m[0, 3], m[1, 3], m[2, 3])
    stride = limits.stride
    for v in range(stride // 2, depth.shape[0], stride):
        y = (v - cy) / fy
        for u in range(stride // 2, depth.shape[1], stride):
            d = float64(depth[v, u])
            x = (u - cx) / fx
            furthest = limits.far / np.sqrt(1.0 + x * x + y * y)
            if d > limits.near:
                if d <= furthest and not is_surface(depth, v, u, limits.edge):
                    continue
            elif limits.blank_is_far and d == 0.0 and _is_blank(depth, v, u, stride):
                d = np.inf
            else:
                continue
            d = min(d, furthest)
            end = (
                start[0] + d * (m[0, 0] * x + m[0, 1] * y + m[0, 2]),
                start[1] + d * (m[1, 0] * x + m[1, 1] * y + m[1, 2]),
                start[2] + d * (m[2, 0] * x + m[2, 1] * y + m[2, 2]),
            )
            walk(evidence, size, start, end, stride * stride)


@kernel(void(DEPTH, LENS, float64[:, ::1], _LIMITS, SIZE, int32[::1]))
def image_evidence(depth, lens, voxels_from_camera, given, size, evidence):
    """Adds a depth image. Every pixel that counts is an end; rays are cast for one pixel in each block."""
    limits = ImageLimits(*given)
    fx, fy, cx, cy = lens
    nx, ny, nz = size
    m = voxels_from_camera
    far_2, per_px = limits.reach * limits.reach, 1.0 / fx
    for v in range(depth.shape[0]):
        y = (v - cy) / fy
        ax, ay, az = m[0, 1] * y + m[0, 2], m[1, 1] * y + m[1, 2], m[2, 1] * y + m[2, 2]
        for u in range(depth.shape[1]):
            d = float64(depth[v, u])
            x = (u - cx) * per_px
            if not (d > limits.near and d * d * (1.0 + x * x + y * y) <= far_2):
                continue
            px, py, pz = (
                m[0, 3] + d * (m[0, 0] * x + ax),
                m[1, 3] + d * (m[1, 0] * x + ay),
                m[2, 3] + d * (m[2, 0] * x + az),
            )
            if not (0.0 <= px < nx and 0.0 <= py < ny and 0.0 <= pz < nz):
                continue
            if is_surface(depth, v, u, limits.edge):
                evidence[2 * ((int64(px) * ny + int64(py)) * nz + int64(pz))] += 1
    _carve(depth, lens, m, limits, size, evidence)


@kernel(
    void(
        types.Array(float64, 2, "C", readonly=True),
        types.Array(float64, 2, "C", readonly=True),
        float64,
        SIZE,
        int32[::1],
    )
)
def cloud_evidence(points, origins, furthest, size, evidence):
    """Adds points and the rays to them, in voxels. One origin for all, or one for each; beyond `furthest` no end."""
    nx, ny, nz = size
    for number in range(points.shape[0]):
        row = number if origins.shape[0] > 1 else 0
        start = (origins[row, 0], origins[row, 1], origins[row, 2])
        dx, dy, dz = points[number, 0] - start[0], points[number, 1] - start[1], points[number, 2] - start[2]
        length = np.sqrt(dx * dx + dy * dy + dz * dz)
        if not (0.0 < length < np.inf):
            continue
        share = min(furthest / length, 1.0)
        end = (start[0] + share * dx, start[1] + share * dy, start[2] + share * dz)
        walk(evidence, size, start, end, 1)
        if share == 1.0 and 0.0 <= end[0] < nx and 0.0 <= end[1] < ny and 0.0 <= end[2] < nz:
            evidence[2 * ((int64(end[0]) * ny + int64(end[1])) * nz + int64(end[2]))] += 1


@inlined
def verdict(hits, passes, limits):
    """1 for a hit, -1 for a miss, 0 for nothing."""
    if hits >= limits.hit_pixels and hits >= limits.hit_share * (hits + passes):
        return 1
    return -1 if passes > 0 and hits <= limits.miss_share * (hits + passes) else 0


@kernel(void(int32[::1], COUNT_LIMITS, int8[::1]))
def count(evidence, given, counters):
    """Moves each counter by what the image said, and empties the evidence."""
    limits = CountLimits(*given)
    for o in range(counters.shape[0]):
        hits, passes = evidence[2 * o], evidence[2 * o + 1]
        if hits == 0 and passes == 0:
            continue
        evidence[2 * o] = evidence[2 * o + 1] = 0
        moved = int64(counters[o]) + verdict(hits, passes, limits)
        counters[o] = min(max(moved, -limits.limit), limits.limit)


_POOL = types.Array(int8, 2, "C")


@kernel(void(int32[::1], types.Array(int32, 3, "C"), COUNT_LIMITS, _POOL, int64))
def count_in_blocks(evidence, slots, given, pool, side):
    """The same for a map in cubic blocks: slots says in which row of the pool each block of the box is, -1 for none."""
    limits = CountLimits(*given)
    ny, nz = slots.shape[1] * side, slots.shape[2] * side
    for bi in range(slots.shape[0]):
        for bj in range(slots.shape[1]):
            for bk in range(slots.shape[2]):
                slot = slots[bi, bj, bk]
                if slot < 0:
                    continue
                for i in range(side):
                    for j in range(side):
                        row = ((bi * side + i) * ny + bj * side + j) * nz + bk * side
                        inside = (i * side + j) * side
                        for k in range(side):
                            hits, passes = evidence[2 * (row + k)], evidence[2 * (row + k) + 1]
                            if hits == 0 and passes == 0:
                                continue
                            evidence[2 * (row + k)] = evidence[2 * (row + k) + 1] = 0
                            moved = int64(pool[slot, inside + k]) + verdict(hits, passes, limits)
                            pool[slot, inside + k] = min(max(moved, -limits.limit), limits.limit)


@kernel(void(int32[::1], boolean[:, :, ::1], int64))
def touched_blocks(evidence, touched, side):
    """Sets which blocks of the box any ray met."""
    ny, nz = touched.shape[1] * side, touched.shape[2] * side
    for i in range(touched.shape[0] * side):
        for j in range(ny):
            row = (i * ny + j) * nz
            for bk in range(touched.shape[2]):
                if touched[i // side, j // side, bk]:
                    continue
                for o in range(2 * (row + bk * side), 2 * (row + (bk + 1) * side)):
                    if evidence[o] != 0:
                        touched[i // side, j // side, bk] = True
                        break
