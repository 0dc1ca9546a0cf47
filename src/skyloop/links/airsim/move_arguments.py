"""Argument groups that end several of AirSim's moves, in the order in which clients send them; see `methods.Method`."""

from __future__ import annotations

from dataclasses import dataclass

from skyloop.links.airsim.structures import Map


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
    """How to fly to a height: like Way, without a drivetrain."""

    velocity: float
    """m/s."""
    timeout_sec: float
    yaw_mode: Map
    lookahead: float = -1.0
    """m. At 0 or less it follows from the speed."""
    adaptive_lookahead: float = 1.0
    vehicle_name: str = ""

    @property
    def way(self) -> Way:
        return Way(
            self.velocity, self.timeout_sec, 0, self.yaw_mode, self.lookahead, self.adaptive_lookahead,
            self.vehicle_name,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stretch:
    """How to fly at a velocity, and for how long."""

    duration: float
    """s."""
    drivetrain: int
    yaw_mode: Map
    vehicle_name: str = ""
