"""What several of AirSim's moves are given last, in the order clients send it; see `methods.Method`."""

from __future__ import annotations

from dataclasses import dataclass

from skyloop.links.airsim.structures import Map


@dataclass(frozen=True, slots=True)
class Way:
    """How to fly to places."""

    velocity: float
    """m/s."""
    timeout_sec: float
    drivetrain: int
    yaw_mode: Map
    lookahead: float = -1.0
    """m; 0 or less: as much as the speed needs."""
    adaptive_lookahead: float = 1.0
    vehicle_name: str = ""


@dataclass(frozen=True, slots=True)
class Climb:
    """How to fly to a height: a way without a drivetrain."""

    velocity: float
    """m/s."""
    timeout_sec: float
    yaw_mode: Map
    lookahead: float = -1.0
    """m; 0 or less: as much as the speed needs."""
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
    """How to fly at a velocity, and how long."""

    duration: float
    """s."""
    drivetrain: int
    yaw_mode: Map
    vehicle_name: str = ""
