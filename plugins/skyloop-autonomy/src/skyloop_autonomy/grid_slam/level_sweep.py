"""A sweep of a LiDAR as one level ring of points: motion taken out, levelled, and one point per direction kept."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float32, float64, int64
from numpy.typing import ArrayLike

from skyloop.core.jit import kernel, record_type
from skyloop_client.messages import Array

BINS = 720
"""Directions of a ring."""


class SweepMotion(NamedTuple):
    """Of the body at the end of a sweep, and the mount of the LiDAR."""

    world_from_body: Array
    """(3, 3)."""
    angular_velocity_body: Array
    velocity_world: Array
    heading: float
    body_from_sensor: Array
    """(3, 3)."""
    mount: Array
    """(3,) m, body axes."""


class SweepSlab(NamedTuple):
    """The points that count: m over the body origin, m away from it in the plane."""

    lowest: float
    highest: float
    nearest: float
    furthest: float


MOTION = record_type(
    SweepMotion,
    world_from_body=float64[:, ::1],
    angular_velocity_body=float64[::1],
    velocity_world=float64[::1],
    heading=float64,
    body_from_sensor=float64[:, ::1],
    mount=float64[::1],
)
SLAB = record_type(SweepSlab, lowest=float64, highest=float64, nearest=float64, furthest=float64)


@kernel(int64(float32[:, ::1], int64[::1], MOTION, SLAB, float64[:, ::1]))
def _level(points, offsets_ns, moved, kept, ring):
    """ring: (BINS, 2). In each direction the point nearest to the middle of the slab; returns how many there are."""
    motion, slab = SweepMotion(*moved), SweepSlab(*kept)
    R, B, w, v = motion.world_from_body, motion.body_from_sensor, motion.angular_velocity_body, motion.velocity_world
    middle = 0.5 * (slab.lowest + slab.highest)
    c, s = np.cos(motion.heading), np.sin(motion.heading)
    best = np.full(BINS, np.inf)
    for k in range(points.shape[0]):
        dt = 1e-9 * offsets_ns[k]
        x = B[0, 0] * points[k, 0] + B[0, 1] * points[k, 1] + B[0, 2] * points[k, 2] + motion.mount[0]
        y = B[1, 0] * points[k, 0] + B[1, 1] * points[k, 1] + B[1, 2] * points[k, 2] + motion.mount[1]
        z = B[2, 0] * points[k, 0] + B[2, 1] * points[k, 1] + B[2, 2] * points[k, 2] + motion.mount[2]
        # the turn since the firing is a few hundredths of a radian: its first and second order are enough
        tx, ty, tz = dt * w[0], dt * w[1], dt * w[2]
        ax, ay, az = ty * z - tz * y, tz * x - tx * z, tx * y - ty * x
        x += ax + 0.5 * (ty * az - tz * ay)
        y += ay + 0.5 * (tz * ax - tx * az)
        z += az + 0.5 * (tx * ay - ty * ax)
        up = R[2, 0] * x + R[2, 1] * y + R[2, 2] * z + dt * v[2]
        # written so that what is not a number is left out, too
        if not slab.lowest <= up <= slab.highest:
            continue
        east = R[0, 0] * x + R[0, 1] * y + R[0, 2] * z + dt * v[0]
        north = R[1, 0] * x + R[1, 1] * y + R[1, 2] * z + dt * v[1]
        ahead, left = c * east + s * north, -s * east + c * north
        away = np.hypot(ahead, left)
        if not slab.nearest <= away <= slab.furthest:
            continue
        number = int64((np.arctan2(left, ahead) / (2.0 * np.pi) + 0.5) * BINS) % BINS
        if abs(up - middle) < best[number]:
            best[number] = abs(up - middle)
            ring[number, 0], ring[number, 1] = ahead, left
    count = 0
    for number in range(BINS):
        if best[number] < np.inf:
            ring[count] = ring[number]
            count += 1
    return count


def levelled(points: ArrayLike, offsets_ns: ArrayLike, motion: SweepMotion, slab: SweepSlab) -> Array:
    """(n, 2) m, in level axes of the body at the end of the sweep: x along its heading, y to the left."""
    ring = np.empty((BINS, 2))
    # what comes over a link may not be written, and the kernel takes no such arrays
    count = _level(
        np.require(points, np.float32, ["C", "W"]),
        np.require(offsets_ns, np.int64, ["C", "W"]),
        tuple(motion),
        tuple(slab),
        ring,
    )
    return ring[:count].copy()
