"""What the level SLAM may be told: the grid, the matching of sweeps, and the particles."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveFloat


class GridSettings(BaseModel):
    """The grid of a particle. Its cells hold evidence: positive for occupied, negative for free, 0 for unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cell: PositiveFloat = 0.2
    """m, the side of a cell."""
    half_extent: PositiveFloat = 128.0
    """m, from the start to each edge of the map; what is further away is left out."""
    hit: int = Field(default=12, ge=1, le=127)
    """Evidence of a sweep with a return from the cell, in units of 0.07 of log odds."""
    miss: int = Field(default=5, ge=1, le=127)
    """Evidence of a sweep with rays through the cell and no return from it."""
    ray_stride: int = Field(default=4, ge=1)
    """Of every so many rays of a sweep, one clears the cells it crosses; the next sweeps take the others in turn."""
    highest: int = Field(default=100, ge=1, le=127)
    """The most evidence for an obstacle. A limit lets the map forget things that have moved away."""
    lowest: int = Field(default=-60, ge=-127, le=-1)
    """The most evidence for free space."""
    occupied: int = Field(default=24, ge=1, le=127)
    """A cell with this evidence or more is an obstacle."""


class MatchSettings(BaseModel):
    """How a sweep is laid on the map of a particle."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    residual_sd: PositiveFloat = 0.05
    """m, of the distance of a point from the wall on which it lies."""
    most_points: int = Field(default=360, ge=10)
    """At most so many points of a sweep are matched."""
    independent_points: PositiveFloat = 300.0
    """The points of a sweep count as this many independent ones; neighbours on a wall err together."""
    search_below: float = Field(default=0.45, ge=0.0, le=1.0)
    """The mean likelihood at the predicted pose below which a window around it is searched first."""
    search_distance: PositiveFloat = 0.6
    """m, half of the side of that window."""
    search_turn: PositiveFloat = 0.07
    """rad, half of its width in heading."""
    iterations: NonNegativeInt = 8
    """Gauss-Newton steps."""


class FilterSettings(BaseModel):
    """The particle filter."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    particles: int = Field(default=12, ge=1, le=1000)
    """The number of particles."""
    seed: int = 0
    """Of the random numbers that spread the particles."""
    odometry_sd: PositiveFloat = 0.01
    """m, of the predicted motion between two sweeps, along each axis."""
    odometry_turn_sd: PositiveFloat = 0.0001
    """rad, of the predicted turn between two sweeps."""
    gnss_sd_floor: PositiveFloat = 0.3
    """m; a receiver that reports less is taken for this."""
    gnss_correlation_time: PositiveFloat = 60.0
    """s in which the error of a receiver hardly changes. All fixes of this time together count as one."""
    resample_below: float = Field(default=0.5, ge=0.0, le=1.0)
    """Particles are drawn anew when their effective number falls below this share."""
    grid: GridSettings = GridSettings()
    match: MatchSettings = MatchSettings()
