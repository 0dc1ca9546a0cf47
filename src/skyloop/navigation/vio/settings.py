"""How visual-inertial odometry weighs its images and its IMU."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Positive = Annotated[float, Field(gt=0.0)]


class VioSettings(BaseModel):
    """The settings of visual-inertial odometry."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    features: Annotated[int, Field(ge=20, le=600)] = 150
    """The number of corners that are tracked."""
