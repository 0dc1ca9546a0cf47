"""The computers that run the software under test (SUT): start, watch and stop it."""

from __future__ import annotations

import hashlib
import logging
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from skyloop.core.child_process import UNBUFFERED, how_it_ended
from skyloop.core.files import CACHE_FOLDER
from skyloop.core.system_packages import find_program
from skyloop.links.sockets import own_address_towards
from skyloop_client.clocks import source_of
from skyloop_client.errors import LinkError

log = logging.getLogger(__name__)
GRACE_S = 0.5
"""Wall s that a SUT gets to finish after the flight is over."""
END_S = 1.0
"""Wall s that a process gets to end after the signal."""
TARGETS = "local, frozen, throttled:SHARE, board, remote or remote:USER@HOST"
COMPILER = "aarch64-linux-gnu-g++"
EMULATOR = "qemu-aarch64"
SOURCES = (".cpp", ".cc", ".cxx")
LOOPBACK = ("127.", "localhost", "[::1]")
EVERYWHERE = ("", "0.0.0.0", "::", "[::]")
ELSEWHERE = "192.0.2.1"
"""An address from the range reserved for documentation, which belongs to no machine."""


@dataclass(frozen=True, slots=True)
class PowerModel:
    """Power of the SUT's computer. The defaults are about those of a Raspberry Pi 4."""

    idle: float = 2.7
    """W while it waits."""
    busy: float = 6.4
    """W while it computes."""


class Target(Protocol):
    name: str

    def start(self, address: str, folder: Path | None) -> None:
        """Start the SUT so that it connects to `address`. Its output goes into `folder`."""

    def ended(self) -> str | None:
        """How it ended, with its last output. None while it runs."""

    def stop(self) -> None:
        """End it and all processes that it started."""


class LocalProcess:
    """A command on this machine, in its own process group.

    The SUT's own client keeps execution time; it finds `clock` and `speed` in its environment. With `freeze` the
    target's agent keeps it, and freezes all threads and processes of any SUT."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        clock: str = "",
        speed: float = 1.0,
        freeze: bool = False,
        name: str = "local process",
    ) -> None:
        self.name = name
        self.printed = "sut.txt"
        """The file in the run folder that gets its output."""
        self.vehicle = ""
        """The one it is for, if there are several."""
        clock = clock or ("wall" if speed == 1.0 else "cpu")
        source_of(clock, speed)
        options = ["--clock", clock, "--speed", f"{speed:g}"]
        command = runnable(command)
        self._command = agent_command(options, command) if freeze else command
        self._environment = {"SKYLOOP_CLOCK": clock, "SKYLOOP_SPEED": f"{speed:g}"}
        self._signals: Sequence[signal.Signals] = (signal.SIGTERM, signal.SIGKILL)
        self._grace_s, self._end_s = GRACE_S, END_S
        self._process: subprocess.Popen[bytes] | None = None
        self._output: Path | None = None

    def start(self, address: str, folder: Path | None) -> None:
        self._output = None if folder is None else folder / self.printed
        self._environment = {**UNBUFFERED, **self._environment, **self._variables(address)}
        with nullcontext() if self._output is None else self._output.open("wb") as output:
            self._launch(self._command_at(address), output, "the SUT")

    def belongs_to(self, vehicle: str) -> None:
        """One of several programs: its client finds the vehicle in its environment."""
        self.vehicle, self.printed = vehicle, f"sut-{vehicle}.txt"

    def _variables(self, address: str) -> dict[str, str]:
        return {"SKYLOOP_ADDRESS": address, **({"SKYLOOP_VEHICLE": self.vehicle} if self.vehicle else {})}

    def _launch(
        self,
        command: Sequence[str],
        output: IO[bytes] | None,
        what: str,
        cwd: Path | None = None,
        preexec_fn: Callable[[], None] | None = None,
    ) -> None:
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT if output else None,
                start_new_session=True, env={**os.environ, **self._environment}, cwd=cwd, preexec_fn=preexec_fn,
            )  # fmt: skip
        except OSError as error:
            raise LinkError(f"cannot start {what} '{command[0]}': {error.strerror}") from None
        log.debug("started %s as process %d: %s", what, self._process.pid, shlex.join(command))

    def _command_at(self, address: str) -> list[str]:
        """The command for a simulator that listens at this address."""
        return self._command

    def ended(self) -> str | None:
        code = None if self._process is None else self._process.poll()
        if code is None:
            return None
        said = ""
        with suppress(OSError):  # the folder of a run that never began is removed
            if self._output is not None:
                said = self._output.read_text(errors="replace")
        how = how_it_ended(code, said)
        return f"{how} (the program of '{self.vehicle}')" if self.vehicle else how

    def stop(self) -> None:
        if self._process is None or self._has_ended(self._grace_s):
            self._signal(signal.SIGKILL)
            return
        for number in self._signals:
            # a frozen process must run to receive the signal
            self._signal(signal.SIGCONT)
            self._signal(number)
            if self._has_ended(self._end_s):
                break
        self._signal(signal.SIGKILL)

    def _has_ended(self, within_s: float) -> bool:
        until = time.monotonic() + within_s
        while self._process is not None and self._process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        return self._process is None or self._process.poll() is not None

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            if self._process is not None:
                os.killpg(self._process.pid, number)


class ThrottledProcess(LocalProcess):
    """A command that really gets only a share of the time: a slow computer whose clock is not stopped."""

    def __init__(self, command: Sequence[str], share: float) -> None:
        if not 0.001 <= share <= 1.0:
            raise LinkError(f"a share of {share:g} of the time: give 0.001 to 1")
        super().__init__(agent_command(["--throttle", f"{share:g}"], runnable(command)), name=f"throttled to {share:g}")


class EmulatedBoard(LocalProcess):
    """A C++ source, which is cross-compiled, or an aarch64 program, run by an emulator of that processor."""

    def __init__(
        self, command: Sequence[str], *, includes: Sequence[Path] = (), speed: float = 1.0, clock: str = "",
        freeze: bool = False,
    ) -> None:  # fmt: skip
        emulated = runnable(command, board=True, includes=includes)
        super().__init__(emulated, clock=clock, speed=speed, freeze=freeze, name="emulated aarch64 board")


class Remote(LocalProcess):
    """Another machine.

    With an ssh address the SUT is started there and reaches the simulator through ssh's tunnel, so the simulator need
    not listen on the network. Otherwise `tell` gets the command that a person must run there: with `--connect` if the
    program takes it, else with the address in its environment."""

    def __init__(
        self, command: Sequence[str], ssh: str = "", *, tell: Callable[[str], None], takes_connect: bool = False,
        options: Sequence[str] = (),
    ) -> None:  # fmt: skip
        super().__init__(command, name=f"remote machine {ssh}".strip())
        self._takes_connect = takes_connect
        self._ssh = ssh
        self._tell = tell
        self._options = list(options)

    def start(self, address: str, folder: Path | None) -> None:
        if self._ssh:
            super().start(address, folder)
            return
        shown = reachable(address)
        variables, command = self._variables(shown), self._command
        if self._takes_connect:
            command = [*command, "--connect", variables.pop("SKYLOOP_ADDRESS")]
        typed = f"{_assigned(variables)} {shlex.join(command)}".strip()
        self._tell(f"on the target run: {typed}")
        if shown.startswith(LOOPBACK):
            self._tell(f"only this machine can reach {shown}; for another one add --listen 0.0.0.0:4700")

    def _command_at(self, address: str) -> list[str]:
        host, _, port = address.rpartition(":")
        # the same port number there, because it is from a range that is rarely used; -tt ends the SUT with the tunnel
        tunnel = [
            "-tt",
            "-o",
            "BatchMode=yes",
            "-o",
            "ExitOnForwardFailure=yes",
            "-R",
            f"127.0.0.1:{port}:{host}:{port}",
        ]
        started = f"{_assigned(self._variables(f'127.0.0.1:{port}'))} {shlex.join(self._command)}"
        return [find_program("ssh"), *self._options, *tunnel, self._ssh, f"env {started}"]


def _assigned(variables: Mapping[str, str]) -> str:
    return shlex.join(f"{name}={value}" for name, value in variables.items())


def reachable(address: str) -> str:
    """An address of this machine for other machines, if the simulator listens on all addresses."""
    host, _, port = address.rpartition(":")
    if host not in EVERYWHERE:
        return address
    return f"{own_address_towards(ELSEWHERE) or socket.gethostname()}:{port}"


class Together:
    """Several programs for one flight, each on its own target: for example a pilot and an estimator."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self.name = " and ".join(target.name for target in targets)
        self._targets = list(targets)

    def start(self, address: str, folder: Path | None) -> None:
        for target in self._targets:
            target.start(address, folder)

    def ended(self) -> str | None:
        """How the first one ended."""
        return next((how for how in (target.ended() for target in self._targets) if how is not None), None)

    def stop(self) -> None:
        for target in self._targets:
            target.stop()


def make_target(
    text: str,
    command: Sequence[str],
    *,
    speed: float = 1.0,
    tell: Callable[[str], None] = print,
    takes_connect: bool = False,
    vehicle: str = "",
) -> Target | None:
    """The target of `--target`: local, frozen, throttled:0.2, board, remote or remote:user@host.

    None without a command. `takes_connect`: the program has an option --connect. `vehicle`: the one it is for, if there
    are several."""
    made = _target(text, command, speed, tell, takes_connect)
    if made is not None and vehicle:
        made.belongs_to(vehicle)
    return made


def _target(
    text: str, command: Sequence[str], speed: float, tell: Callable[[str], None], takes_connect: bool
) -> LocalProcess | None:
    kind, _, detail = text.partition(":")
    if speed != 1.0 and kind in ("throttled", "remote"):
        raise LinkError(f"a {kind} target is as fast as it is; leave out the speed, or tell its client there")
    if not command:
        return None
    if kind in ("local", "frozen") and not detail:
        return LocalProcess(command, speed=speed, freeze=kind == "frozen")
    if kind == "board" and not detail:
        return EmulatedBoard(command, speed=speed)
    if kind == "remote":
        return Remote(command, detail, tell=tell, takes_connect=takes_connect)
    if kind == "throttled":
        with suppress(ValueError):
            return ThrottledProcess(command, float(detail))
    raise LinkError(f"no target named '{text}'; give {TARGETS}")


def agent_command(options: Sequence[str], command: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "skyloop_client", "agent", *options, "--", *command]


def runnable(command: Sequence[str], *, board: bool = False, includes: Sequence[Path] = ()) -> list[str]:
    """A command that can be started. A C++ source in first place is compiled, for this machine or for the board."""
    first = command[0]
    if Path(first).suffix in SOURCES:
        first = str(compiled(Path(first), board=board, includes=includes))
    emulator = [find_program(EMULATOR)] if board else []
    return [*emulator, first, *command[1:]]


def compiled(source: Path, *, board: bool = False, includes: Sequence[Path] = ()) -> Path:
    """The program for a C++ source, from the cache if neither it nor its headers have changed."""
    folders = [*includes, *_client_folders(source)]
    flags = [*(["-static"] if board else []), "-O2", "-std=c++17", *(f"-I{folder}" for folder in folders)]
    compiler = find_program(COMPILER if board else "g++")
    if not source.is_file():
        raise LinkError(f"no source '{source}' to compile")
    expanded = _ran([compiler, *flags, "-E", "-P", str(source)], source)
    mark = hashlib.sha256(f"{compiler} {board}".encode() + expanded).hexdigest()[:24]
    program = CACHE_FOLDER / "boards" / f"{source.stem}-{mark}"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        # others may compile the same source
        unfinished = program.with_name(f"{program.name}.{os.getpid()}")
        try:
            _ran([compiler, *flags, str(source), "-o", str(unfinished)], source)
            unfinished.replace(program)
        finally:
            unfinished.unlink(missing_ok=True)
    return program


def _client_folders(source: Path) -> list[Path]:
    """The folder of skyloop_client.hpp, if the source is in skyloop's own tree."""
    folders = [parent / "clients" / "cpp" for parent in source.resolve().parents]
    return [folder for folder in folders if (folder / "skyloop_client.hpp").is_file()]


def _ran(command: list[str], source: Path) -> bytes:
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        words = done.stderr.decode(errors="replace")
        said = next((line for line in words.splitlines() if "error" in line), words.strip())
        raise LinkError(f"'{source}' cannot be compiled: {said[:300]}")
    return done.stdout
