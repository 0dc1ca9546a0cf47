"""Sockets and serial lines of links. Threads read them into the inbox; a failure to open gives one clear error line.

A peer can neither block the simulation nor fill its memory, because all queues are bounded."""

from __future__ import annotations

import importlib
import selectors
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress

from skyloop.links.inbox import Inbox
from skyloop_client.errors import LinkError, SetupError

CHUNK = 1 << 16
MOST_WAITING = 1000
"""Chunks or datagrams that were read and wait for the simulation's thread."""
MOST_UNSENT = 1 << 20
"""Bytes a peer may leave unread before it is disconnected."""
PAUSE_S = 0.01

Address = tuple[str, int]


def bound(kind: socket.SocketKind, host: str, port: int) -> socket.socket:
    """A bound socket that does not block. Raises OSError, or OverflowError for a number that is no port.

    A TCP port does not listen yet: it only is reserved, because another program cannot listen there."""
    address = socket.getaddrinfo(host, port, type=kind)[0]
    built = socket.socket(address[0], kind)
    try:
        if kind == socket.SOCK_STREAM:
            built.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        built.bind(address[4])
    except (OSError, OverflowError):
        built.close()
        raise
    built.setblocking(False)
    return built


def reason_of(error: Exception) -> str:
    """Why a port could not be opened, without the number of the error."""
    return str((error.strerror if isinstance(error, OSError) else "") or error)


def own_address_towards(host: str) -> str | None:
    """The address of this machine as another one sees it. No packet is sent: the system only selects the address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect((host, 9))
        return str(probe.getsockname()[0])
    return None


def opened(kind: socket.SocketKind, host: str, port: int, what: str) -> socket.socket:
    """A bound socket that listens, if it is of TCP. The error names the protocol (`what`) and the port."""
    built = None
    try:
        built = bound(kind, host, port)
        if kind == socket.SOCK_STREAM:
            built.listen(4)
    except OSError as error:
        if built is not None:
            built.close()
        raise LinkError(f"{what}: cannot listen on {host}:{port}: {error.strerror}; end what uses it") from None
    return built


class SocketLine(ABC):
    """Reads in its own thread. `taker` is called in the simulation's thread."""

    taker: Callable[..., None]

    def __init__(self, inbox: Inbox, name: str) -> None:
        self.given = self.taken = 0
        """Number of chunks put into the inbox, and of those the link has taken out."""
        self._inbox = inbox
        self._ended = False
        self._alarm = 0.0
        self._selector = selectors.DefaultSelector()
        self._awake, self._waker = socket.socketpair()
        self._awake.setblocking(False)
        self._waker.setblocking(False)
        self._selector.register(self._awake, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._serve, name=f"skyloop {name}", daemon=True)

    def put(self, *news: object) -> None:
        self.given += 1
        self._inbox.put((self, *news))

    def ring_after(self, seconds: float) -> None:
        """Put `("alarm", None)` into the inbox after so many seconds. A new call replaces the last."""
        self._alarm = time.monotonic() + seconds
        self._wake()

    def close(self) -> None:
        """Everything is freed when this returns. It may be called twice."""
        if self._ended:
            return
        self._ended = True
        self._wake()
        if self._thread.ident is not None:
            self._thread.join(timeout=2.0)
        self._free()
        self._selector.close()
        self._awake.close()
        self._waker.close()

    def _wake(self) -> None:
        with suppress(OSError):
            self._waker.send(b"!")

    def _serve(self) -> None:
        while not self._ended:
            left = self._alarm - time.monotonic() if self._alarm else 1.0
            if self._alarm and left <= 0.0:
                self._alarm = 0.0
                self.put("alarm", None)
                continue
            for key, _ in self._selector.select(min(left, 1.0)):
                if key.fileobj is self._awake:
                    with suppress(OSError):
                        self._awake.recv(4096)
                else:
                    self._attend(key)
            if self.given - self.taken > MOST_WAITING:
                # TCP and serial peers then wait; datagrams beyond the socket's own buffer are lost
                time.sleep(PAUSE_S)

    @abstractmethod
    def _attend(self, ready: selectors.SelectorKey) -> None:
        """Read from a socket that has data."""

    @abstractmethod
    def _free(self) -> None:
        """Close all sockets."""


class Datagrams(SocketLine):
    """A UDP port. It puts `("datagram", (bytes, address))` into the inbox."""

    def __init__(self, inbox: Inbox, host: str, port: int, what: str) -> None:
        self._socket = opened(socket.SOCK_DGRAM, host, port, what)
        super().__init__(inbox, what)
        self.host, self.port = host, int(self._socket.getsockname()[1])
        self._selector.register(self._socket, selectors.EVENT_READ)
        self._thread.start()

    def send(self, data: bytes, address: Address) -> None:
        with suppress(OSError):
            self._socket.sendto(data, address)

    def _attend(self, ready: selectors.SelectorKey) -> None:
        # a peer's port that is not open yet answers with an error, which does not concern this socket
        with suppress(OSError):
            datagram = self._socket.recvfrom(CHUNK)
            if self.given - self.taken <= MOST_WAITING:
                self.put("datagram", datagram)

    def _free(self) -> None:
        self._socket.close()


class OnePeer(SocketLine):
    """A TCP port for one peer at a time. It puts `("came", name)`, `("data", bytes)` and `("gone", why)` into the
    inbox."""

    def __init__(self, inbox: Inbox, host: str, port: int, what: str) -> None:
        self._listener = opened(socket.SOCK_STREAM, host, port, what)
        super().__init__(inbox, what)
        self.host, self.port = host, int(self._listener.getsockname()[1])
        self.refused = 0
        self._peer: socket.socket | None = None
        self._unsent = bytearray()
        self._lock = threading.Lock()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._thread.start()

    def send(self, data: bytes) -> None:
        """Send as much as the peer accepts now. The rest goes with the next call."""
        with self._lock:
            if self._peer is None:
                return
            self._unsent += data
            try:
                sent = self._peer.send(self._unsent)
                del self._unsent[:sent]
            except BlockingIOError:
                pass
            except OSError:
                return  # the reading side will notice
            if len(self._unsent) > MOST_UNSENT:
                self._unsent.clear()
                with suppress(OSError):
                    self._peer.shutdown(socket.SHUT_RDWR)

    def _attend(self, ready: selectors.SelectorKey) -> None:
        if ready.fileobj is self._listener:
            self._accept()
        elif self._peer is not None and ready.fileobj is self._peer:
            try:
                data = self._peer.recv(CHUNK)
            except BlockingIOError:
                return
            except OSError as error:
                self._drop(str(error.strerror))
                return
            if data:
                self.put("data", data)
            else:
                self._drop("closed the connection")

    def _accept(self) -> None:
        try:
            connection, address = self._listener.accept()
        except OSError:
            return
        if self._peer is not None:
            self.refused += 1
            connection.close()
            return
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._selector.register(connection, selectors.EVENT_READ)
        with self._lock:
            self._peer = connection
            self._unsent.clear()
        self.put("came", f"{address[0]}:{address[1]}")

    def _drop(self, why: str) -> None:
        with self._lock:
            peer, self._peer = self._peer, None
            if peer is not None:
                self._selector.unregister(peer)
                peer.close()
        self.put("gone", why)

    def _free(self) -> None:
        if self._peer is not None:
            self._peer.close()
        self._listener.close()


# ---- serial lines


BAUD = 921_600
MOST_UNSENT_SERIAL = 4096
"""Bytes. If the line is too slow, whole messages are dropped."""


class SerialLine(SocketLine):
    """Puts `("came", port)` at once, `("data", bytes)`, and `("gone", why)` when the line fails."""

    def __init__(self, inbox: Inbox, port: str, baud: int = BAUD) -> None:
        try:
            serial = importlib.import_module("serial")
        except ImportError:
            raise SetupError("a serial line needs pyserial; pip install 'skyloop[mavlink]'") from None
        try:
            self._serial = serial.Serial(port, baud, timeout=0, write_timeout=0)
        except (OSError, ValueError) as error:
            raise LinkError(f"cannot open the serial line {port} at {baud} baud: {error}") from None
        super().__init__(inbox, "serial line")
        self.port = port
        self.dropped = 0
        """Messages dropped because the line was too slow."""
        self._unsent = bytearray()
        self._open = True
        self._lock = threading.Lock()
        self._selector.register(self._serial.fileno(), selectors.EVENT_READ)
        self.put("came", port)
        self._thread.start()

    def send(self, data: bytes) -> None:
        with self._lock:
            if not self._open:
                return
            if len(self._unsent) > MOST_UNSENT_SERIAL:
                self.dropped += 1
            else:
                self._unsent += data
            # the reading side will notice the failure as well
            with suppress(OSError):
                sent = self._serial.write(bytes(self._unsent))
                del self._unsent[: sent or 0]

    def _attend(self, ready: selectors.SelectorKey) -> None:
        try:
            data = self._serial.read(CHUNK)
        except OSError as error:
            data, why = b"", str(error)
        else:
            why = "the line was closed"
        if data:
            self.put("data", data)
            return
        with self._lock:
            self._open = False
            self._selector.unregister(ready.fileobj)
        self.put("gone", why)

    def _free(self) -> None:
        self._open = False
        with suppress(OSError):
            self._serial.close()
