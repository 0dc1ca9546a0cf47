"""When the autopilot takes over, and what it does then."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from skyloop.vehicle.airframe import STRICT, Positive
from skyloop_client.messages import Estimate


class Failsafes(BaseModel):
    """What to do when something runs out."""

    model_config = STRICT

    battery_low: Annotated[float, Field(ge=0, lt=1)] = 0.15
    """State of charge below which `battery_action` starts."""
    battery_action: Literal["land", "home", "none"] = "land"
    setpoint_timeout: Positive = 0.5
    """s without a new setpoint, while one that moves the vehicle is in force, before it hovers."""
    setpoint_land_after: Positive = 5.0
    """s of that hover before it lands."""
    estimate_timeout: Positive = 0.3
    """s without a valid estimate before it descends level and lands."""
    descent_speed: Positive = 0.7
    """m/s when landing, blind or not."""
    home_altitude: Positive = 3.0
    """m above home to fly back at, at least."""


def doubt(estimate: Estimate | None) -> str:
    """What an estimator says to why its estimate is not valid, in brackets; empty when it says nothing."""
    return f" ({estimate.reason})" if estimate is not None and estimate.reason else ""
