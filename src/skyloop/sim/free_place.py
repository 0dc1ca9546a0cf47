"""A place for a new vehicle where it overlaps neither another vehicle nor anything else that is solid."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from skyloop.core.frames import rotate
from skyloop.world.rays import RayHits
from skyloop_client.messages import Array

Cast = Callable[[Array, Array, float], RayHits]
CLEARANCE = 0.5
"""m between a vehicle that was moved aside and the others, so that both can take off."""
STEPS = 12
"""The number of distances at which a place is searched, each one width of the vehicle further away."""
ABOVE_GROUND = 0.05
"""m over its lowest point in which a vehicle may be in touch with the ground it stands on."""
SIDES = ((0.0, -1.0), (0.0, 1.0), (-1.0, 0.0), (1.0, 0.0), (-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0))
"""Right, left, behind, ahead, and between these; x forward and y left."""
UP = np.array([0.0, 0.0, 1.0])
CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
LINES = np.array(list(combinations(range(8), 2)))
"""Every line between two corners of a box."""


def free_place(box: Array, taken: list[Array], cast: Cast, position: Array, quat_wxyz: Array) -> Array:
    """The position itself if it is free, else the nearest free one: first beside it at its height, then above it.

    If there is none, the position itself. `box`: (2, 3) lowest and highest corner of the vehicle, body axes. `taken`:
    boxes of other vehicles, (2, 3), world axes.
    """
    low, high = world_box(box, np.zeros(3), quat_wxyz)

    def is_free(at: Array, clearance: float) -> bool:
        a, b = at + low, at + high
        for other_low, other_high in taken:
            if ((a < other_high + clearance) & (b > other_low - clearance)).all():
                return False
        own = _corners(a + ABOVE_GROUND * UP, b)
        starts, ways = own[LINES[:, 0]], own[LINES[:, 1]] - own[LINES[:, 0]]
        lengths = np.linalg.norm(ways, axis=1)
        hits = cast(starts, ways / lengths[:, None], float(lengths.max()))
        return not bool((hits.distance < lengths).any())

    if is_free(position, 0.0):
        return position
    width, height = float((high - low)[:2].max()) + CLEARANCE, float((high - low)[2]) + CLEARANCE
    sides = [rotate(quat_wxyz, [*side, 0.0]) * [1.0, 1.0, 0.0] for side in SIDES]
    beside = [position + step * width * side for step in range(1, STEPS + 1) for side in sides]
    above = [position + step * height * UP for step in range(1, STEPS + 1)]
    return next((at for at in beside + above if is_free(at, 0.9 * CLEARANCE)), position)


def world_box(box: Array, position: Array, quat_wxyz: Array) -> Array:
    """(2, 3) lowest and highest corner in world axes of a body's box at a pose."""
    corners = position + rotate(quat_wxyz, _corners(*box))
    return np.array([corners.min(axis=0), corners.max(axis=0)])


def _corners(low: Array, high: Array) -> Array:
    return np.asarray(low + CORNERS * (high - low))
