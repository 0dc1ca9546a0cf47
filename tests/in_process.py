"""`record` with one worker that works in the test's own process: no start of a process, all else as usual."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

from skyloop.datasets import recording_run
from skyloop.datasets.recording_run import record
from skyloop.datasets.worker import record_alone
from skyloop.datasets.worker_processes import WorkerJob


class WorkerHere:
    """Takes the place of Workers: the job is done when its reports are asked for."""

    def __init__(self, jobs: list[WorkerJob], stuck_after_s: float) -> None:
        (job,) = jobs
        assert job.module == "skyloop.datasets.worker"
        self._folder = Path(job.arguments[0])

    def messages(self, interruption: Any) -> Iterator[dict[str, Any]]:
        said = io.StringIO()
        with redirect_stdout(said):
            record_alone(self._folder)
        yield from map(json.loads, said.getvalue().splitlines())

    def __enter__(self) -> WorkerHere:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def worker_here() -> Any:
    """A context in which recordings by one worker start no process for it."""
    return patch.object(recording_run, "Workers", WorkerHere)


def record_here(folder: Path) -> dict[str, Any]:
    with worker_here():
        return record(folder, 1)
