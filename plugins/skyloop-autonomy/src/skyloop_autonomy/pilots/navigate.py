"""Click and fly: goals in, setpoints out, with maps made in flight between the two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from pydantic import model_validator

from skyloop.core import quantities
from skyloop.core.frames import yaw_from_quat
from skyloop.core.jit import prepare
from skyloop.vehicle.pilots.sortie import PilotConfig, Reply, Sortie
from skyloop.vehicle.trajectories.drawn import DrawnGoals, Survey
from skyloop_autonomy.planning.global_planner import PlannedWay, point_along
from skyloop_autonomy.planning.replanning import (
    FlightState,
    Memory,
    NavigationSetpoint,
    NavigatorConfig,
    Surroundings,
    advance,
)
from skyloop_autonomy.planning.seen_maps import SeenMaps
from skyloop_client import Bundle
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array, Estimate, Goal, GoalStatus, Path, Position

GoalPlace: TypeAlias = tuple[quantities.Place, quantities.Place] | quantities.Point

_NS = 1e-9
_REPORT_EVERY_NS = 200_000_000
_PROGRESS = 0.5
"""m; a vehicle that stays nearer to a position than this makes no progress."""
_CLOSED_AHEAD = 0.7
"""m along the way to the cell that is closed; with the usual inflation this closes the way from 0.2 to 1.2 m ahead."""
_MOVER_NEAR = 3.0
"""m within which something that moves may be why the vehicle does not get on."""


class NavigatePilotConfig(PilotConfig):
    """Takes off, flies to goals between obstacles that it detects during the flight, and lands."""

    kind: Literal["navigate"] = "navigate"
    """The kind of pilot."""
    rate_hz: quantities.Hertz = 50.0
    """Setpoints per second of simulated time."""
    goals: tuple[GoalPlace, ...] | DrawnGoals = ()
    """m, in world axes, flown to in order; a goal of two numbers lies at the height of take-off. Or the number of
    random goals, and where. A Goal that a program publishes on `<vehicle>/goal` replaces the remaining ones."""
    wait: quantities.Instant = 0.0
    """s, the time without a goal after which it lands."""
    takeoff_altitude: quantities.Height = 1.5
    """m, the height above the point of take-off."""
    stand: quantities.Instant = 0.0
    """s, the time on the ground before take-off, for instruments that align at rest."""
    land: bool = True
    """true: land after the last goal; false: stay there."""
    ground_map: str = "maps/ground"
    """The stream of the map from above, a GridMap."""
    near_map: str = "maps/near"
    """The stream of the obstacles near the vehicle, a PointCloud in world axes."""
    movers: str = "maps/movers"
    """The stream of moving objects, Movers; without it they are mapped as static objects."""
    blind_after: quantities.Seconds = 0.5
    """s, the time without a new map after which it stops."""
    blind_land_after: quantities.Seconds = 10.0
    """s, the time without a new map after which it lands."""
    detour_after: quantities.Seconds = 6.0
    """s, the time within half a metre of one point after which the path ahead counts as blocked for this goal, and
    another path is planned. It does not count while a moving object is near, because that may leave."""
    give_up_after: quantities.Seconds = 15.0
    """s, the time within half a metre of one point, without a path or a free motion, after which a goal is given up."""
    navigator: NavigatorConfig = NavigatorConfig()
    """Its path planning and its limits between obstacles."""

    @model_validator(mode="after")
    def _has_something_to_do(self) -> NavigatePilotConfig:
        if not self.goals and not self.wait:
            raise ValueError("there are no goals; give goals: [[x, y], ...], or wait: s for goals from the link")
        return self

    def drawn(self, survey: Survey) -> Self:
        if not isinstance(self.goals, DrawnGoals):
            return self
        return self.model_copy(update={"goals": tuple(survey.goals(self.goals))})


@dataclass(frozen=True, slots=True, eq=False)
class GoalOutcome:
    """How the flight to one goal ended."""

    goal: Array
    state: str
    """reached, refused or given up."""
    reason: str
    t_ns: int


class NavigatePilot(Sortie):
    """Takes off, flies to one goal after the other through what the maps show to be free, and lands."""

    Config = NavigatePilotConfig

    def __init__(self, **options: Any) -> None:
        """options: the fields of NavigatePilotConfig."""
        self._config = config = NavigatePilotConfig(**options)
        super().__init__(config.takeoff_altitude, land=config.land, stand=config.stand)
        self._goals: list[Array] = []
        if isinstance(config.goals, DrawnGoals):
            raise ScenarioError("goals that the seed draws are drawn when a scenario is built; fly them in a scenario")
        self._waiting: Sequence[GoalPlace] = config.goals
        """Goals of the scenario, whose heights are not known before take-off."""
        self._cruise_height = config.takeoff_altitude
        """m, world."""
        self._memory = Memory()
        self._maps = SeenMaps()
        self._goal_seen: Goal | None = None
        """The newest record of the stream of goals that has been taken."""
        self._idle_ns = self._progress_ns = -1
        """Since when it has no goal; since when it has been near `_progress_position`."""
        self._progress_position: Array = np.zeros(3)
        self._detours = 0
        """Places that were closed without any progress since."""
        self._reported: tuple[int, str, str] | None = None
        self._reported_ns = -_REPORT_EVERY_NS
        self._published_way: PlannedWay | None = None
        self.outcomes: list[GoalOutcome] = []
        """Of the goals so far."""
        self.streams = (config.ground_map, config.near_map, "goal")
        """All that it looks at besides its state; over a link nothing else is sent to it."""
        # outside, the time to load compiled code would count as execution time of the first plan
        prepare("skyloop_autonomy.planning", when_called=True)

    @property
    def reached(self) -> int:
        """The number of goals that have been reached."""
        return sum(outcome.state == "reached" for outcome in self.outcomes)

    def __call__(self, bundle: Bundle) -> Reply:
        if self._phase == "ground" and bundle.state is not None:
            self._cruise_height = float(bundle.state.position[2]) + self._altitude
        return super().__call__(bundle)

    def _fly(self, bundle: Bundle) -> Reply:
        state, config = bundle.get("state"), self._config
        self._take_goals(bundle)
        if (isinstance(state, Estimate) and not state.valid) or (bundle.status is not None and bundle.status.failsafe):
            # the autopilot hovers or descends by itself; afterwards the plan starts from where the vehicle is then
            self._memory, self._progress_ns = Memory(), -1
            return None
        flight = FlightState(state.position, state.velocity_world, float(yaw_from_quat(state.quat_wxyz)))
        seen, why = self._look(bundle, flight)
        blind = self._maps.age(bundle.t_ns)
        if blind > config.blind_land_after:
            self._end_goal(bundle, "given up", why)
            self._goals.clear()
            return self._finish()
        goal = self._goals[0] if self._goals and not why else None
        self._memory, aim = advance(self._memory, seen, flight, goal, bundle.t_ns, config.navigator)
        why = why or aim.why
        self._report(bundle, aim, why)
        self._watch(bundle, aim, flight.position, why)
        self._seek_detour(bundle, seen, flight.position)
        if self._has_ended(bundle):
            return self._finish()
        return Position(aim.position, aim.yaw, velocity=aim.velocity, acceleration=aim.acceleration, jerk=aim.jerk)

    def _take_goals(self, bundle: Bundle) -> None:
        """Goals of the scenario at the first call, later those that others publish."""
        if self._waiting:
            self._goals = [np.array([*goal, self._cruise_height][:3], dtype=float) for goal in self._waiting]
            self._waiting = ()
        given = bundle.get("goal", None)
        if isinstance(given, Goal) and given is not self._goal_seen:
            self._goal_seen = given
            self._end_goal(bundle, "given up", "another goal came")
            self._goals = [np.array(given.position, dtype=float)]

    def _look(self, bundle: Bundle, flight: FlightState) -> tuple[Surroundings, str]:
        """What the maps show, and why it must not fly on, if so."""
        config = self._config
        streams = (config.ground_map, config.near_map, config.movers)
        self._maps.take(*(bundle.get(stream, None) for stream in streams))
        positions = [flight.position, *self._goals[:1]]
        blind = self._maps.age(bundle.t_ns)
        why = ""
        if not self._maps.are_there:
            why = f"no map has come on '{config.ground_map}' and '{config.near_map}' yet"
        elif blind > config.blind_after:
            since = bundle.t_ns * _NS - blind
            why = f"no new map since {since:.1f} s; check the depth camera and whether the maps keep up"
        return self._maps.surroundings(np.array(positions), bundle.t_ns), why

    def _watch(self, bundle: Bundle, aim: NavigationSetpoint, position: Array, why: str) -> None:
        """Ends the present goal when it is reached or when nothing has led towards it for too long."""
        if not self._goals:
            return
        if aim.mode == "arrived":
            way = self._memory.way
            moved = way is not None and way.snapped
            self._end_goal(bundle, "reached", "moved to the nearest free place" if moved else "")
        elif self._gets_on(aim, position):
            self._progress_ns, self._progress_position, self._detours = bundle.t_ns, np.array(position), 0
        elif (bundle.t_ns - self._progress_ns) * _NS > self._config.give_up_after:
            refused = self._memory.way is not None and bool(self._memory.way.refusal)
            self._end_goal(bundle, "refused" if refused else "given up", why or "no motion leads nearer to the goal")

    def _seek_detour(self, bundle: Bundle, seen: Surroundings, position: Array) -> None:
        """Closes the way ahead if the map shows a way, but the vehicle does not get on along it."""
        way, waited = self._memory.way, (bundle.t_ns - self._progress_ns) * _NS
        due = self._goals and self._progress_ns >= 0 and waited > (self._detours + 1) * self._config.detour_after
        if not due or way is None or way.refusal or way.length < 2.0 * _CLOSED_AHEAD:
            return
        if len(seen.movers) and float(np.linalg.norm(seen.movers[:, :2] - position[:2], axis=1).min()) < _MOVER_NEAR:
            return
        self._maps.close(point_along(way.points, _CLOSED_AHEAD))
        self._detours += 1
        self._memory = replace(self._memory, way=None)

    def _gets_on(self, aim: NavigationSetpoint, position: Array) -> bool:
        """Whether it turns or has left where it was."""
        moved = float(np.linalg.norm(position - self._progress_position))
        return self._progress_ns < 0 or aim.mode == "turn" or moved > _PROGRESS

    def _end_goal(self, bundle: Bundle, state: str, reason: str) -> None:
        if self._goals:
            goal = self._goals.pop(0)
            self.outcomes.append(GoalOutcome(goal, state, reason, bundle.t_ns))
            self._publish(bundle, GoalStatus(bundle.t_ns, len(self.outcomes) - 1, state, goal, goal, "", reason))
            self._progress_ns = -1
            self._maps.open_all()

    def _has_ended(self, bundle: Bundle) -> bool:
        """Whether it has been without a goal for `wait`."""
        if self._goals:
            self._idle_ns = -1
            return False
        if self._idle_ns < 0:
            self._idle_ns = bundle.t_ns
        return (bundle.t_ns - self._idle_ns) * _NS >= self._config.wait

    def _report(self, bundle: Bundle, aim: NavigationSetpoint, why: str) -> None:
        """Publishes the way when it is new, and what is done about the goal when that changes or every 0.2 s."""
        way, goal = self._memory.way, self._goals[0] if self._goals else aim.position
        if way is not None and way is not self._published_way and len(way.points):
            bundle.publish("navigation/path", Path(bundle.t_ns, way.points))
        self._published_way = way
        report = (len(self.outcomes), aim.mode, why)
        if report == self._reported and bundle.t_ns - self._reported_ns < _REPORT_EVERY_NS:
            return
        self._reported = report
        sub_goal = self._memory.sub_goal if self._memory.sub_goal is not None else aim.position
        state = "flying" if self._goals else "waiting"
        self._publish(bundle, GoalStatus(bundle.t_ns, len(self.outcomes), state, goal, sub_goal, aim.mode, why))

    def _publish(self, bundle: Bundle, status: GoalStatus) -> None:
        self._reported_ns = bundle.t_ns
        bundle.publish("navigation/status", status)
