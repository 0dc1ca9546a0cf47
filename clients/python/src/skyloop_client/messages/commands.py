"""Commands to a vehicle: setpoints say what to reach, requests what to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from skyloop_client.messages.states import Array


def _zeros3() -> Array:
    return np.zeros(3)


@dataclass(frozen=True, slots=True, eq=False)
class Position:
    """Hold a point. With derivatives it is a point of a trajectory and is followed with feed-forward."""

    position: Array
    """(3,) m, world, of the body origin."""
    yaw: float | None = None
    """rad, counter-clockwise from east; None keeps the heading."""
    yaw_rate: float = 0.0
    """rad/s about world up."""
    velocity: Array = field(default_factory=_zeros3)
    """(3,) m/s, world."""
    acceleration: Array = field(default_factory=_zeros3)
    """(3,) m/s², world."""
    jerk: Array = field(default_factory=_zeros3)
    """(3,) m/s³, world."""
    snap: Array = field(default_factory=_zeros3)
    """(3,) m/s⁴, world."""


@dataclass(frozen=True, slots=True, eq=False)
class Velocity:
    """Fly at a velocity; `frame` is "world" or "body" (heading-fixed: forward, left, up)."""

    velocity: Array
    """(3,) m/s, axes of `frame`."""
    frame: str = "world"
    """The axes of `velocity`: "world" or "body"."""
    yaw: float | None = None
    """rad, counter-clockwise from east; None turns by `yaw_rate`."""
    yaw_rate: float = 0.0
    """rad/s about world up."""


@dataclass(frozen=True, slots=True, eq=False)
class Attitude:
    """Hold an attitude with a collective thrust."""

    quat_wxyz: Array
    """(4,) world_from_body."""
    thrust: float
    """N, collective, along body up."""
    yaw_rate: float = 0.0
    """rad/s about world up."""


@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """Turn at an angular velocity with a collective thrust."""

    angular_velocity_body: Array
    """(3,) rad/s, body axes."""
    thrust: float
    """N, collective, along body up."""


@dataclass(frozen=True, slots=True, eq=False)
class Motors:
    """Set the throttle of every rotor directly, without the controller."""

    throttle: Array
    """(n_rotors,) 0..1."""


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """Fly there and stay. It need not be refreshed, and reports `arrived`."""

    position: Array
    """(3,) m, world, of the body origin."""
    yaw: float | None = None
    """rad, counter-clockwise from east; None keeps the heading."""
    speed: float | None = None
    """m/s on the way there, as far as the vehicle's limits allow; None is its cruise speed."""


Setpoint: TypeAlias = Position | Velocity | Attitude | Rates | Motors | Goal
"""A target for the vehicle, repeated as long as it applies."""


@dataclass(frozen=True, slots=True)
class Arm:
    """Arm: let the rotors turn."""


@dataclass(frozen=True, slots=True)
class Disarm:
    """Disarm: stop the rotors."""


@dataclass(frozen=True, slots=True)
class TakeOff:
    """Take off and hover."""

    altitude: float = 2.0
    """m above the present position."""


@dataclass(frozen=True, slots=True)
class Land:
    """Land where the vehicle is."""


@dataclass(frozen=True, slots=True)
class Hover:
    """Brake and stay there."""


@dataclass(frozen=True, slots=True)
class GoHome:
    """Fly back to the point of take-off and land."""


Request: TypeAlias = Arm | Disarm | TakeOff | Land | Hover | GoHome
"""What a pilot may ask of the autopilot, once."""
