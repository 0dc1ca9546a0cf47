"""One connection: the messages that it sends, the answers that it gets, and whether it is late with either.

Peers are not trusted: the size and the duration of their messages are bounded."""

from __future__ import annotations

import fcntl
import mmap
import os
import secrets
import select
import socket
import sys
import termios
import threading
import time
from bisect import bisect
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import fields, replace
from ipaddress import ip_address
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from skyloop_client.errors import LinkError, SetpointError
from skyloop_client.lent_memory import MARK_BYTES
from skyloop_client.messages import Array, Request, Setpoint
from skyloop_client.wire import MOST_BEFORE_HELLO, MOST_FROM_CLIENT, FrameReader, LinkMessage, framed

LENT_BYTES = 64 << 20
"""Of one session. Pages that were never used cost nothing. When all is lent, arrays travel in the messages."""
LEAST_BYTES = 32_768
"""Smaller arrays travel in the message: sending them costs less than lending."""
LINE = 64
"""Blocks begin at multiples of this many bytes, a cache line."""
F_SEAL_FUTURE_WRITE = 0x10
"""Of Linux 5.1; not in Python's `fcntl`."""


class SharedBlocks:
    """Memory shared with a session on the same machine: arrays are copied here, and the message only says where.

    It is a file in memory without a name (memfd). A client opens it as a file of this process, which the system allows
    to the same user only, and may read it. The system frees it with the last process that has it, also after a
    kill."""

    def __init__(self, size: int = LENT_BYTES) -> None:
        self._size = size
        self._file = os.memfd_create("skyloop-link", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(self._file, size)
            self._map = mmap.mmap(self._file, size)
            for seals in (F_SEAL_FUTURE_WRITE, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL):
                fcntl.fcntl(self._file, fcntl.F_ADD_SEALS, seals)
        except BaseException:
            os.close(self._file)
            raise
        self._bytes = memoryview(self._map)
        self.mark = secrets.token_bytes(MARK_BYTES)
        self._bytes[:MARK_BYTES] = self.mark
        self._free: list[tuple[int, int]] = [(LINE, size - LINE)]
        """(start, bytes) of what is not lent, in order."""
        self._lent: dict[int, int] = {}
        self.taken = False
        """The client has opened it, and arrays may be lent."""
        self._counted = 0

    @property
    def for_hello(self) -> LinkMessage:
        return {"path": f"/proc/{os.getpid()}/fd/{self._file}", "bytes": self._size, "mark": self.mark.hex()}

    def lend(self, raw: memoryview) -> int | None:
        """Copy the bytes of an array. Returns where they begin, or None if the array is to be sent."""
        size = len(raw)
        if size < LEAST_BYTES:
            return None
        needed = -(-size // LINE) * LINE
        # the first that fits: the same few pages are used again and again, and stay in the processor's cache
        for number, (start, room) in enumerate(self._free):
            if room >= needed:
                if room == needed:
                    del self._free[number]
                else:
                    self._free[number] = (start + needed, room - needed)
                self._lent[start] = needed
                self._bytes[start : start + size] = raw
                self._counted += size
                return start
        return None

    def newly_lent(self) -> int:
        """Bytes that were lent since the last call."""
        counted, self._counted = self._counted, 0
        return counted

    def take_back(self, starts: Iterable[int]) -> None:
        """What the client no longer uses, as its question says."""
        if not self.taken:
            # it has opened the memory, which needs no file any more
            self.taken = True
            os.close(self._file)
        for start in starts:
            room = self._lent.pop(start, None)
            if room is None:
                raise LinkError(f"memory at {start!r} is given back that was not lent")
            self._put_back(start, room)

    def _put_back(self, start: int, room: int) -> None:
        """Joined with its free neighbours."""
        after = bisect(self._free, (start, 0))
        if after < len(self._free) and self._free[after][0] == start + room:
            room += self._free.pop(after)[1]
        if after and sum(self._free[after - 1]) == start:
            start, room = self._free[after - 1][0], room + self._free[after - 1][1]
            self._free[after - 1] = (start, room)
        else:
            self._free.insert(after, (start, room))

    def close(self) -> None:
        """The client's arrays stay valid: its process has the memory, too."""
        self.take_back(())
        self._bytes.release()
        self._map.close()


def shared_with(peer: str) -> SharedBlocks | None:
    """Memory for a peer whose address is of this machine alone, where the system has such memory."""
    try:
        return SharedBlocks() if ip_address(peer.rpartition(":")[0]).is_loopback else None
    except (OSError, ValueError, AttributeError):
        return None


# ---- connections


HELLO_S = 5.0
"""Wall s from the connection to a complete hello."""
STRANGER_S = 1.0
"""Wall s after which a silent peer is disconnected to make room, if there is no slot left."""
SILENCE_S = 10.0
"""Wall s from the beginning of a message to its end, and from a write until the peer reads it."""
CHUNK = 1 << 16
MOST_PARTS = 64

Parts = list[bytes | memoryview]


class Inlet(Protocol):
    """Collects bytes and returns complete messages."""

    @property
    def is_within(self) -> bool:
        """Whether part of a message has arrived."""

    def feed(self, data: bytes) -> Iterator[Any]: ...


class Peer:
    """One connection."""

    def __init__(self, wake: Callable[[], None], connection: socket.socket, name: str, port: int) -> None:
        """`wake` tells the listener's thread that something is left to write."""
        self.name = name
        self.port = port
        self.open = True
        self.given = 0
        """Number of messages that were put into the inbox."""
        self.taken = 0
        """Number of messages that the simulation's thread took out of it."""
        self.memory: SharedBlocks | None = None
        """For a session on this machine that asks for it. Used by the simulation's thread only."""
        self.reading = threading.Lock()
        """Held by the thread that reads and puts what it read into the inbox, so that messages keep their order."""
        self._wake = wake
        self._socket = connection
        self._inlet = self.made_inlet()
        self._outbox: deque[memoryview] = deque()
        self._lock = threading.Lock()
        self.greeted = False
        self.dismissed = False
        """The simulation ignores further messages of this peer, including those in the inbox."""
        self._connected = self._began = self._took = time.monotonic()
        """Wall times: connection, begin of the incoming message, last read of pending data by the peer."""
        self._queued = 0

    # ---- overridden for other protocols

    def made_inlet(self) -> Inlet:
        return FrameReader(MOST_BEFORE_HELLO)

    def parts_of(self, message: Any) -> Parts:
        """A message as bytes."""
        return framed(message, self.memory.lend if self.memory is not None and self.memory.taken else None)

    @property
    def owes_hello(self) -> bool:
        return not self.given

    # ---- called by the simulation's thread

    def welcome(self) -> None:
        """It sent a valid hello, so larger messages are allowed from now on."""
        self.greeted = True
        assert isinstance(self._inlet, FrameReader)
        self._inlet.most = MOST_FROM_CLIENT

    def send(self, message: object, *, patience_s: float = 0.0) -> int:
        """Write as much as the peer takes within `patience_s`. The rest follows in the background. Returns the size."""
        parts = [memoryview(part).cast("B") for part in self.parts_of(message) if len(part)]
        size = sum(map(len, parts)) + (0 if self.memory is None else self.memory.newly_lent())
        with self._lock:
            if not self.open:
                return 0
            if not self._outbox:
                parts = self._write(parts, time.monotonic() + patience_s if patience_s else 0.0)
            if parts:
                if not self._outbox:
                    self._took = time.monotonic()
                self._outbox.extend(parts)
                self._wake()
        return size

    def _write(self, parts: list[memoryview], until: float) -> list[memoryview]:
        """Returns the rest."""
        while parts:
            try:
                sent = self._socket.sendmsg(parts[:MOST_PARTS])
            except BlockingIOError:
                left = until - time.monotonic() if until else 0.0
                if left <= 0.0:
                    return parts
                poll = select.poll()
                poll.register(self._socket, select.POLLOUT)
                poll.poll(1e3 * left)
                continue
            except OSError:
                return []  # the reading side will notice
            while parts and sent >= len(parts[0]):
                sent -= len(parts.pop(0))
            if sent:
                parts[0] = parts[0][sent:]
        return parts

    # ---- called by the listener's thread, and `read` also by one that waits for the inbox

    def flush(self) -> bool:
        """True while data is left to write."""
        with self._lock:
            before = sum(map(len, self._outbox))
            left = self._write(list(self._outbox), 0.0)
            if sum(map(len, left)) != before:
                self._took = time.monotonic()
            self._outbox = deque(left)
            return bool(left)

    def read(self) -> list[Any]:
        """Complete messages. Raises EOFError when the peer has gone."""
        try:
            data = self._socket.recv(CHUNK)
        except BlockingIOError:
            return []
        if not data:
            raise EOFError
        if not self._inlet.is_within:
            self._began = time.monotonic()
        messages = list(self._inlet.feed(data))
        if messages:
            self._began = time.monotonic()
        return messages

    @property
    def is_stranger(self) -> bool:
        """Whether it has been silent for long enough to be disconnected."""
        return not self.given and time.monotonic() - self._connected > STRANGER_S

    @property
    def is_late(self) -> str:
        """What it is late with, or an empty text."""
        now = time.monotonic()
        if (queued := self._system_holds()) != self._queued:
            self._queued, self._took = queued, now
        if self.owes_hello and now - self._connected > HELLO_S:
            return f"no hello within {HELLO_S:g} s"
        if self._outbox and now - self._took > SILENCE_S:
            return f"did not read its answer within {SILENCE_S:g} s"
        if self._inlet.is_within and now - self._began > SILENCE_S:
            return f"half a message, then {SILENCE_S:g} s of silence"
        return ""

    def _system_holds(self) -> int:
        """Bytes that the peer's machine has not taken. A slow connection shows progress here."""
        with suppress(OSError):
            return int.from_bytes(fcntl.ioctl(self._socket, termios.TIOCOUTQ, bytes(4)), sys.byteorder)
        return 0

    @property
    def unread(self) -> int:
        """Parts that are left to write."""
        return len(self._outbox)

    def shut(self) -> bool:
        """May be called from any thread. Only the listener's thread frees the socket: its number is not reused early.

        True for the first call."""
        with self._lock:
            was_open, self.open = self.open, False
            self._outbox.clear()
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            return was_open

    def free(self) -> None:
        self._socket.close()


# ---- values of a peer


MOST = 1 << 62
"""ns and other integers. An answer must be able to repeat it."""
FARTHEST = 1e12
"""m, m/s, rad... Its square is still far from the largest float."""


def integer_of(message: LinkMessage, key: str, default: int | None = None) -> int:
    """An integer of a message."""
    value = message[key] if default is None else message.get(key, default)
    if type(value) is not int or not -MOST < value < MOST:
        raise LinkError(f"'{key}' must be an integer, smaller than 2^62; see docs/reference/protocol.md")
    return value


def taken(item: object) -> Setpoint | Request:
    """A setpoint or request. Plain lists of numbers become arrays."""
    if not isinstance(item, Setpoint | Request):
        said = item.get("@", "a map") if isinstance(item, dict) else type(item).__name__
        raise SetpointError(f"{said} is neither a setpoint nor a request")
    arrays: dict[str, Any] = {}
    for field in fields(item):
        value = getattr(item, field.name)
        field_name = f"{type(item).__name__}.{field.name}"
        if isinstance(value, str) != (field.type == "str"):
            raise SetpointError(
                f"{field_name} is a {type(value).__name__}; give {'text' if field.type == 'str' else 'numbers'}"
            )
        if isinstance(value, tuple | list | np.ndarray):
            # copied, because they outlive the bytes they came in
            value = arrays[field.name] = _numbers(value, field_name)
        elif not isinstance(value, int | float | str | None):
            raise SetpointError(f"{field_name} is a {type(value).__name__}; give numbers")
        # the autopilot refuses NaN itself
        if not isinstance(value, str | None) and _is_far(value):
            raise SetpointError(f"{field_name} is beyond {FARTHEST:g}; give SI units and radians")
    return replace(item, **arrays)


def _is_far(value: ArrayLike) -> bool:
    if isinstance(value, int | float):
        return abs(value) > FARTHEST
    return bool((np.abs(value) > FARTHEST).any())


def _numbers(value: ArrayLike, field_name: str) -> Array:
    try:
        if np.iscomplexobj(value):
            raise ValueError("it is complex")
        return np.array(value, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise SetpointError(f"{field_name}: {error}; give numbers") from None
