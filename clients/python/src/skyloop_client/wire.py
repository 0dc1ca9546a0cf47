"""Encodes and decodes messages of the link, without sockets; docs/reference/protocol.md describes them."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any

from skyloop_client.codec import Lend, Lent, decode, encode
from skyloop_client.errors import CodecError, LinkError

LinkMessage = dict[str, Any]
"""A message as it travels. Its fields are checked where they are read."""
PROTOCOL = 1
LENGTH = struct.Struct("<I")
MOST_BEFORE_HELLO = 64 << 10
MOST_FROM_CLIENT = 8 << 20
MOST_FROM_SERVER = 256 << 20
"""Bytes of one message."""


def framed(message: Mapping[str, object], lend: Lend | None = None) -> list[bytes | memoryview]:
    """A message as a list of parts to be written one after the other."""
    parts = encode(message, lend)
    return [LENGTH.pack(sum(map(len, parts))) + parts[0], *parts[1:]]


def unframed(body: bytes | bytearray | memoryview, lent: Lent | None = None) -> LinkMessage:
    """The message after its length field. Arrays are views of `body` or of shared memory."""
    try:
        message = decode(memoryview(body), lent)
    except CodecError as error:
        raise LinkError(f"not a message of skyloop's link: {error}") from None
    if not (isinstance(message, dict) and isinstance(message.get("type"), str)):
        raise LinkError("not a message of skyloop's link: it has no type")
    return message


class FrameReader:
    """Collects bytes and returns complete messages."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._held = bytearray()

    @property
    def is_within(self) -> bool:
        """Whether part of a message has arrived."""
        return bool(self._held)

    def feed(self, data: bytes) -> Iterator[LinkMessage]:
        length = len(data) - LENGTH.size
        # mostly one whole message and nothing else
        if not self._held and 0 <= length <= self.most and LENGTH.unpack_from(data)[0] == length:
            yield unframed(memoryview(data)[LENGTH.size :])
            return
        self._held += data
        while len(self._held) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(self._held)
            if length > self.most:
                raise LinkError(f"a message of {length} bytes was announced, more than the {self.most} allowed")
            if len(self._held) < LENGTH.size + length:
                return
            body = bytes(self._held[LENGTH.size : LENGTH.size + length])
            del self._held[: LENGTH.size + length]
            yield unframed(body)
