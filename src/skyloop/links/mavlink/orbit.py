"""Flies a circle around a position at a constant speed: first to its nearest point, then around it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.system import System
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array, EventKind, Position
from skyloop_client.streams import NS_PER_S

SMALLEST, LARGEST = 1.0, 1000.0
"""m, the limits of the radius, as in PX4."""
USUAL_RADIUS, USUAL_SPEED = 10.0, 1.0
"""m and m/s, the defaults."""
FASTEST = 10.0
"""m/s, as in PX4."""
ACCELERATION_SHARE = 0.6
"""Share of the vehicle's acceleration limit for the turn. The rest is for wind."""
TO_CENTRE = mavlink.ORBIT_YAW_BEHAVIOUR_HOLD_FRONT_TO_CIRCLE_CENTER
INITIAL = mavlink.ORBIT_YAW_BEHAVIOUR_HOLD_INITIAL_HEADING
TANGENT = mavlink.ORBIT_YAW_BEHAVIOUR_HOLD_FRONT_TANGENT_TO_CIRCLE


@dataclass(frozen=True, slots=True, eq=False)
class Circle:
    """The request of a client. Raises SetpointError if it cannot be flown."""

    centre: Array
    """(3,) m, world. Its height is the height of the circle."""
    radius: float
    """m, clockwise seen from above. Negative: anticlockwise."""
    speed: float
    """m/s."""
    behaviour: int
    """ORBIT_YAW_BEHAVIOUR."""
    turn: float
    """rad after which it holds. Infinity: never."""

    def __post_init__(self) -> None:
        if not SMALLEST <= abs(self.radius) <= LARGEST:
            raise SetpointError(f"an orbit of {self.radius:g} m; give {SMALLEST:g} to {LARGEST:g} m")
        if not 0.0 < self.speed <= FASTEST:
            raise SetpointError(f"an orbit at {self.speed:g} m/s; give more than 0, and {FASTEST:g} at most")


class Orbit:
    """Gives the setpoints along a circle."""

    def __init__(self, system: System, circle: Circle) -> None:
        self.circle = circle
        self._system = system
        self._began_ns = system.now_ns
        self._start = np.array(system.state.position)
        self._yaw = system.yaw
        self._radius = abs(circle.radius)
        most = math.sqrt(ACCELERATION_SHARE * system.port.limits.acceleration * self._radius)
        self.speed = min(circle.speed, most, system.port.limits.speed)
        """m/s, the actual speed."""
        if self.speed < circle.speed:
            system.say(EventKind.REFUSED, f"orbit at {self.speed:.1f} m/s: {circle.speed:g} is too fast for its radius")
        away = self._start - circle.centre
        self._angle = math.atan2(away[1], away[0]) if np.hypot(*away[:2]) > 0.1 else system.yaw
        """rad anticlockwise from east, where it enters the circle."""
        self._leg = self._on_circle(self._angle) - self._start
        self._length = float(np.linalg.norm(self._leg))

    def _on_circle(self, angle: float) -> Array:
        return self.circle.centre + self._radius * np.array([math.cos(angle), math.sin(angle), 0.0])

    def setpoint(self) -> Position | None:
        """The current setpoint, or None after the requested turns."""
        flown = self.speed * (self._system.now_ns - self._began_ns) / NS_PER_S
        if flown < self._length:
            along = self._leg / self._length
            place = self._start + flown * along
            return Position(place, self._heading(place, self._angle), velocity=self.speed * along)
        sense = -1.0 if self.circle.radius > 0.0 else 1.0
        turned = (flown - self._length) / self._radius
        if turned >= self.circle.turn:
            return None
        angle = self._angle + sense * turned
        rate = sense * self.speed / self._radius
        out = np.array([math.cos(angle), math.sin(angle), 0.0])
        place = self.circle.centre + self._radius * out
        velocity = self._radius * rate * np.array([-out[1], out[0], 0.0])
        turns_with_it = self.circle.behaviour in (TO_CENTRE, TANGENT)
        return Position(
            place, self._heading(place, angle + sense * math.pi / 2), rate if turns_with_it else 0.0,
            velocity, -(self.speed**2) / self._radius * out,
        )  # fmt: skip

    def _heading(self, place: Array, course: float) -> float | None:
        match self.circle.behaviour:
            case behaviour if behaviour == TO_CENTRE:
                ahead = self.circle.centre - place
                return math.atan2(ahead[1], ahead[0])
            case behaviour if behaviour == TANGENT:
                return course
            case behaviour if behaviour == INITIAL:
                return self._yaw
            case _:
                return None
