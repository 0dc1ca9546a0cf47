"""Pilots: callables that decide at a fixed rate what a vehicle does next.

A pilot gets a bundle of its vehicle's latest records and returns setpoints and requests. It is deterministic, and its
state is plain data, so `copy.deepcopy` takes a snapshot of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, Field, FiniteFloat, PositiveFloat, model_validator

from skyloop.core.frames import yaw_from_quat
from skyloop.core.plugins import Registry
from skyloop.core.validation import either, validated
from skyloop.vehicle.pilots.sortie import Pilot, PilotConfig, Reply, Sortie
from skyloop.vehicle.trajectories.trajectories import Point, TrajectoryConfig, build
from skyloop_client.bundle import Bundle
from skyloop_client.messages import Array, Goal

_NEAR = 0.3  # m
_SLOW = 0.3  # m/s
_ALIGNED = 0.15  # rad


class HoverPilotConfig(PilotConfig):
    """Takes off, hovers, and lands after `duration`."""

    kind: Literal["hover"] = "hover"
    """The kind of pilot."""
    rate_hz: PositiveFloat = 10.0
    """Calls per second of simulated time."""
    altitude: PositiveFloat = 2.0
    """m, the height above the point of take-off."""
    duration: PositiveFloat | None = None
    """s, the time of hover before landing; left out, it hovers to the end."""


class HoverPilot(Sortie):
    """Takes off and hovers. It lands after `duration` seconds of hover, if a duration is given."""

    Config = HoverPilotConfig

    def __init__(self, altitude: float = 2.0, duration: float | None = None) -> None:
        super().__init__(altitude)
        self._duration = duration
        self._hover_since_ns: int | None = None

    def _fly(self, bundle: Bundle) -> Reply:
        if self._hover_since_ns is None:
            self._hover_since_ns = bundle.t_ns
        hovered = (bundle.t_ns - self._hover_since_ns) * 1e-9
        return self._finish() if self._duration is not None and hovered >= self._duration else None


class TrajectoryPilotConfig(PilotConfig):
    """Takes off, flies to the start of a trajectory, follows it, and lands."""

    kind: Literal["trajectory"] = "trajectory"
    """The kind of pilot."""
    rate_hz: PositiveFloat = 50.0
    """Setpoints per second of simulated time."""
    trajectory: TrajectoryConfig
    """The trajectory to fly, in world coordinates."""
    takeoff_altitude: PositiveFloat = 2.0
    """m, the height above the point of take-off."""
    stand: Annotated[float, Field(ge=0.0)] = 0.0
    """s of simulated time that it stands on the ground before take-off, for instruments that align at rest."""
    land: bool = True
    """true: land where the trajectory ends; false: stay there."""


class TrajectoryPilot(Sortie):
    """Takes off, flies to the trajectory's start, waits there until the vehicle is still, then follows it."""

    Config = TrajectoryPilotConfig

    def __init__(
        self, trajectory: TrajectoryConfig, takeoff_altitude: float = 2.0, land: bool = True, stand: float = 0.0
    ) -> None:
        super().__init__(takeoff_altitude, land=land, stand=stand)
        self.trajectory = build(trajectory)
        self._start = self.trajectory.at(0.0)
        self._goal_sent = False
        self.started_ns: int | None = None
        """When the trajectory began; None before that."""

    def _fly(self, bundle: Bundle) -> Reply:
        if not self._goal_sent:
            self._goal_sent = True
            return Goal(self._start.position, self._start.yaw)
        if self.started_ns is None:
            if not self._is_ready(bundle.get("state")):
                return None
            self.started_ns = bundle.t_ns
        elapsed = (bundle.t_ns - self.started_ns) * 1e-9
        if elapsed <= self.trajectory.duration:
            return self.trajectory.at(elapsed)
        end = self.trajectory.at(elapsed)
        return self._finish() or Goal(end.position, end.yaw)

    def _is_ready(self, state: Any) -> bool:
        """Whether it is near the start, slow, and faces the right way; `state` is a VehicleState or an Estimate."""
        if state is None:
            return False
        yaw_error = math.remainder(float(yaw_from_quat(state.quat_wxyz)) - (self._start.yaw or 0.0), 2 * math.pi)
        return (
            _distance(state.position, self._start.position) < _NEAR
            and float(np.linalg.norm(state.velocity_world)) < _SLOW
            and abs(yaw_error) < _ALIGNED
        )


class WaypointPilotConfig(PilotConfig):
    """Takes off, flies to one waypoint after the other, and lands there or at home."""

    kind: Literal["waypoints"] = "waypoints"
    """The kind of pilot."""
    rate_hz: PositiveFloat = 10.0
    """Calls per second of simulated time."""
    waypoints: Annotated[tuple[Point, ...], Field(min_length=1)]
    """m, in world axes; flown to in order at the vehicle's cruise speed."""
    takeoff_altitude: PositiveFloat = 2.0
    """m, the height above the point of take-off."""
    acceptance_radius: PositiveFloat = 0.5
    """m, the distance within which a waypoint counts as reached."""
    yaw: FiniteFloat | None = None
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


class WaypointPilot(Sortie):
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
    ) -> None:
        super().__init__(takeoff_altitude, land=land, home=home)
        self._waypoints = np.array(waypoints, dtype=np.float64)
        self._acceptance_radius = acceptance_radius
        self._yaw = yaw
        self._goals_sent = 0

    @property
    def reached(self) -> int:
        """The number of waypoints that have been reached."""
        return max(self._goals_sent - 1, 0) if self._phase == "fly" else self._goals_sent

    def _fly(self, bundle: Bundle) -> Reply:
        if self._goals_sent:
            state = bundle.get("state")
            aim = self._waypoints[self._goals_sent - 1]
            if state is None or _distance(state.position, aim) > self._acceptance_radius:
                return None
            if self._goals_sent == len(self._waypoints):
                return self._finish()
        self._goals_sent += 1
        return Goal(self._waypoints[self._goals_sent - 1].copy(), self._yaw)


def _distance(a: Array, b: Array) -> float:
    return float(np.linalg.norm(a - b))


PILOTS: Registry[type[Any]] = Registry("pilots", "pilot")

if TYPE_CHECKING:
    AnyPilotConfig: TypeAlias = PilotConfig
else:
    AnyPilotConfig = either(each.Config for each in PILOTS.loadable().values())


def build_pilot(config: PilotConfig) -> Pilot:
    options = {name: getattr(config, name) for name in type(config).model_fields}
    del options["kind"], options["rate_hz"]
    pilot: Pilot = PILOTS[config.kind](**options)
    return pilot


class _AnyPilot(BaseModel):
    pilot: AnyPilotConfig


def pilot_from(**config: Any) -> Pilot:
    """A shipped pilot from plain data, as a scenario has it; for a process of its own."""
    return build_pilot(validated(_AnyPilot, {"pilot": config}, "pilot").pilot)
