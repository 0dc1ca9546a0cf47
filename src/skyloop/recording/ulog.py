"""Writes PX4's log format (ULog) during a flight: https://docs.px4.io/main/en/dev_log/ulog_file_format.html."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

MAGIC = b"ULog\x01\x12\x35\x01"
CODES = {"uint64_t": "Q", "uint32_t": "I", "uint8_t": "B", "float": "f", "double": "d"}
FLUSH_BYTES = 1 << 16


class ULogWriter:
    """One log. Topics are declared first, each with a name and the name, type and length of its fields."""

    def __init__(self, path: Path, t_us: int, topics: Mapping[str, Sequence[tuple[str, str, int]]]) -> None:
        self.path = path
        self._file = path.open("wb")
        self._written = 0
        self._file.write(MAGIC + struct.pack("<Q", t_us))
        # flags of message kinds that a reader must know: none
        self._write("B", bytes(40))
        self._info("sys_name", "skyloop")
        self._numbers: dict[str, int] = {}
        self._forms: dict[str, struct.Struct] = {}
        for name, fields in topics.items():
            shown = "".join(f"{kind}{'' if n == 1 else f'[{n}]'} {field};" for field, kind, n in fields)
            self._write("F", f"{name}:uint64_t timestamp;{shown}".encode())
            self._forms[name] = struct.Struct("<Q" + "".join(f"{n}{CODES[kind]}" for _, kind, n in fields))
        for number, name in enumerate(topics):
            self._numbers[name] = number
            self._write("A", struct.pack("<BH", 0, number) + name.encode())

    def data(self, topic: str, t_us: int, *values: float) -> None:
        """Write a sample of a topic: its numbers in order."""
        self._write("D", struct.pack("<H", self._numbers[topic]) + self._forms[topic].pack(t_us, *values))

    def text(self, t_us: int, severity: int, text: str) -> None:
        self._write("L", struct.pack("<BQ", ord("0") + severity, t_us) + text.encode("utf-8", "replace")[:400])

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()

    def _info(self, name: str, value: str) -> None:
        key, data = f"char[{len(value)}] {name}".encode(), value.encode()
        self._write("I", bytes([len(key)]) + key + data)

    def _write(self, kind: str, data: bytes) -> None:
        self._file.write(struct.pack("<HB", len(data), ord(kind)) + data)
        self._written += len(data) + 3
        if self._written > FLUSH_BYTES:
            self._written = 0
            self._file.flush()
