"""The run folder over MAVLink: a ULog of each flight with the log download protocol, and read-only file transfer."""

from __future__ import annotations

import struct
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from skyloop.core.frames import frd_from_flu, ned_from_enu, quat_ned_frd_from_enu_flu
from skyloop.links.mavlink.dialect import MavMessage, Send, mavlink, sender_of
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.wire import E7, PX4_MODES, heading_from_yaw
from skyloop.recording.ulog import ULogWriter
from skyloop_client.regular_files import opened, read_bytes

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


class _RefusedError(Exception):
    """Carries the error code."""


@dataclass(slots=True)
class _Burst:
    """A file that is being sent without being asked for each piece."""

    send: Send
    peer: tuple[int, int]
    session: int
    path: Path
    offset: int
    """The next byte."""
    number: int
    """The next sequence number."""
    size: int
    """Bytes of data in one message."""


class FileServer:
    """Serves one folder to all clients of a vehicle."""

    def __init__(self, folder: Path | None) -> None:
        self._root = None if folder is None else folder.resolve()
        self._sessions: dict[int, Path] = {}
        self._bursts: list[_Burst] = []

    @property
    def has_files(self) -> bool:
        return self._root is not None

    def take(self, message: MavMessage, send: Send) -> None:
        """Handle a FILE_TRANSFER_PROTOCOL message."""
        payload = bytes(message.payload)
        number, session, operation, size, _, _, offset = HEAD.unpack_from(payload)
        if operation in (ACK, NAK):
            return
        data = payload[HEAD.size : HEAD.size + min(size, MOST_DATA)]
        peer = sender_of(message)
        number = (number + 1) % 65536
        try:
            if operation == BURST:
                path = self._open_file(session)
                if offset >= path.stat().st_size:
                    raise _RefusedError(END_OF_FILE)
                self._bursts = [each for each in self._bursts if (each.session, each.peer) != (session, peer)]
                size = min(size, MOST_DATA) or MOST_DATA
                self._bursts.append(_Burst(send, peer, session, path, offset, number, size))
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
            most = CHUNKS_PER_TICK * burst.size
            try:
                with opened(burst.path) as file:
                    file.seek(burst.offset)
                    data = file.read(most + 1)
            except OSError:
                self._bursts.remove(burst)
                continue
            is_last, data = len(data) <= most, data[:most]
            for k in range(0, len(data), burst.size):
                over, part = is_last and k + burst.size >= len(data), data[k : k + burst.size]
                burst.send(
                    _message(burst.peer, burst.number, burst.session, ACK, BURST, burst.offset + k, part, over=over)
                )
                burst.number = (burst.number + 1) % 65536
            burst.offset += len(data)
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
                with opened(self._open_file(session)) as file:
                    file.seek(offset)
                    found = file.read(min(size, MOST_DATA))
                if not found:
                    raise _RefusedError(END_OF_FILE)
                return session, found
            case x if x == CRC:
                # as in PX4: the CRC starts with 0 and is not inverted at the end
                content = read_bytes(self._path(data))
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
) -> MavMessage:
    head = HEAD.pack(number, session, operation, len(data), asked, over, offset)
    payload = (head + data).ljust(HEAD.size + MOST_DATA, b"\0")
    return mavlink.MAVLink_file_transfer_protocol_message(0, *peer, list(payload))


# ---- flight logs


EVERY_NS = 50_000_000
"""Interval of the samples."""
CHUNK = 90
"""Bytes of log data in one LOG_DATA."""
LOG_CHUNKS_PER_TICK = 40
TOPICS: dict[str, list[tuple[str, str, int]]] = {
    "vehicle_attitude": [("q", "float", 4)],
    "vehicle_angular_velocity": [("xyz", "float", 3)],
    "vehicle_local_position": [(name, "float", 1) for name in ("x", "y", "z", "vx", "vy", "vz", "heading")],
    "vehicle_global_position": [("lat", "double", 1), ("lon", "double", 1), ("alt", "float", 1)],
    "vehicle_status": [("nav_state", "uint8_t", 1), ("arming_state", "uint8_t", 1), ("failsafe", "uint8_t", 1)],
    "battery_status": [("voltage_v", "float", 1), ("current_a", "float", 1), ("remaining", "float", 1)],
}
"""PX4's topic names, so that its tools find them. Axes are NED and FRD."""
NAV_STATES = {
    "position": 2, "mission": 3, "hold": 4, "rtl": 5, "takeoff": 17, "land": 18, "follow": 19, "offboard": 14,
    "orbit": 21,
}  # fmt: skip
"""PX4's navigation states by mode."""
assert NAV_STATES.keys() == PX4_MODES.keys()


class FlightLogs:
    """Writes `<folder>/log/<vehicle>-<n>.ulg` while the vehicle is armed."""

    def __init__(self, system: System, folder: Path | None) -> None:
        self._system = system
        self._folder = None if folder is None else folder / "log"
        self._writer: ULogWriter | None = None
        self._due_ns = 0
        self._downloads: dict[int, tuple[Send, Path, int, int]] = {}
        """By log: send function, data, next byte, end byte."""

    def files(self) -> list[Path]:
        """The existing logs, oldest first."""
        if self._folder is None or not self._folder.is_dir():
            return []
        if self._writer is not None:
            self._writer.flush()
        return sorted(self._folder.glob(f"{self._system.port.name}-*.ulg"))

    # ---- writing

    def tick(self, mode: str) -> None:
        """Write the current samples. A full disk ends the log but not the flight."""
        armed = self._system.port.status.armed
        try:
            if armed and self._writer is None and self._folder is not None:
                self._begin(self._folder)
            if self._writer is not None and self._system.now_ns >= self._due_ns:
                self._due_ns = self._system.now_ns + EVERY_NS
                self._sample(self._writer, mode)
            if self._writer is not None and not armed:
                self.close()
            self._send_on()
        except OSError:
            self._give_up()

    def note(self, severity: int, text: str) -> None:
        """Log a status text."""
        try:
            if self._writer is not None:
                self._writer.text(self._system.now_ns // 1000, severity, text)
        except OSError:
            self._give_up()

    def close(self) -> None:
        """The flight has ended or time has jumped. The next flight gets a new log."""
        self._due_ns = 0
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(OSError):
                writer.close()

    def _give_up(self) -> None:
        """The disk is full or the folder is gone: write no more logs."""
        self.close()
        self._folder = None
        self._downloads.clear()

    def _begin(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        path = folder / f"{self._system.port.name}-{len(self.files()) + 1:03d}.ulg"
        self._writer = ULogWriter(path, self._system.now_ns // 1000, TOPICS)
        self._due_ns = self._system.now_ns

    def _sample(self, writer: ULogWriter, mode: str) -> None:
        system = self._system
        state, status, battery, t_us = system.state, system.port.status, system.port.battery, system.now_ns // 1000
        writer.data("vehicle_attitude", t_us, *quat_ned_frd_from_enu_flu(state.quat_wxyz))
        writer.data("vehicle_angular_velocity", t_us, *frd_from_flu(state.angular_velocity_body))
        position, velocity = system.geography.local_ned(state.position), ned_from_enu(state.velocity_world)
        writer.data("vehicle_local_position", t_us, *position, *velocity, heading_from_yaw(system.yaw))
        latitude, longitude, altitude = system.geography.global_int(state.position)
        writer.data("vehicle_global_position", t_us, latitude / E7, longitude / E7, altitude)
        writer.data("vehicle_status", t_us, NAV_STATES[mode], 2 if status.armed else 1, bool(status.failsafe))
        writer.data("battery_status", t_us, battery.voltage, battery.current, battery.state_of_charge)

    # ---- downloading

    def take(self, message: MavMessage, send: Send) -> bool:
        """Returns True if the message belongs to this protocol."""
        match message.get_type():
            case "LOG_REQUEST_LIST":
                self._list(message, send)
            case "LOG_REQUEST_DATA":
                files = self.files()
                if message.id < len(files):
                    end = min(message.ofs + message.count, files[message.id].stat().st_size)
                    self._downloads[message.id] = (send, files[message.id], message.ofs, end)
            case "LOG_REQUEST_END":
                self._downloads.clear()
            case _:
                return False
        return True

    def _list(self, message: MavMessage, send: Send) -> None:
        files = self.files()
        last = max(len(files) - 1, 0)
        if not files:
            send(mavlink.MAVLink_log_entry_message(0, 0, 0, 0, 0))
        for number in range(message.start, min(message.end, last) + 1):
            if number < len(files):
                about = files[number].stat()
                entry = (number, len(files), last, int(about.st_mtime), about.st_size)
                send(mavlink.MAVLink_log_entry_message(*entry))

    def _send_on(self) -> None:
        """Send the next bytes of the running downloads. An empty message ends a download."""
        for number, (send, path, first, end) in list(self._downloads.items()):
            with opened(path) as file:
                file.seek(first)
                data = file.read(min(LOG_CHUNKS_PER_TICK * CHUNK, max(end - first, 0)))
            for k in range(0, len(data), CHUNK) or [0]:
                part = data[k : k + CHUNK]
                chunk = list(part.ljust(CHUNK, b"\0"))
                send(mavlink.MAVLink_log_data_message(number, first + k, len(part), chunk))
            if first + len(data) >= end:
                del self._downloads[number]
            else:
                self._downloads[number] = (send, path, first + len(data), end)
