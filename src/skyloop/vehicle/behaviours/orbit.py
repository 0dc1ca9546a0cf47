"""Fly a circle around a place at a constant speed: first to its nearest point, then around it."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from skyloop.vehicle.behaviours.behaviour import Behaviour, Order, Situation
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array, Position
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
