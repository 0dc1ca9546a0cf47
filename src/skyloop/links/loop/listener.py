"""Accepts peers: listening sockets, and a thread that reads from all of them unless the simulation's thread does.

Peers are not trusted. The size, duration and number of their messages are bounded, and so is the number of peers. None
of them can block the simulation. Complete messages go to `inbox`; pings are answered here."""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import perf_counter
from typing import Any

from skyloop.links.inbox import Inbox
from skyloop.links.loop.peer import Peer
from skyloop.links.sockets import bound
from skyloop_client.errors import LinkError
from skyloop_client.pipe import AWAKE_S

SELECTABLE = 1024
"""`select` takes only descriptors below this number."""


class ReadByTurns:
    """All sockets of a listener. Two threads read them by turns: the simulation's while it waits, the listener's while
    the simulation works.

    To hand a message from one thread to another costs more than to read it. So while the simulation has nothing to do
    but wait, it reads itself, and the listener's thread sleeps on. Nobody is woken for a change of turns: the
    listener's thread waits for a set of events (epoll), and the set of readable sockets is put into it or taken out of
    it."""

    def __init__(self, outer: select.epoll, read: Callable[[int], None]) -> None:
        """`outer`: what the listener's thread waits for. `read`: called with the number of each readable socket."""
        self._outer = outer
        self._read = read
        self._sockets = select.epoll()
        self._news = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        """Not among the sockets: the listener's thread would take the news away from the one that waits."""
        self.number = self._sockets.fileno()
        """Its descriptor, under which `outer` tells that it is the turn of the listener's thread."""
        outer.register(self.number, select.EPOLLIN)
        self._both = (self.number, self._news)
        self._poll = select.poll()
        for number in self._both:
            self._poll.register(number, select.POLLIN)
        self._is_open = True
        self.stays_awake = False
        """Wait without sleeping for a moment, if the last wait was short."""
        self._was_short = False

    def add(self, number: int) -> None:
        self._sockets.register(number, select.EPOLLIN)

    def remove(self, number: int) -> None:
        self._sockets.unregister(number)

    def turn(self) -> None:
        """Read what can be read now."""
        for number, _ in self._sockets.poll(0.0):
            self._read(number)

    def wait(self, seconds: float) -> None:
        """Read for as long as nothing comes, at most `seconds`, or until `wake`. Called by the thread that waits."""
        # a listener that is closed meanwhile closes these
        with suppress(ValueError, OSError):
            self._outer.modify(self.number, 0)
            try:
                if self.number in self._ready(seconds):
                    self.turn()
            finally:
                # when all is read, because what is left wakes the other thread
                self._outer.modify(self.number, select.EPOLLIN)

    def _ready(self, seconds: float) -> Sequence[int]:
        """What has something to read after at most `seconds`: the sockets, the news, or both."""
        began = perf_counter()
        ready: Sequence[int] = ()
        if self.stays_awake and self._was_short:
            while not (ready := self._look(0.0)) and perf_counter() - began < AWAKE_S:
                # the other side may need this very processor
                os.sched_yield()
        ready = ready or self._look(seconds)
        self._was_short = bool(ready) and perf_counter() - began < AWAKE_S
        if self._news in ready:
            os.eventfd_read(self._news)
        return ready

    def _look(self, seconds: float) -> Sequence[int]:
        # poll counts in milliseconds, which is too coarse for the pace of simulated time
        if max(self._both) < SELECTABLE:
            return select.select(self._both, (), (), seconds)[0]
        return [number for number, _ in self._poll.poll(1e3 * seconds)]

    def wake(self) -> None:
        """End `wait`. Any thread may call it."""
        with suppress(OSError):
            os.eventfd_write(self._news, 1)

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            self._sockets.close()
            os.close(self._news)


# ---- the listener


MOST_PEERS = 64
SWEEP_S = 0.25
MOST_WAITING = 1000
"""Waiting messages of one peer. A proper client waits for its answers."""
MOST_UNREAD = 1000
"""Parts of answers that a peer has not read yet."""
MOST_WHY = 300
"""Characters of a reason, so that a peer's own text is not repeated at any length."""


class Listener:
    """Listens on one port or several, from construction until `close`."""

    taker: Callable[..., None]
    """Set by the receiver. Called with each message, and with the reason when a peer has gone."""
    peer_class: type[Peer] = Peer
    opens_at_once = True
    """If false, `open` accepts the first peers. Until then the ports are only reserved."""

    def __init__(self, inbox: Inbox, host: str = "127.0.0.1", ports: tuple[int, ...] = (0,)) -> None:
        self.inbox = inbox
        self.refused = 0
        """Connections that never became a session."""
        self._events = select.epoll()
        """What the thread waits for."""
        self._readable = ReadByTurns(self._events, self._read)
        self._awake, self._waker = socket.socketpair()
        self._awake.setblocking(False)
        self._waker.setblocking(False)
        self._peers: dict[int, Peer] = {}
        self._writers: set[int] = set()
        """Peers with something left to write, by their sockets' numbers."""
        self._listeners: list[socket.socket] = []
        self._ended = False
        for port in ports:
            self._listeners.append(self._listener(host, port))
        self._events.register(self._awake, select.EPOLLIN)
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
            self._events.register(listener, select.EPOLLIN)
        self._thread.start()
        if self.inbox.reader is None:
            self.inbox.reader = self._readable

    port_option = "--listen"
    """The name of the port's option on the command line."""

    def _listener(self, host: str, port: int) -> socket.socket:
        try:
            if not 0 <= port <= 0xFFFF:
                raise OverflowError("ports are numbers up to 65535")
            return bound(socket.SOCK_STREAM, host, port)
        except (OSError, OverflowError, UnicodeError) as error:
            self._close_all()
            raise self._refusal(host, port, error) from None

    def _refusal(self, host: str, port: int, error: Exception) -> LinkError:
        why = error.strerror if isinstance(error, OSError) else error
        return LinkError(f"cannot listen on {host}:{port}: {why}; choose another {self.port_option}")

    def wake(self) -> None:
        with suppress(OSError):
            self._waker.send(b"!")

    def stay_awake(self, wanted: bool) -> None:
        """For peers that wait for the simulation while it computes, and compute while it waits."""
        self._readable.stays_awake = wanted

    def drop(self, peer: Peer, why: str, *, refusal: str = "") -> None:
        """Close a connection. `refusal` is sent before. The inbox gets one message about it."""
        if refusal:
            self.tell(peer, refusal[:MOST_WHY])
        if peer.shut():
            self.inbox.put((self, peer, why[:MOST_WHY]))
            self.wake()

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
        if self.inbox.reader is self._readable:
            self.inbox.reader = None
        self._readable.close()
        self._events.close()
        self._awake.close()
        self._waker.close()

    # ---- the thread

    def _serve(self) -> None:
        swept = time.monotonic()
        doors = {listener.fileno(): (listener, number) for number, listener in enumerate(self._listeners)}
        while not self._ended:
            for number, _ in self._events.poll(SWEEP_S):
                if number == self._readable.number:
                    self._readable.turn()
                elif number == self._awake.fileno():
                    with suppress(OSError):
                        self._awake.recv(4096)
                elif number in doors:
                    self._accept(*doors[number])
                elif number in self._peers:
                    self._peers[number].flush()
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
        peer = self.peer_class(self.wake, connection, f"{address[0]}:{address[1]}", number)
        if len(self._peers) >= MOST_PEERS:
            self._make_room()
        if len(self._peers) >= MOST_PEERS:
            self.tell(peer, f"there are already {MOST_PEERS} connections")
            peer.shut()
            peer.free()
            self.refused += 1
            return
        self._peers[connection.fileno()] = peer
        self._readable.add(connection.fileno())

    def _make_room(self) -> None:
        """Disconnect the peer that has been silent since its connection for the longest time."""
        strangers = [peer for peer in self._peers.values() if peer.is_stranger]
        if strangers:
            self.drop(strangers[0], "it was silent, and others want to connect")
            self._arrange_all()

    def _read(self, number: int) -> None:
        """Called by whichever thread has its turn. A peer may have gone since its socket was seen to be readable."""
        peer = self._peers.get(number)
        if peer is None:
            return
        with peer.reading:
            if peer.open:
                self._take_from(peer)

    def _take_from(self, peer: Peer) -> None:
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
            self.drop(peer, str(error), refusal=str(error))
        except OSError as error:
            self.drop(peer, str(error.strerror))

    def _pong(self, peer: Peer, number: object) -> None:
        if not isinstance(number, int | None):
            raise LinkError("a ping's number is not an integer")
        if peer.unread >= MOST_UNREAD:
            raise LinkError(f"{MOST_UNREAD} answers were not read")
        peer.send({"type": "pong", "number": number})

    def _arrange_all(self) -> None:
        """Wait for room where something is left to write, and free closed peers."""
        for number, peer in list(self._peers.items()):
            # looked at once: who is shut meanwhile, by another thread, is freed in the next pass, as a writer too
            is_open = peer.open
            is_writer = is_open and bool(peer.unread)
            if is_writer and number not in self._writers:
                self._writers.add(number)
                self._events.register(number, select.EPOLLOUT)
            elif not is_writer and number in self._writers:
                self._writers.remove(number)
                self._events.unregister(number)
            if not is_open:
                self._readable.remove(number)
                del self._peers[number]
                # nobody is reading it any more
                with peer.reading:
                    peer.free()

    def _sweep(self) -> None:
        for peer in list(self._peers.values()):
            if peer.open and (why := peer.is_late):
                self.drop(peer, why, refusal=why)
