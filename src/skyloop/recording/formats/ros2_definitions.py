"""ROS 2 messages as bytes: encoding in CDR (XCDR 1, little-endian), and their definitions as text."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from skyloop.recording.formats.ros2_fields import FIELDS as MESSAGES
from skyloop.recording.formats.ros2_service_fields import SERVICES

FIELDS = {**MESSAGES, **SERVICES}
"""By type, in the order they are sent."""
CODES = {
    "bool": "?", "byte": "B", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "uint64": "Q", "float32": "f", "float64": "d",
}  # fmt: skip
LITTLE_ENDIAN = b"\x00\x01\x00\x00"
"""The first bytes of every body. Alignment counts from after them."""
FIELD = re.compile(r"([\w/]+)(\[(\d*)\])? (\w+)")


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    kind: str
    """A key of CODES or FIELDS, or string."""
    packing: struct.Struct | None
    """struct code of numbers."""
    is_array: bool
    length: int | None
    """Length of a fixed array, or of a message that consists only of float64."""


@cache
def fields_of(kind: str) -> tuple[Field, ...]:
    fields = []
    for kind_of_one, brackets, length, name in FIELD.findall(FIELDS[kind]):
        if kind_of_one in FIELDS and not brackets and (doubles := _doubles_in(kind_of_one)):
            fields.append(Field(name, kind_of_one, struct.Struct("<d"), True, doubles))
        else:
            packing = struct.Struct("<" + CODES[kind_of_one]) if kind_of_one in CODES else None
            fields.append(Field(name, kind_of_one, packing, bool(brackets), int(length) if length else None))
    return tuple(fields)


def _doubles_in(kind: str) -> int:
    """The number of float64 in a message that consists only of float64, otherwise 0."""
    fields = fields_of(kind)
    if all(field.length if field.is_array else True for field in fields) and all(
        field.packing is not None and field.packing.format == "<d" for field in fields
    ):
        return sum(field.length or 1 for field in fields)
    return 0


def schema_name(kind: str) -> str:
    """With the kind of interface between package and name: messages are named here without it."""
    package, *folder, name = kind.split("/")
    return "/".join([package, *(folder or ["msg"]), name])


@cache
def schema_text(kind: str) -> str:
    """In the form of `ros2msg`: the fields, then the definition of every other type they need."""
    needed, left = [], [kind]
    while left:
        one = left.pop(0)
        if one not in needed:
            needed.append(one)
            left += [field.kind for field in fields_of(one) if field.kind in FIELDS]
    parts = ["\n".join(FIELDS[one].split(", ")) + "\n" for one in needed]
    heads = ["", *(f"{'=' * 80}\nMSG: {one}\n" for one in needed[1:])]
    return "".join(head + part for head, part in zip(heads, parts, strict=True))


def encode(kind: str, values: Sequence[Any]) -> bytes:
    """A message's bytes. `values` holds its fields in order, nested for messages within it.

    For a message that consists only of float64 (such as a pose and its covariance) it holds one row of them."""
    return bytes(encode_in_place(kind, values))


def encode_in_place(kind: str, values: Sequence[Any]) -> bytearray:
    """The same, without the last copy: a cloud has megabytes."""
    out = bytearray(LITTLE_ENDIAN)
    _put(out, kind, values)
    return out


def _put(out: bytearray, kind: str, values: Sequence[Any]) -> None:
    for field, value in zip(fields_of(kind), values, strict=True):
        if field.is_array:
            _put_array(out, field, value)
        elif field.packing is not None:
            _align(out, field.packing.size)
            out += field.packing.pack(value)
        elif field.kind == "string":
            _put_string(out, value)
        else:
            _put(out, field.kind, value)


def _put_array(out: bytearray, field: Field, value: Any) -> None:
    if field.packing is not None:
        numbers = np.ascontiguousarray(value, field.packing.format[1:]).reshape(-1)
        if field.length is None:
            _put_count(out, len(numbers))
        elif len(numbers) != field.length:
            raise ValueError(f"{field.name} takes {field.length} numbers, not {len(numbers)}")
        if len(numbers):
            _align(out, field.packing.size)
            out += numbers.data.cast("B")
        return
    _put_count(out, len(value))
    for one in value:
        if field.kind == "string":
            _put_string(out, one)
        else:
            _put(out, field.kind, one)


def _put_string(out: bytearray, text: str) -> None:
    data = text.encode() + b"\0"
    _put_count(out, len(data))
    out += data


def _put_count(out: bytearray, count: int) -> None:
    _align(out, 4)
    out += count.to_bytes(4, "little")


def _align(out: bytearray, size: int) -> None:
    # the header of 4 bytes does not count
    out += bytes(-(len(out) - len(LITTLE_ENDIAN)) % size)
