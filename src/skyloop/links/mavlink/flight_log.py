"""Writes a ULog of each flight from arming to disarming, and serves MAVLink's log download protocol."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from skyloop.core.frames import frd_from_flu, ned_from_enu, quat_ned_frd_from_enu_flu
from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.wire import E7, PX4_MODES, heading_from_yaw
from skyloop.recording.ulog import ULogWriter

EVERY_NS = 50_000_000
"""Interval of the samples."""
CHUNK = 90
"""Bytes of log data in one LOG_DATA."""
CHUNKS_PER_TICK = 40
Send = Callable[[Any], None]
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


class FlightLog:
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
        place, velocity = system.geography.local_ned(state.position), ned_from_enu(state.velocity_world)
        writer.data("vehicle_local_position", t_us, *place, *velocity, heading_from_yaw(system.yaw))
        latitude, longitude, altitude = system.geography.global_int(state.position)
        writer.data("vehicle_global_position", t_us, latitude / E7, longitude / E7, altitude)
        writer.data("vehicle_status", t_us, NAV_STATES[mode], 2 if status.armed else 1, bool(status.failsafe))
        writer.data("battery_status", t_us, battery.voltage, battery.current, battery.state_of_charge)

    # ---- downloading

    def take(self, message: Any, send: Send) -> bool:
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

    def _list(self, message: Any, send: Send) -> None:
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
            with path.open("rb") as file:
                file.seek(first)
                data = file.read(min(CHUNKS_PER_TICK * CHUNK, max(end - first, 0)))
            for k in range(0, len(data), CHUNK) or [0]:
                part = data[k : k + CHUNK]
                told = list(part.ljust(CHUNK, b"\0"))
                send(mavlink.MAVLink_log_data_message(number, first + k, len(part), told))
            if first + len(data) >= end:
                del self._downloads[number]
            else:
                self._downloads[number] = (send, path, first + len(data), end)
