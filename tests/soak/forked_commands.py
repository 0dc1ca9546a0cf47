"""`skyloop` commands in forked processes: nothing is imported anew, and each has limits of time and memory."""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from process_looks import processor_s

CRASHED = 70
"""Exit code of a process that ended with a traceback."""
LOOK_S = 2.0
MOST_IDLE_S = 40.0
LEAST_USE = 0.005
"""Of a processor; what uses less waits for something."""
ALLOWED = (0, 1, 3)
"""Done, a known error, and with `--strict` a failed verdict."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended and what it said."""

    code: int | None
    """None: it did not end in its time. Negative: of a signal."""
    out: str
    err: str
    seconds: float

    @property
    def fault(self) -> str:
        """What no user should ever see, in one line; empty if there is nothing of that."""
        last = next((line for line in reversed(self.err.splitlines()) if line.strip()), "")
        if self.code is None:
            return f"no end: killed after {self.seconds:.0f} s"
        if "Traceback (most recent call last)" in self.err:
            return f"a traceback: {last[:300]}"
        if self.code not in ALLOWED:
            return f"exit code {self.code}: {last[:300]}"
        strange = [line for line in self.err.splitlines() if line.strip() and not line.startswith("skyloop: ")]
        if strange:
            return f"exit code {self.code}, but stderr says: {strange[0][:300]}"
        # `check` prints what it found, as results
        if self.code == 1 and not self.out.strip() and (not last or last.startswith("skyloop: warning: ")):
            return "exit code 1 without a line that says why"
        return ""


def command(words: list[str]) -> Callable[[], None]:
    """What types `skyloop WORDS`; it ends with SystemExit."""

    def typed() -> None:
        from skyloop.cli import main

        sys.argv = ["skyloop", *words]
        main()

    return typed


def run_forked(
    action: Callable[[], None], folder: Path, *, seconds: float, memory: int, after: Callable[[int], None] | None = None
) -> Ended:
    """Run it in a copy of this process, in a folder. `after` gets the exit code in the same process; what it prints to
    stdout is read by the caller."""
    if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208
        raise RuntimeError("this process has threads: a copy of it could hang")
    files = [folder / "stdout.txt", folder / "stderr.txt"]
    sys.stdout.flush()
    sys.stderr.flush()
    began = time.monotonic()
    pid = os.fork()
    if not pid:
        _become(action, folder, files, memory, after)
    code = _waited(pid, seconds)
    out, err = (path.read_text(encoding="utf-8", errors="replace") for path in files)
    return Ended(code, out, err, time.monotonic() - began)


def _become(
    action: Callable[[], None], folder: Path, files: list[Path], memory: int, after: Callable[[int], None] | None
) -> None:
    code = CRASHED
    try:
        os.setsid()
        os.chdir(folder)
        for number, path in enumerate(files, 1):
            opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(opened, number)
            os.close(opened)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            action()
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
        if after is not None:
            after(code)
    except BaseException:
        traceback.print_exc()
        code = CRASHED
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _waited(pid: int, seconds: float) -> int | None:
    """The exit code; None if it used that much processor time, or none for a while. A busy machine is not its fault.
    What is left of the process and its children is killed."""
    handle = os.pidfd_open(pid)
    used, idle_since = 0.0, time.monotonic()
    try:
        while not (ended := bool(select.select([handle], [], [], LOOK_S)[0])):
            now = processor_s(pid)
            if now > used + LEAST_USE * LOOK_S:
                used, idle_since = now, time.monotonic()
            if now > seconds or time.monotonic() > idle_since + MOST_IDLE_S:
                break
    finally:
        os.close(handle)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    return os.waitstatus_to_exitcode(status) if ended else None
