"""From a depth image to points in space."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import float32, float64, int64, types
from numpy.typing import NDArray

from skyloop.core.frames import Transform, matrix_from_quat
from skyloop.core.jit import inlined, kernel
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

MOST_NOISE = 1.0 / 3.0
"""Of a cell; where one sigma of the depth noise is larger, a pixel no longer says which cell it met."""


@dataclass(frozen=True, slots=True)
class Sight:
    """Which pixels count, and what they say about the cells between the camera and the surface."""

    near: float = 0.1
    """m along the optical axis; nearer depths are ignored."""
    far: float = 7.2
    """m from the camera. Surfaces beyond are not entered, but the way to them is free up to this range."""
    edge: float = 0.05
    """A depth counts only if two of its four neighbours differ by less than this share of it. Pixels that lie between
    the two depths of an edge do not."""
    hit_pixels: int = 4
    """The number of pixels of one image that must end in a voxel to make a hit."""
    hit_share: float = 0.2
    """A voxel is hit if at least this share of the pixels that end in it or pass it end in it."""
    miss_share: float = 0.03
    """It is missed if at most this share of them ends in it. In between the image says nothing about it: a thin object
    or the edge of a wall fills only a small part of a voxel."""
    blank_is_far: bool = False
    """Whether a block of pixels without any value shows something out of range. If so, the way up to `far` is free
    there. Off by default, because a covered lens gives blank pixels too."""

    def __post_init__(self) -> None:
        if not (0.0 <= self.near < self.far < math.inf):
            raise ScenarioError(f"sight from {self.near} to {self.far} m is empty; give 0 <= near < far")
        if not (self.edge > 0.0 and self.hit_pixels >= 1 and 0.0 <= self.miss_share <= self.hit_share < 1.0):
            raise ScenarioError(f"{self} cannot work; give edge > 0, hit_pixels >= 1, 0 <= miss_share <= hit_share < 1")

    def stride(self, focal_px: float, cell: float) -> int:
        """px between the rays that carve: two thirds of a cell or less apart at the far end, so no cell is left out."""
        return max(int(cell / 1.5 * focal_px / self.far), 1)


def trusted_range(details: Mapping[str, Any], cell: float, far: float) -> float:
    """m up to which a depth camera tells cells apart, at most `far`; `details` are those of its stream.

    Its noise is noise_scale·exp(growth·depth) + noise_square·(depth − noise_nearest)², with the
    median growth of the materials that are stated: with the worst one, glass, a map would end 2.7 m from the camera.
    """
    scale = float(details.get("noise_scale", 0.0))
    growths = [float(value) for value in dict(details.get("noise_growth_per_m", {})).values()]
    growth = statistics.median(growths) if growths else 0.0
    square, most = float(details.get("noise_square", 0.0)), MOST_NOISE * cell
    if square > 0.0:
        far = min(far, float(details["noise_nearest"]) + math.sqrt(max(most - scale, 0.0) / square))
    if scale <= 0.0 or growth <= 0.0:
        return far
    return min(far, max(math.log(most / scale) / growth, 2.0 * cell))


DEPTH = types.Array(float32, 2, "C", readonly=True)
LENS = types.UniTuple(float64, 4)


class DepthLens(NamedTuple):
    """A pinhole; the centre of the first pixel is at 0."""

    fx: float
    fy: float
    cx: float
    cy: float

    @staticmethod
    def from_details(details: Mapping[str, Any]) -> DepthLens:
        """From the details of a depth camera's stream."""
        try:
            return DepthLens(*(float(details[name]) for name in ("fx", "fy", "cx", "cy")))
        except (KeyError, TypeError, ValueError) as error:
            raise ScenarioError(
                f"a depth stream does not state its lens ({error}); a map needs fx, fy, cx, cy"
            ) from None


@inlined
def is_surface(depth, v, u, edge):
    """Whether two of the four neighbours of a pixel have nearly its depth; at the border, the one opposite counts."""
    h, w = depth.shape
    d = depth[v, u]
    tolerance = float32(edge) * d
    left, right = u - 1 if u > 0 else u + 1, u + 1 if u + 1 < w else u - 1
    beside = int64(abs(depth[v, left] - d) <= tolerance) + int64(abs(depth[v, right] - d) <= tolerance)
    if beside == 2:
        return True
    above, below = v - 1 if v > 0 else v + 1, v + 1 if v + 1 < h else v - 1
    over = int64(abs(depth[above, u] - d) <= tolerance) + int64(abs(depth[below, u] - d) <= tolerance)
    return beside + over >= 2


@kernel(int64(DEPTH, LENS, float64[:, ::1], types.UniTuple(float64, 3), int64, float32[:, ::1]))
def _points(depth, lens, out_from_camera, limits, stride, out):
    """Fills `out` with the points of the pixels that count; returns how many there are."""
    fx, fy, cx, cy = lens
    near, far, edge = limits
    m, n = out_from_camera, 0
    for v in range(stride // 2, depth.shape[0], stride):
        y = (v - cy) / fy
        for u in range(stride // 2, depth.shape[1], stride):
            d = float64(depth[v, u])
            x = (u - cx) / fx
            if not (d > near and d * d * (1.0 + x * x + y * y) <= far * far):
                continue
            if not is_surface(depth, v, u, edge):
                continue
            for axis in range(3):
                out[n, axis] = m[axis, 3] + d * (m[axis, 0] * x + m[axis, 1] * y + m[axis, 2])
            n += 1
    return n


def checked_depth(depth: NDArray[np.float32]) -> NDArray[np.float32]:
    """The image as the kernels take it."""
    image = np.ascontiguousarray(depth, np.float32)
    if image.ndim != 2 or min(image.shape) < 2:
        raise ScenarioError(f"a depth image of shape {image.shape} cannot be mapped; give (height, width) of 2 or more")
    return image


def points_from_depth(
    depth: NDArray[np.float32], lens: DepthLens, out_from_camera: Transform, sight: Sight, stride: int = 1
) -> NDArray[np.float32]:
    """(n, 3) m: the points of every `stride`-th pixel that counts, in the axes that out_from_camera leads to.

    The camera's axes are right, down, forward.
    """
    image = checked_depth(depth)
    out = np.empty((image[stride // 2 :: stride, stride // 2 :: stride].size, 3), np.float32)
    n = _points(image, tuple(lens), rows(out_from_camera), (sight.near, sight.far, sight.edge), stride, out)
    return out[:n]


def rows(pose: Transform) -> Array:
    """(3, 4) rotation and position, side by side."""
    return np.column_stack([matrix_from_quat(pose.quat_wxyz), pose.position])
