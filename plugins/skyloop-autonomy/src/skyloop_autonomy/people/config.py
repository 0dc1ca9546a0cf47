"""Numbers of the people tracker. The defaults suit a camera of 320 x 240 px and the BGT60TR13C as airloop sets it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
STRICT = ConfigDict(extra="forbid", frozen=True)


class PersonModel(BaseModel):
    """What is known of people before one is seen."""

    model_config = STRICT

    height: Positive = 1.72
    """m, the mean height."""
    height_sd: Positive = 0.09
    """m, one sigma."""
    radius: Positive = 0.25
    """m, of the upright cylinder that is published."""
    surface: NonNegative = 0.15
    """m from the middle of a body to the surface that throws waves and light back."""
    speed_sd: Positive = 1.0
    """m/s, one sigma of each horizontal component of a new person's velocity."""
    climb_sd: Positive = 0.05
    """m/s, one sigma of a new person's vertical velocity."""
    acceleration_sd: Positive = 0.3
    """m/s², one sigma of the random acceleration along each horizontal axis."""
    climb_acceleration_sd: Positive = 0.05
    """m/s², one sigma of the random vertical acceleration."""


class BoxModel(BaseModel):
    """How far a box may be off."""

    model_config = STRICT

    edge_px: Positive = 2.0
    """px, one sigma of an edge of a box; the shipped network's are off by 1.2 to 2.2, and alike from image to image."""
    edge_share: NonNegative = 0.04
    """The share of the box's height that is added to it."""
    least_score: NonNegative = 0.3
    """Boxes with a lower score are not used."""
    birth_score: NonNegative = 0.5
    """A new person begins with a box of at least this score."""
    depth_sd: Positive = 0.15
    """m, one sigma of the depth of a person, at 0 m."""
    depth_quadratic: NonNegative = 0.01
    """1/m, what is added to it, times the depth squared."""


class RadarModel(BaseModel):
    """How far a radar point may be off, and which points are of something that stands."""

    model_config = STRICT

    range_sd: Positive = 0.25
    """m, one sigma: a body is no point. The sigmas are a quarter to a half more than the robust ones of 4068 points in
    twelve flights past people; wider ones let in clutter, which four of ten points are."""
    speed_sd: Positive = 0.8
    """m/s, one sigma: the strongest echo may be that of a leg, and legs are up to twice as fast as the body."""
    azimuth_sd: Positive = 0.03
    """rad, one sigma."""
    elevation_sd: Positive = 0.08
    """rad, one sigma; larger, because a point may lie on the feet or on the head."""
    still: Positive = 0.35
    """m/s: a point whose speed differs by less from that of the ground stands still and is not used."""
    folded_still: Positive = 0.6
    """m/s: the same for echoes from beyond the radar's range. Sampling folds them, and reverses their speed."""
    cluster_distance: NonNegative = 0.8
    """m, the distance below which points are of one person."""
    max_range: Positive = 11.5
    """m: farther points are not used; the filters in front of the converter take what lies near the greatest range."""


class Evidence(BaseModel):
    """The logarithm of how much likelier a person is there than not: it grows with hits, and shrinks with misses."""

    model_config = STRICT

    camera_hit: Positive = 1.6
    """Added by a box."""
    camera_miss: NonNegative = 0.5
    """Taken away where a box was to be expected."""
    radar_hit: Positive = 0.8
    """Added by a radar point."""
    radar_miss: NonNegative = 0.3
    """Taken away where a radar point was to be expected."""
    confirmed: Positive = 4.0
    """From here on a person is published."""
    most: Positive = 7.0
    """No evidence is stronger."""

    @model_validator(mode="after")
    def _can_be_confirmed(self) -> Evidence:
        if self.most < self.confirmed:
            raise ValueError(f"most {self.most} must not be below confirmed {self.confirmed}")
        return self


class TrackerConfig(BaseModel):
    """How boxes, radar points and depths become people."""

    model_config = STRICT

    person: PersonModel = PersonModel()
    """What is known of people."""
    camera: BoxModel = BoxModel()
    """How good boxes are."""
    radar: RadarModel = RadarModel()
    """How good radar points are."""
    evidence: Evidence = Evidence()
    """When a person is believed in."""
    gate: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.95
    """The share of a person's own measurements that is let in: others differ too much from what is expected."""
    apart: NonNegative = 0.8
    """m: nobody new begins this near to somebody who is there, seen from above; and two who come so near to each other
    on the same course are one."""
    forget: Positive = 0.8
    """s without a measurement after which a confirmed person is given up."""
    forget_new: Positive = 0.5
    """s after which one that is not confirmed is."""
    lost_sd: Positive = 3.0
    """m, one sigma of a position seen from above, beyond which a person is given up."""
    classes: tuple[str, ...] = ("person",)
    """The classes of boxes that are followed."""
