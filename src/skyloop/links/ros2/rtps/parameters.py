"""Lists of parameters, and what participants and endpoints say of themselves in them when they are discovered."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

END = 1
USER_DATA, DOMAIN_TAG, ENTITY_NAME = 0x002C, 0x4014, 0x0062
LEASE, TOPIC_NAME, TYPE_NAME, VERSION, VENDOR_ID = 0x0002, 0x0005, 0x0007, 0x0015, 0x0016
RELIABILITY, DURABILITY = 0x001A, 0x001D
UNICAST, DEFAULT_UNICAST, META_UNICAST = 0x002F, 0x0031, 0x0032
PARTICIPANT_GUID, ENDPOINTS, ENDPOINT_GUID, KEY_HASH, STATUS = 0x0050, 0x0058, 0x005A, 0x0070, 0x0071
RELATED, RELATED_OF_FAST_DDS = 0x0083, 0x800F
"""The identity of the sample that one answers: the standard's number, and the one of Fast DDS until 2.13."""
UDP4 = 1
PL_CDR = {b"\x00\x02": ">", b"\x00\x03": "<"}
LITTLE = b"\x00\x03\x00\x00"
ANNOUNCER, DETECTOR, PUBLICATIONS, SUBSCRIPTIONS, LIVELINESS_WRITER = 1, 2, 4 | 8, 16 | 32, 1 << 10
"""Which built-in endpoints there are: of participants, of publications and subscriptions writers and readers, ..."""
MOST_ADDRESSES = 4
"""Of one endpoint. A machine has a few; a list of hundreds would make us send that often."""
MOST_TEXT = 256
SHORTEST_LEASE, LONGEST_LEASE, NO_LEASE = 1.0, 3600.0, 100.0
"""s; the last one is the standard's, of who does not give one."""
Address = tuple[str, int]


@dataclass(frozen=True, slots=True)
class ParticipantData:
    prefix: bytes
    meta: tuple[Address, ...]
    """Where its built-in endpoints listen."""
    default: tuple[Address, ...]
    lease_s: float
    endpoints: int
    tag: str


@dataclass(frozen=True, slots=True)
class EndpointData:
    guid: bytes
    topic: str
    kind: str
    reliable: bool
    addresses: tuple[Address, ...]
    """Its own; empty: its participant's."""
    user_data: bytes


# ---- reading


def parameters(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        pid, length = struct.unpack_from(order + "HH", data, at)
        if pid == END:
            return
        at += 4
        if length > len(data) - at:
            raise ValueError("a parameter is cut off")
        yield pid, data[at : at + length]
        at += length


def of_payload(payload: bytes) -> tuple[str, list[tuple[int, bytes]]]:
    """The byte order and the parameters of a discovery message."""
    order = PL_CDR.get(payload[:2])
    if order is None:
        raise ValueError("not a list of parameters")
    return order, list(parameters(payload[4:], order))


def participant_from(payload: bytes) -> ParticipantData:
    order, found = of_payload(payload)
    prefix, meta, default, lease, endpoints, tag = b"", [], [], NO_LEASE, 0, ""
    try:
        for pid, value in found:
            if pid == PARTICIPANT_GUID:
                prefix = value[:12]
            elif pid == META_UNICAST:
                meta += _address(value, order)
            elif pid == DEFAULT_UNICAST:
                default += _address(value, order)
            elif pid == LEASE:
                seconds, fraction = struct.unpack_from(order + "iI", value)
                lease = seconds + fraction / 2**32
            elif pid == ENDPOINTS:
                (endpoints,) = struct.unpack_from(order + "I", value)
            elif pid == DOMAIN_TAG:
                tag = _text(value, order)
    except struct.error:
        raise ValueError("a parameter is too short") from None
    if len(prefix) != 12 or not any(prefix):
        raise ValueError("a participant without identity")
    lease = min(max(lease, SHORTEST_LEASE), LONGEST_LEASE)
    return ParticipantData(prefix, tuple(meta[:MOST_ADDRESSES]), tuple(default[:MOST_ADDRESSES]), lease, endpoints, tag)


def endpoint_from(payload: bytes) -> EndpointData:
    order, found = of_payload(payload)
    guid, topic, kind, reliable, addresses, user_data = b"", "", "", False, [], b""
    try:
        for pid, value in found:
            if pid == ENDPOINT_GUID:
                guid = value[:16]
            elif pid == TOPIC_NAME:
                topic = _text(value, order)
            elif pid == TYPE_NAME:
                kind = _text(value, order)
            elif pid == RELIABILITY:
                reliable = struct.unpack_from(order + "I", value)[0] >= 2
            elif pid == UNICAST:
                addresses += _address(value, order)
            elif pid == USER_DATA:
                user_data = value[4 : 4 + MOST_TEXT]
    except struct.error:
        raise ValueError("a parameter is too short") from None
    if len(guid) != 16:
        raise ValueError("an endpoint without identity")
    return EndpointData(guid, topic, kind, reliable, tuple(addresses[:MOST_ADDRESSES]), user_data)


def gone(inline: bytes, order: str, payload: bytes) -> bytes:
    """The identity of who says that it ends; empty: nobody does."""
    found = dict(parameters(inline, order))
    status = found.get(STATUS, b"")
    if len(status) < 4 or not status[3] & 3:
        return b""
    if len(found.get(KEY_HASH, b"")) == 16:
        return found[KEY_HASH]
    keys = dict(of_payload(payload)[1])
    return keys.get(ENDPOINT_GUID) or keys.get(PARTICIPANT_GUID) or b""


def _address(value: bytes, order: str) -> list[Address]:
    kind, port = struct.unpack_from(order + "iI", value)
    if kind != UDP4 or len(value) < 24 or not 0 < port < 65536:
        return []  # shared memory, TCP, IPv6
    return [(socket.inet_ntoa(value[20:24]), port)]


def _text(value: bytes, order: str) -> str:
    (length,) = struct.unpack_from(order + "I", value)
    if length > MOST_TEXT or length > len(value) - 4:
        raise ValueError("a text is too long")
    return value[4 : 4 + length].rstrip(b"\0").decode("utf-8", "replace")


# ---- writing


def listed(*found: tuple[int, bytes]) -> bytes:
    """With the end of the list."""
    parts = []
    for pid, value in found:
        padded = value + bytes(-len(value) % 4)
        parts.append(struct.pack("<HH", pid, len(padded)) + padded)
    return b"".join(parts) + struct.pack("<HH", END, 0)


def text(value: str) -> bytes:
    data = value.encode() + b"\0"
    return struct.pack("<I", len(data)) + data


def sequence(value: bytes) -> bytes:
    return struct.pack("<I", len(value)) + value


def locator(address: Address) -> bytes:
    return struct.pack("<iI", UDP4, address[1]) + bytes(12) + socket.inet_aton(address[0])


def participant_payload(
    prefix: bytes, meta: Sequence[Address], default: Sequence[Address], lease_s: int, vendor: bytes
) -> bytes:
    return LITTLE + listed(
        (VERSION, b"\x02\x03"),
        (VENDOR_ID, vendor),
        (PARTICIPANT_GUID, prefix + PARTICIPANT),
        *((META_UNICAST, locator(address)) for address in meta),
        *((DEFAULT_UNICAST, locator(address)) for address in default),
        (LEASE, struct.pack("<iI", lease_s, 0)),
        (ENDPOINTS, struct.pack("<I", ANNOUNCER | DETECTOR | PUBLICATIONS | SUBSCRIPTIONS | LIVELINESS_WRITER)),
        (USER_DATA, sequence(b"enclave=/;")),
        (ENTITY_NAME, text("/")),
    )


def endpoint_payload(guid: bytes, topic: str, kind: str, user_data: str, *, latched: bool = False) -> bytes:
    """Of a reliable one; all else is as in DDS's defaults. `latched`: DDS's transient local."""
    return LITTLE + listed(
        (ENDPOINT_GUID, guid),
        (PARTICIPANT_GUID, guid[:12] + PARTICIPANT),
        (KEY_HASH, guid),
        (TOPIC_NAME, text(topic)),
        (TYPE_NAME, text(kind)),
        (RELIABILITY, struct.pack("<IiI", 2, 0, 0x19999999)),
        (DURABILITY, struct.pack("<I", latched)),
        (USER_DATA, sequence(user_data.encode())),
    )


def ending(guid: bytes) -> tuple[bytes, bytes]:
    """Inline parameters and payload of a message that says: I end."""
    inline = listed((KEY_HASH, guid), (STATUS, b"\x00\x00\x00\x03"))
    return inline, LITTLE + listed((PARTICIPANT_GUID, guid))


def related(guid: bytes, number: int) -> bytes:
    """Inline parameters of a reply to a sample."""
    identity = guid + struct.pack("<iI", number >> 32, number & 0xFFFFFFFF)
    return listed((RELATED, identity), (RELATED_OF_FAST_DDS, identity))


PARTICIPANT = b"\x00\x00\x01\xc1"
"""The entity of a participant itself."""
