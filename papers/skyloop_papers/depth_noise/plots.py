"""Pictures and tables of `skyloop reproduce depth-noise --out`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skyloop_papers.depth_noise.checks import DISTANCES, GROWTH, SelfCheck, StereoCheck
from skyloop_papers.depth_noise.fits import kim_sigma
from skyloop_papers.depth_noise.light import LightCheck
from skyloop_papers.depth_noise.stereo import ACROSS
from skyloop_papers.experiment import Cell
from skyloop_papers.texts import table

INK = "#23303b"
COLOURS = {"plastic": "#d1495b", "cement": "#1f77b4", "formboard": "#2a9d5c"}


def markdown(stereo: list[StereoCheck], cells: Sequence[Cell]) -> str:
    rows = [
        [cell.name, "" if cell.published is None else f"{cell.published:g}", f"{cell.ours:.4g}", cell.unit]
        for cell in cells
    ]
    sigmas = [
        [f"{distance:g}", *(f"{c.sigma[k]:.3f} ({c.core[k]:.3f}), {c.filled[k]:.2f}" for c in stereo)]
        for k, distance in enumerate(stereo[0].distance)
    ]
    return "\n".join((
        "# Depth noise by distance and material\n",
        table(["cell", "published", "measured", "unit"], rows),
        "Synthetic stereo: σ (core σ) in m, share of pixels matched\n",
        table(["distance, m", *(check.material for check in stereo)], sigmas),
    ))  # fmt: skip


def plot_checks(checks: list[SelfCheck], stereo: list[StereoCheck], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    style: dict[Any, Any] = {
        "axes.edgecolor": INK, "axes.grid": True, "grid.color": "#dfe4e8", "font.size": 9, "axes.axisbelow": True,
        "axes.titlesize": 9.5,
    }  # fmt: skip
    with plt.rc_context(style):
        figure, axes = plt.subplots(1, 4, figsize=(15.0, 4.2), layout="constrained")
        for axis, check, pair in zip(axes, checks, stereo, strict=False):
            _sigma(axis, check, pair)
        axes[0].set_ylabel("σ of the depth error [m]")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=8.5)
        _disparity(axes[3], stereo)
        figure.savefig(path, dpi=80)
        plt.close(figure)


def _sigma(axis: Any, check: SelfCheck, pair: StereoCheck) -> None:
    m, laws, colour = GROWTH[check.material], pair.laws, COLOURS[check.material]
    some = slice(None, None, max(1, len(check.distance) // 31))
    axis.plot(DISTANCES, kim_sigma(m, DISTANCES), color=INK, lw=1.2, label="eq. 4, m of Table 1")
    axis.plot(check.distance[some], check.sigma[some], "+", color=INK, ms=6, label="our camera (self-check)")
    axis.plot(pair.distance, pair.sigma, "o", color=colour, ms=4, label="synthetic stereo")
    axis.plot(
        pair.distance[pair.has_core],
        pair.core[pair.has_core],
        "o",
        color=colour,
        ms=4,
        mfc="white",
        label="synthetic stereo, core",
    )
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
    axis.legend(frameon=False, fontsize=8)


def plot_light(light: list[LightCheck], path: Path) -> None:
    """Fig. 10: a panel for each brightness, with the scatter of its five images."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(light), figsize=(11.0, 3.4), layout="constrained", sharey=True)
    for axis, check in zip(axes, light, strict=True):
        axis.plot(DISTANCES, kim_sigma(GROWTH["cement"], DISTANCES), color=INK, lw=1.2, label="eq. 4, m = 0.5")
        axis.errorbar(check.distance, check.mean, check.sigma.std(axis=1), fmt="o", ms=3.5, color=COLOURS["cement"],
                      label="synthetic stereo, mean and sd of the images")  # fmt: skip
        axis.set(yscale="log", xlabel="distance [m]", title=f"cement, {check.lux:g} lx")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("σ of the depth error [m]")
    axes[0].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=80)
    plt.close(figure)
