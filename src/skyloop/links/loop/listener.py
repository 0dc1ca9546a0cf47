"""Accepts peers: listening sockets, and one thread that reads from all of them.

Peers are not trusted. The size, duration and number of their messages are bounded, and so is the number of peers. None
of them can block the simulation. Complete messages go to `inbox`; pings are answered here."""

from __future__ import annotations

import fcntl
import selectors
import socket
import sys
import termios
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from skyloop.links.inbox import Inbox
from skyloop.links.loop.shared_blocks import SharedBlocks
from skyloop_client.errors import LinkError
from skyloop_client.wire import MOST_BEFORE_HELLO, MOST_FROM_CLIENT, Inlet, framed

MOST_PEERS = 64
HELLO_S = 5.0
"""Wall s from the connection to a complete hello."""
STRANGER_S = 1.0
"""Wall s after which a silent peer is disconnected to make room, if there is no slot left."""
SILENCE_S = 10.0
"""Wall s from the beginning of a message to its end, and from a write until the peer reads it."""
SWEEP_S = 0.25
CHUNK = 1 << 16
MOST_PARTS = 64
MOST_WAITING = 1000
"""Waiting messages of one peer. A proper client waits for its answers."""
MOST_UNREAD = 1000
"""Parts of answers that a peer has not read yet."""
MOST_WHY = 300
"""Characters of a reason, so that a peer's own text is not repeated at any length."""

Parts = list[bytes | memoryview]


class Peer:
    """One connection."""

    def __init__(self, listener: Listener, connection: socket.socket, name: str, port: int) -> None:
        self.name = name
        self.port = port
        self.open = True
        self.given = 0
        """Number of messages that the listener's thread put into the inbox."""
        self.taken = 0
        """Number of messages that the simulation's thread took out of it."""
        self.memory: SharedBlocks | None = None
        """For a session on this machine that asks for it. Used by the simulation's thread only."""
        self._listener = listener
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
        return Inlet(MOST_BEFORE_HELLO)

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
                self._listener.wake()
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
                poll = selectors.PollSelector()
                poll.register(self._socket, selectors.EVENT_WRITE)
                poll.select(left)
                continue
            except OSError:
                return []  # the reading side will notice
            while parts and sent >= len(parts[0]):
                sent -= len(parts.pop(0))
            if sent:
                parts[0] = parts[0][sent:]
        return parts

    # ---- called by the listener's thread

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


class Listener:
    """Listens on one port or several, from construction until `close`."""

    taker: Callable[[Any, Any], None]
    """Set by the receiver. Called with each message, and with the reason when a peer has gone."""
    peer_class: type[Peer] = Peer
    opens_at_once = True
    """If false, `open` accepts the first peers. Until then the ports are only reserved."""

    def __init__(self, inbox: Inbox, host: str = "127.0.0.1", ports: tuple[int, ...] = (0,)) -> None:
        self.inbox = inbox
        self.refused = 0
        """Connections that never became a session."""
        self._selector = selectors.DefaultSelector()
        self._awake, self._waker = socket.socketpair()
        self._awake.setblocking(False)
        self._waker.setblocking(False)
        self._peers: dict[int, Peer] = {}
        self._listeners: list[socket.socket] = []
        self._ended = False
        for port in ports:
            self._listeners.append(self._listener(host, port))
        self._selector.register(self._awake, selectors.EVENT_READ, None)
        self.host = host
        self.ports: tuple[int, ...] = tuple(listener.getsockname()[1] for listener in self._listeners)
        self._thread = threading.Thread(target=self._serve, name="skyloop listener", daemon=True)
        if self.opens_at_once:
            self.open()

    def open(self) -> None:
        """Accept peers."""
        for number, listener in enumerate(self._listeners):
            try:
                listener.listen(128)
            except OSError as error:
                # another process had bound the port at the same time and opened it first
                self._close_all()
                raise self._refusal(self.host, self.ports[number], error) from None
            self._selector.register(listener, selectors.EVENT_READ, number)
        self._thread.start()

    port_option = "--listen"
    """The name of the port's option on the command line."""

    def _listener(self, host: str, port: int) -> socket.socket:
        try:
            if not 0 <= port <= 0xFFFF:
                raise OverflowError("ports are numbers up to 65535")
            address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            listener = socket.socket(address[0], socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(address[4])
            except OSError:
                listener.close()
                raise
        except (OSError, OverflowError, UnicodeError) as error:
            self._close_all()
            raise self._refusal(host, port, error) from None
        listener.setblocking(False)
        return listener

    def _refusal(self, host: str, port: int, error: Exception) -> LinkError:
        why = error.strerror if isinstance(error, OSError) else error
        return LinkError(f"cannot listen on {host}:{port}: {why}; choose another {self.port_option}")

    def wake(self) -> None:
        with suppress(OSError):
            self._waker.send(b"!")

    def drop(self, peer: Peer, why: str, *, told: str = "") -> None:
        """Close a connection. `told` is sent before, as a refusal. The inbox gets one message about it."""
        if told:
            self.tell(peer, told[:MOST_WHY])
        if peer.shut():
            self.inbox.put((self, peer, why[:MOST_WHY]))
            self.wake()

    @property
    def closed(self) -> bool:
        return self._ended

    def tell(self, peer: Peer, why: str) -> None:
        """Tell a peer why it is refused, if the protocol has a message for that."""
        peer.send({"type": "refused", "why": why})

    def answer_here(self, peer: Peer, message: Any) -> bool:
        """Whether the listener has answered the message itself. Other messages go to the simulation."""
        if message["type"] != "ping":
            return False
        self._pong(peer, message.get("number"))
        return True

    def close(self) -> None:
        """Everything is freed when this returns."""
        self._ended = True
        self.wake()
        if self._thread.ident is not None:
            self._thread.join(timeout=2.0)
        self._close_all()

    def _close_all(self) -> None:
        for peer in self._peers.values():
            peer.shut()
            peer.free()
        self._peers.clear()
        for listener in self._listeners:
            listener.close()
        self._selector.close()
        self._awake.close()
        self._waker.close()

    # ---- the thread

    def _serve(self) -> None:
        swept = time.monotonic()
        while not self._ended:
            for key, events in self._selector.select(SWEEP_S):
                if key.fileobj is self._awake:
                    with suppress(OSError):
                        self._awake.recv(4096)
                elif isinstance(key.data, Peer):
                    self._attend(key.data, events)
                else:
                    self._accept(key.fileobj, key.data)  # type: ignore[arg-type]
            self._arrange_all()
            if time.monotonic() - swept > SWEEP_S:
                swept = time.monotonic()
                self._sweep()

    def _accept(self, listener: socket.socket, number: int) -> None:
        try:
            connection, address = listener.accept()
        except OSError:
            time.sleep(0.01)  # out of descriptors: without a pause it would retry at once, again and again
            return
        connection.setblocking(False)
        with suppress(OSError):  # it may be gone already
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer = self.peer_class(self, connection, f"{address[0]}:{address[1]}", number)
        if len(self._peers) >= MOST_PEERS:
            self._make_room()
        if len(self._peers) >= MOST_PEERS:
            self.tell(peer, f"there are already {MOST_PEERS} connections")
            peer.shut()
            peer.free()
            self.refused += 1
            return
        self._peers[connection.fileno()] = peer
        self._selector.register(connection, selectors.EVENT_READ, peer)

    def _make_room(self) -> None:
        """Disconnect the peer that has been silent since its connection for the longest time."""
        strangers = [peer for peer in self._peers.values() if peer.is_stranger]
        if strangers:
            self.drop(strangers[0], "it was silent, and others want to connect")
            self._arrange_all()

    def _attend(self, peer: Peer, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            peer.flush()
        if not events & selectors.EVENT_READ or not peer.open:
            return
        try:
            for message in peer.read():
                if self.answer_here(peer, message):
                    continue
                if peer.given - peer.taken >= MOST_WAITING:
                    raise LinkError(f"{MOST_WAITING} messages without waiting for an answer")
                peer.given += 1
                self.inbox.put((self, peer, message))
        except EOFError:
            self.drop(peer, "closed the connection")
        except LinkError as error:
            self.drop(peer, str(error), told=str(error))
        except OSError as error:
            self.drop(peer, str(error.strerror))

    def _pong(self, peer: Peer, number: Any) -> None:
        if not isinstance(number, int | None):
            raise LinkError("a ping's number is not an integer")
        if peer.unread >= MOST_UNREAD:
            raise LinkError(f"{MOST_UNREAD} answers were not read")
        peer.send({"type": "pong", "number": number})

    def _arrange_all(self) -> None:
        """Register writers, and free closed peers."""
        for number, peer in list(self._peers.items()):
            if not peer.open:
                del self._peers[number]
                self._selector.unregister(number)
                peer.free()
                continue
            wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if peer.unread else 0)
            if self._selector.get_key(number).events != wanted:
                self._selector.modify(number, wanted, peer)

    def _sweep(self) -> None:
        for peer in list(self._peers.values()):
            if peer.open and (why := peer.is_late):
                self.drop(peer, why, told=why)
