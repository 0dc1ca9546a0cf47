"""The state of one vehicle's autopilot between its ticks."""

from __future__ import annotations

import dataclasses

import numpy as np

from skyloop.vehicle.behaviours import Behaviour
from skyloop_client.messages import Array, Setpoint
from skyloop_client.streams import NS_PER_S

HOME_KEPT_WITHIN = 1.0
"""m. A vehicle armed this near to its home keeps that home, so that home does not drift with every flight."""

LANDS_WITHIN = 1.0
"""m. A vehicle this near to the point it holds lands on that point, not where it happens to be."""


@dataclasses.dataclass
class AutopilotMemory:
    """The whole state of the autopilot; snapshots copy it."""

    mode: str = "disarmed"
    armed: bool = False
    landed: bool = True
    failsafe: str = ""
    setpoint: Setpoint | None = None
    setpoint_ns: int = 0
    failsafe_ns: int = 0
    home: Array | None = None
    home_is_chosen: bool = False
    """Home was set by a request, so that arming elsewhere does not move it."""
    hold: Array | None = None
    hold_yaw: float | None = None
    goal_speed: float = 0.0
    """m/s, the speed towards `hold` on the way to a goal or home."""
    interrupted: str = ""
    """The mode that a failsafe for the estimate interrupted."""
    touched_ns: int = -NS_PER_S
    """When its body touched something last."""
    fallen: bool = False
    """It has crashed, because it lies, since it was armed last."""
    moves_over: bool = False
    """It flies to a clear place before it sinks."""
    land_start_ns: int = 0
    land_from: float = 0.0
    since_ns: dict[str, int] = dataclasses.field(default_factory=dict)
    """Since when conditions hold, by their names."""
    estimate_ns: int = 0
    refused: tuple[str, ...] = ()
    commander: str = ""
    """The name of the link or pilot whose order was obeyed last; empty when none is in command."""
    release_ns: int = -1
    """When the hover after a release ends; -1: there is none."""
    release_then: str = "land"
    """What follows that hover: land or home."""
    is_pilot_relieved: bool = False
    """A person or a script flies in the pilot's place."""
    behaviour: Behaviour | None = None
    """What a script has it fly."""
    behaviour_by: str = ""
    """The name under which that script commands."""

    def take_home(self, here: Array) -> None:
        """Makes `here`, where the vehicle is armed, its home, unless home was set by a request or is close by."""
        if self.home is None or not (self.home_is_chosen or np.linalg.norm(here - self.home) < HOME_KEPT_WITHIN):
            self.home = here

    def take_commander(self, by: str) -> None:
        """An order ends a release. It also ends the hover that comes before a landing for lack of setpoints."""
        self.commander, self.release_ns = by, -1
        if self.failsafe == "setpoint lost" and self.mode != "land":
            self.failsafe = ""

    def held_ns(self, condition: str, holds: bool, t_ns: int) -> int:
        """For how long a condition has held without a break; -1 if it does not hold."""
        if not holds:
            self.since_ns.pop(condition, None)
            return -1
        return t_ns - self.since_ns.setdefault(condition, t_ns)

    def above_home(self, position: Array) -> float:
        return float(position[2] - (0.0 if self.home is None else self.home[2]))

    def landing_place(self, braked: Array) -> Array:
        """(3,) m, world: where to land if the vehicle could stop at `braked`."""
        if self.mode not in ("hover", "goal", "home") or self.hold is None:
            return braked
        near = float(np.hypot(*(braked - self.hold)[:2])) < LANDS_WITHIN
        return np.array([self.hold[0], self.hold[1], braked[2]]) if near else braked
