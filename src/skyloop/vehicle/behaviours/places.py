"""Fly to a position, along a path of straight lines, or on a trajectory in time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from skyloop.vehicle.behaviours.behaviour import Behaviour, Order, Situation, seconds_between
from skyloop.vehicle.behaviours.motions import Heading
from skyloop.vehicle.trajectories.trajectories import Trajectory
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array, Goal, Position, Velocity

TURN_BEYOND = 1.0
"""m of horizontal distance beyond which a vehicle turns to face a position on its way there."""
AHEAD_S, LEAST_AHEAD = 2.0, 2.0
"""On a line it aims at a point this many s of flight ahead, and at least this many m."""
LINE_NS = 100_000_000
"""Interval between two such points."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """When a position counts as reached."""

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
    """Flies straight to a position and stays there. With a `start` it keeps to the line from there in wind, too."""

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
    """rad: facing a position, unless that is close."""
    ahead = position - now.state.position
    return now.yaw if float(np.hypot(ahead[0], ahead[1])) < TURN_BEYOND else math.atan2(ahead[1], ahead[0])


ARRIVED = 0.25
"""m from the end of a path within which it counts as flown."""
NEARLY, STILL = 0.5, 0.3
"""m and m/s: it also counts as flown at this distance and below this speed."""
STANDS_NS = 400_000_000
"""Time on a surface after which the rest of a path below the vehicle counts as out of reach."""
BRAKING = 0.4
"""1/s: speed per m of remaining distance. A controller may follow velocities with a lag of 0.9 s."""


def own_lookahead(speed: float) -> float:
    """m ahead on a path that a vehicle aims at."""
    return max(0.5, speed)


class FollowPath(Behaviour):
    """Flies along straight lines through points, then stays at the last. It fails if it stands above the rest."""

    def __init__(
        self, points: Sequence[ArrayLike], speed: float, heading: Heading | None = None, *,
        lookahead: float | None = None, start: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        """(n, 3) m, world; m/s; m ahead that it aims at; `start` None: where it is at the first update."""
        if not speed > 0.0:
            raise SetpointError(f"velocity is {speed}; give more than 0 m/s")
        self._speed, self._heading = speed, heading or Heading()
        self._ahead = own_lookahead(speed) if lookahead is None else lookahead
        self._corners = np.array([*([] if start is None else [start]), *points], np.float64)
        self._starts_here = start is None
        self._along = np.zeros(0)
        """(n,) m along the path of each corner."""
        self._flown = 0.0
        self._stood_ns = -1
        self._stays = False
        """The last point is the present setpoint."""

    def update(self, now: Situation) -> Order | None:
        if not len(self._along):
            self._begin(now.state.position)
        position, ahead, length = now.state.position, self._ahead, float(self._along[-1])
        # the nearest point of the path, searched from the previous one to a little beyond
        places = self._flown + np.linspace(0.0, 2.0 * ahead, 41)
        gaps = np.linalg.norm(self._points_at(places) - position, axis=1)
        self._flown = min(float(places[int(np.argmin(gaps))]), length)
        left, last = length - self._flown, self._corners[-1]
        away = float(np.linalg.norm(last - position))
        # the nose follows the path rather than every correction
        start = min(self._flown, max(length - 0.5, 0.0))
        aim, begin, end = self._points_at(np.array([self._flown + ahead, start, start + ahead]))
        still = float(np.linalg.norm(now.state.velocity_world)) < STILL
        if self._is_blocked(now, still and aim[2] < position[2] - 0.05):
            self.done = self.failed = True
            return None
        if left < 1.0 or (self._flown + ahead >= length and away < 1.5):
            self.done = away < ARRIVED or (away < NEARLY and still)
            stayed, self._stays = self._stays, True
            return None if self.done and stayed else Position(last, *self._heading.along(np.zeros(3)))
        self._stays = False
        towards, pace = aim - position, min(self._speed, 0.3 + BRAKING * left)
        velocity = towards * (pace / max(float(np.linalg.norm(towards)), 1e-6))
        return Velocity(velocity, "world", *self._heading.along(pace * (end - begin)))

    def _begin(self, position: Array) -> None:
        if self._starts_here:
            self._corners = np.array([position, *self._corners])
        steps = np.linalg.norm(np.diff(self._corners, axis=0), axis=1)
        self._along = np.concatenate([[0.0], np.cumsum(steps)])

    def _points_at(self, along: Array) -> Array:
        return np.stack([np.interp(along, self._along, axis) for axis in self._corners.T], axis=1)

    def _is_blocked(self, now: Situation, pushes_down: bool) -> bool:
        if not (now.touches and pushes_down):
            self._stood_ns = -1
        elif self._stood_ns < 0:
            self._stood_ns = now.t_ns
        return 0 <= self._stood_ns < now.t_ns - STANDS_NS


class Track(Behaviour):
    """Follows a trajectory from its first point on, then stays at its end."""

    def __init__(self, trajectory: Trajectory) -> None:
        self.trajectory = trajectory
        self.started_ns: int | None = None

    def update(self, now: Situation) -> Order:
        self.started_ns = now.t_ns if self.started_ns is None else self.started_ns
        elapsed = seconds_between(self.started_ns, now.t_ns)
        setpoint = self.trajectory.at(elapsed)
        self.done = elapsed > self.trajectory.duration
        return Goal(setpoint.position, setpoint.yaw) if self.done else setpoint


@dataclass(frozen=True, slots=True, eq=False)
class Cubics:
    """A trajectory of cubics between points with given velocities."""

    times: Array
    """(n,) s from the start, rising."""
    positions: Array
    """(n, 3) m, world."""
    velocities: Array
    """(n, 3) m/s, world."""
    yaws: Array
    """(n,) rad, without jumps."""

    @property
    def duration(self) -> float:
        return float(self.times[-1])

    def at(self, t: float) -> Position:
        k = max(int(np.searchsorted(self.times, t, side="right")) - 1, 0)
        if t <= self.times[0] or k + 1 >= len(self.times):
            return Position(self.positions[k], float(self.yaws[k]), velocity=self.velocities[k])
        span = self.times[k + 1] - self.times[k]
        s = (t - self.times[k]) / span
        p0, p1 = self.positions[k : k + 2]
        m0, m1 = self.velocities[k : k + 2] * span
        place = (2 * s**3 - 3 * s**2 + 1) * p0 + (s**3 - 2 * s**2 + s) * m0
        place = place + (3 * s**2 - 2 * s**3) * p1 + (s**3 - s**2) * m1
        speed = ((6 * s**2 - 6 * s) * (p0 - p1) + (3 * s**2 - 4 * s + 1) * m0 + (3 * s**2 - 2 * s) * m1) / span
        turn = float(self.yaws[k + 1] - self.yaws[k])
        return Position(place, float(self.yaws[k]) + s * turn, yaw_rate=turn / span, velocity=speed)
