"""Fly around a position, or beside a target that moves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from skyloop.vehicle.behaviours.behaviour import Behaviour, Order, Situation
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array, Hover, Position
from skyloop_client.streams import NS_PER_S

SMALLEST, LARGEST = 1.0, 1000.0
"""m, the limits of the radius, as in PX4."""
FASTEST = 10.0
"""m/s, as in PX4."""
ACCELERATION_SHARE = 0.6
"""Share of the vehicle's acceleration limit for the turn. The rest is for wind."""

Facing: TypeAlias = Literal["centre", "course", "start", "free"]
"""What the nose points at: the centre, along the circle, as at the start, or no matter what."""


class Orbit(Behaviour):
    """Flies to the nearest point of a circle, then around it."""

    def __init__(
        self, centre: ArrayLike, radius: float = 10.0, speed: float = 1.0, facing: Facing = "centre",
        turn: float = math.inf,
    ) -> None:  # fmt: skip
        """(3,) m, world, at the height of the circle; m, clockwise seen from above, negative: anticlockwise; m/s, less
        where the circle is too tight for it; `turn`: rad after which it is done."""
        if not SMALLEST <= abs(radius) <= LARGEST:
            raise SetpointError(f"an orbit of {radius:g} m; give {SMALLEST:g} to {LARGEST:g} m")
        if not 0.0 < speed <= FASTEST:
            raise SetpointError(f"an orbit at {speed:g} m/s; give more than 0, and {FASTEST:g} at most")
        self.centre, self.radius, self.speed = np.array(centre, np.float64), radius, speed
        self._facing, self._turn = facing, turn
        self._start_ns = -1
        self._start = np.zeros(3)
        self._yaw = self._angle = 0.0
        """rad from east: of the vehicle at the start, and where it enters the circle."""

    def update(self, now: Situation) -> Order | None:
        if self._start_ns < 0:
            self._begin(now)
        radius = abs(self.radius)
        leg = self.centre + radius * _direction(self._angle) - self._start
        length = float(np.linalg.norm(leg))
        flown = self.speed * (now.t_ns - self._start_ns) / NS_PER_S
        if flown < length:
            along = leg / length
            place = self._start + flown * along
            return Position(place, self._heading(place, self._angle), velocity=self.speed * along)
        sense = -1.0 if self.radius > 0.0 else 1.0
        turned = (flown - length) / radius
        if turned >= self._turn:
            self.done = True
            return None
        angle = self._angle + sense * turned
        rate, out = sense * self.speed / radius, _direction(angle)
        place = self.centre + radius * out
        return Position(
            place,
            self._heading(place, angle + sense * math.pi / 2),
            rate if self._facing in ("centre", "course") else 0.0,
            velocity=radius * rate * np.array([-out[1], out[0], 0.0]),
            acceleration=-(self.speed**2) / radius * out,
        )

    def _begin(self, now: Situation) -> None:
        self._start_ns, self._start, self._yaw = now.t_ns, np.array(now.state.position), now.yaw
        most = math.sqrt(ACCELERATION_SHARE * now.max_acceleration * abs(self.radius))
        self.speed = min(self.speed, most, now.max_speed)
        away = self._start - self.centre
        self._angle = math.atan2(away[1], away[0]) if np.hypot(*away[:2]) > 0.1 else now.yaw

    def _heading(self, place: Array, course: float) -> float | None:
        if self._facing == "centre":
            ahead = self.centre - place
            return math.atan2(ahead[1], ahead[0])
        return {"course": course, "start": self._yaw}.get(self._facing)


def _direction(angle: float) -> Array:
    return np.array([math.cos(angle), math.sin(angle), 0.0])


LOST_S = 3.0
"""s without a word of the target after which the vehicle hovers."""
MOVES = 0.3
"""m/s above which a target has a course."""
PULL = 1.0
"""1/s: rate at which the position error is closed."""
ACCELERATION = 4.0
"""m/s²: how fast the commanded position gets up to speed. Faster, the vehicle stays behind and overshoots."""
LOWEST = 1.0
"""m above home: as in PX4, the vehicle never follows lower than this."""


@dataclass(frozen=True, slots=True)
class Station:
    """Where to be beside a target."""

    distance: float = 8.0
    """m from it, horizontally."""
    angle: float = math.pi
    """rad to the right of its course: 0 is ahead of it, pi behind it."""
    height: float = 8.0
    """m above home, or above the target."""
    above_target: bool = False
    max_speed: float = 5.0
    """m/s while following."""
    smoothing: float = 0.1
    """0 follows every movement of the target at once, 1 ignores all."""


class Follow(Behaviour):
    """Holds a station beside a target, and hovers while there is none. It is never done."""

    def __init__(self, station: Station | None = None) -> None:
        self.station = station or Station()
        """May be changed in flight."""
        self.is_lost = False
        """There is no target, or none that was heard of lately."""
        self._target: Array | None = None
        self._velocity = np.zeros(3)
        self._seen_ns = -1
        self._course: float | None = None
        """rad, anticlockwise from east."""
        self._at: Array | None = None
        """The position that was ordered last. Its speed is limited."""
        self._at_velocity = np.zeros(3)
        self._at_ns = -1

    def see(self, t_ns: int, position: Array, velocity: Array | None = None) -> None:
        """The target is there, (3,) m and m/s, world. Without a velocity it follows from the positions."""
        velocity = self._seen_velocity(t_ns, position) if velocity is None else velocity
        self._target, self._velocity, self._seen_ns = position, velocity, t_ns
        if float(np.hypot(velocity[0], velocity[1])) > MOVES:
            self._course = math.atan2(velocity[1], velocity[0])

    def _seen_velocity(self, t_ns: int, position: Array) -> Array:
        since = (t_ns - self._seen_ns) / NS_PER_S
        if self._target is None or not 0.05 < since < LOST_S:
            return np.zeros(3)
        seen = (position - self._target) / since
        if np.linalg.norm(seen) > 50.0:
            return np.zeros(3)  # the target has jumped
        return self.station.smoothing * self._velocity + (1.0 - self.station.smoothing) * seen

    def begin(self, now: Situation) -> None:
        """Start from the present position."""
        self._stay(now)
        self.is_lost = False

    def _stay(self, now: Situation) -> None:
        self._at, self._at_ns, self._at_velocity = np.array(now.state.position), now.t_ns, np.zeros(3)

    def update(self, now: Situation) -> Order | None:
        late = (now.t_ns - self._seen_ns) / NS_PER_S
        self.is_lost = self._target is None or self._seen_ns < 0 or late > LOST_S
        if self._target is None or self.is_lost:
            self._stay(now)
            return Hover() if now.status.mode == "setpoint" else None
        if self._at is None:
            self._stay(now)
        assert self._at is not None
        target = self._target + late * self._velocity
        passed = (now.t_ns - self._at_ns) / NS_PER_S
        velocity = self._velocity * np.array([1.0, 1.0, 0.0]) + _pull(self._beside(target, now) - self._at)
        velocity = _shortened(velocity, self.station.max_speed)
        velocity = self._at_velocity + _shortened(velocity - self._at_velocity, ACCELERATION * passed)
        self._at, self._at_ns, self._at_velocity = self._at + passed * velocity, now.t_ns, velocity
        ahead = target - self._at
        yaw = math.atan2(ahead[1], ahead[0]) if float(np.hypot(ahead[0], ahead[1])) > 1.0 else None
        return Position(self._at.copy(), yaw, velocity=velocity)

    def _beside(self, target: Array, now: Situation) -> Array:
        station = self.station
        if self._course is None:
            # a target that has not moved yet counts as facing away, so that the vehicle is behind it
            ahead = target - now.state.position
            self._course = math.atan2(ahead[1], ahead[0])
        angle = self._course - station.angle
        place = target + station.distance * np.array([math.cos(angle), math.sin(angle), 0.0])
        home = 0.0 if now.home is None else float(now.home[2])
        zero = float(target[2]) if station.above_target else home
        place[2] = max(zero + station.height, home + LOWEST)
        return np.asarray(place)


def _pull(away: Array) -> Array:
    """The velocity that closes a distance and can be braked to a stop within it."""
    distance = float(np.linalg.norm(away))
    if distance < 1e-9:
        return np.zeros(3)
    return away / distance * min(PULL * distance, math.sqrt(ACCELERATION * distance))


def _shortened(vector: Array, most: float) -> Array:
    length = float(np.linalg.norm(vector))
    return vector if length <= most else vector * (most / length)
