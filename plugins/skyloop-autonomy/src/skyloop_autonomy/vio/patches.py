"""Small pieces of an image: cut out once, and found again in later images although they have been warped since.

A patch is found by the affine warp that brings the image onto it (Lucas and Kanade; inverse compositional, so that
what depends on the patch alone is computed once). Differences of brightness and contrast are taken out.

Following a patch from image to image adds a small error each time, so that a corner slides over the surface like a
random walk. A filter that takes these errors for independent ones is far too sure of itself. Comparison with the first
patch ends that: the errors do not add up. The patch is cut again only when it is seen much larger, smaller or more
slanted than at first.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numba import float32, float64, int64, types, uint8, void
from numpy.typing import NDArray

from skyloop.core.jit import WHEN_CALLED, inlined, kernel
from skyloop_client.messages import Array

Patches: TypeAlias = tuple[NDArray[np.floating], ...]
"""See `cut_patches`."""
_V = float64[::1]
_M = float64[:, ::1]
_CUBE = float64[:, :, ::1]
_PATCHES = types.Tuple((float32[:, :, ::1], float32[:, :, :, ::1], _CUBE))
_IMAGE = types.Array(uint8, 2, "C", readonly=True)
_DAMPING = 1e-3
"""Of the diagonal, so that a weak patch does not shear at will."""
_LEAST_ENERGY = 1.0
"""Squared grey values below which a patch has no contrast."""
_MOST_GAIN = 2.0
"""By how much the contrast may have changed."""
_SETTLED_PX, _SETTLED_SHEAR = 0.01, 0.004
"""The step below which the search has come to its end."""


@inlined
def _window(image, x0, y0, out):
    """out = the part of the image that begins at (x0, y0), between pixels; False if it is not inside."""
    rows, columns = out.shape
    ix, iy = math.floor(x0), math.floor(y0)
    if ix < 0 or iy < 0 or ix + columns + 1 > image.shape[1] or iy + rows + 1 > image.shape[0]:
        return False
    fx, fy = x0 - ix, y0 - iy
    for r in range(rows):
        for c in range(columns):
            above = (1.0 - fx) * image[iy + r, ix + c] + fx * image[iy + r, ix + c + 1]
            below = (1.0 - fx) * image[iy + r + 1, ix + c] + fx * image[iy + r + 1, ix + c + 1]
            out[r, c] = (1.0 - fy) * above + fy * below
    return True


@inlined
def _derivatives(gx, gy, x, y, out):
    """Of a grey value by the shift and by the four parts of the warp."""
    out[0], out[1] = gx, gy
    out[2], out[3], out[4], out[5] = gx * x, gx * y, gy * x, gy * y


@kernel(void(_IMAGE, _M, _PATCHES, uint8[::1]), turn=WHEN_CALLED)
def cut_patches(image, positions, patches, good):
    """Cuts patches around `positions` (n, 2) px. patches = (grey values less their mean (n, side, side), their slopes
    in x and y (n, 2, side, side), inverse of the normal matrix (n, 6, 6)); good: whether each was cut."""
    values, slopes, inverse = patches
    side = values.shape[1]
    half, count = side // 2, side * side
    wide, by_warp, sums = np.empty((side + 2, side + 2)), np.empty(6), np.empty(6)
    for k in range(positions.shape[0]):
        good[k] = 0
        if not _window(image, positions[k, 0] - half - 1, positions[k, 1] - half - 1, wide):
            continue
        mean = 0.0
        for r in range(side):
            for c in range(side):
                mean += wide[r + 1, c + 1] / count
        normal = np.zeros((6, 6))
        sums[:] = 0.0
        for r in range(side):
            for c in range(side):
                values[k, r, c] = wide[r + 1, c + 1] - mean
                gx, gy = 0.5 * (wide[r + 1, c + 2] - wide[r + 1, c]), 0.5 * (wide[r + 2, c + 1] - wide[r, c + 1])
                slopes[k, 0, r, c], slopes[k, 1, r, c] = gx, gy
                _derivatives(gx, gy, c - half, r - half, by_warp)
                for a in range(6):
                    sums[a] += by_warp[a]
                    for b in range(6):
                        normal[a, b] += by_warp[a] * by_warp[b]
        for a in range(6):
            for b in range(6):
                # the mean brightness is fitted too
                normal[a, b] -= sums[a] * sums[b] / count
        for a in range(6):
            normal[a, a] *= 1.0 + _DAMPING
        if normal[0, 0] > _LEAST_ENERGY and normal[1, 1] > _LEAST_ENERGY and np.linalg.det(normal) > 0.0:
            inverse[k] = np.linalg.inv(normal)
            good[k] = 1


@inlined
def _sampled(image, warp, x, y, out):
    """out = the image under the warp, less its mean; returns its energy, negative if it reaches over the rim."""
    side = out.shape[0]
    half = side // 2
    reach_x = half * (abs(warp[0, 0]) + abs(warp[0, 1]))
    reach_y = half * (abs(warp[1, 0]) + abs(warp[1, 1]))
    inside = x - reach_x >= 0.0 and y - reach_y >= 0.0
    # comparisons with NaN are false, so a broken warp is outside
    if not (inside and x + reach_x < image.shape[1] - 1.0 and y + reach_y < image.shape[0] - 1.0):
        return -1.0
    total = 0.0
    for r in range(side):
        px = x + warp[0, 1] * (r - half) - warp[0, 0] * half
        py = y + warp[1, 1] * (r - half) - warp[1, 0] * half
        for c in range(side):
            ix, iy = int(px), int(py)
            fx, fy = px - ix, py - iy
            above = (1.0 - fx) * image[iy, ix] + fx * image[iy, ix + 1]
            below = (1.0 - fx) * image[iy + 1, ix] + fx * image[iy + 1, ix + 1]
            out[r, c] = (1.0 - fy) * above + fy * below
            total += out[r, c]
            px += warp[0, 0]
            py += warp[1, 0]
    mean = total / (side * side)
    energy = 0.0
    for r in range(side):
        for c in range(side):
            out[r, c] -= mean
            energy += out[r, c] * out[r, c]
    return energy


@inlined
def _step(patch, seen, gain, inverse, out):
    """out (6,) = the warp of the patch that would explain the difference."""
    values, slopes = patch
    side = values.shape[0]
    half = side // 2
    b0 = b1 = b2 = b3 = b4 = b5 = 0.0
    for r in range(side):
        y = r - half
        for c in range(side):
            x = c - half
            e = gain * seen[r, c] - values[r, c]
            gx, gy = e * slopes[0, r, c], e * slopes[1, r, c]
            b0, b1 = b0 + gx, b1 + gy
            b2, b3, b4, b5 = b2 + gx * x, b3 + gx * y, b4 + gy * x, b5 + gy * y
    for i in range(6):
        row = inverse[i]
        out[i] = row[0] * b0 + row[1] * b1 + row[2] * b2 + row[3] * b3 + row[4] * b4 + row[5] * b5


@inlined
def _compose(warp, position, step):
    """The warp after the inverse of the step; returns the squared shift, negative if the step is no warp."""
    a, b, c, d = 1.0 + step[2], step[3], step[4], 1.0 + step[5]
    det = a * d - b * c
    if not 0.2 < det < 5.0:
        return -1.0
    for i in range(2):
        first, second = warp[i, 0], warp[i, 1]
        warp[i, 0] = (first * d - second * c) / det
        warp[i, 1] = (second * a - first * b) / det
    dx = warp[0, 0] * step[0] + warp[0, 1] * step[1]
    dy = warp[1, 0] * step[0] + warp[1, 1] * step[1]
    position[0] -= dx
    position[1] -= dy
    return dx * dx + dy * dy


@kernel(void(_IMAGE, _PATCHES, _CUBE, _M, int64, _V), turn=WHEN_CALLED)
def find_patches(image, patches, warps, positions, most_steps, likeness):
    """Finds patches again, from `warps` (n, 2, 2) and `positions` (n, 2) on, which are moved.

    likeness (n,): correlation of patch and image, -1 where the search failed."""
    values, slopes, inverse = patches
    side = values.shape[1]
    seen, step = np.empty((side, side)), np.empty(6)
    for k in range(positions.shape[0]):
        likeness[k] = -1.0
        own = 0.0
        for r in range(side):
            for c in range(side):
                own += values[k, r, c] * values[k, r, c]
        settled = False
        for count in range(most_steps + 1):
            energy = _sampled(image, warps[k], positions[k, 0], positions[k, 1], seen)
            if energy < _LEAST_ENERGY or own < _LEAST_ENERGY:
                likeness[k] = -1.0
                break
            common = 0.0
            for r in range(side):
                for c in range(side):
                    common += seen[r, c] * values[k, r, c]
            likeness[k] = common / math.sqrt(own * energy)
            if settled or count == most_steps:
                break
            gain = min(max(math.sqrt(own / energy), 1.0 / _MOST_GAIN), _MOST_GAIN)
            _step((values[k], slopes[k]), seen, gain, inverse[k], step)
            moved = _compose(warps[k], positions[k], step)
            if moved < 0.0:
                likeness[k] = -1.0
                break
            shear = abs(step[2]) + abs(step[3]) + abs(step[4]) + abs(step[5])
            settled = moved < _SETTLED_PX * _SETTLED_PX and shear < _SETTLED_SHEAR


_MOST_STEPS = 6
_LEAST_LIKENESS = 0.85
"""Correlation with the patch below which a corner is lost."""
_FARTHEST_PX = 1.5
"""px by which a corner may be put back; a corner that slid farther was on something else."""
_LEAST_SCALE, _MOST_SCALE = 0.7, 1.5
"""Of a patch's warp, beyond which it is cut again."""


class ReferencePatches:
    """Its attributes are its whole state."""

    def __init__(self, side: int) -> None:
        self._side = side | 1
        self._ids = np.zeros(0, np.int64)
        self._patches = self._empty(0)
        self._warps = np.zeros((0, 2, 2))

    def _empty(self, n: int) -> Patches:
        side = self._side
        return np.zeros((n, side, side), np.float32), np.zeros((n, 2, side, side), np.float32), np.zeros((n, 6, 6))

    def put_back(
        self, image: NDArray[np.uint8], ids: NDArray[np.int64], pixels: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Pixels of the corners on their patches, and which of them are still there. New corners get a patch.

        ids rise."""
        n, image = len(ids), np.ascontiguousarray(image)
        positions = pixels.astype(np.float64)
        patches, warps = self._empty(n), np.tile(np.eye(2), (n, 1, 1))
        kept = np.ones(n, bool)
        _, mine, theirs = np.intersect1d(self._ids, ids, assume_unique=True, return_indices=True)
        fresh = np.ones(n, bool)
        fresh[theirs] = False
        if len(mine):
            old = tuple(part[mine] for part in self._patches)
            warp, position, likeness = self._warps[mine], positions[theirs], np.empty(len(mine))
            find_patches(image, old, warp, position, _MOST_STEPS, likeness)
            moved = np.linalg.norm(position - positions[theirs], axis=1)
            good = (likeness > _LEAST_LIKENESS) & (moved < _FARTHEST_PX)
            kept[theirs] = good
            positions[theirs[good]] = position[good]
            patches[0][theirs], patches[1][theirs], patches[2][theirs] = old
            warps[theirs] = warp
            fresh[theirs] = good & _is_strong(warp)
        self._cut(image, positions, np.flatnonzero(fresh), (patches, warps, kept))
        self._ids, self._warps = ids[kept].copy(), warps[kept]
        self._patches = tuple(part[kept] for part in patches)
        return positions.astype(np.float32), kept

    def _cut(
        self,
        image: NDArray[np.uint8],
        positions: Array,
        fresh: NDArray[np.int64],
        into: tuple[Patches, Array, NDArray[np.bool_]],
    ) -> None:
        patches, warps, kept = into
        new, good = self._empty(len(fresh)), np.zeros(len(fresh), np.uint8)
        cut_patches(image, np.ascontiguousarray(positions[fresh]), new, good)
        for part, cut in zip(patches, new, strict=True):
            part[fresh] = cut
        warps[fresh] = np.eye(2)
        # a corner whose patch was good but reaches over the rim now is lost, as one without contrast is
        kept[fresh] &= good.astype(bool)


def _is_strong(warps: Array) -> NDArray[np.bool_]:
    """Whether warps (n, 2, 2) stretch or shrink so much in any direction that the patch should be cut again."""
    a, b, c, d = warps[:, 0, 0], warps[:, 0, 1], warps[:, 1, 0], warps[:, 1, 1]
    mean, spread = 0.5 * np.hypot(a + d, c - b), 0.5 * np.hypot(a - d, c + b)
    return (mean + spread > _MOST_SCALE) | (np.abs(mean - spread) < _LEAST_SCALE)
