"""Checks of depth noise in front of one wall: of our camera, and of a synthetic IR pair, also at three brightnesses
(Fig. 10 of papers/depth-noise-and-rotor-drag)."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.sensors.depth_camera import DepthCamera
from skyloop.world.materials import MATERIAL_ID, MATERIALS
from skyloop.world.views import View
from skyloop_client.messages import Array
from skyloop_papers.depth_noise.fits import Laws, core_sd, error_sd, fit_laws, kim_sigma, r_squared
from skyloop_papers.depth_noise.stereo import (
    LENS,
    MATERIAL_NAMES,
    STRIP,
    Walls,
    in_front_of,
    matched_depth,
    shoot_pair,
    shoot_pairs,
)
from skyloop_papers.experiment import Cell
from skyloop_papers.one_view import OneView

GROWTH = {name: MATERIALS[MATERIAL_ID[name]].depth_noise for name in MATERIAL_NAMES}
"""1/m, from Table 1."""
DISTANCES = np.round(0.5 + 0.01 * np.arange(751), 2)
"""m, section 2.2."""
PUBLISHED_R2 = {"plastic": 0.26049, "cement": 0.7126, "formboard": 0.5438}
"""Table 1: a real D435 against eq. (4)."""
PUBLISHED_MEAN_R2 = {3.0: 0.92, 6.0: 0.73, 8.0: 0.6204}
"""Mean of the three materials from 0.5 m to this distance in m."""
PUBLISHED_TIME = 12.1
"""ms."""
PUBLISHED_ZEROS = 0.01
RENDER_EVERY = 10
"""Only every so many positions are rendered. In between, the image gets the new distance."""
STEREO_DISTANCES = np.arange(0.5, 8.1, 0.25)
QUICK_STEREO_DISTANCES = np.array([0.5, 1.25, 2.0, 2.75, 3.5, 5.0, 6.5, 8.0])


@dataclass(frozen=True, slots=True, eq=False)
class SelfCheck:
    """Results of our depth camera in front of one wall."""

    material: str
    distance: Array
    sigma: Array
    """m, standard deviation of the errors of each image."""
    zeros: Array
    """Share of pixels without a value."""
    render_error: float
    """m, the largest error of any rendered pixel."""
    rendered: int


@dataclass(frozen=True, slots=True, eq=False)
class StereoCheck:
    """Results of the synthetic IR pair in front of one wall."""

    material: str
    distance: Array
    sigma: Array
    """m, standard deviation of the errors of each image, including mismatches."""
    core: Array
    """m, without mismatches."""
    filled: Array
    """Share of pixels with a match."""

    @property
    def laws(self) -> Laws:
        return fit_laws(self.distance, self.sigma)

    @property
    def core_laws(self) -> Laws:
        """Fitted where most pixels match. Farther away there is no core."""
        return fit_laws(self.distance[self.has_core], self.core[self.has_core])

    @property
    def has_core(self) -> NDArray[np.bool_]:
        return np.asarray(self.filled >= 0.5)

    def r2_of_table_1(self, farthest: float) -> float:
        """R² of eq. (4) with the published m as a prediction of this σ."""
        near = self.distance <= farthest + 1e-9
        return r_squared(self.sigma[near], kim_sigma(GROWTH[self.material], self.distance[near]))


def self_check(walls: Walls, camera: DepthCamera, material: str, distances: Array) -> SelfCheck:
    key = stream_key(0, f"depth-noise/{material}")
    sigma, zeros, off, rendered = [], [], 0.0, 0
    view: View | None = None
    for index, distance in enumerate(distances):
        at = in_front_of(material, float(distance))
        if view is None or index % RENDER_EVERY == 0:
            view = walls.views(camera.requests(at, ()))[0]
            off = max(off, float(np.abs(view.depth - distance).max()))
            rendered += 1
        picture = OneView(_at_distance(view, float(distance)), walls.weather)
        depth = picture.measured(camera, at, KeyedRandom(key, index)).depth
        sigma.append(error_sd(depth, float(distance)))
        zeros.append(float(np.mean(depth == 0.0)))
    return SelfCheck(material, distances, np.array(sigma), np.array(zeros), off, rendered)


def _at_distance(view: View, distance: float) -> View:
    """The wall of this view at another distance. It is seen squarely, so its planar depth is the same everywhere."""
    if abs(float(view.depth[0, 0]) - distance) < 1e-3:
        return view
    surface = view.surface.copy()
    surface[..., 0] = np.float32(distance).view(np.uint32)
    return View(view.lens, view.pose, view.model, view.motion, view.colour, surface)


def stereo_check(walls: Walls, material: str, distances: Array, *, quick: bool) -> StereoCheck:
    sigma, core, filled = [], [], []
    for distance in distances:
        depth = matched_depth(shoot_pair(walls, material, float(distance), 0, STRIP if quick else LENS))
        sigma.append(error_sd(depth, float(distance)))
        core.append(core_sd(depth))
        filled.append(float(np.mean(depth > 0.0)))
    return StereoCheck(material, distances, np.array(sigma), np.array(core), np.array(filled))


def time_noise(walls: Walls, camera: DepthCamera, calls: int) -> list[Cell]:
    """The median time of many calls, from a rendered view with known materials to the finished image."""
    at = in_front_of("cement", 4.0)
    picture = OneView(walls.views(camera.requests(at, ()))[0], walls.weather)
    wall, cpu = [], []
    for index in range(calls + 5):
        rng = KeyedRandom(stream_key(0, "depth-noise/time"), index)
        began, began_cpu = time.perf_counter(), time.thread_time()
        picture.measured(camera, at, rng)
        cpu.append(1e3 * (time.thread_time() - began_cpu))
        wall.append(1e3 * (time.perf_counter() - began))
    cells = []
    for row, taken in (("time for one 460 × 320 image", wall[5:]), ("the same, CPU time", cpu[5:])):
        conditions = {"fastest_ms": min(taken), "measured": "median, one thread", "paper": "i7-10750H laptop"}
        median, sd = float(np.median(taken)), float(np.std(taken))
        cells.append(Cell("text", row, "", PUBLISHED_TIME, median, "ms", calls, sd, conditions))
    return cells


# ---- three brightnesses

LUX = (160.0, 230.0, 300.0)
LIGHT_DISTANCES, QUICK_LIGHT_DISTANCES = np.linspace(0.5, 8.0, 29), np.array([1.0, 3.0, 8.0])
"""m: 29 distances, as in the paper."""
SHOTS, QUICK_SHOTS = 5, 2
PUBLISHED_LIGHT_R2 = 0.74
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
    distances, shots = (QUICK_LIGHT_DISTANCES, QUICK_SHOTS) if quick else (LIGHT_DISTANCES, SHOTS)
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
    cells.append(Cell.mean("Fig. 10", row, column, PUBLISHED_LIGHT_R2, fits, "1"))
    means = np.array([check.mean for check in checks])
    off = np.abs(means / means.mean(axis=0) - 1.0)
    for which, value in (("median", float(np.median(off))), ("largest", float(off.max()))):
        column = f"σ at one light against the mean of three, {which} difference"
        cells.append(Cell("Fig. 10", row, column, None, value, "1", off.size))
    return cells
