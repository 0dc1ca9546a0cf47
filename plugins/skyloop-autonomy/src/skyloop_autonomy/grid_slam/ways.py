"""Ways through a level grid: clearances, A* over cells far enough from obstacles, and the retreat out of the band."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import boolean, float64, int64
from numpy.typing import NDArray

from skyloop.core.jit import kernel
from skyloop_client.messages import Array

CROWDED = 1.0
"""m beyond the band in which a way still costs more, so that ways keep off the band where there is room."""
CROWDED_COST = 1.0
"""Extra cost per metre at the edge of the band."""
UNKNOWN_COST = 3.0
"""Cost of a metre through unknown cells, where one through free cells costs 1: behind a wall there is more wall."""
NEIGHBOURS = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))


@kernel(int64(boolean[:, ::1], float64[:, ::1], int64[::1], int64[::1], int64[:, ::1]))
def _search(free, cost, start, goal, way):
    """A* over eight neighbours; the cells go into `way`, goal first. Returns their number, 0 if there is no way."""
    rows, columns = free.shape
    goal_i, goal_j = goal[0], goal[1]
    spent = np.full((rows, columns), np.inf)
    came = np.full((rows, columns), -1, np.int64)
    done = np.zeros((rows, columns), np.bool_)
    spent[start[0], start[1]] = 0.0
    # of two cells with the same estimate the one with the smaller number comes first: one order on every machine
    queue = [(0.0, start[0] * columns + start[1])]
    while len(queue) > 0:
        number = heapq.heappop(queue)[1]
        i, j = number // columns, number % columns
        if done[i, j]:
            continue
        done[i, j] = True
        if i == goal_i and j == goal_j:
            break
        for di, dj in NEIGHBOURS:
            x, y = i + di, j + dj
            if x < 0 or y < 0 or x >= rows or y >= columns or not free[x, y] or done[x, y]:
                continue
            # no cutting of corners
            if di != 0 and dj != 0 and not (free[i, y] and free[x, j]):
                continue
            length = math.sqrt(2.0) if di != 0 and dj != 0 else 1.0
            tried = spent[i, j] + length * 0.5 * (cost[i, j] + cost[x, y])
            if tried < spent[x, y]:
                spent[x, y] = tried
                came[x, y] = number
                a, b = abs(x - goal_i), abs(y - goal_j)
                ahead = max(a, b) + (math.sqrt(2.0) - 1.0) * min(a, b)
                heapq.heappush(queue, (tried + ahead, x * columns + y))
    if not done[goal_i, goal_j]:
        return 0
    count, number = 0, goal_i * columns + goal_j
    while number >= 0:
        way[count, 0], way[count, 1] = number // columns, number % columns
        count += 1
        number = came[number // columns, number % columns]
    return count


@dataclass(frozen=True)
class Retreat:
    """Away from the nearest obstacle."""

    direction: Array
    """(2,) unit vector, perpendicular to the surface of the obstacle."""
    clearance: float
    """m to the obstacle."""


class Ways:
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
            self._nearest: Any = nearest
        else:
            self.clearances, self._nearest = np.full(occupied.shape, np.inf), None
        near = np.clip(1.0 - (self.clearances - band) / crowded, 0.0, 1.0) if crowded > 0.0 else 0.0
        self.unknown = np.zeros_like(occupied) if unknown is None else unknown
        self._cost = np.ascontiguousarray(np.where(self.unknown, UNKNOWN_COST, 1.0) * (1.0 + CROWDED_COST * near))
        self._free = np.ascontiguousarray(self.clearances >= band)

    @classmethod
    def around(cls, cells: NDArray[np.int8], corner: Array, cell: float, band: float, points: Array) -> Ways:
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
        cells = np.empty((self._free.size, 2), np.int64)
        count = int(_search(self._free, self._cost, first, last, cells))
        if count == 0:
            return None
        middles = self.corner + (cells[:count][::-1] + 0.5) * self.cell
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

    def _along(self, start: Array, end: Array) -> tuple[Any, Any]:
        """Indices of the cells of a straight way, in steps of half a cell."""
        steps = max(math.ceil(float(np.hypot(*(end - start))) / (0.5 * self.cell)), 1)
        points = start + np.linspace(0.0, 1.0, steps + 1)[:, None] * (end - start)
        cells = np.floor((points - self.corner) / self.cell).astype(np.int64)
        cells = np.clip(cells, 0, np.array(self.occupied.shape) - 1)
        return cells[:, 0], cells[:, 1]

    def sees(self, start: Array, end: Array) -> bool:
        """Whether the straight way keeps out of the band."""
        return float(self.clearances[self._along(start, end)].min()) >= self.band

    def _straightened(self, points: Array) -> Array:
        """Leaves corners out between which the way is straight, but not nearer to walls than the way itself was, and
        not through unknown cells where the way itself was not."""
        at = np.clip(np.floor((points - self.corner) / self.cell).astype(int), 0, np.array(self.occupied.shape) - 1)
        room, unknown = self.clearances[at[:, 0], at[:, 1]], self.unknown[at[:, 0], at[:, 1]]
        kept = [0]
        while kept[-1] < len(points) - 1:
            first = kept[-1]
            low, high = first + 1, len(points) - 1
            # the furthest point in sight, by halves: sight is lost once on nearly all ways
            while low < high:
                middle = (low + high + 1) // 2
                piece = slice(first, middle + 1)
                limit = max(self.band, min(float(room[piece].min()), self.band + self._crowded))
                cells = self._along(points[first], points[middle])
                shown = bool(unknown[piece].any()) or not self.unknown[cells].any()
                if shown and self.clearances[cells].min() >= limit:
                    low = middle
                else:
                    high = middle - 1
            kept.append(low)
        return np.asarray(points[kept])
