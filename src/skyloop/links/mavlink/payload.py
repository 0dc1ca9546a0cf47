"""The payload of a vehicle: cameras, each with its own component, and their gimbals with MAVLink's gimbal manager.

Angles of a gimbal are those of the protocol: pitch upwards, yaw to the right, from the vehicle's heading or, if locked,
from north."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from skyloop.links.mavlink.camera import FIRST, MOST_CAMERAS, CameraComponent
from skyloop.links.mavlink.dialect import MavMessage, mavlink, sender_of
from skyloop.links.mavlink.incoming_command import MavCommand
from skyloop.links.mavlink.missions import Item
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.wire import E7, FRAMES_ABOVE_HOME, heading_from_yaw, yaw_from_heading
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S

MOST_GIMBALS = 6
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
        pitch_rate, yaw_rate = (
            rate if not math.isfinite(angle) and math.isfinite(rate) and abs(rate) < 100.0 else 0.0
            for angle, rate in zip((pitch, yaw), rates, strict=True)
        )
        self._rates = pitch_rate, yaw_rate
        pitch, yaw = pitch if math.isfinite(pitch) else now_pitch, yaw if math.isfinite(yaw) else now_yaw
        if abs(yaw) > 100.0:
            raise SetpointError(f"gimbal yaw of {math.degrees(yaw):g}°")
        self._put(pitch, yaw, locked=locked)

    def look_at(self, position: Array | None) -> None:
        """Track a world position until the next command. None stops it and looks forward."""
        self._looks_at, self._rates = position, (0.0, 0.0)
        if position is None:
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

    def information(self) -> MavMessage:
        return mavlink.MAVLink_gimbal_manager_information_message(
            self._system.ms, CAPABLE, self.number, 0.0, 0.0, LOWEST, HIGHEST, -math.pi, math.pi
        )

    def device_information(self) -> MavMessage:
        return mavlink.MAVLink_gimbal_device_information_message(
            self._system.ms, b"skyloop", self.name.encode()[:32], b"", 1, 1, self.number, CAPABLE & 0xFFFF, 0,
            0.0, 0.0, LOWEST, HIGHEST, -math.pi, math.pi, self.number,
        )  # fmt: skip

    def status(self) -> MavMessage:
        return mavlink.MAVLink_gimbal_manager_status_message(
            self._system.ms, self._flags, self.number, *self.primary, *self.secondary
        )

    def attitude(self) -> MavMessage:
        """The gimbal turns its camera without delay, so its rates are the commanded ones."""
        pitch, yaw, _ = self.angles()
        cp, sp, cy, sy = math.cos(pitch / 2), math.sin(pitch / 2), math.cos(yaw / 2), math.sin(yaw / 2)
        quat = [cp * cy, -sp * sy, sp * cy, cp * sy]
        return mavlink.MAVLink_gimbal_device_attitude_status_message(
            0, 0, self._system.ms, self._flags, quat, 0.0, *self._rates, 0, math.nan, math.nan, self.number
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
        self.devices = [GimbalDevice(system, name, number + 1) for number, name in enumerate(cameras[:MOST_GIMBALS])]
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

    def take(self, message: MavMessage) -> None:
        """Handle GIMBAL_MANAGER_SET_PITCHYAW and _SET_ATTITUDE."""
        peer = sender_of(message)
        locked = bool(message.flags & LOCK)
        if message.get_type() == "GIMBAL_MANAGER_SET_PITCHYAW":
            pitch, yaw, rates = message.pitch, message.yaw, (message.pitch_rate, message.yaw_rate)
        else:
            pitch, yaw = _angles_of(message.q)
            rates = (message.angular_velocity_y, message.angular_velocity_z)
        for device in self.chosen(message.gimbal_device_id):
            device.check_control(peer)
            device.turn(pitch, yaw, rates, locked=locked)

    def messages(self, number: int) -> Iterator[MavMessage]:
        """The messages of a message id, one for each gimbal."""
        for device in self.devices:
            if number == mavlink.MAVLINK_MSG_ID_GIMBAL_MANAGER_INFORMATION:
                yield device.information()
            elif number == mavlink.MAVLINK_MSG_ID_GIMBAL_DEVICE_INFORMATION:
                yield device.device_information()
            elif number == mavlink.MAVLINK_MSG_ID_GIMBAL_MANAGER_STATUS:
                yield device.status()
            elif number == mavlink.MAVLINK_MSG_ID_GIMBAL_DEVICE_ATTITUDE_STATUS:
                yield device.attitude()


def _angles_of(quat: Sequence[float]) -> tuple[float, float]:
    """Pitch and yaw, or NaN if the quaternion is invalid."""
    w, x, y, z = (float(value) for value in quat)
    if not all(math.isfinite(value) for value in (w, x, y, z)) or not 0.5 < math.hypot(w, x, y, z) < 2.0:
        return math.nan, math.nan
    n = math.hypot(w, x, y, z)
    w, x, y, z = w / n, x / n, y / n, z / n
    pitch = math.asin(min(max(2.0 * (w * y - z * x), -1.0), 1.0))
    return pitch, math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


# ---- cameras and gimbals together


AUTOPILOT = mavlink.MAV_COMP_ID_AUTOPILOT1
EVERY_NS = {"heartbeat": NS_PER_S, "attitude": NS_PER_S // 5, "status": 5 * NS_PER_S}
"""Interval of camera heartbeats, gimbal attitudes and gimbal manager status."""
TARGETING = mavlink.MAV_MOUNT_MODE_MAVLINK_TARGETING


class Payload:
    """The payload of one vehicle. It runs in the simulation's thread."""

    def __init__(self, system: System, folder: Path | None, tell: Callable[[MavMessage, int], None]) -> None:
        """`tell(message, component)` sends to all clients."""
        self.gimbals = GimbalManager(system)
        seen = [
            info
            for info in system.bus.infos.values()
            if (info.vehicle, info.message) == (system.port.name, "CameraImage") and not info.name.startswith("truth/")
        ]
        self.cameras = {
            FIRST + number: CameraComponent(
                system, info, FIRST + number, self.gimbals.device_of(info.name), folder, tell
            )
            for number, info in enumerate(seen[:MOST_CAMERAS])
        }
        """By component."""
        self._system = system
        self._tell = tell
        self._due = dict.fromkeys(EVERY_NS, 0)

    def tick(self) -> None:
        self.gimbals.tick()
        if self._is_due("heartbeat"):
            for camera in self.cameras.values():
                self._tell(camera.heartbeat(), camera.component)
        for device in self.gimbals.devices if self._is_due("attitude") else []:
            self._tell(device.attitude(), AUTOPILOT)
        for device in self.gimbals.devices if self._is_due("status") else []:
            self._tell(device.status(), AUTOPILOT)

    def _is_due(self, what: str) -> bool:
        now = self._system.now_ns
        if now < self._due[what]:
            return False
        self._due[what] = now + EVERY_NS[what]
        return True

    def restart(self) -> None:
        """Time has jumped: all messages are due."""
        self._due = dict.fromkeys(EVERY_NS, 0)

    # ---- gimbals

    def turn(self, command: MavCommand) -> None:
        """DO_GIMBAL_MANAGER_PITCHYAW: degrees and degrees per second, flags in param 5, the gimbal in param 7."""
        pitch, yaw, *rates = (math.radians(value) for value in command.params)
        for device in self._controlled(command):
            device.turn(pitch, yaw, (rates[0], rates[1]), locked=bool(int(command.x) & LOCK))

    def configure(self, command: MavCommand) -> None:
        """DO_GIMBAL_MANAGER_CONFIGURE sets the controlling system; -1 keeps it, -2 is the sender, -3 is none."""
        for device in self.gimbals.chosen(max(command.integer(7), 0)):
            device.primary = _control(device.primary, command.integer(1), command.integer(2), command.peer)
            device.secondary = _control(device.secondary, command.integer(3), command.integer(4), command.peer)
            self._tell(device.status(), AUTOPILOT)

    def look_at(self, command: MavCommand, position: Array | None) -> None:
        """DO_SET_ROI_LOCATION and _NONE; the gimbal in param 1."""
        for device in self.gimbals.chosen(max(command.integer(1), 0)):
            device.check_control(command.peer)
            device.look_at(position)

    def _controlled(self, command: MavCommand) -> list[GimbalDevice]:
        devices = self.gimbals.chosen(max(command.integer(7), 0))
        for device in devices:
            device.check_control(command.peer)
        return devices

    # ---- items of a mission

    def do(self, item: Item) -> bool:
        """Execute a payload item of a mission. Returns False if there is no such payload."""
        number, params = item.command, item.params
        devices, camera = self.gimbals.devices, next(iter(self.cameras.values()), None)
        try:
            if number == mavlink.MAV_CMD_DO_GIMBAL_MANAGER_PITCHYAW and devices:
                for device in self.gimbals.chosen(int(item.z) if 0.0 <= item.z <= 6.0 else 0):
                    pitch, yaw, *rates = (math.radians(value) for value in params)
                    device.turn(pitch, yaw, (rates[0], rates[1]), locked=bool(item.x & LOCK))
            elif number == mavlink.MAV_CMD_DO_MOUNT_CONTROL and devices and item.z == TARGETING:
                devices[0].turn(math.radians(params[0]), math.radians(params[2]), (0.0, 0.0), locked=False)
            elif number == mavlink.MAV_CMD_DO_SET_ROI_LOCATION and devices:
                above = self._system.home_altitude if item.frame in FRAMES_ABOVE_HOME else 0.0
                position = self._system.geography.enu_from_global(item.x / E7, item.y / E7, item.z + above)
                devices[0].look_at(position)
            elif number == mavlink.MAV_CMD_DO_SET_ROI_NONE and devices:
                devices[0].look_at(None)
            elif number == mavlink.MAV_CMD_IMAGE_START_CAPTURE and camera is not None:
                interval, count = (value if math.isfinite(value) else 0.0 for value in params[1:3])
                camera.start(interval, int(count))
            elif number == mavlink.MAV_CMD_IMAGE_STOP_CAPTURE and camera is not None:
                camera.stop()
            else:
                return False
        except SetpointError:
            return False
        return True


def _control(now: tuple[int, int], system: int, component: int, peer: tuple[int, int]) -> tuple[int, int]:
    if system == -2:
        return peer
    if system == -3:
        return (0, 0)
    return now if system < 0 else (system, max(component, 0))
