"""Trajectories as smooth functions of time, and the configurations they are built from."""

from __future__ import annotations

from typing import Annotated, Literal, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from skyloop.core.quantities import (
    Acceleration,
    Angle,
    Count,
    Elevation,
    Length,
    Point,
    Positive,
    Seconds,
    Speed,
    TurnRate,
)
from skyloop.vehicle.trajectories.curves import Circle, Lemniscate
from skyloop.vehicle.trajectories.drawn import FreeSpaceConfig, Survey
from skyloop.vehicle.trajectories.legs import Legs, Line, Square
from skyloop.vehicle.trajectories.minimum_snap import MinimumSnap
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Position

__all__ = [
    "Circle",
    "CircleConfig",
    "ExploreConfig",
    "Legs",
    "LegsConfig",
    "Lemniscate",
    "LemniscateConfig",
    "Line",
    "MinimumSnap",
    "Square",
    "SquareConfig",
    "Trajectory",
    "TrajectoryConfig",
    "WaypointsConfig",
    "build",
]

YawOption: TypeAlias = Literal["forward"] | Angle


class Trajectory(Protocol):
    """A path over time that begins and ends at rest."""

    @property
    def duration(self) -> float:
        """s."""

    def at(self, t: float) -> Position:
        """The point `t` s after the start, with its derivatives; outside 0..duration it is at rest at that end."""
        ...


class _Config(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CircleConfig(_Config):
    """A circle, with a ramp from rest at the start and back to rest at the end."""

    kind: Literal["circle"] = "circle"
    """The kind of trajectory."""
    centre: Point
    """m, in world axes; its z is the altitude flown."""
    radius: Length
    """m, the radius."""
    speed: Speed
    """m/s, the speed over ground between the ramps."""
    laps: Positive = 1.0
    """The laps flown, ramps included."""
    ramp: Seconds | None = None
    """s, the time from rest to `speed`, and back; left out, the time that 3 m/s² along the track takes."""
    yaw: YawOption = "forward"
    """`forward` looks along the track; a number is a fixed angle in rad."""
    start_angle: Angle = 0.0
    """rad, the angle of the start from east, seen from the centre."""


class LemniscateConfig(_Config):
    """A figure of eight, with a ramp from rest at the start and back to rest at the end."""

    kind: Literal["lemniscate"] = "lemniscate"
    """The kind of trajectory."""
    centre: Point
    """m, the crossing, where it begins and ends, in world axes; its z is the altitude flown."""
    minimum_radius: Length
    """m, the radius of curvature at the tips; the figure is six times as wide."""
    speed: Speed
    """m/s, the speed over ground between the ramps, constant along the curve."""
    laps: Positive = 1.0
    """The laps flown, ramps included."""
    ramp: Seconds | None = None
    """s, the time from rest to `speed`, and back; left out, the time that 3 m/s² along the track takes."""
    yaw: YawOption = "forward"
    """`forward` looks along the track; a number is a fixed angle in rad."""
    axis_angle: Angle = 0.0
    """rad, the angle of the long axis from east."""


class SquareConfig(_Config):
    """A square with a stop in each corner."""

    kind: Literal["square"] = "square"
    """The kind of trajectory."""
    corner: Point
    """m, the corner where it begins and ends, in world axes."""
    side: Length
    """m, the length of a side."""
    speed: Speed
    """m/s, the speed reached on each side, if the side is long enough."""
    laps: Count = 1
    """The number of times around."""
    first_heading: Angle = 0.0
    """rad, the direction of the first side from east; the square lies to its left."""
    acceleration: Acceleration = 3.0
    """m/s², the peak acceleration."""
    yaw: YawOption = "forward"
    """`forward` looks along each side and turns in each corner; a number is a fixed angle in rad."""
    turn_rate: TurnRate = 1.0
    """rad/s, the peak turn rate in the corners."""


class LegsConfig(_Config):
    """Straight legs between points, with a stop at each point."""

    kind: Literal["legs"] = "legs"
    """The kind of trajectory."""
    points: Annotated[tuple[Point, ...], Field(min_length=2)]
    """m, in world axes; the vehicle stops at each."""
    speed: Speed
    """m/s, the speed reached on each leg, if the leg is long enough."""
    legs: Count | None = None
    """The number of legs flown, back and forth along the points; left out, once along."""
    acceleration: Acceleration = 3.0
    """m/s², the peak acceleration."""
    yaw: YawOption = "forward"
    """`forward` looks along each leg and turns at each point; a number is a fixed angle in rad."""
    turn_rate: TurnRate = 1.0
    """rad/s, the peak turn rate."""


class ExploreConfig(_Config):
    """A tour through the free space of the world, drawn from the seed: to places far from each other, and back to the
    start of the vehicle, on straight legs with a stop at each corner."""

    kind: Literal["explore"] = "explore"
    """The kind of trajectory."""
    length: Length
    """m, the length of the path, within 3 %."""
    altitude: Elevation
    """m, world axes, the height flown."""
    space: FreeSpaceConfig
    """Where the path may lead."""
    speed: Speed
    """m/s, the speed reached on each leg, if the leg is long enough."""
    acceleration: Acceleration = 3.0
    """m/s², the peak acceleration."""
    yaw: YawOption = "forward"
    """`forward` looks along each leg and turns at each corner; a number is a fixed angle in rad."""
    turn_rate: TurnRate = 1.0
    """rad/s, the peak turn rate."""

    def drawn(self, survey: Survey) -> LegsConfig:
        points = tuple((x, y, self.altitude) for x, y in survey.tour(self.space, self.length))
        shared = self.model_dump(include={"speed", "acceleration", "yaw", "turn_rate"})
        return LegsConfig(points=points, **shared)


class WaypointsConfig(_Config):
    """A minimum-snap polynomial through waypoints."""

    kind: Literal["waypoints"] = "waypoints"
    """The kind of trajectory."""
    waypoints: Annotated[tuple[Point, ...], Field(min_length=2)]
    """m, in world axes; it passes through them exactly, without stopping."""
    speed: Speed | None = None
    """m/s, the peak speed; give this or `segment_times`."""
    segment_times: tuple[Seconds, ...] | None = None
    """s, the duration of each segment; give this or `speed`."""
    acceleration: Acceleration = 5.0
    """m/s², the peak acceleration; only with `speed`."""
    yaws: tuple[Angle, ...] | None = None
    """rad, the heading at each waypoint; left out, it looks along the path."""
    optimise_times: bool = False
    """true: the time is shared among the segments for the least snap; only with `speed`."""


TrajectoryConfig: TypeAlias = Annotated[
    CircleConfig | LemniscateConfig | SquareConfig | LegsConfig | ExploreConfig | WaypointsConfig,
    Field(discriminator="kind"),
]

_CLASSES: dict[str, type[Circle | Lemniscate | Legs | MinimumSnap]] = {
    "circle": Circle,
    "lemniscate": Lemniscate,
    "square": Square,
    "legs": Legs,
    "waypoints": MinimumSnap,
}


def build(config: TrajectoryConfig) -> Trajectory:
    if isinstance(config, ExploreConfig):
        raise ScenarioError("a trajectory of kind 'explore' is drawn when a scenario is built; fly it in a scenario")
    options = dict(config)
    return _CLASSES[options.pop("kind")](**options)
