"""Autonomous flights through an unknown city, as in section V-E2 of airloop: with GNSS, and without."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyloop.core.machine_info import usable_cores
from skyloop.core.results import Result
from skyloop.reproductions.missing_runs import Job, make_missing
from skyloop.reproductions.result_files import begin_or_go_on, write_results
from skyloop.reproductions.unknown_city_flight import fly
from skyloop.reproductions.unknown_city_protocol import (
    AIM_DENIED,
    AIM_FACTOR,
    AIM_IOU,
    AIM_REACHED,
    AIM_WAY,
    PAPER,
    QUICK,
    Protocol,
)

Run = dict[str, Any]
TABLE = "section V-E2"


def reproduce(
    *,
    quick: bool = False,
    folder: Path | None = None,
    protocol: Protocol | None = None,
    told: Callable[[str], None] = lambda line: None,
) -> list[Result]:
    """All flights of the protocol. A folder with some of them is continued."""
    chosen = protocol or (QUICK if quick else Protocol())
    with tempfile.TemporaryDirectory(prefix="skyloop-unknown-city-") as made:
        place = folder or Path(made)
        begin_or_go_on(place, chosen.plain())
        results = results_of(fly_all(chosen, place, told))
        if folder is not None:
            write_results(folder, results)
    return results


def jobs_of(protocol: Protocol, place: Path) -> list[Job]:
    flights = [(f"gnss-{seed}", seed, True) for seed in protocol.seeds]
    flights += [(f"denied-{seed}", seed, False) for seed in protocol.denied]
    return [
        Job(
            name,
            place / "runs" / f"{name}.json",
            fly,
            (seed, gnss, protocol.duration, str(place / "pictures" / f"{name}.png")),
        )
        for name, seed, gnss in flights
    ]


def fly_all(protocol: Protocol, place: Path, told: Callable[[str], None]) -> list[Run]:
    """Fly the missing flights, as many at once as there are cores, and read all of them."""
    jobs = jobs_of(protocol, place)
    make_missing(jobs, usable_cores(), told, in_words)
    return [json.loads(job.kept.read_text(encoding="utf-8")) for job in jobs]


def in_words(scored: Run) -> str:
    if "failed" in scored:
        return f"failed: {scored['failed']}"
    return (
        f"at the goal, way {scored['way_over_optimum']:.2f} of the shortest, IoU {scored['iou']:.2f}, "
        f"error {scored['error_rms_m']:.3f} m, {scored['factor']:.1f} s per processor second"
    )


def results_of(runs: list[Run]) -> list[Result]:
    results = []
    for gnss, name, aim in ((True, "with GNSS", AIM_REACHED), (False, "without GNSS", AIM_DENIED)):
        chosen = [run for run in runs if run["gnss"] == gnss]
        if chosen:
            results += _flights(name, chosen, aim)
    return results + _times([run for run in runs if "factor" in run])


def _flights(name: str, runs: list[Run], aim: int) -> list[Result]:
    """Means are over the missions that succeeded; the failed ones are counted and named."""
    failed = {str(run["seed"]): run["failed"] for run in runs if "failed" in run}
    good = [run for run in runs if "failed" not in run]
    hits = sum(str(run.get("failed", "")).startswith(("contact", "crash")) for run in runs)
    n = len(runs)
    out = [
        Result(PAPER, TABLE, f"{name}: goal reached", 1, len(good), "1", n, None, {"aim": aim, "failed": failed}),
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


def _times(runs: list[Run]) -> list[Result]:
    """Simulated time per processor time, and where the processor time goes."""
    if not runs:
        return []
    factors = [run["simulated_s"] / run["processor_s"] for run in runs]
    n, slowest = len(runs), {"worst": min(factors), "aim": AIM_FACTOR}
    mean = statistics.fmean(factors)
    # units of times, because they differ between machines and are not compared
    out = [Result(PAPER, "time", "simulated per processor second", None, mean, "1/s", n, None, slowest)]
    for stage in runs[0]["stages"]:
        share = statistics.fmean(run["stages"][stage] for run in runs)
        out.append(Result(PAPER, "time", f"share: {stage}", None, 100.0 * share, "% of the time", n))
    return out
