"""A level grid with the clearance of each cell: ways that keep off obstacles, and the retreat out of their band."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyloop.world.free_space import cells_along, corners_kept
from skyloop_autonomy.planning.grid_search import cheapest_way
from skyloop_client.messages import Array

CROWDED = 1.0
"""m beyond the band in which a way still costs more, so that ways keep off the band where there is room."""
CROWDED_COST = 1.0
"""Extra cost per metre at the edge of the band."""
UNKNOWN_COST = 3.0
"""Cost of a metre through unknown cells, where one through free cells costs 1: behind a wall there is more wall."""


@dataclass(frozen=True)
class Retreat:
    """Away from the nearest obstacle."""

    direction: Array
    """(2,) unit vector, perpendicular to the surface of the obstacle."""
    clearance: float
    """m to the obstacle."""


class ClearanceGrid:
    """A level grid in which ways are searched. Unknown cells count as free, but a way through them costs more."""

    def __init__(
        self,
        occupied: NDArray[np.bool_],
        corner: Array,
        cell: float,
        band: float,
        unknown: NDArray[np.bool_] | None = None,
        crowded: float = CROWDED,
    ) -> None:
        """occupied: first index along x; corner: (2,) m of cell [0, 0]; band: m around obstacles that ways avoid.
        crowded: m beyond the band that ways keep off where they can; 0 for the shortest way."""
        from scipy.ndimage import distance_transform_edt

        self.corner, self.cell, self.band = np.asarray(corner, float), cell, band
        self.occupied, self._crowded = occupied, crowded
        if occupied.any():
            distance, nearest = distance_transform_edt(~occupied, return_indices=True)
            # from the middle of a cell to the near face of the obstacle's
            self.clearances: Array = np.maximum(distance - 0.5, 0.0) * cell
            self._nearest: NDArray[np.int32] | None = nearest
        else:
            self.clearances, self._nearest = np.full(occupied.shape, np.inf), None
        near = np.clip(1.0 - (self.clearances - band) / crowded, 0.0, 1.0) if crowded > 0.0 else 0.0
        self.unknown = np.zeros_like(occupied) if unknown is None else unknown
        self._cost = np.ascontiguousarray(np.where(self.unknown, UNKNOWN_COST, 1.0) * (1.0 + CROWDED_COST * near))
        self._free = np.ascontiguousarray(self.clearances >= band)

    @classmethod
    def around(cls, cells: NDArray[np.int8], corner: Array, cell: float, band: float, points: Array) -> ClearanceGrid:
        """From a map's cells (100 occupied, 0 free, -1 unknown; first index along x), with unknown cells added around
        it, so that all `points` (n, 2) and room to go around are in the grid."""
        margin = 2.0 * band + 2.0
        shape = np.array(cells.shape)
        low = np.minimum(points.min(axis=0), corner) - margin
        high = np.maximum(points.max(axis=0), corner + shape * cell) + margin
        before = np.ceil((corner - low) / cell).astype(int)
        after = np.ceil((high - corner) / cell).astype(int) - shape
        padded = np.pad(cells, [(before[0], after[0]), (before[1], after[1])], constant_values=-1)
        return cls(padded == 100, corner - before * cell, cell, band, padded < 0)

    def cell_of(self, point: Array) -> NDArray[np.int64]:
        at = np.floor((np.asarray(point, float)[:2] - self.corner) / self.cell).astype(np.int64)
        return np.asarray(np.clip(at, 0, np.array(self.occupied.shape) - 1))

    def clearance(self, point: Array) -> float:
        i, j = self.cell_of(point)
        return float(self.clearances[i, j])

    def retreat(self, point: Array) -> Retreat | None:
        """How to leave the band, or None outside of it."""
        i, j = self.cell_of(point)
        if self._free[i, j]:
            return None
        assert self._nearest is not None, "without obstacles all cells are free"
        # from cell to cell: from the point itself a wall of cells would look tilted
        away = np.array([i - self._nearest[0, i, j], j - self._nearest[1, i, j]], dtype=np.float64)
        if self.occupied[i, j]:
            # inside of an obstacle there is no perpendicular: the nearest free cell shows the way out
            free = np.argwhere(self._free)
            if not len(free):
                return None
            away = (free[np.argmin(((free - [i, j]) ** 2).sum(axis=1))] - [i, j]).astype(np.float64)
        return Retreat(away / float(np.hypot(*away)), float(self.clearances[i, j]))

    def way(self, start: Array, goal: Array) -> Array | None:
        """(n, 2) m, corners of a way outside of the band, from the start to the goal; None if there is none.

        A goal in the band or in an obstacle is replaced by the nearest cell outside, if that is within 2 m."""
        first, last = self._outside(start, math.inf), self._outside(goal, 2.0)
        if first is None or last is None:
            return None
        found = cheapest_way(~self._free, tuple(first), tuple(last), self._cost)
        if found is None:
            return None
        middles = self.corner + (found[0] + 0.5) * self.cell
        if self._free[tuple(self.cell_of(goal))]:
            middles[-1] = goal[:2]
        return self._straightened(middles)

    def _outside(self, point: Array, within: float) -> NDArray[np.int64] | None:
        at = self.cell_of(point)
        if self._free[tuple(at)]:
            return at
        free = np.argwhere(self._free)
        if not len(free):
            return None
        apart = ((free - at) ** 2).sum(axis=1)
        nearest = int(np.argmin(apart))
        return free[nearest].astype(np.int64) if math.sqrt(apart[nearest]) * self.cell <= within else None

    def sees(self, start: Array, end: Array) -> bool:
        """Whether the straight way keeps out of the band."""
        return float(self.clearances[self._cells_along(start, end)].min()) >= self.band

    def _straightened(self, points: Array) -> Array:
        """Leaves corners out between which the way is straight, but not nearer to walls than the way itself was, and
        not through unknown cells where the way itself was not."""
        at = np.clip(np.floor((points - self.corner) / self.cell).astype(int), 0, np.array(self.occupied.shape) - 1)
        room, unknown = self.clearances[at[:, 0], at[:, 1]], self.unknown[at[:, 0], at[:, 1]]

        def is_free(first: int, last: int) -> bool:
            part = slice(first, last + 1)
            limit = max(self.band, min(float(room[part].min()), self.band + self._crowded))
            cells = self._cells_along(points[first], points[last])
            known = bool(unknown[part].any()) or not self.unknown[cells].any()
            return known and bool(self.clearances[cells].min() >= limit)

        return np.asarray(points[corners_kept(len(points), is_free, by_halves=True)])

    def _cells_along(self, start: Array, end: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return cells_along(start, end, self.corner, self.cell, self.occupied.shape)
