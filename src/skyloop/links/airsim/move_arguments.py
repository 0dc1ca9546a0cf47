"""Argument groups that end several of AirSim's moves, in the order in which clients send them; see `methods.Method`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from skyloop.links.airsim.structures import Map, number_of, yaw_of_ned
from skyloop.vehicle.behaviours import Heading
from skyloop_client.errors import LinkError

FORWARD_ONLY = 1
"""The drivetrain whose nose points along the path."""


@dataclass(frozen=True, slots=True)
class Way:
    """How to fly to positions."""

    velocity: float
    """m/s."""
    timeout_sec: float
    drivetrain: int
    yaw_mode: Map
    lookahead: float = -1.0
    """m. At 0 or less it follows from the speed."""
    adaptive_lookahead: float = 1.0
    vehicle_name: str = ""


@dataclass(frozen=True, slots=True)
class Climb:
    """How to fly to a height: like Way, but clients send no drivetrain."""

    drivetrain: ClassVar[int] = 0
    velocity: float
    """m/s."""
    timeout_sec: float
    yaw_mode: Map
    lookahead: float = -1.0
    """m. At 0 or less it follows from the speed."""
    adaptive_lookahead: float = 1.0
    vehicle_name: str = ""


@dataclass(frozen=True, slots=True)
class Stretch:
    """How to fly at a velocity, and for how long."""

    duration: float
    """s."""
    drivetrain: int
    yaw_mode: Map
    vehicle_name: str = ""


def heading_of(way: Way | Climb | Stretch) -> Heading:
    """The yaw that drivetrain and yaw_mode ask for."""
    yaw_mode = way.yaw_mode
    if not isinstance(yaw_mode, dict):
        raise LinkError(f"yaw_mode is {yaw_mode!r}; give a map with is_rate and yaw_or_rate")
    is_rate, value = bool(yaw_mode.get("is_rate")), math.radians(number_of(yaw_mode.get("yaw_or_rate"), "yaw"))
    if way.drivetrain == FORWARD_ONLY:
        if is_rate and value:
            raise LinkError("drivetrain ForwardOnly cannot turn at a rate; give YawMode(False, degrees)")
        return Heading(-value, ahead=True)
    return Heading(rate=-value) if is_rate else Heading(yaw_of_ned(value))
