"""What planners read of a map: states, projection, distances and near obstacles, all of one instant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop_autonomy.mapping.counting import FREE, OCCUPIED
from skyloop_autonomy.mapping.projection import GroundGrid
from skyloop_client.messages import Array, GridMap, PointCloud, VoxelMap


@dataclass(frozen=True, slots=True, eq=False)
class MapSnapshot:
    """The maps after one image. The arrays are copies; later images do not change them."""

    t_ns: int
    """Stamp of the newest image in the maps."""
    body: Array
    """(3,) m, world, of the body at that stamp, in the frame of the pose stream."""
    states: NDArray[np.int8]
    """(nx, ny, nz) OCCUPIED, FREE or UNKNOWN (`counting.py`) along x (east), y (north), z (up)."""
    origin: Array
    """(3,) m, world, of the lower corner of voxel [0, 0, 0]."""
    cell: float
    """m, edge of a voxel and side of a cell of `ground`."""
    ground: GroundGrid
    """The states seen from above, between the heights that the settings name. Same cells along x and y as `states`."""
    distance: NDArray[np.float32]
    """(nx, ny, nz) m from the middle of a voxel to the nearest occupied one, negative inside; inf where nothing is
    occupied. Unknown voxels count as not occupied."""
    ground_distance: NDArray[np.float32]
    """(nx, ny) m, the same for `ground`."""
    near: NDArray[np.float32]
    """(n, 3) m, world: one point of each occupied cell of the local map, which reaches 6 m around the body."""

    @property
    def occupied(self) -> NDArray[np.bool_]:
        return np.asarray(self.states == OCCUPIED)

    @property
    def free(self) -> NDArray[np.bool_]:
        return np.asarray(self.states == FREE)

    def voxel(self, position: ArrayLike) -> tuple[int, int, int] | None:
        """The voxel of a position (3,) m, world; None outside the map."""
        index = np.floor((np.asarray(position, float) - self.origin) / self.cell).astype(int)
        if (index < 0).any() or (index >= self.states.shape).any():
            return None
        return int(index[0]), int(index[1]), int(index[2])

    # ---- as messages

    def voxels_message(self) -> VoxelMap:
        return VoxelMap(self.t_ns, self.states, self.cell, self.origin)

    def ground_message(self) -> GridMap:
        return self.ground.message(self.t_ns)

    def near_message(self) -> PointCloud:
        return PointCloud(self.t_ns, self.near)

    def distance_message(self, height: float) -> PointCloud:
        """The distances of the layer of free voxels at a height, m, as the values of points."""
        layer = int(np.clip((height - self.origin[2]) // self.cell, 0, self.states.shape[2] - 1))
        return self._distances(self.free[:, :, layer], self.distance[:, :, layer], (layer + 0.5) * self.cell)

    def ground_distance_message(self) -> PointCloud:
        """The distances of the free cells of the projection, as the values of points at its height."""
        return self._distances(self.ground.free, self.ground_distance, self.ground.height - self.origin[2])

    def _distances(self, shown: NDArray[np.bool_], distance: NDArray[np.float32], height: float) -> PointCloud:
        """height: m above the origin."""
        shown = shown & np.isfinite(distance)
        x, y = np.nonzero(shown)
        middles = np.column_stack([(x + 0.5) * self.cell, (y + 0.5) * self.cell, np.full(len(x), height)])
        return PointCloud(self.t_ns, (middles + self.origin).astype(np.float32), distance[shown])
