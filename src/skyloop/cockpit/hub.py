"""The server's middle: takes batches of the simulation, makes each frame once, and hands it to all who want it."""

from __future__ import annotations

import asyncio
import gzip
import logging
import secrets
import socket
import threading
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from typing import Any

import numpy as np

from skyloop.cockpit.packets import FrameMaker
from skyloop.cockpit.wire import Fields, frame, received, send
from skyloop_client.errors import LinkError, SkyloopError
from skyloop_client.messages import Event, VehicleState

MOST_VIEWERS = 32
MOST_WANTED = 1000
"""Streams that one viewer may ask for."""
MOST_WAITING = 2000
"""Events and answers that wait for one viewer; beyond, the oldest are lost."""


class Viewer:
    def __init__(self) -> None:
        self.id = secrets.token_urlsafe(12)
        self.wants: frozenset[str] = frozenset()
        self.lost = 0
        """Frames that were replaced by newer ones before they were sent."""
        self._newest: dict[str, bytes] = {}
        self._each: deque[bytes] = deque(maxlen=MOST_WAITING)
        self._news = asyncio.Event()

    def put_newest(self, name: str, data: bytes) -> None:
        """Replaces what waits under this name."""
        if self._newest.pop(name, None) is not None:
            self.lost += 1
        self._newest[name] = data
        self._news.set()

    def put_each(self, data: bytes) -> None:
        self._each.append(data)
        self._news.set()

    async def next(self) -> bytes:
        while True:
            if self._each:
                return self._each.popleft()
            if self._newest:
                return self._newest.pop(next(iter(self._newest)))
            self._news.clear()
            await self._news.wait()


class Seat:
    """One viewer may steer; the others watch."""

    def __init__(self) -> None:
        self.pilot = ""
        """Id of the viewer who steers; empty: nobody."""

    def take(self, viewer: str) -> bool:
        if self.pilot in ("", viewer):
            self.pilot = viewer
            return True
        return False

    def leave(self, viewer: str) -> bool:
        """Whether it was this one who steered."""
        if not viewer or self.pilot != viewer:
            return False
        self.pilot = ""
        return True


def wanted(viewers: Iterable[Viewer]) -> frozenset[str]:
    """By anybody."""
    return frozenset().union(*(viewer.wants for viewer in viewers))


log = logging.getLogger(__name__)

ANSWER_S = 30.0
"""Wall s that the simulation may take to answer an order."""
EVENTS_KEPT = 500
LINES_KEPT = 200
TRACK_STEP = 0.1
"""m between two points of a track."""
TRACK_POINTS = 5000


class Hub:
    def __init__(self, peer: socket.socket) -> None:
        self._peer = peer
        self._sending = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._numbers = count(1)
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self.viewers: dict[str, Viewer] = {}
        self.seat = Seat()
        self.about: Fields = {}
        self.world = b""
        """Compressed."""
        self.clock: Fields = {}
        self.encoded = 0
        """Frames made, for all viewers together."""
        self.closed = asyncio.Event()
        self._maker = FrameMaker()
        self._last: dict[str, bytes] = {}
        """By stream: its newest frame, for viewers who come later."""
        self._events: deque[bytes] = deque(maxlen=EVENTS_KEPT)
        self._lines: deque[bytes] = deque(maxlen=LINES_KEPT)
        """Of the log."""
        self._tracks: dict[str, deque[tuple[float, float, float]]] = {}

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, name="skyloop cockpit hub", daemon=True).start()

    # ---- from the simulation, in a thread of its own

    def _read(self) -> None:
        assert self._loop is not None
        with suppress(OSError, SkyloopError, RuntimeError):
            for value in received(self._peer):
                kind = value["kind"]
                if kind == "batch":
                    self._take_batch(value)
                elif kind == "source":
                    self._maker = FrameMaker()
                    self._maker.infos = {info["name"]: info for info in value["streams"]}
                    self._tracks = {}
                    packed = gzip.compress(value["world"], 3)
                    self._loop.call_soon_threadsafe(self._take_source, value, packed)
                else:
                    if kind == "stream":
                        self._maker.infos.setdefault(value["stream"]["name"], value["stream"])
                    self._loop.call_soon_threadsafe(self._take_other, value)
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self.closed.set)

    def _take_batch(self, batch: Fields) -> None:
        frames: list[tuple[str, bytes, bool]] = []
        for stream, t_ns, _, record, wall_ns in batch["messages"]:
            try:
                made = self._maker.frame_of(stream, t_ns, record, wall_ns)
            except (ValueError, TypeError, IndexError, AttributeError) as error:
                # a user's record may differ from ours of the same name; that must not end the view of the rest
                log.warning("%s cannot be shown: %s", stream, error)
                continue
            frames.append((stream, made, isinstance(record, Event)))
            if isinstance(record, VehicleState):
                self._add_to_track(stream, record)
        movers = batch["extra"].get("movers")
        if movers is not None:
            frames.append(("movers", frame({"k": "movers"}, np.ascontiguousarray(movers).tobytes()), False))
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._deliver, batch["clock"], frames)

    def _add_to_track(self, stream: str, state: VehicleState) -> None:
        track = self._tracks.setdefault(stream, deque(maxlen=TRACK_POINTS))
        x, y, z = (float(value) for value in state.position)
        if not track or sum(abs(a - b) for a, b in zip(track[-1], (x, y, z), strict=True)) >= TRACK_STEP:
            track.append((x, y, z))

    # ---- in the server's loop

    def _take_source(self, source: Fields, world: bytes) -> None:
        self.about = {**source["about"], "streams": source["streams"], "ended": ""}
        self.world = world
        self._last.clear()
        self._events.clear()
        self._tell(frame({"k": "source"}))
        self._want()

    def _take_other(self, value: Fields) -> None:
        if value["kind"] == "reply":
            future = self._asked.pop(value["id"], None)
            if future is not None and not future.done():
                future.set_result(value)
        elif value["kind"] == "stream" and self.about:
            info = value["stream"]
            if info["name"] not in [known["name"] for known in self.about["streams"]]:
                self.about["streams"].append(info)
                self._tell(frame({"k": "stream", "stream": info}))
        elif value["kind"] == "ended":
            self.about["ended"] = value["why"]
            if not value["goes_on"]:
                self.seat.pilot = ""
            self._tell(frame({"k": "ended", "why": value["why"]}))
        elif value["kind"] == "lines":
            for line in value["lines"]:
                self._lines.append(frame({"k": "log", **line}))
                self._tell(self._lines[-1])
        elif value["kind"] in ("note", "job"):
            self._tell(frame({"k": value["kind"], **{key: value[key] for key in value if key != "kind"}}))

    def _tell(self, data: bytes) -> None:
        for viewer in self.viewers.values():
            viewer.put_each(data)

    def _deliver(self, clock: Fields, frames: list[tuple[str, bytes, bool]]) -> None:
        self.clock = clock
        self.encoded += len(frames)
        head = {"k": "clock", **clock, "w": time.time_ns() / 1e6, "pilot": bool(self.seat.pilot)}
        for viewer in self.viewers.values():
            mine = {"mine": self.seat.pilot == viewer.id, "viewers": len(self.viewers), "lost": viewer.lost}
            viewer.put_newest("clock", frame({**head, **mine}))
        for stream, data, is_event in frames:
            if is_event:
                self._events.append(data)
                self._tell(data)
                continue
            self._last[stream] = data
            for viewer in self.viewers.values():
                if stream in viewer.wants or stream == "movers":
                    viewer.put_newest(stream, data)
        self._send({"kind": "ack"})

    # ---- viewers

    def join(self) -> Viewer:
        if len(self.viewers) >= MOST_VIEWERS:
            raise LinkError(f"{MOST_VIEWERS} viewers are the most")
        viewer = Viewer()
        self.viewers[viewer.id] = viewer
        viewer.put_each(frame({"k": "hello", "viewer": viewer.id}))
        self.catch_up(viewer)
        return viewer

    def catch_up(self, viewer: Viewer) -> None:
        """Give a viewer what was there before it came."""
        for stream, track in list(self._tracks.items()):
            viewer.put_newest(
                f"track {stream}", frame({"k": "track", "s": stream}, np.array(list(track), "<f4").tobytes())
            )
        for data in [*self._lines, *self._events]:
            viewer.put_each(data)

    def want(self, viewer: Viewer, streams: frozenset[str]) -> None:
        for stream in streams - viewer.wants:
            if stream in self._last:
                viewer.put_newest(stream, self._last[stream])
        viewer.wants = streams
        self._want()

    def part(self, viewer: Viewer) -> None:
        """A viewer is gone. If it steered, its vehicles hover, then land."""
        self.viewers.pop(viewer.id, None)
        self._want()
        if self.seat.leave(viewer.id):
            for name in self.about.get("vehicles", {}):
                self._send({"kind": "order", "id": None, "name": "release", "arguments": {"vehicle": name}})

    def _want(self) -> None:
        self._send({"kind": "want", "streams": sorted(wanted(self.viewers.values()))})

    # ---- questions and orders to the simulation

    async def ask(self, kind: str, name: str, arguments: dict[str, object]) -> Any:
        """Raises a LinkError of one line when it is refused."""
        number = next(self._numbers)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[number] = future
        try:
            self._send({"kind": kind, "id": number, "name": name, "arguments": arguments})
            reply = await asyncio.wait_for(future, ANSWER_S)
        except (ValueError, OverflowError):
            raise NotCarried("a text holds half a surrogate pair, or a number has more than 64 bits") from None
        except TimeoutError:
            raise LinkError(f"no answer to '{name}' within {ANSWER_S:g} s; the simulation is busy") from None
        finally:
            self._asked.pop(number, None)
        if not reply["ok"]:
            raise LinkError(reply["error"])
        return reply.get("value")

    async def order(self, viewer: str, vehicle: str, name: str, arguments: Fields) -> object:
        """An order by the one viewer who steers."""
        if viewer not in self.viewers:
            raise LinkError("orders come from a viewer: open /api/live and send its id as X-Viewer")
        if not self.about.get("live") or self.about.get("ended"):
            raise LinkError("nothing is flying; start a flight first")
        if not self.seat.take(viewer):
            raise SeatTaken("another page steers; this one watches until that one leaves the seat")
        return await self.ask("order", name, {**arguments, "vehicle": vehicle})

    def _send(self, value: dict[str, object]) -> None:
        with self._sending, suppress(OSError):
            send(self._peer, value)


class SeatTaken(LinkError):
    """Somebody else steers."""


class NotCarried(LinkError):
    """JSON can say it, but it is no text or number."""
