"""Encodes records as bytes, for journals and links, and decodes them.

The bytes are the length of a msgpack value (4 bytes, little-endian), that value, and the raw bytes of its arrays, one
after the other. A record is a map of its fields with its class under "@". An array is an extension with its dtype, its
shape and its offset among the raw bytes, or in memory that both sides share. Only classes of `skyloop_client.messages`
are ever created, so bytes from an untrusted peer can at most be refused."""

from __future__ import annotations

import dataclasses
import functools
import math
import struct
from collections.abc import Callable, Mapping
from typing import Any

import msgpack
import numpy as np

from skyloop_client import messages
from skyloop_client.errors import CodecError
from skyloop_client.messages import Message
from skyloop_client.streams import Mount, Rate, StreamInfo

ARRAY = 1
"""msgpack extension type of an array."""
LENT_ARRAY = 2
"""msgpack extension type of an array in shared memory."""
LENGTH = struct.Struct("<I")
KINDS = "biufc"
"""numpy kinds that an array may have: booleans and numbers."""
RECORDS = {
    name: getattr(messages, name) for name in messages.__all__ if dataclasses.is_dataclass(getattr(messages, name))
}
FIELDS = {name: tuple(field.name for field in dataclasses.fields(kind)) for name, kind in RECORDS.items()}
MOST_ITEMS = 1 << 14
"""Most items of a list. Memory for a list is reserved before its items are read, and lists may be nested 1000 deep."""
MOST_OF_LAYOUT = 1000
"""Most bytes that describe an array: more than numpy's 64 dimensions need."""
PACKER_BYTES = 4096
"""Initial size. The library's own 256 kB cost more than most records."""


Lend = Callable[[memoryview], int | None]
"""Puts the bytes of an array into shared memory and returns where, or None if they are to be sent."""
Lent = Callable[[np.dtype[Any], tuple[int, ...], int, int], Any]
"""Gives the array of this dtype, shape and number of elements that begins there in shared memory."""


def encode(record: Any, lend: Lend | None = None) -> list[bytes | memoryview]:
    """A record of `skyloop_client.messages`, or plain data, as a list of parts to be written one after the other."""
    arrays: list[memoryview] = []
    start = 0

    def plain(value: Any) -> Any:
        nonlocal start
        if isinstance(value, np.ndarray):
            if value.dtype.kind not in KINDS:
                raise CodecError(f"an array of {value.dtype} cannot be encoded; give booleans or numbers")
            raw = np.ascontiguousarray(value)
            # memoryview cannot flatten an empty array
            data = raw.data.cast("B") if raw.size else memoryview(b"")
            if lend is not None and (place := lend(data)) is not None:
                return _array_head(LENT_ARRAY, value.dtype, value.shape, place)
            arrays.append(data)
            start += raw.nbytes
            return _array_head(ARRAY, value.dtype, value.shape, start - raw.nbytes)
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, str):
            # a member of an enumeration is encoded as its value
            return str(value)
        if isinstance(value, tuple):
            return list(value)
        if (fields := FIELDS.get(type(value).__name__)) is not None:
            return {"@": type(value).__name__, **{name: getattr(value, name) for name in fields}}
        if isinstance(value, Mapping):
            return dict(value)
        raise CodecError(f"a {type(value).__name__} cannot be encoded; give records of messages/ and plain data")

    packer = msgpack.Packer(default=plain, use_bin_type=True, strict_types=True, buf_size=PACKER_BYTES)
    head: bytes = packer.pack(record)
    return [LENGTH.pack(len(head)) + head, *arrays]


@functools.lru_cache(4096)
def _array_head(code: int, dtype: np.dtype[Any], shape: tuple[int, ...], start: int) -> Any:
    return msgpack.ExtType(code, msgpack.packb((dtype.str, shape, start)))


def size_of(record: Any) -> int:
    """Approximate size of a record in bytes: its arrays and texts, including nested records."""
    total = 0
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, np.ndarray):
                total += item.nbytes
            elif dataclasses.is_dataclass(item):
                total += size_of(item)
            else:
                total += len(item) if isinstance(item, str) else 8
    return total


def decode(data: bytes | memoryview, lent: Lent | None = None) -> Any:
    """The value that `encode` was given. Arrays are read-only views of `data` or of shared memory."""
    try:
        raw = memoryview(data).toreadonly()
        (length,) = LENGTH.unpack_from(raw)
        body = raw[LENGTH.size + length :]
        head = raw[LENGTH.size : LENGTH.size + length]
        return msgpack.unpackb(
            head,
            object_hook=_made,
            ext_hook=lambda code, ext: _array(code, ext, body, lent),
            max_array_len=min(MOST_ITEMS, length),
        )
    except CodecError:
        raise
    except Exception as error:
        raise CodecError(f"bytes that are no record: {type(error).__name__}: {error}") from None


def _array(code: int, data: bytes, body: memoryview, lent: Lent | None) -> Any:
    if code != ARRAY and (code != LENT_ARRAY or lent is None):
        raise CodecError(f"extension type {code} is not known")
    if len(data) > MOST_OF_LAYOUT:
        raise CodecError(f"an array whose description has {len(data)} bytes")
    dtype, shape, count, start = _array_layout(data)
    if code == LENT_ARRAY and lent is not None:
        return lent(dtype, shape, count, start)
    # np.ndarray with a buffer would take one call, but it trusts any offset and could read anywhere
    flat = np.frombuffer(body, dtype, count, start)
    return flat if len(shape) == 1 else flat.reshape(shape)


# images and scans of a rig repeat the same few layouts
@functools.lru_cache(4096)
def _array_layout(data: bytes) -> tuple[np.dtype[Any], tuple[int, ...], int, int]:
    name, shape, start = msgpack.unpackb(data)
    dtype = np.dtype(str(name))
    if dtype.kind not in KINDS or not all(isinstance(n, int) and n >= 0 for n in (*shape, start)):
        raise CodecError(f"an array of {name} and shape {shape} is not allowed")
    return dtype, tuple(shape), math.prod(shape), start


def _made(fields: dict[str, Any]) -> Any:
    if "@" not in fields:
        return fields
    name = fields["@"]
    # the writer may be newer: an unknown class stays a map
    if name not in RECORDS:
        return fields
    kind = RECORDS[name]
    known = ((field, fields[field]) for field in FIELDS[name] if field in fields)
    return kind(**{field: tuple(value) if isinstance(value, list) else value for field, value in known})


def encode_message(message: Message) -> list[bytes | memoryview]:
    return encode([message.stream, message.index, message.t_ns, message.arrival_ns, message.data])


def decode_message(data: bytes | memoryview) -> Message:
    parts = decode(data)
    if not (isinstance(parts, list) and len(parts) == 5 and isinstance(parts[0], str)):
        raise CodecError("bytes that are no message")
    if type(parts[4]).__name__ not in RECORDS:
        raise CodecError("a message that holds no record, or one of an unknown class")
    return Message(*parts)


def plain_info(info: StreamInfo) -> dict[str, Any]:
    """A StreamInfo as data for JSON, apart from infinities. `info_from` is the inverse."""
    return {
        "name": info.name,
        "message": info.message,
        "rate": None if info.rate is None else [info.rate.num, info.rate.den],
        "vehicle": info.vehicle,
        "latency_ns": info.latency_ns,
        "mount": {"position": info.mount.position.tolist(), "quat_wxyz": info.mount.quat_wxyz.tolist()},
        "details": dict(info.details),
    }


def info_from(data: Mapping[str, Any]) -> StreamInfo:
    try:
        mount = Mount(*(np.array(data["mount"][name], float) for name in ("position", "quat_wxyz")))
        rate = None if data["rate"] is None else Rate(*data["rate"])
        names = ("name", "message", "vehicle", "latency_ns", "details")
        name, message, vehicle, latency_ns, details = (data[key] for key in names)
    except (KeyError, TypeError, ValueError) as error:
        raise CodecError(f"a stream's description lacks or misstates {error}") from None
    return StreamInfo(name, message, rate, vehicle, latency_ns, mount, details)
