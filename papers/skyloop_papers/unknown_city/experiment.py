"""Autonomous flights through an unknown city, as in section V-E2 of airloop: with GNSS, and without."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.campaigns.pools import local_pool
from skyloop_papers.experiment import Cell, Rule, RunByRun
from skyloop_papers.flight_watch import collisions, succeeded
from skyloop_papers.runs import ALL_CORES, Job, Progress, Run, RunWorkers, all_runs, silent
from skyloop_papers.tables import Cells, Figures, Form, by_table, lines, shown, table
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
FIGURES: dict[str, tuple[str, str, float | None]] = {
    "way over the shortest": ("way_over_optimum", "1", AIM_WAY),
    "map IoU": ("iou", "1", AIM_IOU),
    "map IoU, cells with a surface near their edge left out": ("iou_loose", "1", None),
    "error of the estimate, rms": ("error_rms_m", "m", None),
    "error of the estimate, largest": ("error_max_m", "m", None),
    "least clearance": ("clearance_m", "m", None),
    "way": ("way_m", "m", None),
}
"""By cell, the figure of a flight that it is the mean of, its unit and the aim."""
MORE_IS_BETTER = ("iou", "iou_loose", "clearance_m")
IN_TROUBLE: dict[str, Form] = {
    "trouble": "{row}",
    "at the goal": "{ours:g} of {n}",
    "collisions": "{hits}",
    "least clearance, m": "{clearance:.2f}",
    "largest error, m": "{error:.2f}",
    "the others": lambda cell: "; ".join(f"seed {seed}: {why}" for seed, why in cell.conditions["failed"].items()),
}


class UnknownCityExperiment(RunByRun[CityPlan]):
    paper = "airloop"
    plans = CityPlan(), QUICK
    rules = (
        Rule("all", row="with GNSS", column="goal reached"),
        Rule("repeat", "the paper flies once, with GNSS", column="goal reached"),
    )
    pictures = ("pictures/gnss-101.png",)

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
        found = by_table(cells)
        return {
            "flights": _flights(found[TABLE]),
            "failed": _failed(found[TABLE]),
            "times": _times(Cells(found["time"])),
            "computers": _computers(Cells(found["CUT"])),
            "troubles": lines(found["trouble"], IN_TROUBLE),
        }

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

    for what, (key, unit, limit) in FIGURES.items():
        values, least = [run[key] for run in flown if key in run], key in MORE_IS_BETTER
        if not values:
            continue
        conditions: dict[str, Any] = {"worst": min(values) if least else max(values), "aim": limit}
        if limit is not None:
            conditions["met"] = sum(value >= limit if least else value <= limit for value in values)
        sd = statistics.stdev(values) if len(values) > 1 else None
        cells.append(Cell(TABLE, name, what, None, statistics.fmean(values), unit, len(values), sd, conditions))
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


def _flights(found: Sequence[Cell]) -> str:
    by, rows = Cells(found), []
    for what in dict.fromkeys(cell.column for cell in found):
        groups = [by.get((name, what)) for name in GROUPS.values()]
        published = next((f"{cell.published:g} flight" for cell in groups if cell and cell.published), "")
        rows.append([what, published, *(shown(cell, _outcome) for cell in groups)])
    return table(["", "paper", *GROUPS.values()], rows, right=1)


def _outcome(cell: Cell) -> str:
    if "failed" in cell.conditions:
        return shown(cell, "{ours:g} of {n}[ (aim {aim})]")
    return shown(cell, "{ours:.3g} (worst {worst:.3g}[; {met} of {n} meet {aim:g}])") or shown(cell, "g")


def _failed(found: Sequence[Cell]) -> str:
    folders = {title: group for group, title in GROUPS.items()}
    rows = []
    for cell in found:
        again = cell.conditions.get("again", {})
        for seed, cause in cell.conditions.get("failed", {}).items():
            command = f"`{again[seed]}`" if seed in again else ""
            rows.append([seed, cell.row, cause, f"`pictures/{folders[cell.row]}-{seed}.png`", command])
    return table(["seed", "", "cause", "picture", "flown again by"], rows) if rows else "No flight failed.\n"


def _times(cells: Cells) -> str:
    forms = {what: "{ours:.1f} (aim ≥ {aim:g})" if what == FACTOR else "{ours:.0f} %" for row, what in cells if not row}
    figures: Figures = {what.removeprefix("share: "): (what, form) for what, form in forms.items()}
    return cells.by_figure("", figures, {"particle filter": "", "kiss-icp": GROUPS["kiss"]})


def _computers(cells: Cells) -> str:
    """Times of a stage are the median and the 99th percentile in ms."""
    rows = []
    for name in [name for name in COMPUTERS if (name, "goal reached") in cells]:
        stages = ([cells.shown(name, f"{stage}, p{q}", ".3g") for q in (50, 99)] for stage in ("t1", "t2", "t3"))
        times = (" / ".join(filter(None, both)) or "a call" for both in stages)
        about, measured = (
            cells[name, "goal reached"].conditions,
            (cells.shown(name, what, ".3g") for what in ON_COMPUTERS),
        )
        rows.append([name, about["network"], *times, *measured, about["failed"] or "at the goal"])
    head = ["stack", "network", "t1", "t2", "t3", "way, m", "error, m rms", "least clearance, m", ""]
    return table(head, rows, right=2)
