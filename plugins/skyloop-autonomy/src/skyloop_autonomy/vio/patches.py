"""Corners stay on the spot where they were found: each keeps the patch it was found with, and is put back on it.

Following a patch from image to image adds a small error each time, so that a corner slides over the surface like a
random walk. A filter that takes these errors for independent ones is far too sure of itself. Comparison with the first
patch ends that: the errors do not add up. The patch is cut anew only when it is seen much larger, smaller or more
slanted than at first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop_autonomy.vio.patch_kernels import cut_patches, find_patches
from skyloop_client.messages import Array

_MOST_STEPS = 6
_LEAST_LIKENESS = 0.85
"""Correlation with the patch below which a corner is lost."""
_FARTHEST_PX = 1.5
"""px by which a corner may be put back; a corner that slid farther was on something else."""
_LEAST_SCALE, _MOST_SCALE = 0.7, 1.5
"""Of a patch's warp, beyond which it is cut anew."""


class ReferencePatches:
    """Its attributes are its whole state."""

    def __init__(self, side: int) -> None:
        self._side = side | 1
        self._ids = np.zeros(0, np.int64)
        self._patches = self._empty(0)
        self._warps = np.zeros((0, 2, 2))

    def _empty(self, n: int) -> tuple[NDArray[np.float32], NDArray[np.float32], Array]:
        side = self._side
        return np.zeros((n, side, side), np.float32), np.zeros((n, 2, side, side), np.float32), np.zeros((n, 6, 6))

    def put_back(
        self, image: NDArray[np.uint8], ids: NDArray[np.int64], pixels: NDArray[np.float32]
    ) -> tuple[Any, Any]:
        """Pixels of the corners on their patches, and which of them are still there. New corners get a patch.

        ids rise."""
        n, image = len(ids), np.ascontiguousarray(image)
        places = pixels.astype(np.float64)
        patches, warps = self._empty(n), np.tile(np.eye(2), (n, 1, 1))
        kept = np.ones(n, bool)
        _, mine, theirs = np.intersect1d(self._ids, ids, assume_unique=True, return_indices=True)
        fresh = np.ones(n, bool)
        fresh[theirs] = False
        if len(mine):
            old = tuple(part[mine] for part in self._patches)
            warp, place, likeness = self._warps[mine], places[theirs], np.empty(len(mine))
            find_patches(image, old, warp, place, _MOST_STEPS, likeness)
            moved = np.linalg.norm(place - places[theirs], axis=1)
            good = (likeness > _LEAST_LIKENESS) & (moved < _FARTHEST_PX)
            kept[theirs] = good
            places[theirs[good]] = place[good]
            patches[0][theirs], patches[1][theirs], patches[2][theirs] = old
            warps[theirs] = warp
            fresh[theirs] = good & _is_strong(warp)
        self._cut(image, places, np.flatnonzero(fresh), (patches, warps, kept))
        self._ids, self._warps = ids[kept].copy(), warps[kept]
        self._patches = tuple(part[kept] for part in patches)  # type: ignore[assignment]
        return places.astype(np.float32), kept

    def _cut(self, image: NDArray[np.uint8], places: Array, fresh: NDArray[np.int64], into: Any) -> None:
        patches, warps, kept = into
        new, good = self._empty(len(fresh)), np.zeros(len(fresh), np.uint8)
        cut_patches(image, np.ascontiguousarray(places[fresh]), new, good)
        for part, cut in zip(patches, new, strict=True):
            part[fresh] = cut
        warps[fresh] = np.eye(2)
        # a corner whose patch was good but reaches over the rim now is lost, as one without contrast is
        kept[fresh] &= good.astype(bool)


def _is_strong(warps: Array) -> Any:
    """Whether warps (n, 2, 2) stretch or shrink so much in any direction that the patch should be cut anew."""
    a, b, c, d = warps[:, 0, 0], warps[:, 0, 1], warps[:, 1, 0], warps[:, 1, 1]
    mean, spread = 0.5 * np.hypot(a + d, c - b), 0.5 * np.hypot(a - d, c + b)
    return (mean + spread > _MOST_SCALE) | (np.abs(mean - spread) < _LEAST_SCALE)
