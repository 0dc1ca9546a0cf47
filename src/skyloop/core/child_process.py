"""A child process: it never gets the terminal's Ctrl-C, and what it said last explains how it ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO

from skyloop.core.interrupts import kept_from_children
from skyloop_client.errors import SkyloopError

UNBUFFERED = {"PYTHONUNBUFFERED": "1"}
"""For programs whose last words count: Python holds back what is printed into a file, and loses it when killed."""
KEPT = -4
"""For stdout and stderr, beside the numbers of `subprocess`: into a file that only `last_words` reads."""
LAST_BYTES = 4000
LONGEST = 300
"""Letters of a last line."""


def how_it_ended(code: int, said: str = "") -> str:
    """Such as "exit code 3: no camera", with the last line of what it said."""
    how = f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
    last = last_line(said)
    return f"{how}: {last}" if last else how


def last_line(said: str) -> str:
    """The last line that is not empty; "" if there is none."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1][:LONGEST] if lines else ""


class ChildProcess:
    """Ends when it wants to, or by `end`, `kill` and `close`."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        files: Sequence[int] = (),
        stdout: int | None = KEPT,
        stderr: int | None = KEPT,
        session: bool = False,
    ) -> None:
        """environment: beside our own; files: open ones that it inherits; session: `kill` ends its children, too."""
        # a file rather than a pipe, which could fill up
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        self._session = session
        with kept_from_children():
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=self._said if stdout == KEPT else stdout,
                stderr=self._said if stderr == KEPT else stderr, pass_fds=files, start_new_session=session,
                env={**os.environ, **UNBUFFERED, **(environment or {})}, text=True, errors="replace",
            )  # fmt: skip

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def stdout(self) -> IO[str]:
        """If it was started with stdout=PIPE."""
        assert self._process.stdout is not None
        return self._process.stdout

    def exit_code(self, patience_s: float | None = 0.0) -> int | None:
        """None if it has not ended within so many wall s (None: waits until it has). Negative: of a signal."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(patience_s)
        return None

    def last_words(self) -> str:
        self._said.seek(max(0, self._said.seek(0, os.SEEK_END) - LAST_BYTES))
        return last_line(self._said.read().decode(errors="replace"))

    def how_it_ended(self, patience_s: float = 0.0) -> str | None:
        """None if it has not."""
        code = self.exit_code(patience_s)
        return None if code is None else how_it_ended(code, self.last_words())

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        """Stopped processes, too, react to SIGKILL."""
        with suppress(ProcessLookupError):
            if self._session:
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def end(self, patience_s: float) -> int:
        """Wait until it ends, then kill it. Returns the exit code."""
        if (code := self.exit_code(patience_s)) is not None:
            return code
        self.kill()
        return self._process.wait()

    def close(self) -> None:
        """Kill it and forget what it said."""
        self.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._said.close()


# ---- in the child process


def tell(**what: object) -> None:
    """Print a line of JSON for the parent process. If the parent is gone, this process ends."""
    try:
        print(json.dumps(what), flush=True)
    except BrokenPipeError:
        os._exit(1)


def run_reporting(work: Callable[[], None]) -> None:
    """Do the work of a process. A known error is reported, and ends it."""
    try:
        work()
    except SkyloopError as error:
        tell(error=str(error))
        sys.exit(1)
