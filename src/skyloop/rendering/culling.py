"""Which rows a camera may see, and at which level of detail."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.rendering.quality import Quality
from skyloop.rendering.wire import Arrays

INSTANCE = np.dtype([("pose", "<f4", (3, 4)), ("ids", "<u4", 4)])
"""Pose relative to the camera's place; row + 1, palette, variant, spare."""
COMMAND = np.dtype(
    [("count", "<u4"), ("instances", "<u4"), ("first", "<u4"), ("base", "<i4"), ("base_instance", "<u4")]
)


class Culler:
    """Holds the model's tables and picks from them."""

    def __init__(self, packed: Arrays) -> None:
        self._p = packed
        self.n_standing = len(packed["standing_poses"])
        self._shape = packed["row_shape"]
        self._standing = np.ascontiguousarray(packed["standing_poses"], np.float64)
        self._standing_spheres = self._balls(self._standing, np.arange(self.n_standing))
        self.moving_rows = np.arange(self.n_standing, len(self._shape))

    def _balls(self, poses: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
        """(n, 4) centre and radius of the rows' balls, world."""
        balls = self._p["spheres"][self._shape[rows]]
        out = np.empty((len(rows), 4))
        out[:, :3] = np.einsum("nij,nj->ni", poses[:, :, :3], balls[:, :3]) + poses[:, :, 3]
        out[:, 3] = balls[:, 3] * np.sqrt(np.square(poses[:, :, :3]).sum(axis=1).max(axis=1, initial=0.0))
        return out

    def visible(
        self, eye: NDArray[Any], planes: NDArray[Any], focal: float, quality: Quality, moving: NDArray[Any], hidden: Any
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Instances and draw commands of what a camera at `eye` sees; planes (k, 4) have their inside positive."""
        spheres = np.concatenate([self._standing_spheres, self._balls(moving, self.moving_rows)])
        inside = np.ones(len(spheres), bool)
        for plane in planes:
            inside &= spheres[:, :3] @ plane[:3] + plane[3] > -spheres[:, 3]
        if hidden is not None:
            inside[hidden[0] : hidden[1]] = False
        centre_distance = np.linalg.norm(spheres[:, :3] - eye, axis=1)
        inside &= spheres[:, 3] * focal > 0.5 * quality.smallest_px * centre_distance
        rows = np.flatnonzero(inside)
        # by the nearest point of the ball, so that a long wall beside the camera is not called far
        near = np.maximum(centre_distance[rows] - spheres[rows, 3], 0.0)
        steps = self._p["ranges"][self._shape[rows]] * quality.detail
        lod = (near[:, None] > steps).sum(axis=1)
        return self._draws(rows, lod, eye, moving)

    def casters(self, planes: NDArray[Any], eye: NDArray[Any], moving: NDArray[Any] | None) -> tuple[Any, Any]:
        """What throws shadows into a box: standing things, or when poses are given the moving ones."""
        if moving is None:
            spheres, rows = self._standing_spheres, np.arange(self.n_standing)
        else:
            spheres, rows = self._balls(moving, self.moving_rows), self.moving_rows
        inside = self._p["first_lod"][self._shape[rows], 2] > 0
        for plane in planes:
            inside &= spheres[:, :3] @ plane[:3] + plane[3] > -spheres[:, 3]
        rows = rows[inside]
        # a level less than full detail is enough for a shadow
        lod = np.minimum(1, self._p["first_lod"][self._shape[rows], 1] - 1)
        return self._draws(rows, lod, eye, moving)

    def _draws(self, rows: NDArray[Any], lod: NDArray[Any], eye: NDArray[Any], moving: Any) -> tuple[Any, Any]:
        p = self._p
        shape = self._shape[rows]
        lod = p["first_lod"][shape, 0] + np.minimum(lod, p["first_lod"][shape, 1] - 1)
        order = np.argsort(lod, kind="stable")
        rows, lod = rows[order], lod[order]
        instances = np.zeros(len(rows), INSTANCE)
        standing = rows < self.n_standing
        poses = np.empty((len(rows), 3, 4))
        poses[standing] = self._standing[rows[standing]]
        if not standing.all():
            poses[~standing] = moving[rows[~standing] - self.n_standing]
        poses[:, :, 3] -= eye
        instances["pose"] = poses
        instances["ids"][:, 0] = rows + 1
        instances["ids"][:, 1] = p["row_palette"][rows]
        instances["ids"][:, 2] = p["row_variant"][rows]
        kinds, first, count = np.unique(lod, return_index=True, return_counts=True)
        commands = np.zeros(len(kinds), COMMAND)
        commands["count"] = p["lods"][kinds, 1]
        commands["first"] = p["lods"][kinds, 0]
        commands["base"] = p["lods"][kinds, 2]
        commands["instances"], commands["base_instance"] = count, first
        return instances, commands
