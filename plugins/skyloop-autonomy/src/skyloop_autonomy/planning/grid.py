"""A grid of cells that are free or not, the room that obstacles are given in it, and straight lines through it.

A flat grid is a grid of one layer, so that the same compiled code serves both. Cell (i, j, k) begins at
`origin + cell·(i, j, k)`, world axes. What lies outside the grid is not free.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import boolean, float64, int64, types, void
from numpy.typing import ArrayLike, NDArray

from skyloop.core.jit import WHEN_CALLED, kernel
from skyloop_client.messages import Array

CELLS = types.Array(types.boolean, 3, "C")
_POINT = types.Array(types.float64, 1, "C")
_TOUCH = 1e-9
"""Cells; a line this near to an edge or a corner touches all cells there."""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Which cells the middle of the vehicle must not enter."""

    blocked: NDArray[np.bool_]
    """(nx, ny, nz); nz is 1 for a flat grid."""
    origin: Array
    """(3,) m, the lower corner of cell (0, 0, 0)."""
    cell: float
    """m, the side of a cell."""
    flat: bool
    """true: a projection, in which height says nothing."""

    def cell_of(self, point: Array) -> tuple[int, int, int]:
        """The cell that holds a point. It may lie outside the grid."""
        i, j, k = np.floor((point - self.origin) / self.cell).astype(int).tolist()
        return (i, j, 0) if self.flat else (i, j, k)

    def centre(self, cell: ArrayLike, height: float) -> Array:
        """(3,) m. `height` is that of the point in a flat grid."""
        position: Array = self.origin + (np.asarray(cell, float) + 0.5) * self.cell
        if self.flat:
            position[2] = height
        return position

    def holds(self, cell: tuple[int, int, int]) -> bool:
        return all(0 <= i < n for i, n in zip(cell, self.blocked.shape, strict=True))

    def is_free(self, point: Array) -> bool:
        cell = self.cell_of(point)
        return self.holds(cell) and not self.blocked[cell]

    def sees(self, start: Array, end: Array) -> bool:
        """Whether a straight line touches free cells only."""
        return bool(_sees(self.blocked, self._in_cells(start), self._in_cells(end)))

    def nearest_free(self, point: Array, radius: float) -> tuple[int, int, int] | None:
        """The free cell whose centre is nearest to a point, or None where none is within `radius` metres.

        Of equally near ones it is the first in the order of the array."""
        i, j, k = _nearest_free(self.blocked, self._in_cells(point), radius / self.cell)
        return (int(i), int(j), int(k)) if i >= 0 else None

    def _in_cells(self, point: Array) -> Array:
        position: Array = np.ascontiguousarray((point - self.origin) / self.cell, dtype=np.float64)
        if self.flat:
            position[2] = 0.5
        return position


def inflated(occupied: NDArray[np.bool_], origin: ArrayLike, cell: float, radius: float) -> Grid:
    """The grid of a map in which each occupied cell also blocks the cells whose centres are within `radius` metres.

    occupied: (nx, ny) for a projection or (nx, ny, nz); origin: (2,) or (3,) m."""
    flat = occupied.ndim == 2
    cells = np.ascontiguousarray(occupied.reshape(*occupied.shape, 1) if flat else occupied, dtype=np.bool_)
    blocked = np.zeros_like(cells)
    _inflate(cells, radius / cell + _TOUCH, blocked)
    return Grid(blocked, _origin(origin), float(cell), flat)


def grid_from_distance(distance: Array, origin: ArrayLike, cell: float, radius: float) -> Grid:
    """The grid of a distance field: blocked where the nearest obstacle is less than `radius` metres away.

    distance: (nx, ny) or (nx, ny, nz) m, at the centres of the cells; what is negative lies inside an obstacle."""
    flat = distance.ndim == 2
    field = distance.reshape(*distance.shape, 1) if flat else distance
    # a cell whose distance is not known is nowhere to fly
    blocked = np.ascontiguousarray(~(field >= radius))
    return Grid(blocked, _origin(origin), float(cell), flat)


def _origin(origin: ArrayLike) -> Array:
    corner = np.zeros(3)
    given = np.asarray(origin, float)
    corner[: len(given)] = given
    return corner


@kernel(void(CELLS, float64, CELLS), turn=WHEN_CALLED)
def _inflate(occupied, reach, blocked):
    nx, ny, nz = occupied.shape
    n = int(reach)
    m = n if nz > 1 else 0
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                if not occupied[i, j, k]:
                    continue
                for a in range(-n, n + 1):
                    for b in range(-n, n + 1):
                        for c in range(-m, m + 1):
                            x, y, z = i + a, j + b, k + c
                            if a * a + b * b + c * c <= reach * reach and 0 <= x < nx and 0 <= y < ny and 0 <= z < nz:
                                blocked[x, y, z] = True


@kernel(boolean(CELLS, _POINT, _POINT), turn=WHEN_CALLED)
def _sees(blocked, start, end):
    """Walks from cell to cell. Where the line crosses an edge or a corner, all cells that meet there must be free."""
    at = np.empty(3, np.int64)
    step = np.zeros(3, np.int64)
    due = np.empty(3)
    every = np.empty(3)
    steps = 0
    for axis in range(3):
        at[axis] = int(np.floor(start[axis]))
        if at[axis] < 0 or at[axis] >= blocked.shape[axis]:
            return False
        way = end[axis] - start[axis]
        due[axis], every[axis] = np.inf, np.inf
        if abs(way) > _TOUCH:
            step[axis] = 1 if way > 0.0 else -1
            edge = at[axis] + (1 if way > 0.0 else 0)
            due[axis], every[axis] = (edge - start[axis]) / way, 1.0 / abs(way)
        steps += abs(int(np.floor(end[axis])) - at[axis]) + 1
    if blocked[at[0], at[1], at[2]]:
        return False
    reach = np.zeros(3, np.int64)
    for _ in range(steps):
        soonest = min(due[0], due[1], due[2])
        if soonest > 1.0:
            return True
        for axis in range(3):
            reach[axis] = 1 if due[axis] <= soonest + _TOUCH else 0
        for a in range(reach[0] + 1):
            for b in range(reach[1] + 1):
                for c in range(reach[2] + 1):
                    x, y, z = at[0] + a * step[0], at[1] + b * step[1], at[2] + c * step[2]
                    if not (0 <= x < blocked.shape[0] and 0 <= y < blocked.shape[1] and 0 <= z < blocked.shape[2]):
                        return False
                    if blocked[x, y, z]:
                        return False
        for axis in range(3):
            if reach[axis]:
                at[axis] += step[axis]
                due[axis] += every[axis]
    return True


@kernel(types.UniTuple(int64, 3)(CELLS, _POINT, float64), turn=WHEN_CALLED)
def _nearest_free(blocked, point, reach):
    best, found = reach * reach + _TOUCH, (-1, -1, -1)
    nx, ny, nz = blocked.shape
    for i in range(max(0, int(point[0] - reach) - 1), min(nx, int(point[0] + reach) + 2)):
        for j in range(max(0, int(point[1] - reach) - 1), min(ny, int(point[1] + reach) + 2)):
            for k in range(max(0, int(point[2] - reach) - 1), min(nz, int(point[2] + reach) + 2)):
                if not blocked[i, j, k]:
                    away = (i + 0.5 - point[0]) ** 2 + (j + 0.5 - point[1]) ** 2 + (k + 0.5 - point[2]) ** 2
                    if away < best:
                        best, found = away, (i, j, k)
    return found


def path_length(points: Array) -> float:
    """m along a polygon (n, 3)."""
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
