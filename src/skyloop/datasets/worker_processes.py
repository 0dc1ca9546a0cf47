"""Starts and watches the worker processes of a recording, reads their output, and ends them and their children."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from skyloop.core.child_process import ChildProcess
from skyloop.core.interrupts import Interruption
from skyloop_client.errors import DatasetError

log = logging.getLogger(__name__)

STUCK_S = 60.0
"""Wall s in which a worker neither prints anything nor computes."""
POLL_S = 0.1
WATCH_S = 0.5
GRACE_S = 2.0
"""s for renderers to end by themselves after their workers."""


@dataclass(frozen=True, slots=True)
class WorkerJob:
    """One process."""

    name: str
    """For messages, such as "worker 0"."""
    module: str
    arguments: tuple[str, ...]
    sockets: tuple[socket.socket, ...] = ()
    """Inherited; their numbers follow the arguments."""


class Workers:
    """Processes that record together. Leaving the context ends them."""

    def __init__(self, jobs: Sequence[WorkerJob], stuck_after_s: float = STUCK_S) -> None:
        # each worker and its renderer share a core; further threads would only compete
        environment = {"OPENBLAS_NUM_THREADS": "1", "LP_NUM_THREADS": "1" if len(jobs) > 1 else "2"}
        self._stuck_after_s = stuck_after_s
        self._names = [job.name for job in jobs]
        self._processes = []
        for job in jobs:
            numbers = [each.fileno() for each in job.sockets]
            command = [sys.executable, "-m", job.module, *job.arguments, *map(str, numbers)]
            self._processes.append(
                ChildProcess(command, environment=environment, files=numbers, stdout=subprocess.PIPE)
            )
        for job in jobs:
            for each in job.sockets:
                # only then do the others see when one of them ends
                each.close()
        log.debug("recording in processes %s", ", ".join(str(process.pid) for process in self._processes))
        self._watched = [_Watched(process.pid) for process in self._processes]
        self._looked = time.monotonic()
        # not a SimpleQueue, because a signal may make its wait endless
        self._lines: Queue[tuple[int, str]] = Queue()
        self._listeners = [
            threading.Thread(target=self._listen, args=numbered, daemon=True) for numbered in enumerate(self._processes)
        ]
        for listener in self._listeners:
            listener.start()

    def _listen(self, number: int, process: ChildProcess) -> None:
        for line in process.stdout:
            self._lines.put((number, line))

    def messages(self, interruption: Interruption) -> Iterator[dict[str, Any]]:
        """The messages of the workers until all have ended. Raises their errors, and Ctrl-C."""
        while True:
            interruption.check()
            self._look_for_stuck()
            try:
                number, line = self._lines.get(timeout=POLL_S)
            except Empty:
                if self._all_ended():
                    return
                continue
            self._watched[number].still_s = 0.0
            message = json.loads(line)
            if "error" in message:
                raise DatasetError(message["error"])
            yield message

    def _all_ended(self) -> bool:
        codes = [process.exit_code() for process in self._processes]
        # the last first: when the one that flies for the others ends, they end, too
        for number, code in reversed(list(enumerate(codes))):
            if code not in (None, 0) and self._lines.empty():
                raise DatasetError(f"{self._names[number]} ended: {self._processes[number].how_it_ended()}")
        return all(code == 0 for code in codes) and self._lines.empty()

    def _look_for_stuck(self) -> None:
        now = time.monotonic()
        passed = now - self._looked
        if passed < WATCH_S:
            return
        self._looked = now
        for number, (process, watched) in enumerate(zip(self._processes, self._watched, strict=True)):
            # if this process was stopped, so were the workers
            if process.exit_code() is None and watched.look(min(passed, 2.0 * WATCH_S)) > self._stuck_after_s:
                raise DatasetError(
                    f"{self._names[number]} (process {process.pid}) has {watched.how_it_stands} for "
                    f"{self._stuck_after_s:g} s and was ended; what is recorded is complete, `--resume` goes on"
                )

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        """The journal of a killed worker stays readable."""
        running = [process for process in self._processes if process.exit_code() is None]
        started = [child for process in running for child in descendants(process.pid)]
        for process in running:
            process.kill()
        for process, listener in zip(self._processes, self._listeners, strict=True):
            listener.join(10)
            process.close()
        until = time.monotonic() + GRACE_S
        while time.monotonic() < until and any(map(_is_there, started)):
            time.sleep(0.02)
        for child in filter(_is_there, started):
            with suppress(ProcessLookupError):
                os.kill(child[0], signal.SIGKILL)


class _Watched:
    """Whether a process and its descendants compute."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._computed = -1
        self.still_s = 0.0
        """s without activity."""

    def look(self, passed_s: float) -> float:
        """s without activity. 0 if the system does not tell."""
        computed = _ticks(self._pid) + sum(_ticks(child) for child, _ in descendants(self._pid))
        self.still_s = 0.0 if computed != self._computed or not computed else self.still_s + passed_s
        self._computed = computed
        return self.still_s

    @property
    def how_it_stands(self) -> str:
        """Its condition, in words."""
        pids = (self._pid, *(child for child, _ in descendants(self._pid)))
        states = [fields[0] for pid in pids if (fields := _stat(pid))]
        return "been stopped (SIGSTOP)" if "T" in states else "not moved"


Started = tuple[int, str]
"""A process id and its start time, because the system may reuse the id."""


def descendants(pid: int) -> list[Started]:
    """All descendants of a process."""
    try:
        # started by any of its threads
        lists = [path.read_text(encoding="ascii") for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return []
    children = [int(word) for text in lists for word in text.split()]
    # each is read once: it may end at any moment
    own = [(child, fields[19]) for child in children if (fields := _stat(child))]
    return [*own, *(deeper for child in children for deeper in descendants(child))]


def _stat(pid: int) -> list[str]:
    """/proc/PID/stat from the third field on. Empty if the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _ticks(pid: int) -> int:
    """User and system time so far."""
    fields = _stat(pid)
    return int(fields[11]) + int(fields[12]) if fields else 0


def _is_there(process: Started) -> bool:
    fields = _stat(process[0])
    return bool(fields) and fields[19] == process[1] and fields[0] not in "ZX"
