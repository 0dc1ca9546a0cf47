"""The computations on depth images of section 2.3 of papers/depth-noise-and-rotor-drag, and the two laws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from skyloop.sensors.depth_camera import KIM_SCALE
from skyloop_client.messages import Array


def error_sd(depth: NDArray[Any], distance: float) -> float:
    """m, standard deviation of eq. (3)'s errors over the valid pixels. nan if there are fewer than two."""
    errors = depth[depth > 0.0].astype(np.float64) - distance
    return float(np.std(errors)) if errors.size > 1 else float("nan")


def core_sd(depth: NDArray[Any]) -> float:
    """m, from the median absolute deviation, which ignores the mismatches."""
    values = depth[depth > 0.0]
    return float(1.4826 * np.median(np.abs(values - np.median(values)))) if values.size > 1 else float("nan")


def kim_sigma(growth: float | Array, distance: Array) -> Array:
    """m, eq. (4)."""
    return KIM_SCALE * np.exp(growth * distance)


def cut_sigma(sigma: Array, distance: Array, low: float, high: float) -> Array:
    """m, standard deviation of a normal error after values outside `low` to `high` m are discarded."""
    a, b = (low - distance) / sigma, (high - distance) / sigma
    at_a, at_b = (np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi) for x in (a, b))
    kept = ndtr(b) - ndtr(a)
    return np.asarray(sigma * np.sqrt(1.0 + (a * at_a - b * at_b) / kept - ((at_a - at_b) / kept) ** 2))


def r_squared(observed: Array, predicted: Array) -> float:
    """Coefficient of determination, 1 - SS_res / SS_tot. It is negative if the mean predicts better."""
    return float(1.0 - np.sum((observed - predicted) ** 2) / np.sum((observed - np.mean(observed)) ** 2))


@dataclass(frozen=True, slots=True)
class Laws:
    """Both laws with one free parameter each, fitted to sigma over distance by least squares."""

    growth: float
    """1/m, m of 0.005·exp(m·d)."""
    growth_r2: float
    square: float
    """1/m, a of a·d²."""
    square_r2: float
    power: float
    """p of c·d^p, fitted to the logarithms."""

    def disparity_sd(self, across: float) -> float:
        """px, the constant matching error that corresponds to a·d². `across` is baseline times focal length, m·px."""
        return self.square * across


def fit_laws(distance: Array, sigma: Array) -> Laws:
    grid, step = np.linspace(-1.0, 3.0, 401), 0.01
    for _ in range(4):
        loss = np.sum((kim_sigma(grid[:, None], distance) - sigma) ** 2, axis=1)
        growth = float(grid[np.argmin(loss)])
        grid, step = growth + step * np.linspace(-1.0, 1.0, 41), step / 20.0
    square = float(np.sum(sigma * distance**2) / np.sum(distance**4))
    positive = sigma > 0.0
    power = float(np.polyfit(np.log(distance[positive]), np.log(sigma[positive]), 1)[0])
    return Laws(
        growth,
        r_squared(sigma, kim_sigma(growth, distance)),
        square,
        r_squared(sigma, square * distance**2),
        power,
    )
