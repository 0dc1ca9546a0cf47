"""One flight around the rectangle: truth, estimate and GNSS fixes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skyloop_client.messages import Array


@dataclass(frozen=True, slots=True, eq=False)
class Flown:
    """One flight, from the first corner to the last."""

    seed: int
    t: Array
    """(n,) s."""
    truth: Array
    """(n, 3) m, world."""
    estimate: Array
    """(n, 3) m, world."""
    fixes: Array
    """(m, 2) m east and north, of the GNSS receiver."""
    corners: Array
    """(4, 3) m, world."""
    duration: float
    """s from arming to disarming."""
    whole: Array
    """(k, 2) m east and north, the true track from arming to disarming."""
    passed: tuple[float, ...]
    """s when corners 2, 3, 4 counted as reached."""

    @property
    def cross_track(self) -> Array:
        """(n,) m, horizontal distance from the nearest side of the rectangle."""
        return distance_to_rectangle(self.truth[:, :2], self.corners[:, :2])

    @property
    def misses(self) -> Array:
        """(4,) m: the smallest horizontal distance from each corner."""
        away = np.linalg.norm(self.truth[:, None, :2] - self.corners[None, :, :2], axis=2)
        return np.asarray(away.min(axis=0))

    @property
    def estimate_error(self) -> float:
        """m rms, horizontal."""
        return float(np.sqrt(np.mean(np.sum((self.truth - self.estimate)[:, :2] ** 2, axis=1))))

    @property
    def height_error(self) -> float:
        """m rms, relative to the mission's height."""
        return float(np.sqrt(np.mean((self.truth[:, 2] - self.corners[0, 2]) ** 2)))


def distance_to_rectangle(points: Array, corners: Array) -> Array:
    """(n,) m from (n, 2) points to the nearest side of a closed polygon."""
    nearest = np.full(len(points), np.inf)
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        side = end - start
        along = np.clip((points - start) @ side / (side @ side), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(points - start - along[:, None] * side, axis=1))
    return nearest
