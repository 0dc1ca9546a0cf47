"""Flies a mission: each item becomes goals and requests to the autopilot, one item after another."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.missions import PASSED_OVER, PLACES, Item
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.wire import E7, FRAMES_ABOVE_HOME, yaw_from_heading
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array, EventKind, GoHome, Hover, Land, TakeOff
from skyloop_client.streams import NS_PER_S

MOST_AT_ONCE = 50
"""Most items in one tick that take no time. The limit is needed because jumps may form a loop."""
TURN_BEYOND = 1.0
"""m of horizontal distance beyond which the vehicle turns to face a waypoint on its way there."""
ALIGNED = math.radians(15.0)
AHEAD_S, LEAST_AHEAD = 2.0, 2.0
"""The vehicle aims at a point of the leg this many s of flight ahead, and at least this many m."""
LEG_NS = 100_000_000
"""Interval between two such points."""


class MissionFlight:
    """The progress of a mission. `reached` is called with the number of every completed item."""

    def __init__(self, system: System, reached: Callable[[int], None], payload: Callable[[Item], bool]) -> None:
        """`payload` executes a payload item and returns False if the vehicle has no such payload."""
        self.items: list[Item] = []
        self.current = 0
        self.complete = False
        self.went_home = False
        """The last item was a return to launch."""
        self._system = system
        self._reached = reached
        self._payload = payload
        self._begun = False
        self._heading: float | None = None
        self._phase = ""
        self._since_ns = -1
        self._speed: float | None = None
        self._target: Array | None = None
        self._corner: Array | None = None
        """Start of the current leg if that was an item of the mission."""
        self._led_ns = -1
        """When the last point of the leg was sent. Negative: the end of the leg was sent."""
        self._jumps: dict[int, int] = {}

    def load(self, items: list[Item]) -> None:
        """Raises SetpointError and keeps the old mission if an item is too far away."""
        for number, item in enumerate(items):
            if item.command in PLACES:
                try:
                    self._place(item)
                except SetpointError as error:
                    raise SetpointError(f"mission item {number}: {error}") from None
        self.items = items
        self.jump_to(0)

    def jump_to(self, number: int) -> None:
        """Continue with this item. Item 0 also resets jump counts and speed."""
        self.current, self.complete, self.went_home = number, False, False
        self.interrupt()
        if number == 0:
            self._jumps.clear()
            self._speed = None

    def interrupt(self) -> None:
        """After an interruption the current item begins again from the position at that time."""
        self._begun, self._corner = False, None

    def touch_down(self) -> None:
        """The vehicle is on the ground and disarmed: complete a landing item."""
        if self._begun and self._phase == "land":
            self._next()

    def tick(self) -> None:
        """Begin or continue the current item, and following items that take no time."""
        for _ in range(MOST_AT_ONCE):
            if self.complete or not self.items:
                return
            if not self._begun:
                self._begin(self.items[self.current])
            if not self._done(self.items[self.current]):
                return
            self._next()

    def _next(self) -> None:
        item, number = self.items[self.current], self.current
        self._reached(number)
        self._begun = False
        self._corner = self._corner if self._target is None else self._target
        if item.command == mavlink.MAV_CMD_DO_JUMP:
            done = self._jumps.get(number, 0)
            if item.params[1] < 0 or done < item.params[1]:
                self._jumps[number] = done + 1
                self.current = int(item.params[0])
                return
        if number + 1 < len(self.items):
            self.current = number + 1
        else:
            self.complete = True

    # ---- one item

    def _begin(self, item: Item) -> None:
        system = self._system
        self._begun, self._since_ns, self._led_ns, self._target, self._phase = True, -1, -1, None, ""
        command = item.command
        if command == mavlink.MAV_CMD_DO_CHANGE_SPEED:
            self._speed = item.params[1]
        elif command in PASSED_OVER and not self._payload(item):
            system.say(EventKind.MISSION, f"item {self.current}: no payload for command {command}, passed over")
        elif command == mavlink.MAV_CMD_DO_JUMP or command in PASSED_OVER:
            pass
        elif not system.port.is_flying and command != mavlink.MAV_CMD_NAV_DELAY:
            self._lift_off(item)
        else:
            self._head_for(item)

    def _lift_off(self, item: Item) -> None:
        """Take off first. Like PX4, it takes off by itself if the mission has no take-off item."""
        system = self._system
        if item.command in (mavlink.MAV_CMD_NAV_LAND, mavlink.MAV_CMD_NAV_RETURN_TO_LAUNCH):
            self._phase = "there"
            return
        height = system.settings.takeoff_altitude
        if item.command == mavlink.MAV_CMD_NAV_TAKEOFF:
            height = float(self._place(item)[2] - system.state.position[2])
        system.send(TakeOff(max(height, 0.5)))
        self._phase = "climb"

    def _head_for(self, item: Item) -> None:
        system = self._system
        self._phase = "go"
        if item.command == mavlink.MAV_CMD_NAV_RETURN_TO_LAUNCH:
            system.send(GoHome())
            self.went_home = True
        elif item.command == mavlink.MAV_CMD_NAV_DELAY:
            if system.port.is_flying and system.port.status.mode != "hover" and system.port.status.mode != "goal":
                system.send(Hover())
        else:
            self._target = self._place(item)
            if item.command == mavlink.MAV_CMD_NAV_LAND:
                # first fly over the landing point, no lower than now
                self._target[2] = max(float(system.state.position[2]), float(self._target[2]))
            self._corner = np.array(system.state.position) if self._corner is None else self._corner
            self._heading = self._yaw(item)
            self._lead()

    def _lead(self) -> None:
        """Aim at a point on the leg rather than at its end, so that wind does not push it off the leg."""
        system = self._system
        assert self._target is not None and self._corner is not None
        leg = self._target - self._corner
        length = float(np.linalg.norm(leg))
        along = leg / length if length > 0.0 else leg
        done = max(0.0, float((system.state.position - self._corner) @ along))
        speed = system.port.limits.cruise_speed if self._speed is None else self._speed
        ahead = max(LEAST_AHEAD, AHEAD_S * speed)
        # the end of the leg is sent only once, because reaching a goal is an event
        self._led_ns = system.now_ns if done + ahead < length else -1
        goal = self._target if self._led_ns < 0 else self._corner + (done + ahead) * along
        system.go(goal, self._heading, self._speed)

    def _done(self, item: Item) -> bool:
        system, command = self._system, item.command
        if command in PASSED_OVER or command in (mavlink.MAV_CMD_DO_CHANGE_SPEED, mavlink.MAV_CMD_DO_JUMP):
            return True
        if self._phase == "there":
            return True
        if self._phase == "climb":
            if system.port.status.mode == "takeoff":
                return False
            if command == mavlink.MAV_CMD_NAV_TAKEOFF:
                return True
            self._head_for(item)
        if self._phase == "go" and 0 <= self._led_ns <= system.now_ns - LEG_NS:
            self._lead()
        if command == mavlink.MAV_CMD_NAV_RETURN_TO_LAUNCH:
            return True  # the mode is RTL from here on
        if command == mavlink.MAV_CMD_NAV_LAND:
            return self._landed()
        if command == mavlink.MAV_CMD_NAV_LOITER_UNLIM:
            return False
        if command != mavlink.MAV_CMD_NAV_DELAY and not self._is_there(item):
            self._since_ns = -1
            return False
        if self._since_ns < 0:
            self._since_ns = system.now_ns
        wait = item.params[0] if command != mavlink.MAV_CMD_NAV_TAKEOFF else 0.0
        return (system.now_ns - self._since_ns) / NS_PER_S >= (wait if math.isfinite(wait) else 0.0)

    def _landed(self) -> bool:
        system = self._system
        assert self._target is not None
        if self._phase == "go":
            away = system.state.position - self._target
            if float(np.linalg.norm(away)) < 0.5 and float(np.linalg.norm(system.state.velocity_world)) < 0.5:
                system.send(Land())
                self._phase = "land"
        return not system.port.is_flying

    def _is_there(self, item: Item) -> bool:
        system = self._system
        if self._target is None:
            return True
        away = system.state.position - self._target
        wanted = item.params[1] if item.command == mavlink.MAV_CMD_NAV_WAYPOINT else 0.0
        radius = wanted if math.isfinite(wanted) and wanted > 0.0 else system.settings.acceptance_radius
        if float(np.hypot(away[0], away[1])) > radius or abs(away[2]) > system.settings.acceptance_height:
            return False
        if not math.isfinite(item.params[3]) or item.command != mavlink.MAV_CMD_NAV_WAYPOINT:
            return True
        turn = system.yaw - yaw_from_heading(math.radians(item.params[3]))
        return abs((turn + math.pi) % (2 * math.pi) - math.pi) < ALIGNED

    def _place(self, item: Item) -> Array:
        """World position of an item."""
        system = self._system
        above = system.home_altitude if item.frame in FRAMES_ABOVE_HOME else 0.0
        if item.has_place:
            return system.geography.enu_from_global(item.x / E7, item.y / E7, item.z + above)
        here = np.array(system.state.position)
        here[2] += item.z + above - system.geography.global_int(here)[2]
        return here

    def _yaw(self, item: Item) -> float | None:
        """The yaw of the item, or the direction towards it."""
        assert self._target is not None
        if math.isfinite(item.params[3]):
            return yaw_from_heading(math.radians(item.params[3]))
        ahead = self._target - self._system.state.position
        if float(np.hypot(ahead[0], ahead[1])) < TURN_BEYOND:
            return self._system.yaw
        return math.atan2(ahead[1], ahead[0])


def checked_tick(flight: MissionFlight, system: System) -> bool:
    """One tick. If an item cannot be flown, sends a status text and returns False."""
    try:
        flight.tick()
    except SetpointError as error:
        system.say(EventKind.REFUSED, f"mission item {flight.current}: {error}")
        return False
    return True
