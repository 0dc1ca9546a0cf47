"""What the software under test runs on, as the simulator's side sees it: started, watched, ended."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from skyloop.errors import LinkError

END_S = 1.0
"""s of wall time a process is given to end by itself."""


@dataclass(frozen=True, slots=True)
class PowerModel:
    """What the SUT's computer draws; by default about a Raspberry Pi 4."""

    idle: float = 2.7
    """W while it waits."""
    busy: float = 6.4
    """W while it computes."""

    def energy(self, lasted: float, computed: float) -> float:
        """J over so many seconds, of which some were spent computing."""
        return self.idle * lasted + (self.busy - self.idle) * min(computed, lasted)


class Target(Protocol):
    name: str

    def start(self, address: str, folder: Path | None) -> None:
        """Have the SUT run and connect to `address`; what it prints goes into `folder`."""

    def ended(self) -> str | None:
        """How it ended, with its last words; None while it runs."""

    def stop(self) -> None:
        """End it, and whatever it has started."""


class LocalProcess:
    """A command on this machine, in a process group of its own."""

    def __init__(self, command: Sequence[str], *, name: str = "local process") -> None:
        self.name = name
        self._command = list(command)
        self._process: subprocess.Popen[bytes] | None = None
        self._output: Path | None = None

    def start(self, address: str, folder: Path | None) -> None:
        self._output = None if folder is None else folder / "sut.txt"
        output = None if self._output is None else self._output.open("wb")
        try:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT if output else None,
                start_new_session=True, env={**os.environ, "SKYLOOP_ADDRESS": address},
            )  # fmt: skip
        except OSError as error:
            raise LinkError(f"cannot start the SUT '{self._command[0]}': {error.strerror}") from None
        finally:
            if output is not None:
                output.close()

    def ended(self) -> str | None:
        code = None if self._process is None else self._process.poll()
        if code is None:
            return None
        how = f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
        lines = [] if self._output is None else self._output.read_text(errors="replace").strip().splitlines()
        return f"{how}: {lines[-1][:300]}" if lines else how

    def stop(self) -> None:
        if self._process is None:
            return
        for what in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                # a frozen process must go on to hear that it is to end
                os.killpg(self._process.pid, signal.SIGCONT)
                os.killpg(self._process.pid, what)
            until = time.monotonic() + END_S
            while self._process.poll() is None and time.monotonic() < until:
                time.sleep(0.01)
            if self._process.poll() is not None:
                break
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
