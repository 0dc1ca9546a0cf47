"""What the autopilot of one vehicle remembers between its ticks."""

from __future__ import annotations

import dataclasses

import numpy as np

from skyloop_client.messages import Array, Setpoint

HOME_KEPT_WITHIN = 1.0
"""m: armed this near to its home, a vehicle keeps it; so home does not move a little with every flight."""

LANDS_WITHIN = 1.0
"""m: as near to the place it holds, a vehicle that is told to land does so on it, and not where it happens to be."""


@dataclasses.dataclass
class AutopilotMemory:
    """Everything that changes; copied whole by snapshots."""

    mode: str = "disarmed"
    armed: bool = False
    landed: bool = True
    failsafe: str = ""
    setpoint: Setpoint | None = None
    setpoint_ns: int = 0
    failsafe_ns: int = 0
    home: Array | None = None
    home_is_chosen: bool = False
    """Somebody set it, so that arming elsewhere does not move it."""
    hold: Array | None = None
    hold_yaw: float | None = None
    goal_speed: float = 0.0
    """m/s towards `hold`, on the way to a goal or home."""
    interrupted: str = ""
    """The mode an estimate failsafe broke into."""
    land_start_ns: int = 0
    land_from: float = 0.0
    quiet_since_ns: int = -1
    tipped_since_ns: int = -1
    stuck_since_ns: int = -1
    estimate_ns: int = 0
    refused: tuple[str, ...] = ()
    commander: str = ""
    """Whose order was obeyed last: a link's or a pilot's name; empty when nobody commands."""
    release_ns: int = -1
    """When the hover after a release ends; -1: there is none."""
    release_then: str = "land"
    """What follows that hover: land or home."""

    def take_home(self, here: Array) -> None:
        """It is armed here, which becomes its home unless it has one of its own or close by."""
        if self.home is None or not (self.home_is_chosen or np.linalg.norm(here - self.home) < HOME_KEPT_WITHIN):
            self.home = here

    def take_commander(self, by: str) -> None:
        """An order of somebody ends a release, and the hover before a landing for want of setpoints."""
        self.commander, self.release_ns = by, -1
        if self.failsafe == "setpoint lost" and self.mode != "land":
            self.failsafe = ""

    def landing_place(self, braked: Array) -> Array:
        """(3,) m, world: where to land that could stop at `braked`."""
        if self.mode not in ("hover", "goal", "home") or self.hold is None:
            return braked
        near = float(np.hypot(*(braked - self.hold)[:2])) < LANDS_WITHIN
        return np.array([self.hold[0], self.hold[1], braked[2]]) if near else braked
