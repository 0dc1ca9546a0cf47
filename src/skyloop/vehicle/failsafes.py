"""The failsafes: when the autopilot takes over, and what it does."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from skyloop.core.quantities import Height, Seconds, Speed
from skyloop.vehicle.airframe import STRICT
from skyloop_client.messages import Estimate


class Failsafes(BaseModel):
    """What the vehicle does when the battery, the setpoints or the estimate run out."""

    model_config = STRICT

    battery_low: Annotated[float, Field(ge=0, lt=1)] = 0.15
    """The state of charge below which `battery_action` starts, 1 being full."""
    battery_action: Literal["land", "home", "none"] = "land"
    """What the vehicle does when the battery is low."""
    setpoint_timeout: Seconds = 0.5
    """s, the time without a new setpoint, while the vehicle follows one that moves it, after which it hovers."""
    setpoint_land_after: Seconds = 5.0
    """s, the time of that hover after which it lands."""
    estimate_timeout: Seconds = 0.3
    """s, the time without a valid estimate after which it descends level and lands."""
    descent_speed: Speed = 0.7
    """m/s, the speed at which it lands, with or without an estimate."""
    landing_search: Annotated[float, Field(ge=0, le=20)] = 3.0
    """m, how far it moves sideways when the place below is not level or not clear, by the true ground. 0: it lands
    where it is."""
    home_altitude: Height = 3.0
    """m, the least height above home at which it flies back."""


def doubt(estimate: Estimate | None) -> str:
    """The estimator's reason why its estimate is not valid, in brackets; empty when it gives none."""
    return f" ({estimate.reason})" if estimate is not None and estimate.reason else ""
