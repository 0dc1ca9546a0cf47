"""`skyloop reproduce NAME --again K`: stored runs flown again with today's code, and compared to the last digit.

A change that makes the code faster makes every result stale, and flying all of them again costs hours. A few that give
the same figures are evidence, and the pages say how many they were. Which ones is up to the state of the code and
their names; only how many is up to whoever calls it."""

from __future__ import annotations

import datetime
import hashlib
import importlib
import json
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyloop.core.machine_info import machine_description
from skyloop_client.errors import RunFolderError, ScenarioError, SetupError
from skyloop_papers import pages
from skyloop_papers.figures_compared import Comparison, Figures
from skyloop_papers.missing_runs import ALL_CORES, Job, all_runs
from skyloop_papers.registry import NOT_RUN_BY_RUN, REPRODUCTIONS
from skyloop_papers.result_files import begin_or_go_on

WHOLE = "fly it whole with --update-docs"
PUBLISHED = {"e2es-missions": "skyloop_papers.e2es_missions.published"}
"""Experiments whose results file has figures of each run: module with stored and as_published."""


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


def chosen(names: Iterable[str], count: int, code: dict[str, str]) -> list[str]:
    """So many of the runs, in an order that only the state of the code and their names decide."""
    state = repr(sorted(code.items()))
    return sorted(names, key=lambda name: hashlib.blake2b(f"{state} {name}".encode()).digest())[:count]


def fly_again(
    name: str,
    count: int,
    folder: Path | None = None,
    told: Callable[[str], None] = lambda line: None,
) -> FlownAgain:
    """Fly so many runs again. If every figure is the same, results file and pages say so; else nothing is written.

    folder: the stored runs; runs/NAME of the checkout if left out."""
    published = _published(name)
    experiment = importlib.import_module(REPRODUCTIONS[name][0])
    protocol = experiment.Protocol()
    stored = _Stored(name, protocol, published, folder or pages.DOCS.parent / "runs" / name)
    with tempfile.TemporaryDirectory(prefix="skyloop-again-") as scratch:
        begin_or_go_on(Path(scratch), protocol.plain())
        every: Sequence[Job] = experiment.jobs_of(protocol, Path(scratch))
        jobs = {job.name: job for job in every if not job.timed}
        if not 1 <= count <= len(jobs):
            raise ScenarioError(f"--again {count}: {name} has {len(jobs)} runs to fly again; give 1 to {len(jobs)}")
        code = pages.code_now(name)
        names = chosen(jobs, count, code)
        before = {one: stored.figures(jobs[one]) for one in names}
        flown = all_runs([jobs[one] for one in names], ALL_CORES.pool(experiment.CORES), told, experiment.in_words)
    compared = Comparison()
    for one in names:
        compared.add(one, before[one], stored.shown(flown[one], before[one]))
    timed = {job.name: "a run that is timed" for job in every if job.timed}
    record = {
        "code": code, "runs": names, "of": len(jobs), "figures": compared.figures,
        "of_published_digits": name in PUBLISHED,
        "left_out": {**compared.left_out, **timed, **stored.without},
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(), "machine": machine_description(),
    }  # fmt: skip
    # a difference also ends what fewer runs of the same code showed before
    written = pages.write_flown_again(name, None if compared.differing else record)
    return FlownAgain(record, compared.differing, written, pages.machine_in_words(published) or "an unknown machine")


def _published(name: str) -> pages.Published:
    """The results that the runs gave; refused if none can be flown again."""
    if name in NOT_RUN_BY_RUN:
        raise ScenarioError(f"--again: {name} cannot be flown again run by run: {NOT_RUN_BY_RUN[name]}; {WHOLE}")
    if not pages.DOCS.is_dir():
        raise SetupError("results are kept only in a checkout of skyloop; use --again there")
    published = pages.read(name)
    if published is None:
        raise ScenarioError(f"--again: {pages.results_file(name)} does not exist, so nothing was flown yet; {WHOLE}")
    if published.protocol != pages.protocol(name):
        raise ScenarioError(f"--again: the stored runs of {name} are of another protocol than today's; {WHOLE}")
    return published


class _Stored:
    """Figures of the runs behind a results file: in that file, if it has them, else in a folder of runs."""

    def __init__(self, name: str, protocol: Any, published: pages.Published, folder: Path) -> None:
        self.without: dict[str, str] = {}
        self._folder = folder
        self._kept: dict[str, Figures] | None = None
        if name in PUBLISHED:
            module = importlib.import_module(PUBLISHED[name])
            self._kept = module.stored(protocol, published.results)
            self.shown: Callable[[Figures, Figures], Figures] = module.as_published
            self.without["all others"] = f"docs/results/{name}.json has them for no single run"
            return
        self.shown = lambda run, before: run
        file = folder / "results.json"
        if not file.is_file():
            raise RunFolderError(
                f"docs/results/{name}.json has no figures of single runs, and '{folder}' has no runs; "
                "name the folder that has them by --out, or fly it whole with --update-docs"
            )
        results = json.loads(file.read_text(encoding="utf-8"))
        # as text, in which NaN is the same as NaN
        if json.dumps(results) != json.dumps([result.plain() for result in published.results]):
            raise RunFolderError(f"'{folder}' has other results than docs/results/{name}.json; name another --out")

    def figures(self, job: Job) -> Figures:
        """Refused if they are not there."""
        if self._kept is not None:
            return self._kept[job.name]
        try:
            found: Figures = json.loads((self._folder / "runs" / job.kept.name).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RunFolderError(f"the stored run {job.name} cannot be read: {error}; name another --out") from None
        return found
