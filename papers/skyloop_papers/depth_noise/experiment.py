"""`skyloop reproduce depth-noise`: section 2 of papers/depth-noise-and-rotor-drag.

It has three separate parts: a self-check (our camera gives the σ that was configured), an independent check (a
synthetic IR pair with block matching, which does not use Kim's formula), and a comparison of the formula with stereo
theory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.sensors.depth_camera import DepthCamera, DepthCameraConfig
from skyloop_papers.depth_noise.checks import (
    DISTANCES,
    GROWTH,
    LUX,
    PUBLISHED_MEAN_R2,
    PUBLISHED_R2,
    PUBLISHED_TIME,
    PUBLISHED_ZEROS,
    QUICK_STEREO_DISTANCES,
    STEREO_DISTANCES,
    LightCheck,
    SelfCheck,
    StereoCheck,
    check_light,
    light_cells,
    self_check,
    stereo_check,
    time_noise,
)
from skyloop_papers.depth_noise.fits import cut_sigma, fit_laws, kim_sigma, r_squared
from skyloop_papers.depth_noise.page import blocks, plot_checks, plot_light
from skyloop_papers.depth_noise.stereo import (
    ACROSS,
    BASELINE,
    DOT_ELECTRONS,
    DOT_SD,
    DOT_SPACING,
    FULL_WELL,
    HALF_BLOCK,
    LENS,
    MATERIAL_NAMES,
    MAX_DISPARITY,
    READ_NOISE,
    UNIQUENESS,
    Walls,
)
from skyloop_papers.experiment import Cell, Experiment, ExperimentPlan, Rule
from skyloop_papers.runs import Progress, RunWorkers

QUICK_EVERY = 25
CLEAR_OF_LIMITS = 6.0
"""m. Up to here noise on cement never reaches a range limit, so every zero is a random dropout."""


@dataclass(frozen=True, slots=True)
class DepthNoisePlan(ExperimentPlan):
    quick: bool = False
    """Fewer positions, narrower images."""

    def plain(self) -> dict[str, Any]:
        return {
            **({"quick": True} if self.quick else {}),
            "growth": GROWTH, "distances": [DISTANCES[0], DISTANCES[-1], len(DISTANCES)],
            "stereo_distances": STEREO_DISTANCES.tolist(), "baseline": BASELINE, "lens": asdict(LENS),
            "dots": [DOT_SPACING, DOT_SD, DOT_ELECTRONS], "sensor": [FULL_WELL, READ_NOISE],
            "matcher": [MAX_DISPARITY, HALF_BLOCK, UNIQUENESS], "lux": LUX,
            "published": [PUBLISHED_R2, PUBLISHED_MEAN_R2, PUBLISHED_TIME],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Checks:
    camera: DepthCamera
    own: list[SelfCheck]
    stereo: list[StereoCheck]
    light: list[LightCheck]
    timing: list[Cell]


class DepthNoiseExperiment(Experiment[DepthNoisePlan, Checks]):
    paper = "depth-noise-and-rotor-drag"
    plans = DepthNoisePlan(), DepthNoisePlan(quick=True)
    rules = (
        Rule("speed", "laptop with an i7-10750H, through ROS", row="time for one.*|.*CPU time"),
        Rule("input", "the camera is told to leave out 1 % of its pixels", row="self-check"),
        Rule("other", "the paper's own numbers; nothing is measured", row="mean of the three R² that Table 1 prints"),
        Rule("same", "stereo by a synthetic camera, not the paper's device", column=".*(R² of eq\\. 4|m fitted).*"),
    )
    pictures = ("depth-noise.png", "depth-noise-light.png")
    resumes = False
    not_run_by_run = "it keeps no single runs"

    def fly(self, plan: DepthNoisePlan, folder: Path, progress: Progress, workers: RunWorkers) -> Checks:
        quick, camera = plan.quick, DepthCamera(DepthCameraConfig(preset="kim"), 1.0 / 30.0)
        with Walls() as walls:
            distances = DISTANCES[::QUICK_EVERY] if quick else DISTANCES
            own = [self_check(walls, camera, name, distances) for name in MATERIAL_NAMES]
            stereo_distances = QUICK_STEREO_DISTANCES if quick else STEREO_DISTANCES
            stereo = [stereo_check(walls, name, stereo_distances, quick=quick) for name in MATERIAL_NAMES]
            light = check_light(walls, quick=quick)
            return Checks(camera, own, stereo, light, time_noise(walls, camera, calls=100 if quick else 500))

    def judge(self, plan: DepthNoisePlan, runs: Checks) -> list[Cell]:
        cells = [cell for check in runs.own for cell in _self_check_cells(check, runs.camera)]
        cells += [_zeros(runs.own[MATERIAL_NAMES.index("cement")]), *runs.timing]
        cells += [cell for check in runs.stereo for cell in _stereo_cells(check)]
        cells += [_mean(runs.stereo, farthest) for farthest in PUBLISHED_MEAN_R2]
        cells += [_own_mean(), *light_cells(runs.light, GROWTH["cement"])]
        return cells + [cell for name in MATERIAL_NAMES for cell in _theory_cells(name)]

    def write(self, folder: Path, plan: DepthNoisePlan, runs: Checks, cells: Sequence[Cell]) -> None:
        plot_checks(runs.own, runs.stereo, folder / "depth-noise.png")
        plot_light(runs.light, folder / "depth-noise-light.png")

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        return blocks(cells)


EXPERIMENT = DepthNoiseExperiment()


def _self_check_cells(check: SelfCheck, camera: DepthCamera) -> list[Cell]:
    m, n, count = GROWTH[check.material], camera.numbers, len(check.distance)
    model = kim_sigma(m, check.distance)
    cut = cut_sigma(model, check.distance, n.min_range, n.max_range)
    conditions = {
        "m": m, "rendered_positions": check.rendered, "largest_error_of_rendered_depth": check.render_error,
        "note": f"not Table 1's {PUBLISHED_R2[check.material]}, which is of a real D435",
    }  # fmt: skip
    row = f"self-check, {check.material}"
    off = float(np.max(np.abs(check.sigma / cut - 1.0)))
    against = f"R² of simulated σ against eq. 4, m = {m}"
    so_cut = "the same, eq. 4 cut by the camera's 0.1 to 20 m"
    largest = "largest relative error of σ against eq. 4 so cut"
    return [
        Cell("Table 1", row, against, None, r_squared(check.sigma, model), "1", count, None, conditions),
        Cell("Table 1", row, so_cut, None, r_squared(check.sigma, cut), "1", count, None, conditions),
        Cell("Fig. 4", row, largest, None, off, "1", count, None, conditions),
    ]


def _zeros(check: SelfCheck) -> Cell:
    zeros = check.zeros[check.distance <= CLEAR_OF_LIMITS]
    about = {"material": check.material, "farthest": CLEAR_OF_LIMITS}
    return Cell.mean("text", "self-check", "pixels without a value", PUBLISHED_ZEROS, zeros, "1", about)


def _stereo_cells(check: StereoCheck) -> list[Cell]:
    row, n = f"synthetic stereo, {check.material}", len(check.distance)
    m, laws, core = GROWTH[check.material], check.laws, check.core_laws
    arrays = {"distance": check.distance, "sigma": check.sigma, "core_sigma": check.core, "filled": check.filled}
    conditions = {**{name: values.tolist() for name, values in arrays.items()}, "paper": "a real D435 on its own wall"}
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
        Cell(table, row, column, published, measured, unit, count, None, conditions)
        for table, column, published, measured, unit, count in rows
    ]


def _mean(stereo: list[StereoCheck], farthest: float) -> Cell:
    by_wall = {check.material: check.r2_of_table_1(farthest) for check in stereo}
    column, values = f"mean R² of eq. 4 with Table 1's m, 0.5 to {farthest:g} m", list(by_wall.values())
    return Cell.mean("text", "synthetic stereo", column, PUBLISHED_MEAN_R2[farthest], values, "1", by_wall)


def _own_mean() -> Cell:
    """The paper gives 0.6204 as the mean of Table 1, but that is not its mean."""
    own = list(PUBLISHED_R2.values())
    row = "mean of the three R² that Table 1 prints"
    return Cell.mean("Table 1", row, "", PUBLISHED_MEAN_R2[8.0], own, "1")


def _theory_cells(material: str) -> list[Cell]:
    """Eq. (4) beside σ = d²/(b f)·σ_disparity, with the b and f of the synthetic pair."""
    m, curve = GROWTH[material], kim_sigma(GROWTH[material], DISTANCES)
    laws, conditions = fit_laws(DISTANCES, curve), {"baseline_times_focal_length": ACROSS, "m": m}
    row = f"eq. 4 against stereo theory, {material}"
    rows = [("R² of the best a·d²", laws.square_r2, "1")]
    rows += [
        (f"disparity error it implies at {d:g} m", float(kim_sigma(m, np.array(d)) * ACROSS / d**2), "px")
        for d in (0.5, 2.0, 8.0)
    ]
    return [Cell("text", row, column, None, value, unit, 1, None, conditions) for column, value, unit in rows]
