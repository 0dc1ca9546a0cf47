"""What a ROS 2 node of other people's making receives, against what the bus carried and the truth."""

from __future__ import annotations

import io
import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image
from ros2_rig import DOMAIN, Flown, Node, flown, ns, wxyz, xyz
from scipy.spatial.transform import Rotation

from skyloop_client.messages import GridMap, Message, Number

pytestmark = pytest.mark.renders

MOUNT = {"position": [0.12, -0.03, 0.05], "rotation_deg": [10.0, 25.0, -40.0]}
VEHICLE = {
    "name": "drone",
    "position": [1.0, -2.0],
    "yaw_deg": 70.0,
    "state": "ekf",
    "pilot": {"kind": "hover", "altitude": 2.0},
    "sensors": {
        "imu": {"kind": "imu", "rate_hz": 100, "mount": MOUNT},
        "gnss": {"kind": "gnss", "preset": "perfect", "latency": 0.12},
        "baro": {"kind": "barometer"},
        "mag": {"kind": "magnetometer", "mount": MOUNT},
        "up": {"kind": "rangefinder", "mount": {"rotation_deg": [0.0, -90.0, 0.0]}},
        "down": {"kind": "rangefinder", "mount": {"rotation_deg": [0.0, 90.0, 0.0]}},
        "blind": {"kind": "rangefinder", "min_range": 3.0, "mount": {"rotation_deg": [0.0, 90.0, 0.0]}},
        "front": {
            "kind": "camera", "width": 96, "height": 64, "quality": "low", "rate_hz": 10, "mount": MOUNT,
            "truth": ["depth", "labels"],
        },
        "eye": {
            "kind": "camera", "width": 32, "height": 24, "quality": "low", "rate_hz": 5, "gimbal": "fixed",
            "gimbal_attitude_deg": [5.0, 20.0, -35.0], "truth": ["labels"], "mount": MOUNT,
        },
        "depth": {"kind": "depth_camera", "width": 80, "height": 60, "rate_hz": 10, "mount": MOUNT},
        "lidar": {"kind": "lidar", "preset": "vlp16", "rate_hz": 10, "points_per_second": 20000, "mount": MOUNT},
        "radar": {"kind": "radar", "width": 64, "height": 48},
    },
}  # fmt: skip
TOPICS = {
    "/clock": ("rosgraph_msgs/msg/Clock", "best effort"),
    "/tf": ("tf2_msgs/msg/TFMessage", "reliable"),
    "/tf_static": ("tf2_msgs/msg/TFMessage", "latched"),
    "/robot_description": ("std_msgs/msg/String", "latched"),
    "/diagnostics": ("diagnostic_msgs/msg/DiagnosticArray", "reliable"),
    "/drone/imu": ("sensor_msgs/msg/Imu", "plain"),
    "/mavros/imu/data_raw": ("sensor_msgs/msg/Imu", "best effort"),
    "/drone/gnss": ("sensor_msgs/msg/NavSatFix", "plain"),
    "/drone/gnss/velocity": ("geometry_msgs/msg/TwistWithCovarianceStamped", "reliable"),
    "/drone/baro": ("sensor_msgs/msg/FluidPressure", "best effort"),
    "/drone/mag": ("sensor_msgs/msg/MagneticField", "best effort"),
    "/drone/up": ("sensor_msgs/msg/Range", "best effort"),
    "/drone/down": ("sensor_msgs/msg/Range", "best effort"),
    "/drone/blind": ("sensor_msgs/msg/Range", "best effort"),
    "/drone/battery": ("sensor_msgs/msg/BatteryState", "reliable"),
    "/drone/front/image_raw": ("sensor_msgs/msg/Image", "plain"),
    "/drone/front/image_raw/compressed": ("sensor_msgs/msg/CompressedImage", "best effort"),
    "/drone/front/camera_info": ("sensor_msgs/msg/CameraInfo", "best effort"),
    "/drone/depth/image_raw": ("sensor_msgs/msg/Image", "best effort"),
    "/drone/lidar/points": ("sensor_msgs/msg/PointCloud2", "plain"),
    "/drone/radar/raw": ("std_msgs/msg/Float32MultiArray", "best effort"),
    "/drone/radar/detections": ("radar_msgs/msg/RadarScan", "best effort"),
    "/truth/drone/front/labels": ("vision_msgs/msg/Detection2DArray", "reliable"),
    "/truth/drone/odometry": ("nav_msgs/msg/Odometry", "reliable"),
    "/drone/estimate": ("nav_msgs/msg/Odometry", "reliable"),
    "/drone/odom": ("nav_msgs/msg/Odometry", "reliable"),
    "/drone/pose": ("geometry_msgs/msg/PoseStamped", "reliable"),
    "/drone/wrench": ("geometry_msgs/msg/WrenchStamped", "reliable"),
    "/drone/path": ("nav_msgs/msg/Path", "reliable"),
    "/mavros/local_position/pose": ("geometry_msgs/msg/PoseStamped", "reliable"),
    "/mavros/state": ("mavros_msgs/msg/State", "reliable"),
}


class Seen:
    def __init__(self, flown: Flown, node: Node, sent: list[Message]) -> None:
        self.flown, self.node, self.sent = flown, node, sent
        self.got = {topic: node.take(topic, 1) for topic in TOPICS}

    def pairs(self, topic: str, stream: str) -> list[tuple[Any, Any]]:
        """What came on a topic with the record it was made of, which is that of its stamp."""
        records = {message.t_ns: message.data for message in self.sent if message.stream == stream}
        found = [(one, records[ns(one["header"]["stamp"])]) for one in self.got[topic]]
        assert found, topic
        return found


@pytest.fixture(scope="module")
def seen() -> Iterator[Seen]:
    node = Node()
    sent: list[Message] = []
    try:
        with flown([VEHICLE], world="blocks") as it:
            for topic, (kind, quality) in TOPICS.items():
                node.read(topic, kind, quality)
            it.simulation.bus.on_every(sent.append)
            it.wanted(*TOPICS)
            it.run(1.5)
            yield Seen(it, node, sent)
    finally:
        node.close()


def test_every_topic_has_something(seen: Seen) -> None:
    assert [topic for topic in TOPICS if not seen.got[topic]] == []


def test_a_plain_subscription_gets_the_newest_ten(seen: Seen) -> None:
    """`create_subscription(Imu, "/drone/imu", callback, 10)`: reliable, keep the last 10, volatile."""
    sent = [message.t_ns for message in seen.sent if message.stream == "drone/imu"]
    assert [ns(one["header"]["stamp"]) for one in seen.got["/drone/imu"]] == sent[-10:]


def test_the_clock_is_simulated_time(seen: Seen) -> None:
    stamps = [ns(one["clock"]) for one in seen.got["/clock"]]
    assert stamps == sorted(stamps) and 0 < stamps[-1] <= 1.5e9
    # 250 times per second, however often something else happens
    assert all(stamp % 4_000_000 == 0 for stamp in stamps) and len(stamps) > 200


def test_images(seen: Seen) -> None:
    for image, record in seen.pairs("/drone/front/image_raw", "drone/front"):
        assert (image["height"], image["width"], image["encoding"], image["step"]) == (64, 96, "rgb8", 288)
        assert np.array_equal(np.array(image["data"], np.uint8).reshape(64, 96, 3), record.colour)
        assert image["header"]["frame_id"] == "drone/front_optical"
    for small, record in seen.pairs("/drone/front/image_raw/compressed", "drone/front"):
        picture = np.asarray(Image.open(io.BytesIO(bytes(small["data"]))))
        assert small["format"].startswith("rgb8; jpeg")
        assert np.abs(picture.astype(int) - record.colour).mean() < 4.0
    for image, record in seen.pairs("/drone/depth/image_raw", "drone/depth"):
        # REP 118: metres along the optical axis, NaN where there is no value
        depth = np.frombuffer(bytes(image["data"]), "<f4").reshape(60, 80)
        assert image["encoding"] == "32FC1" and np.array_equal(np.isnan(depth), record.depth == 0.0)
        assert np.array_equal(np.nan_to_num(depth), record.depth)
    for info, _ in seen.pairs("/drone/front/camera_info", "drone/front"):
        assert info["k"][0] == pytest.approx(48.0) and info["k"][2] == 47.5 and info["k"][5] == 31.5


def test_ranges(seen: Seen) -> None:
    """REP 117: nothing is above; the ground is below, and too near for one that measures from 3 m on."""
    assert {one["range"] for one in seen.got["/drone/up"]} == {math.inf}
    assert {one["range"] for one in seen.got["/drone/blind"]} == {-math.inf}
    below, record = seen.pairs("/drone/down", "drone/down")[-1]
    assert below["range"] == pytest.approx(record.distance, rel=1e-6) and 1.0 < below["range"] < 3.0
    assert (below["min_range"], below["max_range"]) == pytest.approx((record.min_range, record.max_range))


def test_radar(seen: Seen) -> None:
    for scan, record in seen.pairs("/drone/radar/detections", "drone/radar/detections"):
        found = [(one["range"], one["azimuth"], one["elevation"], one["doppler_velocity"]) for one in scan["returns"]]
        expected = np.stack([record.ranges, record.azimuths, record.elevations, record.speeds], axis=1)
        assert np.allclose(np.array(found).reshape(-1, 4), expected, rtol=1e-6)
    raw = seen.got["/drone/radar/raw"][-1]
    sizes = [one["size"] for one in raw["layout"]["dim"]]
    assert [one["label"] for one in raw["layout"]["dim"]] == ["antenna", "chirp", "sample"]
    assert len(raw["data"]) == np.prod(sizes)


def test_mavros_has_the_same_samples(seen: Seen) -> None:
    """What is in them is compared in `test_ros2_lockstep.py`, with a bag."""
    headers = [[one["header"] for one in seen.got[topic]][-5:] for topic in ("/mavros/imu/data_raw", "/drone/imu")]
    assert headers[0] == headers[1]


def test_what_it_flies_on(seen: Seen) -> None:
    """On an estimate: odom and MAVROS's pose are the estimate's, and the truth is on a topic of its own."""
    for odom, record in seen.pairs("/drone/odom", "drone/estimate"):
        assert np.array_equal(xyz(odom["pose"]["pose"]["position"]), record.position)
        body = Rotation.from_quat(np.roll(record.quat_wxyz, -1)).inv().apply(record.velocity_world)
        assert xyz(odom["twist"]["twist"]["linear"]) == pytest.approx(body, abs=1e-12)
    for pose, record in seen.pairs("/mavros/local_position/pose", "drone/estimate"):
        assert np.array_equal(wxyz(pose["pose"]["orientation"]), record.quat_wxyz)
    for odom, record in seen.pairs("/truth/drone/odometry", "truth/drone"):
        assert np.array_equal(xyz(odom["pose"]["pose"]["position"]), record.position)


def test_the_rotors_carry_the_weight(seen: Seen) -> None:
    geometry = seen.flown.simulation.port.vehicle().geometry
    wrench, record = seen.pairs("/drone/wrench", "truth/drone")[-1]
    assert wrench["wrench"]["force"]["z"] == pytest.approx(record.rotor_thrusts.sum())
    assert wrench["wrench"]["force"]["z"] == pytest.approx(geometry.mass * geometry.gravity, rel=0.15)


def test_description_and_diagnostics(seen: Seen) -> None:
    robot = ElementTree.fromstring(seen.got["/robot_description"][-1]["data"])
    links = {link.attrib["name"] for link in robot.iter("link")}
    assert {"drone/base_link", "drone/front", "drone/front_optical", "drone/lidar"} <= links
    mass = float(robot.find("link/inertial/mass").attrib["value"])
    assert mass == pytest.approx(seen.flown.simulation.port.vehicle().geometry.mass, rel=1e-5)
    assert len(robot.findall("link/visual/geometry/cylinder")) == 4
    status = {one["name"]: one for one in seen.got["/diagnostics"][-1]["status"]}
    assert {pair["key"] for pair in status["skyloop: drone"]["values"]} >= {"mode", "armed", "charge"}
    assert seen.got["/mavros/state"][-1]["connected"]
    assert seen.got["/drone/path"][-1]["poses"] is not None


def test_nodes_and_topics_are_listed(seen: Seen) -> None:
    """As `ros2 node list` and `ros2 topic list` find them: by the graph's message and the identities in it."""
    graph = seen.node.graph()
    readers, writers = graph["nodes"]["/skyloop"]
    named = {tuple(graph["ends"][gid][:2]) for gid in [*readers, *writers] if gid in graph["ends"]}
    assert len(named) == len(readers) + len(writers)
    assert {
        ("rt/drone/front/image_raw", "sensor_msgs::msg::dds_::Image_"),
        ("rt/clock", "rosgraph_msgs::msg::dds_::Clock_"),
        ("rt/drone/cmd_vel", "geometry_msgs::msg::dds_::Twist_"),
        ("rt/drone/cmd_vel", "geometry_msgs::msg::dds_::TwistStamped_"),
        ("rq/drone/armRequest", "std_srvs::srv::dds_::SetBool_Request_"),
        ("rr/skyloop/set_parametersReply", "rcl_interfaces::srv::dds_::SetParameters_Response_"),
    } <= named
    topics = {topic for topic, _ in named}
    # of the truth, what the scenario asks for
    assert "rt/truth/drone/front/depth" in topics and "rt/truth/drone/front/classes" not in topics
    assert "rt/truth/drone/eye/labels" in topics and "rt/truth/drone/eye/depth" not in topics
    # Humble's identities have eight more bytes
    older = Node(DOMAIN, "humble")
    try:
        assert older.graph()["nodes"]["/skyloop"] == [[gid + "0" * 16 for gid in ends] for ends in (readers, writers)]
    finally:
        older.close()


def test_ros2_nobody_listens_nothing_is_sent(seen: Seen) -> None:
    writer, _ = seen.flown.link.publications._writers["/drone/depth/camera_info"]
    assert writer.sent == 0


def test_streams_of_the_users_get_a_topic(seen: Seen) -> None:
    vehicle = seen.flown.simulation.port.vehicle()
    vehicle.publish("speed", Number(0, 4.5), sender="test")
    seen.node.read("/drone/speed", "std_msgs/msg/Float64", "reliable")
    seen.flown.wanted("/drone/speed")
    vehicle.publish("speed", Number(0, 7.25), sender="test")
    assert seen.node.take("/drone/speed")[-1]["data"] == 7.25


def test_a_grid_is_latched(seen: Seen) -> None:
    """Published before anybody listens: three columns east, two rows north."""
    vehicle = seen.flown.simulation.port.vehicle()
    now = seen.flown.simulation.clock.now_ns
    cells = np.array([[0, 50, 100], [-1, 7, 25]], np.int8)
    vehicle.publish("map", GridMap(now, cells, 0.25, np.array([4.0, -3.0, 0.5])), sender="test")
    seen.node.read("/drone/map", "nav_msgs/msg/OccupancyGrid", "latched")
    seen.flown.wanted("/drone/map")
    seen.flown.run(0.02)
    grid = seen.node.take("/drone/map")[-1]
    assert ns(grid["header"]["stamp"]) == now and grid["header"]["frame_id"] == "map"
    assert (grid["info"]["width"], grid["info"]["height"], grid["info"]["resolution"]) == (3, 2, 0.25)
    assert xyz(grid["info"]["origin"]["position"]).tolist() == [4.0, -3.0, 0.5]
    assert grid["data"] == [0, 50, 100, -1, 7, 25]
