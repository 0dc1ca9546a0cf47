"""What radar processing may be told; the defaults suit the BGT60TR13C with the numbers of "airloop", Table 2."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from skyloop.perception.radar_processing.windows import WindowName

Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Cells = tuple[Annotated[int, Field(ge=0, le=64)], Annotated[int, Field(ge=0, le=64)]]
STRICT = ConfigDict(extra="forbid", frozen=True)


class TrackingConfig(BaseModel):
    """The sensor is taken to stand still: targets keep their velocity in its axes but for a random acceleration."""

    model_config = STRICT

    range_sd: Positive = 0.1
    """m, one sigma of a detection; more than the radar's own, for a body is not a point."""
    speed_sd: Positive = 0.2
    """m/s, one sigma."""
    angle_sd: Positive = 0.05
    """rad, one sigma of azimuth and of elevation."""
    acceleration_sd: Positive = 1.5
    """m/s², one sigma of the random acceleration along each axis."""
    start_speed_sd: Positive = 1.5
    """m/s, one sigma of a new target's velocity across the line of sight."""
    gate: Positive = 4.0
    """Sigmas by which a detection may differ from a track's prediction."""
    cluster_distance: NonNegative = 0.7
    """m; detections nearer to each other than this are one target, and no track is born this near to another."""
    confirm_hits: Annotated[int, Field(ge=1, le=50)] = 3
    """A track is shown once it was seen this often ..."""
    confirm_bursts: Annotated[int, Field(ge=1, le=50)] = 5
    """... within its first so many bursts; else it dies."""
    max_misses: Annotated[int, Field(ge=0)] = 6
    """Bursts in a row without a detection that a shown track survives."""

    @model_validator(mode="after")
    def _can_be_confirmed(self) -> TrackingConfig:
        if self.confirm_hits > self.confirm_bursts:
            raise ValueError(f"confirm_hits {self.confirm_hits} cannot exceed confirm_bursts {self.confirm_bursts}")
        return self


class ProcessingConfig(BaseModel):
    model_config = STRICT

    window: WindowName = "hamming"
    """Taper over the samples of a chirp and over the chirps; hamming costs accuracy in noise the least."""
    range_padding: Annotated[int, Field(ge=1, le=8)] = 2
    """How many times longer than its data the range FFT is."""
    speed_padding: Annotated[int, Field(ge=1, le=8)] = 1
    """The same of the Doppler FFT."""
    mti: Literal["none", "mean", "running"] = "mean"
    """How what stands still is removed: not, the mean over a burst's chirps, or an average over bursts.

    The mean also takes what is slower than about two speed cells, or splits it into two.
    """
    clutter_bursts: Annotated[float, Field(ge=1.0)] = 20.0
    """Bursts over which the running average forgets."""
    cfar: Literal["cell_averaging", "ordered_statistic"] = "cell_averaging"
    """How the noise around a cell is estimated."""
    threshold_db: Positive = 8.0
    """dB over the noise around it, at which a cell is a detection; 8 gives a false one in about 60 bursts of noise."""
    guard: Cells = (2, 3)
    """Resolution cells on each side in range and in speed that may hold the target itself."""
    training: Cells = (4, 8)
    """Resolution cells beyond the guard, on each side, from which the noise is taken."""
    rank: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.75
    """Quantile of the training cells that the ordered statistic takes."""
    dynamic_range_db: Positive = 60.0
    """dB below the strongest cell of a burst, beyond which nothing is a detection."""
    max_detections: Annotated[int, Field(ge=1, le=1000)] = 32
    """The strongest are kept."""
    angle_method: Literal["monopulse", "capon"] = "monopulse"
    """How direction is found from the antennas."""
    min_range: NonNegative = 0.5
    """m; nearer is the radar's own leakage."""
    max_range: Positive | None = None
    """m; None: all the waveform allows."""
    tracking: TrackingConfig | None = TrackingConfig()
    """None: no tracks."""

    @model_validator(mode="after")
    def _can_see(self) -> ProcessingConfig:
        if self.training == (0, 0):
            raise ValueError("training (0, 0) leaves no cells to take the noise from; give at least (1, 0)")
        if self.max_range is not None and self.max_range <= self.min_range:
            raise ValueError(f"max_range {self.max_range} m must be above min_range {self.min_range} m")
        return self
