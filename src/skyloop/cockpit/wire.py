"""The two wire formats of the cockpit: between the simulation and its server, and from the server to a page.

Between the processes: the length (4 bytes, little-endian), then a value as `skyloop_client.codec` writes it.
To a page: the length of a JSON header (4 bytes, little-endian), the header, filled up with spaces so that what follows
starts at a multiple of 8, and the payload: a JPEG picture or raw little-endian numbers."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop_client.codec import decode, encode
from skyloop_client.errors import LinkError

Fields = dict[str, Any]
"""An order, its answer, or what a flight tells: names and plain values."""
LENGTH = struct.Struct("<I")
ALIGNED = 8
MOST_BYTES = 1 << 28
"""Of one value between the processes; the largest is the shape of a world."""


def send(peer: socket.socket, value: object) -> None:
    parts = encode(value)
    size = sum(len(part) for part in parts)
    peer.sendall(b"".join([LENGTH.pack(size), *(bytes(part) for part in parts)]))


def received(peer: socket.socket) -> Iterator[Fields]:
    """Values until the other side closes."""
    while (head := _exactly(peer, LENGTH.size)) is not None:
        (size,) = LENGTH.unpack(head)
        if size > MOST_BYTES:
            raise LinkError(f"the cockpit's own processes exchange {size} bytes at once; that is too much")
        data = _exactly(peer, size)
        if data is None:
            return
        yield decode(data)


def _exactly(peer: socket.socket, size: int) -> bytes | None:
    held = bytearray(size)
    view, got = memoryview(held), 0
    while got < size:
        try:
            count = peer.recv_into(view[got:])
        except OSError:
            return None
        if count == 0:
            return None
        got += count
    return bytes(held)


def frame(header: Mapping[str, object], payload: bytes | memoryview = b"") -> bytes:
    """What a page gets."""
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-(LENGTH.size + len(text)) % ALIGNED)
    return LENGTH.pack(len(text)) + text + bytes(payload)


def unframed(data: bytes) -> tuple[Fields, memoryview]:
    """The header and the payload of a frame; for scripts and tests."""
    (length,) = LENGTH.unpack_from(data)
    header = json.loads(data[LENGTH.size : LENGTH.size + length])
    return header, memoryview(data)[LENGTH.size + length :]


class FramePayload:
    """Arrays of one frame, one after the other, each at a multiple of 8 bytes."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, array: NDArray[np.generic]) -> list[object]:
        """Where a page finds it: [numpy's name of the type, offset in bytes, number of values]."""
        flat = np.ascontiguousarray(array)
        kind = flat.dtype.newbyteorder("<")
        raw = flat.astype(kind, copy=False).tobytes()
        reference = [kind.str, self._size, int(flat.size)]
        raw += b"\0" * (-len(raw) % ALIGNED)
        self._parts.append(raw)
        self._size += len(raw)
        return reference

    def bytes(self) -> bytes:
        return b"".join(self._parts)
