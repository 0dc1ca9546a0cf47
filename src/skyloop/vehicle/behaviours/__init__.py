"""What a vehicle can be told to do for a while: links translate their messages into these, Python code uses them
directly."""

from skyloop.vehicle.behaviours.behaviour import Behaviour, For, Once, Order, Situation, Steps, Wait
from skyloop.vehicle.behaviours.fence import Fence, Fenced
from skyloop.vehicle.behaviours.follow import Follow, Station
from skyloop.vehicle.behaviours.go_to import Arrival, GoTo, yaw_towards
from skyloop.vehicle.behaviours.motions import FlyVelocity, Heading, HeldHeight, Hold, HoldAttitude, HoldRates, TurnTo
from skyloop.vehicle.behaviours.orbit import Facing, Orbit
from skyloop.vehicle.behaviours.paths import Cubics, FollowPath, Track, own_lookahead
from skyloop.vehicle.behaviours.sticks import Sticks

__all__ = [
    "Arrival", "Behaviour", "Cubics", "Facing", "Fence", "Fenced", "FlyVelocity", "Follow", "FollowPath", "For", "GoTo",
    "Heading", "HeldHeight", "Hold", "HoldAttitude", "HoldRates", "Once", "Orbit", "Order", "Situation", "Station",
    "Steps", "Sticks", "Track", "TurnTo", "Wait", "own_lookahead", "yaw_towards",
]  # fmt: skip
