"""Encodes records as bytes, for journals and links, and decodes them.

The bytes are the length of a msgpack value (4 bytes, little-endian), that value, and the raw bytes of its arrays, one
after the other. A record is a map of its fields with its class under "@". An array is an extension with its dtype, its
shape and its offset among the raw bytes, or in memory that both sides share. Only classes of `skyloop_client.messages`
and those given to `register` are ever created, so bytes from an untrusted peer can at most be refused."""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
import struct
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgpack
import numpy as np

from skyloop_client import messages
from skyloop_client.errors import CodecError
from skyloop_client.messages import Message
from skyloop_client.streams import Mount, Rate, StreamInfo

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

ARRAY = 1
"""msgpack extension type of an array."""
LENT_ARRAY = 2
"""msgpack extension type of an array in shared memory."""
LENGTH = struct.Struct("<I")
KINDS = "biufc"
"""numpy kinds that an array may have: booleans and numbers."""
RECORDS: dict[str, type] = {}
FIELDS: dict[str, tuple[str, ...]] = {}
FIELD_SETS: dict[str, frozenset[str]] = {}
KEYS: dict[str, tuple[str, ...]] = {}
READERS: dict[str, Callable[[object], tuple[object, ...]]] = {}
"""By class, a function that gives the values of a record's fields."""


def register(record: type) -> None:
    """Lets records of this class be encoded and decoded, by the name of the class: for classes outside of
    `skyloop_client.messages`. Both sides of a link need it."""
    name = record.__name__
    if not (dataclasses.is_dataclass(record) and record.__dataclass_params__.frozen):  # type: ignore[attr-defined]
        raise TypeError(f"the record class {name} is no frozen dataclass")
    fields = tuple(field.name for field in dataclasses.fields(record))
    if RECORDS.get(name, record) is not record:
        raise TypeError(f"there is another record class {name}")
    RECORDS[name], FIELDS[name], FIELD_SETS[name] = record, fields, frozenset(fields)
    KEYS[name], READERS[name] = ("@", *fields), _reader(fields)


def _reader(fields: tuple[str, ...]) -> Callable[[object], tuple[object, ...]]:
    if len(fields) > 1:
        return operator.attrgetter(*fields)
    return lambda record: tuple(getattr(record, field) for field in fields)


for _record in vars(messages).values():
    if isinstance(_record, type) and dataclasses.is_dataclass(_record):
        register(_record)

MOST_ITEMS = 1 << 14
"""Most items of a list. Memory for a list is reserved before its items are read, and lists may be nested 1000 deep."""
MOST_OF_LAYOUT = 1000
"""Most bytes that describe an array: more than numpy's 64 dimensions need."""
MOST_COPIED = 4096
"""Bytes of an array that is put beside the head: one part less to write costs less than the copy."""
PACKER_BYTES = 4096
"""Initial size. The library's own 256 kB cost more than most records."""


Lend = Callable[[memoryview], int | None]
"""Puts the bytes of an array into shared memory and returns where, or None if they are to be sent."""
Lent = Callable[[np.dtype[np.generic], tuple[int, ...], int, int], object]
"""Gives the array of this dtype, shape and number of bytes that begins there in shared memory."""


def encode(record: object, lend: Lend | None = None) -> list[bytes | memoryview]:
    """A record of `skyloop_client.messages`, or plain data, as a list of parts to be written one after the other."""
    arrays: list[bytes | memoryview] = []
    start = 0

    def plain(value: object) -> object:
        nonlocal start
        if isinstance(value, np.ndarray):
            if value.dtype.kind not in KINDS:
                raise CodecError(f"an array of {value.dtype} cannot be encoded; give booleans or numbers")
            size = value.nbytes
            if size <= MOST_COPIED:
                arrays.append(value.tobytes())
            else:
                data = np.ascontiguousarray(value).data.cast("B")
                if lend is not None and (at := lend(data)) is not None:
                    return _array_head(LENT_ARRAY, value.dtype, value.shape, at)
                arrays.append(data)
            start += size
            return _array_head(ARRAY, value.dtype, value.shape, start - size)
        if (name := type(value).__name__) in READERS:
            return dict(zip(KEYS[name], (name, *READERS[name](value)), strict=True))
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, str):
            # a member of an enumeration is encoded as its value
            return str(value)
        if isinstance(value, tuple):
            return list(value)
        if isinstance(value, Mapping):
            return dict(value)
        raise CodecError(f"a {name} cannot be encoded; give records of messages/ and plain data")

    packer = msgpack.Packer(default=plain, use_bin_type=True, strict_types=True, buf_size=PACKER_BYTES)
    head: bytes = packer.pack(record)
    return _joined([LENGTH.pack(len(head)), head, *arrays])


def _joined(parts: list[bytes | memoryview]) -> list[bytes | memoryview]:
    """The same bytes in fewer parts: small ones that follow each other become one."""
    joined: list[bytes | memoryview] = []
    small: list[bytes] = []
    for part in parts:
        if isinstance(part, bytes):
            small.append(part)
            continue
        joined += (b"".join(small), part) if small else (part,)
        small = []
    return [*joined, b"".join(small)] if small else joined


@functools.lru_cache(4096)
def _array_head(code: int, dtype: np.dtype[np.generic], shape: tuple[int, ...], start: int) -> object:
    return msgpack.ExtType(code, msgpack.packb((dtype.str, shape, start)))


def size_of(record: DataclassInstance) -> int:
    """Approximate size of a record in bytes: its arrays and texts, including nested records."""
    total = 0
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, np.ndarray):
                total += item.nbytes
            elif dataclasses.is_dataclass(item) and not isinstance(item, type):
                total += size_of(item)
            else:
                total += len(item) if isinstance(item, str) else 8
    return total


def decode(data: bytes | memoryview, lent: Lent | None = None) -> Any:
    """The value that `encode` was given. Arrays are read-only views of `data` or of shared memory.

    The bytes of arrays are not looked at, so that they may still be on their way."""
    try:
        raw = memoryview(data).toreadonly()
        (length,) = LENGTH.unpack_from(raw)
        body = raw[LENGTH.size + length :]
        room = len(body)

        def array(code: int, ext: bytes) -> object:
            dtype, shape, size, start = _array_layout(ext)
            if code == ARRAY:
                # checked here, because np.ndarray trusts any offset and could read anywhere
                if start + size > room:
                    raise CodecError(f"an array of {size} bytes at {start} of {room}")
                return np.ndarray(shape, dtype, body, start)
            if code == LENT_ARRAY and lent is not None:
                return lent(dtype, shape, size, start)
            raise CodecError(f"extension type {code} is not known")

        head = raw[LENGTH.size : LENGTH.size + length]
        return msgpack.unpackb(head, object_hook=_made, ext_hook=array, max_array_len=min(MOST_ITEMS, length))
    except CodecError:
        raise
    except Exception as error:
        raise CodecError(f"bytes that are no record: {type(error).__name__}: {error}") from None


# images and scans of a rig repeat the same few layouts
@functools.lru_cache(4096)
def _array_layout(data: bytes) -> tuple[np.dtype[np.generic], tuple[int, ...], int, int]:
    """dtype, shape, bytes and where they begin."""
    if len(data) > MOST_OF_LAYOUT:
        raise CodecError(f"an array whose description has {len(data)} bytes")
    name, shape, start = msgpack.unpackb(data)
    dtype = np.dtype(str(name))
    if dtype.kind not in KINDS or not all(isinstance(n, int) and n >= 0 for n in (*shape, start)):
        raise CodecError(f"an array of {name} and shape {shape} is not allowed")
    return dtype, tuple(shape), math.prod(shape) * dtype.itemsize, start


def _made(fields: dict[str, Any]) -> object:
    # the writer may be newer: an unknown class stays a map
    if "@" not in fields or (kind := RECORDS.get(name := fields["@"])) is None:
        return fields
    del fields["@"]
    if not fields.keys() <= FIELD_SETS[name]:
        fields = {field: fields[field] for field in FIELDS[name] if field in fields}
    for field, value in fields.items():
        if isinstance(value, list):
            fields[field] = tuple(value)
    return kind(**fields)


def encode_message(message: Message) -> list[bytes | memoryview]:
    return encode([message.stream, message.index, message.t_ns, message.arrival_ns, message.data])


def decode_message(data: bytes | memoryview) -> Message:
    parts = decode(data)
    if not (isinstance(parts, list) and len(parts) == 5 and isinstance(parts[0], str)):
        raise CodecError("bytes that are no message")
    if type(parts[4]).__name__ not in RECORDS:
        raise CodecError("a message that holds no record, or one of an unknown class")
    return Message(*parts)


def plain_info(info: StreamInfo) -> dict[str, object]:
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
