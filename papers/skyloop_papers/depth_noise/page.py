"""The tables of results and the pictures on the page on depth noise."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from skyloop_papers.depth_noise.checks import (
    DISTANCES,
    GROWTH,
    LUX,
    PUBLISHED_MEAN_R2,
    SHOWN,
    LightCheck,
    SelfCheck,
    StereoCheck,
)
from skyloop_papers.depth_noise.fits import kim_sigma
from skyloop_papers.depth_noise.stereo import ACROSS
from skyloop_papers.experiment import Cell
from skyloop_papers.plots import INK, figure
from skyloop_papers.tables import Cells, Figures, paragraph, table

WALLS = tuple(GROWTH)


def blocks(found: Sequence[Cell]) -> dict[str, str]:
    # the same column for each wall, without its own m
    cells = Cells(replace(cell, column=re.sub(r"m = [\d.]+", "m", cell.column)) for cell in found)
    return {
        "outcome": _outcome(cells),
        "self-check": _self_check(cells),
        "stereo": _on_each_wall(cells, "synthetic stereo", STEREO),
        "means": _means(cells),
        "theory": _on_each_wall(cells, "eq. 4 against stereo theory", THEORY),
        "light": _light(cells),
        "time": _time(cells),
    }


def _on_each_wall(cells: Cells, check: str, figures: Figures) -> str:
    return cells.by_figure("", figures, {wall: f"{check}, {wall}" for wall in WALLS}, right=None)


def _at(what: str, form: str) -> Callable[[Cell], str]:
    """A measured quantity at the distances that are shown."""

    def text(cell: Cell) -> str:
        away, values = np.array(cell.conditions["distance"]), cell.conditions[what]
        return ", ".join(format(values[int(np.argmin(np.abs(away - d)))], form) for d in SHOWN)

    return text


SELF_CHECK: Figures = {
    "R² of simulated σ against eq. 4": ("R² of simulated σ against eq. 4, m", ".4f"),
    "the same, eq. 4 cut by the range limits": ("the same, eq. 4 cut by the camera's 0.1 to 20 m", ".4f"),
    "largest relative error of σ so cut": ("largest relative error of σ against eq. 4 so cut", ".1%"),
}
STEREO: Figures = {
    "σ at 2, 4, 8 m, m": ("m fitted", _at("sigma", ".2g")),
    "eq. 4 with Table 1's m there": (
        "m fitted", lambda cell: ", ".join(f"{kim_sigma(cell.published or 0.0, np.array(d)):.2g}" for d in SHOWN),
    ),
    "pixels matched there": ("m fitted", _at("filled", ".0%")),
    "R² of eq. 4 with Table 1's m (paper: real D435)": ("R² of eq. 4 with m", "{ours:.2f} ({published:.2f})"),
    "m fitted (paper)": ("m fitted", "{ours:.2f} ({published:.2f})"),
    "R² of eq. 4, m fitted": ("R² of eq. 4 with m fitted", ".2f"),
    "R² of a·d², a fitted": ("R² of a·d², a fitted", ".2f"),
    "p of c·d^p": ("p of c·d^p", ".1f"),
    "core: m fitted": ("core, m fitted", ".2f"),
    "core: R² of eq. 4": ("core, R² of eq. 4", ".2f"),
    "core: R² of a·d²": ("core, R² of a·d²", ".2f"),
    "core: p of c·d^p": ("core, p of c·d^p", ".1f"),
    "core: disparity error of a·d², px": ("core, disparity error of a·d²", ".2f"),
}  # fmt: skip
THEORY: Figures = {
    **{f"disparity error at {d} m, px": (f"disparity error it implies at {d} m", ".2f") for d in ("0.5", "2", "8")},
    "R² of the best a·d² against eq. 4": ("R² of the best a·d²", ".2f"),
}


def _outcome(cells: Cells) -> str:
    stereo = {wall: f"synthetic stereo, {wall}" for wall in WALLS}
    fitted = ", ".join(f"{cells.value(stereo[wall], 'm fitted'):.2f}" for wall in WALLS)
    paper = ", ".join(f"{GROWTH[wall]:.2f}" for wall in WALLS)
    both = ("R² of a·d², a fitted", "R² of eq. 4 with m fitted")
    pairs = [[cells.value(row, column) for column in both] for row in stereo.values()]
    return paragraph(
        "**Outcome.** Our camera gives the σ that is put into it (a self-check, no more).",
        "A synthetic IR pair that knows nothing of eq. 4 gives, when eq. 4 is fitted to it,",
        f"m = {fitted} (plastic, cement, formboard) where Table 1 has {paper}.",
        "a·d², with one free number as well, fits it better than the exponential on "
        f"{sum(square > exponential for square, exponential in pairs)} of the three walls.",
    )


def _self_check(cells: Cells) -> str:
    zeros = cells.value("self-check", "pixels without a value")
    text = f"\nPixels without a value, on cement up to 6 m: {zeros:.3%} (paper: 1 %).\n"
    return _on_each_wall(cells, "self-check", SELF_CHECK) + text


def _means(cells: Cells) -> str:
    rows = []
    for far, published in PUBLISHED_MEAN_R2.items():
        here = cells.value("synthetic stereo", f"mean R² of eq. 4 with Table 1's m, 0.5 to {far:g} m")
        rows.append([f"0.5 to {far:g} m", f"{published:g}", f"{here:.2f}"])
    own = cells.value("mean of the three R² that Table 1 prints")
    head = ["mean R² of eq. 4 with Table 1's m", "paper: a real D435", "here: synthetic stereo"]
    return f"{table(head, rows)}\n" + paragraph(
        f"The mean of the three R² that Table 1 prints is {own:.3f},",
        f"not the {PUBLISHED_MEAN_R2[8.0]:g} of the paper's text and abstract.",
    )


def _light(cells: Cells) -> str:
    wall, r2 = "synthetic stereo, cement", "R² of eq. 4 with m"
    rooms = {f"{lux:g} lx": f"{wall} at {lux:g} lx" for lux in LUX}
    at = ", ".join(f"{d:.2f}" for d in cells[rooms["160 lx"], r2].conditions["at"])
    figures: Figures = {
        f"σ at {at} m, m": (r2, lambda cell: ", ".join(f"{value:.2g}" for value in cell.conditions["sigma_at"])),
        "scatter of σ between images": ("scatter of σ from image to image, median", ".1%"),
        "m fitted": ("m fitted", ".2f"),
        f"R² of eq. 4, m = {GROWTH['cement']}": (r2, ".2f"),
    }
    mean = cells[wall, "mean R² of eq. 4 with m at three lights"]
    column = "σ at one light against the mean of three, {} difference"
    median, largest = (cells.value(wall, column.format(which)) for which in ("median", "largest"))
    return f"{cells.by_row('room', rooms, figures, right=None)}\n" + paragraph(
        f"Mean R² {mean.ours:.2f}; the paper's D435 has {mean.published:g}.",
        f"σ at one light differs from the mean of the three by {median:.1%} (median)",
        f"and {largest:.1%} (largest).",
    )


def _time(cells: Cells) -> str:
    wall = cells["time for one 460 × 320 image"]
    cpu = cells["the same, CPU time"]
    return paragraph(
        "Time for the noise of one 460 × 320 image, from the rendered view to the finished image, one thread:",
        f"{wall.ours:.1f} ms (median of {wall.n}; fastest {wall.conditions['fastest_ms']:.1f} ms),",
        f"{cpu.ours:.1f} ms of processor time.",
        f"The paper needs {wall.published:g} ms on a laptop's i7-10750H, through ROS.",
    )


# ---- pictures

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
