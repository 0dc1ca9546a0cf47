"""Autonomous flights through an unknown city, as in section V-E2 of airloop: with GNSS, and without."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.campaigns.pools import local_pool
from skyloop_papers.experiment import Cell, Cells, Rule, RunByRun
from skyloop_papers.flight_watch import collisions, succeeded
from skyloop_papers.runs import ALL_CORES, Job, Progress, Run, RunWorkers, all_runs, silent
from skyloop_papers.texts import table
from skyloop_papers.unknown_city.engine import fly_on
from skyloop_papers.unknown_city.flight import fly
from skyloop_papers.unknown_city.plan import (
    AIM_DENIED,
    AIM_FACTOR,
    AIM_IOU,
    AIM_REACHED,
    AIM_WAY,
    COMPUTERS,
    DENIED,
    GROUPS,
    KISS,
    QUICK,
    SEEDS,
    TROUBLES,
    CityPlan,
)

TABLE = "section V-E2"
FACTOR = "simulated per processor second"
AIMS = {"gnss": AIM_REACHED, "denied": AIM_DENIED, "kiss": None}
ON_COMPUTERS = {"way": "way_m", "error": "error_rms_m", "least clearance": "clearance_m"}


class UnknownCityExperiment(RunByRun[CityPlan]):
    paper = "airloop"
    rules = (Rule("all", column="goal reached"),)
    pictures = ("pictures/gnss-101.png",)

    def plan(self, *, quick: bool = False) -> CityPlan:
        return QUICK if quick else CityPlan()

    def jobs(self, plan: CityPlan, folder: Path) -> list[Job]:
        """The flights that are scored; those with trouble; and those on other computers."""

        def job(name: str, call: Callable[..., Run], who: tuple[Any, ...], *changes: dict[str, Any]) -> Job:
            picture = folder / "pictures" / f"{name}.png"
            arguments = (*who, plan.duration, str(picture), *changes)
            return Job.of(folder, name, call, *arguments, timed=call is fly_on, leaves=picture)

        jobs = [job(f"{group}-{seed}", fly, (seed, group)) for group, seed in plan.flights()]
        for number, changes in enumerate(TROUBLES.values(), 1):
            jobs += [job(f"trouble-{number}-{seed}", fly, (seed, "gnss"), changes) for seed in plan.troubles]
        for number, name in enumerate(COMPUTERS, 1):
            jobs += [job(f"computer-{number}-{seed}", fly_on, (name, seed)) for seed in plan.computers]
        return jobs

    def describe(self, run: Run) -> str:
        if "failed" in run:
            return f"failed: {run['failed']}"
        return (
            f"at the goal, way {run['way_over_optimum']:.2f} of the shortest, IoU {run['iou']:.2f}, "
            f"error {run['error_rms_m']:.3f} m, {run['factor']:.1f} s per processor second"
        )

    def fly(
        self, plan: CityPlan, folder: Path, progress: Progress = silent, workers: RunWorkers = ALL_CORES
    ) -> dict[str, Run]:
        jobs = self.jobs(plan, folder)
        timed = [job for job in jobs if job.timed]
        runs = all_runs([job for job in jobs if not job.timed], workers.pool(self.cores), progress, self.describe)
        # here and one after the other: their times are measured, and a flight over the link has two processes
        return runs | all_runs(timed, local_pool(1), progress, _describe_timed)

    def judge(self, plan: CityPlan, runs: dict[str, Run]) -> list[Cell]:
        scored = [run for name, run in runs.items() if name.startswith(tuple(GROUPS))]
        cells: list[Cell] = []
        for group, name in GROUPS.items():
            chosen = [run for run in scored if run["group"] == group]
            if chosen:
                cells += _flown(name, chosen, AIMS[group])
        timed = [run for run in scored if "factor" in run]
        # the localisers cost different times
        cells += _processor_times("", [run for run in timed if run["group"] != "kiss"])
        cells += _processor_times(GROUPS["kiss"], [run for run in timed if run["group"] == "kiss"])
        for number, trouble in enumerate(TROUBLES, 1):
            chosen = [run for name, run in runs.items() if name.startswith(f"trouble-{number}-")]
            cells += [_trouble(trouble, chosen)] if chosen else []
        return cells + [cell for name, run in runs.items() if name.startswith("computer") for cell in _on_computer(run)]

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        return {
            "flights": _flights(cells), "failed": _failed(cells), "times": _times(cells),
            "computers": _computers(cells), "troubles": _troubles(cells),
        }  # fmt: skip

    def plan_page(self) -> dict[str, str]:
        rows = [
            ["with GNSS: goal reached", "one flight", f"{AIM_REACHED} of {len(SEEDS)}"],
            ["without GNSS: goal reached", "", f"{AIM_DENIED} of {len(DENIED)}"],
            ["kiss-icp, without GNSS: goal reached", "", f"{len(KISS)} flights, to compare"],
            ["collisions", "0", "0"],
            ["way over the shortest on the true map", "", f"≤ {AIM_WAY:g}"],
            ["map IoU", "pictures", f"≥ {AIM_IOU:g}"],
            [FACTOR, "", f"≥ {AIM_FACTOR:g}"],
        ]
        return {"aims": table(["", "paper", "aim"], rows, right=1)}


EXPERIMENT = UnknownCityExperiment()


def _describe_timed(run: Run) -> str:
    times = ", ".join(f"{stage} {statistics.median(values):.1f} ms" for stage, values in run["times"].items() if values)
    return f"{run.get('failed', 'at the goal')}; {times}"


# ---- cells


def _of_seeds(runs: list[Run], key: str) -> dict[str, str]:
    return {str(run["seed"]): run[key] for run in runs if key in run}


def _trouble(name: str, runs: list[Run]) -> Cell:
    """How many came to the goal, how many hit something, and how near walls were at the worst."""
    failed = _of_seeds(runs, "failed")
    about = {
        "hits": collisions(failed.values()), "failed": failed, "again": _of_seeds(runs, "again"),
        "clearance": min(run["clearance_m"] for run in runs if "clearance_m" in run),
        "error": max(run["error_max_m"] for run in runs if "error_max_m" in run),
    }  # fmt: skip
    return Cell("trouble", name, "", None, len(runs) - len(failed), "1", len(runs), None, about)


def _flown(name: str, runs: list[Run], aim: int | None) -> list[Cell]:
    """Means are over the missions that succeeded; the failed ones are counted and named."""
    failed, flown = _of_seeds(runs, "failed"), succeeded(runs)
    n, about = len(runs), {"aim": aim, "failed": failed, "again": _of_seeds(runs, "again")}
    cells = [
        Cell(TABLE, name, "goal reached", 1, len(flown), "1", n, None, about),
        Cell(TABLE, name, "collisions", None, collisions(failed.values()), "1", n, None, {"aim": 0}),
    ]

    def add(what: str, key: str, unit: str, limit: float | None, least: bool = False) -> None:
        values = [run[key] for run in flown if key in run]
        if not values:
            return
        conditions: dict[str, Any] = {"worst": min(values) if least else max(values), "aim": limit}
        if limit is not None:
            conditions["met"] = sum(value >= limit if least else value <= limit for value in values)
        sd = statistics.stdev(values) if len(values) > 1 else None
        cells.append(Cell(TABLE, name, what, None, statistics.fmean(values), unit, len(values), sd, conditions))

    add("way over the shortest", "way_over_optimum", "1", AIM_WAY)
    add("map IoU", "iou", "1", AIM_IOU, least=True)
    add("map IoU, cells with a surface near their edge left out", "iou_loose", "1", None, least=True)
    add("error of the estimate, rms", "error_rms_m", "m", None)
    add("error of the estimate, largest", "error_max_m", "m", None)
    add("least clearance", "clearance_m", "m", None, least=True)
    add("way", "way_m", "m", None)
    return cells


def _processor_times(row: str, runs: list[Run]) -> list[Cell]:
    """Simulated time per processor time, and where the processor time goes."""
    if not runs:
        return []
    factors = [run["simulated_s"] / run["processor_s"] for run in runs]
    n, slowest = len(runs), {"worst": min(factors), "aim": AIM_FACTOR}
    # units of times, because they differ between machines and are not compared
    cells = [Cell("time", row, FACTOR, None, statistics.fmean(factors), "1/s", n, None, slowest)]
    for stage in runs[0]["stages"]:
        share = statistics.fmean(run["stages"][stage] for run in runs)
        cells.append(Cell("time", row, f"share: {stage}", None, 100.0 * share, "% of the time", n))
    return cells


def _on_computer(run: Run) -> list[Cell]:
    name = run["computer"]
    about = {"network": run["network"], "failed": run.get("failed", ""), "seed": run["seed"]}
    cells = [Cell("CUT", name, "goal reached", None, float("failed" not in run), "1", 1, None, about)]
    cells += [Cell("CUT", name, what, None, run[key], "m", 1) for what, key in ON_COMPUTERS.items() if key in run]
    for stage, values in run["times"].items():
        for q in (50, 99) if values else ():
            value = float(np.percentile(values, q))
            cells.append(Cell("CUT", name, f"{stage}, p{q}", None, value, "ms", len(values)))
    return cells


# ---- the page


def _flights(cells: Sequence[Cell]) -> str:
    found, rows = [cell for cell in cells if cell.table == TABLE], []
    by = Cells(found)
    for what in dict.fromkeys(cell.column for cell in found):
        groups = [by.get((name, what)) for name in GROUPS.values()]
        published = next((f"{cell.published:g} flight" for cell in groups if cell and cell.published), "")
        rows.append([what, published, *(_shown(cell) for cell in groups)])
    return table(["", "paper", *GROUPS.values()], rows, right=1)


def _shown(cell: Cell | None) -> str:
    if cell is None:
        return ""
    about = cell.conditions
    if "failed" in about:
        aim = "" if about["aim"] is None else f" (aim {about['aim']})"
        return f"{cell.ours:g} of {cell.n}{aim}"
    if "worst" not in about:
        return f"{cell.ours:g}"
    aim = "" if about.get("aim") is None else f"; {about['met']} of {cell.n} meet {about['aim']:g}"
    return f"{cell.ours:.3g} (worst {about['worst']:.3g}{aim})"


def _failed(cells: Sequence[Cell]) -> str:
    folders = {title: group for group, title in GROUPS.items()}
    rows = []
    for cell in (cell for cell in cells if cell.table == TABLE):
        again = cell.conditions.get("again", {})
        for seed, cause in cell.conditions.get("failed", {}).items():
            command = f"`{again[seed]}`" if seed in again else ""
            rows.append([seed, cell.row, cause, f"`pictures/{folders[cell.row]}-{seed}.png`", command])
    return table(["seed", "", "cause", "picture", "flown again by"], rows) if rows else "No flight failed.\n"


def _times(cells: Sequence[Cell]) -> str:
    by = Cells.of(cells, "time")
    rows = []
    for what in (column for row, column in by if not row):
        both = (by.get((row, what)) for row in ("", GROUPS["kiss"]))
        rows.append([what.removeprefix("share: "), *(_time(cell) for cell in both)])
    return table(["", "particle filter", "kiss-icp"], rows, right=1)


def _time(cell: Cell | None) -> str:
    if cell is None:
        return ""
    return f"{cell.ours:.1f} (aim ≥ {cell.conditions['aim']:g})" if cell.column == FACTOR else f"{cell.ours:.0f} %"


def _computers(cells: Sequence[Cell]) -> str:
    by, rows = Cells.of(cells, "CUT"), []
    for name in COMPUTERS:
        reached = by.get((name, "goal reached"))
        if reached is None:
            continue
        stages = (_stage(by, name, stage) for stage in ("t1", "t2", "t3"))
        measured = (by.shown(name, what, ".3g") for what in ON_COMPUTERS)
        outcome = reached.conditions["failed"] or "at the goal"
        rows.append([name, reached.conditions["network"], *stages, *measured, outcome])
    head = ["stack", "network", "t1", "t2", "t3", "way, m", "error, m rms", "least clearance, m", ""]
    return table(head, rows, right=2) if rows else "Not flown yet.\n"


def _stage(cells: Cells, name: str, stage: str) -> str:
    """Median and 99th percentile in ms."""
    both = (cells.shown(name, f"{stage}, p{q}", ".3g") for q in (50, 99))
    return " / ".join(shown for shown in both if shown) or "a call"


def _troubles(cells: Sequence[Cell]) -> str:
    rows = []
    for cell in (cell for cell in cells if cell.table == "trouble"):
        about = cell.conditions
        rest = "; ".join(f"seed {seed}: {cause}" for seed, cause in about["failed"].items())
        reached = f"{cell.ours:g} of {cell.n}"
        rows.append([cell.row, reached, str(about["hits"]), f"{about['clearance']:.2f}", f"{about['error']:.2f}", rest])
    head = ["trouble", "at the goal", "collisions", "least clearance, m", "largest error, m", "the others"]
    return table(head, rows, right=1) if rows else "Not flown yet.\n"
