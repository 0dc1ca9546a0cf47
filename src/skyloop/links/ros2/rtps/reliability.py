"""RTPS's reliable writers and readers: what came in, and which datagrams go out. No sockets here, and no clock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from skyloop.links.ros2.rtps import wire
from skyloop.links.ros2.rtps.parameters import Address

AGAIN_S = 0.2
"""Between two heartbeats, as long as a reader has not confirmed."""
MOST_BEATS = 50
"""Without an answer. Then the reader is not waited for any more."""
MOST_HELD = 64
"""Samples of one writer that came before others."""
MOST_KEPT = 256
"""Samples that are kept to be sent again."""
MOST_BYTES = 1 << 20
"""Of one sample in fragments, of all that one writer has unfinished, and of what one request sends again."""
MOST_PARTNERS = 128
"""Participants, readers of one writer, or writers of one reader."""
ROOM = 8_000
"""Bytes of small samples that share a datagram."""
Outgoing = tuple[tuple[Address, ...], bytes]


@dataclass(slots=True)
class Change:
    """A sample that is kept to be sent again."""

    payload: bytes
    inline: bytes
    to: bytes | None
    """The only reader it is for, or the prefix of the only participant."""


@dataclass(slots=True)
class RemoteReader:
    guid: bytes
    addresses: tuple[Address, ...]
    sent: int
    """All up to here were sent, or are of no interest to it."""
    confirmed: int
    """All before it came."""
    count: int = 0
    beats: int = 0
    beat_at: float = 0.0


class ReliableWriter:
    def __init__(self, mine: bytes, entity: bytes, *, keeps: bool) -> None:
        """`keeps`: everything, for late readers too. Otherwise the newest; a late reader gets what is for it only."""
        self._mine, self.entity, self._keeps = mine, entity, keeps
        self._history: dict[int, Change] = {}
        self._last = 0
        self._beats = 0
        self.readers: dict[bytes, RemoteReader] = {}

    def match(self, guid: bytes, addresses: tuple[Address, ...], now: float) -> list[Outgoing]:
        known = self.readers.get(guid)
        if known is not None:
            known.addresses = addresses
            return []
        if len(self.readers) >= MOST_PARTNERS:
            return []
        # a reply may be older than the news of the reader it is for
        start = min((k for k, change in self._history.items() if self._concerns(change, guid)), default=self._last + 1)
        reader = self.readers[guid] = RemoteReader(guid, addresses, start - 1, start)
        return self._send_new(reader, now)

    def forget(self, prefix: bytes) -> None:
        """A participant, or one reader."""
        for guid in [guid for guid in self.readers if guid.startswith(prefix)]:
            del self.readers[guid]

    def write(self, payload: bytes, now: float, inline: bytes = b"", to: bytes | None = None) -> list[Outgoing]:
        self._last += 1
        self._history[self._last] = Change(payload, inline, to)
        if not self._keeps and len(self._history) > MOST_KEPT:
            del self._history[next(iter(self._history))]
        return [one for reader in self.readers.values() for one in self._send_new(reader, now)]

    def _concerns(self, change: Change, guid: bytes) -> bool:
        return self._keeps if change.to is None else guid.startswith(change.to)

    def _send_new(self, reader: RemoteReader, now: float) -> list[Outgoing]:
        """What it has not got yet, and a heartbeat, so that it says what it lacks."""
        wanted = [k for k in self._history if k > reader.sent and self._concerns(self._history[k], reader.guid)]
        if not wanted:
            return []
        reader.beats = 0
        return self._send(reader, wanted, reader.sent + 1, now)

    def _send(self, reader: RemoteReader, numbers: list[int], start: int, now: float) -> list[Outgoing]:
        """Samples in order. Numbers between them, from `start` on, are of no interest."""
        entity = reader.guid[12:]
        parts: list[bytes] = []
        for number in numbers:
            if number > start:
                parts.append(wire.gap(entity, self.entity, start, number))
            start = number + 1
            change = self._history[number]
            if len(change.payload) > wire.FRAGMENT:
                parts += wire.fragments(entity, self.entity, number, change.inline, change.payload)
            else:
                parts.append(wire.data(entity, self.entity, number, change.inline, change.payload))
        reader.sent = max(reader.sent, start - 1)
        parts.append(self._heartbeat(reader, now))
        return self._packed(reader, parts)

    def _heartbeat(self, reader: RemoteReader, now: float) -> bytes:
        self._beats += 1
        reader.beat_at = now + AGAIN_S
        first = next(iter(self._history), self._last + 1)
        return wire.heartbeat(reader.guid[12:], self.entity, first, self._last, self._beats)

    def _packed(self, reader: RemoteReader, parts: list[bytes]) -> list[Outgoing]:
        groups: list[list[bytes]] = [[]]
        size = 0
        for part in parts:
            if groups[-1] and size + len(part) > ROOM:
                groups.append([])
                size = 0
            groups[-1].append(part)
            size += len(part)
        return [(reader.addresses, wire.datagram(self._mine, reader.guid[:12], group)) for group in groups]

    def acknowledged(self, guid: bytes, message: wire.AckNack | wire.NackFragments, now: float) -> list[Outgoing]:
        """A reader confirms or complains."""
        if isinstance(message, wire.AckNack):
            return self._acknack(guid, message, now)
        return self._nack_fragments(guid, message, now)

    def _acknack(self, guid: bytes, message: wire.AckNack, now: float) -> list[Outgoing]:
        reader = self.readers.get(guid)
        if reader is None or message.count < reader.count:
            return []
        reader.count = message.count
        if message.base > reader.confirmed:
            reader.confirmed, reader.beats = min(message.base, self._last + 1), 0
        if message.missing:
            return self._send_again(reader, message.missing, now)
        # a first question of a reader that has just found us
        return (
            [] if message.final or message.base > self._last else self._packed(reader, [self._heartbeat(reader, now)])
        )

    def _send_again(self, reader: RemoteReader, missing: tuple[int, ...], now: float) -> list[Outgoing]:
        wanted: list[int] = []
        size = 0
        for number in missing:
            change = self._history.get(number)
            if change is not None and self._concerns(change, reader.guid):
                size += len(change.payload)
                if wanted and size > MOST_BYTES:
                    break
                wanted.append(number)
        if wanted:
            return self._send(reader, wanted, missing[0], now)
        end = min(missing[-1], self._last) + 1
        return self._packed(reader, [wire.gap(reader.guid[12:], self.entity, missing[0], max(end, missing[0] + 1))])

    def _nack_fragments(self, guid: bytes, message: wire.NackFragments, now: float) -> list[Outgoing]:
        reader, change = self.readers.get(guid), self._history.get(message.number)
        if reader is None or change is None or not self._concerns(change, guid):
            return []
        built = wire.fragments(guid[12:], self.entity, message.number, change.inline, change.payload)
        again = [built[k - 1] for k in message.missing if 0 < k <= len(built)]
        return self._packed(reader, [*again, self._heartbeat(reader, now)])

    def due(self, now: float) -> Iterator[Outgoing]:
        """Heartbeats to readers that have not confirmed what was sent to them."""
        for reader in self.readers.values():
            if reader.confirmed <= reader.sent and reader.beats < MOST_BEATS and now >= reader.beat_at:
                reader.beats += 1
                yield from self._packed(reader, [self._heartbeat(reader, now)])


@dataclass(slots=True)
class Pieces:
    """A sample of which not every fragment came."""

    data: bytearray
    size: int
    left: set[int]
    sample: wire.DataFragment


@dataclass(slots=True)
class RemoteWriter:
    guid: bytes
    addresses: tuple[Address, ...]
    next: int = 1
    """The number of the sample that is due."""
    held: dict[int, wire.Data | None] = field(default_factory=dict)
    """Samples that came before others. None: it never comes."""
    pieces: dict[int, Pieces] = field(default_factory=dict)
    count: int = 0
    """Of our acknacks."""
    beat: int = -1
    """The highest count of its heartbeats."""


class ReliableReader:
    def __init__(self, mine: bytes, entity: bytes) -> None:
        self._mine, self.entity = mine, entity
        self.writers: dict[bytes, RemoteWriter] = {}

    def match(self, guid: bytes, addresses: tuple[Address, ...]) -> list[Outgoing]:
        """With a question for what the writer has: the first sample may be older than our news of the writer."""
        known = self.writers.get(guid)
        if known is not None:
            known.addresses = addresses
            return []
        if len(self.writers) >= MOST_PARTNERS:
            return []
        writer = self.writers[guid] = RemoteWriter(guid, addresses)
        return [self._acknack(writer, (), final=False)]

    def forget(self, prefix: bytes) -> None:
        for guid in [guid for guid in self.writers if guid.startswith(prefix)]:
            del self.writers[guid]

    def data(self, guid: bytes, sample: wire.Data) -> list[wire.Data]:
        """Returns the samples whose turn it is now."""
        writer = self.writers.get(guid)
        if writer is None or sample.number < writer.next or sample.number in writer.held:
            return []
        if isinstance(sample, wire.DataFragment):
            joined = self._joined(writer, sample)
            if joined is None:
                return []
            sample = joined
        if sample.number != writer.next and len(writer.held) >= MOST_HELD:
            return []  # it will be asked for again
        writer.held[sample.number] = sample
        return self._turn(writer)

    def _joined(self, writer: RemoteWriter, sample: wire.DataFragment) -> wire.Data | None:
        pieces = writer.pieces.get(sample.number)
        if pieces is None or (pieces.size, len(pieces.data)) != (sample.size, sample.total):
            writer.pieces.pop(sample.number, None)
            waiting = sum(len(one.data) for one in writer.pieces.values())
            if sample.total + waiting > MOST_BYTES or len(writer.pieces) >= MOST_HELD:
                return None
            count = (sample.total + sample.size - 1) // sample.size
            pieces = Pieces(bytearray(sample.total), sample.size, set(range(1, count + 1)), sample)
            writer.pieces[sample.number] = pieces
        at = (sample.first - 1) * sample.size
        piece = sample.payload[: min(sample.count * sample.size, sample.total - at)]
        pieces.data[at : at + len(piece)] = piece
        pieces.left -= set(range(sample.first, sample.first + sample.count))
        if pieces.left:
            return None
        del writer.pieces[sample.number]
        return wire.Data(
            sample.reader, sample.writer, sample.number, pieces.sample.inline, pieces.sample.order, bytes(pieces.data)
        )

    def _turn(self, writer: RemoteWriter) -> list[wire.Data]:
        found = []
        while writer.next in writer.held:
            sample = writer.held.pop(writer.next)
            writer.pieces.pop(writer.next, None)
            writer.next += 1
            if sample is not None:
                found.append(sample)
        return found

    def gap(self, guid: bytes, message: wire.Gap) -> list[wire.Data]:
        writer = self.writers.get(guid)
        if writer is None:
            return []
        found: list[wire.Data] = []
        if message.start <= writer.next:
            found = self._skip_to(writer, message.base)
        for number in message.more:
            if number >= writer.next and len(writer.held) < MOST_HELD:
                writer.held.setdefault(number, None)
        return found + self._turn(writer)

    def _skip_to(self, writer: RemoteWriter, number: int) -> list[wire.Data]:
        """What was before it and did not come never comes."""
        found = [writer.held.pop(k) for k in sorted(writer.held) if k < number]
        for k in [k for k in writer.pieces if k < number]:
            del writer.pieces[k]
        writer.next = max(writer.next, number)
        return [sample for sample in found if sample is not None]

    def heartbeat(self, guid: bytes, message: wire.Heartbeat) -> tuple[list[wire.Data], list[Outgoing]]:
        """Samples whose turn it is, and our answer."""
        writer = self.writers.get(guid)
        if writer is None or message.count <= writer.beat:
            return [], []
        writer.beat = message.count
        found = self._skip_to(writer, message.first) + self._turn(writer)
        end = min(message.last, writer.next + wire.MOST_BITS - 1)
        missing = tuple(k for k in range(writer.next, end + 1) if k not in writer.held)
        if message.final and not missing:
            return found, []
        return found, [self._acknack(writer, missing, final=True)]

    def _acknack(self, writer: RemoteWriter, missing: tuple[int, ...], *, final: bool) -> Outgoing:
        writer.count += 1
        message = wire.acknack(self.entity, writer.guid[12:], writer.next, missing, writer.count, final=final)
        return writer.addresses, wire.datagram(self._mine, writer.guid[:12], [message])
