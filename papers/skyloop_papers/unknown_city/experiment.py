"""Autonomous flights through an unknown city, as in section V-E2 of airloop: with GNSS, and without."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyloop.campaigns.pools import local_pool
from skyloop.core.results import Result
from skyloop_papers.missing_runs import ALL_CORES, Job, Makers, all_runs, folder_of_runs
from skyloop_papers.result_files import write_results
from skyloop_papers.unknown_city.computers import fly_on
from skyloop_papers.unknown_city.computers import in_words as computers_in_words
from skyloop_papers.unknown_city.computers import results_of as computer_results
from skyloop_papers.unknown_city.flight import fly
from skyloop_papers.unknown_city.protocol import (
    AIM_DENIED,
    AIM_FACTOR,
    AIM_IOU,
    AIM_REACHED,
    AIM_WAY,
    COMPUTERS,
    GROUPS,
    PAPER,
    QUICK,
    TROUBLES,
    Protocol,
)

Run = dict[str, Any]
TABLE = "section V-E2"

CORES = 1
"""Cores that a flight keeps busy."""


def reproduce(
    *,
    quick: bool = False,
    folder: Path | None = None,
    protocol: Protocol | None = None,
    told: Callable[[str], None] = lambda line: None,
    makers: Makers = ALL_CORES,
) -> list[Result]:
    """All flights of the protocol. A folder with some of them is continued."""
    chosen = protocol or (QUICK if quick else Protocol())
    with folder_of_runs(folder, chosen.plain()) as place:
        results = results_of(fly_all(chosen, place, told, makers))
        if folder is not None:
            write_results(folder, results)
    return results


def jobs_of(protocol: Protocol, place: Path) -> list[Job]:
    """The flights that are scored; those with trouble; and those on other computers."""

    def job(name: str, call: Callable[..., Run], *arguments: Any) -> Job:
        picture = place / "pictures" / f"{name}.png"
        more = (arguments[-1],) if isinstance(arguments[-1], dict) else ()
        plain = arguments[: len(arguments) - len(more)]
        kept = place / "runs" / f"{name}.json"
        told = (*plain, protocol.duration, str(picture), *more)
        return Job(name, kept, call, told, timed=call is fly_on, leaves=picture)

    jobs = [job(f"{group}-{seed}", fly, seed, group) for group, seed in protocol.flights()]
    for number, changes in enumerate(TROUBLES.values(), 1):
        jobs += [job(f"trouble-{number}-{seed}", fly, seed, "gnss", changes) for seed in protocol.troubles]
    for number, name in enumerate(COMPUTERS, 1):
        jobs += [job(f"computer-{number}-{seed}", fly_on, name, seed) for seed in protocol.computers]
    return jobs


def fly_all(protocol: Protocol, place: Path, told: Callable[[str], None], makers: Makers = ALL_CORES) -> dict[str, Run]:
    """Fly the missing flights, as many at once as there are cores, and read all of them."""
    jobs = jobs_of(protocol, place)
    timed = [job for job in jobs if job.timed]
    runs = all_runs([job for job in jobs if not job.timed], makers.pool(CORES), told, in_words)
    # here and one after the other: their times are measured, and a flight over the link has two processes
    return runs | all_runs(timed, local_pool(1), told, computers_in_words)


def in_words(scored: Run) -> str:
    if "failed" in scored:
        return f"failed: {scored['failed']}"
    return (
        f"at the goal, way {scored['way_over_optimum']:.2f} of the shortest, IoU {scored['iou']:.2f}, "
        f"error {scored['error_rms_m']:.3f} m, {scored['factor']:.1f} s per processor second"
    )


AIMS = {"gnss": AIM_REACHED, "denied": AIM_DENIED, "kiss": None}


def results_of(flown: dict[str, Run]) -> list[Result]:
    runs = [run for name, run in flown.items() if name.startswith(tuple(GROUPS))]
    results: list[Result] = []
    for group, name in GROUPS.items():
        chosen = [run for run in runs if run["group"] == group]
        if chosen:
            results += _flights(name, chosen, AIMS[group])
    timed = [run for run in runs if "factor" in run]
    # the localisers cost different times
    results += _times("", [run for run in timed if run["group"] != "kiss"])
    results += _times(f"{GROUPS['kiss']}: ", [run for run in timed if run["group"] == "kiss"])
    for number, trouble in enumerate(TROUBLES, 1):
        results += _trouble(trouble, [run for name, run in flown.items() if name.startswith(f"trouble-{number}-")])
    return results + computer_results([run for name, run in flown.items() if name.startswith("computer")])


def _trouble(name: str, runs: list[Run]) -> list[Result]:
    """How many came to the goal, how many hit something, and how near walls were at the worst."""
    if not runs:
        return []
    failed = {str(run["seed"]): run["failed"] for run in runs if "failed" in run}
    told = {
        "hits": sum(cause.startswith(("contact", "crash")) for cause in failed.values()), "failed": failed,
        "again": {str(run["seed"]): run["again"] for run in runs if "again" in run},
        "clearance": min(run["clearance_m"] for run in runs if "clearance_m" in run),
        "error": max(run["error_max_m"] for run in runs if "error_max_m" in run),
    }  # fmt: skip
    return [Result(PAPER, "trouble", name, None, len(runs) - len(failed), "1", len(runs), None, told)]


def _flights(name: str, runs: list[Run], aim: int | None) -> list[Result]:
    """Means are over the missions that succeeded; the failed ones are counted and named."""
    failed = {str(run["seed"]): run["failed"] for run in runs if "failed" in run}
    again = {str(run["seed"]): run["again"] for run in runs if "again" in run}
    good = [run for run in runs if "failed" not in run]
    hits = sum(str(run.get("failed", "")).startswith(("contact", "crash")) for run in runs)
    n, reached = len(runs), {"aim": aim, "failed": failed, "again": again}
    out = [
        Result(PAPER, TABLE, f"{name}: goal reached", 1, len(good), "1", n, None, reached),
        Result(PAPER, TABLE, f"{name}: collisions", None, hits, "1", n, None, {"aim": 0}),
    ]

    def add(what: str, key: str, unit: str, limit: float | None, least: bool = False) -> None:
        values = [run[key] for run in good if key in run]
        if not values:
            return
        conditions: dict[str, Any] = {"worst": min(values) if least else max(values), "aim": limit}
        if limit is not None:
            met = [value >= limit if least else value <= limit for value in values]
            conditions["met"] = sum(met)
        sd = statistics.stdev(values) if len(values) > 1 else None
        mean = statistics.fmean(values)
        out.append(Result(PAPER, TABLE, f"{name}: {what}", None, mean, unit, len(values), sd, conditions))

    add("way over the shortest", "way_over_optimum", "1", AIM_WAY)
    add("map IoU", "iou", "1", AIM_IOU, least=True)
    add("map IoU, cells with a surface near their edge left out", "iou_loose", "1", None, least=True)
    add("error of the estimate, rms", "error_rms_m", "m", None)
    add("error of the estimate, largest", "error_max_m", "m", None)
    add("least clearance", "clearance_m", "m", None, least=True)
    add("way", "way_m", "m", None)
    return out


def _times(prefix: str, runs: list[Run]) -> list[Result]:
    """Simulated time per processor time, and where the processor time goes."""
    if not runs:
        return []
    factors = [run["simulated_s"] / run["processor_s"] for run in runs]
    n, slowest = len(runs), {"worst": min(factors), "aim": AIM_FACTOR}
    mean = statistics.fmean(factors)
    # units of times, because they differ between machines and are not compared
    out = [Result(PAPER, "time", f"{prefix}simulated per processor second", None, mean, "1/s", n, None, slowest)]
    for stage in runs[0]["stages"]:
        share = statistics.fmean(run["stages"][stage] for run in runs)
        out.append(Result(PAPER, "time", f"{prefix}share: {stage}", None, 100.0 * share, "% of the time", n))
    return out
