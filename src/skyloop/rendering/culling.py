"""Selects the rows of the model that a camera may see, and their level of detail."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.rendering.quality import Quality
from skyloop.rendering.wire import Arrays

INSTANCE = np.dtype([("pose", "<f4", (3, 4)), ("ids", "<u4", 4)])
"""Pose relative to the camera's position; then row + 1, palette, variant, spare."""
COMMAND = np.dtype(
    [("count", "<u4"), ("instances", "<u4"), ("first", "<u4"), ("base", "<i4"), ("base_instance", "<u4")]
)
NO_BOUNDS = np.zeros(1, int)
Draws = tuple[NDArray[Any], NDArray[Any]]
"""The instances, and the commands that draw them."""


class Culler:
    """Holds the model's tables and selects rows from them."""

    def __init__(self, packed: Arrays) -> None:
        shape = packed["row_shape"]
        self.n_standing, self.n_rows, self.n_lods = len(packed["standing_poses"]), len(shape), len(packed["lods"])
        self._lods = packed["lods"]
        self._ranges = packed["ranges"][shape]
        self._first_lod, self._last_step, casts = (packed["first_lod"][shape] - [0, 1, 0]).T
        self._casts = casts > 0
        self._own_balls = packed["spheres"][shape]
        # the movers' part of these is rewritten for each picture
        self._table = np.zeros((self.n_rows, 16), np.float32)
        """Instances as INSTANCE has them, but for their positions."""
        ids = self._table.view(np.uint32)[:, 12:]
        ids[:, 0] = np.arange(1, self.n_rows + 1)
        ids[:, 1], ids[:, 2] = packed["row_palette"], packed["row_variant"]
        self._origins = np.zeros((self.n_rows, 3))
        self._centres, self._radii = np.zeros((self.n_rows, 3)), np.zeros(self.n_rows)
        self._put(packed["standing_poses"], slice(0, self.n_standing))
        self._moved: NDArray[Any] | None = None

    def _put(self, poses: NDArray[Any], rows: slice) -> None:
        balls = self._own_balls[rows]
        self._table[rows, :12] = poses.reshape(-1, 12)
        self._origins[rows] = poses[:, :, 3]
        self._centres[rows] = np.einsum("nij,nj->ni", poses[:, :, :3], balls[:, :3]) + poses[:, :, 3]
        largest_scale = np.sqrt(np.square(poses[:, :, :3]).sum(axis=1).max(axis=1, initial=0.0))
        self._radii[rows] = balls[:, 3] * largest_scale

    def _move(self, poses: NDArray[Any]) -> None:
        """Moves the movers; pictures of one instant bring the same array."""
        if poses is not self._moved:
            self._put(poses, slice(self.n_standing, self.n_rows))
            self._moved = poses

    def visible(
        self, eye: NDArray[Any], planes: NDArray[Any], focal: float, quality: Quality, moving: NDArray[Any], hidden: Any
    ) -> Draws:
        """What a camera at `eye` sees; planes (k, 4) are positive inside."""
        self._move(moving)
        inside = self._touches(planes, slice(0, self.n_rows))
        if hidden is not None:
            inside[hidden[0] : hidden[1]] = False
        rows = np.flatnonzero(inside)
        away = self._centres.take(rows, axis=0) - eye
        distance, radii = np.sqrt(np.einsum("ni,ni->n", away, away)), self._radii.take(rows)
        large = radii * focal > 0.5 * quality.smallest_px * distance
        rows = rows[large]
        # by the nearest point of the bounding sphere, so that a long wall beside the camera does not count as far
        near = np.maximum(distance[large] - radii[large], 0.0)
        step = (near[:, None] > self._ranges.take(rows, axis=0) * quality.detail).sum(axis=1)
        return self._draws(rows, step, eye, near)

    def casters(self, planes: NDArray[Any], eye: NDArray[Any], moving: NDArray[Any] | None, step: int) -> Draws:
        """What casts shadows into a box: the standing things or, if poses are given, the moving ones."""
        if moving is None:
            within = slice(0, self.n_standing)
        else:
            within = slice(self.n_standing, self.n_rows)
            self._move(moving)
        rows = within.start + np.flatnonzero(self._touches(planes, within) & self._casts[within])
        return self._draws(rows, np.full(len(rows), step), eye, np.zeros(len(rows)))

    def standing(self, planes: NDArray[Any], eye: NDArray[Any]) -> Draws:
        """All standing things in a box, including roofs that cast no shadow."""
        rows = np.flatnonzero(self._touches(planes, slice(0, self.n_standing)))
        return self._draws(rows, np.zeros(len(rows), int), eye, np.zeros(len(rows)))

    def _touches(self, planes: NDArray[Any], rows: slice) -> NDArray[Any]:
        """Whether any part of the bounding sphere is on the inside of every plane."""
        heights = planes[:, :3] @ self._centres[rows].T + planes[:, 3:]
        return np.asarray((heights > -self._radii[rows]).all(axis=0))

    def _draws(self, rows: NDArray[Any], step: NDArray[Any], eye: NDArray[Any], near: NDArray[Any]) -> Draws:
        """One command per level of detail, nearest first, so that hidden surfaces need not be shaded."""
        lod = self._first_lod.take(rows) + np.minimum(step, self._last_step.take(rows))
        order = lod.argsort(kind="stable")
        rows, lod = rows[order], lod[order]
        instances = self._table.take(rows, axis=0)
        instances[:, 3:12:4] = self._origins.take(rows, axis=0) - eye
        # where one level of detail ends and the next begins, with both ends
        bounds = np.concatenate([[0], np.flatnonzero(lod[1:] != lod[:-1]) + 1, [len(rows)]]) if len(rows) else NO_BOUNDS
        first = bounds[:-1]
        commands = np.empty((len(first), 5), np.uint32)
        # as COMMAND has them
        commands[:, [2, 0, 3]] = self._lods[lod[first]]
        commands[:, 4], commands[:, 1] = first, bounds[1:] - first
        if len(first):
            commands = commands[np.minimum.reduceat(near[order], first).argsort(kind="stable")]
        return instances.view(INSTANCE).reshape(len(rows)), commands.view(COMMAND).reshape(len(first))
