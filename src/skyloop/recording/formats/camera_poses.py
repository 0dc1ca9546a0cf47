"""Selects the camera of a format, and gives its mount and its pose at each stamp."""

from __future__ import annotations

import numpy as np

from skyloop.core.frames import SENSOR_FROM_CAMERA, Transform, slerp
from skyloop.recording.recording import Recording
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Message
from skyloop_client.streams import StreamInfo

CAMERA_AXES = Transform(np.zeros(3), SENSOR_FROM_CAMERA)
CAMERAS = ("CameraImage", "DepthImage", "ImageTruth")
"""Records whose sensors have camera axes."""


def mount_of(info: StreamInfo) -> Transform:
    """body_from_sensor. For a camera, body_from_camera (right, down, forward)."""
    mount = Transform(info.mount.position, info.mount.quat_wxyz)
    return mount @ CAMERA_AXES if info.message in CAMERAS else mount


def colour_camera(recording: Recording) -> str | None:
    """The vehicle's first camera that is not grey, otherwise its first."""
    infos = [recording.infos[name] for name in recording.streams_of("CameraImage")]
    names = {info.name: info.details.get("mode") for info in infos if info.vehicle == recording.vehicle}
    return next((name for name in names if names[name] != "grey"), next(iter(names), None))


def imu_mount(recording: Recording, vehicle: str) -> Transform:
    """body_from_imu of a vehicle's first IMU, which is the body in EuRoC. The identity without an IMU."""
    for info in recording.infos.values():
        if info.message == "ImuSample" and info.vehicle == vehicle:
            return mount_of(info)
    return Transform.identity()


class CameraPoses:
    """world_from_camera, exact at images with recorded truth and at every state of the vehicle."""

    def __init__(self, recording: Recording, camera: str | None) -> None:
        """Poses of a camera's stream. None: of the first IMU."""
        self._states = f"truth/{recording.vehicle}"
        self._images = None if camera is None else f"truth/{camera}"
        self._mount: Transform | None = imu_mount(recording, recording.vehicle)
        if camera is not None:
            info = recording.infos[camera]
            self._mount = mount_of(info)
            if info.details.get("gimbal", "none") != "none":
                self._mount = None
                if self._images not in recording.infos:
                    raise DatasetError(
                        f"camera '{camera}' turns in a gimbal and its truth was not recorded; give it truth: [depth]"
                    )
        self._poses: dict[int, Transform] = {}

    def take(self, message: Message) -> None:
        data = message.data
        if message.stream == self._images:
            self._poses[message.t_ns] = Transform(data.position, data.quat_wxyz)
        elif message.stream == self._states and self._mount is not None and message.t_ns not in self._poses:
            self._poses[message.t_ns] = Transform(data.position, data.quat_wxyz) @ self._mount

    def all(self) -> list[tuple[int, Transform]]:
        """In the order of time."""
        return sorted(self._poses.items())

    def at(self, t_ns: int) -> Transform:
        """The known pose at this stamp, otherwise interpolated between its neighbours."""
        if t_ns in self._poses:
            return self._poses[t_ns]
        stamps = sorted(self._poses)
        if not stamps:
            raise DatasetError("no pose was recorded; record the vehicle's truth")
        after = int(np.clip(np.searchsorted(stamps, t_ns), 1, max(len(stamps) - 1, 1)))
        if len(stamps) == 1:
            return self._poses[stamps[0]]
        start, end = self._poses[stamps[after - 1]], self._poses[stamps[after]]
        share = float(np.clip((t_ns - stamps[after - 1]) / (stamps[after] - stamps[after - 1]), 0.0, 1.0))
        return Transform(
            start.position + share * (end.position - start.position), slerp(start.quat_wxyz, end.quat_wxyz, share)
        )


def seconds(t_ns: int) -> str:
    """Exact to the nanosecond."""
    return f"{t_ns // 1_000_000_000}.{t_ns % 1_000_000_000:09d}"
