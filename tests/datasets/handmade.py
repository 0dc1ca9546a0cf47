"""A recording made without a simulator, in three groups: an IMU, a small camera with its truth, a vehicle's state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skyloop.recording.journal import GroupWriter
from skyloop.recording.recording import Recording, create_recording
from skyloop_client.messages import CameraImage, ImageTruth, ImuSample, Label, Message, VehicleState
from skyloop_client.streams import Rate, StreamInfo

RATE_HZ, GROUP_FRAMES, FRAMES, FIRST = 10, 4, 10, 20
"""Frame 20 of the grid is the first that is recorded."""
SIZE = (24, 16)
"""px."""
LENS = {"width": 24, "height": 16, "fx": 12.0, "fy": 12.0, "cx": 11.5, "cy": 7.5}
INFOS = {
    info.name: info
    for info in (
        StreamInfo("drone/rgb0", "CameraImage", Rate(10), "drone", details=LENS),
        StreamInfo("truth/drone/rgb0", "ImageTruth", Rate(10), "drone", details=LENS),
        StreamInfo("drone/imu0", "ImuSample", Rate(200), "drone"),
        StreamInfo("truth/drone", "VehicleState", Rate(50), "drone"),
        StreamInfo("drone/events", "Event", None, "drone"),
    )
}
FACTS: dict[str, Any] = {
    "vehicle": "drone", "seed": 1, "frames": FRAMES, "rate_hz": 10.0, "group_frames": GROUP_FRAMES, "n_groups": 3,
    "scenario": {"name": "hand-made", "world": {"name": "none"}}, "versions": {"skyloop": "0"},
    "classes": ["sky", "person"],
}  # fmt: skip


def label(box: tuple[int, int, int, int] = (3, 4, 8, 11), visible: int = 48) -> Label:
    return Label(7, "walker", "person", box, visible, 0.25, 0.0, np.zeros(3), np.ones(3), 0.0, 5.0)


def data_of(stream: str, t_ns: int) -> Any:
    width, height = SIZE
    if stream == "drone/rgb0":
        return CameraImage(t_ns, np.full((height, width, 3), t_ns // 100_000_000, np.uint8))
    if stream == "truth/drone/rgb0":
        instances = np.zeros((height, width), np.int32)
        instances[4:12, 3:9] = 7
        return ImageTruth(t_ns, np.zeros(3), np.array([1.0, 0, 0, 0]), instances=instances, labels=(label(),))
    if stream == "drone/imu0":
        return ImuSample(t_ns, np.zeros(3), np.array([0.0, 0.0, 9.8]))
    level = np.array([1.0, 0.0, 0.0, 0.0])
    zero = np.zeros(3)
    return VehicleState(t_ns, zero, zero, level, zero, zero, zero, np.zeros(4), np.zeros(4), zero)


def messages_of(group: int) -> list[Message]:
    """All that is due in a group's frames, in the order of arrival."""
    start = Rate(RATE_HZ).due_ns(FIRST + group * GROUP_FRAMES)
    end = Rate(RATE_HZ).due_ns(FIRST + min((group + 1) * GROUP_FRAMES, FRAMES))
    out = []
    for stream, info in INFOS.items():
        if info.rate is not None:
            for index in range(info.rate.count_until(start), info.rate.count_until(end)):
                t_ns = info.rate.due_ns(index)
                out.append(Message(stream, index, t_ns, t_ns, data_of(stream, t_ns)))
    return sorted(out, key=lambda message: message.arrival_ns)


def write_group(recording: Recording, group: int, messages: list[Message], finish: bool = True) -> None:
    path = recording.group_path(group)
    path.unlink(missing_ok=True)
    writer = GroupWriter(path)
    for message in messages:
        writer.append(message)
    if finish:
        writer.finish()
    else:
        writer.close()


def make_recording(folder: Path) -> Recording:
    """A whole recording without formats."""
    recording = create_recording(folder, INFOS, FACTS)
    for group in range(3):
        write_group(recording, group, messages_of(group))
    return recording


@pytest.fixture
def made(tmp_path: Path) -> Recording:
    return make_recording(tmp_path / "dataset")
