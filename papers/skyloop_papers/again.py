"""`skyloop reproduce NAME --again K`: stored runs flown again with today's code, and compared to the last digit.

Flying all of them again after each change costs hours. A few that give the same figures are evidence, and the pages say
how many they were. Which ones is up to the commit and their names; only how many is up to whoever calls it."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skyloop.core.machine_info import machine_description
from skyloop_client.errors import RunFolderError, ScenarioError, SetupError
from skyloop_papers import catalogue, pages
from skyloop_papers.code_version import code_version
from skyloop_papers.experiment import RunByRun
from skyloop_papers.runner import folder_of_runs
from skyloop_papers.runs import ALL_CORES, Job, Progress, Run, all_runs, silent

ALL_RUNS = "fly all of it with --update-docs"


@dataclass(frozen=True, slots=True)
class FlownAgain:
    """What came of it."""

    record: dict[str, Any]
    """What the results file keeps if all figures are the same."""
    differing: list[str]
    """One line for each figure that is not."""
    written: list[Path]
    stored_on: str
    """The machine that made the stored runs."""


def chosen(names: Iterable[str], count: int, version: str) -> list[str]:
    """So many of the runs, in an order that only the version of the code and their names decide."""
    return sorted(names, key=lambda name: hashlib.blake2b(f"{version} {name}".encode()).digest())[:count]


def fly_again(name: str, count: int, folder: Path | None = None, progress: Progress = silent) -> FlownAgain:
    """Fly so many runs again. If every figure is the same, results file and pages say so; else nothing is written.

    folder: the stored runs; runs/NAME of the checkout if left out."""
    experiment = catalogue.load(name)
    if not isinstance(experiment, RunByRun):
        raise ScenarioError(
            f"--again: {name} cannot be flown again run by run: {experiment.not_run_by_run}; {ALL_RUNS}"
        )
    published, plan, version = _published(name), experiment.plan(), code_version()
    stored = _Stored(name, experiment, published, folder or pages.DOCS.parent / "runs" / name)
    with folder_of_runs(None, plan) as scratch:
        every = experiment.jobs(plan, scratch)
        jobs = {job.name: job for job in every if not job.timed}
        if not 1 <= count <= len(jobs):
            raise ScenarioError(f"--again {count}: {name} has {len(jobs)} runs to fly again; give 1 to {len(jobs)}")
        names = chosen(jobs, count, version)
        before = {one: stored.figures(jobs[one]) for one in names}
        pool = ALL_CORES.pool(experiment.cores)
        flown = all_runs([jobs[one] for one in names], pool, progress, experiment.describe)
    compared = Comparison()
    for one in names:
        compared.add(one, before[one], experiment.as_published(flown[one], before[one]))
    timed = {job.name: "a run that is timed" for job in every if job.timed}
    record = {
        "commit": version, "runs": names, "of": len(jobs), "figures": compared.figures,
        "of_published_digits": stored.published is not None,
        "left_out": {**compared.left_out, **timed, **stored.without},
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(), "machine": machine_description(),
    }  # fmt: skip
    # a difference also ends what fewer runs of the same code showed before
    written = pages.write_flown_again(name, None if compared.differing else record)
    stored_on = pages.machine_in_words(published.machine) or "an unknown machine"
    return FlownAgain(record, compared.differing, written, stored_on)


def _published(name: str) -> pages.Published:
    """The results that the runs gave; refused if there are none of today's plan."""
    if not pages.DOCS.is_dir():
        raise SetupError("results are kept only in a checkout of skyloop; use --again there")
    published = pages.read(name)
    if published is None:
        raise ScenarioError(f"--again: {pages.results_file(name)} does not exist, so nothing was flown yet; {ALL_RUNS}")
    if published.plan != pages.plan_of(name):
        raise ScenarioError(f"--again: the stored runs of {name} are of another plan than today's; {ALL_RUNS}")
    return published


class _Stored:
    """Figures of the runs behind a results file: in that file, if it has them, else in a folder of runs."""

    def __init__(self, name: str, experiment: RunByRun[Any], published: pages.Published, folder: Path) -> None:
        self.without: dict[str, str] = {}
        self._folder = folder
        self.published = experiment.published_runs(experiment.plan(), published.cells)
        if self.published is not None:
            self.without["all others"] = f"docs/results/{name}.json has them for no single run"
            return
        file = folder / "results.json"
        if not file.is_file():
            raise RunFolderError(
                f"docs/results/{name}.json has no figures of single runs, and '{folder}' has no runs; "
                "name the folder that has them by --out, or fly all of it with --update-docs"
            )
        # `measured` is what folders of earlier code have; as text, NaN is the same as NaN
        kept = [each.get("ours", each.get("measured")) for each in json.loads(file.read_text(encoding="utf-8"))]
        if json.dumps(kept) != json.dumps([cell.ours for cell in published.cells]):
            raise RunFolderError(f"'{folder}' has other results than docs/results/{name}.json; name another --out")

    def figures(self, job: Job) -> Run:
        """Refused if they are not there."""
        if self.published is not None:
            return self.published[job.name]
        try:
            found: Run = json.loads((self._folder / "runs" / job.kept.name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RunFolderError(f"the stored run {job.name} cannot be read: {error}; name another --out") from None
        return found


LEFT_OUT = {
    "processor_s": "processor time", "factor": "by processor time", "real_time_factor": "by wall time",
    "stages": "shares of the processor time", "again": "names a folder",
}  # fmt: skip
"""By the name of a figure, why it is another one each time."""
NOT_THERE = "(not there)"


@dataclass(slots=True)
class Comparison:
    """Of several runs."""

    figures: int = 0
    """Numbers and words that were compared."""
    differing: list[str] = field(default_factory=list)
    """One line for each figure that is not the same."""
    left_out: dict[str, str] = field(default_factory=dict)
    """By name, figures that were not compared, and why."""

    def add(self, run: str, stored: Run, flown: Run) -> None:
        for name in sorted({*stored, *flown}):
            if name in LEFT_OUT:
                self.left_out[name] = LEFT_OUT[name]
            elif name not in stored or name not in flown:
                there = "was not stored" if name in flown else "is stored, but was not given now"
                self.differing.append(f"{run}: {name} {there}")
            else:
                self._compare(run, name, stored[name], flown[name])

    def _compare(self, run: str, name: str, stored: object, flown: object) -> None:
        if isinstance(stored, dict) and isinstance(flown, dict):
            for key in sorted({*stored, *flown}):
                self._compare(run, f"{name}.{key}", stored.get(key, NOT_THERE), flown.get(key, NOT_THERE))
            return
        self.figures += sum(1 for _ in _numbers(stored))
        # as text: it has every digit, and NaN is then the same as NaN
        if json.dumps(stored) != json.dumps(flown):
            self.differing.append(f"{run}: {name} {_difference(stored, flown)}")


def _difference(stored: object, flown: object) -> str:
    """A track has hundreds of numbers; the first that is another one stands for all."""
    if not (isinstance(stored, list) and isinstance(flown, list)):
        return f"was {json.dumps(stored)}, is {json.dumps(flown)}"
    before, now = list(_numbers(stored)), list(_numbers(flown))
    if len(before) != len(now):
        return f"had {len(before)} numbers, has {len(now)}"
    pairs = [(one, other) for one, other in zip(before, now, strict=True) if json.dumps(one) != json.dumps(other)]
    if not pairs:
        return "has the same numbers in another order of lists"
    return f"was {json.dumps(pairs[0][0])}, is {json.dumps(pairs[0][1])}, the first of {len(pairs)} that differ"


def _numbers(value: object) -> Iterable[object]:
    if isinstance(value, list):
        for one in value:
            yield from _numbers(one)
    else:
        yield value
