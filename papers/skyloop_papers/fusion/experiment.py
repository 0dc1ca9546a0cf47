"""People tracked by camera, radar and both, on a clear day, in fog and at night: what airloop is made to test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skyloop_papers.experiment import Cell, Cells, RunByRun
from skyloop_papers.fusion.flights import AIM_FOG, ALONE, CONDITIONS, FIGURES, QUICK, SENSORS, FusionPlan, track_people
from skyloop_papers.plots import COLOURS, figure
from skyloop_papers.runs import Job, Run
from skyloop_papers.texts import paragraph, table

PICTURE = "Recall, MOTA, position and velocity errors by sensors, on a clear day, in fog and at night"
HEADS = ["recall", "precision", "MOTA", "position, m rms", "velocity, m/s rms", "switches", "false"]
TITLES = {"recall": "recall", "mota": "MOTA", "position": "position, m rms", "velocity": "velocity, m/s rms"}
KEPT = "recall kept by both"


def job_name(condition: str, seed: int) -> str:
    """Of one flight; a name of a file too."""
    return f"{condition.replace(' ', '_')}-{seed}"


class FusionExperiment(RunByRun[FusionPlan]):
    paper = "airloop"
    pictures = ("fusion.png",)
    cores = 2  # one with drawing and another one with everything else

    def plan(self, *, quick: bool = False) -> FusionPlan:
        return QUICK if quick else FusionPlan()

    def jobs(self, plan: FusionPlan, folder: Path) -> list[Job]:
        return [
            Job.of(folder, job_name(condition, seed), track_people, seed, condition, plan.detector, plan.duration)
            for condition in plan.conditions
            for seed in plan.seeds
        ]

    def describe(self, run: Run) -> str:
        recalls = [f"{name} {score['recall'] or 0.0:.2f}" for name, score in run["trackers"].items()]
        return "recall by " + ", ".join(recalls)

    def judge(self, plan: FusionPlan, runs: dict[str, Run]) -> list[Cell]:
        """Sums over all flights are divided."""
        cells: list[Cell] = []
        both: dict[str, dict[str, float]] = {}
        for condition in plan.conditions:
            flown = [runs[job_name(condition, seed)] for seed in plan.seeds]
            figures = {name: pooled([run["trackers"][name] for run in flown]) for name in SENSORS}
            both[condition] = figures["both"]
            cells += _detector(condition, flown)
            cells += [_tracker(condition, name, key, figures, len(flown)) for name in figures for key in FIGURES]
        if {"clear day", "fog"} <= set(both):
            kept = _share(both["fog"]["recall"], both["clear day"]["recall"])
            cells.append(Cell("kept", "fog", KEPT, None, kept, "1", len(plan.seeds), None, {"aim": AIM_FOG}))
        return cells

    def write(self, folder: Path, plan: FusionPlan, runs: dict[str, Run], cells: Sequence[Cell]) -> None:
        draw_figures(cells, folder / "fusion.png")

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        picture = f"![{PICTURE}](../images/fusion.png)\n"
        by = Cells(cells)
        return {"trackers": f"{_trackers(by)}\n{picture}", "boxes": _boxes(by), "verdict": _verdict(cells)}

    def plan_page(self) -> dict[str, str]:
        p, rows = FusionPlan(), []
        for name in p.conditions:
            changed = ", ".join(f"`{path}: {value:g}`" for path, value in CONDITIONS[name].items()) or "as shipped"
            rows.append([name, changed, ", ".join(SENSORS), f"{p.seeds[0]} to {p.seeds[-1]}", str(len(p.seeds))])
        return {"flown": table(["condition", "the scenario", "trackers in each flight", "seeds", "flights"], rows)}


EXPERIMENT = FusionExperiment()


# ---- cells


def pooled(scores: list[Run]) -> dict[str, float]:
    """The figures of one tracker over several flights; NaN where there is nothing to divide by."""
    sums = {key: sum(score[key] for score in scores) for key in ("objects", "matches", "misses", "false", "switches")}
    squares = sum((score["position_rms_m"] or 0.0) ** 2 * score["matches"] for score in scores)
    speeds = sum((score["velocity_rms_m_s"] or 0.0) ** 2 * score["speeds"] for score in scores)
    return {
        **sums,
        "recall": _share(sums["matches"], sums["objects"]),
        "precision": _share(sums["matches"], sums["matches"] + sums["false"]),
        "mota": 1.0 - _share(sums["misses"] + sums["false"] + sums["switches"], sums["objects"]),
        "position": math.sqrt(_share(squares, sums["matches"])),
        "velocity": math.sqrt(_share(speeds, sum(score["speeds"] for score in scores))),
    }


def _share(part: float, total: float) -> float:
    return part / total if total else math.nan


def _tracker(condition: str, name: str, key: str, figures: dict[str, dict[str, float]], n: int) -> Cell:
    (unit, more), found = FIGURES[key], figures[name]
    about: dict[str, Any] = {each: found[each] for each in ("objects", "matches", "false", "switches", "precision")}
    if name == "both":
        alone = [figures[other][key] for other in ALONE]
        best = max(alone) if more else min(alone)
        about["beats_either_alone"] = found[key] > best if more else found[key] < best
    return Cell(condition, f"{condition}, {name}", key, None, found[key], unit, n, None, about)


def _detector(condition: str, flown: list[Run]) -> list[Cell]:
    """How good the detector was: mean over the flights, weighted by the people in their images."""
    scores = [run["boxes"] for run in flown if run["boxes"] is not None]
    people = sum(score["people"] for score in scores)
    cells = []
    for key in ("precision", "recall", "ap50"):
        total = sum((score[key] or 0.0) * score["people"] for score in scores)
        share, about = _share(total, people), {"people": people}
        cells.append(Cell("boxes", condition, key, None, share, "1", len(scores), None, about))
    return cells


# ---- the page


def _trackers(cells: Cells) -> str:
    rows = []
    for condition in CONDITIONS:
        for name in SENSORS:
            row = f"{condition}, {name}"
            if (row, "recall") not in cells:
                continue
            about, ours = cells[row, "recall"].conditions, {key: cells.shown(row, key, ".2f") for key in FIGURES}
            rows.append([
                condition, name, ours["recall"], f"{about['precision']:.2f}", ours["mota"], ours["position"],
                ours["velocity"], f"{about['switches']:g}", f"{about['false']:g}",
            ])  # fmt: skip
    return table(["", "sensors", *HEADS], rows, right=2)


def _boxes(cells: Cells) -> str:
    rows = [
        [condition, *(cells.shown(condition, key, ".2f") for key in ("precision", "recall", "ap50"))]
        for condition in CONDITIONS
        if (condition, "recall") in cells
    ]
    return table(["", "precision", "recall", "AP50"], rows, right=1)


def _verdict(cells: Sequence[Cell]) -> str:
    """Which aims were met, by the results themselves."""
    judged = [cell for cell in cells if "beats_either_alone" in cell.conditions]
    lost = [cell.name.replace(", both", "") for cell in judged if not cell.conditions["beats_either_alone"]]
    met = f"Both sensors together beat either alone in {len(judged) - len(lost)} of {len(judged)} figures"
    sentences = [met + ("." if not lost else f"; not in {', '.join(lost)}.")]
    kept = Cells(cells).get(("fog", KEPT))
    if kept is not None:
        aim = kept.conditions["aim"]
        how = "met" if kept.ours >= aim else "missed"
        sentences.append(
            f"In fog they keep {kept.ours:.2f} of their recall on a clear day; the aim of {aim:g} is {how}."
        )
    return paragraph(*sentences)


def draw_figures(cells: Sequence[Cell], path: Path) -> None:
    """Recall, MOTA and errors by sensors and weather."""
    by = Cells(cells)
    shown = [name for name in CONDITIONS if (f"{name}, both", "recall") in by]
    with figure(path, (13.0, 3.6), "People tracked within the radar's range", dpi=110, x=0.01, ha="left") as drawn:
        axes = drawn.subplots(1, len(FIGURES))
        for axis, (which, (_, more)) in zip(axes, FIGURES.items(), strict=True):
            wide = 0.8 / len(SENSORS)
            for k, name in enumerate(SENSORS):
                values = [by.value(f"{condition}, {name}", which) for condition in shown]
                positions = np.arange(len(shown)) + (k - 0.5 * (len(SENSORS) - 1)) * wide
                axis.bar(positions, values, 0.92 * wide, color=COLOURS[k], label=name)
            axis.set_xticks(range(len(shown)), shown)
            axis.set_title(f"{TITLES[which]} ({'more' if more else 'less'} is better)", fontsize=9)
            axis.grid(axis="x", visible=False)
            if more:
                axis.set_ylim(0.0, 1.0)
        drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(SENSORS), fontsize=9)
