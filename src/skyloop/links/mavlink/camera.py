"""MAVLink's camera protocol. Each camera of a vehicle is its own component and takes images."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from pathlib import Path

from skyloop.core.frames import quat_from_euler, quat_multiply, quat_ned_frd_from_enu_flu
from skyloop.links.mavlink.dialect import MavMessage, Send, mavlink
from skyloop.links.mavlink.incoming_command import ACCEPTED, DENIED, UNSUPPORTED, MavCommand
from skyloop.links.mavlink.system import System
from skyloop.recording.formats.png_image import encode_png
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array, Message
from skyloop_client.streams import NS_PER_S, StreamInfo

FIRST, MOST_CAMERAS = mavlink.MAV_COMP_ID_CAMERA, 6
"""Component ids of cameras."""
KEPT = 1000
"""Number of recent images whose CAMERA_IMAGE_CAPTURED can be requested again."""
MIB = 1 << 20
MODES = (mavlink.CAMERA_MODE_IMAGE, mavlink.CAMERA_MODE_VIDEO)


class CameraComponent:
    """One camera. Everything here runs in the simulation's thread."""

    def __init__(
        self,
        system: System,
        info: StreamInfo,
        component: int,
        gimbal: int,
        folder: Path | None,
        tell: Callable[[MavMessage, int], None],
    ) -> None:
        """`folder` is where images are saved. `tell(message, component)` sends to all clients."""
        self.component = component
        self.info = info
        self.video_uri = ""
        """The address of its video stream, set by the link."""
        self._system = system
        self._gimbal = gimbal
        name = info.name.removeprefix(f"{system.port.name}/").replace("/", "-")
        self._folder = None if folder is None else folder / "captures" / f"{system.port.name}-{name}"
        self._tell = tell
        self._mode = mavlink.CAMERA_MODE_IMAGE
        self._wanted = 0
        """Number of images still to take. Negative: until a client stops it."""
        self._interval_ns = 0
        self._due_ns = 0
        self._count = 0
        self._taken: list[MavMessage] = []
        system.bus.on(info.name, self._on_image)

    # ---- taking images

    def start(self, interval_s: float, count: int) -> None:
        """Raises SetpointError if there is no folder for the images."""
        if self._folder is None:
            raise SetpointError("there is no run folder for pictures; fly with `skyloop mavlink`")
        if not 0.0 <= interval_s < 1e6 or (count != 1 and interval_s <= 0.0):
            raise SetpointError(f"pictures every {interval_s:g} s; give a positive interval")
        self._wanted, self._interval_ns = (count if count > 0 else -1), round(interval_s * NS_PER_S)
        self._due_ns = self._system.now_ns

    def stop(self) -> None:
        self._wanted = 0

    def _on_image(self, message: Message) -> None:
        """Save the first image that the sensor takes at or after the due time."""
        if not self._wanted or message.t_ns < self._due_ns:
            return
        self._due_ns += self._interval_ns
        self._wanted -= 1 if self._wanted > 0 else 0
        self._count += 1
        assert self._folder is not None
        path = self._folder / f"{self._count:05d}.png"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(encode_png(message.data.colour))
            kept = True
        except OSError:
            kept, self._wanted = False, 0
        captured = self._captured(path.relative_to(self._folder.parents[1]).as_posix(), kept=kept)
        self._taken = [*self._taken[-KEPT + 1 :], captured]
        self._tell(captured, self.component)

    def _captured(self, url: str, *, kept: bool) -> MavMessage:
        system = self._system
        latitude, longitude, altitude = system.geography.global_int(system.state.position)
        above = altitude - system.home_altitude
        quat = quat_ned_frd_from_enu_flu(self._attitude())
        return mavlink.MAVLink_camera_image_captured_message(
            system.ms, 0, self.component - FIRST + 1, latitude, longitude, round(1000 * altitude), round(1000 * above),
            list(quat), self._count - 1, int(kept), url.encode()[:204],
        )  # fmt: skip

    def _attitude(self) -> Array:
        """world_from_sensor according to the vehicle's own state."""
        aim = self._system.port.camera_aim(self.info.name)
        if aim is None:
            return quat_multiply(self._system.state.quat_wxyz, self.info.mount.quat_wxyz)
        pitch, yaw, follows = aim
        return quat_from_euler(0.0, pitch, yaw + self._system.yaw if follows else yaw)

    # ---- commands

    def command(self, command: MavCommand, send: Send) -> int:
        """Returns a MAV_RESULT. A SetpointError means denied, with a reason."""
        match command.number:
            case mavlink.MAV_CMD_REQUEST_MESSAGE:
                return self._request(command, send)
            case mavlink.MAV_CMD_SET_CAMERA_MODE:
                if command.integer(2) not in MODES:
                    return int(DENIED)
                self._mode = command.integer(2)
                self._tell(self._settings(), self.component)
            case mavlink.MAV_CMD_IMAGE_START_CAPTURE:
                interval = command.params[1] if math.isfinite(command.params[1]) else 0.0
                self.start(interval, command.integer(3))
            case mavlink.MAV_CMD_IMAGE_STOP_CAPTURE:
                self.stop()
            case mavlink.MAV_CMD_VIDEO_START_STREAMING | mavlink.MAV_CMD_VIDEO_STOP_STREAMING:
                # a viewer opens the address of the stream by itself
                return int(ACCEPTED if self.video_uri else UNSUPPORTED)
            case mavlink.MAV_CMD_RESET_CAMERA_SETTINGS:
                self._mode = mavlink.CAMERA_MODE_IMAGE
            case number if number in OLD_REQUESTS:
                send(self._message(OLD_REQUESTS[number]))
            case _:
                return int(UNSUPPORTED)
        return int(ACCEPTED)

    def _request(self, command: MavCommand, send: Send) -> int:
        number = command.integer(1)
        if number == mavlink.MAVLINK_MSG_ID_CAMERA_IMAGE_CAPTURED:
            wanted = command.integer(2)
            found = next((each for each in self._taken if each.image_index == wanted), None)
            if found is None:
                return int(DENIED)
            send(found)
            return int(ACCEPTED)
        message = self._message(number)
        if message is None:
            return int(UNSUPPORTED)
        send(message)
        return int(ACCEPTED)

    # ---- messages

    def _message(self, number: int) -> MavMessage:
        match number:
            case mavlink.MAVLINK_MSG_ID_HEARTBEAT:
                return self.heartbeat()
            case mavlink.MAVLINK_MSG_ID_CAMERA_INFORMATION:
                return self._information()
            case mavlink.MAVLINK_MSG_ID_CAMERA_SETTINGS:
                return self._settings()
            case mavlink.MAVLINK_MSG_ID_STORAGE_INFORMATION:
                return self._storage()
            case mavlink.MAVLINK_MSG_ID_CAMERA_CAPTURE_STATUS:
                return self._capture_status()
            case mavlink.MAVLINK_MSG_ID_VIDEO_STREAM_INFORMATION if self.video_uri:
                return self._stream_information()
            case mavlink.MAVLINK_MSG_ID_VIDEO_STREAM_STATUS if self.video_uri:
                return mavlink.MAVLink_video_stream_status_message(1, *self._picture())
            case _:
                return None

    @staticmethod
    def heartbeat() -> MavMessage:
        return mavlink.MAVLink_heartbeat_message(
            mavlink.MAV_TYPE_CAMERA, mavlink.MAV_AUTOPILOT_INVALID, 0, 0, mavlink.MAV_STATE_ACTIVE, 3
        )

    def _information(self) -> MavMessage:
        details = self.info.details
        flags = mavlink.CAMERA_CAP_FLAGS_HAS_MODES
        if self._folder is not None:
            flags |= mavlink.CAMERA_CAP_FLAGS_CAPTURE_IMAGE | mavlink.CAMERA_CAP_FLAGS_CAN_CAPTURE_IMAGE_IN_VIDEO_MODE
        if self.video_uri:
            flags |= mavlink.CAMERA_CAP_FLAGS_HAS_VIDEO_STREAM
        names = [list(text.encode()[:32].ljust(32, b"\0")) for text in ("skyloop", self.info.name)]
        return mavlink.MAVLink_camera_information_message(
            self._system.ms, *names, 1 << 24, math.nan, math.nan, math.nan, details["width"], details["height"],
            0, flags, 0, b"", self._gimbal, 0,
        )  # fmt: skip

    def _settings(self) -> MavMessage:
        return mavlink.MAVLink_camera_settings_message(self._system.ms, self._mode, math.nan, math.nan)

    def _storage(self) -> MavMessage:
        total = used = free = 0.0
        status = mavlink.STORAGE_STATUS_NOT_SUPPORTED
        if self._folder is not None:
            # the run folder itself, because the folder of the images may not exist yet
            usage = shutil.disk_usage(self._folder.parents[1])
            total, used, free = (part / MIB for part in usage)
            status = mavlink.STORAGE_STATUS_READY
        return mavlink.MAVLink_storage_information_message(
            self._system.ms, 1, 1, status, total, used, free, math.nan, math.nan, mavlink.STORAGE_TYPE_HD,
            b"run folder", mavlink.STORAGE_USAGE_FLAG_SET | mavlink.STORAGE_USAGE_FLAG_PHOTO,
        )  # fmt: skip

    def _capture_status(self) -> MavMessage:
        free = 0.0 if self._folder is None else shutil.disk_usage(self._folder.parents[1]).free / MIB
        status = 0 if not self._wanted else 1 if self._wanted == 1 else 3
        return mavlink.MAVLink_camera_capture_status_message(
            self._system.ms, status, 0, self._interval_ns / NS_PER_S, 0, free, self._count
        )

    def _picture(self) -> tuple[int, float, int, int, int, int, int]:
        """Flags, Hz, width px, height px, bit/s, rotation and field of view in degrees of the stream."""
        details, rate = self.info.details, self.info.rate
        hfov = 2.0 * math.degrees(math.atan2(details["width"], 2.0 * details["fx"]))
        hz = 0.0 if rate is None else rate.hz
        running = mavlink.VIDEO_STREAM_STATUS_FLAGS_RUNNING
        return running, hz, details["width"], details["height"], 0, 0, round(hfov)

    def _stream_information(self) -> MavMessage:
        name = self.info.name.encode()[:32]
        kind = mavlink.VIDEO_STREAM_TYPE_TCP_MPEG
        return mavlink.MAVLink_video_stream_information_message(
            1, 1, kind, *self._picture(), name, self.video_uri.encode()[:160], mavlink.VIDEO_STREAM_ENCODING_UNKNOWN
        )


OLD_REQUESTS = {
    mavlink.MAV_CMD_REQUEST_CAMERA_INFORMATION: mavlink.MAVLINK_MSG_ID_CAMERA_INFORMATION,
    mavlink.MAV_CMD_REQUEST_CAMERA_SETTINGS: mavlink.MAVLINK_MSG_ID_CAMERA_SETTINGS,
    mavlink.MAV_CMD_REQUEST_STORAGE_INFORMATION: mavlink.MAVLINK_MSG_ID_STORAGE_INFORMATION,
    mavlink.MAV_CMD_REQUEST_CAMERA_CAPTURE_STATUS: mavlink.MAVLINK_MSG_ID_CAMERA_CAPTURE_STATUS,
}
"""Messages that the commands before REQUEST_MESSAGE ask for."""
