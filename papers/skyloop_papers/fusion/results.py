"""From the flights of `skyloop reproduce fusion` to the cells of its tables. Sums over all flights are divided."""

from __future__ import annotations

import math
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.fusion.protocol import AIM_FOG, ALONE, FIGURES, PAPER, SENSORS, Protocol

Run = dict[str, Any]


def job_name(condition: str, seed: int) -> str:
    """Of one flight; a name of a file too."""
    return f"{condition.replace(' ', '_')}-{seed}"


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


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def results_of(protocol: Protocol, runs: dict[str, Run]) -> list[Result]:
    results: list[Result] = []
    both: dict[str, dict[str, float]] = {}
    for condition in protocol.conditions:
        flown = [runs[job_name(condition, seed)] for seed in protocol.seeds]
        figures = {name: pooled([run["trackers"][name] for run in flown]) for name in SENSORS}
        both[condition] = figures["both"]
        results += _boxes(condition, flown)
        for name, found in figures.items():
            results += [_cell(condition, name, figure, found, figures, len(flown)) for figure in FIGURES]
    if {"clear day", "fog"} <= set(both):
        kept = _share(both["fog"]["recall"], both["clear day"]["recall"])
        cell = "fog: recall kept by both"
        results.append(Result(PAPER, "kept", cell, None, kept, "1", len(protocol.seeds), None, {"aim": AIM_FOG}))
    return results


def _cell(
    condition: str, name: str, figure: str, found: dict[str, float], figures: dict[str, dict[str, float]], n: int
) -> Result:
    unit, more = FIGURES[figure]
    told: dict[str, Any] = {key: found[key] for key in ("objects", "matches", "false", "switches", "precision")}
    if name == "both":
        alone = [figures[other][figure] for other in ALONE]
        best = max(alone) if more else min(alone)
        told["beats_either_alone"] = found[figure] > best if more else found[figure] < best
    return Result(PAPER, condition, f"{condition}, {name}: {figure}", None, found[figure], unit, n, None, told)


def _boxes(condition: str, flown: list[Run]) -> list[Result]:
    """How good the detector was: mean over the flights, weighted by the people in their images."""
    scores = [run["boxes"] for run in flown if run["boxes"] is not None]
    people = sum(score["people"] for score in scores)
    out = []
    for figure in ("precision", "recall", "ap50"):
        total = sum((score[figure] or 0.0) * score["people"] for score in scores)
        told = {"people": people}
        out.append(
            Result(PAPER, "boxes", f"{condition}: {figure}", None, _share(total, people), "1", len(scores), None, told)
        )
    return out
