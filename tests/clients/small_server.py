"""A simulator's side of the link, written from docs/reference/protocol.md with msgpack and numpy alone."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgpack
import numpy as np


def message(head: dict[str, Any]) -> bytes:
    """As it travels; numpy arrays anywhere in the head become extensions and raw bytes."""
    raw: list[bytes] = []

    def extension(array: Any) -> msgpack.ExtType:
        start = sum(len(part) for part in raw)
        raw.append(np.ascontiguousarray(array).tobytes())
        return msgpack.ExtType(1, msgpack.packb([array.dtype.str, list(array.shape), start]))

    packed = msgpack.packb(head, default=extension)
    body = struct.pack("<I", len(packed)) + packed + b"".join(raw)
    return struct.pack("<I", len(body)) + body


def read(connection: socket.socket) -> dict[str, Any] | None:
    """The next head a client sent, or None when it is gone."""
    first = _exactly(connection, 4)
    if first is None:
        return None
    body = _exactly(connection, struct.unpack("<I", first)[0])
    assert body is not None
    (length,) = struct.unpack_from("<I", body)
    assert length == len(body) - 4, "a question carries no arrays here"
    head = msgpack.unpackb(body[4:])
    assert isinstance(head, dict)
    return head


def _exactly(connection: socket.socket, n: int) -> bytes | None:
    got = b""
    while len(got) < n:
        part = connection.recv(n - len(got))
        if not part:
            return None
        got += part
    return got


class SmallServer:
    """Gives each connection to `serve` on a thread of its own making, one after the other."""

    def __init__(self, serve: Callable[[socket.socket, int], None]) -> None:
        self.serve = serve
        self.failure: BaseException | None = None
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=8)
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self._run)

    def __enter__(self) -> SmallServer:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join(10)
        self.listener.close()
        assert not self.thread.is_alive()
        if self.failure:
            raise self.failure

    def _run(self) -> None:
        for number in range(1_000_000):
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(20)
                try:
                    self.serve(connection, number)
                except BaseException as error:
                    if isinstance(error, OSError) and not isinstance(error, TimeoutError):
                        continue  # the client went first: its right
                    self.failure = error
                    self.listener.shutdown(socket.SHUT_RDWR)  # so that no client waits for nobody
                    return
