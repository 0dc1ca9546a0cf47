"""The payload of a vehicle: cameras, each with its own component, and their gimbals."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyloop.links.mavlink.camera import FIRST, MOST, CameraComponent
from skyloop.links.mavlink.dialect import mavlink
from skyloop.links.mavlink.gimbal import LOCK, GimbalDevice, GimbalManager
from skyloop.links.mavlink.incoming_command import Command
from skyloop.links.mavlink.missions import Item
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.wire import E7, FRAMES_ABOVE_HOME
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S

AUTOPILOT = mavlink.MAV_COMP_ID_AUTOPILOT1
EVERY_NS = {"heartbeat": NS_PER_S, "attitude": NS_PER_S // 5, "status": 5 * NS_PER_S}
"""Interval of camera heartbeats, gimbal attitudes and gimbal manager status."""
TARGETING = mavlink.MAV_MOUNT_MODE_MAVLINK_TARGETING


class Payload:
    """The payload of one vehicle. It runs in the simulation's thread."""

    def __init__(self, system: System, folder: Path | None, tell: Callable[[Any, int], None]) -> None:
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
            for number, info in enumerate(seen[:MOST])
        }
        """By component."""
        self._system = system
        self._tell = tell
        self._due = dict.fromkeys(EVERY_NS, 0)

    @property
    def _ms(self) -> int:
        return self._system.now_ns // 1_000_000 % (1 << 32)

    def tick(self) -> None:
        self.gimbals.tick()
        if self._is_due("heartbeat"):
            for camera in self.cameras.values():
                self._tell(camera.heartbeat(), camera.component)
        for device in self.gimbals.devices if self._is_due("attitude") else []:
            self._tell(device.attitude(self._ms), AUTOPILOT)
        for device in self.gimbals.devices if self._is_due("status") else []:
            self._tell(device.status(self._ms), AUTOPILOT)

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

    def turn(self, command: Command) -> None:
        """DO_GIMBAL_MANAGER_PITCHYAW: degrees and degrees per second, flags in param 5, the gimbal in param 7."""
        pitch, yaw, *rates = (math.radians(value) for value in command.params)
        for device in self._controlled(command):
            device.turn(pitch, yaw, (rates[0], rates[1]), locked=bool(int(command.x) & LOCK))

    def configure(self, command: Command) -> None:
        """DO_GIMBAL_MANAGER_CONFIGURE sets the controlling system; -1 keeps it, -2 is the sender, -3 is none."""
        for device in self.gimbals.chosen(max(command.whole(7), 0)):
            device.primary = _control(device.primary, command.whole(1), command.whole(2), command.peer)
            device.secondary = _control(device.secondary, command.whole(3), command.whole(4), command.peer)
            self._tell(device.status(self._ms), AUTOPILOT)

    def look_at(self, command: Command, place: Array | None) -> None:
        """DO_SET_ROI_LOCATION and _NONE; the gimbal in param 1."""
        for device in self.gimbals.chosen(max(command.whole(1), 0)):
            device.check_control(command.peer)
            device.look_at(place)

    def _controlled(self, command: Command) -> list[GimbalDevice]:
        devices = self.gimbals.chosen(max(command.whole(7), 0))
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
                place = self._system.geography.enu_from_global(item.x / E7, item.y / E7, item.z + above)
                devices[0].look_at(place)
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
