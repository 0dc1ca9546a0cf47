"""An RTPS participant: it finds others, tells them of its endpoints, and matches theirs. A thread reads its sockets."""

from __future__ import annotations

import logging
import os
import select
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from skyloop.links.ros2.rtps import parameters as pl
from skyloop.links.ros2.rtps import wire
from skyloop.links.ros2.rtps.reliability import MOST_PARTNERS, Outgoing, ReliableReader, ReliableWriter
from skyloop.links.ros2.rtps.sockets import LONGEST, Sockets
from skyloop.links.ros2.settings import ANNOUNCE_S, Ros2Settings

log = logging.getLogger(__name__)

LEASE_S = 20
AFTER_ALL = 1 << 30
"""Number of a participant's last announcement."""
PROBING = 4
"""The first announcements go to every port of this machine: not everybody hears multicast."""
TICK_S = 0.05
AT_ONCE = 64
"""Datagrams of one socket before the others have their turn."""
BREATH_S = 0.001
SPDP_WRITER = b"\x00\x01\x00\xc2"
SEDP = {"writers": (b"\x00\x00\x03\xc2", b"\x00\x00\x03\xc7"), "readers": (b"\x00\x00\x04\xc2", b"\x00\x00\x04\xc7")}
"""The built-in endpoints that tell of writers and of readers: the writer's entity and the reader's."""
LIVELINESS = (b"\x00\x02\x00\xc2", b"\x00\x02\x00\xc7")
"""Of messages that say: I live. Ours never needs one, but Fast DDS asks for its state until it is answered."""
MOST_KNOWN = 4096
"""Endpoints of others that may once have to do with ours."""
OF_INTEREST = ("rq/", "rr/", "rt/", "ros_discovery_info")
WRITER, READER = b"\x03", b"\x04"
"""The last byte of entities without keys."""


@dataclass(slots=True)
class LocalWriter:
    kind: str
    writer: ReliableWriter
    met: Callable[[pl.EndpointData], None]
    """Called with each reader that it is newly matched with, under the participant's lock."""


@dataclass(slots=True)
class LocalReader:
    kind: str
    reader: ReliableReader
    taken: Callable[[bytes, bytes, wire.Data], None]
    """Called in the reading thread with the vendor and the identity of a writer, and its sample."""


@dataclass(slots=True)
class RemoteParticipant:
    about: pl.ParticipantData
    until: float


class RtpsParticipant:
    def __init__(self, settings: Ros2Settings) -> None:
        self.prefix = wire.VENDOR + os.urandom(10)
        self._sockets = Sockets(settings)
        self._is_alone = settings.reach == "OFF"
        self._lock = threading.RLock()
        self._peers: dict[bytes, RemoteParticipant] = {}
        self._writers: dict[str, LocalWriter] = {}
        self._readers: dict[str, LocalReader] = {}
        """By topic."""
        self._known: dict[bytes, tuple[str, pl.EndpointData]] = {}
        """Endpoints of others: whether they are writers or readers, and what they say of themselves."""
        self._liveliness = ReliableWriter(self.prefix, LIVELINESS[0], keeps=True)
        self._tellers = {what: ReliableWriter(self.prefix, ids[0], keeps=True) for what, ids in SEDP.items()}
        self._hearers = {what: ReliableReader(self.prefix, ids[1]) for what, ids in SEDP.items()}
        self._announced = 0
        self._announce_at = 0.0
        self._closed = False
        self._thread = threading.Thread(target=self._read, name="skyloop RTPS", daemon=True)
        self._thread.start()

    # ---- our endpoints

    def add_writer(
        self,
        topic: str,
        kind: str,
        user_data: str,
        *,
        latched: bool = False,
        met: Callable[[pl.EndpointData], None] = lambda about: None,
    ) -> bytes:
        """Reliable. Each of its samples is for one participant or reader. Returns its identity."""
        with self._lock:
            entity = (len(self._writers) + 1).to_bytes(3, "big") + WRITER
            self._writers[topic] = LocalWriter(kind, ReliableWriter(self.prefix, entity, keeps=False), met)
            payload = pl.endpoint_payload(self.prefix + entity, topic, kind, user_data, latched=latched)
            self._send(self._tellers["writers"].write(payload, time.monotonic()))
            self._match_known(topic)
        return self.prefix + entity

    def add_reader(
        self, topic: str, kind: str, user_data: str, taken: Callable[[bytes, bytes, wire.Data], None]
    ) -> bytes:
        """Reliable. Returns its identity."""
        with self._lock:
            entity = (len(self._readers) + 1).to_bytes(3, "big") + READER
            self._readers[topic] = LocalReader(kind, ReliableReader(self.prefix, entity), taken)
            payload = pl.endpoint_payload(self.prefix + entity, topic, kind, user_data)
            self._send(self._tellers["readers"].write(payload, time.monotonic()))
            self._match_known(topic)
        return self.prefix + entity

    def write(self, topic: str, data: bytes, inline: bytes, to: bytes) -> None:
        """From any thread. `to`: the identity of a reader, or the prefix of a participant."""
        with self._lock:
            if not self._closed:
                self._send(self._writers[topic].writer.write(data, time.monotonic(), inline, to))

    # ---- sending

    def _send(self, outgoing: list[Outgoing]) -> None:
        for addresses, datagram in outgoing:
            self._sockets.send(addresses, datagram)

    def _about_us(self) -> bytes:
        self._announced += 1
        payload = pl.participant_payload(
            self.prefix, self._sockets.meta_addresses, self._sockets.user_addresses, LEASE_S, wire.VENDOR
        )
        part = wire.data(wire.NOBODY, SPDP_WRITER, self._announced, b"", payload)
        return wire.datagram(self.prefix, None, [wire.stamp(time.time_ns()), part])

    def _announce(self, datagram: bytes, *, probing: bool) -> None:
        self._sockets.announce(datagram, probing=probing)
        for peer in self._peers.values():
            self._sockets.send(peer.about.meta, datagram)

    # ---- reading

    def _read(self) -> None:
        poll = select.poll()
        sockets = {one.fileno(): one for one in self._sockets.all()}
        for number in sockets:
            poll.register(number, select.POLLIN)
        while not self._closed:
            for number, _ in poll.poll(TICK_S * 1000):
                self._take(sockets[number])
            with self._lock:
                if self._closed:
                    return
                self._tick(time.monotonic())
            # a flood leaves the interpreter to the simulation
            time.sleep(BREATH_S)

    def _take(self, one: socket.socket) -> None:
        for _ in range(AT_ONCE):
            try:
                datagram = one.recv(LONGEST)
            except OSError:
                return
            found: list[Callable[[], None]] = []
            with self._lock, suppress(ValueError):
                self._handle(wire.received(datagram, self.prefix), found)
            for tell in found:
                tell()

    def _tick(self, now: float) -> None:
        for prefix in [prefix for prefix, peer in self._peers.items() if now > peer.until]:
            self._forget(prefix)
        for writer in self._all_writers():
            self._send(list(writer.due(now)))
        if now >= self._announce_at and not self._is_alone:
            self._announce_at = now + ANNOUNCE_S
            self._announce(self._about_us(), probing=self._announced <= PROBING)

    def _all_writers(self) -> list[ReliableWriter]:
        return [self._liveliness, *self._tellers.values(), *(one.writer for one in self._writers.values())]

    def _handle(self, received: wire.Received, found: list[Callable[[], None]]) -> None:
        """`found` gets what is to be called when the lock is free again."""
        if received.prefix == self.prefix:
            return
        now = time.monotonic()
        peer = self._peers.get(received.prefix)
        if peer is not None:
            peer.until = now + peer.about.lease_s
        for part in received.parts:
            if isinstance(part, wire.Data) and part.writer == SPDP_WRITER:
                self._meet(received.prefix, part, now)
            elif received.prefix not in self._peers:
                continue
            elif isinstance(part, wire.AckNack | wire.NackFragments):
                for writer in self._all_writers():
                    if writer.entity == part.writer:
                        self._send(writer.acknowledged(received.prefix + part.reader, part, now))
            else:
                self._hear(received, part, found)

    def _hear(
        self, received: wire.Received, part: wire.Data | wire.Heartbeat | wire.Gap, found: list[Callable[[], None]]
    ) -> None:
        guid = received.prefix + part.writer
        for what, hearer in self._hearers.items():
            for sample in self._samples(hearer, guid, part):
                with suppress(ValueError):
                    self._learn(what, received.prefix, sample)
        for one in self._readers.values():
            for sample in self._samples(one.reader, guid, part):
                found.append(partial(one.taken, received.vendor, guid, sample))

    def _samples(
        self, reader: ReliableReader, guid: bytes, part: wire.Data | wire.Heartbeat | wire.Gap
    ) -> list[wire.Data]:
        if guid not in reader.writers or part.reader not in (wire.NOBODY, reader.entity):
            return []
        if isinstance(part, wire.Data):
            return reader.data(guid, part)
        if isinstance(part, wire.Gap):
            return reader.gap(guid, part)
        found, outgoing = reader.heartbeat(guid, part)
        self._send(outgoing)
        return found

    # ---- who is there

    def _meet(self, sender: bytes, part: wire.Data, now: float) -> None:
        ended = pl.gone(part.inline, part.order, part.payload)
        if ended:
            if ended[:12] == sender:
                self._forget(sender)
            return
        about = pl.participant_from(part.payload)
        if about.prefix != sender or about.tag or self._is_alone or not about.meta:
            return
        known = sender in self._peers
        if not known and len(self._peers) >= MOST_PARTNERS:
            return
        self._peers[sender] = RemoteParticipant(about, now + about.lease_s)
        if not known:
            self._sockets.send(about.meta, self._about_us())
            log.debug("ROS 2: a participant at %s", about.meta)
        self._send(self._liveliness.match(sender + LIVELINESS[1], about.meta, now))
        for what, (writer, reader) in SEDP.items():
            if about.endpoints & (pl.PUBLICATIONS if what == "writers" else pl.SUBSCRIPTIONS):
                self._send(self._tellers[what].match(sender + reader, about.meta, now))
                self._send(self._hearers[what].match(sender + writer, about.meta))

    def _forget(self, prefix: bytes) -> None:
        """A participant that ended, or is silent for longer than it promised; or one of its endpoints."""
        self._peers.pop(prefix, None)
        for guid in [guid for guid in self._known if guid.startswith(prefix)]:
            del self._known[guid]
        for writer in self._all_writers():
            writer.forget(prefix)
        for reader in (*self._hearers.values(), *(one.reader for one in self._readers.values())):
            reader.forget(prefix)

    def _learn(self, what: str, prefix: bytes, sample: wire.Data) -> None:
        """Of a remote writer or reader."""
        ended = pl.gone(sample.inline, sample.order, sample.payload)
        if ended:
            if len(ended) == 16 and ended.startswith(prefix):
                self._forget(ended)
            return
        about = pl.endpoint_from(sample.payload)
        if not about.guid.startswith(prefix) or not about.topic.startswith(OF_INTEREST):
            return
        if about.guid in self._known or len(self._known) < MOST_KNOWN:
            self._known[about.guid] = (what, about)
            self._match(what, about)

    def others(self) -> list[tuple[str, pl.EndpointData]]:
        """Endpoints of others that are known now: `writers` or `readers`, and what they say of themselves."""
        with self._lock:
            return list(self._known.values())

    def _match_known(self, topic: str) -> None:
        """A node may be older than our own endpoint."""
        for what, about in list(self._known.values()):
            if about.topic == topic:
                self._match(what, about)

    def _match(self, what: str, about: pl.EndpointData) -> None:
        """If it has the topic and the type of one of ours."""
        addresses = about.addresses or self._peers[about.guid[:12]].about.default
        if what == "writers":
            reading = self._readers.get(about.topic)
            if reading is not None and reading.kind == about.kind and about.reliable:
                self._send(reading.reader.match(about.guid, addresses))
            return
        writing = self._writers.get(about.topic)
        if writing is not None and writing.kind == about.kind:
            is_known = about.guid in writing.writer.readers
            self._send(writing.writer.match(about.guid, addresses, time.monotonic()))
            if not is_known and about.guid in writing.writer.readers:
                writing.met(about)

    # ---- the end

    def say_goodbye(self, prefix: bytes) -> None:
        """For a participant that could not do it itself."""
        with self._lock:
            if not self._closed:
                self._say_goodbye(prefix)

    def _say_goodbye(self, prefix: bytes) -> None:
        inline, payload = pl.ending(prefix + pl.PARTICIPANT)
        part = wire.data(wire.NOBODY, SPDP_WRITER, AFTER_ALL, inline, payload, is_key=True)
        if not self._is_alone:
            self._announce(wire.datagram(prefix, None, [part]), probing=False)

    def close(self, other: bytes = b"") -> None:
        """It may be called twice. `other`: the prefix of a participant that has ended too."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            for prefix in filter(None, (self.prefix, other)):
                self._say_goodbye(prefix)
        self._thread.join(timeout=2.0)
        self._sockets.close()
