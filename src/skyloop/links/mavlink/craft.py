"""A vehicle as the MAVLink side sees it: its belief of itself, its home, its settings, and what it has to say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from skyloop.core.frames import yaw_from_quat
from skyloop.links.mavlink.wire import Geography
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Arm, Array, BatteryState, Event, Goal, Request, Setpoint, VehicleStatus

if TYPE_CHECKING:
    from skyloop.sim.simulation import Simulation

MAY_NOT_STEER = ("battery low", "estimate lost")
"""Failsafes during which the autopilot takes nothing from outside."""
SEVERITIES = {"failsafe": 2, "crashed": 1, "contact": 4, "refused": 3, "blocked": 4, "fence": 2, "mission": 4}
"""MAV_SEVERITY by kind of event; others are 6, for information."""


@dataclass
class Settings:
    """What only the MAVLink side uses; each has a parameter."""

    takeoff_altitude: float = 2.5
    """m above the ground, when a client names none."""
    acceptance_radius: float = 2.0
    """m from a waypoint at which the next one is made for."""
    acceptance_height: float = 0.8
    """m likewise, up and down."""
    disarm_idle: float = 10.0
    """s armed on the ground before it disarms itself; 0: never."""
    link_loss: float = 10.0
    """s of hovering without a client before `link_action`."""
    link_action: int = 3
    """0 none, 2 return, 3 land."""
    fence_action: int = 2
    """0 none, 1 warn, 2 hold, 3 return, 5 land."""
    fence_distance: float = 0.0
    """m from home, horizontally; 0: no fence."""
    fence_height: float = 0.0
    """m above home; 0: no fence."""


class Craft:
    """One vehicle; everything here runs in the simulation's thread."""

    def __init__(self, simulation: Simulation, vehicle: str, system_id: int, geography: Geography) -> None:
        self.simulation = simulation
        self.vehicle = vehicle
        self.system_id = system_id
        self.geography = geography
        self.settings = Settings()
        self.autopilot = simulation.autopilots[vehicle]
        self.cruise_speed = self.autopilot.limits.cruise_speed
        """m/s towards goals, unless a mission says otherwise."""
        self.on_text: Callable[[int, str], None] = lambda severity, text: None
        self._last_order = -1
        self._chosen_home: Array | None = None
        self._first_home: Array | None = None

    @property
    def now_ns(self) -> int:
        return self.simulation.clock.now_ns

    @property
    def state(self) -> Any:
        """VehicleState or Estimate, whichever it flies on."""
        return self.autopilot.state(self.now_ns)

    @property
    def status(self) -> VehicleStatus:
        return self.autopilot.status(self.now_ns)

    @property
    def battery(self) -> BatteryState:
        return self.simulation.fleet.battery(self.autopilot.index, self.now_ns)

    @property
    def yaw(self) -> float:
        return float(yaw_from_quat(self.state.quat_wxyz))

    @property
    def knows_where(self) -> bool:
        """It has a valid estimate, and a fresh one; on truth always."""
        if not self.autopilot.on_estimate:
            return True
        fresh = self.now_ns - self.state.t_ns <= self.autopilot.failsafes.estimate_timeout * 1e9
        return bool(self.state.valid) and fresh

    @property
    def flies(self) -> bool:
        status = self.status
        return status.armed and not status.landed

    @property
    def overruled_by(self) -> str:
        """The failsafe that lets nobody steer now, or nothing; one that ended in a landing is past."""
        status = self.status
        return status.failsafe if status.armed and status.failsafe in MAY_NOT_STEER else ""

    @property
    def rotors(self) -> int:
        return int(self.simulation.fleet.params[self.autopilot.index]["n_rotors"])

    @property
    def max_thrust(self) -> float:
        """N of all rotors, at home."""
        return float(self.rotors * self.simulation.fleet.params[self.autopilot.index]["max_rotor_thrust"])

    @property
    def hover_thrust(self) -> float:
        """Share of `max_thrust`."""
        params = self.simulation.fleet.params[self.autopilot.index]
        return float(params["mass"] * params["gravity"]) / self.max_thrust

    # ---- home

    @property
    def home(self) -> Array | None:
        """World position; None until it has known where it is."""
        if self._chosen_home is not None:
            return self._chosen_home
        if self.autopilot.memory.home is not None:
            return self.autopilot.memory.home
        if self._first_home is None and self.knows_where:
            self._first_home = np.array(self.state.position)
        return self._first_home

    def set_home(self, position: Array | None) -> None:
        """Chosen by a client; None: where it is now."""
        self._chosen_home = np.array(self.state.position) if position is None else position
        if self.status.armed:
            self.autopilot.memory.home = self._chosen_home

    @property
    def home_altitude(self) -> float:
        """m above the ellipsoid."""
        home = self.home
        return self.geography.global_int(self.geography.origin if home is None else home)[2]

    # ---- acting

    @property
    def is_ours(self) -> bool:
        """What it was told last was told by a MAVLink client, not by somebody else's link."""
        return self.autopilot.orders == self._last_order

    def take_over(self) -> None:
        """Before the first order itself, which may come at a later tick: whoever else commands gives way."""
        self.autopilot.orders += 1
        self._last_order = self.autopilot.orders

    def send(self, item: Setpoint | Request) -> None:
        """To the autopilot; SetpointError says why not."""
        if self.overruled_by:
            raise SetpointError(f"{type(item).__name__} during the failsafe '{self.overruled_by}'")
        self.simulation.send(item, vehicle=self.vehicle)
        self._last_order = self.autopilot.orders
        if isinstance(item, Arm) and self.status.armed and self._chosen_home is not None:
            # arming puts home where the vehicle stands
            self.autopilot.memory.home = self._chosen_home

    def go(self, position: Array, yaw: float | None, speed: float | None = None) -> None:
        """Fly to a place at `speed`, or at cruise speed, and stay."""
        wanted = self.cruise_speed if speed is None else speed
        if wanted != self.autopilot.limits.cruise_speed:
            self.autopilot.limits = self.autopilot.limits.model_copy(update={"cruise_speed": wanted})
        self.send(Goal(position, yaw))

    def cruise(self) -> None:
        """Back to the cruise speed of the parameters."""
        if self.autopilot.limits.cruise_speed != self.cruise_speed:
            self.autopilot.limits = self.autopilot.limits.model_copy(update={"cruise_speed": self.cruise_speed})

    # ---- speaking

    def say(self, kind: str, text: str) -> None:
        """A status text."""
        self.on_text(SEVERITIES.get(kind, 6), text)

    def tell(self, event: Event) -> None:
        """An event of the autopilot, as a status text."""
        self.say(event.kind, f"{event.kind}: {event.text}")
