"""The algorithm of fpga-landing-hil as it is published. What the paper leaves open has its reason beside it."""

from __future__ import annotations

import math
from typing import Any

from skyloop_papers.landing.flight import OURS, LandingWay

NO_LIMIT = 1000.0
"""Of a speed, an acceleration, a turn: the paper has none."""
RATE_HZ = 15
"""Images, rangefinder readings, answers and commands per second. Open: the authors' script takes an image, then reads
the distance and the line, then commands, as fast as it can, and the paper does not say how fast that was."""
POLLS = 240
"""Looks at the line per second; see landing_link."""
CONTROL: dict[str, Any] = {
    # published: P controllers and nothing else; no limits, no filter, no turning in the second stage, no search
    "altitude_filter": False,
    "integral_share": 0.0,
    "tilt_height": NO_LIMIT,
    "max_speed": NO_LIMIT,
    "max_acceleration": NO_LIMIT,
    "max_descent": NO_LIMIT,
    "max_yaw_rate_deg": NO_LIMIT,
    "yaw_within": NO_LIMIT,
    "second_stage": "published",
    "when_lost": "go on",
    # the position is that in the image, and the camera is ahead of the vehicle
    "camera_ahead": 0.0,
    # open: ours at the greatest height of a start, since one gain has to do for all heights
    "position_gain": 0.44,
    # open: ours
    "descent_gain": 0.45,
    "yaw_gain": 1.5,
    "over_within": 0.08,
    "land_within": 0.08,
    "landing_height": 1.05,
    "give_up_after": 20.0,
    "time_limit": 120.0,
}
LOWER_CONTROLLER: dict[str, Any] = {
    # AirSim's landing: straight down, without a look at the ground
    "vehicles.drone.failsafes.descent_speed": 0.2,
    "vehicles.drone.failsafes.landing_search": 0.0,
}


def way(**control: Any) -> LandingWay:
    """With changes to the control."""
    changes = {f"vehicles.drone.pilot.control.{key}": value for key, value in {**CONTROL, **control}.items()}
    changes |= {"vehicles.drone.pilot.rules": "published", **LOWER_CONTROLLER}
    return LandingWay(changes, POLLS // RATE_HZ, math.inf)


WAYS: dict[str, tuple[LandingWay, int]] = {
    "as published": (way(), RATE_HZ),
    "heading too": (way(second_stage="aligned"), RATE_HZ),
    "ours": (LandingWay(OURS.changes, OURS.polls_per_step, math.inf), 30),
}
"""With the camera's rate."""
