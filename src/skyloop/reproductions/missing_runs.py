"""Runs of a long reproduction: those whose result is not in the folder yet are made, several at once."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyloop.campaigns.making import outcomes
from skyloop.campaigns.pools import local_pool
from skyloop.campaigns.run_process import Work
from skyloop.core.machine_info import usable_cores
from skyloop.reproductions.result_files import begin_or_go_on, keep
from skyloop_client.errors import SkyloopError

RETRIES = 1
"""Of a run whose process was killed."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run that can be missing. `call` is run in a process of its own and returns what is kept as JSON."""

    name: str
    kept: Path
    call: Callable[..., dict[str, Any]]
    arguments: tuple[Any, ...]
    timed: bool = False
    """Its result depends on the wall clock of the machine that makes it, and is another one each time."""


def slots_for(cores: float) -> int:
    """How many runs this machine makes at once, if each keeps so many cores busy."""
    return max(1, int(usable_cores() // cores))


def make_missing(
    jobs: Sequence[Job],
    at_once: int,
    told: Callable[[str], None],
    in_words: Callable[[dict[str, Any]], str],
) -> None:
    """A result is on disk before it is told, so that a reproduction that is stopped loses only what was running."""
    missing = [job for job in jobs if not job.kept.exists()]
    if not missing:
        return
    works = ((number, Work.of(job.call, job.arguments)) for number, job in enumerate(missing))
    with local_pool(at_once) as pool:
        for done, (number, outcome) in enumerate(outcomes(works, pool, RETRIES), 1):
            job = missing[number]
            if outcome.error is not None:
                raise outcome.raised()
            if outcome.lost:
                raise SkyloopError(f"{job.name}: {outcome.lost}; the same command goes on from here")
            keep(job.kept, outcome.made)
            told(f"{job.name} ({done} of {len(missing)}): {in_words(outcome.made)}")


def all_runs(
    jobs: Sequence[Job],
    at_once: int,
    told: Callable[[str], None],
    in_words: Callable[[dict[str, Any]], str],
) -> dict[str, dict[str, Any]]:
    """What every run left, by its name, after the missing ones were made."""
    make_missing(jobs, at_once, told, in_words)
    return {job.name: json.loads(job.kept.read_text(encoding="utf-8")) for job in jobs}


@contextmanager
def folder_of_runs(folder: Path | None, protocol: dict[str, Any]) -> Iterator[Path]:
    """The folder, which belongs to one protocol, or a temporary one where none is given."""
    with tempfile.TemporaryDirectory(prefix="skyloop-runs-") as made:
        place = folder or Path(made)
        begin_or_go_on(place, protocol)
        yield place
