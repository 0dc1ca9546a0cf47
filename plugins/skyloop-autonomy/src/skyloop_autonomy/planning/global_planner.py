"""The way to a goal over the whole map, and the point of it at which the local planner aims.

On a projection the way is found by jump point search, in a map of three dimensions by A*. Then points that can be
skipped in a straight line are dropped. The sub-goal lies on a Bézier curve through the next points of the way.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from skyloop.core import quantities
from skyloop.world.free_space import corners_kept
from skyloop_autonomy.planning.grid import Grid, path_length
from skyloop_autonomy.planning.grid_search import cheapest_way, jump_point_search
from skyloop_client.messages import Array


class GlobalPlannerConfig(BaseModel):
    """How the way over the whole map is found. The defaults are those of E2ES where it has one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    inflation: quantities.Length = 0.5
    """m, the clearance of the path from each occupied cell. E2ES has 0.4 m, less than the 0.5 m of its own local
    planner, so it plans through gaps that it does not fly through."""
    tight: quantities.Length = 0.35
    """m, used instead of `inflation` if there is no other path, or only a much longer one, as through a narrow door
    oblique to the cells of the map; at most `inflation`. The local planner decides whether it fits through."""
    roomy: quantities.Length = 0.85
    """m, the clearance from occupied cells if such a path is not much longer; at least `inflation`."""
    detour: quantities.Positive = 1.05
    """How many times longer a path with `roomy` clearance may be than the shortest one; 1.2 m more is always
    allowed."""
    goal_snap: quantities.Length = 1.0
    """m, the distance within which a goal inside an obstacle is moved to the nearest free cell; beyond, it is
    rejected."""
    start_snap: quantities.Length = 1.5
    """m, the distance within which the path may begin if the vehicle itself is too near to an obstacle."""
    look_ahead: quantities.Length = 3.0
    """m, the distance from the vehicle to the sub-goal."""
    skip_nearer: quantities.Length = 1.5
    """m; a point of the path nearer than this is skipped if the next one is in sight, and the sub-goal is no nearer
    than this unless the goal is."""


@dataclass(frozen=True, slots=True, eq=False)
class PlannedWay:
    """What the search found: points, or the reason why there are none."""

    points: Array
    """(n, 3) m from the vehicle to the goal; (0, 3) without a way."""
    snapped: bool = False
    """The goal was inside an obstacle; the last point is the free position nearest to it."""
    refusal: str = ""
    """Why there is no way, in one line."""

    @property
    def length(self) -> float:
        return path_length(self.points)


def find_way(grid: Grid, start: Array, goal: Array, config: GlobalPlannerConfig) -> PlannedWay:
    """The shortest way over the grid, pulled straight."""
    if not (np.isfinite(start).all() and np.isfinite(goal).all()):
        return _refused(f"the goal {_shown(goal)} or the position {_shown(start)} is not a number; send another goal")
    if not grid.holds(grid.cell_of(goal)):
        low, high = grid.origin, grid.origin + grid.cell * np.array(grid.blocked.shape)
        return _refused(
            f"the goal {_shown(goal)} is outside the map, which reaches from {_shown(low)} to {_shown(high)}"
        )
    end, snapped = goal, False
    if not grid.is_free(goal):
        nearest = grid.nearest_free(goal, config.goal_snap)
        if nearest is None:
            return _refused(
                f"the goal {_shown(goal)} is inside an obstacle and no free place is within {config.goal_snap:g} m "
                "of it; choose a goal in the open"
            )
        end, snapped = grid.centre(nearest, float(goal[2])), True
    first, inside = grid.cell_of(start), not grid.is_free(start)
    if inside:
        nearest = grid.nearest_free(start, config.start_snap)
        if nearest is None:
            return _refused(
                f"the vehicle at {_shown(start)} has no free place within {config.start_snap:g} m; fly it into the open"
            )
        first = nearest
    cells = _searched(grid, first, grid.cell_of(end))
    if cells is None:
        return _refused(f"no path from {_shown(start)} to {_shown(end)} on the map; choose another goal")
    return PlannedWay(_pulled_straight(grid, _points(grid, cells, start, end), start_is_free=not inside), snapped)


def _searched(grid: Grid, first: tuple[int, int, int], last: tuple[int, int, int]) -> NDArray[np.int64] | None:
    """(n, 3) cells, or None."""
    if grid.flat:
        found = jump_point_search(grid.blocked[:, :, 0], first[:2], last[:2])
        return None if found is None else np.column_stack([found[0], np.zeros(len(found[0]), np.int64)])
    way = cheapest_way(grid.blocked, first, last)
    return None if way is None else way[0]


def _points(grid: Grid, cells: NDArray[np.int64], start: Array, end: Array) -> Array:
    """The centres of the cells between the two ends; in a flat grid the height changes evenly along the way."""
    inner = np.array([grid.centre(cell, 0.0) for cell in cells[1:-1]]).reshape(-1, 3)
    if not grid.is_free(start):
        inner = np.vstack([grid.centre(cells[0], 0.0), inner])
    points = np.vstack([start, inner, end])
    if grid.flat:
        steps = np.hypot(*np.diff(points[:, :2], axis=0).T)
        along = np.concatenate([[0.0], np.cumsum(steps)])
        share = along / along[-1] if along[-1] > 0.0 else np.linspace(0.0, 1.0, len(points))
        points[:, 2] = start[2] + share * (end[2] - start[2])
    return points


def _pulled_straight(grid: Grid, points: Array, *, start_is_free: bool) -> Array:
    """Without the points that are not needed: from each, on to the last one in sight.

    A search over cells leads along eight directions, so the way turns far beyond a corner. From the end, other points
    are in sight than from the start; the shorter result counts. Points between the turns are tried as well."""
    head, rest = (points[:0], points) if start_is_free else (points[:1], points[1:])
    if len(rest) > 2:
        rest = _filled(rest, grid.cell)
        rest = min(_corners(grid, rest), _corners(grid, rest[::-1])[::-1], key=path_length)
    return np.vstack([head, rest])


def _corners(grid: Grid, points: Array) -> Array:
    corners: Array = points[corners_kept(len(points), lambda first, last: grid.sees(points[first], points[last]))]
    return corners


def _filled(points: Array, cell: float) -> Array:
    """With points in between, no farther apart than the diagonal of a cell."""
    legs = []
    for start, end in itertools.pairwise(points):
        steps = max(math.ceil(float(np.hypot(*(end - start)[:2])) / (1.5 * cell)), 1)
        legs.append(start + np.arange(steps)[:, None] / steps * (end - start))
    return np.vstack([*legs, points[-1]])


def sub_goal(grid: Grid, way: PlannedWay, position: Array, config: GlobalPlannerConfig) -> Array:
    """(3,) m: the point at which the local planner aims.

    It lies on the Bézier curve whose control points are the vehicle and the next two points of the way: `look_ahead`
    from the vehicle, or as far along as the vehicle can see, but no nearer than `skip_nearer`. Motions end at rest, so
    a vehicle that aimed at the last point in sight before a corner would creep up to it."""
    if len(way.points) == 1:
        here: Array = way.points[0]
        return here
    ahead: Array = way.points[1:]
    while len(ahead) > 1 and float(np.linalg.norm(ahead[0] - position)) < config.skip_nearer:
        if not grid.sees(position, ahead[1]):
            break
        ahead = ahead[1:]
    curve = bezier(np.vstack([position, ahead[:2]]), np.linspace(0.0, 1.0, 33)[1:])
    away = np.linalg.norm(curve - position, axis=1)
    best: Array = ahead[0]
    for point, distance in zip(curve, away.tolist(), strict=True):
        if distance > config.look_ahead or (distance > config.skip_nearer and not grid.sees(position, point)):
            break
        best = point
    if not grid.is_free(position):
        # from inside the inflated band nothing is in sight; the way itself leads out of it
        best = ahead[0]
    return best


def point_along(points: Array, distance: float) -> Array:
    """(3,) m: the point of a polygon (n, 3) that is `distance` along it from its beginning, or its end."""
    for start, end in itertools.pairwise(points):
        length = float(np.linalg.norm(end - start))
        if distance < length:
            between: Array = start + distance / length * (end - start)
            return between
        distance -= length
    last: Array = points[-1]
    return last


def bezier(control: Array, at: Array) -> Array:
    """Points (n, 3) of the curve of control points (2 or 3, 3), by de Casteljau's rule; `at` is (n,) from 0 to 1."""
    layers = [np.repeat(point[None], len(at), axis=0) for point in control]
    while len(layers) > 1:
        layers = [a + (b - a) * at[:, None] for a, b in itertools.pairwise(layers)]
    return layers[0]


def _shown(point: Array) -> str:
    return "(" + ", ".join(f"{value:.1f}" for value in point.tolist()) + ")"


def _refused(reason: str) -> PlannedWay:
    return PlannedWay(np.empty((0, 3)), refusal=reason)


AHEAD = 2.0
"""m of the way that are moved to the middle."""
APART = 0.1
"""m between the points of it."""
LEVEL = 0.3
"""m above and below the way within which points count; a lintel is on neither side."""
WIDEST = 1.0
"""m to each side; where a gap is wider, its middle does not matter."""
SPARE = 0.15
"""m to each side beyond the room that is asked for; with more to spare, keeping to the middle is not needed."""
TIMES = 3
"""How often points are moved; once moved, other points may be the nearest ones."""


def through_the_middle(points: Array, position: Array, cloud: Array, room: float) -> Array | None:
    """(n, 3) m: the next metres of a way from where it passes `position`, moved between what is on both sides.

    points: (m, 3) m, the way; cloud: (n, 3) m. None if no gap is near that offers hardly more than `room`.

    The cells of the map are 0.2 m wide, and the points of a way are the middles of cells. In a door of 1 m, 0.1 m to
    one side is more than the vehicle has to spare."""
    way = _sampled(points, position)
    if len(way) < 2:
        return None
    low, high = way.min(axis=0) - WIDEST, way.max(axis=0) + WIDEST
    near = cloud[((cloud[:, :2] > low[:2]) & (cloud[:, :2] < high[:2])).all(axis=1)]
    ahead = np.gradient(way[:, :2], axis=0)
    ahead /= np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-9)
    aside = np.column_stack([-ahead[:, 1], ahead[:, 0]])
    narrow = False
    for _ in range(TIMES):
        left, right = _gaps(way, aside, near)
        narrow = narrow or bool((left + right < 2.0 * (room + SPARE)).any())
        # to the middle, or as far from a side as matters where the other side is far away
        half = 0.5 * (np.minimum(left, 2.0 * WIDEST) - np.minimum(right, 2.0 * WIDEST))
        push = np.clip(half, -np.maximum(WIDEST - left, 0.0), np.maximum(WIDEST - right, 0.0))
        way[:, :2] += aside * push[:, None]
    return way if narrow else None


def _sampled(points: Array, position: Array) -> Array:
    """Points `APART` along the way, from its point nearest to `position` on."""
    if len(points) < 2:
        return points
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(lengths)])
    at = np.arange(0.0, min(along[-1], 2.0 * AHEAD) + 1e-9, APART)
    way = np.column_stack([np.interp(at, along, points[:, axis]) for axis in range(3)])
    first = int(np.argmin(np.linalg.norm(way - position, axis=1)))
    return way[first : first + round(AHEAD / APART) + 1]


def _gaps(way: Array, aside: Array, near: Array) -> tuple[Array, Array]:
    """(n,) m from each point of a way to the nearest point on its left and on its right; infinite without any."""
    offset = near[None] - way[:, None]
    away = np.hypot(offset[..., 0], offset[..., 1])
    away = np.where(np.abs(offset[..., 2]) <= LEVEL, away, np.inf)
    side = np.einsum("nmk,nk->nm", offset[..., :2], aside)
    left = np.where(side > 0.0, away, np.inf).min(axis=1, initial=np.inf)
    right = np.where(side <= 0.0, away, np.inf).min(axis=1, initial=np.inf)
    return left, right
