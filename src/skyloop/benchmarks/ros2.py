"""The ROS 2 node: what it costs to feed one subscriber, how late images are, and 1 MB messages beside bare DDS."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from skyloop.core.results import Figure
from skyloop.links.ros2.participant import Participant
from skyloop.links.ros2.settings import Ros2Settings
from skyloop.recording.ros2.frames import header
from skyloop.recording.ros2.types import encode, sensor_msgs
from skyloop.recording.ros2.views import views_of
from skyloop_client.errors import LinkError
from skyloop_client.messages import CameraImage, DepthImage, ImuSample, LidarScan
from skyloop_client.streams import Rate, StreamInfo

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
PLAIN = """
import json, sys, time
from cyclonedds._clayer import ddspy_take, ddspy_write
from cyclonedds.core import InstanceState, Policy, Qos, SampleState, ViewState
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import make_idl_struct, types
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
kinds, domain, config = json.loads(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
def struct(named, **fields):
    package, short = named.split("/")
    return make_idl_struct(short, f"{package}::msg::dds_::{short}_", fields)
u8, u32, i32, f64, many = types.uint8, types.uint32, types.int32, types.float64, types.sequence
stamp = struct("builtin_interfaces/Time", sec=i32, nanosec=u32)
header = struct("std_msgs/Header", stamp=stamp, frame_id=str)
vector = struct("geometry_msgs/Vector3", x=f64, y=f64, z=f64)
turn = struct("geometry_msgs/Quaternion", x=f64, y=f64, z=f64, w=f64)
point = struct("sensor_msgs/PointField", name=str, offset=u32, datatype=u8, count=u32)
nine = types.array[f64, 9]
structs = [
    struct("sensor_msgs/Image", header=header, height=u32, width=u32, encoding=str, is_bigendian=u8, step=u32,
           data=many[u8]),
    struct("sensor_msgs/CompressedImage", header=header, format=str, data=many[u8]),
    struct("sensor_msgs/PointCloud2", header=header, height=u32, width=u32, fields=many[point], is_bigendian=bool,
           point_step=u32, row_step=u32, data=many[u8], is_dense=bool),
    struct("sensor_msgs/Imu", header=header, orientation=turn, orientation_covariance=nine, angular_velocity=vector,
           angular_velocity_covariance=nine, linear_acceleration=vector, linear_acceleration_covariance=nine),
]
structs = {f"sensor_msgs/{one.__name__}": one for one in structs}
scope = Domain(domain, config)
participant = DomainParticipant(domain)
reliable = Qos(Policy.Reliability.Reliable(10**10), Policy.History.KeepAll)
"""
"""A node without any code of ours: Cyclone's package and types written by hand."""
SUBSCRIBER = (
    PLAIN
    + """
anything = int(SampleState.Any | ViewState.Any | InstanceState.Any)
best = Qos(Policy.Reliability.BestEffort, Policy.History.KeepLast(16))
readers = {
    topic: DataReader(
        participant, Topic(participant, "rt" + topic, structs[kind]), reliable if topic == "/big" else best
    )
    for topic, kind in kinds.items()
}
counts, late, first, last = dict.fromkeys(kinds, 0), [], {}, {}
print("ready", flush=True)
import select
while not select.select([sys.stdin], [], [], 0.0)[0]:
    for topic, reader in readers.items():
        found = ddspy_take(reader._ref, anything, 8)
        now = time.time_ns()
        for data, info in found if isinstance(found, list) else ():
            if info.valid_data:
                counts[topic] += 1
                first.setdefault(topic, now)
                last[topic] = now
                if topic.endswith("image_raw"):
                    sec, nanosec = (int.from_bytes(data[k:k + 4], "little") for k in (4, 8))
                    late.append(now - sec * 10**9 - nanosec)
    time.sleep(0.0005)
print(json.dumps({"counts": counts, "late": late, "span": {t: last[t] - first[t] for t in first}}), flush=True)
"""
)
WRITER = (
    PLAIN
    + """
(topic, kind), = kinds.items()
writer = DataWriter(participant, Topic(participant, "rt" + topic, structs[kind]), reliable)
data = structs[kind](header(stamp(0, 0), ""), "jpeg", bytes(int(sys.argv[4]))).serialize()
print("ready", flush=True)
while not writer.get_publication_matched_status().current_count:
    time.sleep(0.01)
time.sleep(0.3)
for _ in range(int(sys.argv[5])):
    ddspy_write(writer._ref, data)
print(json.dumps(0), flush=True)
sys.stdin.readline()
"""
)
"""Bytes made once and given to Cyclone as they are."""


def measure(seconds: float = 10.0) -> list[Figure]:
    """Figures with the aims of the issue."""
    share, late_ms, sent, came = _stream(seconds)
    # by turns, and the best of each: other programs of the machine only ever slow one down
    turns = [(_big(_send_encoded), _big(_send_bare)) for _ in range(3)]
    ours, bare = (max(speeds) for speeds in zip(*turns, strict=True))
    note = f"{sent} images, depths, clouds and IMU samples sent, {came} came; {WIDTH} x {HEIGHT}, {POINTS} points"
    late = "from the record to the subscriber's hands"
    against = f"{ours:,.0f} against {bare:,.0f} MB/s of a bare Cyclone writer, messages of 1 MB"
    return [
        Figure("cpu_share", share, "of a core", aim=0.15, note=note, lower_is_better=True),
        Figure("image_latency_p99_ms", late_ms, "ms", aim=10.0, note=late, lower_is_better=True),
        Figure("vs_raw_dds", ours / bare, "", aim=0.5, note=against),
    ]


def _stream(seconds: float) -> tuple[float, float, int, int]:
    """Records of a flight, made once, sent at their rates in real time: what conversion, encoding and sending cost."""
    infos = {
        "drone/rgb": StreamInfo("drone/rgb", "CameraImage", Rate(IMAGES_HZ), "drone", details=LENS),
        "drone/depth": StreamInfo("drone/depth", "DepthImage", Rate(IMAGES_HZ), "drone", details=LENS),
        "drone/lidar": StreamInfo("drone/lidar", "LidarScan", Rate(IMAGES_HZ), "drone"),
        "drone/imu": StreamInfo("drone/imu", "ImuSample", Rate(IMU_HZ), "drone"),
    }
    participant = Participant(Ros2Settings(domain=DOMAIN))
    writers = {
        view.topic_of(info): participant.writer(view.topic_of(info), view.kind, "sensor")
        for info in infos.values()
        for view in views_of(info)
    }
    listener = _started(SUBSCRIBER, {topic: kind for topic, kind in KINDS.items() if topic != "/big"})
    try:
        _wait(lambda: all(writers[topic].is_wanted for topic in KINDS if topic != "/big"))
        began, used, sent = time.perf_counter(), time.process_time(), 0
        for k in range(round(seconds * IMU_HZ)):
            pause = began + k / IMU_HZ - time.perf_counter()
            if pause > 0.0:
                time.sleep(pause)
            streams = ["drone/imu"]
            if k * IMAGES_HZ // IMU_HZ != (k - 1) * IMAGES_HZ // IMU_HZ:
                streams += ["drone/rgb", "drone/depth", "drone/lidar"]
            for stream in streams:
                record = _record(stream, time.time_ns())
                for view in views_of(infos[stream]):
                    writer = writers[view.topic_of(infos[stream])]
                    if writer.is_wanted:
                        writer.send(encode(view.make(infos[stream], record)))
                        sent += 1
        share = (time.process_time() - used) / (time.perf_counter() - began)
        told = _told(listener)
    finally:
        _end(listener)
        participant.close()
    if not told["late"]:
        raise LinkError("bench ros2: no image came to the subscriber")
    late_ms = float(np.percentile(told["late"], 99)) / 1e6
    return share, late_ms, sent, sum(told["counts"].values())


def _record(stream: str, t_ns: int) -> Any:
    made = _MADE[stream]
    return type(made)(**{name: getattr(made, name) for name in made.__slots__ if name != "t_ns"}, t_ns=t_ns)


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


_MADE = _records()


def _big(send: Callable[[], None]) -> float:
    """MB/s of reliable messages of 1 MB, as they come to a subscriber without our code."""
    listener = _started(SUBSCRIBER, {"/big": KINDS["/big"]})
    try:
        send()
        time.sleep(0.5)
        told = _told(listener)
    finally:
        _end(listener)
    if told["counts"]["/big"] < BIG_COUNT / 2:
        raise LinkError(f"bench ros2: {told['counts']['/big']} of {BIG_COUNT} messages of 1 MB came")
    return float((told["counts"]["/big"] - 1) * BIG / 1e6 / (told["span"]["/big"] / 1e9))


def _send_encoded() -> None:
    """As the link does: from a record."""
    participant = Participant(Ros2Settings(domain=DOMAIN))
    try:
        # a flight drops what a slow subscriber has no room for; here every message must come, as from the bare writer
        writer = participant.writer("/big", "sensor_msgs/msg/CompressedImage", "whole")
        pixels = np.zeros(BIG, np.uint8)
        _wait(lambda: writer.is_wanted)
        time.sleep(0.3)
        for k in range(BIG_COUNT):
            writer.send(encode(sensor_msgs.CompressedImage(header(k * 10**9, ""), "jpeg", pixels)))
        time.sleep(0.5)
    finally:
        participant.close()


def _send_bare() -> None:
    process = _started(WRITER, {"/big": KINDS["/big"]}, str(BIG), str(BIG_COUNT))
    try:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.5)
    finally:
        _end(process)


def _started(script: str, kinds: dict[str, str], *more: str) -> subprocess.Popen[str]:
    config = Ros2Settings(domain=DOMAIN).config() or ""
    command = [sys.executable, "-c", script, json.dumps(kinds), str(DOMAIN), config, *more]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    if process.stdout.readline().strip() != "ready":
        raise LinkError("bench ros2: another process did not start")
    return process


def _told(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("end\n")
    process.stdin.flush()
    told: dict[str, Any] = json.loads(process.stdout.readline())
    return told


def _end(process: subprocess.Popen[str]) -> None:
    with suppress(OSError):
        process.kill()
    process.communicate()


def _wait(done: Any) -> None:
    until = time.monotonic() + 20.0
    while not done():
        if time.monotonic() > until:
            raise LinkError("bench ros2: the subscriber was not found within 20 s")
        time.sleep(0.01)
