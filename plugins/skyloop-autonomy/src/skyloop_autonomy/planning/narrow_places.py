"""The way through a narrow place, such as a door: along its middle, as the newest points around the vehicle show it.

The cells of the map are 0.2 m wide, and the points of a way are the middles of cells. In a door of 1 m, 0.1 m to one
side is more than the vehicle has to spare."""

from __future__ import annotations

import numpy as np

from skyloop_client.messages import Array

AHEAD = 2.0
"""m of the way that are moved to the middle."""
APART = 0.1
"""m between the points of it."""
LEVEL = 0.3
"""m above and below the way within which points count; a lintel is on neither side."""
WIDEST = 1.0
"""m to each side; where a place is wider, its middle does not matter."""
SPARE = 0.15
"""m to each side beyond the room that is asked for; with more to spare, keeping to the middle is not needed."""
TIMES = 3
"""How often points are moved; once moved, other points may be the nearest ones."""


def through_the_middle(points: Array, position: Array, cloud: Array, room: float) -> Array | None:
    """(n, 3) m: the next metres of a way from where it passes `position`, moved between what is on both sides.

    points: (m, 3) m, the way; cloud: (n, 3) m. None if no place is near that offers hardly more than `room`."""
    way = _sampled(points, position)
    if len(way) < 2:
        return None
    low, high = way.min(axis=0) - WIDEST, way.max(axis=0) + WIDEST
    near = cloud[((cloud[:, :2] > low[:2]) & (cloud[:, :2] < high[:2])).all(axis=1)]
    ahead = np.gradient(way[:, :2], axis=0)
    ahead /= np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-9)
    aside = np.column_stack([-ahead[:, 1], ahead[:, 0]])
    narrow = False
    for _ in range(TIMES):
        left, right = _gaps(way, aside, near)
        narrow = narrow or bool((left + right < 2.0 * (room + SPARE)).any())
        # to the middle, or as far from a side as matters where the other side is far away
        half = 0.5 * (np.minimum(left, 2.0 * WIDEST) - np.minimum(right, 2.0 * WIDEST))
        push = np.clip(half, -np.maximum(WIDEST - left, 0.0), np.maximum(WIDEST - right, 0.0))
        way[:, :2] += aside * push[:, None]
    return way if narrow else None


def _sampled(points: Array, position: Array) -> Array:
    """Points `APART` along the way, from its point nearest to `position` on."""
    if len(points) < 2:
        return points
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    along = np.concatenate([[0.0], np.cumsum(lengths)])
    at = np.arange(0.0, min(along[-1], 2.0 * AHEAD) + 1e-9, APART)
    way = np.column_stack([np.interp(at, along, points[:, axis]) for axis in range(3)])
    first = int(np.argmin(np.linalg.norm(way - position, axis=1)))
    return way[first : first + round(AHEAD / APART) + 1]


def _gaps(way: Array, aside: Array, near: Array) -> tuple[Array, Array]:
    """(n,) m from each point of a way to the nearest point on its left and on its right; infinite without any."""
    offset = near[None] - way[:, None]
    away = np.hypot(offset[..., 0], offset[..., 1])
    away = np.where(np.abs(offset[..., 2]) <= LEVEL, away, np.inf)
    side = np.einsum("nmk,nk->nm", offset[..., :2], aside)
    left = np.where(side > 0.0, away, np.inf).min(axis=1, initial=np.inf)
    right = np.where(side <= 0.0, away, np.inf).min(axis=1, initial=np.inf)
    return left, right
