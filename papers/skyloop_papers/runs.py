"""Runs of a long experiment: those whose result is not in its folder yet are made, on this machine or a cluster.

What a run on another machine writes there comes back, and a machine with other code is refused."""

from __future__ import annotations

import json
import platform
import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyloop.campaigns.folder import packed, unpack
from skyloop.campaigns.pools import Pool, local_pool, outcomes, ray_pool
from skyloop.campaigns.run_process import RemoteCall
from skyloop.core.files import write_whole
from skyloop.core.machine_info import usable_cores
from skyloop_client.errors import SetupError, SkyloopError
from skyloop_papers.code_version import code_version

RETRIES = 1
"""Of a run whose process was killed."""
Run = dict[str, Any]
"""What a run gives, as JSON keeps it."""
Progress = Callable[[str], None]


def silent(line: str) -> None:
    """Progress that nobody wants to hear of."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run that can be missing. `call` is run in a process of its own and returns what is kept as JSON."""

    name: str
    kept: Path
    call: Callable[..., Run]
    arguments: tuple[object, ...]
    timed: bool = False
    """Its result depends on the wall clock of the machine that makes it, and is another one each time."""
    leaves: Path | None = None
    """A file or folder that the run writes besides; its path is one of the arguments."""

    @classmethod
    def of(
        cls,
        folder: Path,
        name: str,
        call: Callable[..., Run],
        *arguments: object,
        timed: bool = False,
        leaves: Path | None = None,
    ) -> Job:
        """One whose result is kept below an experiment's folder."""
        return cls(name, folder / "runs" / f"{name}.json", call, arguments, timed, leaves)


@dataclass(frozen=True, slots=True)
class RunWorkers:
    """Who makes the runs: cores of this machine, or the Ray cluster at an address."""

    cores: int | None = None
    """All cores of this machine if left out."""
    address: str | None = None

    def pool(self, cores: float) -> AbstractContextManager[Pool]:
        """For runs that keep so many cores busy."""
        if self.address is not None:
            return ray_pool(None, self.address, cores)
        return local_pool(max(1, int((self.cores or usable_cores()) // cores)))


ALL_CORES = RunWorkers()


def keep(path: Path, measured: object) -> None:
    """The file is complete or absent. An interrupted measurement is repeated."""
    path.parent.mkdir(exist_ok=True)
    write_whole(path, json.dumps(measured) + "\n")


def all_runs(
    jobs: Sequence[Job],
    pool: AbstractContextManager[Pool],
    progress: Progress,
    describe: Callable[[Run], str],
) -> dict[str, Run]:
    """What every run left, by its name, after the missing ones were made.

    A result is on disk before it is reported, so that an experiment that is stopped loses only what was running. A run
    whose process dies again and again is lost; the others are made all the same, before that is an error. The pool is
    opened only if a run is missing."""
    missing = [job for job in jobs if not job.kept.exists()]
    lost: list[str] = []
    if missing:
        with pool as opened:
            works = ((number, _work(job, opened)) for number, job in enumerate(missing))
            for done, (number, outcome) in enumerate(outcomes(works, opened, RETRIES), 1):
                job, said = missing[number], f"{missing[number].name} ({done} of {len(missing)})"
                if outcome.error is not None:
                    raise outcome.raised()
                if outcome.lost:
                    lost.append(f"{job.name}: {outcome.lost}")
                    progress(f"{said} was lost: {outcome.lost}")
                    continue
                if outcome.archive and job.leaves is not None:
                    _put_here(outcome.archive, job.leaves)
                keep(job.kept, outcome.result)
                progress(f"{said}: {describe(outcome.result)}")
    if lost:
        more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
        raise SkyloopError(f"lost: {lost[0]}{more}; the same command goes on from here")
    return {job.name: json.loads(job.kept.read_text(encoding="utf-8")) for job in jobs}


def _work(job: Job, pool: Pool) -> RemoteCall:
    if pool.is_far:
        leaves = "" if job.leaves is None else str(job.leaves)
        return RemoteCall.of(run_far, (job.call, job.arguments, leaves, code_version()))
    return RemoteCall.of(job.call, job.arguments)


def run_far(call: Callable[..., Run], arguments: tuple[object, ...], leaves: str, version: str) -> tuple[Run, bytes]:
    """There: make the run in a folder of this machine. Returns what it gives, and an archive of what it wrote."""
    found = code_version()
    if found != version:
        raise SetupError(
            f"{platform.node()} has other code of skyloop ({found}) than the machine that asks ({version}), "
            "and figures of both would be mixed; install the same one there"
        )
    with tempfile.TemporaryDirectory(prefix="skyloop-far-") as scratch:
        there = Path(scratch) / Path(leaves or "nothing").name
        try:
            run = call(*(str(there) if leaves and argument == leaves else argument for argument in arguments))
        except SetupError as error:
            raise SetupError(f"on {platform.node()}: {error}") from None
        archive = packed(there) if there.is_dir() else packed(there.parent) if there.is_file() else b""
        # a run may name the folder that it wrote
        text = json.dumps(run).replace(json.dumps(str(there))[1:-1], json.dumps(leaves)[1:-1])
    given: Run = json.loads(text)
    return given, archive


def _put_here(archive: bytes, leaves: Path) -> None:
    """What a run wrote, where it would have written it on this machine."""
    unpacked = leaves.with_name(f".{leaves.name}.far")
    unpack(archive, unpacked, everything=True)
    written = unpacked / leaves.name
    if leaves.is_dir():
        shutil.rmtree(leaves)
    (written if written.is_file() else unpacked).replace(leaves)
    shutil.rmtree(unpacked, ignore_errors=True)
