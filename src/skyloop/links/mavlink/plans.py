"""What a plan makes the vehicle do: the geofence that it keeps, and the mission that it flies item after item."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.missions import INCLUSIONS, PASSED_OVER, POLYGONS, WITH_POSITION, Item
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.wire import E7, FRAMES_ABOVE_HOME, yaw_from_heading
from skyloop.vehicle.behaviours import Arrival, Behaviour, Fence, GoTo, Once, Situation, Wait, yaw_towards
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array, EventKind, GoHome, Land, TakeOff


class PlannedFence:
    """Reports whether a position breaks the fence."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._fence = Fence()

    def load(self, items: list[Item]) -> None:
        """Items were checked one by one. A polygon that lacks corners is refused here, and the old fence stays."""
        fence = Fence()
        waiting = list(items)
        while waiting:
            first = waiting[0]
            inside, count = first.command in INCLUSIONS, 1
            if first.command in POLYGONS:
                count = int(first.params[0])
                corners = [self._position_of(item) for item in waiting[:count] if item.command == first.command]
                if count < 3 or len(corners) < count:
                    raise SetpointError(f"a fence polygon of {count} corners has {len(corners)}; give 3 or more")
                fence.polygons.append((corners, inside))
            elif first.params[0] > 0.0:
                fence.circles.append((self._position_of(first), first.params[0], inside))
            del waiting[:count]
        self._fence = fence

    def _position_of(self, item: Item) -> Array:
        system = self._system
        return system.geography.enu_from_global(item.x / E7, item.y / E7, system.home_altitude)[:2]

    def breaches(self, position: Array) -> Iterator[str]:
        """The rules that a world position breaks, as texts."""
        settings = self._system.settings
        self._fence.distance, self._fence.height = settings.fence_distance, settings.fence_height
        return self._fence.breaches(position, self._system.home)


# ---- missions


MOST_AT_ONCE = 50
"""Most items in one tick that take no time. The limit is needed because jumps may form a loop."""
ALIGNED = math.radians(15.0)
ABOVE_LANDING = Arrival(0.5, speed=0.5)
"""From where it lands at a landing item."""


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
        self._steps: list[Behaviour] | None = None
        """What is left of the current item. None: it has not begun."""
        self._climbs = False
        """It takes off first, on the way to the current item."""
        self._speed: float | None = None
        self._corner: Array | None = None
        """Where the next leg starts, if that is an item of the mission."""
        self._jumps: dict[int, int] = {}

    def load(self, items: list[Item]) -> None:
        """Raises SetpointError and keeps the old mission if an item is too far away."""
        for number, item in enumerate(items):
            if item.command in WITH_POSITION:
                try:
                    self._position_of(item)
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
        self._steps = self._corner = None

    def touch_down(self) -> None:
        """The vehicle is on the ground and disarmed: complete a landing item."""
        if self._steps and self.items[self.current].command == mavlink.MAV_CMD_NAV_LAND and len(self._steps) == 1:
            self._next()

    def tick(self) -> None:
        """Begin or continue the current item, and following items that take no time."""
        system = self._system
        for _ in range(MOST_AT_ONCE):
            if self.complete or not self.items:
                return
            item = self.items[self.current]
            if self._steps is None:
                self._steps = self._begin(item, system.port.situation)
            while self._steps:
                order = self._steps[0].update(system.port.situation)
                if order is not None:
                    system.send(order)
                if not self._steps[0].done:
                    return
                done = self._steps.pop(0)
                if isinstance(done, GoTo):
                    self._corner = done.position
                if self._climbs and item.command != mavlink.MAV_CMD_NAV_TAKEOFF:
                    self._steps = self._head_for(item, system.port.situation)
                self._climbs = False
            self._next()

    def _next(self) -> None:
        item, number = self.items[self.current], self.current
        self._reached(number)
        self._steps = None
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

    def _begin(self, item: Item, now: Situation) -> list[Behaviour]:
        """The steps of an item; none if it takes no time."""
        command, self._climbs = item.command, False
        if command == mavlink.MAV_CMD_DO_CHANGE_SPEED:
            self._speed = item.params[1]
        elif command in PASSED_OVER and not self._payload(item):
            text = f"item {self.current}: no payload for command {command}, passed over"
            self._system.say(EventKind.MISSION, text)
        if command in (mavlink.MAV_CMD_DO_CHANGE_SPEED, mavlink.MAV_CMD_DO_JUMP, *PASSED_OVER):
            return []
        if now.is_flying or command == mavlink.MAV_CMD_NAV_DELAY:
            return self._head_for(item, now)
        if command in (mavlink.MAV_CMD_NAV_LAND, mavlink.MAV_CMD_NAV_RETURN_TO_LAUNCH):
            return []
        # like PX4, it takes off by itself if the mission has no take-off item
        height, self._climbs = self._system.settings.takeoff_altitude, True
        if command == mavlink.MAV_CMD_NAV_TAKEOFF:
            height = float(self._position_of(item)[2] - now.state.position[2])
        return [Once(TakeOff(max(height, 0.5)))]

    def _head_for(self, item: Item, now: Situation) -> list[Behaviour]:
        command, wait = item.command, item.params[0] if math.isfinite(item.params[0]) else 0.0
        if command == mavlink.MAV_CMD_NAV_RETURN_TO_LAUNCH:
            # the mode is RTL from here on
            self._system.send(GoHome())
            self.went_home = True
            return []
        if command == mavlink.MAV_CMD_NAV_DELAY:
            return [Wait(wait)]
        target, yaw, settings = self._position_of(item), item.params[3], self._system.settings
        heading = yaw_from_heading(math.radians(yaw)) if math.isfinite(yaw) else yaw_towards(now, target)
        start = np.array(now.state.position) if self._corner is None else self._corner
        if command == mavlink.MAV_CMD_NAV_LAND:
            # first fly over the landing point, no lower than now
            target[2] = max(float(now.state.position[2]), float(target[2]))
            above = GoTo(target, heading, self._speed, arrival=ABOVE_LANDING, start=start)
            return [above, Once(Land())]
        radius, turn = settings.acceptance_radius, math.inf
        if command == mavlink.MAV_CMD_NAV_WAYPOINT:
            radius = item.params[1] if math.isfinite(item.params[1]) and item.params[1] > 0.0 else radius
            turn = ALIGNED if math.isfinite(yaw) else turn
        elif command != mavlink.MAV_CMD_NAV_LOITER_TIME:
            wait = math.inf if command == mavlink.MAV_CMD_NAV_LOITER_UNLIM else 0.0
        arrival = Arrival(radius, settings.acceptance_height, turn=turn)
        return [GoTo(target, heading, self._speed, arrival=arrival, stay=wait, start=start)]

    def _position_of(self, item: Item) -> Array:
        """World position of an item."""
        system = self._system
        above = system.home_altitude if item.frame in FRAMES_ABOVE_HOME else 0.0
        if item.has_position:
            return system.geography.enu_from_global(item.x / E7, item.y / E7, item.z + above)
        here = np.array(system.state.position)
        here[2] += item.z + above - system.geography.global_int(here)[2]
        return here
