"""The published algorithm whole, on the starts of the hundred landings, and ours beside it: Tables I to III."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from skyloop.world.worlds.landing import Landing
from skyloop_papers.experiment import Cell, ExperimentPlan, Rule, RunByRun
from skyloop_papers.flight_watch import succeeded
from skyloop_papers.landing.experiment import (
    draw_errors,
    draw_failures,
    failure_lines,
    job_name,
    of_landed,
    pictures_of_failures,
)
from skyloop_papers.landing.flight import (
    DURATION,
    ON_MARKER,
    PUBLISHED_LANDED,
    PUBLISHED_MSE,
    PUBLISHED_TIME,
    land_on_board,
)
from skyloop_papers.landing_published.published import WAYS
from skyloop_papers.runs import Job, Run
from skyloop_papers.tables import Cells, by_table, table

PUBLISHED = "as published"
GAINS = "the paper does not give K1 to K3 and H_L, and they decide the time"
BOARD = "python"


@dataclass(frozen=True, slots=True)
class PublishedPlan(ExperimentPlan):
    """What is flown. The quick form is one landing as published."""

    seeds: tuple[tuple[str, tuple[int, ...]], ...] = (
        (PUBLISHED, tuple(range(101, 121))),
        ("ours", tuple(range(101, 111))),
        ("heading too", tuple(range(101, 111))),
    )
    """Of each way; they draw the start, the ground and the noise, as those of `landing` do."""

    def plain(self) -> dict[str, Any]:
        ways = {
            name: {"changes": way.changes, "polls_per_step": way.polls_per_step, "camera_rate_hz": rate}
            for name, (way, rate) in WAYS.items()
        }
        return {**asdict(self), "ways": ways, "duration": DURATION, "ring": ON_MARKER}


class LandingPublishedExperiment(RunByRun[PublishedPlan]):
    paper = "fpga-landing-hil"
    plans = PublishedPlan(), PublishedPlan(((PUBLISHED, (1,)),))
    rules = (
        Rule("all", "not every vehicle came down", table="Table I"),
        Rule("same", "gains, H_L and the ground are ours, where the paper leaves them open", table="Table II"),
        Rule("other", GAINS, table="Table III"),
    )
    pictures = ("landing-published.png",)

    def jobs(self, plan: PublishedPlan, folder: Path) -> list[Job]:
        jobs = []
        for name, seeds in plan.seeds:
            way, rate = WAYS[name]
            for seed in seeds:
                called = job_name("way", name, seed)
                failed = folder / "failed" / called
                jobs.append(
                    Job.of(folder, called, land_on_board, seed, BOARD, {}, rate, str(failed), way, leaves=failed)
                )
        return jobs

    def describe(self, run: Run) -> str:
        if "failed" in run:
            return f"failed: {run['failed']}"
        return f"off by {run['x']:+.3f}, {run['y']:+.3f} m and {run['heading']:+.3f} rad after {run['time']:.1f} s"

    def judge(self, plan: PublishedPlan, runs: dict[str, Run]) -> list[Cell]:
        cells: list[Cell] = []
        for name, seeds in plan.seeds:
            cells += _cells(name, [runs[job_name("way", name, seed)] for seed in seeds])
        return cells

    def write(self, folder: Path, plan: PublishedPlan, runs: dict[str, Run], cells: Sequence[Cell]) -> None:
        by_way = {name: [runs[job_name("way", name, seed)] for seed in seeds] for name, seeds in plan.seeds}
        draw_errors(by_way, folder / "landing-published.png")
        draw_failures(pictures_of_failures(folder / "failed"), folder / "landing-published-failures.jpg")

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        return {"ways": _ways(Cells(cells)), "failed": failure_lines(by_table(cells)["Table I"])}

    def plan_page(self) -> dict[str, str]:
        rows = []
        for name, seeds in PublishedPlan().seeds:
            rows.append([name, f"{seeds[0]} to {seeds[-1]}", str(len(seeds)), f"{WAYS[name][1]} Hz"])
        return {"flown": table(["", "seeds", "landings", "camera"], rows)}


EXPERIMENT = LandingPublishedExperiment()


def _cells(way: str, runs: list[Run]) -> list[Cell]:
    """Tables I to III of one way. Only the published one is judged: ours is another algorithm."""
    landed, n = succeeded(runs), len(runs)
    judged = way == PUBLISHED
    about = {
        "failed": {
            str(run["seed"]): f"{run['failed']} ({Landing(run['seed']).cover})" for run in runs if "failed" in run
        },
        "in_ring": sum(math.hypot(run["x"], run["y"]) <= ON_MARKER for run in landed),
    }
    published: float | None = PUBLISHED_LANDED[0] if judged else None
    cells = [Cell("Table I", way, "landed", published, len(landed), "1", n, None, about)]
    if not landed:
        return cells
    out = n - len(landed)
    for key, square in PUBLISHED_MSE.items():
        squares = [run[key] ** 2 for run in landed]
        about = {"rms": math.sqrt(statistics.fmean(squares)), "worst": math.sqrt(max(squares))}
        unit = "rad²" if key == "heading" else "m²"
        mean = Cell.mean("Table II", way, key, square if judged else None, squares, unit, about)
        cells.append(replace(mean, left_out=out))
    times = [run["time"] for run in landed]
    measure: dict[str, Callable[[list[float]], float]] = {
        "mean": statistics.fmean, "median": statistics.median, "max": max, "min": min,
    }  # fmt: skip
    for key, seconds in PUBLISHED_TIME.items():
        published = seconds if judged else None
        value = measure[key](times)
        cells.append(Cell("Table III", way, f"{key} time", published, value, "s", len(landed), left_out=out))
    return cells


def _ways(cells: Cells) -> str:
    """Tables I to III with a column for each way."""

    def line(label: str, paper: str, column: str, form: str) -> list[str]:
        return [label, paper, *(of_landed(cells, way, column, form) for way in cells.rows)]

    rows = [
        line("landed", f"{PUBLISHED_LANDED[0]} of {PUBLISHED_LANDED[1]}", "landed", "{ours:g} of {n}"),
        line("within the ring (0.857 m)", "", "landed", "{in_ring} of {n}"),
    ]
    for key, square in PUBLISHED_MSE.items():
        unit = "rad" if key == "heading" else "m"
        rows.append(line(f"{key}, mean square, {unit}²", f"{square:.4f}", key, "{ours:.4f}"))
        rows.append(line(f"{key}, rms, {unit}", f"{math.sqrt(square):.2f}", key, "{rms:.3f}"))
    for key, seconds in PUBLISHED_TIME.items():
        rows.append(line(f"{key} time, s", f"{seconds:.1f}", f"{key} time", "{ours:.1f}"))
    return table(["", "paper", *cells.rows], rows, right=1)
