"""From a depth image to points in space."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numba import float32, float64, int64, types
from numpy.typing import NDArray

from skyloop.core.frames import Transform, matrix_from_quat
from skyloop.core.jit import inlined, kernel
from skyloop_autonomy.mapping.sight import Sight
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

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
                f"a depth stream does not tell its lens ({error}); a map needs fx, fy, cx, cy"
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
