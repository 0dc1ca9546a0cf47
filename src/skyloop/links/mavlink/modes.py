"""PX4's modes on our autopilot: what a client has chosen, what is in force, offboard and its loss, the geofence."""

from __future__ import annotations

from collections.abc import Callable

from skyloop.links.mavlink.craft import Craft
from skyloop.links.mavlink.fence import Fence
from skyloop.links.mavlink.flight import MissionFlight, checked_tick
from skyloop.links.mavlink.missions import Item
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Arm, Disarm, GoHome, Hover, Land, Setpoint, TakeOff, Velocity
from skyloop_client.streams import NS_PER_S

FENCE_MODES = {2: "hold", 3: "rtl", 5: "land"}
"""By GF_ACTION."""
STANDS = 0.1
"""m/s: one that sinks slower than this although it is told to, for a second, stands on the ground."""
LINK_LOSS_MODES = {2: "rtl", 3: "land"}
"""By NAV_DLL_ACT."""


class Modes:
    """`chosen` is what the client wants; a failsafe of the autopilot goes before it and gives way to it again."""

    def __init__(self, craft: Craft, reached: Callable[[int], None]) -> None:
        self.chosen = "hold"
        self.flight = MissionFlight(craft, reached)
        self.fence = Fence(craft)
        self.breach = ""
        """What of the fence is broken now."""
        self.breaches = 0
        self._craft = craft
        self._setpoint: Setpoint | None = None
        self._setpoint_ns = -1
        self._lost_ns = -1
        """When offboard setpoints ceased; it lands some time after."""
        self._was_armed = False
        self._alone_since_ns = -1
        self._idle_since_ns = -1
        self._steered_ns = self._stands_since_ns = -NS_PER_S
        """When sticks last spoke, and since when they have asked in vain for it to sink."""
        self._failsafe = ""
        self._climb: float | None = None
        """m to take off to once it is armed, where a client has said so before."""

    @property
    def shown(self) -> str:
        """The mode for the heartbeat."""
        status = self._craft.status
        if status.mode == "home":
            return "rtl"
        if status.mode == "land" and (self._craft.overruled_by or self.chosen not in ("rtl", "mission")):
            return "rtl" if self.chosen == "rtl" else "land"
        return self.chosen

    # ---- what clients ask; SetpointError says why not

    def choose(self, mode: str) -> None:
        """Change the mode; on the ground it waits for arming."""
        craft = self._craft
        if craft.overruled_by:
            raise SetpointError(f"mode {mode} during the failsafe '{craft.overruled_by}'")
        if mode == "mission" and not self.flight.items:
            raise SetpointError("there is no mission; upload one")
        if mode == "offboard" and not self._has_fresh_setpoint:
            raise SetpointError("offboard needs setpoints before it begins, and all the time after")
        if craft.status.armed:
            craft.take_over()
            self._engage(mode)
        self._leave(mode)
        self.chosen, self._climb = mode, None

    def arm(self) -> None:
        craft = self._craft
        if craft.status.armed:
            return
        craft.send(Arm())
        if not craft.status.armed:
            why = "the estimate is not valid yet" if not craft.knows_where else "the battery is low"
            raise SetpointError(f"cannot arm: {why}")
        self._was_armed = True
        self._idle_since_ns = craft.now_ns
        if self.chosen in ("takeoff", "mission", "offboard"):
            self._engage(self.chosen)
        elif self.chosen != "position":
            self.chosen = "hold"

    def disarm(self, *, force: bool) -> None:
        if self._craft.flies and not force:
            raise SetpointError("disarming in flight; land first")
        self._craft.simulation.send(Disarm(), vehicle=self._craft.vehicle)

    def take_off(self, height: float) -> None:
        """m above where it stands; while disarmed, at arming: ground stations ask in that order."""
        if self._craft.flies:
            raise SetpointError("take-off while flying")
        self._climb = height
        if self._craft.status.armed:
            self._engage("takeoff")
        self._leave("takeoff")
        self.chosen = "takeoff"

    def follow(self, setpoint: Setpoint) -> None:
        """An offboard setpoint: obeyed in that mode, else kept for it."""
        craft = self._craft
        self._setpoint, self._setpoint_ns = setpoint, craft.now_ns
        if self.chosen == "offboard" and craft.status.armed and craft.is_ours and not craft.overruled_by:
            craft.send(setpoint)

    def steer(self, setpoint: Velocity) -> None:
        """By stick: in mode position only; on the ground only upwards, and down there it lands."""
        craft = self._craft
        climb = float(setpoint.velocity[2])
        ready = craft.flies or (craft.status.armed and climb > 0.0)
        if self.chosen != "position" or not ready or not craft.is_ours or craft.overruled_by:
            return
        began = craft.now_ns - self._steered_ns > NS_PER_S
        self._steered_ns = craft.now_ns
        if began or climb > -STANDS or float(craft.state.velocity_world[2]) < -STANDS:
            self._stands_since_ns = craft.now_ns
        if craft.now_ns - self._stands_since_ns > NS_PER_S:
            self.choose("land")
        else:
            craft.send(setpoint)

    def load_mission(self, items: list[Item]) -> None:
        self.flight.load(items)
        if self.chosen == "mission" and not items:
            self.choose("hold")

    def restart(self) -> None:
        """Time has leapt: nothing of before holds but the mission and the fence."""
        self.chosen, self._failsafe, self.breach = "hold", "", ""
        self._setpoint = None
        self._lost_ns = self._idle_since_ns = self._alone_since_ns = -1
        self.flight.jump_to(0)

    # ---- what goes on by itself

    def tick(self, *, has_client: bool) -> None:
        craft = self._craft
        status = craft.status
        if not status.armed:
            self._after_flight()
            return
        self._was_armed = True
        if craft.overruled_by:
            self._failsafe = craft.overruled_by
            self.flight.interrupt()
            return
        if self._failsafe:
            self._after_failsafe()
        self._watch_fence()
        if not craft.is_ours:
            self._give_way()
            return
        if self.chosen == "takeoff" and status.mode == "hover":
            self.chosen = "hold"
        elif self.chosen == "mission":
            self._fly_mission()
        elif self.chosen == "offboard":
            self._watch_offboard()
        self._land_when_lost()
        self._watch_clients(has_client)
        self._watch_idling()

    def _give_way(self) -> None:
        """Somebody of another link commands; a client that wants the vehicle back chooses its mode anew."""
        if self.chosen != "hold":
            self._craft.say("relieved", f"another link has taken over from mode {self.chosen}: hold")
            self._leave("hold")
            self.chosen = "hold"
        self._lost_ns = self._alone_since_ns = self._idle_since_ns = -1

    def _engage(self, mode: str) -> None:
        craft = self._craft
        if mode != "mission":
            craft.cruise()
        match mode:
            case "hold" | "position" if craft.flies:
                craft.send(Hover())
            case "takeoff" if not craft.flies:
                craft.send(TakeOff(self._climb or craft.settings.takeoff_altitude))
                self._climb = None
            case "rtl" if craft.flies:
                craft.send(GoHome())
            case "land" if craft.flies:
                craft.send(Land())
            case "mission" if self.flight.complete:
                self.flight.jump_to(0)
            case "offboard" if self._setpoint is not None:
                craft.send(self._setpoint)
            case _:
                pass

    def _leave(self, mode: str) -> None:
        """Whatever was before is over."""
        self._lost_ns = -1
        if mode != "mission":
            self.flight.interrupt()

    def _after_flight(self) -> None:
        if self._was_armed:
            if self.chosen == "mission":
                self.flight.touch_down()
                self._say_if_complete()
            self.chosen, self._lost_ns, self._failsafe = "hold", -1, ""
            self.flight.interrupt()
            self._craft.cruise()
        self._was_armed = False

    def _after_failsafe(self) -> None:
        """The autopilot has its estimate again, and the client's wish counts again."""
        self._failsafe = ""
        if self.chosen in ("takeoff", "hold", "position"):
            self.chosen = "hold"
        elif self.chosen == "offboard" and self._has_fresh_setpoint:
            self._engage("offboard")

    def _fly_mission(self) -> None:
        if not checked_tick(self.flight, self._craft):
            self._switch("hold")
        elif self.flight.complete:
            # it stays at its last waypoint, goes home or stands on the ground
            self.chosen = "rtl" if self.flight.went_home else "hold"
            self._say_if_complete()

    def _say_if_complete(self) -> None:
        if self.flight.complete:
            self._craft.say("arrived", "mission complete")

    def _watch_offboard(self) -> None:
        if self._has_fresh_setpoint:
            return
        craft = self._craft
        craft.say("failsafe", "offboard lost: hovering")
        self._switch("hold")
        self._lost_ns = craft.now_ns

    def _land_when_lost(self) -> None:
        craft = self._craft
        if self._lost_ns < 0 or craft.now_ns - self._lost_ns < craft.autopilot.failsafes.setpoint_land_after * NS_PER_S:
            return
        craft.say("failsafe", "offboard lost: landing")
        self._switch("land")

    def _watch_clients(self, has_client: bool) -> None:
        """Nobody is there to end a hover; a mission or a return ends by itself."""
        craft = self._craft
        if has_client or not craft.flies or self.shown not in ("hold", "position"):
            self._alone_since_ns = -1
        elif self._alone_since_ns < 0:
            self._alone_since_ns = craft.now_ns
        elif craft.now_ns - self._alone_since_ns > craft.settings.link_loss * NS_PER_S:
            mode = LINK_LOSS_MODES.get(craft.settings.link_action)
            if mode is not None:
                craft.say("failsafe", f"no client any more: {mode}")
                self._switch(mode)

    def _watch_fence(self) -> None:
        craft = self._craft
        if not craft.flies or craft.settings.fence_action == 0:
            self.breach = ""
            return
        breach = next(self.fence.breaches(craft.state.position), "")
        began = breach and not self.breach
        self.breach = breach
        if not began:
            return
        self.breaches += 1
        craft.say("fence", f"geofence: {breach}")
        mode = FENCE_MODES.get(craft.settings.fence_action)
        if mode is not None and self.shown not in ("rtl", "land"):
            self._switch(mode)

    def _watch_idling(self) -> None:
        """Armed and on the ground for too long."""
        craft = self._craft
        if not craft.status.landed or craft.status.mode != "idle" or craft.settings.disarm_idle <= 0.0:
            self._idle_since_ns = -1
        elif self._idle_since_ns < 0:
            self._idle_since_ns = craft.now_ns
        elif craft.now_ns - self._idle_since_ns > craft.settings.disarm_idle * NS_PER_S:
            craft.say("disarmed", "disarmed: no take-off")
            self.disarm(force=False)

    def _switch(self, mode: str) -> None:
        """By ourselves; a refusal is said and not raised."""
        try:
            self._engage(mode)
        except SetpointError as error:
            self._craft.say("refused", str(error))
        self._leave(mode)
        self.chosen = mode

    @property
    def _has_fresh_setpoint(self) -> bool:
        timeout = self._craft.autopilot.failsafes.setpoint_timeout * NS_PER_S
        return self._setpoint is not None and self._craft.now_ns - self._setpoint_ns <= timeout
