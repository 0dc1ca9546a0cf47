"""TUM RGB-D: the trajectory of the colour camera, and its images with depth, listed by exact seconds."""

from __future__ import annotations

import numpy as np

from skyloop.core.files import write_whole
from skyloop.recording.formats.camera_poses import CameraPoses, colour_camera, seconds
from skyloop.recording.formats.png_image import depth_numbers, encode_png
from skyloop.recording.formats.registry import output_folder
from skyloop.recording.recording import Recording
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Message

PER_METRE = 5000.0
"""TUM's depth units per metre. The largest depth is 13.1 m."""
INTRINSICS = ("fx", "fy", "cx", "cy")


class Tum:
    first_group = 0

    def __init__(self, recording: Recording) -> None:
        self._folder = output_folder(recording, "tum")
        self._recording = recording
        self._camera = colour_camera(recording)
        self._depth = None if self._camera is None else depth_stream(recording, self._camera)
        self._poses = CameraPoses(recording, self._camera)
        self._stamps: dict[str, list[int]] = {"rgb": [], "depth": []}

    def add(self, messages: list[Message]) -> None:
        for message in messages:
            self._poses.take(message)
            if message.stream == self._camera:
                self._save("rgb", message.t_ns, encode_png(message.data.colour))
            if message.stream == self._depth and message.data.depth is not None:
                self._save("depth", message.t_ns, encode_png(depth_numbers(message.data.depth, PER_METRE)))

    def _save(self, kind: str, t_ns: int, content: bytes) -> None:
        write_whole(self._folder / kind / f"{seconds(t_ns)}.png", content)
        self._stamps[kind].append(t_ns)

    def finish(self) -> None:
        poses = self._poses.all()
        if not poses:
            raise DatasetError(
                f"'{self._recording.folder}' has no truth of '{self._recording.vehicle}' to write for TUM"
            )
        what = "the first IMU" if self._camera is None else f"camera {self._camera} (right, down, forward)"
        lines = [f"# ground truth trajectory of {what} in world axes (east, north, up)",
                 "# timestamp tx ty tz qx qy qz qw"]  # fmt: skip
        for t_ns, pose in poses:
            numbers = [*pose.position.tolist(), *np.roll(pose.quat_wxyz, -1).tolist()]
            lines.append(" ".join([seconds(t_ns), *(repr(number) for number in numbers)]))
        self._list("groundtruth.txt", lines)
        if self._camera is not None:
            details = self._recording.infos[self._camera].details
            lens = ", ".join(f"{name} {details[name]!r}" for name in INTRINSICS)
            lens += f", {details['model']} {list(details['distortion'])}"
            for kind, text in (("rgb", "colour images"), ("depth", f"depth maps, {PER_METRE:g} a metre, 0 is none")):
                names = [f"{seconds(t_ns)} {kind}/{seconds(t_ns)}.png" for t_ns in self._stamps[kind]]
                if names:
                    self._list(f"{kind}.txt", [f"# {text}", f"# {lens}", "# timestamp filename", *names])

    def _list(self, name: str, lines: list[str]) -> None:
        write_whole(self._folder / name, "".join(f"{line}\n" for line in lines))


def depth_stream(recording: Recording, camera: str) -> str | None:
    """Depth in the view of the camera: from a depth camera at the same mount, otherwise from the camera's truth."""
    eye = recording.infos[camera]
    for stream in recording.streams_of("DepthImage"):
        info = recording.infos[stream]
        same_place = (
            info.vehicle == eye.vehicle
            and np.allclose(info.mount.position, eye.mount.position, atol=1e-6)
            and np.allclose(info.mount.quat_wxyz, eye.mount.quat_wxyz, atol=1e-6)
        )
        same_lens = all(info.details[name] == eye.details[name] for name in (*INTRINSICS, "width", "height"))
        if same_place and same_lens and eye.details["model"] == "pinhole" and eye.details["gimbal"] == "none":
            return stream
    return f"truth/{camera}" if f"truth/{camera}" in recording.infos else None
