"""The landing board's firmware, run by QEMU's emulation of the Zynq-7000.

The guest's memory is a file that is mapped here too. The logic's object list is written into a window of it. A byte on
the second serial port, the doorbell, starts a turn: the firmware reads its serial line, computes, sends and rings back.
Between turns the processor sleeps.

With `-icount` each instruction takes 32 ns of the guest's time, and its global timer ticks every 10 ns. So the ticks of
a turn give the exact number of its instructions, on any host and under any load. Simulated time does not follow the
guest's time: a turn takes `instructions x cycles per instruction / clock`.
"""

from __future__ import annotations

import mmap
import signal
import socket
import struct
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skyloop.core.system_packages import find_program
from skyloop.links.autopilots.launching import AutopilotProcess
from skyloop_client.errors import LinkEnded, LinkError, SetupError
from skyloop_landing.board.board_turns import ObjectWords, Turn

EMULATOR = "qemu-system-arm"
FIRMWARE = Path("plugins/skyloop-landing/build/landing.elf")
"""In a checkout, after `make firmware`."""
CLOCK_HZ = 650e6
"""Of the Arty Z7's processor."""
MEMORY = 16 << 20
WINDOW_AT = 0x0080_0000
DONE_AT, KINDS_AT, CONFIG_AT, LIST_AT = (WINDOW_AT + offset for offset in (0x0100, 0x0200, 0x0400, 0x1000))
MARK = 0x4C4B_5331
GIVEN = struct.Struct("<5IQ")
DONE = struct.Struct("<6I4i3I")
SHIFT = 5
TICKS_PER_INSTRUCTION = (1 << SHIFT) / 10.0
"""QEMU's global timer ticks every 10 ns. More than two ticks per instruction, so rounding finds the exact number."""
PATIENCE_S = 30.0
"""Wall s that a turn may take before the emulator counts as hung."""
RULES = ("touchdown", "published")


@dataclass(frozen=True, slots=True)
class TurnReport:
    """What the firmware wrote beside its lines, for tests and recordings."""

    number: int
    instructions: int
    least_area: int
    refusal: int
    marker: tuple[int, int, int]
    """x, y in 1/16 px and heading in 1/65536 turn, where `refusal` is 0."""
    altitude_cm: int
    running: bool
    skipped: int
    stage: int


def firmware_path(path: Path | None = None) -> Path:
    """The firmware given, or that of this checkout."""
    checkout = Path(__file__).resolve().parents[5]
    found = checkout / FIRMWARE if path is None else path
    if not found.is_file():
        raise SetupError(
            f"there is no firmware {found}; in a checkout run `make firmware` "
            "(it needs the Debian package gcc-arm-none-eabi)"
        )
    return found


class QemuProgram:
    """A board program that is the firmware itself."""

    def __init__(
        self,
        firmware: Path | None = None,
        *,
        clock_hz: float = CLOCK_HZ,
        cycles_per_instruction: float = 1.0,
        rules: str = "touchdown",
        config: Sequence[float] = (),
    ) -> None:
        """config: the controller's numbers in the order of `struct control_config`; without them the firmware's own."""
        if not clock_hz > 0.0 or not cycles_per_instruction > 0.0:
            raise LinkError(
                f"a board of {clock_hz:g} Hz and {cycles_per_instruction:g} cycles per instruction: give more than 0"
            )
        if rules not in RULES:
            raise LinkError(f"no rules named '{rules}' for the landing marker; give {' or '.join(RULES)}")
        program = firmware_path(firmware)
        emulator = find_program(EMULATOR)
        self.name = f"firmware under QEMU at {clock_hz / 1e6:g} MHz"
        self.report = TurnReport(0, 0, 32, 0, (0, 0, 0), -1, False, 0, 0)
        """Of the last turn."""
        self._ns_per_instruction = 1e9 * cycles_per_instruction / clock_hz
        self._rules, self._number = RULES.index(rules), 0
        self._folder = tempfile.TemporaryDirectory(prefix="skyloop-board-")
        folder = Path(self._folder.name)
        memory = folder / "memory"
        with memory.open("w+b") as file:
            file.truncate(MEMORY)
            self._memory = mmap.mmap(file.fileno(), MEMORY)
        self._has_config = bool(config)
        struct.pack_into(f"<{len(config)}d", self._memory, CONFIG_AT, *config)
        self._process = AutopilotProcess(
            _command(emulator, program.resolve(), folder), name="landing-board", signals=(signal.SIGKILL,)
        )
        self._sockets: list[socket.socket] = []
        try:
            self._line, self._doorbell = self._connect(folder)
            self._wait("R", "did not start")
            if struct.unpack_from("<I", self._memory, DONE_AT)[0] != MARK:
                raise LinkError(f"the firmware {program} has another memory layout; run `make firmware` again")
        except BaseException:
            self.close()
            raise

    def _connect(self, folder: Path) -> tuple[socket.socket, socket.socket]:
        """QEMU connects to our sockets, so there is no moment at which it does not listen yet."""
        listeners = []
        try:
            for name in ("line", "doorbell"):
                listener = socket.socket(socket.AF_UNIX)
                listeners.append(listener)
                listener.bind(str(folder / name))
                listener.listen(1)
                listener.settimeout(0.1)
            self._process.start("", folder)
            for listener in listeners:
                self._sockets.append(self._accepted(listener))
        finally:
            for listener in listeners:
                listener.close()
        line, doorbell = self._sockets
        return line, doorbell

    def _accepted(self, listener: socket.socket) -> socket.socket:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            try:
                connection = listener.accept()[0]
            except TimeoutError:
                how = self._process.ended()
                if how is not None:
                    raise LinkError(f"{EMULATOR} did not start: {how}") from None
                continue
            connection.settimeout(PATIENCE_S)
            return connection
        raise LinkError(f"{EMULATOR} did not connect within {PATIENCE_S:g} s")

    @property
    def least_area(self) -> int:
        return self.report.least_area

    def turn(self, t_ns: int, received: bytes, words: ObjectWords | None) -> Turn:
        self._number += 1
        if words is not None:
            data = words.astype("<u4").tobytes()
            self._memory[LIST_AT : LIST_AT + len(data)] = data
        GIVEN.pack_into(
            self._memory, WINDOW_AT, self._number, len(received), int(words is not None), self._rules,
            int(self._number == 1 and self._has_config), t_ns // 1000,
        )  # fmt: skip
        try:
            self._line.sendall(received)
            self._doorbell.sendall(b"G")
        except OSError:
            self._raise_ended("ended in mid-flight")
        self._wait("D", "ended in mid-flight")
        _, number, n_sent, ticks, area, refusal, x, y, heading, altitude, running, skipped, stage = DONE.unpack_from(
            self._memory, DONE_AT
        )
        if number != self._number:
            raise LinkError(f"the board did turn {number} instead of {self._number}; rebuild it with `make firmware`")
        instructions = round(ticks / TICKS_PER_INSTRUCTION)
        self.report = TurnReport(
            number, instructions, area, refusal, (x, y, heading), altitude, bool(running), skipped, stage
        )
        return Turn(self._read(n_sent), round(instructions * self._ns_per_instruction))

    def kinds(self, count: int) -> bytes:
        """What the firmware took the first objects of the last list for."""
        return self._memory[KINDS_AT : KINDS_AT + count]

    def _read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            try:
                part = self._line.recv(count - len(data))
            except OSError:
                part = b""
            if not part:
                self._raise_ended("ended in mid-flight")
            data += part
        return data

    def _wait(self, rung: str, what: str) -> None:
        try:
            got = self._doorbell.recv(1)
        except TimeoutError:
            raise LinkError(f"the emulated board {what}: no answer within {PATIENCE_S:g} s") from None
        except OSError:
            got = b""
        if got != rung.encode():
            self._raise_ended(what)

    def _raise_ended(self, what: str) -> None:
        until = time.monotonic() + 1.0
        while (how := self._process.ended()) is None and time.monotonic() < until:
            time.sleep(0.01)
        raise LinkEnded(f"the emulated board {what}: {EMULATOR} {how or 'closed its line'}")

    def close(self) -> None:
        """End the emulator. It may be called twice."""
        for connection in self._sockets:
            connection.close()
        self._sockets = []
        self._process.stop()
        if not self._memory.closed:
            self._memory.close()
        self._folder.cleanup()


def _command(emulator: str, firmware: Path, folder: Path) -> list[str]:
    serial: list[str] = []
    for name in ("line", "doorbell"):
        serial += ["-chardev", f"socket,id={name},path={folder / name}", "-serial", f"chardev:{name}"]
    return [
        emulator,
        *("-machine", "xilinx-zynq-a9,memory-backend=ddr", "-m", str(MEMORY >> 20)),
        *("-object", f"memory-backend-file,id=ddr,size={MEMORY >> 20}M,mem-path={folder / 'memory'},share=on"),
        *("-icount", f"shift={SHIFT},sleep=on"),
        *("-nodefaults", "-display", "none", "-monitor", "none"),
        *serial,
        *("-device", f"loader,file={firmware},cpu-num=0"),
    ]
