"""Pilots: callables that decide at a fixed rate what a vehicle does next.

A pilot gets a bundle of its vehicle's latest records and returns setpoints and requests. It is deterministic, and its
state is plain data, so `copy.deepcopy` takes a snapshot of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, Field, model_validator

from skyloop.core.plugins import Registry
from skyloop.core.quantities import Angle, Height, Hertz, Instant, Length, Point, Seconds, Speed
from skyloop.core.validation import either, validated
from skyloop.vehicle.behaviours import Arrival, Behaviour, GoTo, Situation, Steps, Track, Wait
from skyloop.vehicle.pilots.sortie import Pilot, PilotConfig, Reply, Sortie
from skyloop.vehicle.trajectories.drawn import Survey
from skyloop.vehicle.trajectories.trajectories import ExploreConfig, TrajectoryConfig, build
from skyloop_client.bundle import Bundle

_READY = Arrival(0.3, speed=0.3, turn=0.15)
"""At the start of a trajectory."""


class BehaviourPilot(Sortie):
    """Takes off, flies a behaviour, and lands."""

    def __init__(
        self, behaviour: Behaviour, altitude: float, *, land: bool = True, home: bool = False, stand: float = 0.0
    ) -> None:
        super().__init__(altitude, land=land, home=home, stand=stand)
        self.behaviour = behaviour

    @property
    def mission(self) -> dict[str, object]:
        """What the summary says of its mission: whether it was flown to its end. Landing is told beside it."""
        return {"mission_completed": self.behaviour.done and not self.behaviour.failed}

    def _fly(self, bundle: Bundle) -> Reply:
        state = bundle.get("state")
        if state is None:
            return None
        order = self.behaviour.update(Situation(bundle.t_ns, state, bundle.get("status")))
        return (self._finish() or order) if self.behaviour.done else order


class HoverPilotConfig(PilotConfig):
    """Takes off, hovers, and lands after `duration`."""

    kind: Literal["hover"] = "hover"
    """The kind of pilot."""
    rate_hz: Hertz = 10.0
    """Calls per second of simulated time."""
    altitude: Height = 2.0
    """m, the height above the point of take-off."""
    duration: Seconds | None = None
    """s, the time of hover before landing; left out, it hovers to the end."""


class HoverPilot(BehaviourPilot):
    """Takes off and hovers. It lands after `duration` seconds of hover, if a duration is given."""

    Config = HoverPilotConfig

    def __init__(self, altitude: float = 2.0, duration: float | None = None) -> None:
        super().__init__(Wait(math.inf if duration is None else duration), altitude, land=duration is not None)

    @property
    def mission(self) -> dict[str, object]:
        return super().mission if self.lands else {}


class TrajectoryPilotConfig(PilotConfig):
    """Takes off, flies to the start of a trajectory, follows it, and lands."""

    kind: Literal["trajectory"] = "trajectory"
    """The kind of pilot."""
    rate_hz: Hertz = 50.0
    """Setpoints per second of simulated time."""
    trajectory: TrajectoryConfig
    """The trajectory to fly, in world coordinates."""
    takeoff_altitude: Height = 2.0
    """m, the height above the point of take-off."""
    stand: Instant = 0.0
    """s, the time on the ground before take-off, for instruments that align at rest."""
    land: bool = True
    """true: land where the trajectory ends; false: stay there."""

    def drawn(self, survey: Survey) -> Self:
        if not isinstance(self.trajectory, ExploreConfig):
            return self
        return self.model_copy(update={"trajectory": self.trajectory.drawn(survey)})


class TrajectoryPilot(BehaviourPilot):
    """Takes off, flies to the trajectory's start, waits there until the vehicle is still, then follows it."""

    Config = TrajectoryPilotConfig

    def __init__(
        self, trajectory: TrajectoryConfig, takeoff_altitude: float = 2.0, land: bool = True, stand: float = 0.0
    ) -> None:
        self.trajectory = build(trajectory)
        self._track, start = Track(self.trajectory), self.trajectory.at(0.0)
        to_start = GoTo(start.position, start.yaw, arrival=_READY)
        super().__init__(Steps(to_start, self._track), takeoff_altitude, land=land, stand=stand)

    @property
    def started_ns(self) -> int | None:
        """When the trajectory began; None before that."""
        return self._track.started_ns


class WaypointPilotConfig(PilotConfig):
    """Takes off, flies to one waypoint after the other, and lands there or at home."""

    kind: Literal["waypoints"] = "waypoints"
    """The kind of pilot."""
    rate_hz: Hertz = 10.0
    """Calls per second of simulated time."""
    waypoints: Annotated[tuple[Point, ...], Field(min_length=1)]
    """m, in world axes; flown to in order."""
    speed: Speed | tuple[Speed, ...] | None = None
    """m/s on the way, one number or one for the way to each waypoint; left out, the vehicle's cruise speed. It is never
    faster than its limit."""
    takeoff_altitude: Height = 2.0
    """m, the height above the point of take-off."""
    acceptance_radius: Length = 0.5
    """m, the distance within which a waypoint counts as reached."""
    yaw: Angle | None = None
    """rad, the heading that is held; left out, the vehicle keeps its own."""
    land: bool = True
    """true: land at the end."""
    home: bool = False
    """true: fly home after the last waypoint and land there."""

    @model_validator(mode="after")
    def _home_is_landed_at(self) -> WaypointPilotConfig:
        if self.home and not self.land:
            raise ValueError("going home ends in landing there; with land: false leave out home")
        return self

    @model_validator(mode="after")
    def _speeds_fit(self) -> WaypointPilotConfig:
        if isinstance(self.speed, tuple) and len(self.speed) != len(self.waypoints):
            raise ValueError(
                f"{len(self.speed)} speeds for {len(self.waypoints)} waypoints; give one number, or one for each"
            )
        return self


class WaypointPilot(BehaviourPilot):
    """Takes off, flies to one waypoint after the other, then lands there or goes home first."""

    Config = WaypointPilotConfig

    def __init__(
        self,
        waypoints: Sequence[Sequence[float]],
        takeoff_altitude: float = 2.0,
        acceptance_radius: float = 0.5,
        yaw: float | None = None,
        land: bool = True,
        home: bool = False,
        *,
        speed: float | Sequence[float] | None = None,
    ) -> None:
        speeds = speed if isinstance(speed, Sequence) else [speed] * len(waypoints)
        self._way = Steps(
            *(
                GoTo(point, yaw, fast, arrival=Arrival(acceptance_radius))
                for point, fast in zip(waypoints, speeds, strict=True)
            )
        )
        super().__init__(self._way, takeoff_altitude, land=land, home=home)

    @property
    def reached(self) -> int:
        """The number of waypoints that have been reached."""
        return self._way.number

    @property
    def mission(self) -> dict[str, object]:
        return {**super().mission, "waypoints": len(self._way.steps), "waypoints_reached": self.reached}


PILOTS: Registry[type[Any]] = Registry("pilots", "pilot")

if TYPE_CHECKING:
    AnyPilotConfig: TypeAlias = PilotConfig
else:
    AnyPilotConfig = either(each.Config for each in PILOTS.loadable().values())


def build_pilot(config: PilotConfig) -> Pilot:
    options = dict(config)
    del options["kind"], options["rate_hz"]
    pilot: Pilot = PILOTS[config.kind](**options)
    return pilot


class _AnyPilot(BaseModel):
    pilot: AnyPilotConfig


def pilot_from(**config: Any) -> Pilot:
    """A shipped pilot from plain data, as a scenario has it; for a process of its own."""
    return build_pilot(validated(_AnyPilot, {"pilot": config}, "pilot").pilot)
