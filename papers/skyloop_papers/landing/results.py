"""From the landings of `skyloop reproduce landing` to the cells of its tables. Failed ones are named."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.landing.protocol import (
    AIM_RMS,
    AIM_TIME,
    PAPER,
    PUBLISHED_LANDED,
    PUBLISHED_MSE,
    PUBLISHED_TIME,
    Protocol,
)

Run = dict[str, Any]


def job_name(group: str, which: str, seed: int) -> str:
    """Of one landing; a name of a file too."""
    return f"{group}-{which.replace(' ', '_').replace('/', '')}-{seed}"


def results_of(protocol: Protocol, runs: dict[str, Run]) -> list[Result]:
    def flown(group: str, which: str, seeds: Iterable[int]) -> list[Run]:
        return [runs[job_name(group, which, seed)] for seed in seeds]

    results: list[Result] = []
    for board in protocol.boards:
        results += _tables(board, flown("board", board, protocol.starts))
    for condition in protocol.conditions:
        results += _summary("conditions", condition, flown("condition", condition, protocol.condition_starts))
    for change in protocol.ablation:
        results += _summary("ablation", change, flown("ablation", change, protocol.ablation_starts))
    for clock in protocol.clocks_mhz:
        results += _summary("clock", f"{clock:g} MHz", flown("clock", f"{clock:g}", protocol.clock_starts))
    return results


def _failed(runs: list[Run]) -> dict[str, str]:
    return {str(run["seed"]): run["failed"] for run in runs if "failed" in run}


def _tables(board: str, runs: list[Run]) -> list[Result]:
    """Tables I to III for one board. Errors and times are of the landings that succeeded."""
    good, n = [run for run in runs if "failed" not in run], len(runs)
    told = {"failed": _failed(runs), "aim": n, **_timing(runs)}
    out = [Result(PAPER, "Table I", f"{board}: landed", PUBLISHED_LANDED[0], len(good), "1", n, None, told)]
    if not good:
        return out
    for key, published in PUBLISHED_MSE.items():
        values = [run[key] for run in good]
        square = statistics.fmean(value * value for value in values)
        unit = "rad" if key == "heading" else "m"
        conditions = {"mse": square, "published_mse": published, "aim": AIM_RMS[key], "worst": max(map(abs, values))}
        rms = math.sqrt(square)
        out.append(
            Result(PAPER, "Table II", f"{board}: {key}", math.sqrt(published), rms, unit, len(good), None, conditions)
        )
    times = [run["time"] for run in good]
    measured = {
        "mean": statistics.fmean(times),
        "median": statistics.median(times),
        "max": max(times),
        "min": min(times),
    }
    for key, published in PUBLISHED_TIME.items():
        aim = {"aim": AIM_TIME[key]} if key in AIM_TIME else {}
        cell = f"{board}: {key} time"
        out.append(Result(PAPER, "Table III", cell, published, measured[key], "s", len(good), None, aim))
    return out


def _timing(runs: list[Run]) -> dict[str, Any]:
    """What boards that count their time say of it."""
    counted = [run for run in runs if run.get("execution_ms")]
    if not counted:
        return {}
    return {
        "execution_ms": statistics.fmean(run["execution_ms"]["mean"] for run in counted),
        "longest_ms": max(run["execution_ms"]["max"] for run in counted),
        "missed": sum(run["execution_ms"]["missed"] for run in counted),
    }


def _summary(table: str, name: str, runs: list[Run]) -> list[Result]:
    """How many of a group landed, with their errors and times beside it."""
    good = [run for run in runs if "failed" not in run]
    told: dict[str, Any] = {"failed": _failed(runs), **_timing(runs)}
    if good:
        for key in PUBLISHED_MSE:
            told[f"{key}_rms"] = math.sqrt(statistics.fmean(run[key] ** 2 for run in good))
        told["time"] = statistics.fmean(run["time"] for run in good)
        told["longest"] = max(run["time"] for run in good)
        told["farthest"] = max(math.hypot(run["x"], run["y"]) for run in good)
    return [Result(PAPER, table, name, None, len(good), "1", len(runs), None, told)]
