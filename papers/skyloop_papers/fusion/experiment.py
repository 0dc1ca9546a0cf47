"""People tracked by camera, radar and both, on a clear day, in fog and at night: what airloop is made to test.

What is flown and what is aimed at were written before the flights that count."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.run import fly
from skyloop.sim.assembly import build
from skyloop.sim.scenario import Scenario, load_scenario
from skyloop_autonomy.people.config import TrackerConfig
from skyloop_autonomy.people.people_scores import (
    IN_RANGE,
    LEAST_CLIMB,
    LEAST_HEIGHT_PX,
    MOST_HIDDEN,
    REACH,
    box_scores,
    track_scores,
)
from skyloop_autonomy.reports.people_log import PeopleLog
from skyloop_papers.experiment import Cell, ExperimentPlan, RunByRun
from skyloop_papers.plots import COLOURS, figure
from skyloop_papers.runs import Job, Run
from skyloop_papers.tables import Cells, Figures, by_table, paragraph, table

TRACKER = "skyloop_autonomy.people.people_tracker:PeopleTracker"
SCENARIO = "park-people"
DURATION = 60.0
"""s of simulated time: take-off and one lap."""
CONDITIONS: dict[str, dict[str, Any]] = {
    "clear day": {},
    "fog": {"weather.visibility": 30.0},
    "night": {"weather.time_of_day": 22.0},
}
"""By name: paths of the scenario and their values. 30 m is where contrast falls to 2 %."""
SENSORS: dict[str, tuple[str, ...]] = {
    "camera": ("front", "detect/boxes"),
    "radar": ("radar/detections",),
    "both": ("front", "detect/boxes", "radar/detections"),
    "camera and depth": ("front", "detect/boxes", "depth"),
}
"""By name: the inputs of a tracker besides the vehicle's state. All of them look on in the same flight."""
ALONE = ("camera", "radar")
FIGURES = {
    "recall": ("1", True),
    "mota": ("1", True),
    "position": ("m", False),
    "velocity": ("m/s", False),
}
"""By name: the unit, and whether more is better."""
AIM_FOG = 0.7
"""Of its recall on a clear day, what the tracker with both sensors keeps in fog."""


@dataclass(frozen=True, slots=True)
class FusionPlan(ExperimentPlan):
    """What is flown. The quick form is one flight of some seconds."""

    seeds: tuple[int, ...] = tuple(range(101, 111))
    """Of worlds, people and noise; lower ones were looked at while the tracker was made."""
    conditions: tuple[str, ...] = tuple(CONDITIONS)
    detector: str = "network"
    """What finds people in images, as the option `detector` of ImageDetector."""
    duration: float = DURATION

    def plain(self) -> dict[str, Any]:
        judged = {
            "reach": REACH, "least_height_px": LEAST_HEIGHT_PX, "most_hidden": MOST_HIDDEN, "in_range": IN_RANGE,
            "least_climb": LEAST_CLIMB,
        }  # fmt: skip
        changes = {"conditions_with": CONDITIONS, "sensors": SENSORS}
        return {**asdict(self), **judged, **changes, "tracker": TrackerConfig().model_dump(mode="json")}


QUICK = FusionPlan((1,), ("clear day",), duration=15.0)
PICTURE = "Recall, MOTA, position and velocity errors by sensors, on a clear day, in fog and at night"
COLUMNS: Figures = {
    "recall": ("recall", ".2f"),
    "precision": ("recall", "{precision:.2f}"),
    "MOTA": ("mota", ".2f"),
    "position, m rms": ("position", ".2f"),
    "velocity, m/s rms": ("velocity", ".2f"),
    "switches": ("recall", "{switches:g}"),
    "false": ("recall", "{false:g}"),
}
BOXES: Figures = {head: (head.lower(), ".2f") for head in ("precision", "recall", "AP50")}
TITLES = {"recall": "recall", "mota": "MOTA", "position": "position, m rms", "velocity": "velocity, m/s rms"}
KEPT = "recall kept by both"


def job_name(condition: str, seed: int) -> str:
    """Of one flight; a name of a file too."""
    return f"{condition.replace(' ', '_')}-{seed}"


class FusionExperiment(RunByRun[FusionPlan]):
    paper = "airloop"
    plans = FusionPlan(), QUICK
    pictures = ("fusion.png",)
    cores = 2  # one with drawing and another one with everything else

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
        boxes = Cells(by_table(cells)["boxes"]).by_row("", list(CONDITIONS), BOXES)
        return {"trackers": f"{_trackers(Cells(cells))}\n{picture}", "boxes": boxes, "verdict": _verdict(cells)}

    def plan_page(self) -> dict[str, str]:
        p, rows = FusionPlan(), []
        for name in p.conditions:
            changed = ", ".join(f"`{path}: {value:g}`" for path, value in CONDITIONS[name].items()) or "as shipped"
            rows.append([name, changed, ", ".join(SENSORS), f"{p.seeds[0]} to {p.seeds[-1]}", str(len(p.seeds))])
        return {"flown": table(["condition", "the scenario", "trackers in each flight", "seeds", "flights"], rows)}


EXPERIMENT = FusionExperiment()


# ---- a flight


def stream_of(sensors: str) -> str:
    """The name of the estimator that uses these sensors."""
    return f"by_{sensors.replace(' ', '_')}"


def fusion_scenario(seed: int, condition: str, detector: str, duration: float) -> Scenario:
    """The shipped scenario in other weather, with one tracker for each choice of sensors."""
    shipped = load_scenario(SCENARIO).vehicles[0].estimators["detect"].model_dump(mode="json", exclude={"products"})
    detect = {**shipped, "options": {"detector": detector}}
    if detector == "labels":
        detect |= {"inputs": ["front", "truth/drone/front"], "options": {"detector": detector, "seed": seed}}
    trackers = {stream_of(name): {"kind": TRACKER, "inputs": ["state", *inputs]} for name, inputs in SENSORS.items()}
    changes = {"seed": seed, "duration": duration, "vehicles.drone.estimators": {"detect": detect, **trackers}}
    return load_scenario(SCENARIO, {**changes, **CONDITIONS[condition]})


def track_people(seed: int, condition: str, detector: str, duration: float) -> dict[str, Any]:
    """Scores of the detector and of each tracker."""
    scenario = fusion_scenario(seed, condition, detector, duration)
    with build(scenario) as simulation:
        log = PeopleLog(simulation.bus, {vehicle.name: vehicle.state for vehicle in scenario.vehicles})
        fly(simulation, scenario.duration)
        there = log.vehicles["drone"]
        scores = track_scores(there, simulation.port.editor)
        trackers = {name: scores[f"drone/{stream_of(name)}/tracks"].plain() for name in SENSORS}
        return {"seed": seed, "boxes": box_scores(there).get("drone/detect/boxes"), "trackers": trackers}


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
    rows = [
        [condition, name, *(cells.shown(f"{condition}, {name}", *figure) for figure in COLUMNS.values())]
        for condition in CONDITIONS
        for name in SENSORS
        if (f"{condition}, {name}", "recall") in cells
    ]
    return table(["", "sensors", *COLUMNS], rows, right=2)


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
