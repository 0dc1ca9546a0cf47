"""PX4's modes on our autopilot: the selected mode, the active mode, offboard and its loss, the geofence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from skyloop.links.mavlink.fence import Fence
from skyloop.links.mavlink.flight import MissionFlight, checked_tick
from skyloop.links.mavlink.follow import FollowTarget
from skyloop.links.mavlink.missions import Item
from skyloop.links.mavlink.orbit import Circle, Orbit
from skyloop.links.mavlink.system import COMMANDER, System
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Arm, Disarm, EventKind, GoHome, Hover, Land, Setpoint, TakeOff, Velocity
from skyloop_client.streams import NS_PER_S

FENCE_MODES = {2: "hold", 3: "rtl", 5: "land"}
"""By GF_ACTION."""
STANDS = 0.1
"""m/s: a vehicle that sinks slower than this for a second, although commanded to sink, is on the ground."""
HEIGHT_HOLD = 0.6
"""m/s: with the climb stick in the middle, the height is kept from when the vehicle is slower than this, as in PX4."""
HEIGHT_PULL = 1.5
"""1/s: rate at which an error of that height is closed."""
ENDLESS = ("hold", "position", "orbit", "follow")
"""Modes that only a client ends."""
LINK_LOSS_ACTIONS = {2: "home", 3: "land"}
"""By NAV_DLL_ACT, the action when all clients are gone."""


class Modes:
    """`chosen` is the client's mode. A failsafe of the autopilot overrides it, and ends in favour of it."""

    def __init__(self, system: System, reached: Callable[[int], None], payload: Callable[[Item], bool]) -> None:
        self.chosen = "hold"
        self.flight = MissionFlight(system, reached, payload)
        self.fence = Fence(system)
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
        self._steered_ns = self._stands_since_ns = -NS_PER_S
        """When the last stick input came, and since when sticks have asked it to sink without effect."""
        self._held_height: float | None = None
        """World z in m that is kept while the climb stick is in the middle."""
        self._failsafe = ""
        self.orbit: Orbit | None = None
        self.target = FollowTarget(system)
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

    def circle(self, circle: Circle) -> None:
        """Fly a circle until another mode is selected, or as far as the circle says."""
        system = self._system
        if system.port.overruled_by:
            raise SetpointError(f"an orbit during the failsafe '{system.port.overruled_by}'")
        if not system.port.is_flying:
            raise SetpointError("an orbit on the ground; take off first")
        system.port.claim(COMMANDER)
        self._leave("orbit")
        self.orbit, self.chosen = Orbit(system, circle), "orbit"

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
        began = system.now_ns - self._steered_ns > NS_PER_S
        self._steered_ns = system.now_ns
        if began or climb > -STANDS or float(system.state.velocity_world[2]) < -STANDS:
            self._stands_since_ns = system.now_ns
        if system.now_ns - self._stands_since_ns > NS_PER_S:
            self.choose("land")
        else:
            system.send(self._holding_height(setpoint, began=began))

    def _holding_height(self, setpoint: Velocity, *, began: bool) -> Velocity:
        """A vehicle that is only told to climb at 0 m/s sinks a little with each change of its tilt."""
        state = self._system.state
        if began or float(setpoint.velocity[2]) != 0.0 or not self._system.port.is_flying:
            self._held_height = None
            return setpoint
        height = float(state.position[2])
        if self._held_height is None and abs(float(state.velocity_world[2])) < HEIGHT_HOLD:
            self._held_height = height
        if self._held_height is None:
            return setpoint
        climb = min(max(HEIGHT_PULL * (self._held_height - height), -1.0), 1.0)
        return replace(setpoint, velocity=np.array([*setpoint.velocity[:2], climb]))

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
                self.target.begin()
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
            self.target.begin()
        elif self.chosen == "offboard" and self._has_fresh_setpoint:
            self._engage("offboard")

    def _fly_mission(self) -> None:
        if not checked_tick(self.flight, self._system):
            self._switch("hold")
        elif self.flight.complete:
            # it stays at its last waypoint, goes home or is on the ground
            self.chosen = "rtl" if self.flight.went_home else "hold"
            self._say_if_complete()

    def _say_if_complete(self) -> None:
        if self.flight.complete:
            self._system.say(EventKind.ARRIVED, "mission complete")

    def _guide(self) -> None:
        """Send the next point of an orbit or beside the target. Without one, the vehicle hovers."""
        system = self._system
        if not system.port.is_flying:
            return
        setpoint = self.orbit.setpoint() if self.orbit is not None else self.target.setpoint()
        if setpoint is not None:
            system.send(setpoint)
        elif self.orbit is not None:
            system.say(EventKind.ARRIVED, "orbit complete")
            self._switch("hold")
        elif system.port.status.mode == "setpoint":
            system.send(Hover())

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
