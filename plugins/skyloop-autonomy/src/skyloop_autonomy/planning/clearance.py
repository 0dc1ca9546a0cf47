"""How near a motion comes to the points of a cloud and to objects that move.

Movers are upright cylinders, rows (x, y, z of the middle, velocity, radius, half of the height), that go on as they go.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import boolean, float64, int64, types

from skyloop.core.jit import WHEN_CALLED, inlined, kernel
from skyloop_autonomy.planning.primitives import MATRIX, VECTOR

MOVER_COLUMNS = 8
MOVER_RADIUS = 6
"""Column; the next one is half of the height."""
PREDICTED = 3.0
"""s for which movers are expected to move on as they do; people turn."""
LEAVING = 0.5
"""m of clearance that a motion must gain per metre if it begins too near to something."""
LEAVING_SLOWLY = 0.15
"""The same for one that begins with less room than it would like: half a round of the search away from a wall."""
_SLACK = 0.02
"""m that clearance may shrink at the beginning of such a motion, for noise."""


class MotionLimits(NamedTuple):
    """What the compiled planner must keep to."""

    radius: float
    """m from the vehicle's middle to any obstacle."""
    speed: float
    acceleration: float
    jerk: float
    reach: float
    """m, the length of the longest motion."""
    floor: float
    ceiling: float
    """m, the lowest and the highest position."""
    commit: float
    """s of a motion that are flown before there is a newer one."""
    room: float
    """m that it keeps from points where that costs little."""
    leaving: float
    """m of clearance to gain per metre if a motion begins nearer than `radius`."""


LIMITS = types.UniTuple(types.float64, 10)


@kernel(int64(MATRIX, VECTOR, float64, MATRIX), turn=WHEN_CALLED)
def gather_near(cloud, position, reach, near):
    """Copies the points within `reach` of a position to the front of `near` and returns how many they are."""
    n = 0
    for i in range(cloud.shape[0]):
        away = 0.0
        for axis in range(3):
            away += (cloud[i, axis] - position[axis]) ** 2
        # points that are not numbers fail this too
        if away <= reach * reach:
            for axis in range(3):
                near[n, axis] = cloud[i, axis]
            n += 1
    return n


@kernel(float64(MATRIX, VECTOR), turn=WHEN_CALLED)
def nearest_distance(near, position):
    """m from a position to the nearest point; infinite without any."""
    best = np.inf
    for i in range(near.shape[0]):
        away = 0.0
        for axis in range(3):
            away += (near[i, axis] - position[axis]) ** 2
        best = min(best, away)
    return np.sqrt(best)


@inlined
def _share_of_nearest(a, b, q):
    """How far along from a to b the point nearest to q is, 0 to 1."""
    along, length = 0.0, 0.0
    for axis in range(3):
        step = b[axis] - a[axis]
        along += (q[axis] - a[axis]) * step
        length += step * step
    return min(max(along / length, 0.0), 1.0) if length > 0.0 else 0.0


@inlined
def _meets_point(way, q, radius, begin, leaving):
    """Whether a polygon comes nearer to q than allowed: `radius`, or less near to a start that is too near already."""
    for i in range(way.shape[0] - 1):
        share = _share_of_nearest(way[i], way[i + 1], q)
        away, gone = 0.0, 0.0
        for axis in range(3):
            at = way[i, axis] + share * (way[i + 1, axis] - way[i, axis])
            away += (q[axis] - at) ** 2
            gone += (at - way[0, axis]) ** 2
        if away < radius * radius and away < min(radius, begin + leaving * np.sqrt(gone)) ** 2:
            return True
    return False


@inlined
def _gap_to_mover(way, i, every, mover):
    """m between the vehicle's middle and a mover's side during chord i, each chord `every` seconds long."""
    t = i * every
    ax, ay = way[i, 0] - mover[0] - mover[3] * t, way[i, 1] - mover[1] - mover[4] * t
    t += every
    bx, by = way[i + 1, 0] - mover[0] - mover[3] * t, way[i + 1, 1] - mover[1] - mover[4] * t
    dx, dy = bx - ax, by - ay
    length = dx * dx + dy * dy
    share = min(max(-(ax * dx + ay * dy) / length, 0.0), 1.0) if length > 0.0 else 0.0
    beside = np.sqrt((ax + share * dx) ** 2 + (ay + share * dy) ** 2) - mover[6]
    above = min(abs(way[i, 2] - mover[2] - mover[5] * (t - every)), abs(way[i + 1, 2] - mover[2] - mover[5] * t))
    return max(beside, above - mover[7])


@kernel(float64(MATRIX, float64, MATRIX), turn=WHEN_CALLED)
def gap_to_movers(way, duration, movers):
    """m, the smallest during a motion and while it stays at its end, as far ahead as movers are predicted."""
    best = np.inf
    pieces = way.shape[0] - 1
    every = duration / pieces
    stay = np.empty((2, 3))
    stay[:] = way[pieces]
    for m in range(movers.shape[0]):
        for i in range(pieces):
            if i * every <= PREDICTED:
                best = min(best, _gap_to_mover(way, i, every, movers[m]))
        if duration < PREDICTED:
            later = movers[m].copy()
            for axis in range(3):
                later[axis] += later[3 + axis] * duration
            best = min(best, _gap_to_mover(stay, 0, PREDICTED - duration, later))
    return best


@inlined
def _gap_now(position, movers):
    """m between a position and the side of the nearest mover at the beginning of a motion."""
    best = np.inf
    for m in range(movers.shape[0]):
        beside = np.sqrt((position[0] - movers[m, 0]) ** 2 + (position[1] - movers[m, 1]) ** 2) - movers[m, 6]
        best = min(best, max(beside, abs(position[2] - movers[m, 2]) - movers[m, 7]))
    return best


@inlined
def with_room(limits, room):
    """The limits of a motion that keeps `room` from points; one that begins nearer leaves them slowly."""
    b = MotionLimits(*limits)
    return room, b.speed, b.acceleration, b.jerk, b.reach, b.floor, b.ceiling, b.commit, b.room, LEAVING_SLOWLY


@kernel(boolean(MATRIX, float64, MATRIX, MATRIX, LIMITS, float64), turn=WHEN_CALLED)
def is_clear(way, duration, near, movers, limits, begin):
    """Whether the motion whose samples are `way` keeps `radius` from all points and movers and inside the height band.

    begin: m, the clearance at which it begins. If that is too small already, clearance must grow along the way. A
    motion that begins too near to a mover may not come nearer to any. The order of `near` may change."""
    bounds = MotionLimits(*limits)
    pieces = way.shape[0] - 1
    # between two samples the motion leaves the chord by no more than this; a ray is its own chord
    bend = (duration / pieces) ** 2 / 8.0 * bounds.acceleration if pieces > 1 else 0.0
    radius = bounds.radius + bend
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for i in range(pieces + 1):
        for axis in range(3):
            low[axis] = min(low[axis], way[i, axis] - radius)
            high[axis] = max(high[axis], way[i, axis] + radius)
        outside = max(bounds.floor - way[i, 2], way[i, 2] - bounds.ceiling)
        # a vehicle that is outside the band may come back into it
        if outside > 1e-9 and outside > max(bounds.floor - way[0, 2], way[0, 2] - bounds.ceiling) + 1e-9:
            return False
    allowed = max(min(begin, bounds.radius) - _SLACK, 0.0) if begin < radius else radius
    for n in range(near.shape[0]):
        q = near[n]
        inside = low[0] < q[0] < high[0] and low[1] < q[1] < high[1] and low[2] < q[2] < high[2]
        if inside and _meets_point(way, q, radius, allowed, bounds.leaving):
            # the next motion is likely to fail at the same point, so it comes first
            for axis in range(3):
                near[0, axis], near[n, axis] = near[n, axis], near[0, axis]
            return False
    if movers.shape[0] == 0:
        return True
    return gap_to_movers(way, duration, movers) >= min(bounds.radius, _gap_now(way[0], movers) - _SLACK)
