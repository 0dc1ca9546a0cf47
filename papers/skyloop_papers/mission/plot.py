"""The picture of `skyloop reproduce mission`: the track over the rectangle, and its errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skyloop_papers.drag.plot import INK, STYLE
from skyloop_papers.mission.flown import Flown

TRACK, BELIEF, FIXES, RECTANGLE = "#1f77b4", "#d1495b", "#c3c9ce", "#2a9d5c"


def plot_flights(flights: list[Flown], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(12.5, 6.0), layout="constrained")
        figure.suptitle(
            "Four GPS waypoints as a MAVLink mission, flown on the EKF (airloop V-E1, Fig. 17)",
            fontweight="bold", color=INK,
        )  # fmt: skip
        left, right = figure.subplots(1, 2, width_ratios=(1.35, 1))
        _track(left, flights[0])
        _errors(right, flights)
        figure.savefig(path, dpi=100)
        plt.close(figure)


def _track(axis: Any, flown: Flown) -> None:
    closed = np.vstack([flown.corners, flown.corners[:1]])
    axis.plot(flown.fixes[:, 0], flown.fixes[:, 1], ".", color=FIXES, ms=3, label="GNSS fixes")
    axis.plot(closed[:, 0], closed[:, 1], "--", color=RECTANGLE, lw=1.3, label="mission")
    axis.plot(flown.whole[:, 0], flown.whole[:, 1], color=TRACK, lw=0.8, alpha=0.6)
    axis.plot(flown.truth[:, 0], flown.truth[:, 1], color=TRACK, lw=1.6, label="flown")
    axis.plot(flown.estimate[:, 0], flown.estimate[:, 1], color=BELIEF, lw=1.0, label="EKF's belief")
    axis.plot(flown.corners[:, 0], flown.corners[:, 1], "s", color=RECTANGLE, ms=7)
    for number, corner in enumerate(flown.corners, 1):
        outwards = np.sign(corner[:2]) * 2.6
        axis.annotate(str(number), corner[:2] + outwards, ha="center", va="center", color=INK, fontweight="bold")
    for start, end in zip(closed[:-1, :2], closed[1:, :2], strict=True):
        # the direction of flight, inside the sides
        middle, way = 0.88 * (start + end) / 2.0, (end - start) / np.linalg.norm(end - start)
        axis.annotate("", middle + 3.0 * way, middle - 3.0 * way, arrowprops={"arrowstyle": "->", "color": INK})
    axis.plot(0, 0, "*", color=INK, ms=11, label="take-off and landing")
    axis.set(xlabel="east [m]", ylabel="north [m]", aspect="equal", title=f"seed {flown.seed}, {flown.duration:.0f} s")
    axis.set(xlim=(-38, 38), ylim=(-28, 34))
    axis.legend(loc="upper center", ncols=5, fontsize=7.5, framealpha=1.0)


def _errors(axis: Any, flights: list[Flown]) -> None:
    for flown in flights:
        rms = float(np.sqrt(np.mean(flown.cross_track**2)))
        axis.plot(flown.t - flown.t[0], flown.cross_track, lw=1.2, label=f"seed {flown.seed}, rms {rms:.2f} m")
    for number, t in enumerate(flights[0].passed, 2):
        when = t - flights[0].t[0]
        axis.axvline(when, color=FIXES, lw=1.0, ls=":", zorder=0)
        axis.annotate(
            f"corner {number}", (when, 0.86), xycoords=("data", "axes fraction"), xytext=(3, 0),
            textcoords="offset points", rotation=90, va="top", fontsize=7.5, color=INK,
        )  # fmt: skip
    axis.set(
        xlabel="s from the first corner", ylabel="m, horizontally, from the nearest side",
        title="true track against the rectangle",
    )  # fmt: skip
    axis.set_ylim(0.0, 1.35 * max(float(flown.cross_track.max()) for flown in flights))
    axis.legend(fontsize=7.5, loc="upper center", framealpha=1.0, ncols=3, handlelength=1.2, columnspacing=1.0)
