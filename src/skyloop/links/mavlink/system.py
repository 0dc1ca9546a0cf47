"""One vehicle as a MAVLink system: its port, its system id, its position on Earth, and its status texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skyloop.core.bus import Bus
from skyloop.core.frames import yaw_from_quat
from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.wire import Geography
from skyloop.sim.vehicle_port import VehiclePort
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array, Estimate, Event, EventKind, Goal, Request, Setpoint, VehicleState

COMMANDER = "mavlink"
"""The name under which MAVLink's clients command a vehicle."""
SEVERITIES = {
    EventKind.CRASH: mavlink.MAV_SEVERITY_ALERT,
    EventKind.FAILSAFE: mavlink.MAV_SEVERITY_CRITICAL,
    EventKind.FAULT: mavlink.MAV_SEVERITY_CRITICAL,
    EventKind.FENCE: mavlink.MAV_SEVERITY_CRITICAL,
    EventKind.REFUSED: mavlink.MAV_SEVERITY_ERROR,
    EventKind.BLOCKED: mavlink.MAV_SEVERITY_WARNING,
    EventKind.CONTACT: mavlink.MAV_SEVERITY_WARNING,
    EventKind.MISSION: mavlink.MAV_SEVERITY_WARNING,
    EventKind.RELEASED: mavlink.MAV_SEVERITY_WARNING,
}
"""By kind of event. All others have severity INFO."""


@dataclass
class MavlinkSettings:
    """Settings that only the MAVLink side uses. Each has a parameter."""

    takeoff_altitude: float = 2.5
    """m above the ground, if a client gives none."""
    acceptance_radius: float = 2.0
    """m from a waypoint within which it counts as reached."""
    acceptance_height: float = 0.8
    """The same vertically, m."""
    disarm_idle: float = 10.0
    """s armed on the ground before it disarms itself. 0: never."""
    link_loss: float = 10.0
    """s of hovering without a client before `link_action`."""
    link_action: int = 3
    """0 none, 2 return, 3 land."""
    fence_action: int = 2
    """0 none, 1 warn, 2 hold, 3 return, 5 land."""
    fence_distance: float = 0.0
    """m from home, horizontally. 0: no fence."""
    fence_height: float = 0.0
    """m above home. 0: no fence."""
    follow_height: float = 8.0
    """m above the target or above home."""
    follow_distance: float = 8.0
    """m from the target, horizontally."""
    follow_angle_deg: float = 180.0
    """Degrees to the right of the target's course: 0 is ahead of it, 180 behind it."""
    follow_responsiveness: float = 0.1
    """0 follows every movement of the target at once, 1 ignores all."""
    follow_altitude_mode: int = 0
    """0 or 1: above home. 2: above the target."""
    follow_max_speed: float = 5.0
    """m/s while following."""
    failures_enabled: int = 0
    """1: clients may inject failures."""


class System:
    """One vehicle. Everything here runs in the simulation's thread."""

    def __init__(self, port: VehiclePort, bus: Bus, system_id: int, geography: Geography) -> None:
        self.port = port
        self.bus = bus
        self.system_id = system_id
        self.geography = geography
        self.settings = MavlinkSettings()
        self.on_text: Callable[[int, str], None] = lambda severity, text: None
        self._first_home: Array | None = None
        port.on_event(self._tell)

    @property
    def now_ns(self) -> int:
        return self.port.now_ns

    @property
    def ms(self) -> int:
        """ms since boot, as in most messages."""
        return self.now_ns // 1_000_000 % (1 << 32)

    @property
    def state(self) -> VehicleState | Estimate:
        """Truth or estimate, whichever the autopilot uses."""
        return self.port.belief

    @property
    def yaw(self) -> float:
        return float(yaw_from_quat(self.state.quat_wxyz))

    @property
    def is_ours(self) -> bool:
        """Whether the last command came from a MAVLink client rather than from another link."""
        return self.port.commander == COMMANDER

    # ---- home

    @property
    def home(self) -> Array | None:
        """World position. Before it is set or the vehicle arms, the first known position; None before that."""
        if self.port.home is not None:
            return self.port.home
        if self._first_home is None and self.port.knows_where:
            self._first_home = np.array(self.state.position)
        return self._first_home

    @property
    def home_altitude(self) -> float:
        """m above the ellipsoid."""
        home = self.home
        return self.geography.global_int(self.geography.origin if home is None else home)[2]

    # ---- commands

    def send(self, item: Setpoint | Request) -> None:
        """Send to the vehicle. SetpointError gives the reason for a refusal."""
        if self.port.overruled_by:
            raise SetpointError(f"{type(item).__name__} during the failsafe '{self.port.overruled_by}'")
        self.port.send(item, by=COMMANDER)

    def go(self, position: Array, yaw: float | None, speed: float | None = None) -> None:
        """Fly to a position at `speed`, or at cruise speed, and stay."""
        self.send(Goal(position, yaw, speed))

    # ---- status texts

    def say(self, kind: EventKind, text: str) -> None:
        """A status text."""
        self.on_text(int(SEVERITIES.get(kind, mavlink.MAV_SEVERITY_INFO)), text)

    def _tell(self, event: Event) -> None:
        """Send an event of the vehicle as a status text."""
        self.say(event.kind, f"{event.kind}: {event.text}")
