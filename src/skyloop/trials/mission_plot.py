"""The picture of `skyloop reproduce mission`: the track over the rectangle, and how far it was off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skyloop.trials.drag_plot import INK, STYLE
from skyloop.trials.mission import Flown

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
    axis.plot(flown.truth[:, 0], flown.truth[:, 1], color=TRACK, lw=1.6, label="flown")
    axis.plot(flown.estimate[:, 0], flown.estimate[:, 1], color=BELIEF, lw=1.0, label="EKF's belief")
    axis.plot(flown.corners[:, 0], flown.corners[:, 1], "s", color=RECTANGLE, ms=7)
    for number, corner in enumerate(flown.corners, 1):
        outwards = np.sign(corner[:2]) * 2.6
        axis.annotate(str(number), corner[:2] + outwards, ha="center", va="center", color=INK, fontweight="bold")
    axis.plot(0, 0, "*", color=INK, ms=11, label="take-off and landing")
    axis.set(xlabel="east [m]", ylabel="north [m]", aspect="equal", title=f"seed {flown.seed}, {flown.duration:.0f} s")
    axis.set(xlim=(-38, 38), ylim=(-28, 34))
    axis.legend(loc="upper center", ncols=5, fontsize=7.5, framealpha=1.0)


def _errors(axis: Any, flights: list[Flown]) -> None:
    for flown in flights:
        rms = float(np.sqrt(np.mean(flown.cross_track**2)))
        axis.plot(flown.t - flown.t[0], flown.cross_track, lw=1.2, label=f"seed {flown.seed}, rms {rms:.2f} m")
    axis.set(xlabel="s from the first corner", ylabel="m from the rectangle", title="error of the true track")
    axis.set_ylim(bottom=0.0)
    axis.legend(fontsize=8)
