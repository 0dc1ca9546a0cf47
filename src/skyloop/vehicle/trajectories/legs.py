"""Straight legs with a stop at every corner: line, back-and-forth legs, square."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from skyloop.vehicle.trajectories.curves import DEFAULT_ACCELERATION, Yaw
from skyloop.vehicle.trajectories.speed_profile import SpeedProfile
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array, Position

TURN_ACCELERATION = 2.0
"""rad/s², the peak angular acceleration of a turn in a corner."""


@dataclass(frozen=True, slots=True, eq=False)
class _Leg:
    """A turn on the spot (None if no turn is needed), then a straight run."""

    start: Array
    direction: Array
    run: SpeedProfile
    turn: SpeedProfile | None
    turn_sign: float
    yaw: float
    """The heading during the run, after the turn."""

    @property
    def turn_time(self) -> float:
        return self.turn.duration if self.turn else 0.0

    def at(self, t: float) -> Position:
        run_time = t - self.turn_time
        rows = np.outer(self.run.at(run_time), self.direction)
        yaw, yaw_rate = self.yaw, 0.0
        if self.turn and run_time < 0:
            turned, rate, *_ = self.turn.at(t)
            yaw -= self.turn_sign * (self.turn.length - turned)
            yaw_rate = self.turn_sign * rate
        return Position(self.start + rows[0], yaw, yaw_rate, rows[1], rows[2], rows[3], rows[4])


class Legs:
    """Flies through `points` in order and stops at each. More `legs` go back and forth along the same points.

    The peak acceleration is `acceleration`; a leg too short to reach `speed` with it is flown slower. With yaw
    "forward" the vehicle turns on the spot in each corner, at no more than `turn_rate`.
    """

    def __init__(
        self,
        points: ArrayLike,
        speed: float,
        *,
        legs: int | None = None,
        acceleration: float = DEFAULT_ACCELERATION,
        yaw: Yaw = "forward",
        turn_rate: float = 1.0,
    ) -> None:
        route = _back_and_forth(np.array(points, dtype=np.float64), legs)
        heading = yaw if yaw != "forward" else _first_heading(route)
        self._legs: list[_Leg] = []
        self._starts = [0.0]
        for index, (start, end) in enumerate(pairwise(route)):
            step = end - start
            turn_angle = 0.0
            if yaw == "forward" and index > 0:
                turn_angle = _turn_to(step, heading)
                heading += turn_angle
            length = float(np.linalg.norm(step))
            leg = _Leg(
                start,
                step / length,
                SpeedProfile(length, speed, acceleration),
                SpeedProfile(abs(turn_angle), turn_rate, TURN_ACCELERATION) if turn_angle else None,
                math.copysign(1.0, turn_angle),
                heading,
            )
            self._legs.append(leg)
            self._starts.append(self._starts[-1] + leg.turn_time + leg.run.duration)
        self.duration = self._starts.pop()

    def at(self, t: float) -> Position:
        index = max(bisect_right(self._starts, t) - 1, 0)
        return self._legs[index].at(max(t, 0.0) - self._starts[index])


class Line(Legs):
    """One straight leg."""

    def __init__(
        self,
        start: ArrayLike,
        end: ArrayLike,
        speed: float,
        *,
        acceleration: float = DEFAULT_ACCELERATION,
        yaw: Yaw = "forward",
    ) -> None:
        super().__init__(np.array([start, end]), speed, acceleration=acceleration, yaw=yaw)


class Square(Legs):
    """A counter-clockwise square from `corner`, with its first side along `first_heading`."""

    def __init__(
        self,
        corner: ArrayLike,
        side: float,
        speed: float,
        *,
        laps: int = 1,
        first_heading: float = 0.0,
        acceleration: float = DEFAULT_ACCELERATION,
        yaw: Yaw = "forward",
        turn_rate: float = 1.0,
    ) -> None:
        along = side * np.array([math.cos(first_heading), math.sin(first_heading), 0.0])
        left = np.array([-along[1], along[0], 0.0])
        lap = np.array(corner, dtype=np.float64) + np.array([0 * along, along, along + left, left])
        points = np.vstack([lap] * laps + [lap[:1]])
        super().__init__(points, speed, acceleration=acceleration, yaw=yaw, turn_rate=turn_rate)


def _back_and_forth(points: Array, legs: int | None) -> Array:
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 2:
        raise ScenarioError(f"legs need at least two points of (x, y, z), got shape {points.shape}")
    if not np.all(np.any(np.diff(points, axis=0), axis=1)):
        raise ScenarioError("two consecutive points of the legs are the same; remove one")
    last = len(points) - 1
    count = last if legs is None else legs
    if count < 1:
        raise ScenarioError(f"at least one leg must be flown, got legs: {legs}")
    return points[[last - abs(i % (2 * last) - last) for i in range(count + 1)]]


def _turn_to(step: Array, heading: float) -> float:
    """The shortest turn from `heading` to the direction of `step` (a half turn goes left); 0 if `step` is vertical."""
    if not np.any(step[:2]):
        return 0.0
    turn = math.remainder(math.atan2(step[1], step[0]) - heading, 2 * math.pi)
    if abs(turn) < 1e-9:
        return 0.0
    return turn + 2 * math.pi if turn < -math.pi + 1e-9 else turn


def _first_heading(route: Array) -> float:
    for step in np.diff(route, axis=0):
        if np.any(step[:2]):
            return math.atan2(step[1], step[0])
    return 0.0
