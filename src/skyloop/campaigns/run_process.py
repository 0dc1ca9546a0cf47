"""One run after the other in a process of its own, which may crash, hang or be killed without harm to who asked.

Pools drive it: threads on this machine, tasks of Ray elsewhere. What is sent to the process is pickled, as by
`multiprocessing`: it comes from ourselves, over a private pipe. What comes back is JSON and bytes."""

from __future__ import annotations

import fcntl
import json
import os
import pickle
import resource
import shutil
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from skyloop.core.child_process import ChildProcess
from skyloop.core.interrupts import end_with_parent
from skyloop_client import errors
from skyloop_client.user_code import WHY_NOT

SCRATCH = "skyloop-runs-"
"""Folders of runs in the temporary folder begin with it."""
LOADING_S = 300.0
"""Wall s in which a process must have loaded what a run needs."""
LOADED = b"loaded"


@dataclass(frozen=True, slots=True)
class RemoteCall:
    """One call, in a form that can be sent anywhere."""

    pickled: bytes
    time_limit_s: float | None
    """Wall s, after which the process is killed. None: never."""

    @staticmethod
    def of(call: Callable[..., object], arguments: tuple[object, ...], time_limit_s: float | None = None) -> RemoteCall:
        """`call` is a function of a module. It returns a dict for JSON, or that and a archive of bytes."""
        # the paths apart, because the rest can be read only when they are known; other machines do not inherit
        # whether code is refused
        why_not = os.environ.get(WHY_NOT, "")
        return RemoteCall(pickle.dumps((sys.path, why_not, pickle.dumps((call, arguments)))), time_limit_s)


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What became of one call."""

    result: Any = None
    """What the call returned."""
    archive: bytes = b""
    error: tuple[str, str] | None = None
    """Class and message of the exception that the call raised."""
    trace: str = ""
    lost: str = ""
    """Why there is no answer: the process died, or the time was over."""
    worker_lost: bool = False
    """Not the run's own process ended but the worker or the machine it was on."""
    processor_s: float = 0.0
    wall_s: float = 0.0
    attempts: int = 1

    def raised(self) -> Exception:
        """The error again. One of skyloop's own keeps its class."""
        assert self.error is not None
        name, text = self.error
        kind = vars(errors).get(name)
        if isinstance(kind, type) and issubclass(kind, errors.SkyloopError):
            return kind(text)
        return RuntimeError(f"{name}: {text}\n{self.trace}")


class RunProcess:
    """A process that makes runs for its owner. It ends with its owner, and takes its scratch folder with it."""

    def __init__(self, environment: dict[str, str]) -> None:
        _sweep()
        # runs find it as the temporary folder, so that nothing of a killed one is left
        self.scratch, self._lock = _scratch()
        asked, to_process = os.pipe()
        from_process, answered = os.pipe()
        self._process = ChildProcess(
            [sys.executable, "-m", "skyloop.campaigns.run_process", str(asked), str(answered)],
            files=(asked, answered),
            environment={**environment, "TMPDIR": str(self.scratch)},
            # renderers and boards are of its session
            session=True,
        )
        os.close(asked)
        os.close(answered)
        self._to, self._from = Connection(to_process, readable=False), Connection(from_process, writable=False)

    @property
    def pid(self) -> int:
        return self._process.pid

    def run(self, work: RemoteCall) -> RunOutcome:
        """The process must not be used again after a run that was lost."""
        began = time.perf_counter()
        try:
            self._to.send_bytes(work.pickled)
            # the time limit is the run's alone; a busy machine takes long to load what it needs
            if not self._from.poll(LOADING_S):
                return RunOutcome(lost=f"not loaded after {LOADING_S:g} s", wall_s=LOADING_S)
            self._from.recv_bytes()
            began = time.perf_counter()
            if not self._from.poll(work.time_limit_s):
                limit = work.time_limit_s or 0.0
                return RunOutcome(lost=f"no end after {limit:g} s", wall_s=limit)
            answer = json.loads(self._from.recv_bytes())
            archive = self._from.recv_bytes()
        except (OSError, EOFError):
            return RunOutcome(lost=self._how_it_died(), wall_s=time.perf_counter() - began)
        error = tuple(answer["error"]) if answer["error"] else None
        wall_s = time.perf_counter() - began
        return RunOutcome(
            answer["result"], archive, error, answer["trace"], processor_s=answer["processor_s"], wall_s=wall_s
        )

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        self._process.close()
        with suppress(OSError):
            self._to.close()
            self._from.close()
        if self._lock is not None:
            os.close(self._lock)
        shutil.rmtree(self.scratch, ignore_errors=True)

    def _how_it_died(self) -> str:
        how = self._process.how_it_ended(5.0)
        return "the process closed its pipe" if how is None else f"the process ended: {how}"


class RunProcesses:
    """Processes that stay for the next run; threads may share them."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self._all: set[RunProcess] = set()
        self._idle: list[RunProcess] = []
        self._closed = False
        self._lock = threading.Lock()

    def run(self, work: RemoteCall) -> RunOutcome:
        with self._lock:
            if self._closed:
                return RunOutcome(lost="stopped")
            process = self._idle.pop() if self._idle else RunProcess(self._environment)
            self._all.add(process)
        outcome = process.run(work)
        with self._lock:
            if outcome.lost:
                self._all.discard(process)
                process.close()
            else:
                self._idle.append(process)
        return outcome

    def kill(self) -> None:
        """Runs in other threads end at once, as lost."""
        with self._lock:
            self._closed = True
            for process in self._all:
                process.kill()

    def close(self) -> None:
        """After `kill`, when no thread waits for a run."""
        for process in self._all:
            process.close()


def _locked(folder: Path) -> int | None:
    """A lock on the folder, which ends with its owner, however that is. None if another process holds it."""
    file = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return None
    return file


def _scratch() -> tuple[Path, int | None]:
    """A new folder and its lock. It gets its name when it is locked, so that nobody sweeps it."""
    made = Path(tempfile.mkdtemp(prefix=f"new-{SCRATCH}"))
    lock = _locked(made)
    return made.rename(made.with_name(made.name.removeprefix("new-"))), lock


def _sweep() -> None:
    """Remove scratch folders whose owners were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{SCRATCH}*"):
        with suppress(OSError):
            if (file := _locked(folder)) is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(file)


# ---- in the process


def serve(asked: Connection, answered: Connection) -> None:
    """Make what is asked for until the owner closes the pipe."""
    while True:
        try:
            pickled = asked.recv_bytes()
        except EOFError:
            return
        began = _processor_s()
        result, archive, error, trace, call = None, b"", None, "", None
        try:
            call, arguments = _unpickled(pickled)
            began = _processor_s()
            answered.send_bytes(LOADED)
            returned = call(*arguments)
            result, archive = returned if isinstance(returned, tuple) else (returned, b"")
            text = json.dumps(result)
        except (Exception, SystemExit) as caught:
            if call is None:
                answered.send_bytes(LOADED)
            error, trace, text = (type(caught).__name__, str(caught)), traceback.format_exc(), "null"
        spent = _processor_s() - began
        answer = {"error": error, "trace": trace, "processor_s": spent}
        answered.send_bytes(f'{{"result": {text}, {json.dumps(answer)[1:]}'.encode())
        answered.send_bytes(archive)


def _unpickled(pickled: bytes) -> tuple[Callable[..., object], tuple[object, ...]]:
    paths, why_not, asked = pickle.loads(pickled)
    os.environ[WHY_NOT] = why_not
    sys.path.extend(path for path in paths if path not in sys.path)
    call, arguments = pickle.loads(asked)
    return call, arguments


def _processor_s() -> float:
    """Of this process and those children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    end_with_parent()
    serve(Connection(int(sys.argv[1]), writable=False), Connection(int(sys.argv[2]), readable=False))


if __name__ == "__main__":
    main()
