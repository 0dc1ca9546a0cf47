"""The ROS 2 node: what it costs to feed one subscriber, how late images are, and 1 MB messages beside bare DDS."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skyloop.links.ros2.settings import Ros2Settings
from skyloop.recording.ros2.tf_frames import header
from skyloop.recording.ros2.types import encode, sensor_msgs
from skyloop.recording.ros2.views import views_of
from skyloop_client.errors import LinkError
from skyloop_client.messages import CameraImage, DepthImage, ImuSample, LidarScan
from skyloop_client.streams import Rate, StreamInfo
from skyloop_papers.benchmarks.measurement import RATIO, Measurement, Measurements, lower
from skyloop_papers.benchmarks.peers import dds_subscriber, dds_writer
from skyloop_papers.processes import child, line_of, result_of

if TYPE_CHECKING:
    from skyloop.links.ros2.participant import Participant

DOMAIN = 231
WIDTH, HEIGHT, POINTS = 320, 240, 10_000
IMAGES_HZ, IMU_HZ = 30, 250
BIG = 1_000_000
"""Bytes of the messages that are sent beside bare DDS."""
BIG_COUNT = 200
LENS = {"width": WIDTH, "height": HEIGHT, "fx": 160.0, "fy": 160.0, "cx": 159.5, "cy": 119.5}
KINDS = {
    "/drone/rgb/image_raw": "sensor_msgs/Image", "/drone/depth/image_raw": "sensor_msgs/Image",
    "/drone/lidar/points": "sensor_msgs/PointCloud2", "/drone/imu": "sensor_msgs/Imu",
    "/big": "sensor_msgs/CompressedImage",
}  # fmt: skip


def ros2(seconds: float = 10.0) -> Measurements:
    """The ROS 2 node: its share of a core, the latency of images, and 1 MB messages beside bare DDS."""
    share, late_ms, sent, came = _stream(seconds)
    # by turns, and the best of each: other programs of the machine only ever slow one down
    turns = [(_big(_send_encoded), _big(_send_bare)) for _ in range(3)]
    ours, bare = (max(speeds) for speeds in zip(*turns, strict=True))
    note = f"{sent} images, depths, clouds and IMU samples sent, {came} came; {WIDTH} x {HEIGHT}, {POINTS} points"
    against = f"{ours:,.0f} against {bare:,.0f} MB/s of a bare Cyclone writer, messages of 1 MB"
    yield lower("cpu_share", share, "of a core", 0.15, note)
    yield lower("image_latency_p99_ms", late_ms, "ms", 10.0, "from the record to the subscriber's hands")
    yield Measurement("vs_raw_dds", ours / bare, RATIO, 0.5, against)


def _participant() -> Participant:
    from skyloop.links.ros2.participant import Participant

    return Participant(Ros2Settings(domain=DOMAIN))


def _stream(seconds: float) -> tuple[float, float, int, int]:
    """Records of a flight, made once, sent at their rates in real time: what conversion, encoding and sending cost."""
    infos = {
        "drone/rgb": StreamInfo("drone/rgb", "CameraImage", Rate(IMAGES_HZ), "drone", details=LENS),
        "drone/depth": StreamInfo("drone/depth", "DepthImage", Rate(IMAGES_HZ), "drone", details=LENS),
        "drone/lidar": StreamInfo("drone/lidar", "LidarScan", Rate(IMAGES_HZ), "drone"),
        "drone/imu": StreamInfo("drone/imu", "ImuSample", Rate(IMU_HZ), "drone"),
    }
    records = _records()
    participant = _participant()
    writers = {
        view.topic_of(info): participant.writer(view.topic_of(info), view.kind, "sensor")
        for info in infos.values()
        for view in views_of(info)
    }
    kinds = {topic: kind for topic, kind in KINDS.items() if topic != "/big"}
    with closing(participant), _node(dds_subscriber, kinds) as listener:
        _wait(lambda: all(writers[topic].is_wanted for topic in kinds))
        began, used, sent = time.perf_counter(), _processor_time(participant), 0
        for k in range(round(seconds * IMU_HZ)):
            pause = began + k / IMU_HZ - time.perf_counter()
            if pause > 0.0:
                time.sleep(pause)
            streams = ["drone/imu"]
            if k * IMAGES_HZ // IMU_HZ != (k - 1) * IMAGES_HZ // IMU_HZ:
                streams += ["drone/rgb", "drone/depth", "drone/lidar"]
            for stream in streams:
                record = replace(records[stream], t_ns=time.time_ns())
                for view in views_of(infos[stream]):
                    writer = writers[view.topic_of(infos[stream])]
                    if writer.is_wanted:
                        writer.send(encode(view.make(infos[stream], record)))
                        sent += 1
        share = (_processor_time(participant) - used) / (time.perf_counter() - began)
        heard = result_of(listener, "bench ros2: the subscriber")
    if not heard["late"]:
        raise LinkError("bench ros2: no image came to the subscriber")
    return share, float(np.percentile(heard["late"], 99)) / 1e6, sent, sum(heard["counts"].values())


def _processor_time(participant: Participant) -> float:
    """s of this process and of the one that speaks DDS."""
    fields = Path(f"/proc/{participant.process_id}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _records() -> dict[str, Any]:
    chance = np.random.default_rng(1)
    points = chance.uniform(-20.0, 20.0, (POINTS, 3)).astype(np.float32)
    ones = np.ones(POINTS, np.float32)
    zeros = np.zeros(POINTS, np.int64)
    scan = LidarScan(
        t_ns=0, points=points, ranges=ones, intensities=ones, rings=zeros.astype(np.uint16), offsets_ns=zeros,
        classes=zeros.astype(np.uint8), instances=zeros.astype(np.int32),
    )  # fmt: skip
    return {
        "drone/rgb": CameraImage(0, chance.integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)),
        "drone/depth": DepthImage(0, chance.uniform(0.0, 20.0, (HEIGHT, WIDTH)).astype(np.float32)),
        "drone/lidar": scan,
        "drone/imu": ImuSample(0, np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.1, 9.8])),
    }


def _big(send: Callable[[], None]) -> float:
    """MB/s of reliable messages of 1 MB, as they come to a subscriber without our code."""
    with _node(dds_subscriber, {"/big": KINDS["/big"]}) as listener:
        send()
        time.sleep(0.5)
        heard = result_of(listener, "bench ros2: the subscriber")
    count = heard["counts"]["/big"]
    if count < BIG_COUNT / 2:
        raise LinkError(f"bench ros2: {count} of {BIG_COUNT} messages of 1 MB came")
    return float((count - 1) * BIG / 1e6 / (heard["span"]["/big"] / 1e9))


def _send_encoded() -> None:
    """As the link does: from a record, with our encoder."""
    with closing(_participant()) as participant:
        # a flight drops what a slow subscriber has no room for; here every message must come, as from the bare writer
        writer = participant.writer("/big", "sensor_msgs/msg/CompressedImage", "whole")
        pixels = np.zeros(BIG, np.uint8)
        _wait(lambda: writer.is_wanted)
        time.sleep(0.3)
        for k in range(BIG_COUNT):
            writer.send(encode(sensor_msgs.CompressedImage(header(k * 10**9, ""), "jpeg", pixels)))
        time.sleep(0.5)


def _send_bare() -> None:
    with _node(dds_writer, {"/big": KINDS["/big"]}, BIG, BIG_COUNT) as writer:
        line_of(writer)
        time.sleep(0.5)


@contextmanager
def _node(function: Callable[..., object], kinds: dict[str, str], *more: int) -> Iterator[subprocess.Popen[str]]:
    with child(function, kinds, DOMAIN, Ros2Settings(domain=DOMAIN).config() or "", *more) as process:
        if line_of(process) != "ready":
            raise LinkError("bench ros2: another process did not start")
        yield process


def _wait(done: Callable[[], bool]) -> None:
    until = time.monotonic() + 20.0
    while not done():
        if time.monotonic() > until:
            raise LinkError("bench ros2: the subscriber was not found within 20 s")
        time.sleep(0.01)
