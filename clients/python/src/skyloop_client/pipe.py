"""One connection of a client: whole messages, one after the other."""

from __future__ import annotations

import os
import select
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import perf_counter
from typing import TypeVar

import numpy as np

from skyloop_client.errors import CodecError, LinkEnded, LinkError
from skyloop_client.lent_memory import LentMemory
from skyloop_client.version import __version__
from skyloop_client.wire import (
    LENGTH,
    MOST_FROM_CLIENT,
    MOST_FROM_SERVER,
    PROTOCOL,
    LinkMessage,
    framed,
    unframed,
)

T = TypeVar("T")

DEFAULT_PORT = 4700
AWAKE_S = 0.0003
"""Wall s to wait for a message without sleeping, if the last one came within this time. To wake a processor that sleeps
may take longer than a question and its answer. Only where either side waits for the other, so that nobody is kept from
computing."""
FIRST_BYTES = 1 << 14
"""Read at once: small messages need one system call, and of large ones the head can be decoded while the rest comes."""


def why_over(answer: LinkMessage) -> str:
    """The reason if the flight is over or the client was refused. Else empty."""
    return str(answer.get("why", "the flight is over")) if answer["type"] in ("end", "refused") else ""


class Pipe:
    """Blocking. After a failure it cannot be used any more."""

    def __init__(self, address: str, timeout: float | None) -> None:
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal() or int(port) > 0xFFFF:
            raise LinkError(f"'{address}' is no address; give host:port, such as 127.0.0.1:{DEFAULT_PORT}")
        self._name = address
        self.memory: LentMemory | None = None
        """Shared with the simulator, if it is on this machine."""
        try:
            self._socket = socket.create_connection((host, int(port)), timeout=timeout)
        except (OSError, UnicodeError) as error:
            raise LinkError(f"cannot reach a simulator at {address}: {error}; is `skyloop loop` running?") from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._readable = select.poll()
        self._readable.register(self._socket, select.POLLIN)
        self.stays_awake = False
        """Wait without sleeping for a moment, if the last wait was short."""
        self._was_short = False
        self._held = b""
        """Bytes of the next message."""

    def hello(self, what: Mapping[str, object]) -> LinkMessage:
        client = f"skyloop-client {__version__} (Python)"
        self.write({"type": "hello", "protocol": PROTOCOL, "client": client, **what})
        answer = self.read()
        if answer["type"] != "hello":
            raise LinkError(f"refused by {self._name}: {answer.get('why', 'no reason given')}")
        return answer

    def write(self, message: Mapping[str, object]) -> None:
        data = b"".join(framed(message))
        if len(data) > MOST_FROM_CLIENT:
            raise CodecError(f"a message of {len(data)} bytes is more than the {MOST_FROM_CLIENT} a simulator takes")
        try:
            self._guarded(self._socket.sendall, data)
        except LinkEnded as error:
            # disconnected before it asked: the last message says why
            why = ""
            with suppress(LinkError):
                while not why:
                    why = why_over(self.read())
            raise (LinkEnded(why) if why else error) from None

    def read(self) -> LinkMessage:
        data, self._held = self._held or self._first_bytes(), b""
        while len(data) < LENGTH.size:
            data += self._some(FIRST_BYTES)
        (length,) = LENGTH.unpack_from(data)
        if length > MOST_FROM_SERVER:
            raise LinkError(f"{self._name} announces {length} bytes, more than a simulator ever sends")
        lent = None if self.memory is None else self.memory.array
        end = LENGTH.size + length
        if len(data) >= end:
            self._held = data[end:]
            return unframed(memoryview(data)[LENGTH.size : end], lent)
        # not a bytearray: its pages are new from the system each time, which costs more than the copy
        body = np.empty(length, np.uint8).data
        have = len(data) - LENGTH.size
        body[:have] = data[LENGTH.size :]
        if have < LENGTH.size or have < LENGTH.size + LENGTH.unpack_from(body)[0]:
            self._fill(body[have:])
            return unframed(body, lent)
        # the head is here; its arrays arrive while it is decoded
        message = unframed(body, lent)
        self._fill(body[have:])
        return message

    def _first_bytes(self) -> bytes:
        """Sleeps only if nothing comes soon."""
        began = perf_counter()
        if self.stays_awake and self._was_short:
            while not self._readable.poll(0) and perf_counter() - began < AWAKE_S:
                # the other side may need this very processor
                os.sched_yield()
        data = self._some(FIRST_BYTES)
        self._was_short = perf_counter() - began < AWAKE_S
        return data

    def _some(self, most: int) -> bytes:
        data = self._guarded(self._socket.recv, most)
        if not data:
            raise self._closed()
        return data

    def _fill(self, view: memoryview) -> None:
        while view:
            got = self._guarded(self._socket.recv_into, view, len(view), socket.MSG_WAITALL)
            if not got:
                raise self._closed()
            view = view[got:]

    def _closed(self) -> LinkEnded:
        return LinkEnded(f"the simulator at {self._name} has closed the link")

    def _guarded(self, act: Callable[..., T], *arguments: object) -> T:
        try:
            return act(*arguments)
        except TimeoutError:
            self._socket.close()  # in the middle of a message: the rest could not be told from the next one
            raise LinkError(f"no answer from {self._name} in time") from None
        except OSError as error:
            raise LinkEnded(f"the link to {self._name} is broken: {error}") from None

    def close(self, bye: bool, tasks: Sequence[object] = ()) -> None:
        with suppress(OSError):
            if bye:
                extra = {"tasks": list(tasks)} if tasks else {}
                self._socket.sendall(b"".join(framed({"type": "bye", **extra})))
        self._socket.close()
