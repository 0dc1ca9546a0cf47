"""What all trackers share: targets that keep their velocity, the Kalman gain, and which measurement is whose."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from skyloop_client.messages import Array


def constant_velocity(seconds: float, size: int = 6) -> Array:
    """(size, size) transition of a state that begins with position and velocity; what follows stays as it is."""
    step = np.eye(size)
    step[:3, 3:6] = seconds * np.eye(3)
    return step


def kalman_gain(innovation_covariance: Array, slopes: Array, covariance: Array) -> Array:
    """(n, m) for a state's (n, n) covariance, measured with (m, n) slopes."""
    return np.asarray(np.linalg.solve(innovation_covariance, slopes @ covariance).T, np.float64)


def assigned(pairs: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Of pairs of tracks and measurements, or the reverse, the best pair first: who has whom, each used once."""
    chosen: dict[int, int] = {}
    taken: set[int] = set()
    for one, other in pairs:
        if one not in chosen and other not in taken:
            chosen[one] = other
            taken.add(other)
    return chosen
