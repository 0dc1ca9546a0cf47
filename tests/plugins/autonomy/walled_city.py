"""A city of axis-parallel walls, and sweeps of a level LiDAR in it, in closed form."""

from __future__ import annotations

import numpy as np

from skyloop_client.messages import Array

WALLS = np.array(
    [
        # x0, y0, x1, y1 in m; each is a line along x or y
        (-12.0, -8.0, 14.0, -8.0),
        (-12.0, 9.0, 14.0, 9.0),
        (-12.0, -8.0, -12.0, 9.0),
        (14.0, -8.0, 14.0, 9.0),
        (3.0, 2.0, 7.0, 2.0),
        (3.0, 2.0, 3.0, 6.0),
        (3.0, 6.0, 7.0, 6.0),
        (7.0, 2.0, 7.0, 6.0),
        (-6.0, -5.0, -6.0, -1.0),
    ]
)


def sweep(pose: Array, beams: int = 360, noise: Array | None = None, walls: Array = WALLS) -> Array:
    """(n, 2) m, level axes of the body: where each beam meets the nearest wall."""
    angles = np.arange(beams) * 2.0 * np.pi / beams
    c, s = np.cos(angles + pose[2])[:, None], np.sin(angles + pose[2])[:, None]
    x0, y0, x1, y1 = walls.T
    with np.errstate(divide="ignore", invalid="ignore"):
        along_y = x0 == x1
        range_ = np.where(along_y, (x0 - pose[0]) / c, (y0 - pose[1]) / s)
        met = np.where(along_y, pose[1] + range_ * s, pose[0] + range_ * c)
    inside = (met >= np.where(along_y, y0, x0)) & (met <= np.where(along_y, y1, x1)) & (range_ > 0.0)
    ranges = np.where(inside, range_, np.inf).min(axis=1)
    if noise is not None:
        ranges = ranges + noise
    kept = np.isfinite(ranges)
    return np.asarray(ranges[kept, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)[kept])


def placed(points: Array, pose: Array) -> Array:
    """From the body's level axes to the world's."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return np.asarray(pose[:2] + points @ np.array([[c, s], [-s, c]]))


def motion_between(before: Array, after: Array) -> Array:
    c, s = np.cos(before[2]), np.sin(before[2])
    x, y, turn = after - before
    return np.array([c * x + s * y, -s * x + c * y, turn])
