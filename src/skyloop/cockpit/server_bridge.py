"""Carries the newest records of a simulation to the cockpit's server, a process of its own, and its orders back.

The simulation's thread only puts references into a table. A courier thread takes them out at most `MOST_HZ` times
a second of wall time, and only after the server has taken what was sent before. So neither a slow viewer nor a slow
server can slow a flight: they see fewer records."""

from __future__ import annotations

import dataclasses
import logging
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from skyloop.cockpit.wire import Fields, received, send
from skyloop.recording.run_folder import values_of
from skyloop_client.codec import RECORDS, plain_info
from skyloop_client.errors import SkyloopError
from skyloop_client.messages import Event, Message
from skyloop_client.streams import StreamInfo

MOST_HZ = 40.0
"""Batches per wall second."""
BULK_HZ = 15.0
"""Pictures, clouds and maps of one stream per wall second."""
BULK_BYTES = 20_000
"""Records with more than this are bulk."""
MOST_EVENTS = 2000
"""Events that wait. With more, the oldest are left out."""
MOST_LINES = 500
"""Log lines that wait."""
PATIENCE_S = 5.0
"""Wall s without an answer after which the courier sends again: the server may have dropped a batch."""
SMALL = 64
"""Values of the largest array that is sent of a user's own record."""

Order = Callable[[Fields], None]
Clock = Callable[[], Fields]


class Courier:
    """One for the life of a server. `connect` names what it carries now."""

    def __init__(self, peer: socket.socket, on_order: Order) -> None:
        self._peer = peer
        self._on_order = on_order
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._slots: dict[str, tuple[Message, int]] = {}
        """By stream: the newest message not sent yet, and the wall time (ns of the epoch) of its publication."""
        self._events: deque[tuple[Message, int]] = deque(maxlen=MOST_EVENTS)
        self._lines: deque[Fields] = deque(maxlen=MOST_LINES)
        self._extra: Fields = {}
        self._sent_s: dict[str, float] = {}
        self._wanted: frozenset[str] = frozenset()
        self._newly: deque[str] = deque()
        self._clock: Clock | None = None
        self._free = threading.Event()
        self._free.set()
        self._closed = threading.Event()
        self.batches = 0
        self._threads = [
            threading.Thread(target=self._carry, name="skyloop cockpit courier", daemon=True),
            threading.Thread(target=self._listen, name="skyloop cockpit orders", daemon=True),
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    # ---- called by whoever has something to show

    def connect(self, about: dict[str, object], infos: dict[str, StreamInfo], world: bytes, clock: Clock) -> None:
        """Show something else from now on: a flight, or a recording."""
        with self._lock:
            self._slots.clear()
            self._events.clear()
            self._extra.clear()
        self._newly.extend(self._wanted)
        self._clock = clock
        streams = [_jsonable(plain_info(info)) for info in infos.values()]
        self.tell({"kind": "source", "about": about, "streams": streams, "world": world})

    def new_stream(self, info: StreamInfo) -> None:
        self.tell({"kind": "stream", "stream": _jsonable(plain_info(info))})

    def put(self, message: Message) -> None:
        """Runs in the simulation's thread."""
        if isinstance(message.data, Event):
            self._events.append((message, time.time_ns()))
        elif message.stream in self._wanted:
            self._slots[message.stream] = (message, time.time_ns())

    def put_extra(self, name: str, value: object) -> None:
        """Something that is no record, such as the poses of people. The newest counts."""
        self._extra[name] = value

    def put_line(self, level: str, text: str) -> None:
        """A line of the log. May be called from any thread, and never waits."""
        # names of files may be no text
        text = text.encode(errors="replace").decode()
        self._lines.append({"level": level, "text": text, "w": time.time_ns() / 1e6})

    def wants(self, stream: str) -> bool:
        return stream in self._wanted

    def newly_wanted(self) -> list[str]:
        """Streams that somebody wants since the last call. While time stands still, only their last record is left."""
        return [self._newly.popleft() for _ in range(len(self._newly))]

    def tell(self, value: dict[str, object]) -> None:
        """Send at once. May be called from any thread."""
        with self._sending, suppress(OSError):
            send(self._peer, value)

    def reply(self, order: Fields, answer: Callable[[], object]) -> bool:
        """Answer an order of a page with what a function returns, or with the one line of its SkyloopError.

        Returns whether it was carried out."""
        reply: Fields = {"kind": "reply", "id": order.get("id"), "ok": True}
        try:
            reply["value"] = answer()
        except SkyloopError as error:
            reply |= {"ok": False, "error": str(error)}
        if reply["id"] is not None:
            self.tell(reply)
        return bool(reply["ok"])

    def refuse(self, order: dict[str, object], why: str) -> None:
        """Answer an order that is not for what is shown."""
        if order.get("id") is not None:
            self.tell({"kind": "reply", "id": order["id"], "ok": False, "error": why})

    def disconnect(self) -> None:
        self._clock = None

    def close(self) -> None:
        self._closed.set()
        self._free.set()
        with suppress(OSError):
            self._peer.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            if thread.is_alive() and thread is not threading.current_thread():
                thread.join(timeout=2.0)
        self._peer.close()

    # ---- threads

    def _carry(self) -> None:
        while not self._closed.wait(1.0 / MOST_HZ):
            if not self._free.wait(PATIENCE_S) or self._closed.is_set():
                continue
            if self._lines:
                self.tell({"kind": "lines", "lines": [self._lines.popleft() for _ in range(len(self._lines))]})
            clock = self._clock
            if clock is None:
                continue
            batch = self._batch(clock())
            self._free.clear()
            self.batches += 1
            self.tell(batch)

    def _batch(self, clock: dict[str, object]) -> Fields:
        now = time.monotonic()
        messages = []
        for stream in list(self._slots):
            held = self._slots.get(stream)
            if held is None or (_is_bulk(held[0].data) and now - self._sent_s.get(stream, 0.0) < 1.0 / BULK_HZ):
                continue
            self._slots.pop(stream, None)
            self._sent_s[stream] = now
            messages.append(_packed(*held))
        events: list[list[object]] = []
        while self._events and len(events) < 200:
            events.append(_packed(*self._events.popleft()))
        extra, self._extra = self._extra, {}
        return {"kind": "batch", "clock": clock, "messages": messages + events, "extra": extra}

    def _listen(self) -> None:
        with suppress(OSError, SkyloopError):
            for value in received(self._peer):
                kind = value.get("kind")
                if kind == "ack":
                    self._free.set()
                elif kind == "want":
                    wanted = frozenset(value["streams"])
                    self._newly.extend(wanted - self._wanted)
                    self._wanted = wanted
                else:
                    self._on_order(value)
        self._on_order({"kind": "server gone"})


def _packed(message: Message, wall_ns: int) -> list[object]:
    data = message.data
    if type(data).__name__ not in RECORDS or type(data) is not RECORDS[type(data).__name__]:
        data = _own_record(data)
    return [message.stream, message.t_ns, message.arrival_ns, data, wall_ns]


def _own_record(record: object) -> dict[str, object]:
    """The numbers of a record of a user's own class."""
    out: Fields = {}
    for name, value in values_of(record) if dataclasses.is_dataclass(record) else ():
        small = isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.size <= SMALL
        if small or isinstance(value, int | float | bool | str):
            out[name] = value
    return out


def _is_bulk(record: object) -> bool:
    if not dataclasses.is_dataclass(record):
        return False
    return sum(value.nbytes for _, value in values_of(record) if isinstance(value, np.ndarray)) > BULK_BYTES


def _jsonable(info: Fields) -> dict[str, object]:
    """What a page needs to know of a stream."""
    return {name: info[name] for name in ("name", "message", "rate", "vehicle", "mount")} | {
        "details": {key: value for key, value in info["details"].items() if isinstance(value, int | float | str | bool)}
    }


TREES = ("skyloop", "skyloop_client")
LONGEST = 1000


class LogLines(logging.Handler):
    """What the command line prints as log lines, a page sees too."""

    def __init__(self, courier: Courier) -> None:
        super().__init__(logging.INFO)
        self._courier = courier
        for name in TREES:
            logging.getLogger(name).addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self._courier.put_line(record.levelname.lower(), " ".join(record.getMessage().split())[:LONGEST])

    def close(self) -> None:
        """It may be called twice."""
        for name in TREES:
            logging.getLogger(name).removeHandler(self)
        super().close()
