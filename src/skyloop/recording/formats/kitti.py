"""KITTI: clouds, images, labels, poses and calibration of the instants with both a cloud and an image.

The files serve both benchmarks: odometry (poses.txt, times.txt, calib.txt) and object detection (label_2, calib/). The
camera of image_2 is the reference camera, so P0 to P3 are equal and R0_rect is the identity."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skyloop.core.files import write_whole
from skyloop.core.frames import Transform
from skyloop.recording.formats.camera_poses import CameraPoses, colour_camera, imu_mount, mount_of, seconds
from skyloop.recording.formats.png_image import encode_png
from skyloop.recording.formats.registry import NothingForFormat, output_folder
from skyloop.recording.recording import Recording
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Array, ImageTruth, Label, Message
from skyloop_client.streams import StreamInfo

Parts = dict[str, Any]
"""Records of one frame, by kind."""
TYPES = {"person": "Pedestrian", "car": "Car"}
"""KITTI's names for our classes. All others are Misc."""
PARTLY, LARGELY = 0.1, 0.5
"""Hidden share of an object from which KITTI's `occluded` is 1, and 2."""


class Kitti:
    first_group = 0

    def __init__(self, recording: Recording) -> None:
        self._folder = output_folder(recording, "kitti")
        self._recording = recording
        self._camera = colour_camera(recording)
        lidars = [name for name in recording.streams_of("LidarScan")
                  if recording.infos[name].vehicle == recording.vehicle]  # fmt: skip
        self._lidar = next(iter(lidars), None)
        if self._camera is None and self._lidar is None:
            raise NothingForFormat(f"'{recording.folder}' has neither images nor clouds, which KITTI is made of")
        if self._camera is not None:
            _check_lens(recording.infos[self._camera])
        self._truth = None if self._camera is None else f"truth/{self._camera}"
        wanted = [self._camera, self._lidar, self._truth]
        self._parts = [name for name in wanted if name is not None and name in recording.infos]
        """The streams of a frame."""
        self._poses = CameraPoses(recording, self._camera)
        self._pending: dict[int, Parts] = {}
        """Incomplete frames, by stamp."""
        self._stamps: list[int] = []
        self._calibration = self._calibration_text()

    def add(self, messages: list[Message]) -> None:
        for message in messages:
            self._poses.take(message)
            if message.stream in self._parts:
                parts = self._pending.setdefault(message.t_ns, {})
                parts[message.stream] = message.data
                if len(parts) == len(self._parts):
                    self._write_frame(message.t_ns, parts)
                    self._pending = {t_ns: rest for t_ns, rest in self._pending.items() if t_ns > message.t_ns}

    def _write_frame(self, t_ns: int, parts: Parts) -> None:
        name = f"{len(self._stamps):06d}"
        self._stamps.append(t_ns)
        if self._lidar is not None:
            scan = parts[self._lidar]
            cloud = np.column_stack([scan.points, scan.intensities]).astype("<f4")
            write_whole(self._folder / "velodyne" / f"{name}.bin", cloud.tobytes())
        if self._camera is not None:
            write_whole(self._folder / "image_2" / f"{name}.png", encode_png(parts[self._camera].colour))
            write_whole(self._folder / "calib" / f"{name}.txt", self._calibration)
        if self._truth in parts:
            assert self._truth is not None
            write_whole(self._folder / "label_2" / f"{name}.txt", label_text(parts[self._truth]))

    def finish(self) -> None:
        if not self._stamps:
            raise DatasetError(f"no instant of '{self._recording.folder}' has all of {self._parts}; give them one rate")
        write_whole(self._folder / "times.txt", "".join(f"{seconds(t_ns)}\n" for t_ns in self._stamps))
        write_whole(self._folder / "calib.txt", self._calibration)
        poses = [self._poses.at(t_ns) for t_ns in self._stamps]
        first = poses[0].inverse()
        rows = [numbers((first @ pose).matrix()[:3]) for pose in poses]
        write_whole(self._folder / "poses.txt", "".join(f"{row}\n" for row in rows))

    def _calibration_text(self) -> str:
        infos = self._recording.infos
        body_from_imu = imu_mount(self._recording, self._recording.vehicle)
        projection = np.eye(3, 4)
        body_from_camera = body_from_imu
        if self._camera is not None:
            info = infos[self._camera]
            fx, fy, cx, cy = (float(info.details[name]) for name in ("fx", "fy", "cx", "cy"))
            projection[:, :3] = [[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]]
            body_from_camera = mount_of(info)
        lines = {f"P{camera}": projection for camera in range(4)}
        lines["R0_rect"] = np.eye(3)
        if self._lidar is not None:
            body_from_lidar = mount_of(infos[self._lidar])
            camera_from_lidar = (body_from_camera.inverse() @ body_from_lidar).matrix()[:3]
            lines |= {"Tr_velo_to_cam": camera_from_lidar, "Tr": camera_from_lidar}
            lines["Tr_imu_to_velo"] = (body_from_lidar.inverse() @ body_from_imu).matrix()[:3]
        return "".join(f"{name}: {numbers(matrix)}\n" for name, matrix in lines.items())


def _check_lens(info: StreamInfo) -> None:
    if info.details["model"] == "fisheye" or any(info.details["distortion"]):
        raise DatasetError(f"'{info.name}' has a lens that distorts, which KITTI has no place for; record a pinhole")
    if info.details["gimbal"] != "none":
        raise DatasetError(f"'{info.name}' turns in a gimbal, which KITTI's calibration has no place for")


def numbers(matrix: Array) -> str:
    return " ".join(repr(float(value) + 0.0) for value in matrix.ravel())


def label_text(truth: ImageTruth) -> str:
    camera = Transform(truth.position, truth.quat_wxyz).inverse()
    return "".join(f"{label_line(label, camera)}\n" for label in truth.labels)


def label_line(label: Label, camera_from_world: Transform) -> str:
    """One line of KITTI's 15 columns.

    KITTI's boxes are upright along the camera's y axis, ours in the world. Their centres are the same. The location is
    the centre moved down by half the height along that axis."""
    length, width, height = (float(value) for value in label.size)
    x, y, z = (float(value) for value in camera_from_world.apply(label.centre))
    world_turn = Transform(np.zeros(3), camera_from_world.quat_wxyz)
    ahead = world_turn.apply([math.cos(label.yaw), math.sin(label.yaw), 0.0])
    turn = math.atan2(-ahead[2], ahead[0])
    """About the camera's y axis, from its x axis."""
    seen = math.remainder(turn - math.atan2(x, z), math.tau)
    hidden = 0 if label.occlusion < PARTLY else 1 if label.occlusion < LARGELY else 2
    kind = TYPES.get(label.class_name, "Misc")
    box = " ".join(f"{float(edge):.2f}" for edge in label.box_px)
    pose = " ".join(f"{value:.4f}" for value in (height, width, length, x, y + 0.5 * height, z, turn))
    return f"{kind} {label.truncation:.2f} {hidden} {seen:.4f} {box} {pose}"
