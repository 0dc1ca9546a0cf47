"""What a client of other people's protocol and schemas receives, against what the bus carried and the truth."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from foxglove_client import Received, Viewer, pixels_of, points_of, stamp_ns
from PIL import Image
from scipy.spatial.transform import Rotation

import skyloop
from link_rig import eventually
from skyloop.links.foxglove.link import CLOCK_NS, FoxgloveStream
from skyloop.recording.ros2.types import encode
from skyloop.recording.ros2.views import mounts, views_of
from skyloop.sim.simulation import Simulation
from skyloop_client.messages import (
    Message,
)

pytestmark = pytest.mark.renders

MOUNT = {"position": [0.12, -0.03, 0.05], "rotation_deg": [10.0, 25.0, -40.0]}
CAMERA = {"kind": "camera", "width": 96, "height": 64, "quality": "low", "rate_hz": 5, "mount": MOUNT}
SCENARIO: dict[str, Any] = {
    "world": "blocks",
    "vehicles": [
        {
            "name": "drone",
            "position": [1.0, -2.0],
            "yaw_deg": 70.0,
            "state": "ekf",
            "pilot": {"kind": "hover", "altitude": 2.0},
            "sensors": {
                "imu": {"kind": "imu", "rate_hz": 100},
                "gnss": {"kind": "gnss", "preset": "perfect", "latency": 0.12},
                "barometer": {"kind": "barometer"},
                "magnetometer": {"kind": "magnetometer"},
                "up": {"kind": "rangefinder", "mount": {"rotation_deg": [0.0, -90.0, 0.0]}},
                "camera": {**CAMERA, "truth": ["depth", "classes", "instances", "labels"]},
                "depth": {"kind": "depth_camera", "width": 80, "height": 60, "rate_hz": 5, "mount": MOUNT},
                "lidar": {"kind": "lidar", "preset": "vlp16", "rate_hz": 5, "mount": MOUNT},
            },
        }
    ],
}


@dataclass(repr=False)
class Seen:
    simulation: Simulation
    stream: FoxgloveStream
    viewer: Viewer
    sent: list[Message]
    """All that the bus carried since the viewer had subscribed."""

    def on(self, topic: str) -> list[Received]:
        return self.viewer.on(topic)

    def pairs(
        self, topic: str, stream: str, sent: Callable[[Any], bool] = lambda record: True
    ) -> list[tuple[Received, Any]]:
        """What came on a topic with the record it was made of, which is the one of its log time."""
        records = {m.arrival_ns: m.data for m in self.sent if m.stream == stream and sent(m.data)}
        got = self.on(topic)
        assert got and len(got) == len(records)
        return [(one, records[one.log_ns]) for one in got]


def watched(simulation: Simulation) -> FoxgloveStream:
    stream = FoxgloveStream(port=0)
    stream.attach(simulation.port)
    return stream


def has_seen(viewer: Viewer, count: int) -> bool:
    return len(viewer.on("/truth/drone")) >= count


def let_pass(simulation: Simulation, seconds: float, *viewers: Viewer) -> None:
    """In steps that no backlog overflows, each awaited by its last record of truth."""
    for _ in range(round(seconds / 0.1)):
        counts = [len(viewer.on("/truth/drone")) for viewer in viewers]
        before = simulation.bus.counts["truth/drone"]
        simulation.run_for(0.1)
        news = simulation.bus.counts["truth/drone"] - before
        for viewer, count in zip(viewers, counts, strict=True):
            assert viewer.until(partial(has_seen, viewer, count + news))


def subscribed(stream: FoxgloveStream, viewer: Viewer) -> None:
    assert viewer.until(lambda: set(viewer.channels) >= set(stream._channels))
    viewer.subscribe()
    assert eventually(lambda: all(channel.has_sinks() for channel in stream._channels.values()))


@pytest.fixture(scope="module")
def seen() -> Iterator[Seen]:
    with skyloop.build(skyloop.make_scenario(SCENARIO)) as simulation:
        stream = watched(simulation)
        # a truth image and a fix have been: all topics are there
        simulation.run_until(0.45)
        with Viewer(stream.url) as viewer:
            subscribed(stream, viewer)
            sent: list[Message] = []
            for name in simulation.bus.infos:
                simulation.bus.on(name, sent.append)
            let_pass(simulation, 2.4, viewer)
            yield Seen(simulation, stream, viewer, sent)
            stream.close()


def test_who_serves_and_what_there_is(seen: Seen) -> None:
    assert seen.viewer.info["name"] == "skyloop"
    assert seen.viewer.info["capabilities"] == ["time"], "no client can publish, call or set anything"
    kinds = {topic: channel["schemaName"] for topic, channel in seen.viewer.channels.items()}
    assert kinds["/drone/camera/image_raw/compressed"] == "sensor_msgs/msg/CompressedImage"
    assert kinds["/drone/lidar/points"] == "sensor_msgs/msg/PointCloud2"
    assert kinds["/drone/imu/numbers"] == "skyloop.ImuSample" and kinds["/truth/drone"] == "skyloop.VehicleState"
    assert "/truth/drone/camera/depth" in kinds and "/truth/drone/depth/depth" not in kinds
    for name, info in seen.simulation.bus.infos.items():
        for view in views_of(info):
            assert kinds.get(view.topic_of(info), view.kind) in (view.kind, "foxglove.ImageAnnotations"), name
    came = {received.topic for received in seen.viewer.received}
    assert came == set(kinds), "something came on every topic"


def test_a_picture_is_the_camera_s(seen: Seen) -> None:
    for received, record in seen.pairs("/drone/camera/image_raw/compressed", "drone/camera"):
        how = received.data.format, received.data.header.frame_id
        assert how == ("rgb8; jpeg compressed bgr8", "drone/camera_optical")
        pixels = np.asarray(Image.open(io.BytesIO(received.data.data))).astype(float)
        assert pixels.shape == (64, 96, 3)
        error = np.abs(pixels - record.colour).mean()
        assert error < 3.0
    # neither mirrored nor with red for blue
    for other in (record.colour[:, ::-1], record.colour[::-1], record.colour[..., ::-1]):
        error = np.abs(pixels - other).mean()
        assert error > 5.0


@pytest.mark.parametrize(
    ("topic", "stream", "field", "encoding", "dtype"),
    [
        ("/drone/depth/image_raw", "drone/depth", "depth", "32FC1", "<f4"),
        ("/truth/drone/camera/depth", "truth/drone/camera", "depth", "32FC1", "<f4"),
        ("/truth/drone/camera/classes", "truth/drone/camera", "classes", "8UC1", "u1"),
        ("/truth/drone/camera/instances", "truth/drone/camera", "instances", "16UC1", "<u2"),
    ],
)
def test_raw_images_hold_every_pixel(
    seen: Seen, topic: str, stream: str, field: str, encoding: str, dtype: str
) -> None:
    for received, record in seen.pairs(topic, stream):
        image, pixels = received.data, getattr(record, field)
        layout = image.height, image.width, image.encoding, image.step
        assert layout == (*pixels.shape, encoding, pixels.shape[1] * np.dtype(dtype).itemsize)
        got = pixels_of(image, dtype)
        if stream == "drone/depth":
            assert np.array_equal(np.isnan(got), pixels == 0.0), "no value is NaN"
            got = np.nan_to_num(got)
        np.testing.assert_array_equal(got, pixels)
        assert len(np.unique(pixels)) > 1


def test_calibration_is_the_lens_s(seen: Seen) -> None:
    details = seen.simulation.bus.infos["drone/camera"].details
    told = seen.on("/drone/camera/camera_info")[0].data
    assert (told.width, told.height, told.header.frame_id) == (96, 64, "drone/camera_optical")
    fx, fy, cx, cy = (details[name] for name in ("fx", "fy", "cx", "cy"))
    assert list(told.k) == [fx, 0.0, cx, 0.0, fy, cy, 0.0, 0.0, 1.0]
    np.testing.assert_array_equal(np.reshape(told.p, (3, 4))[:, :3], np.reshape(told.k, (3, 3)))
    assert told.distortion_model == "plumb_bob" and len(told.d) == 5


def test_every_point_of_a_scan(seen: Seen) -> None:
    for received, scan in seen.pairs("/drone/lidar/points", "drone/lidar"):
        assert received.data.header.frame_id == "drone/lidar"
        points = points_of(received.data)
        assert len(points) == len(scan.points) > 1000
        np.testing.assert_array_equal(np.stack([points[axis] for axis in "xyz"], axis=1), scan.points)
        np.testing.assert_array_equal(points["ring"], scan.rings)
        np.testing.assert_allclose(points["time"], scan.offsets_ns / 1e9, atol=1e-7)


def pose_matrix(transform: Any) -> Any:
    r, t = transform.transform.rotation, transform.transform.translation
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_quat([r.x, r.y, r.z, r.w]).as_matrix()
    matrix[:3, 3] = t.x, t.y, t.z
    return matrix


def test_transforms_lead_from_the_world_to_the_camera(seen: Seen) -> None:
    """As ImageTruth says, which takes another way through the code."""
    static = {t.child_frame_id: t for t in seen.on("/tf_static")[-1].data.transforms}
    mount, eye = static["drone/camera"], static["drone/camera_optical"]
    assert (mount.header.frame_id, eye.header.frame_id) == ("drone/base_link", "drone/camera")
    body_from_camera = pose_matrix(mount)
    np.testing.assert_allclose(body_from_camera[:3, 3], MOUNT["position"])
    roll, pitch, yaw = MOUNT["rotation_deg"]
    told = Rotation.from_euler("ZYX", [yaw, pitch, roll], degrees=True).as_matrix()
    np.testing.assert_allclose(body_from_camera[:3, :3], told, atol=1e-12)
    bodies = {t.log_ns: t.data.transforms[0] for t in seen.on("/tf")}
    assert {(t.header.frame_id, t.child_frame_id) for t in bodies.values()} == {("map", "drone/base_link")}
    compared = 0
    for message in seen.sent:
        if message.stream == "truth/drone/camera" and message.t_ns in bodies:
            whole = pose_matrix(bodies[message.t_ns]) @ body_from_camera @ pose_matrix(eye)
            np.testing.assert_allclose(whole[:3, 3], message.data.position, atol=1e-9)
            w, x, y, z = message.data.quat_wxyz
            np.testing.assert_allclose(whole[:3, :3], Rotation.from_quat([x, y, z, w]).as_matrix(), atol=1e-9)
            compared += 1
    assert compared >= 10


def test_messages_are_those_of_a_bag(seen: Seen) -> None:
    """Byte for byte."""
    infos = seen.simulation.bus.infos
    static = seen.viewer.raw["/tf_static"][-1]
    assert static[1] == encode(mounts(infos.values(), static[0]))
    for name in ("drone/lidar", "drone/imu", "drone/gnss", "drone/depth", "truth/drone", "drone/battery"):
        records = {message.arrival_ns: message.data for message in seen.sent if message.stream == name}
        for view in views_of(infos[name]):
            came = [one for one in seen.viewer.raw[view.topic_of(infos[name])] if one[0] in records]
            assert came
            for log_ns, data in came:
                assert data == encode(view.make(infos[name], records[log_ns])), view.topic


def test_stamps_are_simulated_time(seen: Seen) -> None:
    for topic, stream in (
        ("/drone/gnss", "drone/gnss"),
        ("/drone/camera/image_raw", "drone/camera"),
        ("/truth/drone/odometry", "truth/drone"),
    ):
        for received, record in seen.pairs(topic, stream):
            assert stamp_ns(received.data.header) == record.t_ns
    late = {r.log_ns - record.t_ns for r, record in seen.pairs("/drone/gnss", "drone/gnss")}
    assert late == {120_000_000}, "a log time is when the message arrived"
    for received, record in seen.pairs("/drone/imu/numbers", "drone/imu"):
        stamp = received.data["timestamp"]
        assert stamp["sec"] * 10**9 + stamp["nsec"] == record.t_ns == received.log_ns
    times = seen.viewer.times
    assert times == sorted(set(times)) and times[-1] <= seen.simulation.clock.now_ns
    assert times[-1] // CLOCK_NS - times[0] // CLOCK_NS + 1 == len(times), "none is left out"


def test_plots_are_the_truth(seen: Seen) -> None:
    def xyz(value: dict[str, float]) -> list[float]:
        return [value[axis] for axis in "xyz"]

    for received, state in seen.pairs("/truth/drone", "truth/drone"):
        told = received.data
        assert xyz(told["position_m"]) == state.position.tolist()
        assert xyz(told["velocity_world_m_s"]) == state.velocity_world.tolist()
        assert told["rotor_speeds_rad_s"] == state.rotor_speeds.tolist()
        w, x, y, z = state.quat_wxyz
        yaw, pitch, roll = Rotation.from_quat([x, y, z, w]).as_euler("ZYX", degrees=True)
        got = told["attitude_deg"]
        assert [got["roll"], got["pitch"], got["yaw"]] == pytest.approx([roll, pitch, yaw], abs=1e-9)
    for received, sample in seen.pairs("/drone/imu/numbers", "drone/imu"):
        assert xyz(received.data["specific_force_m_s2"]) == sample.specific_force.tolist()
    for received, estimate in seen.pairs("/drone/estimate/numbers", "drone/estimate"):
        assert xyz(received.data["position_m"]) == estimate.position.tolist()
        assert received.data["valid"] is estimate.valid
    for received, battery in seen.pairs("/drone/battery/numbers", "drone/battery"):
        assert (received.data["voltage_v"], received.data["current_a"]) == (battery.voltage, battery.current)
    for received, actuators in seen.pairs("/drone/actuators", "drone/actuators"):
        assert received.data["commands_rad_s"] == actuators.commands.tolist()
    assert actuators.commands.min() > 100.0, "it flies"
    assert {r.data["distance_m"] for r in seen.on("/drone/up/numbers")} == {None}, "JSON has no NaN"


def test_where_the_vehicle_is(seen: Seen) -> None:
    for received, fix in seen.pairs("/drone/gnss", "drone/gnss"):
        got = received.data
        assert (got.latitude, got.longitude, got.altitude) == (fix.latitude_deg, fix.longitude_deg, fix.altitude)
        assert got.position_covariance[0] == fix.horizontal_sd**2 and got.position_covariance[8] == fix.vertical_sd**2
    for topic, stream in (("/truth/drone/odometry", "truth/drone"), ("/drone/estimate", "drone/estimate")):
        # what an estimate says before it is valid is in its numbers only
        for received, state in seen.pairs(topic, stream, lambda state: getattr(state, "valid", True)):
            p, q = received.data.pose.pose.position, received.data.pose.pose.orientation
            assert received.data.header.frame_id == "map"
            assert [p.x, p.y, p.z, q.w, q.x, q.y, q.z] == [*state.position, *state.quat_wxyz]
    track, body = seen.on("/tracks")[-1].data.markers
    assert (track.header.frame_id, body.header.frame_id, body.frame_locked) == ("map", "drone/base_link", True)
    line = np.array([[p.x, p.y, p.z] for p in track.points])
    assert line[0] == pytest.approx([1.0, -2.0, line[0, 2]], abs=0.05) and line[-1, 2] > line[0, 2] + 0.5


def test_things_are_boxed_where_rays_find_them(seen: Seen) -> None:
    """A box of the world has what the LiDAR's own code hits: a ray down on its middle ends at its top."""
    (received,) = seen.on("/world")
    cubes = received.data.markers
    assert len(cubes) == 40
    hit = 0
    for cube in cubes:
        centre, half = cube.pose.position, cube.scale.z / 2.0
        above = np.array([[centre.x, centre.y, 100.0]])
        found = seen.simulation.editor.cast(above, np.array([[0.0, 0.0, -1.0]]), 200.0)
        top = 100.0 - float(found.distance[0])
        assert top > centre.z + half - 1e-3
        hit += top < centre.z + half + 1e-3
    assert hit >= 20, "the rest have another upon them"


def test_events_are_a_log(seen: Seen) -> None:
    events = [message.data for message in seen.sent if message.stream == "drone/events"]
    logged = [received.data for received in seen.on("/drone/events")]
    assert len(events) == len(logged) > 0
    assert all(event.kind in log.msg and log.name == "drone" for event, log in zip(events, logged, strict=True))


def test_topics_come_with_what_they_need_to_be_read_by(seen: Seen) -> None:
    for topic, channel in seen.viewer.channels.items():
        if channel["encoding"] == "json":
            properties = json.loads(channel["schema"])["properties"]
            for received in seen.on(topic):
                assert set(received.data) <= set(properties), topic
