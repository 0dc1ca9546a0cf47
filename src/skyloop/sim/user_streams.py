"""Streams that software in the loop publishes under its vehicle: who may, under which name, how much and how often.

Everything that comes from a pilot in the process, from an estimator, or from a link goes through `UserStreams.publish`.
A stream is advertised with its first record. What is wrong with a record is reported to its sender in one line
(`StreamError`); nothing else is touched by it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from skyloop.core.bus import Bus
from skyloop.core.clock import Schedule
from skyloop.sim.part import Memory, Part
from skyloop.sim.published_records import taken
from skyloop_client.codec import size_of
from skyloop_client.errors import StreamError
from skyloop_client.messages import Goal, Message
from skyloop_client.streams import NS_PER_S, StreamInfo

MOST_STREAMS = 64
"""That are published under one vehicle."""
MOST_PER_SECOND = 2000
"""Records of one stream in one simulated second."""
MOST_BYTES_PER_SECOND = 64 << 20
"""Of all streams published under one vehicle, in one simulated second."""
LONGEST_NAME = 64
NAME = re.compile(r"[a-z][a-z0-9_]*(/[a-z][a-z0-9_]*){0,3}")
NOT_VEHICLES = ("truth", "observer", "link")
"""What streams begin with that are of no vehicle."""
RESERVED = ("state",)
"""What a bundle gives under that name is no stream."""


@dataclass(slots=True)
class PublishedStream:
    """One stream, as snapshots hold it."""

    info: StreamInfo
    sender: str
    """Who publishes on it; empty: whoever comes next."""
    count: int = 0
    second: int = -1
    """The simulated second `in_second` is about."""
    in_second: int = 0


@dataclass(slots=True)
class Spent:
    """What a vehicle's streams have taken of their share."""

    second: int = -1
    bytes: int = 0


@dataclass(slots=True)
class UserStreamMemory:
    streams: dict[str, PublishedStream] = field(default_factory=dict)
    """By full name."""
    spent: dict[str, Spent] = field(default_factory=dict)
    """By vehicle."""


class UserStreams(Part):
    """All that is published by others than the simulator's own parts."""

    name = "published streams"

    def __init__(self, bus: Bus, schedule: Schedule) -> None:
        self._bus = bus
        self._schedule = schedule
        self._memory = UserStreamMemory()
        self.outside: dict[str, Any] = {}
        """By stream: estimators that run at the other end of a link (`estimation.OutsideEstimator`)."""
        self._advertised: dict[str, StreamInfo] = {}
        """Also those of a time that was undone by restoring a snapshot."""

    def reserve(self, info: StreamInfo, sender: str) -> None:
        """Advertise a stream before its first record, for this sender only."""
        self._bus.advertise(info)
        self._advertised[info.name] = info
        self._memory.streams[info.name] = PublishedStream(info, sender)

    def publish(
        self, vehicle: str, name: str, record: Any, t_ns: int, *, sender: str, latency_ns: int = 0
    ) -> StreamInfo:
        """Put a record on `<vehicle>/<name>` at an instant, or raise StreamError.

        `sender` says in a few words who does it: a stream belongs to whoever published on it first, until `release`.
        """
        record = taken(record, t_ns)
        kind = type(record).__name__
        stream = self._stream(vehicle, name)
        known = self._memory.streams.get(stream)
        if known is None:
            self._check_new(vehicle, stream)
            known = PublishedStream(StreamInfo(stream, kind, None, vehicle), sender)
        # goals may come from anybody, such as a click and a script
        if known.sender not in ("", sender) and kind != "Goal":
            raise StreamError(f"'{stream}' is published by {known.sender} already; choose another name")
        if known.info.message != kind:
            raise StreamError(f"'{stream}' carries {known.info.message}; publish a {kind} under another name")
        self._spend(known, record, t_ns)
        if stream not in self._bus.infos:
            self.reserve(known.info, sender)
            self._memory.streams[stream] = known
        known.sender = sender
        # a goal has no stamp of its own: it counts from the instant at which it is sent
        stamp_ns = t_ns if isinstance(record, Goal) else record.t_ns
        message = Message(stream, known.count, stamp_ns, t_ns + latency_ns, record)
        known.count += 1
        if latency_ns:
            self._schedule.once(message)
        else:
            self._bus.publish(message)
        return known.info

    def release(self, sender: str) -> None:
        """Whoever comes next may go on with this sender's streams."""
        for published in self._memory.streams.values():
            if published.sender == sender:
                published.sender = ""

    # ---- what is checked

    def _stream(self, vehicle: str, name: object) -> str:
        """The full name of what a sender calls `detections`."""
        if not isinstance(name, str) or len(name) > LONGEST_NAME:
            raise StreamError(f"a stream's name is a text of at most {LONGEST_NAME} characters, such as detections")
        first = name.partition("/")[0]
        if first != vehicle and first in {info.vehicle for info in self._bus.infos.values()}:
            raise StreamError(f"'{name}' belongs to another vehicle; publish under your own, '{vehicle}'")
        if first in NOT_VEHICLES:
            raise StreamError(f"'{name}': streams under '{first}/' are the simulator's; publish under your vehicle")
        short = name.removeprefix(f"{vehicle}/")
        if NAME.fullmatch(short) is None or short in RESERVED:
            raise StreamError(
                f"'{name[:40]}' cannot name a stream; give small letters, digits and _, at most four parts with /"
            )
        return f"{vehicle}/{short}"

    def _check_new(self, vehicle: str, stream: str) -> None:
        for other, info in self._bus.infos.items():
            if other == stream:
                raise StreamError(f"'{stream}' is the simulator's own stream of {info.message}; choose another name")
            near = stream.startswith(f"{other}/") or other.startswith(f"{stream}/")
            if near and other not in self._memory.streams:
                raise StreamError(f"'{stream}' would mix with the simulator's own '{other}'; choose another name")
        published = sum(known.info.vehicle == vehicle for known in self._memory.streams.values())
        if published >= MOST_STREAMS:
            raise StreamError(
                f"'{stream}': '{vehicle}' has {MOST_STREAMS} published streams already, the most there may be"
            )

    def _spend(self, known: PublishedStream, record: Any, t_ns: int) -> None:
        """Take a record from the share of its stream and its vehicle in this simulated second."""
        second, size = t_ns // NS_PER_S, size_of(record)
        if known.second != second:
            known.second, known.in_second = second, 0
        spent = self._memory.spent.setdefault(known.info.vehicle, Spent())
        if spent.second != second:
            spent.second, spent.bytes = second, 0
        if known.in_second >= MOST_PER_SECOND:
            raise StreamError(f"'{known.info.name}' comes more than {MOST_PER_SECOND} times in a simulated second")
        if spent.bytes + size > MOST_BYTES_PER_SECOND:
            raise StreamError(
                f"'{known.info.name}': the streams published under '{known.info.vehicle}' have more than "
                f"{MOST_BYTES_PER_SECOND >> 20} MiB in a simulated second"
            )
        known.in_second += 1
        spent.bytes += size

    # ---- as a part of the simulation

    def memory(self) -> object:
        return self._memory

    def remember(self, memory: Memory) -> None:
        self._memory = memory
        for stream, published in memory.streams.items():
            if stream not in self._bus.infos:
                self._bus.advertise(published.info)
                self._advertised[stream] = published.info
        for stream, info in self._advertised.items():
            memory.streams.setdefault(stream, PublishedStream(info, ""))
