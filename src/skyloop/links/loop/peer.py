"""One connection: the messages that it sends, the answers that it gets, and whether it is late with either.

Peers are not trusted: the size and the duration of their messages are bounded."""

from __future__ import annotations

import fcntl
import select
import socket
import sys
import termios
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from skyloop.links.loop.shared_blocks import SharedBlocks
from skyloop_client.wire import MOST_BEFORE_HELLO, MOST_FROM_CLIENT, FrameReader, framed

HELLO_S = 5.0
"""Wall s from the connection to a complete hello."""
STRANGER_S = 1.0
"""Wall s after which a silent peer is disconnected to make room, if there is no slot left."""
SILENCE_S = 10.0
"""Wall s from the beginning of a message to its end, and from a write until the peer reads it."""
CHUNK = 1 << 16
MOST_PARTS = 64

Parts = list[bytes | memoryview]


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
        self._inlet: Any = self.made_inlet()
        self._outbox: deque[memoryview] = deque()
        self._lock = threading.Lock()
        self.greeted = False
        self.dismissed = False
        """The simulation ignores further messages of this peer, including those in the inbox."""
        self._connected = self._began = self._took = time.monotonic()
        """Wall times: connection, begin of the incoming message, last read of pending data by the peer."""
        self._queued = 0

    # ---- overridden for other protocols

    def made_inlet(self) -> Any:
        """Collects bytes and returns complete messages, like `client.wire.Inlet`."""
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
        self._inlet.most = MOST_FROM_CLIENT

    def send(self, message: Any, *, patience_s: float = 0.0) -> int:
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
