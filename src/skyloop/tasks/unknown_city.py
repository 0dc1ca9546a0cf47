"""A pilot through an unknown city: on the newest map it plans a way to the goal, follows it, and keeps off walls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skyloop.navigation.grid_slam.ways import Ways
from skyloop.tasks.pilots import Reply, Sortie
from skyloop_client.bundle import Bundle
from skyloop_client.messages import Array, GridMap, Path, Velocity

AHEAD = 2.0
"""m along the way to the point that is steered for."""
ACCELERATION = 1.5
"""m/s², the most by which the commanded velocity changes, and with which it can stop."""
RETREAT_SPEED = 1.0
"""m/s."""
HEIGHT_GAIN = 0.8
"""1/s."""
CLIMB = 1.0
"""m/s, the most up or down."""
OLDEST_MAP = 2.0
"""s; on an older map it stops and hovers."""


@dataclass
class _Plan:
    map_ns: int
    ways: Ways
    unknown: Array
    """The grid's unknown cells, same shape as the obstacles of `ways`."""
    way: Array | None


class CityPilot(Sortie):
    """Takes off, flies to the goal over the maps of a stream, and lands there."""

    def __init__(
        self,
        goal: Sequence[float] = (70.0, 60.0),
        height: float = 10.0,
        speed: float = 3.0,
        band: float = 1.5,
        near: float = 1.0,
        map_stream: str = "slam_map",
    ) -> None:
        """goal: m, world; band: m around obstacles that it keeps out of; near: m, within which the goal is reached."""
        super().__init__(height)
        self._goal = np.array(goal, dtype=np.float64)[:2]
        self._height, self._speed, self._band, self._near = height, speed, band, near
        self._map_stream = map_stream
        self._command = np.zeros(2)
        self._then_ns: int | None = None
        self._plan: _Plan | None = None
        self.reached = False
        self.retreats = 0
        """How often it had to leave the band."""
        self._retreating = False

    def _fly(self, bundle: Bundle) -> Reply:
        state = bundle.get("state")
        here = np.asarray(state.position[:2])
        if np.hypot(*(self._goal - here)) < self._near:
            self.reached = True
            return self._finish()
        self._look_at_map(bundle, here)
        wanted = self._wanted(bundle, here) if getattr(state, "valid", True) else np.zeros(2)
        dt = 0.0 if self._then_ns is None else (bundle.t_ns - self._then_ns) * 1e-9
        self._then_ns = bundle.t_ns
        change = wanted - self._command
        most = ACCELERATION * dt
        size = float(np.hypot(*change))
        self._command = wanted if size <= most else self._command + change * most / size
        climb = float(np.clip(HEIGHT_GAIN * (self._height - state.position[2]), -CLIMB, CLIMB))
        return Velocity(np.array([*self._command, climb]))

    def _look_at_map(self, bundle: Bundle, here: Array) -> None:
        """Plans anew with every new map."""
        grid: GridMap | None = bundle.get(self._map_stream, None)
        if grid is None or (self._plan is not None and grid.t_ns == self._plan.map_ns):
            return
        cells = grid.cells.T
        ways = Ways.around(cells == 100, grid.origin[:2], grid.resolution, self._band, np.stack([here, self._goal]))
        unknown = np.ones(ways.occupied.shape, np.bool_)
        i, j = np.rint((grid.origin[:2] - ways.corner) / grid.resolution).astype(int).tolist()
        unknown[i : i + cells.shape[0], j : j + cells.shape[1]] = cells < 0
        way = ways.way(here, self._goal)
        self._plan = _Plan(grid.t_ns, ways, unknown, way)
        if way is not None:
            heights = np.full(len(way), self._height)
            bundle.publish("path", Path(bundle.t_ns, np.column_stack([way, heights])))

    def _wanted(self, bundle: Bundle, here: Array) -> Array:
        """(2,) m/s, before the limit of acceleration."""
        plan = self._plan
        if plan is None or bundle.t_ns - plan.map_ns > OLDEST_MAP * 1e9:
            return np.zeros(2)
        retreat = plan.ways.retreat(here)
        self.retreats += retreat is not None and not self._retreating
        self._retreating = retreat is not None
        if retreat is not None:
            return RETREAT_SPEED * retreat.direction
        if plan.way is None:
            return np.zeros(2)
        aim, to_corner = _along(plan.way, here, AHEAD)
        apart = aim - here
        distance = float(np.hypot(*apart))
        if distance < 1e-3:
            return np.zeros(2)
        return apart / distance * min(self._speed, self._safe_speed(plan, here, apart / distance), 0.7 + to_corner)

    def _safe_speed(self, plan: _Plan, here: Array, direction: Array) -> float:
        """m/s from which it stops before anything unknown or the band ahead."""
        cell = plan.ways.cell
        steps = np.arange(0.0, self._speed**2 / (2.0 * ACCELERATION) + 2.0, 0.5 * cell)
        cells = np.floor((here + steps[:, None] * direction - plan.ways.corner) / cell).astype(int)
        cells = np.clip(cells, 0, np.array(plan.unknown.shape) - 1)
        shut = plan.unknown[cells[:, 0], cells[:, 1]] | (
            plan.ways.clearances[cells[:, 0], cells[:, 1]] < 0.7 * self._band
        )
        shut[0] = False
        clear = float(steps[np.argmax(shut)]) if shut.any() else math.inf
        return max(math.sqrt(2.0 * ACCELERATION * max(clear - 0.5, 0.0)), 0.3)


def _along(way: Array, here: Array, ahead: float) -> tuple[Array, float]:
    """The point `ahead` metres along a way from the nearest place on it, and m from that place to the next corner."""
    best, at, share = math.inf, 0, 0.0
    for k in range(len(way) - 1):
        a, b = way[k], way[k + 1]
        length2 = float((b - a) @ (b - a))
        s = 0.0 if length2 == 0.0 else min(max(float((here - a) @ (b - a)) / length2, 0.0), 1.0)
        apart = float(np.hypot(*(a + s * (b - a) - here)))
        if apart < best:
            best, at, share = apart, k, s
    left, point, corner = ahead, way[at] + share * (way[min(at + 1, len(way) - 1)] - way[at]), math.inf
    for k in range(at, len(way) - 1):
        step = float(np.hypot(*(way[k + 1] - point)))
        corner = step if corner == math.inf else corner
        if step >= left:
            return point + (way[k + 1] - point) * left / step, corner
        left, point = left - step, way[k + 1]
    return point, corner if corner < math.inf else 0.0
