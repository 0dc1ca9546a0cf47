"""Fly to a place and stay there."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from skyloop.vehicle.behaviours.behaviour import Behaviour, Order, Situation, seconds_between
from skyloop_client.messages import Array, Goal

TURN_BEYOND = 1.0
"""m of horizontal distance beyond which a vehicle turns to face a place on its way there."""
AHEAD_S, LEAST_AHEAD = 2.0, 2.0
"""On a line it aims at a point this many s of flight ahead, and at least this many m."""
LINE_NS = 100_000_000
"""Interval between two such points."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """When a place counts as reached."""

    radius: float
    """m from it."""
    height: float | None = None
    """m vertically, and `radius` holds horizontally; None: `radius` holds in space."""
    speed: float = math.inf
    """m/s, below which the vehicle must be."""
    turn: float = math.inf
    """rad from the wanted yaw, below which it must be."""

    def is_at(self, now: Situation, position: Array, yaw: float | None) -> bool:
        away = now.state.position - position
        if self.height is None:
            near = float(np.linalg.norm(away)) <= self.radius
        else:
            near = float(np.hypot(away[0], away[1])) <= self.radius and abs(away[2]) <= self.height
        if not near or float(np.linalg.norm(now.state.velocity_world)) >= self.speed:
            return False
        return yaw is None or abs(math.remainder(now.yaw - yaw, 2.0 * math.pi)) < self.turn


class GoTo(Behaviour):
    """Flies straight to a place and stays there. With a `start` it keeps to the line from there in wind, too."""

    def __init__(
        self, position: ArrayLike, yaw: float | None = None, speed: float | None = None, *,
        arrival: Arrival | None = None, stay: float = 0.0, start: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        """(3,) m, world; rad from east, None keeps the heading; m/s, None is the cruise speed.

        It is done after `stay` s of `arrival`; None: as soon as the autopilot says that it is there and at rest.
        """
        self.position = np.array(position, np.float64)
        self.yaw, self.speed = yaw, speed
        self._arrival, self._stay = arrival, stay
        self._start = None if start is None else np.array(start, np.float64)
        self._begun = False
        self._led_ns = self._there_ns = -1
        """When the last point of the line was given (negative: its end was), and since when it is there."""

    def update(self, now: Situation) -> Order | None:
        begins, self._begun = not self._begun, True
        order = self._goal(now) if begins or 0 <= self._led_ns <= now.t_ns - LINE_NS else None
        if self._arrival is None:
            self.done = not begins and now.status.mode != "goal"
            self.failed = self.done and now.status.mode != "hover"
        elif not self._arrival.is_at(now, self.position, self.yaw):
            self._there_ns = -1
        else:
            self._there_ns = now.t_ns if self._there_ns < 0 else self._there_ns
            self.done = seconds_between(self._there_ns, now.t_ns) >= self._stay
        return order

    def _goal(self, now: Situation) -> Goal:
        if self._start is None:
            return Goal(self.position, self.yaw, self.speed)
        line = self.position - self._start
        length = float(np.linalg.norm(line))
        along = line / length if length > 0.0 else line
        flown = max(0.0, float((now.state.position - self._start) @ along))
        ahead = max(LEAST_AHEAD, AHEAD_S * (now.cruise_speed if self.speed is None else self.speed))
        # the end of the line is given only once, because reaching a goal is an event
        self._led_ns = now.t_ns if flown + ahead < length else -1
        goal = self.position if self._led_ns < 0 else self._start + (flown + ahead) * along
        return Goal(goal, self.yaw, self.speed)


def yaw_towards(now: Situation, position: Array) -> float:
    """rad: facing a place, unless that is close."""
    ahead = position - now.state.position
    return now.yaw if float(np.hypot(ahead[0], ahead[1])) < TURN_BEYOND else math.atan2(ahead[1], ahead[0])
