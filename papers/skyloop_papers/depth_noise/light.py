"""Fig. 10 of papers/depth-noise-and-rotor-drag: a cement wall at three brightnesses, five images per distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skyloop_client.messages import Array
from skyloop_papers.depth_noise.fits import error_sd, fit_laws, kim_sigma, r_squared
from skyloop_papers.depth_noise.stereo import LENS, STRIP, matched_depth, shoot_pairs
from skyloop_papers.depth_noise.walls import Walls
from skyloop_papers.experiment import Cell

LUX = (160.0, 230.0, 300.0)
DISTANCES, QUICK_DISTANCES = np.linspace(0.5, 8.0, 29), np.array([1.0, 3.0, 8.0])
"""m: 29 distances, as in the paper."""
SHOTS, QUICK_SHOTS = 5, 2
PUBLISHED_MEAN_R2 = 0.74
"""R² of eq. 4 with m = 0.5 for a real D435, mean of the three rooms."""
SHOWN = (2.0, 4.0, 8.0)
"""Distances in m whose σ is in the results."""


@dataclass(frozen=True, slots=True, eq=False)
class LightCheck:
    """The synthetic IR pair in front of cement, in a room of one brightness."""

    lux: float
    distance: Array
    """(n,) m."""
    sigma: Array
    """(n, shots) m, standard deviation of the errors of each image."""

    @property
    def mean(self) -> Array:
        """(n,) m."""
        return np.asarray(self.sigma.mean(axis=1))


def check_light(walls: Walls, *, quick: bool) -> list[LightCheck]:
    distances, shots = (QUICK_DISTANCES, QUICK_SHOTS) if quick else (DISTANCES, SHOTS)
    lens = STRIP if quick else LENS
    checks = []
    for lux in LUX:
        sigma = []
        for distance in distances:
            pairs = shoot_pairs(walls, "cement", float(distance), range(shots), lens, lux=lux)
            sigma.append([error_sd(matched_depth(pair), float(distance)) for pair in pairs])
        checks.append(LightCheck(lux, distances, np.array(sigma)))
    return checks


def light_cells(checks: list[LightCheck], growth: float) -> list[Cell]:
    """R² of eq. 4 as a prediction of σ at each brightness, and the influence of the brightness."""
    cells, fits = [], []
    for check in checks:
        n, lit = len(check.distance), f"synthetic stereo, cement at {check.lux:g} lx"
        fits.append(r_squared(check.mean, kim_sigma(growth, check.distance)))
        near = [int(np.argmin(np.abs(check.distance - d))) for d in SHOWN]
        conditions = {
            "distance": check.distance.tolist(),
            "sigma": check.mean.tolist(),
            "shots": check.sigma.shape[1],
            "at": [float(check.distance[k]) for k in near],
            "sigma_at": [float(check.mean[k]) for k in near],
        }
        spread = float(np.median(check.sigma.std(axis=1) / check.mean))
        cells += [
            Cell("Fig. 10", lit, f"R² of eq. 4 with m = {growth}", None, fits[-1], "1", n, None, conditions),
            Cell("Fig. 10", lit, "m fitted", None, fit_laws(check.distance, check.mean).growth, "1/m", n),
            Cell("Fig. 10", lit, "scatter of σ from image to image, median", None, spread, "1", n),
        ]
    row, column = "synthetic stereo, cement", f"mean R² of eq. 4 with m = {growth} at three lights"
    cells.append(
        Cell("Fig. 10", row, column, PUBLISHED_MEAN_R2, float(np.mean(fits)), "1", len(fits), float(np.std(fits)))
    )
    means = np.array([check.mean for check in checks])
    off = np.abs(means / means.mean(axis=0) - 1.0)
    for which, value in (("median", float(np.median(off))), ("largest", float(off.max()))):
        column = f"σ at one light against the mean of three, {which} difference"
        cells.append(Cell("Fig. 10", row, column, None, value, "1", off.size))
    return cells
