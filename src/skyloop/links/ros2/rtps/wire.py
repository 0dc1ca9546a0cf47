"""RTPS 2.3 datagrams: a header, then submessages. No sockets here; whatever strangers send wrong raises ValueError."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

HEADER = b"RTPS\x02\x03"
VENDOR = b"\x00\x00"
"""Unknown: numbers are given to products by the OMG."""
CYCLONE = b"\x01\x10"
NOBODY = bytes(4)
"""The entity that means: whoever reads this writer."""
ACKNACK, HEARTBEAT, GAP, INFO_TS, INFO_SRC, INFO_DST, NACK_FRAG = 0x06, 0x07, 0x08, 0x09, 0x0C, 0x0E, 0x12
DATA, DATA_FRAG = 0x15, 0x16
LITTLE = 1
FINAL = 2
"""Of ACKNACK and HEARTBEAT: no answer is needed."""
HAS_QOS, HAS_DATA, HAS_KEY = 2, 4, 8
MOST_BITS = 256
"""Of a set of numbers; the standard's limit."""
FRAGMENT = 32_000
"""Bytes of a sample in one datagram."""
LONGEST = 1 << 40
"""No sequence number is higher. A writer would need a million years."""


@dataclass(frozen=True, slots=True)
class Data:
    reader: bytes
    writer: bytes
    number: int
    inline: bytes
    """Parameters of this sample, without their end."""
    order: str
    """`<` or `>`: the byte order of `inline`."""
    payload: bytes


@dataclass(frozen=True, slots=True)
class DataFragment(Data):
    first: int
    """The number of the first fragment here; they count from 1."""
    count: int
    size: int
    """Bytes of one fragment."""
    total: int
    """Bytes of the sample."""


@dataclass(frozen=True, slots=True)
class Heartbeat:
    reader: bytes
    writer: bytes
    first: int
    last: int
    count: int
    final: bool


@dataclass(frozen=True, slots=True)
class AckNack:
    reader: bytes
    writer: bytes
    base: int
    """All before it came."""
    missing: tuple[int, ...]
    count: int
    final: bool


@dataclass(frozen=True, slots=True)
class Gap:
    reader: bytes
    writer: bytes
    start: int
    base: int
    """From `start` to before it nothing comes."""
    more: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NackFragments:
    reader: bytes
    writer: bytes
    number: int
    missing: tuple[int, ...]
    count: int


Submessage = Data | DataFragment | Heartbeat | AckNack | Gap | NackFragments


@dataclass(frozen=True, slots=True)
class Received:
    prefix: bytes
    """Who sent it: the first 12 bytes of all its identities."""
    vendor: bytes
    parts: tuple[Submessage, ...]


# ---- reading


def received(datagram: bytes, mine: bytes) -> Received:
    """What is for `mine`, the prefix of a participant. Submessages that are unknown are left out."""
    if len(datagram) < 20 or datagram[:5] != HEADER[:5]:
        raise ValueError("not RTPS 2")
    vendor, prefix = datagram[6:8], datagram[8:20]
    parts: list[Submessage] = []
    at, is_for_us = 20, True
    while at + 4 <= len(datagram):
        kind, flags = datagram[at], datagram[at + 1]
        order = "<" if flags & LITTLE else ">"
        (length,) = struct.unpack_from(order + "H", datagram, at + 2)
        at += 4
        if length == 0 and kind != INFO_TS:
            length = len(datagram) - at
        if length > len(datagram) - at:
            raise ValueError("a submessage is cut off")
        body = datagram[at : at + length]
        at += length
        if kind == INFO_DST:
            is_for_us = body[:12] in (mine, bytes(12))
        elif kind == INFO_SRC:
            break  # a relay's: what follows is of somebody else
        elif is_for_us and kind in _READERS:
            try:
                parts.append(_READERS[kind](body, flags, order))
            except struct.error:
                raise ValueError("a submessage is too short") from None
    return Received(prefix, vendor, tuple(parts))


def _number(body: bytes, at: int, order: str) -> int:
    high, low = struct.unpack_from(order + "iI", body, at)
    number = int(high << 32 | low)
    if not 0 <= number < LONGEST:
        raise ValueError(f"{number} is no sequence number")
    return number


def _numbers(body: bytes, at: int, order: str) -> tuple[int, tuple[int, ...], int]:
    """A set: its base, the numbers in it, and where it ends."""
    base = _number(body, at, order)
    bits, end = _bits(body, at + 8, order)
    return base, tuple(base + k for k in bits), end


def _bits(body: bytes, at: int, order: str) -> tuple[list[int], int]:
    (count,) = struct.unpack_from(order + "I", body, at)
    if count > MOST_BITS:
        raise ValueError(f"a set of {count} numbers")
    words = struct.unpack_from(f"{order}{(count + 31) // 32}I", body, at + 4)
    return [k for k in range(count) if words[k // 32] >> (31 - k % 32) & 1], at + 4 + 4 * len(words)


def _data(body: bytes, flags: int, order: str) -> Data:
    (to_qos,) = struct.unpack_from(order + "2xH", body, 0)
    number = _number(body, 12, order)
    inline, at = _inline(body, 4 + to_qos, order) if flags & HAS_QOS else (b"", 4 + to_qos)
    payload = body[at:] if flags & (HAS_DATA | HAS_KEY) else b""
    return Data(body[4:8], body[8:12], number, inline, order, payload)


def _fragment(body: bytes, flags: int, order: str) -> DataFragment:
    (to_qos,) = struct.unpack_from(order + "2xH", body, 0)
    number = _number(body, 12, order)
    first, count, size, total = struct.unpack_from(order + "IHHI", body, 20)
    if not first or not count or not size or (first - 1 + count - 1) * size >= total:
        raise ValueError("fragments that are none")
    inline, at = _inline(body, 4 + to_qos, order) if flags & HAS_QOS else (b"", 4 + to_qos)
    payload = body[at:]
    if len(payload) < min(count * size, total - (first - 1) * size):
        raise ValueError("a fragment is cut off")
    return DataFragment(body[4:8], body[8:12], number, inline, order, payload, first, count, size, total)


def _inline(body: bytes, at: int, order: str) -> tuple[bytes, int]:
    """The bytes of a list of parameters, and where what follows it begins."""
    start = at
    while True:
        pid, length = struct.unpack_from(order + "HH", body, at)
        if pid == 1:  # the end of the list
            return body[start:at], at + 4
        at += 4 + length


def _heartbeat(body: bytes, flags: int, order: str) -> Heartbeat:
    (count,) = struct.unpack_from(order + "I", body, 24)
    first, last = _number(body, 8, order), _number(body, 16, order)
    if last < first - 1:
        raise ValueError("a heartbeat that ends before it begins")
    return Heartbeat(body[:4], body[4:8], first, last, count, bool(flags & FINAL))


def _acknack(body: bytes, flags: int, order: str) -> AckNack:
    base, missing, end = _numbers(body, 8, order)
    (count,) = struct.unpack_from(order + "I", body, end)
    return AckNack(body[:4], body[4:8], base, missing, count, bool(flags & FINAL))


def _gap(body: bytes, flags: int, order: str) -> Gap:
    start = _number(body, 8, order)
    base, more, _ = _numbers(body, 16, order)
    return Gap(body[:4], body[4:8], start, max(base, start), more)


def _nack_fragments(body: bytes, flags: int, order: str) -> NackFragments:
    number = _number(body, 8, order)
    (base,) = struct.unpack_from(order + "I", body, 16)
    bits, end = _bits(body, 20, order)
    (count,) = struct.unpack_from(order + "I", body, end)
    return NackFragments(body[:4], body[4:8], number, tuple(base + k for k in bits), count)


_READERS: dict[int, Callable[[bytes, int, str], Submessage]] = {
    DATA: _data, DATA_FRAG: _fragment, HEARTBEAT: _heartbeat, ACKNACK: _acknack, GAP: _gap, NACK_FRAG: _nack_fragments,
}  # fmt: skip


# ---- writing


def datagram(mine: bytes, to: bytes | None, parts: Iterable[bytes]) -> bytes:
    """`to`: the prefix of the participant it is for. None: whoever hears it."""
    directed = b"" if to is None else _submessage(INFO_DST, 0, to)
    return b"".join((HEADER, VENDOR, mine, directed, *parts))


def _submessage(kind: int, flags: int, body: bytes) -> bytes:
    padded = body + bytes(-len(body) % 4)
    return struct.pack("<BBH", kind, flags | LITTLE, len(padded)) + padded


def _sequence(number: int) -> bytes:
    return struct.pack("<iI", number >> 32, number & 0xFFFFFFFF)


def _set_of(numbers: Sequence[int], base: int) -> bytes:
    """Numbers from `base` on; those too far from it are left out."""
    near = [number - base for number in numbers if 0 <= number - base < MOST_BITS]
    count = max(near) + 1 if near else 0
    words = [0] * ((count + 31) // 32)
    for k in near:
        words[k // 32] |= 1 << (31 - k % 32)
    return _sequence(base) + struct.pack(f"<I{len(words)}I", count, *words)


def stamp(t_ns: int) -> bytes:
    seconds, ns = divmod(t_ns, 10**9)
    return _submessage(INFO_TS, 0, struct.pack("<II", seconds & 0xFFFFFFFF, (ns << 32) // 10**9))


def data(reader: bytes, writer: bytes, number: int, inline: bytes, payload: bytes, *, is_key: bool = False) -> bytes:
    """`inline`: a list of parameters with its end, or nothing."""
    head = struct.pack("<HH", 0, 16) + reader + writer + _sequence(number)
    flags = (HAS_QOS if inline else 0) | (HAS_KEY if is_key else HAS_DATA)
    return _submessage(DATA, flags, head + inline + payload)


def fragments(reader: bytes, writer: bytes, number: int, inline: bytes, payload: bytes) -> list[bytes]:
    """One submessage per fragment; each wants a datagram of its own."""
    built = []
    for k in range(0, len(payload), FRAGMENT):
        head = struct.pack("<HH", 0, 28) + reader + writer + _sequence(number)
        head += struct.pack("<IHHI", k // FRAGMENT + 1, 1, FRAGMENT, len(payload))
        built.append(_submessage(DATA_FRAG, HAS_QOS if inline else 0, head + inline + payload[k : k + FRAGMENT]))
    return built


def heartbeat(reader: bytes, writer: bytes, first: int, last: int, count: int) -> bytes:
    body = reader + writer + _sequence(first) + _sequence(last) + struct.pack("<I", count)
    return _submessage(HEARTBEAT, 0, body)


def acknack(reader: bytes, writer: bytes, base: int, missing: Sequence[int], count: int, *, final: bool) -> bytes:
    body = reader + writer + _set_of(missing, base) + struct.pack("<I", count)
    return _submessage(ACKNACK, FINAL if final else 0, body)


def gap(reader: bytes, writer: bytes, start: int, base: int) -> bytes:
    """Nothing comes from `start` to before `base`."""
    return _submessage(GAP, 0, reader + writer + _sequence(start) + _set_of((), base))
