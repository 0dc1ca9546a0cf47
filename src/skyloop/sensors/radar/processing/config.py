"""Configuration of the radar processing. The defaults suit the BGT60TR13C with the numbers of "airloop", Table 2."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from skyloop.core.quantities import Acceleration, Distance, Length, Positive, Speed
from skyloop.sensors.radar.processing.windows import WindowName

Cells = tuple[Annotated[int, Field(ge=0, le=64)], Annotated[int, Field(ge=0, le=64)]]
STRICT = ConfigDict(extra="forbid", frozen=True)


class TrackingConfig(BaseModel):
    """How detections become tracks. The sensor is assumed to stand still: targets keep their velocity in its axes,
    apart from a random acceleration."""

    model_config = STRICT

    range_sd: Length = 0.1
    """m, one sigma of the range of a detection; larger than the radar's own, because a body is not a point."""
    speed_sd: Speed = 0.2
    """m/s, one sigma of the speed of a detection."""
    angle_sd: Positive = 0.05
    """rad, one sigma of azimuth and of elevation."""
    acceleration_sd: Acceleration = 1.5
    """m/s², one sigma of the random acceleration along each axis."""
    start_speed_sd: Speed = 1.5
    """m/s, one sigma of a new target's velocity across the line of sight."""
    gate: Positive = 4.0
    """The sigmas by which a detection may differ from a track's prediction."""
    cluster_distance: Distance = 0.7
    """m, the distance below which detections are one target; no track begins this near to another."""
    confirm_hits: Annotated[int, Field(ge=1, le=50)] = 3
    """The number of times a track must be seen, within its first `confirm_bursts` bursts, before it is published."""
    confirm_bursts: Annotated[int, Field(ge=1, le=50)] = 5
    """The number of bursts after which a track that is not confirmed is dropped."""
    max_misses: Annotated[int, Field(ge=0, le=1_000_000)] = 6
    """The number of bursts in a row without a detection that a confirmed track survives."""

    @model_validator(mode="after")
    def _can_be_confirmed(self) -> TrackingConfig:
        if self.confirm_hits > self.confirm_bursts:
            raise ValueError(f"confirm_hits {self.confirm_hits} cannot exceed confirm_bursts {self.confirm_bursts}")
        return self


class ProcessingConfig(BaseModel):
    """How the scans of a radar become range-Doppler images, points and tracks."""

    model_config = STRICT

    window: WindowName = "hamming"
    """The taper over the samples of a chirp and over the chirps; hamming costs the least accuracy in noise."""
    range_padding: Annotated[int, Field(ge=1, le=8)] = 2
    """How many times longer than its data the range FFT is."""
    speed_padding: Annotated[int, Field(ge=1, le=8)] = 1
    """How many times longer than its data the Doppler FFT is."""
    mti: Literal["none", "mean", "running"] = "mean"
    """How echoes of objects that stand still are removed: `none` keeps them, `mean` subtracts the mean over the chirps
    of a burst, `running` an average over bursts. `mean` also removes targets slower than about two speed cells, or
    splits them into two."""
    clutter_bursts: Annotated[float, Field(ge=1.0, le=1e6)] = 20.0
    """The number of bursts over which the running average forgets."""
    cfar: Literal["cell_averaging", "ordered_statistic"] = "cell_averaging"
    """How the noise around a cell is estimated."""
    threshold_db: Positive = 8.0
    """The level over the noise at which a cell is a detection; 8 gives a false one in about 60 bursts of noise."""
    guard: Cells = (2, 3)
    """The resolution cells on each side, in range and in speed, that may hold the target itself."""
    training: Cells = (4, 8)
    """The resolution cells beyond the guard, on each side, from which the noise is taken."""
    rank: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.75
    """The quantile of the training cells that the ordered statistic takes."""
    dynamic_range_db: Positive = 60.0
    """The level below the strongest cell of a burst under which nothing is a detection."""
    max_detections: Annotated[int, Field(ge=1, le=1000)] = 32
    """The largest number of detections; the strongest are kept."""
    angle_method: Literal["monopulse", "capon"] = "monopulse"
    """How the direction is found from the antennas."""
    min_range: Distance = 0.5
    """m, the range below which nothing is a detection, because of the radar's own leakage."""
    max_range: Length | None = None
    """m, the range above which nothing is a detection; null: all that the waveform allows."""
    tracking: TrackingConfig | None = TrackingConfig()
    """How detections become tracks; null: there are no tracks."""

    @model_validator(mode="after")
    def _can_see(self) -> ProcessingConfig:
        if self.training == (0, 0):
            raise ValueError("training (0, 0) leaves no cells to take the noise from; give at least (1, 0)")
        if self.max_range is not None and self.max_range <= self.min_range:
            raise ValueError(f"max_range {self.max_range} m must be above min_range {self.min_range} m")
        return self
