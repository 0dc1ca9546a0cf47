"""Makes experiments: one, in a folder that can be continued, or all of them for one report."""

from __future__ import annotations

import csv
import json
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyloop.core.machine_info import machine_description
from skyloop_client.errors import Interrupted, RunFolderError, SkyloopError
from skyloop_papers import catalogue
from skyloop_papers.code_version import code_version
from skyloop_papers.experiment import CELL_HEAD, Cell, Experiment, ExperimentPlan
from skyloop_papers.runs import ALL_CORES, Progress, RunWorkers, keep, silent
from skyloop_papers.tables import table

PLAN = "protocol.json"
"""In an experiment's folder, from its beginning."""
MEASURED = "measured.json"
"""In an experiment's folder of a report, once it is finished."""


def reproduce(
    experiment: Experiment[Any, Any],
    *,
    quick: bool = False,
    folder: Path | None = None,
    plan: ExperimentPlan | None = None,
    progress: Progress = silent,
    workers: RunWorkers = ALL_CORES,
) -> list[Cell]:
    """Fly and judge it. A folder with some of its runs is continued; without one nothing is kept."""
    chosen = plan or experiment.plan(quick=quick)
    with folder_of_runs(folder, chosen, resumes=experiment.resumes) as there:
        runs = experiment.fly(chosen, there, progress, workers)
        cells = experiment.judged(experiment.judge(chosen, runs))
        if folder is not None:
            write_results(folder, cells, experiment.plain(cells))
            experiment.write(folder, chosen, runs, cells)
    return cells


@contextmanager
def folder_of_runs(folder: Path | None, plan: ExperimentPlan, *, resumes: bool = True) -> Iterator[Path]:
    """The folder, or a temporary one where none is given. One that is continued belongs to one plan."""
    with tempfile.TemporaryDirectory(prefix="skyloop-reproduce-") as scratch:
        there = folder or Path(scratch)
        path, text = there / PLAN, json.dumps(plan.plain(), indent=1) + "\n"
        there.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.read_text(encoding="utf-8") != text:
            raise RunFolderError(f"{there} was made under another plan ({PLAN}); give another --out")
        if resumes:
            path.write_text(text, encoding="utf-8")
        yield there


def write_results(folder: Path, cells: Sequence[Cell], plain: Sequence[dict[str, Any]]) -> None:
    """The same cells as JSON, CSV and Markdown."""
    text = table((*CELL_HEAD, "verdict"), [[*cell.texts(), cell.verdict] for cell in cells], right=2)
    (folder / "results.md").write_text(text, encoding="utf-8")
    (folder / "results.json").write_text(json.dumps(plain, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    with (folder / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(plain[0]))
        writer.writeheader()
        for row in plain:
            writer.writerow({**row, "conditions": json.dumps(row["conditions"], ensure_ascii=False)})


def read_cells(plain: Sequence[dict[str, Any]]) -> list[Cell]:
    return [Cell(**{key: value for key, value in each.items() if key != "paper"}) for each in plain]


# ---- `skyloop reproduce all`


@dataclass(frozen=True, slots=True)
class Measured:
    """One experiment of the report."""

    name: str
    folder: Path
    cells: list[Cell]
    machine: dict[str, Any]
    seconds: float
    failed: str = ""
    """Why there are no cells."""


def reproduce_all(
    out: Path, names: Sequence[str] = (), *, quick: bool = False, progress: Progress = silent
) -> list[Measured]:
    """Those named, or all. An experiment that fails is named in the report, and the others are flown all the same.

    A folder is named after the version of the code that flew it, so that what other code flies is never mixed with it
    or taken for it. What is finished is not flown again; what was stopped goes on, or begins again where it cannot."""
    about = catalogue.listed()
    names = names or tuple(about)
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / "runs").is_dir())):
        raise RunFolderError(f"'{out}' is no report; choose another --out")
    measured = []
    for number, name in enumerate(names, 1):
        folder = out / "runs" / f"{name}-{code_version()}{'-quick' if quick else ''}"
        known = finished(name, folder)
        progress(f"{number} of {len(names)}, {name}: {'already there' if known else about[name]}")
        measured.append(known or _flown(name, folder, quick=quick, progress=progress))
    return measured


def finished(name: str, folder: Path) -> Measured | None:
    """What an earlier call left, if it is complete."""
    try:
        plain = json.loads((folder / MEASURED).read_text(encoding="utf-8"))
        return Measured(name, folder, read_cells(plain["results"]), plain["machine"], plain["seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _flown(name: str, folder: Path, *, quick: bool, progress: Progress) -> Measured:
    experiment = catalogue.load(name)
    if not experiment.resumes and folder.exists():
        shutil.rmtree(folder)  # of a call that was stopped
    folder.mkdir(parents=True, exist_ok=True)
    machine, began = machine_description(), time.perf_counter()
    try:
        cells = reproduce(experiment, quick=quick, folder=folder, progress=progress)
    except Interrupted:
        raise
    except SkyloopError as error:
        progress(f"{name} failed: {error}")
        return Measured(name, folder, [], machine, time.perf_counter() - began, str(error))
    seconds = time.perf_counter() - began
    plain = {"machine": machine, "seconds": seconds, "commit": code_version(), "results": experiment.plain(cells)}
    keep(folder / MEASURED, plain)
    return Measured(name, folder, cells, machine, seconds)
