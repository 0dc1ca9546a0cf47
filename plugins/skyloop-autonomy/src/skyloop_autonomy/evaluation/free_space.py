"""Where a vehicle can fly level in a world: the distance to the nearest obstacle, and shortest ways between points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.world.model import Model
from skyloop.world.occupancy import occupancy
from skyloop_autonomy.planning.string_pulling import cells_along, corners_kept
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

NEAR_WALLS = 1.0
"""m; a way through cells with less clearance costs more, so ways keep to the middle of a room."""


@dataclass(frozen=True)
class Slab:
    """The part of a world that a level flight passes through."""

    low: tuple[float, float]
    """m, east and north."""
    high: tuple[float, float]
    bottom: float
    """m, the lowest point of the vehicle and some room below."""
    top: float
    cell: float = 0.1


class FreeSpace:
    """A level map of one slab of a world. Moving things are left out."""

    def __init__(self, model: Model, slab: Slab, clearance: float) -> None:
        """clearance: m between the vehicle's middle and any obstacle."""
        from scipy.ndimage import distance_transform_edt

        lower, upper = (*slab.low, slab.bottom), (*slab.high, slab.top)
        taken = occupancy(model, None, lower, upper, slab.cell).any(axis=2)
        # outside of the slab nothing is known
        walled = np.pad(taken, 1, constant_values=True)
        distance = distance_transform_edt(~walled)[1:-1, 1:-1]
        # the obstacle may begin anywhere within its cell, the vehicle be anywhere within its own
        self.clearances: Array = np.maximum(distance - 1.5, 0.0) * slab.cell
        self.slab, self.clearance = slab, clearance

    def cell(self, point: Array) -> tuple[int, int]:
        at = np.floor((np.asarray(point)[:2] - self.slab.low) / self.slab.cell).astype(int)
        if (at < 0).any() or (at >= self.clearances.shape).any():
            raise ScenarioError(f"({point[0]:g}, {point[1]:g}) is outside of the part of the world that is searched")
        return int(at[0]), int(at[1])

    def point(self, cell: Array) -> Array:
        """(…, 2) m, the middles of cells."""
        return np.asarray(self.slab.low + (np.asarray(cell) + 0.5) * self.slab.cell)

    def clearance_along(self, start: Array, end: Array) -> float:
        """m, the smallest clearance on a straight line."""
        cells = cells_along(start, end, np.array(self.slab.low), self.slab.cell, self.clearances.shape)
        return float(self.clearances[cells].min())

    @cached_property
    def _graph(self) -> tuple[Any, Any, Any]:
        """A graph of the free cells with their neighbours, the number of each cell or -1, and the cells.

        SciPy searches it from one cell to all others at once."""
        from scipy.sparse import coo_array

        free = self.clearances >= self.clearance
        numbers = np.full(free.shape, -1, np.int64)
        numbers[free] = np.arange(int(free.sum()))
        crowded = 1.0 + 2.0 * np.maximum(NEAR_WALLS - self.clearances, 0.0) / NEAR_WALLS
        ends: list[tuple[Any, Any, Any]] = []
        for di, dj in ((1, 0), (0, 1), (1, 1), (1, -1)):
            here = numbers[: -di or None, max(-dj, 0) : -dj if dj > 0 else None]
            there = numbers[di:, max(dj, 0) : dj if dj < 0 else None]
            cost = crowded[di:, max(dj, 0) : dj if dj < 0 else None]
            both = (here >= 0) & (there >= 0)
            ends.append((here[both], there[both], cost[both] * np.hypot(di, dj) * self.slab.cell))
        rows, columns, costs = (np.concatenate(part) for part in zip(*ends, strict=True))
        count = int(free.sum())
        graph = coo_array((costs, (rows, columns)), (count, count)).tocsr()
        return graph, numbers, np.argwhere(free)

    def ways_from(self, start: Array) -> WaysFrom:
        """The shortest ways from a point to everywhere that can be reached."""
        from scipy.sparse.csgraph import dijkstra

        graph, numbers, cells = self._graph
        number = int(numbers[self.cell(start)])
        if number < 0:
            free = float(self.clearances[self.cell(start)])
            raise ScenarioError(
                f"({start[0]:g}, {start[1]:g}) has only {free:.2f} m around it, and {self.clearance:g} m are asked for"
            )
        costs, before = dijkstra(graph, directed=False, indices=number, return_predecessors=True)
        return WaysFrom(self, number, costs, before, cells)


@dataclass(frozen=True, slots=True, eq=False)
class WaysFrom:
    """Shortest ways from one cell."""

    space: FreeSpace
    start: int
    costs: Array
    """By cell; infinite where nothing leads."""
    before: NDArray[np.int32]
    cells: Array

    @property
    def reachable(self) -> Array:
        """(n, 2) m."""
        return self.space.point(self.cells[np.isfinite(self.costs)])

    def to(self, goal: Array) -> Array:
        """(n, 2) m, the corners of the way to a point, start and goal included."""
        _, numbers, _ = self.space._graph
        number = int(numbers[self.space.cell(goal)])
        if number < 0 or not np.isfinite(self.costs[number]):
            raise ScenarioError(f"no way leads to ({goal[0]:g}, {goal[1]:g})")
        chain = [number]
        while chain[-1] != self.start:
            chain.append(int(self.before[chain[-1]]))
        points = self.space.point(self.cells[chain[::-1]])

        def is_free(first: int, last: int) -> bool:
            return self.space.clearance_along(points[first], points[last]) >= self.space.clearance

        return np.asarray(points[corners_kept(len(points), is_free, by_halves=True)])
