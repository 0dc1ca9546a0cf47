"""What PX4 gets beside its sensors, as a part of a scenario."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from skyloop.vehicle.airframe import STRICT


class Px4Choice(BaseModel):
    """What a vehicle sends to PX4 beside its sensors, in `skyloop run --autopilot px4`."""

    model_config = STRICT

    odometry: str | None = None
    """One of `estimators`, `ekf`, or the name of a stream of estimates, which PX4 gets as ODOMETRY. Such a vehicle gets
    no GNSS that it does not have. Left out: no ODOMETRY."""
    odometry_frame: Literal["frd", "ned"] = "frd"
    """The axes of its poses. `frd`: from where the vehicle starts, with its heading there, as from a program that knows
    no north. `ned`: from the world's origin."""
    odometry_rate_hz: Annotated[float, Field(ge=1, le=250)] = 50.0
    """Most messages per second. PX4's EKF drops what comes faster than about 90 Hz."""
