"""Lines to a real landing board or to a stand-in for one: a serial port, a pseudo terminal or a socket.

They are read and written without waiting. An error is one line that says what to do.
"""

from __future__ import annotations

import errno
import os
import pty
import socket
import termios
import tty
from collections.abc import Sequence
from pathlib import Path

from skyloop_client.errors import LinkEnded, LinkError
from skyloop_landing.board.board_turns import MIN_AREA, ObjectWords
from skyloop_landing.board.simulated_uart import StampedBytes

CHUNK = 4096
CONNECT_S = 5.0
USAGE = "give arty:/dev/ttyUSB1, pty:PATH or tcp:HOST:PORT"


class BoardLine:
    """Bytes to and from a board, through a file descriptor that never waits."""

    def __init__(self, descriptor: int, name: str, link: Path | None = None, kept_open: int | None = None) -> None:
        """link: a name in the file system to be removed at the end. kept_open: another descriptor to close then."""
        self.name = name
        self.dropped = 0
        """Bytes that the line did not take."""
        self._descriptor: int | None = descriptor
        self._link, self._kept_open = link, kept_open
        os.set_blocking(descriptor, False)

    def read(self) -> bytes:
        if self._descriptor is None:
            return b""
        try:
            data = os.read(self._descriptor, CHUNK)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise self._gone(error.strerror) from None
        if not data:
            raise self._gone("the line was closed")
        return data

    def write(self, data: bytes) -> None:
        if self._descriptor is None or not data:
            return
        try:
            taken = os.write(self._descriptor, data)
        except BlockingIOError:
            taken = 0
        except OSError as error:
            raise self._gone(error.strerror) from None
        # the protocol resends what matters, so what a full line does not take is not kept
        self.dropped += len(data) - taken

    def _gone(self, why: str | None) -> LinkEnded:
        self.close()
        return LinkEnded(f"the landing board on {self.name} is gone ({why}); is it still plugged in and switched on?")

    def close(self) -> None:
        """It may be called twice."""
        for descriptor in (self._descriptor, self._kept_open):
            if descriptor is not None:
                os.close(descriptor)
        self._descriptor = self._kept_open = None
        if self._link is not None:
            self._link.unlink(missing_ok=True)
            self._link = None


def open_line(text: str) -> BoardLine:
    """`arty:/dev/ttyUSB1`, `pty:PATH` or `tcp:HOST:PORT`."""
    kind, _, where = text.partition(":")
    if kind not in ("arty", "pty", "tcp") or not where:
        raise LinkError(f"no landing board named '{text}'; {USAGE}")
    if kind == "arty":
        return open_serial(Path(where))
    return open_pty(Path(where)) if kind == "pty" else open_socket(where)


def open_serial(device: Path) -> BoardLine:
    """57600 baud, eight bits, no parity, one stop bit, no flow control."""
    try:
        descriptor = os.open(device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError as error:
        raise LinkError(_why_not(device, error)) from None
    try:
        tty.setraw(descriptor, termios.TCSANOW)
        settings = termios.tcgetattr(descriptor)
        settings[2] = termios.CS8 | termios.CREAD | termios.CLOCAL
        settings[4] = settings[5] = termios.B57600
        termios.tcsetattr(descriptor, termios.TCSANOW, settings)
        # what the board said before is of no flight of ours
        termios.tcflush(descriptor, termios.TCIOFLUSH)
    except termios.error:
        os.close(descriptor)
        raise LinkError(f"{device} is not a serial device; the Arty Z7 is mostly /dev/ttyUSB1") from None
    return BoardLine(descriptor, str(device))


def _why_not(device: Path, error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return f"there is no device {device}; is the board plugged in? `ls /dev/ttyUSB*` shows what is"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"you may not open {device}; join its group (Debian: sudo adduser $USER dialout) and log in again"
    if error.errno == errno.EBUSY:
        return f"another program has {device} open; end it"
    return f"cannot open the serial device {device}: {error.strerror}"


def open_pty(path: Path) -> BoardLine:
    """A pseudo terminal of our own. `path` then leads to its other end, for a program that plays the board."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    try:
        path.symlink_to(os.ttyname(theirs))
    except OSError as error:
        os.close(ours)
        os.close(theirs)
        raise LinkError(f"cannot make the pseudo terminal {path}: {error.strerror}; name a path that is free") from None
    # our own end of theirs stays open: without it the line would fail until the other program comes
    return BoardLine(ours, str(path), link=path, kept_open=theirs)


def open_socket(address: str) -> BoardLine:
    host, _, number = address.rpartition(":")
    if not host or not number.isdigit():
        raise LinkError(f"'tcp:{address}' is no address; give tcp:HOST:PORT")
    try:
        connection = socket.create_connection((host, int(number)), timeout=CONNECT_S)
    except (OSError, OverflowError) as error:
        raise LinkError(f"no landing board answers on tcp:{address}: {error}; start it first") from None
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return BoardLine(connection.detach(), f"tcp:{address}")


class SerialBoard:
    """A board outside the simulator. It sees the video output; its bytes travel in wall time on a line of their own."""

    has_own_line = True

    def __init__(self, line: BoardLine) -> None:
        self.name = f"board on {line.name}"
        self.least_area = MIN_AREA
        self._line = line
        self._heard = 0

    def advance(
        self, t_ns: int, received: Sequence[StampedBytes], words: ObjectWords | None = None
    ) -> list[StampedBytes]:
        for part in received:
            self._line.write(part.data)
        data = self._line.read()
        self._heard += len(data)
        return [StampedBytes(t_ns, data)] if data else []

    def summary(self) -> dict[str, object]:
        return {"board": self.name, "bytes_heard": self._heard, "bytes_dropped": self._line.dropped}

    def close(self) -> None:
        self._line.close()
