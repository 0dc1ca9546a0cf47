"""MAVLink's file transfer, read-only: the run folder of a flight with its logs and images."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyloop.links.mavlink.dialect import mavlink

HEAD = struct.Struct("<HBBBBBxI")
"""Sequence number, session, opcode, size, requested opcode, burst complete, offset."""
MOST_DATA = 239
MOST_SESSIONS = 4
CHUNKS_PER_TICK = 20
"""Chunks of a burst per tick."""
END_SESSION, RESET, LIST, OPEN, READ = 1, 2, 3, 4, 5
CRC, BURST = 14, 15
WRITING = (6, 7, 8, 9, 10, 11, 12, 13)
ACK, NAK = 128, 129
FAIL, BAD_SESSION, NO_SESSION, END_OF_FILE, UNKNOWN, PROTECTED, NOT_FOUND = 1, 4, 5, 6, 7, 9, 10
Send = Callable[[Any], None]


class _RefusedError(Exception):
    """Carries the error code."""


class FileServer:
    """Serves one folder to all clients of a vehicle."""

    def __init__(self, folder: Path | None) -> None:
        self._root = None if folder is None else folder.resolve()
        self._sessions: dict[int, Path] = {}
        self._bursts: list[list[Any]] = []
        """Running bursts: send function, client, session, path, next byte, next sequence number, size."""

    @property
    def has_files(self) -> bool:
        return self._root is not None

    def take(self, message: Any, send: Send) -> None:
        """Handle a FILE_TRANSFER_PROTOCOL message."""
        payload = bytes(message.payload)
        number, session, operation, size, _, _, offset = HEAD.unpack_from(payload)
        if operation in (ACK, NAK):
            return
        data = payload[HEAD.size : HEAD.size + min(size, MOST_DATA)]
        peer = message.get_srcSystem(), message.get_srcComponent()
        number = (number + 1) % 65536
        try:
            if operation == BURST:
                path = self._open_file(session)
                if offset >= path.stat().st_size:
                    raise _RefusedError(END_OF_FILE)
                self._bursts = [burst for burst in self._bursts if burst[2] != session or burst[1] != peer]
                self._bursts.append([send, peer, session, path, offset, number, min(size, MOST_DATA) or MOST_DATA])
                return
            session, answer = self._done(operation, session, offset, data, size)
            send(_message(peer, number, session, ACK, operation, offset, answer))
        except _RefusedError as refused:
            send(_message(peer, number, session, NAK, operation, offset, bytes([refused.args[0]])))
        except (OSError, ValueError):
            send(_message(peer, number, session, NAK, operation, offset, bytes([FAIL])))

    def tick(self) -> None:
        """Send the next bytes of every burst."""
        for burst in list(self._bursts):
            send, peer, session, path, offset, number, size = burst
            try:
                with path.open("rb") as file:
                    file.seek(offset)
                    data = file.read(CHUNKS_PER_TICK * size + 1)
            except OSError:
                self._bursts.remove(burst)
                continue
            is_last = len(data) <= CHUNKS_PER_TICK * size
            data = data[: CHUNKS_PER_TICK * size]
            for k in range(0, len(data), size):
                over = is_last and k + size >= len(data)
                send(_message(peer, number, session, ACK, BURST, offset + k, data[k : k + size], over=over))
                number = (number + 1) % 65536
            burst[4], burst[5] = offset + len(data), number
            if is_last:
                self._bursts.remove(burst)

    def _done(self, operation: int, session: int, offset: int, data: bytes, size: int) -> tuple[int, bytes]:
        """Execute an operation and return session and data of the answer."""
        if operation in WRITING:
            raise _RefusedError(PROTECTED)
        match operation:
            case 0:
                return session, b""
            case x if x == END_SESSION:
                self._sessions.pop(session, None)
                return session, b""
            case x if x == RESET:
                self._sessions.clear()
                self._bursts.clear()
                return session, b""
            case x if x == LIST:
                return session, self._list(self._path(data), offset)
            case x if x == OPEN:
                return self._open(self._path(data))
            case x if x == READ:
                with self._open_file(session).open("rb") as file:
                    file.seek(offset)
                    found = file.read(min(size, MOST_DATA))
                if not found:
                    raise _RefusedError(END_OF_FILE)
                return session, found
            case x if x == CRC:
                # as in PX4: the CRC starts with 0 and is not inverted at the end
                content = self._path(data).read_bytes()
                return session, struct.pack("<I", zlib.crc32(content, 0xFFFFFFFF) ^ 0xFFFFFFFF)
            case _:
                raise _RefusedError(UNKNOWN)

    def _path(self, data: bytes) -> Path:
        """The path of the request. A path outside the folder is refused."""
        if self._root is None:
            raise _RefusedError(NOT_FOUND)
        name = data.split(b"\0")[0].decode("utf-8", "replace")
        path = (self._root / name.lstrip("/")).resolve()
        if not path.is_relative_to(self._root) or not path.exists():
            raise _RefusedError(NOT_FOUND)
        return path

    def _list(self, path: Path, first: int) -> bytes:
        """As many entries as fit, beginning with the requested one."""
        if not path.is_dir():
            raise _RefusedError(NOT_FOUND)
        entries = sorted(path.iterdir())[first:]
        if not entries:
            raise _RefusedError(END_OF_FILE)
        out = b""
        for each in entries:
            line = f"D{each.name}" if each.is_dir() else f"F{each.name}\t{each.stat().st_size}"
            entry = line.encode("utf-8", "replace") + b"\0"
            if len(out) + len(entry) > MOST_DATA:
                break
            out += entry
        return out

    def _open(self, path: Path) -> tuple[int, bytes]:
        if not path.is_file():
            raise _RefusedError(NOT_FOUND)
        free = next((number for number in range(MOST_SESSIONS) if number not in self._sessions), None)
        if free is None:
            raise _RefusedError(NO_SESSION)
        self._sessions[free] = path
        return free, struct.pack("<I", min(path.stat().st_size, 0xFFFFFFFF))

    def _open_file(self, session: int) -> Path:
        if session not in self._sessions:
            raise _RefusedError(BAD_SESSION)
        return self._sessions[session]


def _message(
    peer: tuple[int, int],
    number: int,
    session: int,
    operation: int,
    asked: int,
    offset: int,
    data: bytes,
    *,
    over: bool = False,
) -> Any:
    head = HEAD.pack(number, session, operation, len(data), asked, over, offset)
    payload = (head + data).ljust(HEAD.size + MOST_DATA, b"\0")
    return mavlink.MAVLink_file_transfer_protocol_message(0, *peer, list(payload))
