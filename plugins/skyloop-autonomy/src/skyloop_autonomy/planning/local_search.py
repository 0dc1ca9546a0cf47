"""The compiled part of the local planner: which way is free, and the best motion that way."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math

import numpy as np
from numba import boolean, float64, int64, types

from skyloop.core.jit import WHEN_CALLED, inlined, kernel
from skyloop_autonomy.planning.clearance import (
    LIMITS,
    MotionLimits,
    gap_to_movers,
    gather_near,
    is_clear,
    nearest_distance,
    with_room,
)
from skyloop_autonomy.planning.primitives import (
    MATRIX,
    PIECES,
    VECTOR,
    derivatives,
    keeps_within,
    primitive,
    sample_positions,
)

TURN = math.pi / 16.0
"""rad between two rounds of the search."""
ROUNDS = 11
"""The first looks straight at the sub-goal, the last 112° away from it."""
ROOM_STEP = 0.01
"""m less than the aim has, so that the motion to it is free."""
FARTHER = 6
"""Pairs after the first free one, 34°, within which a motion with more room is sought."""
LENGTHS = 3
"""Rays of full, half and quarter length."""
ENDS = 3
"""Motions that are tried along a ray: to its end, its half and its quarter."""
SHORTEST = 0.15
"""m, of a ray; a motion shorter than this is not worth flying, unless it ends at the sub-goal."""
GROWTH, DURATIONS, STRIDE = 1.08, 48, 4
"""Durations that are tried: from the shortest thinkable on, each longer by this factor; at first every fourth one."""
_FLAG, _FLAGS_OF_BOTH = types.boolean[::1], types.boolean[:, :, ::1]
HOVER, BRAKE, BACK_OFF = range(3)
FARTHEST_BACK = 1.2
"""m, the longest way to back off."""
ENOUGH = 0.02
"""m of clearance that backing off must gain over staying."""


@inlined
def _fits(start, end, duration, most, jerk_limit, out):
    primitive(start, end, duration, out)
    return keeps_within(out, duration, (most[0], most[1], jerk_limit))


@kernel(float64(MATRIX, VECTOR, LIMITS, MATRIX), turn=WHEN_CALLED)
def quickest(start, end, limits, out):
    """The shortest duration within the limits, or -1; the motion goes to `out`.

    A vehicle that is beyond a limit already, in a gust for instance, may not exceed what it has now."""
    bounds = MotionLimits(*limits)
    most = np.empty(3)
    for order in range(1, 3):
        norm = np.sqrt(start[order, 0] ** 2 + start[order, 1] ** 2 + start[order, 2] ** 2)
        most[order - 1] = max(bounds[order], norm * 1.0001)
    way = np.sqrt((end[0] - start[0, 0]) ** 2 + (end[1] - start[0, 1]) ** 2 + (end[2] - start[0, 2]) ** 2)
    shortest = max(way / bounds.speed, 0.3)
    found = -1
    # coarse steps, then back in fine ones: where nothing fits, this takes a quarter of the time
    for step in range(0, DURATIONS, STRIDE):
        if _fits(start, end, shortest * GROWTH**step, most, bounds.jerk, out):
            found = step
            break
    if found < 0:
        return -1.0
    for step in range(max(found - STRIDE + 1, 0), found + 1):
        if _fits(start, end, shortest * GROWTH**step, most, bounds.jerk, out):
            return shortest * GROWTH**step
    return -1.0


@inlined
def _cost(c, duration, aim, limits, crowded):
    """The cost of B.7 for a motion that ends at rest.

    Its end speed is taken where the next plan takes over. The way that is missing to the sub-goal counts as time too:
    otherwise a motion that ends at rest would be best if it stopped at once."""
    bounds = MotionLimits(*limits)
    state = np.empty((4, 3))
    derivatives(c, duration, bounds.commit, state)
    goal, miss, force, speed, error = np.empty(3), 0.0, 0.0, 0.0, 0.0
    away = 1e-9
    for axis in range(3):
        goal[axis] = aim[axis] - c[0, axis]
        away += goal[axis] ** 2
        end = 0.0
        for power in range(7):
            end += c[power, axis]
        miss += (aim[axis] - end) ** 2
        force += state[2, axis] ** 2
    miss, away = np.sqrt(miss), np.sqrt(away)
    for axis in range(3):
        speed += state[1, axis] * goal[axis] / away
        error += (state[1, axis] - bounds.speed * goal[axis] / away) ** 2
    time = duration + miss / bounds.speed
    if crowded:
        return 15.0 * time + 6.0 * np.sqrt(error) + 6.0 * miss
    return 0.3 * np.sqrt(force) - 5.0 * speed + 5.0 * miss + 15.0 * time


@inlined
def _ray(position, ray, way):
    azimuth, elevation, length, _, _ = ray
    for axis in range(3):
        way[0, axis] = position[axis]
    way[1, 0] = position[0] + length * np.cos(elevation) * np.cos(azimuth)
    way[1, 1] = position[1] + length * np.cos(elevation) * np.sin(azimuth)
    way[1, 2] = position[2] + length * np.sin(elevation)


@kernel(
    types.UniTuple(float64, 2)(
        MATRIX, VECTOR, types.UniTuple(MATRIX, 2), LIMITS, types.UniTuple(float64, 5), _FLAG, MATRIX
    ),
    turn=WHEN_CALLED,
)
def _try_ray(start, aim, obstacles, limits, ray, tried, out):
    """Cost and duration of the best motion along a ray; infinite if it is not free.

    ray: azimuth, elevation, length, the clearance at the beginning, and the one to keep from points. tried: (1,)
    whether the motions along the same ray of twice the length were tried; those to its half and to its quarter are the
    first two of this one. It is set if they are tried now."""
    near, movers = obstacles
    bounds = MotionLimits(*limits)
    way, samples = np.empty((2, 3)), np.empty((PIECES + 1, 3))
    _, _, length, begin, room = ray
    keep = with_room(limits, room) if room > bounds.radius else limits
    _ray(start[0], ray, way)
    # a ray that movers cross may still be flown behind them, so only the motion itself is checked against these
    if not is_clear(way, length / bounds.speed, near, movers[:0], keep, begin):
        return np.inf, -1.0
    best, found = np.inf, -1.0
    trial, end = np.empty((7, 3)), np.empty(3)
    first, tried[0] = ENDS - 1 if tried[0] else 0, True
    for part in range(first, ENDS):
        # a motion that ends sooner begins faster; the next plan goes on from there
        if part > 0 and length < SHORTEST * 2.0**part:
            break
        for axis in range(3):
            end[axis] = way[0, axis] + (way[1, axis] - way[0, axis]) / 2.0**part
        duration = quickest(start, end, limits, trial)
        if duration < 0.0:
            continue
        cost = _cost(trial, duration, aim, limits, movers.shape[0] > 0)
        sample_positions(trial, samples)
        if cost >= best or not is_clear(samples, duration, near, movers[:0], keep, begin):
            continue
        # movers have a margin of their own
        if movers.shape[0] == 0 or is_clear(samples, duration, near[:0], movers, limits, begin):
            best, found = cost, duration
            out[:] = trial
    return best, found


@kernel(
    float64(
        int64,
        MATRIX,
        VECTOR,
        types.UniTuple(MATRIX, 2),
        LIMITS,
        types.UniTuple(float64, 3),
        types.Tuple((_FLAG, MATRIX)),
    ),
    turn=WHEN_CALLED,
)
def _try_pair(pair, start, aim, obstacles, limits, given, kept):
    """The duration of the cheaper free motion of a pair of rays beside the aim, or -1.

    given: the length of the rays, the clearance at the beginning, and the one to keep. kept: by side, see `_try_ray`,
    and the motion."""
    tried, out = kept
    length, begin, room = given
    dx, dy, dz = aim[0] - start[0, 0], aim[1] - start[0, 1], aim[2] - start[0, 2]
    azimuth, elevation = np.arctan2(dy, dx), np.arctan2(dz, np.sqrt(dx * dx + dy * dy))
    angle, trial = (pair // 2) * TURN, np.empty((7, 3))
    best, found = np.inf, -1.0
    for side in range(2 if pair > 1 else 1 - pair):
        turn = angle if side == 0 else -angle
        if pair % 2 == 0:
            ray = (azimuth + turn, elevation, length, begin, room)
        else:
            ray = (azimuth, elevation + turn, length, begin, room)
        cost, duration = _try_ray(start, aim, obstacles, limits, ray, tried[side : side + 1], trial)
        if cost < best:
            best, found = cost, duration
            out[:] = trial
    return found


@kernel(
    types.UniTuple(float64, 2)(
        MATRIX, VECTOR, types.UniTuple(MATRIX, 2), LIMITS, types.UniTuple(float64, 3), _FLAGS_OF_BOTH, MATRIX
    ),
    turn=WHEN_CALLED,
)
def _look_around(start, aim, obstacles, limits, given, tried, out):
    """Rays of one length in rounds around the aim: left and right, then up and down, each round at a larger angle.

    given: see `_try_pair`; tried: (2, pairs, sides), first with little room, then with much. Returns the duration of
    the cheaper motion of the first free pair and the clearance that it keeps, or -1. If a pair not much farther from
    the aim has a motion that keeps the room of `given`, it is that one."""
    radius = MotionLimits(*limits).radius
    length, begin, room = given
    first, found, trial = 0, -1.0, np.empty((7, 3))
    for pair in range(2 * ROUNDS):
        if found < 0.0:
            first = pair
            found = _try_pair(pair, start, aim, obstacles, limits, (length, begin, radius), (tried[0, pair], out))
        if found < 0.0:
            # what is not free with little room is not with much
            continue
        if room <= radius or pair > first + FARTHER:
            break
        duration = _try_pair(pair, start, aim, obstacles, limits, given, (tried[1, pair], trial))
        if duration > 0.0:
            out[:] = trial
            return duration, room
    return found, radius


@kernel(types.Tuple((float64, boolean))(MATRIX, VECTOR, MATRIX, MATRIX, LIMITS, MATRIX), turn=WHEN_CALLED)
def find_motion(start, aim, cloud, movers, limits, out):
    """Discrete angular search: the duration of the best motion towards `aim` or beside it, or -1 if nothing is free.

    Also whether it keeps `room` from all points."""
    bounds = MotionLimits(*limits)
    gathered = np.empty_like(cloud)
    near = gathered[: gather_near(cloud, start[0], bounds.reach + bounds.room + 0.1, gathered)]
    begin = nearest_distance(near, start[0])
    away = np.sqrt((aim[0] - start[0, 0]) ** 2 + (aim[1] - start[0, 1]) ** 2 + (aim[2] - start[0, 2]) ** 2)
    # a goal between obstacles is not reached with more room than it has itself
    room = min(bounds.room, nearest_distance(near, aim) - ROOM_STEP) if away <= bounds.reach else bounds.room
    tried = np.zeros((2, 2 * ROUNDS, 2), np.bool_)
    for shortening in range(LENGTHS):
        length = min(away, bounds.reach) / 2**shortening
        if length < SHORTEST and shortening > 0:
            break
        duration, kept = _look_around(start, aim, (near, movers), limits, (length, begin, room), tried, out)
        if duration > 0.0:
            return duration, kept >= bounds.room
    return -1.0, False


@inlined
def _gap_at_end(samples, duration, near, movers):
    """m to anything at the end of a motion, and to movers during it."""
    return min(nearest_distance(near, samples[samples.shape[0] - 1]), gap_to_movers(samples, duration, movers))


@kernel(float64(MATRIX, LIMITS, MATRIX), turn=WHEN_CALLED)
def _shortest_stop(start, limits, out):
    """The motion to rest that needs little room. A stop in t seconds takes about half the way at present speed.

    The way back from its farthest point counts as well: a vehicle that stops must not fly to where it does not look."""
    bounds = MotionLimits(*limits)
    end, found, least = np.empty(3), -1.0, np.inf
    trial, samples = np.empty((7, 3)), np.empty((PIECES + 1, 3))
    speed = np.sqrt(start[1, 0] ** 2 + start[1, 1] ** 2 + start[1, 2] ** 2)
    # a vehicle that was blown away is faster than it would ever fly, and stops later
    part = 0.05 * max(1.0, speed / bounds.speed)
    for step in range(31):
        for axis in range(3):
            end[axis] = start[0, axis] + part * step * start[1, axis]
        duration = quickest(start, end, limits, trial)
        if duration < 0.0:
            continue
        sample_positions(trial, samples)
        room = 0.0
        for i in range(PIECES + 1):
            room = max(room, nearest_distance(samples[i : i + 1], start[0]))
        gone = part * step * speed
        # where all need none, the quickest
        cost = 2.0 * room - gone + 1e-3 * duration
        if cost < least:
            least, found = cost, duration
            out[:] = trial
    if found < 0.0:
        # no stop keeps to the limits, as in a hard blow; any stop is better than none
        found = 2.0 * speed / bounds.acceleration + 1.0
        for axis in range(3):
            end[axis] = start[0, axis] + 0.5 * found * start[1, axis]
        primitive(start, end, found, out)
    return found


@kernel(types.Tuple((float64, int64))(MATRIX, MATRIX, MATRIX, LIMITS, MATRIX), turn=WHEN_CALLED)
def find_backup(start, cloud, movers, limits, out):
    """Duration and kind of the motion for when nothing is free: stop or stay, or back off from what is too near."""
    bounds = MotionLimits(*limits)
    gathered = np.empty_like(cloud)
    near = gathered[: gather_near(cloud, start[0], bounds.reach + bounds.radius + 0.1, gathered)]
    begin = nearest_distance(near, start[0])
    samples, trial, end, ray = np.empty((PIECES + 1, 3)), np.empty((7, 3)), np.empty(3), np.empty((2, 3))
    stop = _shortest_stop(start, limits, out)
    speed = np.sqrt(start[1, 0] ** 2 + start[1, 1] ** 2 + start[1, 2] ** 2)
    kind = BRAKE if speed > 0.05 else HOVER
    sample_positions(out, samples)
    # of ends, only the points around them matter: a quarter of the cloud
    farthest = max(FARTHEST_BACK, nearest_distance(samples[PIECES:], start[0])) + bounds.radius + 0.15
    gathered_close = np.empty_like(near)
    close = gathered_close[: gather_near(near, start[0], farthest, gathered_close)]
    best = _gap_at_end(samples, stop, close, movers)
    if best >= bounds.radius:
        return stop, kind
    best += ENOUGH
    for number in range(3 * 16 * 3):
        azimuth, elevation = (number % 16) * 2.0 * TURN, (number // 16 % 3 - 1) * 4.0 * TURN
        length = FARTHEST_BACK * 0.5 ** (2 - number // 48)
        end[0] = start[0, 0] + length * np.cos(elevation) * np.cos(azimuth)
        end[1] = start[0, 1] + length * np.cos(elevation) * np.sin(azimuth)
        end[2] = start[0, 2] + length * np.sin(elevation)
        if min(nearest_distance(close, end), bounds.radius + 0.1) <= best:
            continue
        ray[0], ray[1] = start[0], end
        # the straight line is quickly checked, and nobody backs off through a wall
        if not is_clear(ray, 1.0, close, movers[:0], limits, begin):
            continue
        duration = quickest(start, end, limits, trial)
        if duration < 0.0:
            continue
        sample_positions(trial, samples)
        gap = min(_gap_at_end(samples, duration, close, movers), bounds.radius + 0.1)
        if gap > best and is_clear(samples, duration, near, movers[:0], limits, begin):
            best, stop, kind = gap, duration, BACK_OFF
            out[:] = trial
    return stop, kind


@kernel(boolean(MATRIX, types.UniTuple(float64, 2), MATRIX, MATRIX, LIMITS), turn=WHEN_CALLED)
def stays_clear(c, times, cloud, movers, limits):
    """Whether the rest of a motion is still free; times: its duration and the seconds of it that are over."""
    bounds = MotionLimits(*limits)
    duration, over = times
    rest = max(duration - over, 0.01)
    samples, state = np.empty((PIECES + 1, 3)), np.empty((4, 3))
    for piece in range(PIECES + 1):
        derivatives(c, duration, over + rest * piece / PIECES, state)
        samples[piece] = state[0]
    gathered = np.empty_like(cloud)
    near = gathered[: gather_near(cloud, samples[0], bounds.reach + bounds.radius + 0.1, gathered)]
    return is_clear(samples, rest, near, movers, limits, nearest_distance(near, samples[0]))
