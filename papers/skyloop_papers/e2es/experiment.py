"""Localisation as in sections 5.1 and 5.3 of e2es: absolute errors in a room and a corridor, time per pair of images.

Beyond the paper: three more worlds, loop closure, consistency, landings on the estimate, and hard cases."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.campaigns.pools import local_pool
from skyloop.core.machine_info import usable_cores
from skyloop_autonomy.evaluation.hard_cases import CASES, SEED
from skyloop_autonomy.evaluation.hard_cases import table as case_table
from skyloop_autonomy.evaluation.localisation_scores import nees_over_runs
from skyloop_autonomy.evaluation.trajectory_error import band
from skyloop_autonomy.evaluation.vio_flights import FLIGHTS
from skyloop_papers.e2es.flights import (
    AIMS,
    PAIR_MS,
    PAIR_P95_MS,
    PUBLISHED_APE_DEG,
    PUBLISHED_APE_M,
    PUBLISHED_PAIR_MS,
    QUICK,
    SEEDS,
    LocalisationPlan,
    flight_on_estimate,
    flown_case,
    sensor_cases,
)
from skyloop_papers.experiment import Cell, Experiment, Rule
from skyloop_papers.runs import Job, Progress, Run, RunWorkers, all_runs
from skyloop_papers.tables import Cells, Figures, Form, by_table, lines, shown, table

AIM = "[ (≤ {aim:g})]"
ACCURACY: Figures = {
    "finished": ("flights finished", "{ours:g} of {n}"),
    "way, m": ("way", ".1f"),
    "APE, m": ("APE, translation", "{ours:.3f}" + AIM),
    "worst, m": ("APE, worst flight", "{ours:.3f}" + AIM),
    "APE, deg": ("APE, rotation", "{ours:.2f}" + AIM),
    "of the way, %": ("APE over the way", "{ours:.2f}" + AIM),
    "closed, m": ("APE with loop closure, translation", "{ours:.3f}" + AIM),
    "closed, deg": ("APE with loop closure, rotation", "{ours:.2f}" + AIM),
}
CONSISTENCY: dict[str, Form] = {
    "world": "{row}", "NEES": ".1f", "95 % band": "{low:.1f} to {high:.1f}", "instants inside": "{instants_inside:.0%}",
}  # fmt: skip
TIMES: dict[str, Form] = {"ms": "{name}", "paper": "[{published:g}]", "here (aim)": "{ours:.1f}" + AIM}
LANDINGS = "{ours:g} of {n} flights on the estimate landed within 0.3 m of where they took off.\n"
CASES_SHOWN: dict[str, Form] = {
    "case": "{row}", "what": "{about}", "APE, m": lambda cell: f"{cell.ours:.3f}" if cell.column == "APE" else "failed",
    "largest, m": "{largest_m:.2f}", "lost, s": "{lost_s:.2f}", "back after, s": "{recovered_s:.2f}",
    "added, m": "{added_m:.2f}",
}  # fmt: skip


class LocalisationExperiment(Experiment[LocalisationPlan, dict[str, Run]]):
    paper = "e2es"
    plans = LocalisationPlan(), QUICK
    rules = (Rule("less", table="accuracy"), Rule("speed", "i7-8550U", table="Table 1"))
    not_run_by_run = "it measures the time for each pair of images on this machine"

    def fly(self, plan: LocalisationPlan, folder: Path, progress: Progress, workers: RunWorkers) -> dict[str, Run]:
        """What every run left, by its name."""
        jobs = jobs_of(plan, folder)
        # a flight keeps its own process and that of its renderer busy
        left = all_runs(jobs, local_pool(max(1, 3 * usable_cores() // 4)), progress, _describe)
        runs: dict[str, Run] = {}
        for job in jobs:
            scored = left[job.name]
            on_one = job.call is sensor_cases
            runs |= {f"case-{name}": row for name, row in scored.items()} if on_one else {job.name: scored}
        return runs

    def judge(self, plan: LocalisationPlan, runs: dict[str, Run]) -> list[Cell]:
        """An unfinished run counts as failed."""
        cells = []
        for world in plan.worlds:
            cells += _world(world, [runs[f"flight-{world}-{seed}"] for seed in plan.seeds])
        flown = [runs[f"flight-{world}-{seed}"] for world in plan.worlds for seed in plan.seeds]
        cells += _processor_times([run for run in flown if "unfinished" not in run])
        landed = sum(bool(run.get("lands")) for run in flown)
        away = [round(run["off_m"], 3) for run in flown if "off_m" in run]
        about = {"aim": len(flown), "unfinished": sum("unfinished" in run for run in flown), "off_m": away}
        cells.append(Cell("landings", "landed within 0.3 m", "", None, landed, "1", len(flown), None, about))
        return cells + [_case(name, runs[f"case-{name}"]) for name in plan.cases]

    def write(self, folder: Path, plan: LocalisationPlan, runs: dict[str, Run], cells: Sequence[Cell]) -> None:
        rows = {name: runs[f"case-{name}"] for name in plan.cases}
        (folder / "hard-cases.md").write_text(case_table(rows), encoding="utf-8")

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        found = by_table(cells)
        accuracy = Cells(found["accuracy"])
        return {
            "accuracy": accuracy.by_row("world", accuracy.rows, ACCURACY),
            "consistency": lines(found["consistency"], CONSISTENCY),
            "times": lines(found["Table 1"], TIMES),
            "landings": shown(found["landings"][0], LANDINGS),
            "cases": lines(found["hard cases"], CASES_SHOWN, right=2),
        }

    def plan_page(self) -> dict[str, str]:
        return {"flown": _planned_flights(), "aims": _planned_aims(), "cases": _planned_cases()}


EXPERIMENT = LocalisationExperiment()


def jobs_of(plan: LocalisationPlan, folder: Path) -> list[Job]:
    def job(name: str, call: Callable[..., Run], *arguments: object) -> Job:
        plain = name.replace("°", "deg").replace("%", "percent").replace("/", "-per-").replace(" ", "-")
        return Job(name, folder / "runs" / f"{plain}.json", call, arguments)

    # the pictures of the first seed are kept
    pictures = {plan.seeds[0]: str(folder / "pictures")}
    flights = [
        job(f"flight-{world}-{seed}", flight_on_estimate, world, seed, plan.length, pictures.get(seed, ""))
        for seed in plan.seeds
        for world in plan.worlds
    ]
    on_one = tuple(name for name in plan.cases if CASES[name].flight is None)
    cases = [job("cases-on-one-flight", sensor_cases, on_one, SEED)] if on_one else []
    return flights + cases + [job(f"case-{name}", flown_case, name, SEED) for name in plan.cases if name not in on_one]


def _describe(scored: Run) -> str:
    if "unfinished" in scored:
        return str(scored["unfinished"])
    numbers = {name: value for name, value in scored.items() if isinstance(value, int | float)}
    return ", ".join(f"{name} {value:.3g}" for name, value in numbers.items()) or f"{len(scored)} cases"


# ---- cells


def _world(world: str, runs: list[Run]) -> list[Cell]:
    """Means over the finished flights; the aims hold only if all finished."""
    aim, finished = AIMS[world], [run for run in runs if "unfinished" not in run]
    failed = [str(run["unfinished"]) for run in runs if "unfinished" in run]
    common: dict[str, Any] = {"flights": len(runs), "failed": failed}
    published = world in ("room", "corridor")
    out = [Cell("accuracy", world, "flights finished", None, len(finished), "1", len(runs), None, common)]
    if not finished:
        return out

    def cell(what: str, values: list[float], unit: str, shown: float | None, limit: float | None) -> None:
        mean, worst = statistics.fmean(values), max(values)
        sd = statistics.stdev(values) if len(values) > 1 else None
        conditions = {**common, "worst": worst, "aim": limit, "values": [round(value, 5) for value in values]}
        if limit is not None:
            conditions["holds"] = not failed and mean <= limit
        out.append(Cell("accuracy", world, what, shown, mean, unit, len(values), sd, conditions, left_out=len(failed)))

    shown_m, shown_deg = (PUBLISHED_APE_M, PUBLISHED_APE_DEG) if published else (None, None)
    cell("way", [run["way_m"] for run in finished], "m", None, None)
    cell("APE, translation", [run["ape_m"] for run in finished], "m", shown_m, aim.ape_m)
    cell("APE, rotation", [run["ape_deg"] for run in finished], "deg", shown_deg, aim.ape_deg)
    if aim.worst_m is not None:
        worst = max(run["ape_m"] for run in finished)
        conditions = {**common, "aim": aim.worst_m, "holds": not failed and worst <= aim.worst_m}
        out.append(Cell("accuracy", world, "APE, worst flight", None, worst, "m", len(finished), None, conditions))
    cell("APE over the way", [100.0 * run["ape_m"] / run["way_m"] for run in finished], "%", None, _percent(aim.share))
    cell("RPE over 1 m, translation", [run["rpe_m"] for run in finished if "rpe_m" in run], "m", None, None)
    closed = [run for run in finished if "closed_ape_m" in run]
    if closed:
        cell("APE with loop closure, translation", [run["closed_ape_m"] for run in closed], "m", None, aim.closed_m)
        cell("APE with loop closure, rotation", [run["closed_ape_deg"] for run in closed], "deg", None, aim.closed_deg)
    return [*out, *_nees(world, finished)]


def _percent(share: float | None) -> float | None:
    return None if share is None else 100.0 * share


def _nees(world: str, runs: list[Run]) -> list[Cell]:
    values = [np.array(run["nees_values"]) for run in runs]
    mean, inside = nees_over_runs([(np.zeros(0), value) for value in values])
    if math.isnan(mean):
        return []
    wanted = band(len(runs))
    conditions = {"low": wanted.low, "high": wanted.high, "holds": wanted.holds(mean), "instants_inside": inside}
    return [Cell("consistency", world, "NEES", None, mean, "1", len(runs), None, conditions)]


def _processor_times(runs: list[Run]) -> list[Cell]:
    """Processor time of a pair, over all flights, by stage."""
    if not runs:
        return []
    n = len(runs)
    mean, late = (statistics.fmean(run[key] for run in runs) for key in ("pair_ms", "pair_p95_ms"))
    out = [
        Cell("Table 1", "localisation, per pair", "", PUBLISHED_PAIR_MS, mean, "ms", n, None, {"aim": PAIR_MS}),
        Cell("Table 1", "localisation, 95 % of pairs", "", None, late, "ms", n, None, {"aim": PAIR_P95_MS}),
    ]
    for stage in runs[0]["stages_ms"]:
        value = statistics.fmean(run["stages_ms"].get(stage, 0.0) for run in runs)
        out.append(Cell("Table 1", "stage", stage, None, value, "ms", n))
    return out


def _case(name: str, row: Run) -> Cell:
    """The absolute error of a hard case; what else is known of it is in the conditions."""
    about = _finite({key: value for key, value in row.items() if key != "ape_m"})
    if "ape_m" not in row or not math.isfinite(row["ape_m"]):
        return Cell("hard cases", name, "finished", None, 0.0, "1", 1, None, about)
    return Cell("hard cases", name, "APE", None, row["ape_m"], "m", 1, None, about)


def _finite(values: Run) -> Run:
    """JSON has no infinity."""
    return {
        key: "never" if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in values.items()
    }


# ---- the pages


def _planned_flights() -> str:
    rows = []
    for name, flight in FLIGHTS.items():
        one = flight.explored
        shown = f"{one.length:g} m|{one.speed:g} m/s|{one.altitude:g} m|{one.space.clearance:g} m"
        rows.append([name, *shown.split("|"), str(len(SEEDS))])
    head = ["world", "way", "speed, at most", "height", "clearance", "flights"]
    return table(head, rows, right=1)


def _planned_aims() -> str:
    rows = []
    for name, aim in AIMS.items():
        numbers = (aim.ape_m, aim.worst_m, aim.ape_deg, aim.closed_m, aim.closed_deg)
        share = "" if aim.share is None else f"{100.0 * aim.share:g} %"
        rows.append([name, *("" if number is None else f"{number:g}" for number in numbers), share])
    head = ["world", "APE, m", "worst, m", "APE, deg", "closed, m", "closed, deg", "of the way"]
    return table(head, rows, right=1)


def _planned_cases() -> str:
    rows = [
        [name, case.about, "its own" if case.flight is not None else "the short one"] for name, case in CASES.items()
    ]
    return table(["case", "what", "flight"], rows)
