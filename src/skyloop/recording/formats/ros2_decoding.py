"""Reads ROS 2 messages from CDR (XCDR 1). Bytes come from strangers: whatever is wrong raises ValueError."""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

import numpy as np

from skyloop.recording.formats.ros2_definitions import CODES, FIELD, FIELDS

MOST_ITEMS = 1 << 20
"""Of a sequence that is read item by item, such as poses of a path."""
Values = dict[str, Any]
"""A message: its fields by name, messages within it likewise. Arrays of numbers are numpy arrays."""


def decode(kind: str, data: bytes | memoryview) -> Values:
    """A message from its bytes with the header of four bytes. Bytes after its end are padding."""
    if len(data) < 4 or data[0] != 0 or data[1] not in (0, 1):
        raise ValueError(f"{kind}: not CDR")
    reader = _Reader(memoryview(data)[4:], "<" if data[1] else ">")
    try:
        return reader.message(kind)
    except (struct.error, IndexError) as error:
        raise ValueError(f"{kind}: too short: {error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{kind}: a text is not UTF-8") from None


@cache
def _fields(kind: str) -> tuple[tuple[str, str, bool, int | None], ...]:
    """Kind of one, name, whether it is an array, length of a fixed one."""
    return tuple(
        (one, name, bool(brackets), int(length) if length else None)
        for one, brackets, length, name in FIELD.findall(FIELDS[kind])
    )


class _Reader:
    def __init__(self, data: memoryview, order: str) -> None:
        self._data, self._order = data, order
        self._at = 0

    def message(self, kind: str) -> Values:
        return {
            name: self._array(one, length) if is_array else self._one(one)
            for one, name, is_array, length in _fields(kind)
        }

    def _one(self, kind: str) -> Any:
        if kind in CODES:
            return self._number(CODES[kind])
        return self._text() if kind == "string" else self.message(kind)

    def _number(self, code: str) -> Any:
        size = struct.calcsize(code)
        self._at += -self._at % size
        (value,) = struct.unpack_from(self._order + code, self._data, self._at)
        self._at += size
        return value

    def _text(self) -> str:
        length = self._number("I")
        data = self._bytes(length)
        if not length or data[-1]:
            raise ValueError("a text has no end")
        return bytes(data[:-1]).decode()

    def _bytes(self, length: int) -> memoryview:
        if length > len(self._data) - self._at:
            raise ValueError(f"{length} bytes are promised and {len(self._data) - self._at} are there")
        self._at += length
        return self._data[self._at - length : self._at]

    def _array(self, kind: str, length: int | None) -> Any:
        count = self._number("I") if length is None else length
        if kind not in CODES:
            # every item has at least one byte
            if count > min(MOST_ITEMS, len(self._data) - self._at):
                raise ValueError(f"{count} items are promised")
            return [self._one(kind) for _ in range(count)]
        dtype = np.dtype(self._order + CODES[kind])
        if count:
            self._at += -self._at % dtype.itemsize
        return np.frombuffer(self._bytes(count * dtype.itemsize), dtype).astype(dtype.newbyteorder("="))
