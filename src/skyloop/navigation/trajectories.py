"""Trajectories as smooth functions of time, and the configurations they are built from."""

from __future__ import annotations

from typing import Annotated, Literal, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, PositiveFloat, PositiveInt

from skyloop.navigation.curves import Circle, Lemniscate
from skyloop.navigation.legs import Legs, Line, Square
from skyloop.navigation.minimum_snap import MinimumSnap
from skyloop_client.messages import Position

__all__ = [
    "Circle",
    "CircleConfig",
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

Point: TypeAlias = tuple[FiniteFloat, FiniteFloat, FiniteFloat]
YawOption: TypeAlias = Literal["forward"] | FiniteFloat


class Trajectory(Protocol):
    """A path in time that begins and ends at rest."""

    duration: float

    def at(self, t: float) -> Position:
        """The point `t` s after the start with its derivatives; outside 0..duration, that end at rest."""
        ...


class _Config(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class CircleConfig(_Config):
    kind: Literal["circle"] = "circle"
    centre: Point
    """m, world; its z is the altitude flown."""
    radius: PositiveFloat
    """m."""
    speed: PositiveFloat
    """m/s over ground between the ramps."""
    laps: PositiveFloat = 1.0
    """Laps flown, ramps included."""
    ramp: PositiveFloat | None = None
    """s from rest to `speed`, and back; by default what 3 m/s² along the track takes."""
    yaw: YawOption = "forward"
    """Along the track, or a fixed angle in rad."""
    start_angle: FiniteFloat = 0.0
    """rad from east, seen from the centre."""


class LemniscateConfig(_Config):
    kind: Literal["lemniscate"] = "lemniscate"
    centre: Point
    """m, world: the crossing, where it begins and ends; its z is the altitude flown."""
    minimum_radius: PositiveFloat
    """m, radius of curvature at the tips; the figure is six times as wide."""
    speed: PositiveFloat
    """m/s over ground between the ramps, constant along the curve."""
    laps: PositiveFloat = 1.0
    """Laps flown, ramps included."""
    ramp: PositiveFloat | None = None
    """s from rest to `speed`, and back; by default what 3 m/s² along the track takes."""
    yaw: YawOption = "forward"
    """Along the track, or a fixed angle in rad."""
    axis_angle: FiniteFloat = 0.0
    """rad from east to the long axis."""


class SquareConfig(_Config):
    kind: Literal["square"] = "square"
    corner: Point
    """m, world: where it begins and ends."""
    side: PositiveFloat
    """m."""
    speed: PositiveFloat
    """m/s reached on each side, if the side is long enough."""
    laps: PositiveInt = 1
    """Times around."""
    first_heading: FiniteFloat = 0.0
    """rad from east, direction of the first side; the square lies to its left."""
    acceleration: PositiveFloat = 3.0
    """m/s², peak."""
    yaw: YawOption = "forward"
    """Along each side with a turn in each corner, or a fixed angle in rad."""
    turn_rate: PositiveFloat = 1.0
    """rad/s, peak in the corners."""


class LegsConfig(_Config):
    kind: Literal["legs"] = "legs"
    points: Annotated[tuple[Point, ...], Field(min_length=2)]
    """m, world; the vehicle stops in each."""
    speed: PositiveFloat
    """m/s reached on each leg, if the leg is long enough."""
    legs: PositiveInt | None = None
    """Legs flown, back and forth along the points; by default once along."""
    acceleration: PositiveFloat = 3.0
    """m/s², peak."""
    yaw: YawOption = "forward"
    """Along each leg with a turn at each point, or a fixed angle in rad."""
    turn_rate: PositiveFloat = 1.0
    """rad/s, peak while turning."""


class WaypointsConfig(_Config):
    kind: Literal["waypoints"] = "waypoints"
    waypoints: Annotated[tuple[Point, ...], Field(min_length=2)]
    """m, world; passed through exactly, without stopping."""
    speed: PositiveFloat | None = None
    """m/s, peak; give this or `segment_times`."""
    segment_times: tuple[PositiveFloat, ...] | None = None
    """s, duration of each segment; give this or `speed`."""
    acceleration: PositiveFloat = 5.0
    """m/s², peak; with `speed` only."""
    yaws: tuple[FiniteFloat, ...] | None = None
    """rad at each waypoint; by default along the way."""
    optimise_times: bool = False
    """Share the time among the segments for the least snap; with `speed` only."""


TrajectoryConfig: TypeAlias = Annotated[
    CircleConfig | LemniscateConfig | SquareConfig | LegsConfig | WaypointsConfig, Field(discriminator="kind")
]

_CLASSES: dict[str, type[Circle | Lemniscate | Legs | MinimumSnap]] = {
    "circle": Circle,
    "lemniscate": Lemniscate,
    "square": Square,
    "legs": Legs,
    "waypoints": MinimumSnap,
}


def build(config: TrajectoryConfig) -> Trajectory:
    options = {name: getattr(config, name) for name in type(config).model_fields if name != "kind"}
    return _CLASSES[config.kind](**options)
