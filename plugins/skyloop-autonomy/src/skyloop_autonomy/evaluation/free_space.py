"""Where a vehicle can fly level in a world: the distance to the nearest obstacle, and shortest ways between points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop.world.generation import generator
from skyloop.world.model import Model, MoverStates
from skyloop.world.occupancy import occupancy
from skyloop_autonomy.planning.string_pulling import cells_along, corners_kept
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

if TYPE_CHECKING:
    from scipy.sparse import coo_array

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
    """A level map of one slab of a world. Moving objects are left out."""

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

    def point(self, cell: ArrayLike) -> Array:
        """(…, 2) m, the middles of cells."""
        return np.asarray(self.slab.low + (np.asarray(cell) + 0.5) * self.slab.cell)

    def clearance_along(self, start: Array, end: Array) -> float:
        """m, the smallest clearance on a straight line."""
        cells = cells_along(start, end, np.array(self.slab.low), self.slab.cell, self.clearances.shape)
        return float(self.clearances[cells].min())

    @cached_property
    def _graph(self) -> tuple[coo_array, NDArray[np.int64], NDArray[np.int64]]:
        """A graph of the free cells with their neighbours, the number of each cell or -1, and the cells.

        SciPy searches it from one cell to all others at once."""
        from scipy.sparse import coo_array

        free = self.clearances >= self.clearance
        numbers = np.full(free.shape, -1, np.int64)
        numbers[free] = np.arange(int(free.sum()))
        crowded = 1.0 + 2.0 * np.maximum(NEAR_WALLS - self.clearances, 0.0) / NEAR_WALLS
        ends: list[tuple[NDArray[np.int64], NDArray[np.int64], Array]] = []
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
    cells: NDArray[np.int64]

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


TOLERANCE = 0.03
"""Of the length of a round."""
TRIES = 400
"""Rounds that are drawn before it gives up."""
SHORTEST_LEG = 0.6
"""m; corners that are nearer are joined, because a stop at each would take longer than the way."""


def way_length(points: Array) -> float:
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def exploring_round(space: FreeSpace, start: Array, length: float, seed: int) -> Array:
    """(n, 2) m, corners of a round of `length` m, give or take `TOLERANCE`, that begins and ends at `start`."""
    chance = generator(seed, "exploring")
    start = np.asarray(start, float)[:2]
    positions = space.ways_from(start).reachable
    if len(positions) < 100:
        raise ScenarioError(f"only {len(positions)} cells can be reached from ({start[0]:g}, {start[1]:g})")
    best: Array | None = None
    for _ in range(TRIES):
        found = _one_round(space, start, length, positions, chance)
        if best is None or abs(way_length(found) - length) < abs(way_length(best) - length):
            best = found
        if abs(way_length(best) - length) <= TOLERANCE * length:
            return best
    assert best is not None
    raise ScenarioError(f"no round of {length:g} m was found; the nearest has {way_length(best):.1f} m")


def _one_round(space: FreeSpace, start: Array, length: float, positions: Array, chance: np.random.Generator) -> Array:
    """Goes to points far from those it has seen until the way back is all that is left."""
    home = space.ways_from(start)
    way, here, seen = start[None, :], home, [start]
    for _ in range(50):
        candidates = positions[chance.integers(len(positions), size=8)]
        apart = np.linalg.norm(candidates[:, None, :] - np.array(seen)[None, :, :], axis=2).min(axis=1)
        for goal in candidates[np.argsort(-apart)]:
            there, back = here.to(goal), home.to(goal)[::-1]
            total = way_length(way) + way_length(there) + way_length(back)
            if total <= 1.02 * length:
                way = np.vstack([way, there[1:]])
                here, seen = space.ways_from(goal), [*seen, goal]
                break
        else:
            break
        if way_length(way) + way_length(back) >= 0.98 * length:
            break
    whole = np.vstack([way, home.to(way[-1])[::-1][1:]])
    whole[0] = whole[-1] = start
    return without_short_legs(space, whole)


def without_short_legs(space: FreeSpace, points: Array) -> Array:
    """Leaves out corners that are close to their neighbour, where the straight line past them is free."""
    kept = [points[0]]
    for number in range(1, len(points) - 1):
        near = min(np.linalg.norm(points[number] - kept[-1]), np.linalg.norm(points[number + 1] - points[number]))
        past = space.clearance_along(kept[-1], points[number + 1])
        if near >= SHORTEST_LEG or past < space.clearance:
            kept.append(points[number])
    return np.array([*kept, points[-1]])


TOUCHING = 2e-3
"""m. A surface nearer than this to the face of a voxel may lie on either side of it."""


def true_voxels(
    model: Model, motion: MoverStates | None, origin: ArrayLike, shape: tuple[int, ...], cell: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(nx, ny, nz) which voxels of a map are occupied in truth, and which are unclear.

    A voxel is unclear if it is only touched: shifted a little it would be free, so no sensor can tell.
    """
    lower: Array = np.asarray(origin, float)
    upper = lower + cell * np.array(shape)
    ways = [np.array([x, y, z]) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    # the box is a little smaller, or rounding could add a voxel
    shifted = [occupancy(model, motion, lower + TOUCHING * way, upper + TOUCHING * way - 1e-6, cell) for way in ways]
    always, ever = np.logical_and.reduce(shifted), np.logical_or.reduce(shifted)
    return always, ever & ~always
