"""Where a vehicle can fly level in a world: the distance to the nearest obstacle, shortest ways between points, and
tours and goals that a seed draws."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop.world.generation import generator
from skyloop.world.model import Model
from skyloop.world.occupancy import occupancy
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

if TYPE_CHECKING:
    from scipy.sparse import coo_array

NEAR_WALLS = 1.0
"""m; a way through cells with less clearance costs more, so ways keep to the middle of a room."""
TRIES = 400
"""Tours that are drawn before it gives up."""
SHORTEST_LEG = 0.6
"""m; corners that are nearer are joined, because a stop at each would take longer than the way."""
GOAL_TRIES = 200


class FreeSpace:
    """A level map of a part of a world. Moving objects are left out."""

    def __init__(
        self,
        model: Model,
        area: tuple[tuple[float, float], tuple[float, float]],
        heights: tuple[float, float],
        clearance: float,
        cell: float = 0.1,
    ) -> None:
        """area: m, the corner in the south-west and that in the north-east; heights: m, the lowest and the highest
        point of the vehicle on its way; clearance: m between the vehicle's middle and any obstacle."""
        from scipy.ndimage import distance_transform_edt

        (low, high), (bottom, top) = area, heights
        taken = occupancy(model, None, (*low, bottom), (*high, top), cell).any(axis=2)
        # outside of the area nothing is known
        walled = np.pad(taken, 1, constant_values=True)
        distance = distance_transform_edt(~walled)[1:-1, 1:-1]
        # the obstacle may begin anywhere within its cell, the vehicle be anywhere within its own
        self.clearances: Array = np.maximum(distance - 1.5, 0.0) * cell
        self.corner, self.cell_size, self.clearance = np.array(low, float), cell, clearance

    def cell(self, point: Array) -> tuple[int, int]:
        at = np.floor((np.asarray(point)[:2] - self.corner) / self.cell_size).astype(int)
        if (at < 0).any() or (at >= self.clearances.shape).any():
            raise ScenarioError(f"({point[0]:g}, {point[1]:g}) is outside of the part of the world that is searched")
        return int(at[0]), int(at[1])

    def point(self, cell: ArrayLike) -> Array:
        """(…, 2) m, the middles of cells."""
        return np.asarray(self.corner + (np.asarray(cell) + 0.5) * self.cell_size)

    def clearance_along(self, start: Array, end: Array) -> float:
        """m, the smallest clearance on a straight line."""
        cells = cells_along(start, end, self.corner, self.cell_size, self.clearances.shape)
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
            ends.append((here[both], there[both], cost[both] * np.hypot(di, dj) * self.cell_size))
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
            raise ScenarioError(f"no path leads to ({goal[0]:g}, {goal[1]:g})")
        chain = [number]
        while chain[-1] != self.start:
            chain.append(int(self.before[chain[-1]]))
        points = self.space.point(self.cells[chain[::-1]])

        def is_free(first: int, last: int) -> bool:
            return self.space.clearance_along(points[first], points[last]) >= self.space.clearance

        return np.asarray(points[corners_kept(len(points), is_free, by_halves=True)])


TOLERANCE = 0.03
"""Of the length of a tour."""


def way_length(points: Array) -> float:
    """m, of the straight lines between points."""
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def draw_tour(space: FreeSpace, start: Array, length: float, seed: int) -> Array:
    """(n, 2) m, corners of a tour of `length` m, give or take `TOLERANCE`, that begins and ends at `start`.

    It leads to cells far from those it has seen."""
    chance = generator(seed, "exploring")
    start = np.asarray(start, float)[:2]
    positions = space.ways_from(start).reachable
    if len(positions) < 100:
        raise ScenarioError(f"only {len(positions)} cells can be reached from ({start[0]:g}, {start[1]:g})")
    best: Array | None = None
    for _ in range(TRIES):
        found = _one_tour(space, start, length, positions, chance)
        if best is None or abs(way_length(found) - length) < abs(way_length(best) - length):
            best = found
        if abs(way_length(best) - length) <= TOLERANCE * length:
            return best
    assert best is not None
    raise ScenarioError(f"no tour of {length:g} m was found; the nearest has {way_length(best):.1f} m")


def _one_tour(space: FreeSpace, start: Array, length: float, positions: Array, chance: np.random.Generator) -> Array:
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


def draw_goals(
    space: FreeSpace, start: Array, count: int, apart: tuple[float, float], room: float, chance: np.random.Generator
) -> tuple[Array, float]:
    """(count, 2) m, goals anywhere that can be reached, and m of the shortest way through all of them.

    apart: m of way from one goal to the next, at least and at most; room: m around each goal."""
    here, goals, length = np.asarray(start, float)[:2], [], 0.0
    for number in range(count):
        ways = space.ways_from(here)
        positions = ways.reachable
        positions = positions[[space.clearances[space.cell(position)] >= room for position in positions]]
        for _ in range(GOAL_TRIES if len(positions) else 0):
            goal = positions[chance.integers(len(positions))]
            way = way_length(ways.to(goal))
            if apart[0] <= way <= apart[1]:
                break
        else:
            raise ScenarioError(
                f"goal {number + 1} of {count} was not found: with {room:g} m around it, none of {GOAL_TRIES} points "
                f"is {apart[0]:g} to {apart[1]:g} m from the one before; give fewer goals or less room"
            )
        goals.append(goal)
        length, here = length + way, goal
    return np.array(goals), length


# ---- straight lines over cells


def corners_kept(count: int, is_free: Callable[[int, int], bool], *, by_halves: bool = False) -> list[int]:
    """Which of `count` points of a path are kept if each one is joined to the farthest that a straight line reaches.

    is_free: whether the line between two of the points, by their numbers, is free. Neighbours count as joined.
    by_halves: far fewer lines are asked for, and the farthest is found only where sight is lost once, as on most ways.
    """
    kept = [0]
    while kept[-1] < count - 1:
        first, low, high = kept[-1], kept[-1] + 1, count - 1
        while low < high:
            last = (low + high + 1) // 2 if by_halves else high
            if is_free(first, last):
                low = last
            else:
                high = last - 1
        kept.append(low)
    return kept


def cells_along(
    start: Array, end: Array, corner: Array, cell: float, shape: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Indices of the cells of a flat grid on a straight line, looked at in steps of half a cell."""
    steps = max(math.ceil(float(np.hypot(*(end - start))) / (0.5 * cell)), 1)
    points = start + np.linspace(0.0, 1.0, steps + 1)[:, None] * (end - start)
    cells = np.clip(np.floor((points - corner) / cell).astype(np.int64), 0, np.array(shape) - 1)
    return cells[:, 0], cells[:, 1]
