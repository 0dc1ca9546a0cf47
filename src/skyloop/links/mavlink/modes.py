"""PX4's modes on our autopilot: the selected mode, the active mode, offboard and its loss, the geofence."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from skyloop.links.mavlink.dialect import MavMessage
from skyloop.links.mavlink.missions import Item
from skyloop.links.mavlink.plans import MissionFlight, PlannedFence
from skyloop.links.mavlink.system import COMMANDER, System
from skyloop.links.mavlink.wire import E7
from skyloop.vehicle.behaviours import Behaviour, Follow, Orbit, Station, Sticks
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Arm, Disarm, EventKind, GoHome, Hover, Land, Setpoint, TakeOff, Velocity
from skyloop_client.streams import NS_PER_S

FENCE_MODES = {2: "hold", 3: "rtl", 5: "land"}
"""By GF_ACTION."""
HAS_VELOCITY = 2
"""Bit of FOLLOW_TARGET.est_capabilities."""
ABOVE_TARGET = 2
"""FLW_TGT_ALT_M: height above the target. Other values mean above home."""
ENDLESS = ("hold", "position", "orbit", "follow")
"""Modes that only a client ends."""
LINK_LOSS_ACTIONS = {2: "home", 3: "land"}
"""By NAV_DLL_ACT, the action when all clients are gone."""


class Modes:
    """`chosen` is the client's mode. A failsafe of the autopilot overrides it, and ends in favour of it."""

    def __init__(self, system: System, reached: Callable[[int], None], payload: Callable[[Item], bool]) -> None:
        self.chosen = "hold"
        self.flight = MissionFlight(system, reached, payload)
        self.fence = PlannedFence(system)
        self.breach = ""
        """The fence rule that is broken now, as text."""
        self.breaches = 0
        self._system = system
        self._setpoint: Setpoint | None = None
        self._setpoint_ns = -1
        self._let_go = False
        """The vehicle was released because all clients had left."""
        self._was_armed = False
        self._alone_since_ns = -1
        self._idle_since_ns = -1
        self._failsafe = ""
        self.orbit: Orbit | None = None
        self._follow = Follow()
        self._sticks = Sticks()
        self._climb: float | None = None
        """Take-off height in m after arming, if a client has asked for a take-off before."""

    @property
    def shown(self) -> str:
        """The mode in the heartbeat."""
        status = self._system.port.status
        if status.mode == "home":
            return "rtl"
        if status.mode == "land" and (self._system.port.overruled_by or self.chosen not in ("rtl", "mission")):
            return "rtl" if self.chosen == "rtl" else "land"
        return self.chosen

    # ---- requests of clients; SetpointError gives the reason for a refusal

    def choose(self, mode: str) -> None:
        """Change the mode. On the ground it waits for arming."""
        system = self._system
        if system.port.overruled_by:
            raise SetpointError(f"mode {mode} during the failsafe '{system.port.overruled_by}'")
        if mode == "mission" and not self.flight.items:
            raise SetpointError("there is no mission; upload one")
        if mode == "offboard" and not self._has_fresh_setpoint:
            raise SetpointError("offboard needs setpoints before it begins, and all the time after")
        if mode == "orbit":
            raise SetpointError("an orbit needs a place; send DO_ORBIT")
        if system.port.status.armed:
            # claim the vehicle now, because the first command may come at a later tick
            system.port.claim(COMMANDER)
            self._engage(mode)
        self._leave(mode)
        self.chosen, self._climb = mode, None

    def arm(self) -> None:
        system = self._system
        if system.port.status.armed:
            return
        system.send(Arm())
        if not system.port.status.armed:
            why = "the estimate is not valid yet" if not system.port.knows_where else "the battery is low"
            raise SetpointError(f"cannot arm: {why}")
        self._was_armed = True
        self._idle_since_ns = system.now_ns
        if self.chosen in ("takeoff", "mission", "offboard"):
            self._engage(self.chosen)
        elif self.chosen != "position":
            self.chosen = "hold"

    def disarm(self, *, force: bool) -> None:
        if self._system.port.is_flying and not force:
            raise SetpointError("disarming in flight; land first")
        self._system.port.send(Disarm(), by=COMMANDER)

    def take_off(self, height: float) -> None:
        """m above the ground. If disarmed, it takes off after arming: ground stations send the commands that way."""
        if self._system.port.is_flying:
            raise SetpointError("take-off while flying")
        self._climb = height
        if self._system.port.status.armed:
            self._engage("takeoff")
        self._leave("takeoff")
        self.chosen = "takeoff"

    def circle(self, orbit: Orbit) -> None:
        """Fly a circle until another mode is selected, or as far as the circle says."""
        system = self._system
        if system.port.overruled_by:
            raise SetpointError(f"an orbit during the failsafe '{system.port.overruled_by}'")
        if not system.port.is_flying:
            raise SetpointError("an orbit on the ground; take off first")
        system.port.claim(COMMANDER)
        self._leave("orbit")
        wanted = orbit.speed
        orbit.update(system.port.situation)  # it begins here and now
        if orbit.speed < wanted:
            system.say(EventKind.REFUSED, f"orbit at {orbit.speed:.1f} m/s: {wanted:g} is too fast for its radius")
        self.orbit, self.chosen = orbit, "orbit"

    def see_target(self, message: MavMessage) -> None:
        """FOLLOW_TARGET. Raises SetpointError if the target is far away."""
        system = self._system
        position = system.geography.enu_from_global(message.lat / E7, message.lon / E7, float(message.alt))
        north, east, down = (float(value) for value in message.vel)
        velocity = np.array([east, north, -down])
        has_velocity = message.est_capabilities & HAS_VELOCITY and np.isfinite(velocity).all()
        self._follow.station = self._station
        self._follow.see(
            system.now_ns, position, velocity if has_velocity and np.linalg.norm(velocity) < 100.0 else None
        )

    @property
    def _station(self) -> Station:
        wanted = self._system.settings
        return Station(
            wanted.follow_distance, math.radians(wanted.follow_angle_deg), wanted.follow_height,
            wanted.follow_altitude_mode == ABOVE_TARGET, wanted.follow_max_speed, wanted.follow_responsiveness,
        )  # fmt: skip

    def follow(self, setpoint: Setpoint) -> None:
        """An offboard setpoint. It is used in mode offboard and stored otherwise."""
        system = self._system
        self._setpoint, self._setpoint_ns = setpoint, system.now_ns
        if self.chosen == "offboard" and system.port.status.armed and system.is_ours and not system.port.overruled_by:
            system.send(setpoint)

    def steer(self, setpoint: Velocity) -> None:
        """Stick input, in mode position only. On the ground only up has an effect; down at the ground lands."""
        system = self._system
        climb = float(setpoint.velocity[2])
        ready = system.port.is_flying or (system.port.status.armed and climb > 0.0)
        if self.chosen != "position" or not ready or not system.is_ours or system.port.overruled_by:
            return
        self._sticks.wanted = setpoint
        order = self._sticks.update(system.port.situation)
        if isinstance(order, Land):
            self.choose("land")
        elif order is not None:
            system.send(order)

    def load_mission(self, items: list[Item]) -> None:
        self.flight.load(items)
        if self.chosen == "mission" and not items:
            self.choose("hold")

    def restart(self) -> None:
        """Time has jumped: only the mission and the fence stay."""
        self.chosen, self._failsafe, self.breach = "hold", "", ""
        self._setpoint = self.orbit = None
        self._let_go = False
        self._idle_since_ns = self._alone_since_ns = -1
        self.flight.jump_to(0)

    # ---- at each tick

    def tick(self, *, has_client: bool) -> None:
        system = self._system
        status = system.port.status
        if not status.armed:
            self._after_flight()
            return
        self._was_armed = True
        if system.port.overruled_by:
            self._failsafe = system.port.overruled_by
            self.flight.interrupt()
            return
        if self._failsafe:
            self._after_failsafe()
        self._watch_fence()
        if self._let_go and has_client and not system.port.commander and status.mode == "hover":
            # a client came back before the hover ended
            system.port.claim(COMMANDER)
        if not system.is_ours:
            self._give_way()
            return
        self._let_go = False
        if self.chosen == "takeoff" and status.mode == "hover":
            self.chosen = "hold"
        elif self.chosen == "mission":
            self._fly_mission()
        elif self.chosen == "offboard":
            self._watch_offboard()
        elif self.chosen in ("orbit", "follow"):
            self._guide()
        self._watch_clients(has_client)
        self._watch_idling()

    def _give_way(self) -> None:
        """Another link or nobody commands. A client that wants the vehicle back selects a mode again."""
        if self._system.port.commander:
            if self.chosen != "hold":
                self._system.say(EventKind.RELIEVED, f"another link has taken over from mode {self.chosen}: hold")
                self._leave("hold")
            self.chosen, self._let_go = "hold", False
        self._alone_since_ns = self._idle_since_ns = -1

    def _engage(self, mode: str) -> None:
        system = self._system
        match mode:
            case "hold" | "position" if system.port.is_flying:
                system.send(Hover())
            case "follow":
                self._follow.begin(system.port.situation)
                if system.port.is_flying:
                    system.send(Hover())
            case "takeoff" if not system.port.is_flying:
                system.send(TakeOff(self._climb or system.settings.takeoff_altitude))
                self._climb = None
            case "rtl" if system.port.is_flying:
                system.send(GoHome())
            case "land" if system.port.is_flying:
                system.send(Land())
            case "mission" if self.flight.complete:
                self.flight.jump_to(0)
            case "offboard" if self._setpoint is not None:
                system.send(self._setpoint)
            case _:
                pass

    def _leave(self, mode: str) -> None:
        """Clean up after the previous mode."""
        self.orbit = None
        if mode != "mission":
            self.flight.interrupt()

    def _after_flight(self) -> None:
        if self._was_armed:
            if self.chosen == "mission":
                self.flight.touch_down()
                self._say_if_complete()
            self.chosen, self.orbit, self._failsafe = "hold", None, ""
            self.flight.interrupt()
        self._was_armed = False

    def _after_failsafe(self) -> None:
        """The autopilot has a valid estimate again, so the client's mode is active again."""
        self._failsafe = ""
        if self.chosen in ("takeoff", "hold", "position", "orbit"):
            self.chosen, self.orbit = "hold", None
        elif self.chosen == "follow":
            self._follow.begin(self._system.port.situation)
        elif self.chosen == "offboard" and self._has_fresh_setpoint:
            self._engage("offboard")

    def _fly_mission(self) -> None:
        try:
            self.flight.tick()
        except SetpointError as error:
            self._system.say(EventKind.REFUSED, f"mission item {self.flight.current}: {error}")
            self._switch("hold")
            return
        if self.flight.complete:
            # it stays at its last waypoint, goes home or is on the ground
            self.chosen = "rtl" if self.flight.went_home else "hold"
            self._say_if_complete()

    def _say_if_complete(self) -> None:
        if self.flight.complete:
            self._system.say(EventKind.ARRIVED, "mission complete")

    def _guide(self) -> None:
        """Fly on in an orbit, or beside the target."""
        system, follow = self._system, self._follow
        if not system.port.is_flying:
            return
        was_lost, follow.station = follow.is_lost, self._station
        behaviour: Behaviour = follow if self.orbit is None else self.orbit
        order = behaviour.update(system.port.situation)
        if follow.is_lost and not was_lost:
            system.say(EventKind.LOST, "follow-me: no target; hovering until one is known")
        if order is not None:
            system.send(order)
        if behaviour.done:
            system.say(EventKind.ARRIVED, "orbit complete")
            self._switch("hold")

    def _watch_offboard(self) -> None:
        if self._has_fresh_setpoint:
            return
        system = self._system
        system.say(EventKind.FAILSAFE, "offboard lost: hovering")
        self._leave("hold")
        self.chosen = "hold"
        system.port.release(COMMANDER, system.port.failsafes.setpoint_land_after)

    def _watch_clients(self, has_client: bool) -> None:
        """No client is left to end a hover. A mission or a return ends by itself."""
        system = self._system
        if has_client or not system.port.is_flying or self.shown not in ENDLESS:
            self._alone_since_ns = -1
            return
        if self._alone_since_ns < 0:
            self._alone_since_ns = system.now_ns
        left = system.settings.link_loss - (system.now_ns - self._alone_since_ns) / NS_PER_S
        action = LINK_LOSS_ACTIONS.get(system.settings.link_action)
        # on its way to a goal it may continue for as long as it would hover
        if action is not None and (system.port.status.mode == "hover" or left <= 0.0):
            self._let_go = True
            system.port.release(COMMANDER, max(left, 0.0), action)

    def _watch_fence(self) -> None:
        system = self._system
        if not system.port.is_flying or system.settings.fence_action == 0:
            self.breach = ""
            return
        breach = next(self.fence.breaches(system.state.position), "")
        began = breach and not self.breach
        self.breach = breach
        if not began:
            return
        self.breaches += 1
        system.say(EventKind.FENCE, f"geofence: {breach}")
        mode = FENCE_MODES.get(system.settings.fence_action)
        if mode is not None and self.shown not in ("rtl", "land"):
            self._switch(mode)

    def _watch_idling(self) -> None:
        """Disarm after too long a time on the ground."""
        system = self._system
        if not system.port.status.landed or system.port.status.mode != "idle" or system.settings.disarm_idle <= 0.0:
            self._idle_since_ns = -1
        elif self._idle_since_ns < 0:
            self._idle_since_ns = system.now_ns
        elif system.now_ns - self._idle_since_ns > system.settings.disarm_idle * NS_PER_S:
            system.say(EventKind.DISARMED, "disarmed: no take-off")
            self.disarm(force=False)

    def _switch(self, mode: str) -> None:
        """A mode change without a client. A refusal is reported as a status text, not raised."""
        try:
            self._engage(mode)
        except SetpointError as error:
            self._system.say(EventKind.REFUSED, str(error))
        self._leave(mode)
        self.chosen = mode

    @property
    def _has_fresh_setpoint(self) -> bool:
        timeout = self._system.port.failsafes.setpoint_timeout * NS_PER_S
        return self._setpoint is not None and self._system.now_ns - self._setpoint_ns <= timeout
