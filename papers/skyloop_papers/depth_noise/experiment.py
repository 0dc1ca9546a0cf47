"""`skyloop reproduce depth-noise`: section 2 of papers/depth-noise-and-rotor-drag.

It has three separate parts: a self-check (our camera gives the σ that was configured), an independent check (a
synthetic IR pair with block matching, which does not use Kim's formula), and a comparison of the formula with stereo
theory."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.core.results import Result
from skyloop.sensors.depth_camera import DepthCamera, DepthCameraConfig
from skyloop.world.views import View, ViewRequest
from skyloop_client.errors import SkyloopError
from skyloop_client.messages import Array, Kinematics
from skyloop_papers.depth_noise.checks import DISTANCES, GROWTH, SelfCheck, StereoCheck
from skyloop_papers.depth_noise.fits import (
    core_sd,
    cut_sigma,
    error_sd,
    fit_laws,
    kim_sigma,
    r_squared,
)
from skyloop_papers.depth_noise.frames import report_on
from skyloop_papers.depth_noise.light import check_light, light_results
from skyloop_papers.depth_noise.report import write_report
from skyloop_papers.depth_noise.stereo import ACROSS, LENS, STRIP, matched_depth, shoot_pair
from skyloop_papers.depth_noise.walls import MATERIAL_NAMES, Walls, in_front_of

PAPER = "depth-noise-and-rotor-drag"
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
QUICK_EVERY = 25
CLEAR_OF_LIMITS = 6.0
"""m. Up to here noise on cement never reaches a range limit, so every zero is a random dropout."""


class _Picture:
    """A scene with a single prepared view."""

    def __init__(self, view: View, walls: Walls) -> None:
        self._view = view
        self.weather = walls.weather

    def views(self, requests: Sequence[ViewRequest]) -> list[View]:
        return [self._view]


def reproduce(*, quick: bool, folder: Path | None) -> list[Result]:
    """Run both checks and the comparison. With a folder, also write tables and a picture there."""
    camera = DepthCamera(DepthCameraConfig(preset="kim"), 1.0 / 30.0)
    with Walls() as walls:
        distances = DISTANCES[::QUICK_EVERY] if quick else DISTANCES
        checks = [self_check(walls, camera, name, distances) for name in MATERIAL_NAMES]
        stereo_distances = QUICK_STEREO_DISTANCES if quick else STEREO_DISTANCES
        stereo = [stereo_check(walls, name, stereo_distances, quick=quick) for name in MATERIAL_NAMES]
        light = check_light(walls, quick=quick)
        timing = time_noise(walls, camera, calls=100 if quick else 500)
    results = [result for check in checks for result in _self_check_results(check, camera)]
    results += [_zeros_result(checks[MATERIAL_NAMES.index("cement")]), *timing]
    results += [result for check in stereo for result in _stereo_results(check)]
    results += [_mean_result(stereo, farthest) for farthest in PUBLISHED_MEAN_R2]
    results += [_own_mean_result(), *light_results(PAPER, light, GROWTH["cement"])]
    results += [result for name in MATERIAL_NAMES for result in _theory_results(name)]
    if folder is not None:
        write_report(folder, checks, stereo, light, results)
    return results


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
        depth = _photographed(camera, at, _at_distance(view, float(distance)), walls, KeyedRandom(key, index))
        sigma.append(error_sd(depth, float(distance)))
        zeros.append(float(np.mean(depth == 0.0)))
    return SelfCheck(material, distances, np.array(sigma), np.array(zeros), off, rendered)


def _photographed(camera: DepthCamera, at: Kinematics, view: View, walls: Walls, rng: KeyedRandom) -> Any:
    return camera.measure(at, _Picture(view, walls), (), rng)[0].depth  # type: ignore[arg-type]


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


def time_noise(walls: Walls, camera: DepthCamera, calls: int) -> list[Result]:
    """The median time of many calls, from a rendered view with known materials to the finished image."""
    at = in_front_of("cement", 4.0)
    picture = _Picture(walls.views(camera.requests(at, ()))[0], walls)
    wall, cpu = [], []
    for index in range(calls + 5):
        rng = KeyedRandom(stream_key(0, "depth-noise/time"), index)
        began, began_cpu = time.perf_counter(), time.thread_time()
        camera.measure(at, picture, (), rng)  # type: ignore[arg-type]
        cpu.append(1e3 * (time.thread_time() - began_cpu))
        wall.append(1e3 * (time.perf_counter() - began))
    results = []
    for cell, taken in (("time for one 460 × 320 image", wall[5:]), ("the same, CPU time", cpu[5:])):
        conditions = {"fastest_ms": min(taken), "measured": "median, one thread", "paper": "i7-10750H laptop"}
        results.append(
            Result(PAPER, "text", cell, PUBLISHED_TIME, float(np.median(taken)), "ms", calls, float(np.std(taken)),
                   conditions)
        )  # fmt: skip
    return results


def _self_check_results(check: SelfCheck, camera: DepthCamera) -> list[Result]:
    m, n, count = GROWTH[check.material], camera.numbers, len(check.distance)
    model = kim_sigma(m, check.distance)
    cut = cut_sigma(model, check.distance, n.min_range, n.max_range)
    conditions = {
        "m": m,
        "rendered_positions": check.rendered,
        "largest_error_of_rendered_depth": check.render_error,
        "note": f"not Table 1's {PUBLISHED_R2[check.material]}, which is of a real D435",
    }
    name = f"self-check, {check.material}: "
    off = float(np.max(np.abs(check.sigma / cut - 1.0)))
    return [
        Result(PAPER, "Table 1", name + f"R² of simulated σ against eq. 4, m = {m}", None,
               r_squared(check.sigma, model), "1", count, None, conditions),
        Result(PAPER, "Table 1", name + "the same, eq. 4 cut by the camera's 0.1 to 20 m", None,
               r_squared(check.sigma, cut), "1", count, None, conditions),
        Result(PAPER, "Fig. 4", name + "largest relative error of σ against eq. 4 so cut", None, off, "1", count, None,
               conditions),
    ]  # fmt: skip


def _zeros_result(check: SelfCheck) -> Result:
    zeros = check.zeros[check.distance <= CLEAR_OF_LIMITS]
    return Result(
        PAPER, "text", "self-check: pixels without a value", PUBLISHED_ZEROS, float(np.mean(zeros)), "1", len(zeros),
        float(np.std(zeros)), {"material": check.material, "farthest": CLEAR_OF_LIMITS},
    )  # fmt: skip


def _stereo_results(check: StereoCheck) -> list[Result]:
    name, n = f"synthetic stereo, {check.material}: ", len(check.distance)
    m, laws, core = GROWTH[check.material], check.laws, check.core_laws
    conditions = {
        "distance": check.distance.tolist(),
        "sigma": check.sigma.tolist(),
        "core_sigma": check.core.tolist(),
        "filled": check.filled.tolist(),
        "paper": "a real D435 on its own wall",
    }
    cored = int(np.sum(check.has_core))
    rows: list[tuple[str, str, float | None, float, str, int]] = [
        ("Table 1", f"R² of eq. 4 with m = {m}", PUBLISHED_R2[check.material], check.r2_of_table_1(8.0), "1", n),
        ("Table 1", "m fitted", m, laws.growth, "1/m", n),
        ("Table 1", "R² of eq. 4 with m fitted", None, laws.growth_r2, "1", n),
        ("text", "R² of a·d², a fitted", None, laws.square_r2, "1", n),
        ("text", "p of c·d^p", None, laws.power, "1", n),
        ("text", "core, m fitted", None, core.growth, "1/m", cored),
        ("text", "core, R² of eq. 4", None, core.growth_r2, "1", cored),
        ("text", "core, R² of a·d²", None, core.square_r2, "1", cored),
        ("text", "core, p of c·d^p", None, core.power, "1", cored),
        ("text", "core, disparity error of a·d²", None, core.disparity_sd(ACROSS), "px", cored),
    ]
    return [
        Result(PAPER, table, name + cell, published, measured, unit, count, None, conditions)
        for table, cell, published, measured, unit, count in rows
    ]


def _mean_result(stereo: list[StereoCheck], farthest: float) -> Result:
    values = [check.r2_of_table_1(farthest) for check in stereo]
    cell = f"synthetic stereo: mean R² of eq. 4 with Table 1's m, 0.5 to {farthest:g} m"
    return Result(
        PAPER, "text", cell, PUBLISHED_MEAN_R2[farthest], float(np.mean(values)), "1", len(values),
        float(np.std(values)), {check.material: value for check, value in zip(stereo, values, strict=True)},
    )  # fmt: skip


def _own_mean_result() -> Result:
    """The paper gives 0.6204 as the mean of Table 1, but that is not its mean."""
    own = list(PUBLISHED_R2.values())
    cell = "mean of the three R² that Table 1 prints"
    return Result(
        PAPER, "Table 1", cell, PUBLISHED_MEAN_R2[8.0], float(np.mean(own)), "1", len(own), float(np.std(own))
    )


def _theory_results(material: str) -> list[Result]:
    """Eq. (4) beside σ = d²/(b f)·σ_disparity, with the b and f of the synthetic pair."""
    m, curve = GROWTH[material], kim_sigma(GROWTH[material], DISTANCES)
    laws, conditions = fit_laws(DISTANCES, curve), {"baseline_times_focal_length": ACROSS, "m": m}
    name = f"eq. 4 against stereo theory, {material}: "
    rows = [("R² of the best a·d²", laws.square_r2, "1")]
    rows += [
        (f"disparity error it implies at {d:g} m", float(kim_sigma(m, np.array(d)) * ACROSS / d**2), "px")
        for d in (0.5, 2.0, 8.0)
    ]
    return [Result(PAPER, "text", name + cell, None, value, unit, 1, None, conditions) for cell, value, unit in rows]


def main(arguments: Sequence[str]) -> None:
    """`python -m skyloop_papers.depth_noise.experiment FOLDER`: the same fits for depth images of a real camera."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.exit("usage: python -m skyloop_papers.depth_noise.experiment FOLDER (images named by distance: 1.25.png)")
    try:
        print(report_on(Path(arguments[0])))
    except SkyloopError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
