"""Numbers of a scenario, with the bounds that a person would name: what is beyond them is a slip of the pen."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field

MOST = 1e10
"""Of numbers that need no closer bound."""
Number: TypeAlias = Annotated[float, Field(ge=-MOST, le=MOST, allow_inf_nan=False)]
Positive: TypeAlias = Annotated[float, Field(gt=0, le=MOST, allow_inf_nan=False)]
NonNegative: TypeAlias = Annotated[float, Field(ge=0, le=MOST, allow_inf_nan=False)]
Vector: TypeAlias = tuple[Number, Number, Number]

Place: TypeAlias = Annotated[float, Field(ge=-100_000, le=100_000, allow_inf_nan=False)]
"""m, east or north of the world's origin."""
Elevation: TypeAlias = Annotated[float, Field(ge=-10_000, le=10_000, allow_inf_nan=False)]
"""m, above the world's origin: no multirotor flies higher."""
Point: TypeAlias = tuple[Place, Place, Elevation]


def _in_reach(place: tuple[float, ...]) -> tuple[float, ...]:
    for number, most in zip(place, (100_000.0, 100_000.0, 10_000.0), strict=False):
        if abs(number) > most:
            raise ValueError(f"{number:g} m is out of reach; vehicles start within 100 km, and at most 10 km high")
    return place


StartPlace: TypeAlias = Annotated[tuple[float, float] | tuple[float, float, float], AfterValidator(_in_reach)]
"""With a height or without; one error for both forms."""
Height: TypeAlias = Annotated[float, Field(gt=0, le=10_000, allow_inf_nan=False)]
"""m, above the ground or the point of take-off."""
Length: TypeAlias = Annotated[float, Field(gt=0, le=100_000, allow_inf_nan=False)]
"""m."""
Distance: TypeAlias = Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)]
"""m; it may be 0."""
OnBoard: TypeAlias = Annotated[float, Field(ge=-100, le=100, allow_inf_nan=False)]
"""m, from the body origin."""
Lever: TypeAlias = tuple[OnBoard, OnBoard, OnBoard]
Speed: TypeAlias = Annotated[float, Field(gt=0, le=200, allow_inf_nan=False)]
"""m/s."""
AirSpeed: TypeAlias = Annotated[float, Field(ge=-150, le=150, allow_inf_nan=False)]
"""m/s, along one axis: no storm is faster."""
Acceleration: TypeAlias = Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)]
"""m/s²."""
Angle: TypeAlias = Annotated[float, Field(ge=-100, le=100, allow_inf_nan=False)]
"""rad: sixteen turns."""
Degrees: TypeAlias = Annotated[float, Field(ge=-3600, le=3600, allow_inf_nan=False)]
TurnRate: TypeAlias = Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)]
"""rad/s."""
Seconds: TypeAlias = Annotated[float, Field(gt=0, le=MOST, allow_inf_nan=False)]
Instant: TypeAlias = Annotated[float, Field(ge=0, le=MOST, allow_inf_nan=False)]
"""s, of simulated time, or a time that may be 0."""
Delay: TypeAlias = Annotated[float, Field(ge=0, le=60, allow_inf_nan=False)]
"""s, of a sensor or a computer."""
Hertz: TypeAlias = Annotated[float, Field(ge=0.001, le=100_000, allow_inf_nan=False)]
"""Hz."""
Frequency: TypeAlias = Annotated[float, Field(gt=0, le=1e12, allow_inf_nan=False)]
"""Hz, of a wave."""
Count: TypeAlias = Annotated[int, Field(ge=1, le=1_000_000)]
