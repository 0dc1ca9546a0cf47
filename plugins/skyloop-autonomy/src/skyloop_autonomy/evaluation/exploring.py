"""A round through a world that the seed chooses: from a start through places all over the world and back to it."""

from __future__ import annotations

import numpy as np

from skyloop.world.generation import generator
from skyloop_autonomy.evaluation.free_space import FreeSpace
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

TRIES = 400
"""Rounds that are drawn before it gives up."""
SHORTEST_LEG = 0.6
"""m; corners that are nearer are joined, because a stop at each would take longer than the way."""


def way_length(points: Array) -> float:
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def exploring_round(space: FreeSpace, start: Array, length: float, seed: int, *, within: float = 0.03) -> Array:
    """(n, 2) m, corners of a round of `length` m, give or take a share `within`, that begins and ends at `start`."""
    chance = generator(seed, "exploring")
    start = np.asarray(start, float)[:2]
    places = space.ways_from(start).reachable
    if len(places) < 100:
        raise ScenarioError(f"only {len(places)} cells can be reached from ({start[0]:g}, {start[1]:g})")
    best: Array | None = None
    for _ in range(TRIES):
        found = _one_round(space, start, length, places, chance)
        if best is None or abs(way_length(found) - length) < abs(way_length(best) - length):
            best = found
        if abs(way_length(best) - length) <= within * length:
            return best
    assert best is not None
    raise ScenarioError(f"no round of {length:g} m was found; the nearest has {way_length(best):.1f} m")


def _one_round(space: FreeSpace, start: Array, length: float, places: Array, chance: np.random.Generator) -> Array:
    """Goes to places far from those it has seen until the way back is all that is left."""
    home = space.ways_from(start)
    way, here, seen = start[None, :], home, [start]
    for _ in range(50):
        candidates = places[chance.integers(len(places), size=8)]
        apart = np.linalg.norm(candidates[:, None, :] - np.array(seen)[None, :, :], axis=2).min(axis=1)
        for goal in candidates[np.argsort(-apart)]:
            there, back = here.to(goal), home.to(goal)[::-1]
            total = way_length(way) + way_length(there) + way_length(back)
            if total <= 1.02 * length:
                way = np.vstack([way, there[1:]])
                here, seen = space.ways_from(goal), [*seen, goal]
                break
        else:
            break
        if way_length(way) + way_length(back) >= 0.98 * length:
            break
    whole = np.vstack([way, home.to(way[-1])[::-1][1:]])
    whole[0] = whole[-1] = start
    return without_short_legs(space, whole)


def without_short_legs(space: FreeSpace, points: Array) -> Array:
    """Leaves out corners that are close to their neighbour, where the straight line past them is free."""
    kept = [points[0]]
    for number in range(1, len(points) - 1):
        near = min(np.linalg.norm(points[number] - kept[-1]), np.linalg.norm(points[number + 1] - points[number]))
        past = space.clearance_along(kept[-1], points[number + 1])
        if near >= SHORTEST_LEG or past < space.clearance:
            kept.append(points[number])
    return np.array([*kept, points[-1]])
