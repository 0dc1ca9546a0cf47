"""A fast experiment in place of a paper's, balls that are thrown, each in a process of its own; and runs made up."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skyloop_papers import catalogue
from skyloop_papers.experiment import Cell, Experiment, ExperimentPlan, RunByRun
from skyloop_papers.runner import folder_of_runs
from skyloop_papers.runs import Job, Run, keep

GRAVITY = "THROWS_GRAVITY"
"""In the environment: another gravity stands for other code."""


@dataclass(frozen=True, slots=True)
class ThrowsPlan(ExperimentPlan):
    speeds: tuple[float, ...] = (1.0, 2.0, 3.0, 4.0, 5.0)


def throw(speed: float) -> Run:
    g = float(os.environ.get(GRAVITY, "9.81"))
    track = [[0.1 * k, speed * 0.1 * k, -0.5 * g * (0.1 * k) ** 2] for k in range(5)]
    return {"distance": speed**2 / g, "track": track, "at": {"rest": None}, "processor_s": time.process_time()}


class Throws(RunByRun[ThrowsPlan]):
    paper = "airloop"
    plans = ThrowsPlan(), ThrowsPlan()

    def jobs(self, plan: ThrowsPlan, folder: Path) -> list[Job]:
        jobs = [Job(f"throw-{v:g}", folder / "runs" / f"throw-{v:g}.json", throw, (v,)) for v in plan.speeds]
        return [*jobs, Job("clock", folder / "runs" / "clock.json", throw, (0.0,), timed=True)]

    def describe(self, run: Run) -> str:
        return f"{run['distance']:.2f} m"

    def judge(self, plan: ThrowsPlan, runs: dict[str, Run]) -> list[Cell]:
        return [Cell("text", name, "", None, run["distance"], "m") for name, run in runs.items()]

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        return {"far": f"{max(cell.ours for cell in cells):.2f} m\n"}


def put_in_catalogue(monkeypatch: pytest.MonkeyPatch, experiments: dict[str, Experiment[Any, Any]]) -> None:
    """Experiments in place of the papers'."""
    monkeypatch.setattr(catalogue, "listed", lambda: {name: f"the {name} experiment" for name in experiments})
    monkeypatch.setattr(catalogue, "load", experiments.__getitem__)


# ---- runs and cells of any experiment


def keep_runs(folder: Path, plan: ExperimentPlan, jobs: Iterable[Job], run_of: Callable[[Job], Run]) -> None:
    """A folder as if all had been flown."""
    with folder_of_runs(folder, plan):
        pass
    for job in jobs:
        keep(job.kept, run_of(job))


def by_name(cells: Iterable[Cell]) -> dict[str, Cell]:
    return {cell.name: cell for cell in cells}
