"""From the flights of `skyloop reproduce e2es-missions` to the cells of its tables. Failed ones are named."""

from __future__ import annotations

import statistics
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.e2es_missions.protocol import (
    AIM_FACTOR,
    AIM_IOU_TRUTH,
    AIM_IOU_VIO,
    GOAL_WITHIN,
    PAPER,
    PUBLISHED_FACTOR,
    TOP_SPEED,
    Protocol,
)

Run = dict[str, Any]
WITH_WALKERS = "with walkers"
FLIGHT_FIGURES = {
    "farthest from a goal": "farthest_from_goal_m", "top speed": "fastest_m_s", "least clearance": "least_clearance_m",
    "way": "way_m", "error of the estimate, rms": "estimate_error_m",
}  # fmt: skip
"""By cell, the figure of a flight that it is the mean of."""
MAP_FIGURES = {"map_on_truth": "true poses", "map_on_vio": "odometry"}


def shown(value: float) -> float:
    """The digits of a single flight that are published."""
    return round(value, 4)


def results_of(missions: Protocol, runs: dict[str, Run]) -> list[Result]:
    groups = {world: [runs[f"mission-{world}-{seed}"] for seed in missions.seeds] for world in missions.worlds}
    results = [result for world, flown in groups.items() for result in _group(world, flown)]
    among = [runs[f"walkers-{world}-{seed}"] for world, seed in missions.with_walkers]
    if among:
        results += _group(WITH_WALKERS, among)
    for world, flown in groups.items():
        results += _maps(world, flown)
    for world, seed in missions.explored:
        results += _maps(f"{world}, explored", [runs[f"explore-{world}-{seed}"]])
    return results + _times([run for flown in (*groups.values(), among) for run in flown])


def _group(name: str, runs: list[Run]) -> list[Result]:
    """Missions of one world, or those with walkers. Means are over the missions that succeeded."""
    failed = {f"{run['world']} {run['seed']}": run["failed"] for run in runs if "failed" in run}
    hits = sum(str(cause).startswith(("contact", "crash")) for cause in failed.values())
    good = [run for run in runs if "failed" not in run]
    n = len(runs)
    whole = Result(
        PAPER, "missions", f"{name}: all goals reached", None, len(good), "1", n, None, {"aim": n, "failed": failed}
    )
    out = [whole, Result(PAPER, "missions", f"{name}: collisions", None, hits, "1", n, None, {"aim": 0})]

    def add(what: str, unit: str, aim: float | None, least: bool = False) -> None:
        key = FLIGHT_FIGURES[what]
        values = [run[key] for run in good if run.get(key) is not None]
        if values:
            worst = min(values) if least else max(values)
            told = {"worst": worst, "aim": aim, "values": [shown(value) for value in values]}
            mean = statistics.fmean(values)
            out.append(Result(PAPER, "missions", f"{name}: {what}", None, mean, unit, len(values), None, told))

    add("farthest from a goal", "m", GOAL_WITHIN)
    add("top speed", "m/s", TOP_SPEED)
    add("least clearance", "m", None, least=True)
    add("way", "m", None)
    add("error of the estimate, rms", "m", None)
    return out


def _maps(name: str, runs: list[Run]) -> list[Result]:
    out, aims = [], {"map_on_truth": AIM_IOU_TRUTH, "map_on_vio": AIM_IOU_VIO}
    for key, poses in MAP_FIGURES.items():
        aim = aims[key]
        scores = [run[key] for run in runs if key in run]
        if not scores:
            continue
        ious = [score["iou"] for score in scores]
        met = sum(iou >= aim for iou in ious)
        told = {"worst": min(ious), "aim": aim, "met": met, "values": [shown(iou) for iou in ious]}
        out.append(
            Result(PAPER, "maps", f"{name}: IoU on {poses}", None, statistics.fmean(ious), "1", len(ious), None, told)
        )
        errors = [score["distance_error"] for score in scores]
        within = statistics.fmean(score["within_one_voxel"] for score in scores)
        told = {"within_one_voxel": within}
        mean = statistics.fmean(errors)
        out.append(Result(PAPER, "maps", f"{name}: distances on {poses}", None, mean, "m", len(errors), None, told))
    return out


def _times(runs: list[Run]) -> list[Result]:
    """Simulated time per processor time of all processes, and where it goes."""
    flown = [run for run in runs if "factor" in run]
    if not flown:
        return []
    factors = [run["factor"] for run in flown]
    told = {"worst": min(factors), "aim": AIM_FACTOR, "published": list(PUBLISHED_FACTOR)}
    n, mean = len(flown), statistics.fmean(factors)
    # units of times, because they differ between machines and are not compared
    out = [Result(PAPER, "mission time", "simulated per processor second", None, mean, "1/s", n, None, told)]
    for stage in flown[0]["stages"]:
        share = 100.0 * statistics.fmean(run["stages"][stage] for run in flown)
        out.append(Result(PAPER, "mission time", f"share: {stage}", None, share, "% of the time", n))
    return out
