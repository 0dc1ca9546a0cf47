"""Ways that are drawn from the seed when a world is built, so that they fit whatever the seed has put into it."""

from __future__ import annotations

from typing import Annotated, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from skyloop.core.quantities import Count, Elevation, Length, Place

LevelPoint: TypeAlias = tuple[Place, Place]


class FreeSpaceConfig(BaseModel):
    """The part of a world that a level way may lead through, and how near to obstacles."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    area: tuple[LevelPoint, LevelPoint] = ((-20.0, -20.0), (20.0, 20.0))
    """m, the corner in the south-west and that in the north-east."""
    heights: tuple[Elevation, Elevation]
    """m, the lowest and the highest point of the vehicle on its path, world axes, with a margin for errors."""
    clearance: Length
    """m, the horizontal distance between the vehicle's middle and any obstacle."""
    cell: Annotated[float, Field(ge=0.02, le=2.0)] = 0.1
    """m, the width of the cells of the search."""

    @model_validator(mode="after")
    def _is_not_empty(self) -> FreeSpaceConfig:
        (west, south), (east, north) = self.area
        if not (west < east and south < north and self.heights[0] < self.heights[1]):
            raise ValueError("area and heights go from the smaller to the larger number, such as [[-5, -5], [5, 5]]")
        return self


class DrawnGoals(BaseModel):
    """Random goals anywhere in the free space of the world."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    count: Count
    """The number of goals."""
    apart: tuple[Length, Length] = (4.0, 18.0)
    """m, the minimum and the maximum path length from one goal to the next."""
    room: Length = 0.8
    """m, the free radius around a goal."""
    space: FreeSpaceConfig
    """Where goals and the paths between them may lie."""


class Survey(Protocol):
    """What a pilot's configuration may ask of the scenario's world and seed, once, before the flight."""

    @property
    def seed(self) -> int: ...

    def tour(self, space: FreeSpaceConfig, length: float) -> list[LevelPoint]:
        """Corners of a tour of `length` m from the vehicle's start through the free space and back."""

    def goals(self, goals: DrawnGoals) -> list[LevelPoint]: ...
