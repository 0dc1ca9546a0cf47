"""V-E1 of airloop: a rectangle of four GPS waypoints, uploaded as a MAVLink mission and flown on the EKF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyloop_papers.experiment import Cell, Experiment, ExperimentPlan
from skyloop_papers.mission.flight import ACCEPTANCE, CORNERS, HEIGHT, SCENARIO, SPEED, FlownRectangle, fly_rectangle
from skyloop_papers.plots import INK, figure
from skyloop_papers.runs import Progress, RunWorkers
from skyloop_papers.tables import Cells

TRACK, BELIEF, FIXES, RECTANGLE = "#1f77b4", "#d1495b", "#c3c9ce", "#2a9d5c"
LABELS = {
    "distance of the true track from the rectangle, rms": "cross-track error, rms",
    "largest": "cross-track error, largest",
    "nearest to a corner": "corner passed at",
    "height, rms": "height error, rms",
    "horizontal error of the estimate, rms": "horizontal error of the estimate, rms",
}
LASTED = "from arming to disarming"


@dataclass(frozen=True, slots=True)
class MissionPlan(ExperimentPlan):
    seeds: int = 5

    def plain(self) -> dict[str, Any]:
        flown = {"corners": CORNERS.tolist(), "height": HEIGHT, "speed": SPEED, "acceptance": ACCEPTANCE}
        return {**flown, "seeds": self.seeds, "scenario": SCENARIO}


class MissionExperiment(Experiment[MissionPlan, list[FlownRectangle]]):
    paper = "airloop"
    plans = MissionPlan(), MissionPlan(1)
    pictures = ("mission.png",)
    resumes = False
    not_run_by_run = "it keeps no single runs"

    def fly(self, plan: MissionPlan, folder: Path, progress: Progress, workers: RunWorkers) -> list[FlownRectangle]:
        return [fly_rectangle(seed) for seed in range(1, 1 + plan.seeds)]

    def judge(self, plan: MissionPlan, runs: list[FlownRectangle]) -> list[Cell]:
        """The paper shows its track (Fig. 17) but gives no number."""
        conditions = {
            "rectangle_m": "60 x 40", "height_m": HEIGHT, "speed_m_s": SPEED, "acceptance_m": ACCEPTANCE,
            "state": "ekf", "wind": "dryden, mean 1.1 m/s",
        }  # fmt: skip
        measured = {
            "cross-track error, rms": [float(np.sqrt(np.mean(flown.cross_track**2))) for flown in runs],
            "cross-track error, largest": [float(flown.cross_track.max()) for flown in runs],
            "corner passed at": [float(flown.misses.mean()) for flown in runs],
            "height error, rms": [flown.height_error for flown in runs],
            "horizontal error of the estimate, rms": [flown.estimate_error for flown in runs],
            LASTED: [flown.duration for flown in runs],
        }
        return [
            Cell.mean("Fig. 17", row, "", None, values, "s" if row == LASTED else "m", conditions)
            for row, values in measured.items()
        ]

    def write(self, folder: Path, plan: MissionPlan, runs: list[FlownRectangle], cells: Sequence[Cell]) -> None:
        plot_flights(runs, folder / "mission.png")

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        return {"measured": Cells(cells).by_row("", LABELS, {"m": ("", "{ours:.2f} ± {sd:.2f}")})}

    def sentences(self, cells: Sequence[Cell]) -> list[str]:
        return [f"From arming to disarming it takes {Cells(cells).value(LASTED):.0f} s."]


EXPERIMENT = MissionExperiment()


def plot_flights(flights: list[FlownRectangle], path: Path) -> None:
    title = "Four GPS waypoints as a MAVLink mission, flown on the EKF (airloop V-E1, Fig. 17)"
    with figure(path, (12.5, 6.0), title) as drawn:
        left, right = drawn.subplots(1, 2, width_ratios=(1.35, 1))
        _track(left, flights[0])
        _errors(right, flights)


def _track(axis: Any, flown: FlownRectangle) -> None:
    closed = np.vstack([flown.corners, flown.corners[:1]])
    axis.plot(flown.fixes[:, 0], flown.fixes[:, 1], ".", color=FIXES, ms=3, label="GNSS fixes")
    axis.plot(closed[:, 0], closed[:, 1], "--", color=RECTANGLE, lw=1.3, label="mission")
    axis.plot(flown.track[:, 0], flown.track[:, 1], color=TRACK, lw=0.8, alpha=0.6)
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
    axis.legend(loc="upper center", ncols=5, fontsize=7.5, frameon=True, framealpha=1.0)


def _errors(axis: Any, flights: list[FlownRectangle]) -> None:
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
    axis.legend(fontsize=7.5, loc="upper center", ncols=3, handlelength=1.2, columnspacing=1.0)
