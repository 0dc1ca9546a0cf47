"""From the runs of `skyloop reproduce e2es` to the cells of its tables. An unfinished run counts as failed."""

from __future__ import annotations

import math
import statistics
from typing import Any

import numpy as np

from skyloop.core.results import Result
from skyloop.reproductions.e2es_protocol import (
    AIMS,
    PAIR_MS,
    PAIR_P95_MS,
    PAPER,
    PUBLISHED_APE_DEG,
    PUBLISHED_APE_M,
    PUBLISHED_PAIR_MS,
    Protocol,
)
from skyloop_autonomy.evaluation.consistency import band
from skyloop_autonomy.evaluation.localisation_scores import nees_over_runs

Run = dict[str, Any]


def results_of(protocol: Protocol, runs: dict[str, Run]) -> list[Result]:
    results = []
    for world in protocol.worlds:
        results += world_results(world, [runs[f"flight-{world}-{seed}"] for seed in protocol.seeds])
    flown = [runs[f"flight-{world}-{seed}"] for world in protocol.worlds for seed in protocol.seeds]
    results += time_results([run for run in flown if "unfinished" not in run])
    good = sum(bool(run.get("lands")) for run in flown)
    away = [round(run["off_m"], 3) for run in flown if "off_m" in run]
    conditions = {"aim": len(flown), "unfinished": sum("unfinished" in run for run in flown), "off_m": away}
    results.append(Result(PAPER, "landings", "landed within 0.3 m", None, good, "1", len(flown), None, conditions))
    return results + [result for name in protocol.cases for result in case_results(name, runs[f"case-{name}"])]


def world_results(world: str, runs: list[Run]) -> list[Result]:
    """Means over the finished flights; the aims hold only if all finished."""
    aim, whole = AIMS[world], [run for run in runs if "unfinished" not in run]
    failed = [str(run["unfinished"]) for run in runs if "unfinished" in run]
    common: dict[str, Any] = {"flights": len(runs), "failed": failed}
    published = world in ("room", "corridor")
    out = [Result(PAPER, "accuracy", f"{world}: flights finished", None, len(whole), "1", len(runs), None, common)]
    if not whole:
        return out

    def cell(what: str, values: list[float], unit: str, shown: float | None, limit: float | None) -> None:
        mean, worst = statistics.fmean(values), max(values)
        sd = statistics.stdev(values) if len(values) > 1 else None
        conditions = {**common, "worst": worst, "aim": limit, "values": [round(value, 5) for value in values]}
        if limit is not None:
            conditions["holds"] = not failed and mean <= limit
        out.append(Result(PAPER, "accuracy", f"{world}: {what}", shown, mean, unit, len(values), sd, conditions))

    shown_m, shown_deg = (PUBLISHED_APE_M, PUBLISHED_APE_DEG) if published else (None, None)
    cell("way", [run["way_m"] for run in whole], "m", None, None)
    cell("APE, translation", [run["ape_m"] for run in whole], "m", shown_m, aim.ape_m)
    cell("APE, rotation", [run["ape_deg"] for run in whole], "deg", shown_deg, aim.ape_deg)
    if aim.worst_m is not None:
        worst = max(run["ape_m"] for run in whole)
        conditions = {**common, "aim": aim.worst_m, "holds": not failed and worst <= aim.worst_m}
        out.append(
            Result(PAPER, "accuracy", f"{world}: APE, worst flight", None, worst, "m", len(whole), None, conditions)
        )
    cell("APE over the way", [100.0 * run["ape_m"] / run["way_m"] for run in whole], "%", None, _percent(aim.share))
    cell("RPE over 1 m, translation", [run["rpe_m"] for run in whole if "rpe_m" in run], "m", None, None)
    closed = [run for run in whole if "closed_ape_m" in run]
    if closed:
        cell("APE with loop closure, translation", [run["closed_ape_m"] for run in closed], "m", None, aim.closed_m)
        cell("APE with loop closure, rotation", [run["closed_ape_deg"] for run in closed], "deg", None, aim.closed_deg)
    return [*out, *consistency_results(world, whole)]


def _percent(share: float | None) -> float | None:
    return None if share is None else 100.0 * share


def consistency_results(world: str, runs: list[Run]) -> list[Result]:
    values = [np.array(run["nees_values"]) for run in runs]
    mean, inside = nees_over_runs([(np.zeros(0), value) for value in values])
    if math.isnan(mean):
        return []
    wanted = band(len(runs))
    conditions = {"low": wanted.low, "high": wanted.high, "holds": wanted.holds(mean), "instants_inside": inside}
    return [Result(PAPER, "consistency", f"{world}: NEES", None, mean, "1", len(runs), None, conditions)]


def time_results(runs: list[Run]) -> list[Result]:
    """Processor time of a pair, over all flights, by stage."""
    if not runs:
        return []
    n = len(runs)
    mean, late = (statistics.fmean(run[key] for run in runs) for key in ("pair_ms", "pair_p95_ms"))
    out = [
        Result(PAPER, "Table 1", "localisation, per pair", PUBLISHED_PAIR_MS, mean, "ms", n, None, {"aim": PAIR_MS}),
        Result(PAPER, "Table 1", "localisation, 95 % of pairs", None, late, "ms", n, None, {"aim": PAIR_P95_MS}),
    ]
    for stage in runs[0]["stages_ms"]:
        value = statistics.fmean(run["stages_ms"].get(stage, 0.0) for run in runs)
        out.append(Result(PAPER, "Table 1", f"stage: {stage}", None, value, "ms", n))
    return out


def case_results(name: str, row: Run) -> list[Result]:
    """The absolute error of a hard case; what else is known of it is in the conditions."""
    conditions = {key: value for key, value in row.items() if key != "ape_m"}
    if "ape_m" not in row or not math.isfinite(row["ape_m"]):
        return [Result(PAPER, "hard cases", f"{name}: finished", None, 0.0, "1", 1, None, _finite(conditions))]
    return [Result(PAPER, "hard cases", f"{name}: APE", None, row["ape_m"], "m", 1, None, _finite(conditions))]


def _finite(values: Run) -> Run:
    """JSON has no infinity."""
    return {
        key: "never" if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in values.items()
    }
