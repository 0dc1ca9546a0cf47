"""Follow-me: flies at a distance, angle and height relative to a target that sends its position."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.wire import E7
from skyloop_client.messages import Array, EventKind, Position
from skyloop_client.streams import NS_PER_S

LOST_S = 3.0
"""Simulated s without a message from the target after which the vehicle hovers."""
MOVES = 0.3
"""m/s above which a target has a course."""
PULL = 1.0
"""1/s: rate at which the position error is closed."""
ACCELERATION = 4.0
"""m/s²: how fast the commanded position gets up to speed. Faster, the vehicle stays behind and overshoots."""
LOWEST = 1.0
"""m above home: as in PX4, the vehicle never follows lower than this."""
HAS_VELOCITY = 2
"""Bit of FOLLOW_TARGET.est_capabilities."""
BY_TARGET = 2
"""FLW_TGT_ALT_M: height above the target. Other values mean above home."""


class FollowTarget:
    """The state of the target and the position to hold beside it."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._position: Array | None = None
        self._velocity = np.zeros(3)
        self._reported_ns = -1
        self._course: float | None = None
        """rad, anticlockwise from east."""
        self._at: Array | None = None
        """The position sent to the vehicle last. Its speed is limited."""
        self._at_velocity = np.zeros(3)
        self._at_ns = -1
        self._waits = False

    def take(self, message: Any) -> None:
        """Handle FOLLOW_TARGET. Raises SetpointError if the target is far away."""
        system = self._system
        place = system.geography.enu_from_global(message.lat / E7, message.lon / E7, float(message.alt))
        north, east, down = (float(value) for value in message.vel)
        told = np.array([east, north, -down])
        if message.est_capabilities & HAS_VELOCITY and np.all(np.isfinite(told)) and np.linalg.norm(told) < 100.0:
            velocity = told
        else:
            velocity = self._seen_velocity(place)
        self._position, self._velocity, self._reported_ns = place, velocity, system.now_ns
        if float(np.hypot(velocity[0], velocity[1])) > MOVES:
            self._course = math.atan2(velocity[1], velocity[0])

    def _seen_velocity(self, place: Array) -> Array:
        """From consecutive positions, smoothed by FLW_TGT_RS."""
        since = (self._system.now_ns - self._reported_ns) / NS_PER_S
        if self._position is None or not 0.05 < since < LOST_S:
            return np.zeros(3)
        seen = (place - self._position) / since
        if np.linalg.norm(seen) > 50.0:
            return np.zeros(3)  # the target has jumped
        smooth = self._system.settings.follow_responsiveness
        return smooth * self._velocity + (1.0 - smooth) * seen

    def begin(self) -> None:
        """The mode was selected: start from the current position."""
        self._stay()
        self._waits = False

    def _stay(self) -> None:
        self._at, self._at_ns = np.array(self._system.state.position), self._system.now_ns
        self._at_velocity = np.zeros(3)

    def setpoint(self) -> Position | None:
        """The position to hold now. None if there is no target, so that the vehicle hovers."""
        system, settings = self._system, self._system.settings
        assert self._at is not None
        late = (system.now_ns - self._reported_ns) / NS_PER_S
        if self._position is None or self._reported_ns < 0 or late > LOST_S:
            if not self._waits:
                self._waits = True
                system.say(EventKind.LOST, "follow-me: no target; hovering until one is told")
            self._stay()
            return None
        self._waits = False
        target = self._position + late * self._velocity
        wanted = self._beside(target)
        passed = (system.now_ns - self._at_ns) / NS_PER_S
        velocity = self._velocity * np.array([1.0, 1.0, 0.0]) + _pull(wanted - self._at)
        velocity = _shortened(velocity, settings.follow_max_speed)
        velocity = self._at_velocity + _shortened(velocity - self._at_velocity, ACCELERATION * passed)
        self._at, self._at_ns, self._at_velocity = self._at + passed * velocity, system.now_ns, velocity
        ahead = target - self._at
        yaw = math.atan2(ahead[1], ahead[0]) if float(np.hypot(ahead[0], ahead[1])) > 1.0 else None
        return Position(self._at.copy(), yaw, velocity=velocity)

    def _beside(self, target: Array) -> Array:
        """FLW_TGT_DST m from the target, FLW_TGT_FA degrees to the right of its course, FLW_TGT_HT m up."""
        system, settings = self._system, self._system.settings
        if self._course is None:
            # a target that has not moved yet counts as facing away, so that the vehicle is behind it
            ahead = target - system.state.position
            self._course = math.atan2(ahead[1], ahead[0])
        angle = self._course - math.radians(settings.follow_angle_deg)
        place = target + settings.follow_distance * np.array([math.cos(angle), math.sin(angle), 0.0])
        home = 0.0 if system.home is None else float(system.home[2])
        zero = float(target[2]) if settings.follow_altitude_mode == BY_TARGET else home
        place[2] = max(zero + settings.follow_height, home + LOWEST)
        return place


def _pull(away: Array) -> Array:
    """The velocity that closes a distance and can be braked to a stop within it."""
    distance = float(np.linalg.norm(away))
    if distance < 1e-9:
        return np.zeros(3)
    return away / distance * min(PULL * distance, math.sqrt(ACCELERATION * distance))


def _shortened(vector: Array, most: float) -> Array:
    length = float(np.linalg.norm(vector))
    return vector if length <= most else vector * (most / length)
