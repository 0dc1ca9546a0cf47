"""What a client of other people's protocol and schemas receives, against what the bus carried and the truth."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from foxglove_client import Received, Viewer, stamp_ns
from scipy.spatial.transform import Rotation

import skyloop
from link_rig import eventually
from skyloop.links.foxglove.link import CLOCK_NS, FoxgloveLink
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
    stream: FoxgloveLink
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


def watched(simulation: Simulation) -> FoxgloveLink:
    stream = FoxgloveLink(port=0)
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


def subscribed(stream: FoxgloveLink, viewer: Viewer) -> None:
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


def test_messages_are_those_of_a_bag(seen: Seen) -> None:
    """Byte for byte; `tests/recording/test_mcap.py` reads those."""
    infos = seen.simulation.bus.infos
    static = seen.viewer.raw["/tf_static"][-1]
    assert static[1] == encode(mounts(infos.values(), static[0]))
    names = ("lidar", "imu", "gnss", "depth", "battery", "camera")
    for name in (*(f"drone/{name}" for name in names), "truth/drone"):
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
        reported = received.data
        assert xyz(reported["position_m"]) == state.position.tolist()
        assert xyz(reported["velocity_world_m_s"]) == state.velocity_world.tolist()
        assert reported["rotor_speeds_rad_s"] == state.rotor_speeds.tolist()
        w, x, y, z = state.quat_wxyz
        yaw, pitch, roll = Rotation.from_quat([x, y, z, w]).as_euler("ZYX", degrees=True)
        got = reported["attitude_deg"]
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


def test_tracks(seen: Seen) -> None:
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
