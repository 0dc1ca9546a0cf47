"""Fly along a path of straight lines, or follow a trajectory in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from skyloop.vehicle.behaviours.behaviour import Behaviour, Order, Situation, seconds_between
from skyloop.vehicle.behaviours.motions import Heading
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array, Goal, Position, Velocity

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


class Trajectory(Protocol):
    """Where to be when."""

    @property
    def duration(self) -> float:
        """s."""

    def at(self, t: float) -> Position:
        """The setpoint `t` s after the start."""


class Track(Behaviour):
    """Follows a trajectory from its first point on, then stays at its end."""

    def __init__(self, trajectory: Trajectory) -> None:
        self.trajectory = trajectory
        self.started_ns: int | None = None

    def update(self, now: Situation) -> Order | None:
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
