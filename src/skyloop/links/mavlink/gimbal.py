"""The gimbal manager of MAVLink's gimbal protocol, for cameras on a gimbal: pitch, yaw, rates, region of interest.

Angles are those of the protocol: pitch upwards, yaw to the right, from the vehicle's heading or, if locked, from
north."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.wire import heading_from_yaw, yaw_from_heading
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S

MOST = 6
"""Largest number of gimbals without a MAVLink component of their own."""
LOWEST, HIGHEST = -math.pi / 2, math.pi / 2
LOCK = mavlink.GIMBAL_MANAGER_FLAGS_YAW_LOCK
NOBODY = (0, 0)
CAPABLE = (
    mavlink.GIMBAL_MANAGER_CAP_FLAGS_HAS_NEUTRAL | mavlink.GIMBAL_MANAGER_CAP_FLAGS_HAS_ROLL_LOCK
    | mavlink.GIMBAL_MANAGER_CAP_FLAGS_HAS_PITCH_AXIS | mavlink.GIMBAL_MANAGER_CAP_FLAGS_HAS_PITCH_LOCK
    | mavlink.GIMBAL_MANAGER_CAP_FLAGS_HAS_YAW_AXIS | mavlink.GIMBAL_MANAGER_CAP_FLAGS_HAS_YAW_FOLLOW
    | mavlink.GIMBAL_MANAGER_CAP_FLAGS_HAS_YAW_LOCK | mavlink.GIMBAL_MANAGER_CAP_FLAGS_SUPPORTS_INFINITE_YAW
    | mavlink.GIMBAL_MANAGER_CAP_FLAGS_CAN_POINT_LOCATION_GLOBAL
)  # fmt: skip


class GimbalDevice:
    """One camera on a gimbal."""

    def __init__(self, system: System, stream: str, number: int) -> None:
        self.number = number
        """Its gimbal_device_id, from 1."""
        self.name = stream.removeprefix(f"{system.port.name}/")
        self.primary = self.secondary = NOBODY
        """(system, component) in control."""
        self._system = system
        self.stream = stream
        self._rates = (0.0, 0.0)
        self._looks_at: Array | None = None

    # ---- requests of clients

    def check_control(self, peer: tuple[int, int]) -> None:
        if self.primary not in (NOBODY, peer):
            raise SetpointError(f"gimbal {self.number} is in the control of system {self.primary[0]}")

    def turn(self, pitch: float, yaw: float, rates: tuple[float, float], *, locked: bool) -> None:
        """rad and rad/s. A NaN angle means: turn at its rate from the current angle."""
        self._looks_at = None
        now_pitch, now_yaw, _ = self.angles(locked=locked)
        self._rates = tuple(  # type: ignore[assignment]
            rate if not math.isfinite(angle) and math.isfinite(rate) and abs(rate) < 100.0 else 0.0
            for angle, rate in zip((pitch, yaw), rates, strict=True)
        )
        pitch, yaw = pitch if math.isfinite(pitch) else now_pitch, yaw if math.isfinite(yaw) else now_yaw
        if abs(yaw) > 100.0:
            raise SetpointError(f"gimbal yaw of {math.degrees(yaw):g}°")
        self._put(pitch, yaw, locked=locked)

    def look_at(self, place: Array | None) -> None:
        """Track a world position until the next command. None stops it and looks forward."""
        self._looks_at, self._rates = place, (0.0, 0.0)
        if place is None:
            self._put(0.0, 0.0, locked=False)

    # ---- motion

    def tick(self, passed_s: float) -> None:
        if self._looks_at is not None:
            north_east = self._looks_at - self._system.state.position
            away = float(np.hypot(north_east[0], north_east[1]))
            heading = heading_from_yaw(math.atan2(north_east[1], north_east[0]))
            self._put(math.atan2(north_east[2], away), heading, locked=True)
        elif any(self._rates):
            pitch, yaw, locked = self.angles()
            self._put(pitch + passed_s * self._rates[0], yaw + passed_s * self._rates[1], locked=locked)

    def _put(self, pitch: float, yaw: float, *, locked: bool) -> None:
        pitch = min(max(pitch, LOWEST), HIGHEST)
        turned = yaw_from_heading(yaw) if locked else -math.remainder(yaw, 2.0 * math.pi)
        self._system.port.aim_camera(self.stream, -pitch, turned, follows=not locked)

    def angles(self, *, locked: bool | None = None) -> tuple[float, float, bool]:
        """Current pitch and yaw. Yaw is from north or from the heading, as requested or as locked."""
        aim = self._system.port.camera_aim(self.stream)
        assert aim is not None
        pitch, turned, follows = aim
        yaw = -turned if follows else heading_from_yaw(turned)
        held = not follows
        if locked is not None and locked != held:
            ahead = heading_from_yaw(self._system.yaw)
            yaw, held = math.remainder(yaw + (ahead if locked else -ahead), 2.0 * math.pi), locked
        return -pitch, yaw, held

    # ---- messages

    def information(self, ms: int) -> Any:
        return mavlink.MAVLink_gimbal_manager_information_message(
            ms, CAPABLE, self.number, 0.0, 0.0, LOWEST, HIGHEST, -math.pi, math.pi
        )

    def device_information(self, ms: int) -> Any:
        return mavlink.MAVLink_gimbal_device_information_message(
            ms, b"skyloop", self.name.encode()[:32], b"", 1, 1, self.number, CAPABLE & 0xFFFF, 0,
            0.0, 0.0, LOWEST, HIGHEST, -math.pi, math.pi, self.number,
        )  # fmt: skip

    def status(self, ms: int) -> Any:
        return mavlink.MAVLink_gimbal_manager_status_message(
            ms, self._flags, self.number, *self.primary, *self.secondary
        )

    def attitude(self, ms: int) -> Any:
        """The gimbal turns its camera without delay, so its rates are the commanded ones."""
        pitch, yaw, _ = self.angles()
        cp, sp, cy, sy = math.cos(pitch / 2), math.sin(pitch / 2), math.cos(yaw / 2), math.sin(yaw / 2)
        quat = [cp * cy, -sp * sy, sp * cy, cp * sy]
        return mavlink.MAVLink_gimbal_device_attitude_status_message(
            0, 0, ms, self._flags, quat, 0.0, *self._rates, 0, math.nan, math.nan, self.number
        )

    @property
    def _flags(self) -> int:
        _, _, locked = self.angles()
        level = mavlink.GIMBAL_DEVICE_FLAGS_ROLL_LOCK | mavlink.GIMBAL_DEVICE_FLAGS_PITCH_LOCK
        if locked:
            return int(level | LOCK | mavlink.GIMBAL_DEVICE_FLAGS_YAW_IN_EARTH_FRAME)
        return int(level | mavlink.GIMBAL_DEVICE_FLAGS_YAW_IN_VEHICLE_FRAME)


class GimbalManager:
    """All gimbals of a vehicle. Its autopilot component represents them."""

    def __init__(self, system: System) -> None:
        cameras = [
            info.name
            for info in system.bus.infos.values()
            if (info.vehicle, info.message) == (system.port.name, "CameraImage")
            and info.details.get("gimbal", "none") != "none"
        ]
        self.devices = [GimbalDevice(system, name, number + 1) for number, name in enumerate(cameras[:MOST])]
        self._system = system
        self._ticked_ns = system.now_ns

    def device_of(self, stream: str) -> int:
        """The gimbal_device_id of a camera's stream. 0 if it has no gimbal."""
        return next((device.number for device in self.devices if device.stream == stream), 0)

    def chosen(self, number: int) -> list[GimbalDevice]:
        """0 means all. Raises SetpointError if there is no such gimbal."""
        found = [device for device in self.devices if number in (0, device.number)]
        if not found:
            what = f"no gimbal {number}" if number else "no camera on a gimbal"
            raise SetpointError(f"there is {what}; write gimbal: roll-pitch for a camera in the scenario")
        return found

    def tick(self) -> None:
        passed = (self._system.now_ns - self._ticked_ns) / NS_PER_S
        self._ticked_ns = self._system.now_ns
        for device in self.devices:
            device.tick(max(passed, 0.0))

    def take(self, message: Any) -> None:
        """Handle GIMBAL_MANAGER_SET_PITCHYAW and _SET_ATTITUDE."""
        peer = message.get_srcSystem(), message.get_srcComponent()
        locked = bool(message.flags & LOCK)
        if message.get_type() == "GIMBAL_MANAGER_SET_PITCHYAW":
            pitch, yaw, rates = message.pitch, message.yaw, (message.pitch_rate, message.yaw_rate)
        else:
            pitch, yaw = _angles_of(message.q)
            rates = (message.angular_velocity_y, message.angular_velocity_z)
        for device in self.chosen(message.gimbal_device_id):
            device.check_control(peer)
            device.turn(pitch, yaw, rates, locked=locked)

    def messages(self, number: int, ms: int) -> Iterator[Any]:
        """The messages of a message id, one for each gimbal."""
        for device in self.devices:
            if number == mavlink.MAVLINK_MSG_ID_GIMBAL_MANAGER_INFORMATION:
                yield device.information(ms)
            elif number == mavlink.MAVLINK_MSG_ID_GIMBAL_DEVICE_INFORMATION:
                yield device.device_information(ms)
            elif number == mavlink.MAVLINK_MSG_ID_GIMBAL_MANAGER_STATUS:
                yield device.status(ms)
            elif number == mavlink.MAVLINK_MSG_ID_GIMBAL_DEVICE_ATTITUDE_STATUS:
                yield device.attitude(ms)


def _angles_of(quat: Any) -> tuple[float, float]:
    """Pitch and yaw, or NaN if the quaternion is invalid."""
    w, x, y, z = (float(value) for value in quat)
    if not all(math.isfinite(value) for value in (w, x, y, z)) or not 0.5 < math.hypot(w, x, y, z) < 2.0:
        return math.nan, math.nan
    n = math.hypot(w, x, y, z)
    w, x, y, z = w / n, x / n, y / n, z / n
    pitch = math.asin(min(max(2.0 * (w * y - z * x), -1.0), 1.0))
    return pitch, math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
