"""Replanning: from what is known at an instant to the setpoint for it.

`advance` is a pure function: what it remembers goes in and comes out. The way over the map is searched again once the
vehicle has moved 0.3 m or 0.3 s have passed. A new motion is planned every 0.1 s, from where the last one leads, so
that setpoints do not jump. If no new motion is free, the last one is flown on as long as it is clear; it ends at rest.
Then comes the backup plan: brake, hover, or back off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict

from skyloop.core import quantities
from skyloop_autonomy.planning.clearance import MOVER_RADIUS
from skyloop_autonomy.planning.global_planner import (
    GlobalPlannerConfig,
    PlannedWay,
    find_way,
    point_along,
    sub_goal,
    through_the_middle,
)
from skyloop_autonomy.planning.grid import Grid, grid_from_distance, inflated
from skyloop_autonomy.planning.local_planner import (
    NO_MOVERS,
    LocalPlannerConfig,
    Manoeuvre,
    back_up,
    is_still_clear,
    plan_motion,
)
from skyloop_autonomy.planning.primitives import at_rest
from skyloop_client.messages import Array

Mode: TypeAlias = Literal["idle", "turn", "fly", "brake", "hover", "back off", "arrived"]
_NS = 1e-9
NEARER = (1.5, 0.8)
"""m along the way to which a motion is sought if the sub-goal is not straight ahead."""
IN_NARROW_GAPS = 0.5
"""m ahead along the middle of a narrow gap to which a motion is sought. Motions end at rest, so it flies slowly there
and keeps to the middle."""
STRAIGHT = 0.55
"""The share of the way to its aim that a motion may miss and still count as straight: half of it is flown."""
LONG_WAY, LONG_WAY_MORE = 1.5, 2.0
"""If a way is this many times as long as one through a narrow gap, and so many m more, the narrow gap is tried
first. Otherwise all unknown rooms are searched before a narrow door."""
ROOMY_SLACK = 1.2
"""m that a roomy way may be longer in any case: half a turn around the end of a shelf takes that much. With less, the
way would hug the shelf, and the choice would flip close to it."""


class NavigatorConfig(BaseModel):
    """Everything about flying to goals between obstacles."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    way: GlobalPlannerConfig = GlobalPlannerConfig()
    """The global planner, over the map."""
    motion: LocalPlannerConfig = LocalPlannerConfig()
    """The local planner, between obstacles."""
    replan_after: quantities.Seconds = 0.3
    """s, the time after which the path is replanned."""
    replan_moved: quantities.Length = 0.3
    """m, the distance moved after which the path is replanned."""
    motion_every: quantities.Seconds = 0.1
    """s, the time between two planned motions."""
    arrival_radius: quantities.Length = 0.5
    """m, the distance from the goal at which it counts as reached, once the vehicle is slow."""
    lost_track: quantities.Length = 0.4
    """m, the distance between vehicle and setpoint beyond which planning restarts from the vehicle's position."""
    mover_margin: quantities.Distance = 0.3
    """m, the additional clearance from moving objects: people turn and swing their arms. It also holds above them."""
    yaw_rate: quantities.TurnRate = 1.0
    """rad/s, the maximum yaw rate. The heading follows the flight so that the camera looks ahead."""
    turn_first: quantities.Positive = 0.8
    """rad; if the sub-goal is farther than this from the heading, it stops and turns before it flies on. It is about
    half of the camera's field of view, so that it flies only where the camera looks."""
    patience: quantities.Seconds = 3.0
    """s, the time without any free motion after which it reports that it is stuck."""


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """What the maps know at an instant: for the way either a projection, cells in space, or a distance field."""

    cells: NDArray[Any]
    """(nx, ny) or (nx, ny, nz): bool, true where occupied, or float, m to the nearest obstacle."""
    origin: ArrayLike
    """(2,) or (3,) m, world, the lower corner of the first cell."""
    cell: float
    """m, the side of a cell."""
    cloud: Array
    """(n, 3) m, world: points of obstacles around the vehicle."""
    movers: Array = field(default_factory=lambda: NO_MOVERS)
    """(m, 8): objects that move; see `clearance`."""

    def grid(self, inflation: float) -> Grid:
        if self.cells.dtype == np.bool_:
            return inflated(self.cells, self.origin, self.cell, inflation)
        return grid_from_distance(self.cells, self.origin, self.cell, inflation)


@dataclass(frozen=True, slots=True, eq=False)
class FlightState:
    """Where the vehicle is, by whatever estimate is flown on."""

    position: Array
    """(3,) m, world."""
    velocity: Array
    """(3,) m/s, world."""
    yaw: float
    """rad, counter-clockwise from east."""


@dataclass(frozen=True, slots=True, eq=False)
class NavigationSetpoint:
    """The setpoint for an instant."""

    position: Array
    velocity: Array
    acceleration: Array
    jerk: Array
    yaw: float
    mode: Mode
    why: str = ""
    """Why it does not fly to the goal, in one line."""


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """What is kept from one call to the next; plain data."""

    goal: Array | None = None
    manoeuvre: Manoeuvre | None = None
    """What is flown."""
    begun_ns: int = 0
    """When it began."""
    planned_ns: int = 0
    """When a motion was sought last."""
    way: PlannedWay | None = None
    way_ns: int = 0
    way_from: Array = field(default_factory=lambda: np.zeros(3))
    """Where the vehicle was when the way was found."""
    sub_goal: Array | None = None
    yaw: float | None = None
    called_ns: int = 0
    mode: Mode = "idle"
    free_ns: int = 0
    """When a motion was free last."""


def advance(
    memory: Memory, seen: Surroundings, flight: FlightState, goal: ArrayLike | None, t_ns: int, config: NavigatorConfig
) -> tuple[Memory, NavigationSetpoint]:
    """The setpoint for the instant `t_ns`, and what to remember. Without a goal it stays where it is, out of harm."""
    seen = _with_margin(seen, config)
    memory = _with_goal(memory, goal, t_ns)
    memory = _on_track(memory, flight, t_ns, config)
    assert memory.manoeuvre is not None
    if t_ns - memory.planned_ns >= round(config.motion_every / _NS) or memory.planned_ns == 0:
        memory = replace(memory, planned_ns=max(t_ns, 1))
        if memory.goal is not None and memory.mode != "arrived":
            memory = _replanned(memory, seen, flight, t_ns, config)
        else:
            # what is left of a motion may be long, and without a goal there may be a reason not to fly it
            memory = _kept_safe(_stopped(memory, seen, t_ns, config), seen, t_ns, config)
    memory = _turned(memory, flight, t_ns, config)
    return memory, _aim(memory, t_ns, config)


def best_way(seen: Surroundings, start: Array, goal: Array, config: GlobalPlannerConfig) -> tuple[Grid, PlannedWay]:
    """The way and the grid for its sub-goal: the roomy way, unless it is much longer than the shortest one."""
    grid = seen.grid(config.inflation)
    way = find_way(grid, start, goal, config)
    if config.tight < config.inflation:
        narrow = seen.grid(config.tight)
        through = find_way(narrow, start, goal, config)
        if not through.refusal and (way.refusal or way.length > LONG_WAY * through.length + LONG_WAY_MORE):
            return narrow, through
    if way.refusal or way.snapped or config.roomy <= config.inflation:
        return grid, way
    # through an opening that is too narrow for a roomy way, one with some room is still better than the shortest
    for room in (config.roomy, 0.5 * (config.roomy + config.inflation)):
        wide = seen.grid(room)
        roomy = _roomy_way(wide, grid, start, goal, config)
        if roomy is not None and roomy.length <= config.detour * way.length + ROOMY_SLACK:
            # from a position with less room nothing is in sight on the wide grid: it would creep to the next roomy cell
            return (wide if wide.is_free(start) else grid), roomy
    return grid, way


def _roomy_way(wide: Grid, grid: Grid, start: Array, goal: Array, config: GlobalPlannerConfig) -> PlannedWay | None:
    """On the grid `wide`; if the goal itself has less room, on the other one from the nearest roomy position on."""
    beside = max(config.goal_snap, config.skip_nearer)
    if not wide.is_free(goal) and float(np.linalg.norm(goal - start)) < beside:
        # a detour over a roomier position would lead away from it again
        return None
    way = find_way(wide, start, goal, config)
    if way.refusal or (way.snapped and not grid.sees(way.points[-1], goal)):
        return None
    return PlannedWay(np.vstack([way.points, goal])) if way.snapped else way


def _with_margin(seen: Surroundings, config: NavigatorConfig) -> Surroundings:
    """With movers as wide and high as the distance that is kept from them asks for."""
    if not len(seen.movers):
        return seen
    movers = np.array(seen.movers, np.float64)
    movers[:, MOVER_RADIUS:] += config.mover_margin
    return replace(seen, movers=movers)


def _with_goal(memory: Memory, goal: ArrayLike | None, t_ns: int) -> Memory:
    given = None if goal is None else np.array(goal, dtype=np.float64)
    same = given is memory.goal or (
        given is not None and memory.goal is not None and np.array_equal(given, memory.goal)
    )
    if same:
        return memory
    mode: Mode = "idle" if given is None else "hover"
    return replace(memory, goal=given, way=None, sub_goal=None, mode=mode, free_ns=t_ns, planned_ns=0)


def _on_track(memory: Memory, flight: FlightState, t_ns: int, config: NavigatorConfig) -> Memory:
    """Starts from where the vehicle is if there is no plan yet or the vehicle is not where the plan has it."""
    if memory.manoeuvre is not None:
        position = _reference(memory, t_ns)[0]
        if float(np.linalg.norm(position - flight.position)) <= config.lost_track:
            return memory
    start = np.vstack([flight.position, flight.velocity, np.zeros(3)])
    # without any obstacle, the backup plan is to come to rest
    stop = back_up(start, np.empty((0, 3)), config.motion)
    return replace(memory, manoeuvre=stop, begun_ns=t_ns, planned_ns=0, way=None)


def _reference(memory: Memory, t_ns: int) -> Array:
    """(4, 3): position, velocity, acceleration and jerk of the plan at an instant."""
    assert memory.manoeuvre is not None
    return memory.manoeuvre.motion.at((t_ns - memory.begun_ns) * _NS)


def _replanned(memory: Memory, seen: Surroundings, flight: FlightState, t_ns: int, config: NavigatorConfig) -> Memory:
    assert memory.goal is not None
    state = _reference(memory, t_ns)
    moved = float(np.linalg.norm(flight.position - memory.way_from))
    way, aim = memory.way, memory.sub_goal
    if way is None or moved > config.replan_moved or t_ns - memory.way_ns >= round(config.replan_after / _NS):
        grid, way = best_way(seen, state[0], memory.goal, config.way)
        aim = None if way.refusal else sub_goal(grid, way, state[0], config.way)
        memory = replace(memory, way=way, sub_goal=aim, way_ns=t_ns, way_from=flight.position.copy())
    if aim is None:
        return _kept_safe(memory, seen, t_ns, config)
    if _has_arrived(way, state, flight, config):
        return _kept_safe(replace(memory, mode="arrived"), seen, t_ns, config)
    if _must_turn(memory, state, flight, config):
        stopped = _stopped(memory, seen, t_ns, config)
        return replace(_kept_safe(stopped, seen, t_ns, config), mode="turn", free_ns=t_ns)
    manoeuvre = _motion_along(way, aim, state, seen, config)
    if manoeuvre is None:
        return _kept_safe(memory, seen, t_ns, config)
    return replace(memory, manoeuvre=manoeuvre, begun_ns=t_ns, mode="fly", free_ns=t_ns)


def _motion_along(
    way: PlannedWay, aim: Array, state: Array, seen: Surroundings, config: NavigatorConfig
) -> Manoeuvre | None:
    """A motion to the sub-goal or, where that is not straight ahead, to a nearer point of the way.

    Before a narrow door the straight line to the sub-goal cuts a corner, and every motion beside it is short. So
    without a motion that has room, it is sought along the middle of a narrow gap first."""
    straight = found = None
    for nearer in (None, *NEARER):
        end = aim if nearer is None else point_along(way.points, nearer)
        manoeuvre = plan_motion(state[:3], end, seen.cloud, config.motion, seen.movers)
        if manoeuvre is None:
            continue
        found = found or manoeuvre
        if _leads_to(manoeuvre, end, state):
            straight = manoeuvre
            break
    if straight is None or not straight.roomy:
        middle = through_the_middle(way.points, state[0], seen.cloud, config.motion.room)
        if middle is not None:
            end = point_along(middle, IN_NARROW_GAPS)
            manoeuvre = plan_motion(state[:3], end, seen.cloud, config.motion, seen.movers)
            if manoeuvre is not None and _leads_to(manoeuvre, end, state):
                return manoeuvre
    return straight or found


def _leads_to(manoeuvre: Manoeuvre, end: Array, state: Array) -> bool:
    """Whether a motion goes straight enough to a position."""
    miss = float(np.linalg.norm(manoeuvre.motion.at(math.inf)[0] - end))
    return miss <= STRAIGHT * float(np.linalg.norm(end - state[0]))


def _stopped(memory: Memory, seen: Surroundings, t_ns: int, config: NavigatorConfig) -> Memory:
    """With a stop in place of a motion towards a goal."""
    assert memory.manoeuvre is not None
    if memory.manoeuvre.kind != "fly":
        return memory
    stop = back_up(_reference(memory, t_ns)[:3], seen.cloud, config.motion, seen.movers)
    return replace(memory, manoeuvre=stop, begun_ns=t_ns)


def _kept_safe(memory: Memory, seen: Surroundings, t_ns: int, config: NavigatorConfig) -> Memory:
    """Flies on what is left of the last motion if that is clear, otherwise the backup plan."""
    assert memory.manoeuvre is not None
    over = (t_ns - memory.begun_ns) * _NS
    mode: Mode = memory.mode if memory.mode in ("arrived", "idle") else memory.manoeuvre.kind
    if is_still_clear(memory.manoeuvre.motion, over, seen.cloud, config.motion, seen.movers):
        if over >= memory.manoeuvre.motion.duration and mode not in ("arrived", "idle"):
            mode = "hover"
        return replace(memory, mode=mode)
    state = _reference(memory, t_ns)
    backup = back_up(state[:3], seen.cloud, config.motion, seen.movers)
    if backup.kind == "hover":
        # nothing is clearer than here: it must not wander with each new plan
        backup = Manoeuvre(at_rest(state[0]), "hover")
    mode = memory.mode if memory.mode in ("arrived", "idle") and backup.kind == "hover" else backup.kind
    return replace(memory, manoeuvre=backup, begun_ns=t_ns, mode=mode)


def _has_arrived(way: PlannedWay, state: Array, flight: FlightState, config: NavigatorConfig) -> bool:
    """Near the end of the way with the plan at rest there, so that it does not stop at the edge of the radius."""
    away = float(np.linalg.norm(way.points[-1] - flight.position))
    planned = float(np.linalg.norm(way.points[-1] - state[0]))
    slow = float(np.linalg.norm(flight.velocity)) < 0.2
    return away < config.arrival_radius and planned < 0.1 * config.arrival_radius and slow


def _must_turn(memory: Memory, state: Array, flight: FlightState, config: NavigatorConfig) -> bool:
    """Not facing the sub-goal. Once turning, it goes on until it nearly faces it."""
    assert memory.sub_goal is not None
    ahead = memory.sub_goal - state[0]
    if float(np.hypot(ahead[0], ahead[1])) < config.arrival_radius:
        return False
    error = abs(math.remainder(math.atan2(ahead[1], ahead[0]) - flight.yaw, math.tau))
    return error > (0.3 if memory.mode == "turn" else config.turn_first)


def _turned(memory: Memory, flight: FlightState, t_ns: int, config: NavigatorConfig) -> Memory:
    """With the heading one step nearer to the direction of flight."""
    yaw = flight.yaw if memory.yaw is None else memory.yaw
    since = 0.0 if memory.yaw is None else (t_ns - memory.called_ns) * _NS
    if memory.sub_goal is not None and memory.mode in ("fly", "turn"):
        state = _reference(memory, t_ns)
        ahead = memory.sub_goal - state[0]
        if float(np.hypot(ahead[0], ahead[1])) > config.arrival_radius:
            most = config.yaw_rate * since
            error = math.remainder(math.atan2(ahead[1], ahead[0]) - yaw, math.tau)
            yaw = math.remainder(yaw + min(max(error, -most), most), math.tau)
    return replace(memory, yaw=yaw, called_ns=t_ns)


def _aim(memory: Memory, t_ns: int, config: NavigatorConfig) -> NavigationSetpoint:
    state = _reference(memory, t_ns)
    why = ""
    if memory.way is not None and memory.way.refusal:
        why = memory.way.refusal
    elif memory.goal is not None and memory.mode not in ("arrived", "fly", "turn"):
        stuck = (t_ns - memory.free_ns) * _NS
        if stuck >= config.patience:
            why = f"stuck for {stuck:.0f} s: every motion towards the goal comes too near to something"
    assert memory.yaw is not None
    return NavigationSetpoint(state[0], state[1], state[2], state[3], memory.yaw, memory.mode, why)
