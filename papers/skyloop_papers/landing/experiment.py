"""One hundred landings on four boards, as Fig. 4 and Tables I to III of fpga-landing-hil; and what it did not try."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from skyloop_papers.experiment import Cell, Cells, Rule, RunByRun, rows_of
from skyloop_papers.flight_watch import succeeded
from skyloop_papers.landing.flight import (
    ABLATION,
    AIM_RMS,
    AIM_TIME,
    BOARDS,
    CONDITIONS,
    PUBLISHED_LANDED,
    PUBLISHED_MSE,
    PUBLISHED_TIME,
    QUICK,
    LandingPlan,
    land,
    land_on_board,
)
from skyloop_papers.landing.plots import draw_errors, draw_failures, draw_starts
from skyloop_papers.runs import Job, Run
from skyloop_papers.texts import table

SHOWN_SEEDS = 6
"""Of a cause that is frequent, how many seeds are named."""
LATE = "that board misses its deadlines on purpose"


def job_name(group: str, which: str, seed: int) -> str:
    """Of one landing; a name of a file too."""
    return f"{group}-{which.replace(' ', '_').replace('/', '')}-{seed}"


class LandingExperiment(RunByRun[LandingPlan]):
    paper = "fpga-landing-hil"
    rules = (
        Rule("all", LATE, table="Table I", column="landed"),
        Rule("less", LATE, table="Table (II|III)"),
    )
    pictures = ("landing-starts.png", "landing-errors.png", "landing-failures.jpg")

    def plan(self, *, quick: bool = False) -> LandingPlan:
        return QUICK if quick else LandingPlan()

    def jobs(self, plan: LandingPlan, folder: Path) -> list[Job]:
        def job(group: str, which: str, seed: int, call: Callable[..., Run], *arguments: Any) -> Job:
            name = job_name(group, which, seed)
            failed = folder / "failed" / name
            return Job.of(folder, name, call, seed, *arguments, str(failed), leaves=failed)

        rate = plan.camera_rate_hz
        jobs = [
            job("board", board, seed, land_on_board, *BOARDS[board], rate)
            for board in plan.boards
            for seed in plan.starts
        ]
        for clock in plan.clocks_mhz:
            setup = {"clock_mhz": clock}
            jobs += [job("clock", f"{clock:g}", seed, land_on_board, "qemu", setup, rate) for seed in plan.clock_starts]
        for which in plan.conditions:
            jobs += [job("condition", which, seed, land, CONDITIONS[which], rate) for seed in plan.condition_starts]
        for which in plan.ablation:
            jobs += [job("ablation", which, seed, land, ABLATION[which], rate) for seed in plan.ablation_starts]
        return jobs

    def describe(self, run: Run) -> str:
        if "failed" in run:
            return f"failed: {run['failed']}"
        return f"off by {run['x']:+.3f}, {run['y']:+.3f} m and {run['heading']:+.3f} rad after {run['time']:.1f} s"

    def judge(self, plan: LandingPlan, runs: dict[str, Run]) -> list[Cell]:
        """Failed landings are named."""

        def flown(group: str, which: str, seeds: Iterable[int]) -> list[Run]:
            return [runs[job_name(group, which, seed)] for seed in seeds]

        cells: list[Cell] = []
        for board in plan.boards:
            cells += _tables(board, flown("board", board, plan.starts))
        for condition in plan.conditions:
            cells.append(_summary("conditions", condition, flown("condition", condition, plan.condition_starts)))
        for change in plan.ablation:
            cells.append(_summary("ablation", change, flown("ablation", change, plan.ablation_starts)))
        for clock in plan.clocks_mhz:
            cells.append(_summary("clock", f"{clock:g} MHz", flown("clock", f"{clock:g}", plan.clock_starts)))
        return cells

    def write(self, folder: Path, plan: LandingPlan, runs: dict[str, Run], cells: Sequence[Cell]) -> None:
        by_board = {board: [runs[job_name("board", board, seed)] for seed in plan.starts] for board in plan.boards}
        draw_starts(next(iter(by_board.values())), folder / "landing-starts.png")
        draw_errors(by_board, folder / "landing-errors.png")
        draw_failures(pictures_of_failures(folder / "failed"), folder / "landing-failures.jpg")

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        return {
            "boards": _boards(cells),
            "times": _times(cells),
            "conditions": _groups(cells, "conditions", "condition"),
            "ablation": _groups(cells, "ablation", "what differs"),
            "clock": _clocks(cells),
            "failed": _failures(cells),
        }

    def plan_page(self) -> dict[str, str]:
        p = LandingPlan()
        groups = {
            "the paper's test": (p.boards, p.starts),
            "conditions": (p.conditions, p.condition_starts),
            "ablation": (p.ablation, p.ablation_starts),
            "clock": ([f"{clock:g} MHz" for clock in p.clocks_mhz], p.clock_starts),
        }
        rows = [
            [name, ", ".join(each), f"{seeds[0]} to {seeds[-1]}", str(len(each) * len(seeds))]
            for name, (each, seeds) in groups.items()
        ]
        return {"flown": table(["", "each of", "seeds", "landings"], rows)}


EXPERIMENT = LandingExperiment()


def pictures_of_failures(folder: Path) -> list[Path]:
    """The first picture of each board and of each change; the numbers at the end of the names are seeds."""
    first: dict[str, Path] = {}
    for path in sorted(folder.glob("*/failed.png")):
        first.setdefault(path.parent.name.rpartition("-")[0], path)
    return list(first.values())


# ---- cells


def _tables(board: str, runs: list[Run]) -> list[Cell]:
    """Tables I to III for one board. Errors and times are of the landings that succeeded."""
    landed, n = succeeded(runs), len(runs)
    about = {"failed": _failed(runs), "aim": n, **_timing(runs)}
    cells = [Cell("Table I", board, "landed", PUBLISHED_LANDED[0], len(landed), "1", n, None, about)]
    if not landed:
        return cells
    for key, published in PUBLISHED_MSE.items():
        values = [run[key] for run in landed]
        square = statistics.fmean(value * value for value in values)
        unit = "rad" if key == "heading" else "m"
        about = {"mse": square, "published_mse": published, "aim": AIM_RMS[key], "worst": max(map(abs, values))}
        rms = math.sqrt(square)
        cells.append(Cell("Table II", board, key, math.sqrt(published), rms, unit, len(landed), None, about))
    times = [run["time"] for run in landed]
    measure: dict[str, Callable[[list[float]], float]] = {
        "mean": statistics.fmean, "median": statistics.median, "max": max, "min": min,
    }  # fmt: skip
    for key, published in PUBLISHED_TIME.items():
        aim = {"aim": AIM_TIME[key]} if key in AIM_TIME else {}
        cells.append(
            Cell("Table III", board, f"{key} time", published, measure[key](times), "s", len(landed), None, aim)
        )
    return cells


def _summary(group: str, name: str, runs: list[Run]) -> Cell:
    """How many of a group landed, with their errors and times beside it."""
    landed = succeeded(runs)
    about: dict[str, Any] = {"failed": _failed(runs), **_timing(runs)}
    if landed:
        for key in PUBLISHED_MSE:
            about[f"{key}_rms"] = math.sqrt(statistics.fmean(run[key] ** 2 for run in landed))
        about["time"] = statistics.fmean(run["time"] for run in landed)
        about["longest"] = max(run["time"] for run in landed)
        about["farthest"] = max(math.hypot(run["x"], run["y"]) for run in landed)
    return Cell(group, name, "", None, len(landed), "1", len(runs), None, about)


def _failed(runs: list[Run]) -> dict[str, str]:
    return {str(run["seed"]): run["failed"] for run in runs if "failed" in run}


def _timing(runs: list[Run]) -> dict[str, Any]:
    """What boards that count their time say of it."""
    counted = [run["execution_ms"] for run in runs if run.get("execution_ms")]
    if not counted:
        return {}
    return {
        "execution_ms": statistics.fmean(times["mean"] for times in counted),
        "longest_ms": max(times["max"] for times in counted),
        "missed": sum(times["missed"] for times in counted),
    }


# ---- the page


def _names(cells: Sequence[Cell]) -> list[str]:
    return rows_of(cell for cell in cells if cell.table == "Table I")


def _landed(cell: Cell) -> str:
    return f"{cell.ours:g} of {cell.n}"


def _boards(cells: Sequence[Cell]) -> str:
    """Tables I and II: published beside measured."""
    by, names, rows = Cells(cells), _names(cells), []
    first = by[names[0], "landed"]
    rows.append(["landed", f"{first.published:g} of 100", "all", *(_landed(by[name, "landed"]) for name in names)])
    for key in PUBLISHED_MSE:
        found = [by.get((name, key)) for name in names]
        known = next(cell for cell in found if cell is not None)
        unit, aim = known.unit, known.conditions["aim"]
        row = [f"{key}, rms, {unit}", f"{known.published:.2f}", f"≤ {aim:g}"]
        rows.append(row + ["" if cell is None else f"{cell.ours:.3f}" for cell in found])
        row = [f"{key}, mean square, {unit}²", f"{known.conditions['published_mse']:.4f}", ""]
        rows.append(row + ["" if cell is None else f"{cell.conditions['mse']:.4f}" for cell in found])
    return table(["", "paper", "aim", *names], rows, right=1)


def _times(cells: Sequence[Cell]) -> str:
    """Table III, and what the boards' own timers count."""
    by, names, rows = Cells(cells), _names(cells), []
    for key, published in PUBLISHED_TIME.items():
        found = [by.get((name, f"{key} time")) for name in names]
        aim = next((cell.conditions.get("aim") for cell in found if cell is not None), None)
        row = [f"{key}, s", f"{published:.1f}", "" if aim is None else f"≤ {aim:g}"]
        rows.append(row + ["" if cell is None else f"{cell.ours:.1f}" for cell in found])
    for key, what in (("execution_ms", "execution, mean, ms"), ("longest_ms", "execution, longest, ms")):
        values = [by[name, "landed"].conditions.get(key) for name in names]
        if any(value is not None for value in values):
            rows.append([what, "", "", *("" if value is None else f"{value:.3f}" for value in values)])
    return table(["", "paper", "aim", *names], rows, right=1)


def _groups(cells: Sequence[Cell], which: str, head: str) -> str:
    rows = []
    for cell in (cell for cell in cells if cell.table == which):
        about = cell.conditions
        row = [cell.row, _landed(cell)]
        if "time" in about:
            row += [f"{about[f'{key}_rms']:.3f}" for key in PUBLISHED_MSE]
            row += [f"{about['farthest']:.2f}", f"{about['time']:.1f}", f"{about['longest']:.1f}"]
        else:
            row += [""] * 6
        rows.append(row)
    heads = ["landed", "x, m rms", "y, m rms", "heading, rad rms", "farthest, m", "time, s", "longest, s"]
    return table([head, *heads], rows, right=1)


def _clocks(cells: Sequence[Cell]) -> str:
    forms = {"execution_ms": ".2f", "longest_ms": ".2f", "missed": "g", "farthest": ".2f"}
    rows = []
    for cell in (cell for cell in cells if cell.table == "clock"):
        about = cell.conditions
        values = (format(about[key], form) if key in about else "" for key, form in forms.items())
        rows.append([cell.row, _landed(cell), *values])
    heads = ["landed", "execution, ms", "longest, ms", "images missed", "farthest, m"]
    return table(["clock", *heads], rows, right=1)


def _failures(cells: Sequence[Cell]) -> str:
    """How often each group failed for each cause, and with which seeds."""
    seeds: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        for seed, cause in cell.conditions.get("failed", {}).items():
            seeds.setdefault((cell.row, cause), []).append(seed)
    rows = [
        [group, cause, str(len(which)), ", ".join(which[:SHOWN_SEEDS]) + (", ..." if len(which) > SHOWN_SEEDS else "")]
        for (group, cause), which in seeds.items()
    ]
    return table(["group", "cause", "landings", "seeds"], rows) if rows else "No landing failed.\n"
