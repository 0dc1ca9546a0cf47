"""Curves that TensorBoard shows, written without its package.

An event file is a row of records: length, its checksum, the bytes, their checksum; the bytes are the protocol buffer
`Event` with `wall_time` (1), `step` (2), `file_version` (3) or `summary` (5), which holds tags and values.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path

from skyloop_client.errors import DatasetError

_POLYNOMIAL = 0x82F63B78
"""CRC-32C, reflected."""


def _table() -> list[int]:
    out = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
        out.append(crc)
    return out


_CRC = _table()


def masked_crc(data: bytes) -> int:
    """CRC-32C, rotated and shifted as TFRecord wants it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked_crc(length)) + data + struct.pack("<I", masked_crc(data))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def scalars(step: int, seconds: float, values: Mapping[str, float]) -> bytes:
    """An Event with one value per tag."""
    summary = b"".join(
        _field(1, _field(1, tag.encode()) + b"\x15" + struct.pack("<f", value)) for tag, value in values.items()
    )
    return b"\x09" + struct.pack("<d", seconds) + b"\x10" + _varint(step) + _field(5, summary)


class EventLog:
    """Appends to one event file; a resumed training goes on in the same file."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "events.out.tfevents.0.skyloop"
        if not self._path.exists():
            self._append(b"\x09" + struct.pack("<d", 0.0) + _field(3, b"brain.Event:2"))

    def add(self, step: int, seconds: float, values: Mapping[str, float]) -> None:
        """seconds: since the training began, in place of the wall clock's time."""
        self._append(scalars(step, seconds, values))

    def _append(self, event: bytes) -> None:
        try:
            with self._path.open("ab") as file:
                file.write(record(event))
        except OSError as error:
            raise DatasetError(f"cannot write '{self._path}': {error.strerror}") from None
