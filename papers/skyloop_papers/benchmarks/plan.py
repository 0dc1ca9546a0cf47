"""`skyloop bench plan`: time per plan in E2ES's grids, and the length of the way beside the shortest one there is."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import dijkstra

from skyloop.world.generation import generator
from skyloop_autonomy.planning.global_planner import GlobalPlannerConfig, find_way, sub_goal
from skyloop_autonomy.planning.grid import Grid, grid_from_distance, inflated
from skyloop_autonomy.planning.local_planner import LocalPlannerConfig, back_up, plan_motion
from skyloop_autonomy.planning.replanning import Surroundings, best_way
from skyloop_client.messages import Array
from skyloop_papers.benchmarks.measurement import RATIO, Measurement, Measurements, lower

SIDE = 22.0
"""m: 110 × 110 cells of 0.2 m, as E2ES's map."""
LAYERS = 15
WAY, MOTION = GlobalPlannerConfig(), LocalPlannerConfig()
FINE = 0.1
"""m, the cells of the true map on which the optimum is found."""
CELL = 0.2
"""m, as E2ES's maps have it."""
HEIGHT = 3.0
FLIGHT_HEIGHT = 1.5
CORNER = 1.4
"""m from the walls to start and goal."""


@dataclass(frozen=True, slots=True, eq=False)
class BoxWorld:
    """A square hall with upright boxes."""

    side: float
    """m; the hall reaches from 0 to `side` along x and y."""
    boxes: Array
    """(n, 4) m: low x, low y, high x, high y."""

    @property
    def start(self) -> Array:
        return np.array([CORNER, CORNER, FLIGHT_HEIGHT])

    @property
    def goal(self) -> Array:
        return np.array([self.side - CORNER, self.side - CORNER, FLIGHT_HEIGHT])

    def occupied(self, cell: float = CELL) -> NDArray[np.bool_]:
        """(n, n): the cells that a box or a wall touches; the walls are the outermost cells."""
        n = round(self.side / cell)
        low = np.arange(n) * cell
        out = np.zeros((n, n), bool)
        out[[0, -1], :] = out[:, [0, -1]] = True
        for x0, y0, x1, y1 in self.boxes:
            across, along = (low < x1) & (low + cell > x0), (low < y1) & (low + cell > y0)
            out |= across[:, None] & along[None, :]
        return out

    def cloud(self, spacing: float = 0.1) -> Array:
        """(n, 3) m: points on all sides of the boxes and walls, from the floor up."""
        heights = np.arange(0.0, HEIGHT, 2.0 * spacing)
        walls = np.array([CELL, CELL, self.side - CELL, self.side - CELL])
        ring = np.vstack([_ring(box, spacing) for box in (*self.boxes, walls)])
        return np.column_stack([np.repeat(ring, len(heights), axis=0), np.tile(heights, len(ring))])

    def clearance(self, position: Array) -> float:
        """m from a position to the nearest side of a box or wall; negative inside."""
        x, y = float(position[0]), float(position[1])
        best = min(x - CELL, y - CELL, self.side - CELL - x, self.side - CELL - y)
        for x0, y0, x1, y1 in self.boxes:
            dx, dy = max(x0 - x, x - x1), max(y0 - y, y - y1)
            best = min(best, float(np.hypot(max(dx, 0.0), max(dy, 0.0))) if max(dx, dy) > 0.0 else max(dx, dy))
        return best


def box_world(seed: int, side: float = 16.0, boxes: int = 18) -> BoxWorld:
    """Boxes of 0.4 to 2.5 m anywhere but at the start and the goal."""
    chance = generator(seed, "box world")
    placed: list[Array] = []
    while len(placed) < boxes:
        size, middle = chance.uniform(0.4, 2.5, 2), chance.uniform(0.0, side, 2)
        low, high = middle - 0.5 * size, middle + 0.5 * size
        clear = all(
            np.linalg.norm(np.maximum(np.maximum(low - end, end - high), 0.0)) > 1.2
            for end in (np.full(2, CORNER), np.full(2, side - CORNER))
        )
        if clear:
            placed.append(np.concatenate([low, high]))
    return BoxWorld(side, np.array(placed))


def _ring(box: Array, spacing: float) -> Array:
    """(n, 2) m: points along the four sides."""
    x0, y0, x1, y1 = box
    xs = np.linspace(x0, x1, max(2, int((x1 - x0) / spacing) + 2))
    ys = np.linspace(y0, y1, max(2, int((y1 - y0) / spacing) + 2))
    sides = [np.column_stack([xs, np.full(len(xs), y)]) for y in (y0, y1)]
    sides += [np.column_stack([np.full(len(ys), x), ys]) for x in (x0, x1)]
    return np.vstack(sides)


def plan(worlds: int = 20, boxes: int = 34, positions: int = 30, optima: int = 4) -> Measurements:
    """Planners in E2ES's grids: time per plan, and the way's length beside the shortest there is.

    `positions`: along each way, at which the local planner is asked; `optima`: worlds in which the shortest way is
    searched, which takes some seconds each."""
    halls = [box_world(seed, SIDE, boxes) for seed in range(1, worlds + 1)]
    # the first call of each compiles it
    _ways(halls[:1])
    _motions(halls[:1], 2)
    _space(halls[:1])
    _no_way_ms(halls[0])
    _shut_in_ms(halls[0])
    ways = _ways(halls)
    ratios = _ratios(halls[:optima])
    motions, clouds = _motions(halls, positions)
    blocked = max(_no_way_ms(hall) for hall in halls)
    shut_in = max(_shut_in_ms(hall) for hall in halls)
    space = _space(halls)
    grid = f"{len(halls)} halls of 110 × 110 cells with {boxes} boxes, corner to corner"
    cloud = f"{len(motions)} places, clouds of {min(clouds)} to {max(clouds)} points within 4 m"
    ratio = f"longest of {len(ratios)} ways over the shortest that keeps as far from the true boxes, at any angle"
    yield _time("global_ms", ways.mean(), 13.0, f"shortest and roomy way with their inflation and sub-goal; {grid}")
    yield _time("global_worst_ms", max(ways.max(), blocked), 13.0, "also where there is no way to the goal")
    yield _time("local_ms", motions.mean(), 3.2, f"motion towards the sub-goal, or the backup plan; {cloud}")
    yield _time("local_worst_ms", max(motions.max(), shut_in), 3.2, "also shut in, where nothing is free")
    yield lower("path_ratio", ratios.max(), RATIO, 1.15, ratio)
    yield lower("path_ratio_mean", ratios.mean(), RATIO, None, "the mean of these")
    yield _time("space_ms", space.mean(), None, f"A* through 110 × 110 × {LAYERS} cells, from a distance field")
    yield _time("space_worst_ms", space.max(), None, "the slowest of these")


def _time(key: str, value: float, aim: float | None, note: str) -> Measurement:
    return lower(key, value, "ms", aim, f"processor time on one core; {note}")


def _ways(worlds: list[BoxWorld]) -> Array:
    """ms of each global plan."""
    taken = []
    for world in worlds:
        seen = _seen(world.occupied())
        began = time.process_time()
        grid, way = best_way(seen, world.start, world.goal, WAY)
        if not way.refusal:
            sub_goal(grid, way, world.start, WAY)
        taken.append(1e3 * (time.process_time() - began))
    return np.array(taken)


def _seen(occupied: NDArray[np.bool_]) -> Surroundings:
    return Surroundings(occupied, (0.0, 0.0), SIDE / len(occupied), np.empty((0, 3)))


def _ratios(worlds: list[BoxWorld]) -> Array:
    """The lengths of the ways over those of the shortest ones, where there is a way."""
    ways = [best_way(_seen(world.occupied()), world.start, world.goal, WAY)[1] for world in worlds]
    pairs = [(way, world) for way, world in zip(ways, worlds, strict=True) if not way.refusal]
    return np.array([way.length / shortest_length(world, WAY.inflation) for way, world in pairs])


def _shut_in_ms(world: BoxWorld) -> float:
    """Every ray of every length and then the backup plan, because the vehicle stands in a narrow cage."""
    state = _state_along(np.array([world.start, world.goal]), 0.0)
    state[1] = 0.0
    turns, heights = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 200), np.arange(0.0, 5.0, 0.2))
    side = np.column_stack([np.cos(turns.ravel()), np.sin(turns.ravel())])
    cage = np.column_stack([state[0][:2] + 0.4 * side, heights.ravel()])
    lids = [np.column_stack([state[0][:2] + r * side[:200], np.full(200, z)]) for r in (0.1, 0.3) for z in (1.1, 1.9)]
    cloud = np.vstack([cage, *lids])
    began = time.process_time()
    assert plan_motion(state, world.goal, cloud, MOTION) is None
    back_up(state, cloud, MOTION)
    return 1e3 * (time.process_time() - began)


def _no_way_ms(world: BoxWorld) -> float:
    """The search of everything that can be reached, because a wall cuts off the goal."""
    occupied = world.occupied()
    occupied[-20, :] = True
    began = time.process_time()
    _, way = best_way(_seen(occupied), world.start, world.goal, WAY)
    assert way.refusal
    return 1e3 * (time.process_time() - began)


def _motions(worlds: list[BoxWorld], positions: int) -> tuple[Array, list[int]]:
    """ms of each local plan along the ways, and the sizes of the clouds."""
    taken, sizes = [], []
    for world in worlds:
        cloud = world.cloud()
        grid = inflated(world.occupied(), (0.0, 0.0), 0.2, WAY.inflation)
        way = find_way(grid, world.start, world.goal, WAY)
        if way.refusal:
            continue
        for share in np.linspace(0.0, 0.95, positions):
            state = _state_along(way.points, share)
            near = cloud[np.linalg.norm(cloud - state[0], axis=1) < 4.0]
            aim = sub_goal(grid, find_way(grid, state[0], world.goal, WAY), state[0], WAY)
            began = time.process_time()
            if plan_motion(state, aim, near, MOTION) is None:
                back_up(state, near, MOTION)
            taken.append(1e3 * (time.process_time() - began))
            sizes.append(len(near))
    return np.array(taken), sizes


def _state_along(points: Array, share: float) -> Array:
    """(3, 3): a point on the way, flying along it at 0.6 m/s."""
    legs = np.diff(points, axis=0)
    lengths = np.linalg.norm(legs, axis=1)
    gone = share * lengths.sum()
    leg = int(min(np.searchsorted(np.cumsum(lengths), gone, side="right"), len(legs) - 1))
    direction = legs[leg] / lengths[leg]
    position = points[leg] + direction * (gone - lengths[:leg].sum())
    return np.vstack([position, 0.6 * direction, np.zeros(3)])


def _space(worlds: list[BoxWorld]) -> Array:
    """ms of each search in three dimensions; the distance field is the map's work and not counted."""
    taken = []
    for world in worlds:
        occupied = np.repeat(world.occupied()[:, :, None], LAYERS, axis=2)
        occupied[:, :, [0, -1]] = True
        distance = distance_transform_edt(~occupied) * 0.2
        began = time.process_time()
        find_way(grid_from_distance(distance, (0.0, 0.0, 0.0), 0.2, WAY.inflation), world.start, world.goal, WAY)
        taken.append(1e3 * (time.process_time() - began))
    return np.array(taken)


def shortest_length(world: BoxWorld, clearance: float) -> float:
    """m of the shortest way at any angle that keeps `clearance` from the boxes: Dijkstra over what sees each other.

    On cells of 0.1 m, between start, goal and the cells at the corners of the blocked ones, where it turns."""
    occupied = world.occupied(FINE)
    grid = inflated(occupied, (0.0, 0.0), FINE, clearance)
    points = np.vstack([world.start, world.goal, _turning_points(grid, world.start[2])])
    rows, columns, lengths = [], [], []
    for i, j in itertools.combinations(range(len(points)), 2):
        if grid.sees(points[i], points[j]):
            rows.append(i)
            columns.append(j)
            lengths.append(float(np.linalg.norm(points[i] - points[j])))
    graph = coo_matrix((lengths, (rows, columns)), shape=(len(points), len(points)))
    return float(dijkstra(graph.tocsr(), directed=False, indices=0)[1])


def _turning_points(grid: Grid, height: float) -> Array:
    """(n, 3): free cells that touch a blocked one at a corner only."""
    padded = np.pad(grid.blocked[:, :, 0], 1, constant_values=True)
    middle = slice(1, -1)
    side = padded[:-2, middle] | padded[2:, middle] | padded[middle, :-2] | padded[middle, 2:]
    corner = padded[:-2, :-2] | padded[:-2, 2:] | padded[2:, :-2] | padded[2:, 2:]
    cells = np.argwhere(~padded[middle, middle] & ~side & corner)
    return np.array([grid.centre((i, j, 0), height) for i, j in cells]).reshape(-1, 3)
