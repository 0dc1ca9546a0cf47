"""What a vehicle can be commanded to do for a while: links translate their messages into these, Python code uses them
directly."""

from skyloop.vehicle.behaviours.behaviour import Behaviour, For, Once, Order, Situation, Steps, Wait
from skyloop.vehicle.behaviours.fence import Fence, Fenced
from skyloop.vehicle.behaviours.motions import (
    FlyVelocity,
    Heading,
    HeldHeight,
    Hold,
    HoldAttitude,
    HoldRates,
    Sticks,
    TurnTo,
)
from skyloop.vehicle.behaviours.places import Arrival, Cubics, FollowPath, GoTo, Track, own_lookahead, yaw_towards
from skyloop.vehicle.behaviours.targets import Facing, Follow, Orbit, Station

__all__ = [
    "Arrival", "Behaviour", "Cubics", "Facing", "Fence", "Fenced", "FlyVelocity", "Follow", "FollowPath", "For", "GoTo",
    "Heading", "HeldHeight", "Hold", "HoldAttitude", "HoldRates", "Once", "Orbit", "Order", "Situation", "Station",
    "Steps", "Sticks", "Track", "TurnTo", "Wait", "own_lookahead", "yaw_towards",
]  # fmt: skip
