"""Frames nobody should send, on every port: real ones that were damaged, and garbage. The flight goes on."""

from __future__ import annotations

import contextlib
import os
import pty
import shutil
import socket
import subprocess
import termios
import time
import tty
from collections.abc import Iterable
from pathlib import Path
from random import Random

from mutations import damaged
from process_looks import processor_s
from pymavlink.dialects.v20 import common as mavlink
from served_flights import PATIENCE_S, PROTOCOLS, SKYLOOP, Protocol, Served
from trials import Part, Result

from skyloop_landing.board.serial_frames import ASK_ALTITUDE, ASK_SIZES, velocity_line, yaw_rate_line

FRAMES = 1500
"""In one trial."""
BOARD_LINES = [
    velocity_line(0.5, -0.2, 0.3),
    velocity_line(0.0, 0.0, 0.0),
    yaw_rate_line(10.0),
    ASK_ALTITUDE,
    ASK_SIZES,
]
"""Without the one that says to land: the line is talked on as long as possible."""
LANDING = ("--set", "duration=6")
LANDING_S = 240.0
"""Processor time of such a landing at most."""


class HostileFrames(Part):
    name = "frames"

    def trial(self, number: int) -> Iterable[Result]:
        chance, kinds = self.chance(number), [*PROTOCOLS, None, None]
        kind = kinds[number % len(kinds)]
        folder = self.folder / f"{number:04d}"
        if kind is None and number % len(kinds) == len(PROTOCOLS):
            result = _landing_board(folder, chance)
        else:
            result = _attacked(kind, folder, chance)
        if not result.fault:
            shutil.rmtree(folder)
        return [result]


def _attacked(kind: Protocol | None, folder: Path, chance: Random) -> Result:
    line = _Line() if kind is None else None
    protocol = line.protocol if line is not None else kind
    assert protocol is not None
    what, sent, fault = f"{protocol.name}, frames", 0, ""
    try:
        served = Served(protocol, folder)
    except Exception as error:
        return Result(what, f"{type(error).__name__}: {error}"[:300])
    try:
        health = served.health()
        frames = protocol.frames(served, chance)
        while sent < FRAMES and not fault and served.process.poll() is None:
            count = chance.randrange(20, 80)
            data = [_hostile(frames, chance) for _ in range(count)]
            if line is not None:
                line.send(data)
            elif protocol.datagrams is not None:
                _send_datagrams(protocol.datagrams(served), data, chance)
            else:
                _send_stream(served, data, chance)
            sent += count
        fault = served.fault(**health)
    finally:
        fault = served.close() or fault
        if line is not None:
            line.close()
    return Result(what, fault, sent)


def _hostile(frames: list[bytes], chance: Random) -> bytes:
    """One in five is as it should be, so that what follows a right one is met, too."""
    frame = chance.choice(frames)
    return frame if chance.random() < 0.2 else damaged(frame, chance)[0]


def _send_datagrams(places: list[tuple[str, int]], data: list[bytes], chance: Random) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
        for frame in data:
            with contextlib.suppress(OSError):
                sender.sendto(frame[:60_000], chance.choice(places))
        # without a pause most would never be read
        time.sleep(0.05)


def _send_stream(served: Served, data: list[bytes], chance: Random) -> None:
    """Mostly after a right greeting, and cut into pieces of any size."""
    with socket.socket() as client:
        client.settimeout(2.0)
        with contextlib.suppress(OSError):
            client.connect(("127.0.0.1", served.port))
            if chance.random() < 0.8:
                client.sendall(served.protocol.greeting(served, chance))
            whole = b"".join(data)
            while whole:
                size = chance.choice((1, 3, 100, 5000, 100_000))
                client.sendall(whole[:size])
                whole = whole[size:]
            client.settimeout(0.2)
            for _ in range(20):
                if not client.recv(1 << 16):
                    break


# ---- serial lines


class _Line:
    """A board with PX4 on a pseudo-terminal; the flight has the other end."""

    def __init__(self) -> None:
        self._ours, self._theirs = pty.openpty()
        tty.setraw(self._theirs, termios.TCSANOW)
        os.set_blocking(self._ours, False)
        words = ["--link", f"px4-serial:{os.ttyname(self._theirs)}"]
        self.protocol = Protocol(
            "serial px4", lambda port: words, lambda served, chance: b"", lambda served, chance: self._frames(),
            lambda served: self._sensed(), flies_alone=False,
        )  # fmt: skip

    def _frames(self) -> list[bytes]:
        pack = mavlink.MAVLink(None, srcSystem=1, srcComponent=1)
        messages = [
            mavlink.MAVLink_heartbeat_message(2, 12, 29, 65536, 3, 3),
            mavlink.MAVLink_hil_actuator_controls_message(20_000, [0.5] * 16, 129, 1),
            mavlink.MAVLink_command_long_message(1, 1, 511, 0, 115.0, 4000.0, 0, 0, 0, 0, 0),
            mavlink.MAVLink_statustext_message(4, b"ready"),
        ]
        return [bytes(message.pack(pack)) for message in messages]

    def send(self, data: list[bytes]) -> None:
        for frame in data:
            with contextlib.suppress(BlockingIOError):
                os.write(self._ours, frame[:4000])
            self._read()
        time.sleep(0.02)

    def _read(self) -> bytes:
        with contextlib.suppress(BlockingIOError):
            return os.read(self._ours, 1 << 16)
        return b""

    def _sensed(self) -> None:
        """The board is given samples when it has said who it is."""
        parser, deadline = mavlink.MAVLink(None), time.monotonic() + PATIENCE_S
        parser.robust_parsing = True
        while time.monotonic() < deadline:
            self.send(self._frames()[:2])
            if any(message.get_type() == "HIL_SENSOR" for message in parser.parse_buffer(self._read()) or ()):
                return
        raise TimeoutError("no HIL_SENSOR")

    def close(self) -> None:
        os.close(self._ours)
        os.close(self._theirs)


def _landing_board(folder: Path, chance: Random) -> Result:
    """A landing whose board talks nonsense: it ends, lands or gives up, and says so."""
    folder.mkdir(parents=True)
    place, sent = folder / "board", 0
    with (folder / "said.txt").open("wb") as said:
        process = subprocess.Popen(
            [SKYLOOP, "land", "--board", f"pty:{place}", *LANDING, "--out", "run"], cwd=folder, stdout=said, stderr=said
        )
    try:
        deadline = time.monotonic() + 3 * PATIENCE_S
        while not place.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        board = os.open(place, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK) if place.exists() else -1
        while process.poll() is None and board >= 0:
            if processor_s(process.pid) > LANDING_S:
                return Result("serial board, lines", "the landing does not end", max(sent, 1))
            with contextlib.suppress(OSError):
                os.write(board, _hostile(BOARD_LINES, chance)[:500])
                sent += 1
                os.read(board, 1 << 16)
            time.sleep(0.01)
        if board >= 0:
            os.close(board)
    finally:
        process.kill()
        code = process.wait()
    text = (folder / "said.txt").read_text(encoding="utf-8", errors="replace")
    fault = f"exit code {code}: {text[-300:]}" if code not in (0, 1) or "Traceback" in text else ""
    return Result("serial board, lines", fault, max(sent, 1))
