"""What planners read of a map: states, projection, distances and near obstacles, all of one instant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop_autonomy.mapping.counting import FREE, OCCUPIED, UNKNOWN
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array, GridMap, PointCloud, VoxelMap

MOST_SENT = 4_000_000
"""Voxels or cells in one record, which may have 4 MiB."""
MOST_POINTS_SENT = 200_000


def box_around(shape: tuple[int, ...], middle: ArrayLike, most: int) -> tuple[slice, ...]:
    """The part of an array around an index that has at most so many elements: all of it, or as cubic as it can be."""
    side, sides = max(shape), np.array(shape)
    while np.minimum(sides, side).prod() > most:
        side -= 1
    size = np.minimum(sides, side)
    first = np.clip(np.asarray(middle, int) - size // 2, 0, sides - size)
    return tuple(slice(int(a), int(a + n)) for a, n in zip(first, size, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class GroundGrid:
    """A map in square cells, seen from above."""

    states: NDArray[np.int8]
    """(nx, ny) OCCUPIED, FREE or UNKNOWN; along x (east) and y (north)."""
    origin: Array
    """(2,) m, world, of the outer corner of cell [0, 0]."""
    cell: float
    """m, side of a cell."""
    height: float = 0.0
    """m, world, the middle of the layers that were projected."""

    @property
    def occupied(self) -> NDArray[np.bool_]:
        return np.asarray(self.states == OCCUPIED)

    @property
    def free(self) -> NDArray[np.bool_]:
        return np.asarray(self.states == FREE)

    def message(self, t_ns: int, body: Array) -> GridMap:
        """Rows along y and columns along x, as GridMap has them; of a map too large for a record, the part around the
        body."""
        part = box_around(self.states.shape, (body[:2] - self.origin) / self.cell, MOST_SENT)
        corner = self.origin + self.cell * np.array([one.start for one in part])
        return GridMap(t_ns, np.ascontiguousarray(self.states[part].T), self.cell, np.array([*corner, self.height]))


def projected(
    states: NDArray[np.int8], origin: Array, cell: float, heights: tuple[float, float] | None = None
) -> GroundGrid:
    """Voxels (nx, ny, nz) seen from above; heights: m, world, from which to which they count, None: all.

    A cell is occupied if any of its voxels is, free if any is free and none occupied, else unknown.
    """
    low, high = (origin[2], origin[2] + states.shape[2] * cell) if heights is None else heights
    first = max(int(np.floor((low - origin[2]) / cell + 1e-9)), 0)
    end = min(int(np.ceil((high - origin[2]) / cell - 1e-9)), states.shape[2])
    if first >= end:
        raise ScenarioError(
            f"no voxel between {low:g} and {high:g} m; the map reaches from {origin[2]:g} m "
            f"to {origin[2] + states.shape[2] * cell:g} m"
        )
    band = states[:, :, first:end]
    out = np.full(states.shape[:2], UNKNOWN, np.int8)
    out[(band == FREE).any(axis=2)] = FREE
    out[(band == OCCUPIED).any(axis=2)] = OCCUPIED
    return GroundGrid(out, np.array(origin[:2], float), cell, float(origin[2] + 0.5 * (first + end) * cell))


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
        """The whole map; of one that is too large for a record, the part around the body."""
        part = box_around(self.states.shape, (self.body - self.origin) / self.cell, MOST_SENT)
        corner = self.origin + self.cell * np.array([one.start for one in part])
        return VoxelMap(self.t_ns, np.ascontiguousarray(self.states[part]), self.cell, corner)

    def ground_message(self) -> GridMap:
        return self.ground.message(self.t_ns, self.body)

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
        part = box_around(shown.shape, ((self.body - self.origin) / self.cell)[:2], MOST_POINTS_SENT)
        near = np.zeros(shown.shape, np.bool_)
        near[part] = True
        shown = shown & near & np.isfinite(distance)
        x, y = np.nonzero(shown)
        middles = np.column_stack([(x + 0.5) * self.cell, (y + 0.5) * self.cell, np.full(len(x), height)])
        return PointCloud(self.t_ns, (middles + self.origin).astype(np.float32), distance[shown])
