"""Pictures of `skyloop reproduce depth-noise --out`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skyloop_papers.depth_noise.checks import DISTANCES, GROWTH, LightCheck, SelfCheck, StereoCheck
from skyloop_papers.depth_noise.fits import kim_sigma
from skyloop_papers.depth_noise.stereo import ACROSS
from skyloop_papers.plots import INK, figure

COLOURS = {"plastic": "#d1495b", "cement": "#1f77b4", "formboard": "#2a9d5c"}


def plot_checks(checks: list[SelfCheck], stereo: list[StereoCheck], path: Path) -> None:
    with figure(path, (15.0, 4.2), dpi=80) as drawn:
        axes = drawn.subplots(1, 4)
        for axis, check, pair in zip(axes, checks, stereo, strict=False):
            _sigma(axis, check, pair)
        axes[0].set_ylabel("σ of the depth error [m]")
        handles, labels = axes[0].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=8.5)
        _disparity(axes[3], stereo)


def _sigma(axis: Any, check: SelfCheck, pair: StereoCheck) -> None:
    m, laws, colour = GROWTH[check.material], pair.laws, COLOURS[check.material]
    some = slice(None, None, max(1, len(check.distance) // 31))
    axis.plot(DISTANCES, kim_sigma(m, DISTANCES), color=INK, lw=1.2, label="eq. 4, m of Table 1")
    axis.plot(check.distance[some], check.sigma[some], "+", color=INK, ms=6, label="our camera (self-check)")
    axis.plot(pair.distance, pair.sigma, "o", color=colour, ms=4, label="synthetic stereo")
    core = np.where(pair.has_core, pair.core, np.nan)
    axis.plot(pair.distance, core, "o", color=colour, ms=4, mfc="white", label="synthetic stereo, core")
    axis.plot(DISTANCES, kim_sigma(laws.growth, DISTANCES), ":", color=colour, label="eq. 4 fitted to synthetic stereo")
    axis.plot(DISTANCES, laws.square * DISTANCES**2, "--", color=colour, label="a·d² fitted to synthetic stereo")
    title = f"{check.material}: m {m} in Table 1, {laws.growth:.2f} fitted\n"
    title += f"R² fitted: eq. 4 {laws.growth_r2:.2f}, a·d² {laws.square_r2:.2f}"
    axis.set(yscale="log", xlabel="distance [m]", title=title, ylim=(2e-4, 10.0))


def _disparity(axis: Any, stereo: list[StereoCheck]) -> None:
    for check in stereo:
        colour = COLOURS[check.material]
        curve = kim_sigma(GROWTH[check.material], DISTANCES) * ACROSS / DISTANCES**2
        axis.plot(DISTANCES, curve, color=colour, lw=1.3, label=f"eq. 4, {check.material}")
        core = np.where(check.has_core, check.core, np.nan)
        axis.plot(check.distance, core * ACROSS / check.distance**2, "o", color=colour, ms=4, mfc="white")
    axis.axhline(1.0, color=INK, lw=0.8)
    title = "disparity error σ·b·f/d²: level in stereo theory\ncurves: eq. 4; rings: synthetic stereo, core"
    axis.set(yscale="log", xlabel="distance [m]", ylabel="px", title=title)
    axis.legend(fontsize=8)


def plot_light(light: list[LightCheck], path: Path) -> None:
    """Fig. 10: a panel for each brightness, with the scatter of its five images."""
    with figure(path, (11.0, 3.4), dpi=80) as drawn:
        axes = drawn.subplots(1, len(light), sharey=True)
        for axis, check in zip(axes, light, strict=True):
            axis.plot(DISTANCES, kim_sigma(GROWTH["cement"], DISTANCES), color=INK, lw=1.2, label="eq. 4, m = 0.5")
            axis.errorbar(check.distance, check.mean, check.sigma.std(axis=1), fmt="o", ms=3.5, color=COLOURS["cement"],
                          label="synthetic stereo, mean and sd of the images")  # fmt: skip
            axis.set(yscale="log", xlabel="distance [m]", title=f"cement, {check.lux:g} lx")
        axes[0].set_ylabel("σ of the depth error [m]")
        axes[0].legend(fontsize=8)
