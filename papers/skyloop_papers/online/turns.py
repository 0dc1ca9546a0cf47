"""Clients that are timed take turns, a few frames each: what else the machine does meets them all alike."""

from __future__ import annotations

import socket
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path

GO, DONE = b"!", b"."
PATIENCE_S = 300.0
"""Wall s for all of them to get ready, and for a turn."""


class TurnServer:
    """Lets each of its clients go on in its turn, once all of them are ready. One that leaves has no more turns.

    Its socket has a path, which network namespaces share."""

    def __init__(self, clients: int) -> None:
        self._opened = ExitStack()
        self.path = str(Path(self._opened.enter_context(tempfile.TemporaryDirectory(prefix="turns-"))) / "s")
        self._socket = self._opened.enter_context(socket.socket(socket.AF_UNIX))
        self._socket.bind(self.path)
        self._socket.listen(clients)
        self._wanted, self._clients = clients, list[socket.socket]()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while len(self._clients) < self._wanted:
                client, _ = self._socket.accept()
                self._clients.append(client)
        while self._clients:
            for client in list(self._clients):
                if not _has_its_turn(client):
                    self._clients.remove(client)
                    client.close()

    def __enter__(self) -> TurnServer:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Clients that still wait for a turn end."""
        for each in (self._socket, *self._clients):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._opened.close()


def _has_its_turn(client: socket.socket) -> bool:
    try:
        client.settimeout(PATIENCE_S)
        client.sendall(GO)
        return client.recv(1) == DONE
    except OSError:
        return False


class Turns:
    """On a client's side: turns of `length` frames, of which the first begins with frame `first`."""

    def __init__(self, path: str, first: int, length: int) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._path, self._first, self._length = path, first, length
        self._waited_ns = 0

    def now_ns(self) -> int:
        """A clock that stands while this client waits. A session with the wall clock would have the vehicle fly on, and
        the engine paint images that nobody takes, for as long as the other clients' turns last."""
        return time.perf_counter_ns() - self._waited_ns

    def wait(self, frame: int) -> None:
        """Before a frame: end one turn and wait for the next where one begins."""
        if frame < self._first or (frame - self._first) % self._length:
            return
        began_ns = time.perf_counter_ns()
        try:
            if frame == self._first:
                self._socket.connect(self._path)
            else:
                self._socket.sendall(DONE)
            came = self._socket.recv(1)
        except OSError:
            came = b""
        if came != GO:
            raise SystemExit("no turn came: another set-up failed")
        self._waited_ns += time.perf_counter_ns() - began_ns

    def close(self) -> None:
        self._socket.close()
