"""Runs of a long reproduction: those whose result is not in the folder yet are made, several at once."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyloop.campaigns.making import outcomes
from skyloop.campaigns.pools import Pool, local_pool, ray_pool
from skyloop.campaigns.run_process import Work
from skyloop.core.machine_info import usable_cores
from skyloop_client.errors import SkyloopError
from skyloop_papers.far_runs import far_work, put_there
from skyloop_papers.result_files import begin_or_go_on, keep

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
    leaves: Path | None = None
    """A file or folder that the run writes besides; its path is one of the arguments."""


@dataclass(frozen=True, slots=True)
class Makers:
    """Who makes the runs: cores of this machine, or the Ray cluster at an address."""

    workers: int | None = None
    """All cores of this machine if left out."""
    address: str | None = None

    def pool(self, cores: float) -> AbstractContextManager[Pool]:
        """For runs that keep so many cores busy."""
        if self.address is not None:
            return ray_pool(None, self.address, cores)
        return local_pool(max(1, int((self.workers or usable_cores()) // cores)))


ALL_CORES = Makers()


def make_missing(
    jobs: Sequence[Job],
    pool: AbstractContextManager[Pool],
    told: Callable[[str], None],
    in_words: Callable[[dict[str, Any]], str],
) -> None:
    """A result is on disk before it is told, so that a reproduction that is stopped loses only what was running.

    A run whose process dies again and again is lost; the others are made all the same, before it is told as an error.
    The pool is opened only if a run is missing."""
    missing = [job for job in jobs if not job.kept.exists()]
    if not missing:
        return
    lost: list[str] = []
    with pool as opened:
        works = ((number, _work(job, opened)) for number, job in enumerate(missing))
        for done, (number, outcome) in enumerate(outcomes(works, opened, RETRIES), 1):
            job = missing[number]
            if outcome.error is not None:
                raise outcome.raised()
            if outcome.lost:
                lost.append(f"{job.name}: {outcome.lost}")
                told(f"{job.name} ({done} of {len(missing)}) was lost: {outcome.lost}")
                continue
            if outcome.parcel and job.leaves is not None:
                put_there(outcome.parcel, job.leaves)
            keep(job.kept, outcome.made)
            told(f"{job.name} ({done} of {len(missing)}): {in_words(outcome.made)}")
    if lost:
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        raise SkyloopError(f"lost: {lost[0]}{more}; the same command goes on from here")


def _work(job: Job, pool: Pool) -> Work:
    if pool.is_far:
        return far_work(job.call, job.arguments, job.leaves)
    return Work.of(job.call, job.arguments)


def all_runs(
    jobs: Sequence[Job],
    pool: AbstractContextManager[Pool],
    told: Callable[[str], None],
    in_words: Callable[[dict[str, Any]], str],
) -> dict[str, dict[str, Any]]:
    """What every run left, by its name, after the missing ones were made."""
    make_missing(jobs, pool, told, in_words)
    return {job.name: json.loads(job.kept.read_text(encoding="utf-8")) for job in jobs}


@contextmanager
def folder_of_runs(folder: Path | None, protocol: dict[str, Any]) -> Iterator[Path]:
    """The folder, which belongs to one protocol, or a temporary one where none is given."""
    with tempfile.TemporaryDirectory(prefix="skyloop-runs-") as made:
        place = folder or Path(made)
        begin_or_go_on(place, protocol)
        yield place
