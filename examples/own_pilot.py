"""A pilot of your own: a function that flies east and keeps its height above the surface below."""

import numpy as np

from skyloop_client import Bundle
from skyloop_client.messages import Arm, Request, Setpoint, TakeOff, Velocity

CLEARANCE = 4.0
"""m above the ground."""
SPEED = 3.0
"""m/s, eastwards."""


def follow_ground(bundle: Bundle) -> Setpoint | list[Setpoint | Request] | None:
    status = bundle.get("status")
    if status is None or not status.armed:
        return [Arm(), TakeOff(CLEARANCE)]
    if status.mode == "takeoff":
        return None
    below = bundle.get("rangefinder").distance
    climb = float(np.clip(1.5 * (CLEARANCE - below), -1.5, 1.5)) if np.isfinite(below) else 0.0
    return Velocity(np.array([SPEED, 0.0, climb]))
