"""A pilot through an unknown city: on the newest map it plans a way to the goal, follows it, and keeps off walls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skyloop.vehicle.pilots.sortie import Reply, Sortie
from skyloop_autonomy.planning.clearance_grid import ClearanceGrid
from skyloop_client import Bundle
from skyloop_client.messages import Array, Estimate, GoalStatus, GridMap, Path, Velocity

AHEAD = 2.0
"""m along the way to the point that is steered for."""
ACCELERATION = 1.5
"""m/s², the most by which the commanded velocity changes, and with which it can stop."""
REACTION = 0.4
"""s from the decision to slow down until the vehicle does."""
MARGIN = 0.5
"""m that are left when it has stopped."""
SLOWEST = 0.3
"""m/s at which it goes on into what is unknown, so that it sees what is there."""
RETREAT_SPEED = 1.0
"""m/s."""
HEIGHT_GAIN = 0.8
"""1/s."""
CLIMB = 1.0
"""m/s, the most up or down."""
OLDEST_MAP = 2.0
"""s; on an older map it stops and hovers."""
REPORT_EVERY_NS = 200_000_000
"""Between two records of what it does, unless that changes."""

MODES = {"hovers": "hover", "retreats": "back off", "lands": "arrived"}
"""By the first word of what it does, the mode that is published; otherwise it flies."""


@dataclass
class _Plan:
    map_ns: int
    ways: ClearanceGrid
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
        self.streams = (map_stream,)
        """All that it looks at besides its state; over a link nothing else is sent to it."""
        self._command = np.zeros(2)
        self._then_ns: int | None = None
        self._plan: _Plan | None = None
        self.reached = False
        self.retreats = 0
        """How often it had to leave the band."""
        self._retreating = False
        self.doing = "is on the ground"
        """In words, for a report about a flight that failed."""
        self._reported: tuple[str, int] = ("", -REPORT_EVERY_NS)
        """What was published last about the goal, and when."""

    @property
    def way(self) -> Array | None:
        """(n, 2) m, corners of the newest plan; None before the first map, and where there is no way."""
        return None if self._plan is None else self._plan.way

    def _fly(self, bundle: Bundle) -> Reply:
        state = bundle.get("state")
        here = np.asarray(state.position[:2])
        if np.hypot(*(self._goal - here)) < self._near:
            self.reached = True
            self.doing = "lands at the goal"
            self._report(bundle, "reached", here)
            return self._finish()
        self._look_at_map(bundle, here)
        if isinstance(state, Estimate) and not state.valid:
            wanted, self.doing = np.zeros(2), "hovers without a valid estimate"
        else:
            wanted = self._wanted(bundle, here)
        dt = 0.0 if self._then_ns is None else (bundle.t_ns - self._then_ns) * 1e-9
        self._then_ns = bundle.t_ns
        change = wanted - self._command
        most = ACCELERATION * dt
        size = float(np.hypot(*change))
        self._command = wanted if size <= most else self._command + change * most / size
        self._report(bundle, "flying", here)
        climb = float(np.clip(HEIGHT_GAIN * (self._height - state.position[2]), -CLIMB, CLIMB))
        return Velocity(np.array([*self._command, climb]))

    def _report(self, bundle: Bundle, state: str, here: Array) -> None:
        """Publishes what it does about the goal, when that changes and five times a second."""
        mode = MODES.get(self.doing.split()[0], "fly")
        report = f"{state} {mode}", bundle.t_ns
        if report[0] == self._reported[0] and report[1] - self._reported[1] < REPORT_EVERY_NS:
            return
        self._reported = report
        way = self.way
        aim = here if way is None or mode != "fly" else _along(way, here, AHEAD)[0]
        goal, sub_goal = (np.array([*position, self._height]) for position in (self._goal, aim))
        reason = "" if mode in ("fly", "arrived") else self.doing
        bundle.publish("navigation/status", GoalStatus(bundle.t_ns, 0, state, goal, sub_goal, mode, reason))

    def _look_at_map(self, bundle: Bundle, here: Array) -> None:
        """Plans again with every new map."""
        grid: GridMap | None = bundle.get(self._map_stream, None)
        if grid is None or (self._plan is not None and grid.t_ns == self._plan.map_ns):
            return
        ends = np.stack([here, self._goal])
        ways = ClearanceGrid.around(grid.cells.T, grid.origin[:2], grid.resolution, self._band, ends)
        way = ways.way(here, self._goal)
        self._plan = _Plan(grid.t_ns, ways, way)
        if way is not None:
            heights = np.full(len(way), self._height)
            bundle.publish("path", Path(bundle.t_ns, np.column_stack([way, heights])))

    def _wanted(self, bundle: Bundle, here: Array) -> Array:
        """(2,) m/s, before the limit of acceleration."""
        plan = self._plan
        if plan is None or bundle.t_ns - plan.map_ns > OLDEST_MAP * 1e9:
            self.doing = "hovers without a map"
            return np.zeros(2)
        retreat = plan.ways.retreat(here)
        self.retreats += retreat is not None and not self._retreating
        self._retreating = retreat is not None
        if retreat is not None:
            self.doing = f"retreats from a wall at {retreat.clearance:.1f} m"
            return RETREAT_SPEED * retreat.direction
        if plan.way is None:
            self.doing = "hovers, because its map shows no path to the goal"
            return np.zeros(2)
        self.doing = "follows its way"
        aim, to_corner = _along(plan.way, here, AHEAD)
        apart = aim - here
        distance = float(np.hypot(*apart))
        if distance < 1e-3:
            return np.zeros(2)
        return apart / distance * min(self._speed, self._safe_speed(plan, here, apart / distance), 0.7 + to_corner)

    def _safe_speed(self, plan: _Plan, here: Array, direction: Array) -> float:
        """m/s from which it stops before anything ahead that its newest map does not show as free."""
        cell = plan.ways.cell
        enough = self._speed * REACTION + self._speed**2 / (2.0 * ACCELERATION) + MARGIN
        steps = np.arange(0.0, enough + cell, 0.5 * cell)
        cells = np.floor((here + steps[:, None] * direction - plan.ways.corner) / cell).astype(int)
        cells = np.clip(cells, 0, np.array(plan.ways.occupied.shape) - 1)
        shut = plan.ways.unknown[cells[:, 0], cells[:, 1]] | (
            plan.ways.clearances[cells[:, 0], cells[:, 1]] < 0.7 * self._band
        )
        shut[0] = False
        clear = float(steps[np.argmax(shut)]) if shut.any() else math.inf
        lost = ACCELERATION * REACTION
        return max(math.sqrt(lost**2 + 2.0 * ACCELERATION * max(clear - MARGIN, 0.0)) - lost, SLOWEST)


def _along(way: Array, here: Array, ahead: float) -> tuple[Array, float]:
    """The point `ahead` metres along a way from the nearest point on it, and m from there to the next corner."""
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
