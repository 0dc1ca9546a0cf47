"""Starts, watches and stops an external autopilot's process. Its output goes to the run folder."""

from __future__ import annotations

import logging
import os
import shlex
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from skyloop.core.child_process import how_it_ended
from skyloop.core.frames import GeoPoint
from skyloop.core.interrupts import end_with_parent
from skyloop.links.autopilots.betaflight_wire import settings
from skyloop.links.loop.targets import LocalProcess
from skyloop_client.errors import LinkError, SetupError

log = logging.getLogger(__name__)
KINDS = ("px4", "ardupilot", "betaflight", "px4-serial")
USAGE = "give px4[:PATH], ardupilot[:PATH], betaflight[:PATH] or px4-serial:DEVICE"
END_S = 2.0
"""Wall s that a process gets to end after the signal."""
MSP_PORT = 5761
WAKE_S = 60.0
"""Wall s that Betaflight may take to answer."""


@dataclass(frozen=True, slots=True)
class AutopilotSpec:
    """The value of `--autopilot`."""

    kind: str
    path: Path | None = None
    """The program, PX4's build folder or the serial device. None: the user starts the autopilot."""
    arguments: tuple[str, ...] = ()
    """Further arguments for the program."""


def read_spec(text: str) -> AutopilotSpec:
    """`px4:/path/bin/px4`, `ardupilot:/path/arducopter --some argument`, `betaflight`..."""
    kind, _, rest = text.partition(":")
    if kind not in KINDS:
        raise LinkError(f"--autopilot {text}: no autopilot named '{kind}'; {USAGE}")
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise LinkError(f"--autopilot {text}: {error}") from None
    if kind == "px4-serial" and len(words) != 1:
        raise LinkError(f"--autopilot {text}: name one serial device; {USAGE}")
    return AutopilotSpec(kind, Path(words[0]) if words else None, tuple(words[1:]))


class AutopilotProcess(LocalProcess):
    """A command that runs in its own folder. A given signal ends it."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str,
        environment: Mapping[str, str] | None = None,
        signals: Sequence[signal.Signals] = (signal.SIGTERM, signal.SIGKILL),
        files: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(command, name=name)
        self._program = list(command)
        self._extra = dict(environment or {})
        self._signals = tuple(signals)
        self._files = dict(files or {})
        self._running: subprocess.Popen[bytes] | None = None
        self._said: Path | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    def start(self, address: str, folder: Path | None) -> None:
        if folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="skyloop-")
            folder = Path(self._temporary.name)
        place = folder / self.name
        place.mkdir(parents=True, exist_ok=True)
        for file, text in self._files.items():
            (place / file).write_text(text, encoding="utf-8")
        self._said = folder / f"{self.name}.txt"
        try:
            with self._said.open("ab") as output:
                self._running = subprocess.Popen(
                    self._program, cwd=place, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                    start_new_session=True, env={**os.environ, **self._extra}, preexec_fn=end_with_parent,
                )  # fmt: skip
        except OSError as error:
            raise LinkError(f"cannot start {self.name} as '{self._program[0]}': {error.strerror}") from None
        log.debug("started %s as process %d: %s", self.name, self._running.pid, shlex.join(self._program))

    def ended(self) -> str | None:
        code = None if self._running is None else self._running.poll()
        if code is None:
            return None
        return how_it_ended(code, "" if self._said is None else self._said.read_text(errors="replace"))

    def stop(self) -> None:
        """It may be called twice."""
        if self._running is not None:
            for number in (*self._signals, signal.SIGKILL):
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._running.pid, number)
                with suppress(subprocess.TimeoutExpired):
                    self._running.wait(END_S)
                    break
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._running.pid, signal.SIGKILL)
            self._running = None
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None


class BetaflightProcess(AutopilotProcess):
    """Configured over MSP once it answers. Its settings live in its own folder and are not saved."""

    def start(self, address: str, folder: Path | None) -> None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", MSP_PORT), timeout=1.0):
            raise LinkError(f"something answers on TCP {MSP_PORT} already; end the other Betaflight")
        super().start(address, folder)
        until = time.monotonic() + WAKE_S
        while True:
            try:
                self._set_up()
                return
            except OSError:
                how = self.ended()
                if how is not None or time.monotonic() > until:
                    self.stop()
                    why = how or f"no answer on TCP {MSP_PORT} within {WAKE_S:g} s"
                    raise LinkError(f"Betaflight did not start: {why}") from None
                time.sleep(0.1)

    @staticmethod
    def _set_up() -> None:
        with socket.create_connection(("127.0.0.1", MSP_PORT), timeout=2.0) as line:
            for request in settings():
                line.sendall(request)
                answer = line.recv(64)
                if not answer.startswith(b"$M>"):
                    raise LinkError(f"Betaflight refused a setting; it answered {answer!r}")


def program_at(path: Path, what: str) -> Path:
    """An executable file."""
    resolved = path.expanduser().resolve()
    if not resolved.is_file() or not os.access(resolved, os.X_OK):
        raise SetupError(f"{what}: {path} is not an executable program")
    return resolved


def px4_process(spec: AutopilotSpec, instance: int) -> AutopilotProcess:
    """From the program `bin/px4`, or from the build folder that contains it."""
    assert spec.path is not None
    path = spec.path.expanduser()
    program = program_at(path / "bin" / "px4" if path.is_dir() else path, "PX4")
    etc = program.parent.parent / "etc"
    told = [str(etc)] if etc.is_dir() and not spec.arguments else []
    return AutopilotProcess(
        [str(program), "-d", "-i", str(instance), *told, *spec.arguments],
        name=f"px4-{instance}",
        # starts PX4 alone, for a simulator that connects over TCP
        environment={"PX4_SIM_MODEL": os.environ.get("PX4_SIM_MODEL", "none_iris")},
        signals=(signal.SIGINT,),
    )


def ardupilot_process(spec: AutopilotSpec, instance: int, home: GeoPoint, heading_deg: float) -> AutopilotProcess:
    """An X frame at home. If the program is in ArduPilot's source tree, that tree's default parameters come first."""
    assert spec.path is not None
    program = program_at(spec.path, "ArduPilot")
    stock = program.parent.parent.parent.parent / "Tools" / "autotest" / "default_params" / "copter.parm"
    defaults = ",".join([*([str(stock)] if stock.is_file() else []), "skyloop.parm"])
    place = f"{home.latitude_deg:.7f},{home.longitude_deg:.7f},{home.altitude:.2f},{heading_deg % 360.0:.1f}"
    return AutopilotProcess(
        [str(program), "--model", "JSON:127.0.0.1", f"-I{instance}", "--home", place, "--defaults", defaults,
         *spec.arguments],
        name=f"ardupilot-{instance}",
        # while it waits for a simulator it ignores SIGTERM
        signals=(signal.SIGKILL,),
        files={"skyloop.parm": "FRAME_CLASS 1\nFRAME_TYPE 1\n"},
    )  # fmt: skip


def betaflight_process(program: Path) -> BetaflightProcess:
    return BetaflightProcess([str(program), "127.0.0.1"], name="betaflight")
