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

from skyloop.benchmarks.box_worlds import BoxWorld, box_world
from skyloop.core.results import Figure
from skyloop_autonomy.planning.global_planner import GlobalPlannerConfig, find_way, sub_goal
from skyloop_autonomy.planning.grid import Grid, grid_from_distance, inflated
from skyloop_autonomy.planning.local_planner import LocalPlannerConfig, back_up, plan_motion
from skyloop_autonomy.planning.replanning import Surroundings, best_way
from skyloop_client.messages import Array

SIDE = 22.0
"""m: 110 × 110 cells of 0.2 m, as E2ES's map."""
LAYERS = 15
WAY, MOTION = GlobalPlannerConfig(), LocalPlannerConfig()
FINE = 0.1
"""m, the cells of the true map on which the optimum is found."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The amount of measurement. The defaults give the figures in docs/explanations/benchmarks.md."""

    worlds: int = 20
    boxes: int = 34
    places: int = 30
    """Places along each way at which the local planner is asked."""
    optima: int = 4
    """Worlds in which the shortest way is searched, which takes some seconds each."""


def measure(sizes: Sizes | None = None) -> list[Figure]:
    """All figures of `skyloop bench plan`."""
    sizes = sizes or Sizes()
    worlds = [box_world(seed, SIDE, sizes.boxes) for seed in range(1, sizes.worlds + 1)]
    # the first call of each compiles it
    _ways(worlds[:1])
    _motions(worlds[:1], 2)
    _space(worlds[:1])
    _no_way_ms(worlds[0])
    _shut_in_ms(worlds[0])
    ways = _ways(worlds)
    ratios = _ratios(worlds[: sizes.optima])
    motions, clouds = _motions(worlds, sizes.places)
    grid = f"{len(worlds)} halls of 110 × 110 cells with {sizes.boxes} boxes, corner to corner"
    cloud = f"{len(motions)} places, clouds of {min(clouds)} to {max(clouds)} points within 4 m"
    blocked = np.array([_no_way_ms(world) for world in worlds])
    shut_in = max(_shut_in_ms(world) for world in worlds)
    space = _space(worlds)
    return [
        _time(
            "global_ms",
            ways.mean(),
            13.0,
            f"shortest and roomy way with their inflation and sub-goal; {grid}",
        ),
        _time("global_worst_ms", max(ways.max(), blocked.max()), 13.0, "also where there is no way to the goal"),
        _time("local_ms", motions.mean(), 3.2, f"motion towards the sub-goal, or the backup plan; {cloud}"),
        _time("local_worst_ms", max(motions.max(), shut_in), 3.2, "also shut in, where nothing is free"),
        Figure("path_ratio", float(ratios.max()), "1", 1.15, _RATIO.format(len(ratios)), lower_is_better=True),
        Figure("path_ratio_mean", float(ratios.mean()), "1", None, "the mean of these", lower_is_better=True),
        _time("space_ms", space.mean(), None, f"A* through 110 × 110 × {LAYERS} cells, from a distance field"),
        _time("space_worst_ms", space.max(), None, "the slowest of these"),
    ]


_RATIO = "longest of {} ways over the shortest that keeps as far from the true boxes, at any angle"


def _time(key: str, value: float, aim: float | None, note: str) -> Figure:
    return Figure(key, float(value), "ms", aim, f"processor time on one core; {note}", lower_is_better=True)


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


def _motions(worlds: list[BoxWorld], places: int) -> tuple[Array, list[int]]:
    """ms of each local plan along the ways, and the sizes of the clouds."""
    taken, sizes = [], []
    for world in worlds:
        cloud = world.cloud()
        grid = inflated(world.occupied(), (0.0, 0.0), 0.2, WAY.inflation)
        way = find_way(grid, world.start, world.goal, WAY)
        if way.refusal:
            continue
        for share in np.linspace(0.0, 0.95, places):
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
    """(3, 3): a place on the way, flying along it at 0.6 m/s."""
    legs = np.diff(points, axis=0)
    lengths = np.linalg.norm(legs, axis=1)
    gone = share * lengths.sum()
    leg = int(min(np.searchsorted(np.cumsum(lengths), gone, side="right"), len(legs) - 1))
    direction = legs[leg] / lengths[leg]
    place = points[leg] + direction * (gone - lengths[:leg].sum())
    return np.vstack([place, 0.6 * direction, np.zeros(3)])


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
