"""Published streams in the MCAP bag through other people's readers: rosbags, mcap and mcap_ros2."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader
from scipy.spatial.transform import Rotation

from published_things import KINDS, TILTED, estimate, records
from skyloop.core.bus import record_bytes
from skyloop.recording.journal import GroupWriter
from skyloop.recording.recording import Recording, create_recording
from skyloop.recording.ros2.bag import Mcap
from skyloop_client.messages import Estimate, Message
from skyloop_client.streams import StreamInfo

STAMP, ARRIVAL = 2_250_000_000, 2_300_000_000


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """A journal with one record of each kind, and an estimate that is not valid."""
    folder = tmp_path_factory.mktemp("products") / "dataset"
    infos = {
        f"drone/{name}": StreamInfo(f"drone/{name}", type(record).__name__, None, "drone")
        for name, record in records().items()
    }
    facts = {"vehicle": "drone", "frames": 1, "rate_hz": 1.0, "group_frames": 10, "n_groups": 1, "classes": ["sky"]}
    made = create_recording(folder, infos, {**facts, "scenario": {"vehicles": [{"name": "drone"}]}})
    writer = GroupWriter(made.group_path(0))
    for name, record in records(STAMP).items():
        writer.append(Message(f"drone/{name}", 0, STAMP, ARRIVAL, record))
    writer.append(Message("drone/vio", 1, STAMP, ARRIVAL, Estimate.unknown(STAMP, "lost")))
    writer.finish()
    return made


@pytest.fixture(scope="module")
def bag(recording: Recording) -> dict[str, Any]:
    """By topic, the one message on it."""
    mcap = Mcap(recording)
    mcap.add(recording.group(0))
    mcap.finish()
    found: dict[str, list[Any]] = defaultdict(list)
    with AnyReader([recording.folder / "ros2"]) as reader:
        # what `ros2 bag play` offers: maps to late subscribers too, as the node does
        offered = {one.topic: one.ext.offered_qos_profiles for one in reader.connections}
        latched = [topic for topic, ways in offered.items() if ways and ways[0].durability.name == "TRANSIENT_LOCAL"]
        assert sorted(latched) == ["/drone/grid", "/tf_static"]
        for connection, log_ns, raw in reader.messages():
            found[connection.topic].append(reader.deserialize(raw, connection.msgtype))
            assert log_ns == ARRIVAL
    assert found.pop("/tf_static")[0].transforms == []
    assert {len(messages) for messages in found.values()} == {1}
    return {topic: messages[0] for topic, messages in found.items()}


def test_the_journal_holds_them_bit_for_bit(recording: Recording) -> None:
    read = {message.stream: message for message in recording.group(0)[:-1]}
    for name, record in records(STAMP).items():
        assert record_bytes(read[f"drone/{name}"].data) == record_bytes(record)


def test_each_stream_is_a_topic_of_its_name(bag: dict[str, Any]) -> None:
    assert {topic: message.__msgtype__ for topic, message in bag.items()} == {
        "/drone/vio": "nav_msgs/msg/Odometry",
        "/drone/detections": "vision_msgs/msg/Detection2DArray",
        "/drone/grid": "nav_msgs/msg/OccupancyGrid",
        "/drone/voxels": "sensor_msgs/msg/PointCloud2",
        "/drone/path": "nav_msgs/msg/Path",
        "/drone/goal": "geometry_msgs/msg/PoseStamped",
        "/drone/navigation": "nav_msgs/msg/Path",
        "/drone/cloud": "sensor_msgs/msg/PointCloud2",
        "/drone/key_pose": "geometry_msgs/msg/PoseStamped",
        "/drone/colour": "sensor_msgs/msg/Image",
        "/drone/heat": "sensor_msgs/msg/Image",
        "/drone/markers": "visualization_msgs/msg/MarkerArray",
        "/drone/landing": "geometry_msgs/msg/TwistWithCovarianceStamped",
        "/drone/movers": "visualization_msgs/msg/MarkerArray",
        "/drone/cost": "std_msgs/msg/Float64",
    }
    for topic in ("vio", "detections", "grid", "voxels", "path", "cloud", "key_pose", "colour"):
        stamp = bag[f"/drone/{topic}"].header.stamp
        assert (stamp.sec, stamp.nanosec) == (2, 250_000_000)


def test_an_estimate_is_an_odometry_with_its_covariance(bag: dict[str, Any]) -> None:
    told, believed = bag["/drone/vio"], estimate(STAMP)
    position, q = told.pose.pose.position, told.pose.pose.orientation
    assert [position.x, position.y, position.z] == [1.0, 2.0, 3.0]
    assert [q.w, q.x, q.y, q.z] == TILTED.tolist()
    turn = Rotation.from_quat([q.x, q.y, q.z, q.w])
    v = told.twist.twist.linear
    assert np.allclose(turn.apply([v.x, v.y, v.z]), believed.velocity_world)
    pose, twist = told.pose.covariance.reshape(6, 6), told.twist.covariance.reshape(6, 6)
    assert believed.covariance is not None
    assert np.array_equal(pose[:3, :3], believed.covariance[:3, :3])
    assert np.array_equal(pose[:3, 3:], believed.covariance[:3, 6:9])
    world = turn.as_matrix() @ twist[:3, :3] @ turn.as_matrix().T
    assert np.allclose(world, believed.covariance[3:6, 3:6])
    assert (told.header.frame_id, told.child_frame_id) == ("map", "drone/base_link")


def test_movers_are_boxes_with_arrows_as_long_as_the_way_of_a_second(bag: dict[str, Any]) -> None:
    cleared, *shapes = bag["/drone/movers"].markers
    assert cleared.action == 3 and len(shapes) == 6
    box, arrow = shapes[2:4]
    assert (box.ns, box.type, arrow.ns, arrow.type) == ("thing 5", 1, "velocity 5", 0)
    assert [box.pose.position.x, box.pose.position.y, box.pose.position.z] == [0.0, 1.0, 0.0]
    assert [box.scale.x, box.scale.y, box.scale.z] == [0.6, 0.6, 1.8]
    turn = Rotation.from_quat([getattr(arrow.pose.orientation, axis) for axis in "xyzw"])
    assert np.allclose(arrow.scale.x * turn.apply([1.0, 0.0, 0.0]), [0.0, 0.5, 0.0])


def test_a_landing_is_its_command_forward_left_up(bag: dict[str, Any]) -> None:
    twist = bag["/drone/landing"].twist.twist
    assert (twist.linear.x, twist.linear.y, twist.linear.z, twist.angular.z) == (0.1, 0.2, -1.5, 0.1)


def test_detections(bag: dict[str, Any]) -> None:
    person, car = bag["/drone/detections"].detections
    assert bag["/drone/detections"].header.frame_id == "drone/front_optical"
    assert (person.results[0].hypothesis.class_id, person.results[0].hypothesis.score, person.id) == (
        "person",
        0.9,
        "7",
    )
    assert (car.results[0].hypothesis.class_id, car.id) == ("car", "")
    # the middle of the box with 0 in the middle of the first pixel
    centre = person.bbox.center.position
    assert (centre.x, centre.y, person.bbox.size_x, person.bbox.size_y) == (19.5, 39.5, 20.0, 40.0)


def test_maps(bag: dict[str, Any]) -> None:
    grid = bag["/drone/grid"]
    assert (grid.info.width, grid.info.height, grid.info.resolution) == (3, 2, 0.5)
    origin = grid.info.origin.position
    assert ([origin.x, origin.y, origin.z], grid.info.origin.orientation.w) == ([-1.0, 2.0, 0.25], 1.0)
    assert grid.data.tolist() == [-1, 0, 100, 50, 25, 75]
    voxels = cloud_of(bag["/drone/voxels"])
    # those of 50 and more: numbers 13 to 23 of 24, times four
    assert voxels["value"].tolist() == [float(4 * k) for k in range(13, 24)]
    x, y, z = np.unravel_index(13, (2, 3, 4))
    middle = np.array([1.0, 2.0, 3.0]) + 0.2 * (np.array([x, y, z]) + 0.5)
    assert np.allclose([voxels[axis][0] for axis in "xyz"], middle)


def cloud_of(message: Any) -> Any:
    formats = {6: "<u4", 7: "<f4"}
    assert message.row_step == message.point_step * message.width == len(message.data)
    layout: Any = {
        "names": [field.name for field in message.fields],
        "formats": [formats[field.datatype] for field in message.fields],
        "offsets": [field.offset for field in message.fields],
        "itemsize": message.point_step,
    }
    return message.data.view(np.dtype(layout))


def test_clouds_paths_images_and_numbers(bag: dict[str, Any]) -> None:
    cloud = cloud_of(bag["/drone/cloud"])
    assert bag["/drone/cloud"].header.frame_id == "drone/lidar"
    assert np.stack([cloud[axis] for axis in "xyz"], axis=-1).tolist() == records()["cloud"].points.tolist()
    assert cloud["value"].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert {hex(colour) for colour in cloud["rgb"]} == {"0xff0010"}
    assert cloud["id"].tolist() == [3, 5, 8, 13]
    kept = bag["/drone/key_pose"]
    assert (kept.header.frame_id, kept.pose.position.z, kept.pose.orientation.w) == ("map", 3.0, TILTED[0])
    poses = bag["/drone/path"].poses
    assert [[p.pose.position.x, p.pose.position.y, p.pose.position.z] for p in poses] == np.eye(3).tolist()
    assert [p.header.stamp.sec for p in poses] == [1, 2, 3]
    q = poses[1].pose.orientation
    assert Rotation.from_quat([q.x, q.y, q.z, q.w]).as_euler("ZYX")[0] == pytest.approx(1.5)
    image, heat = bag["/drone/colour"], bag["/drone/heat"]
    assert (image.encoding, image.width, image.height, image.step) == ("rgb8", 4, 3, 12)
    assert image.data.tolist() == list(range(36))
    assert (heat.encoding, heat.header.frame_id) == ("32FC1", "drone/base_link")
    assert np.array_equal(heat.data.view("<f4"), [0.5, np.nan, 1.5, 2.5], equal_nan=True)
    assert bag["/drone/cost"].data == 1.5


def test_markers(bag: dict[str, Any]) -> None:
    cleared, *drawn = bag["/drone/markers"].markers
    assert cleared.action == 3  # DELETEALL: each record takes the place of the one before
    assert [marker.ns for marker in drawn] == [f"a {kind}" for kind in KINDS]
    assert [marker.type for marker in drawn] == [2, 1, 0, 4, 8, 9]
    assert {marker.action for marker in drawn} == {0} and {marker.header.frame_id for marker in drawn} == {
        "drone/base_link"
    }
    line = drawn[3]
    assert [[p.x, p.y, p.z] for p in line.points] == [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.5]]
    assert (line.scale.x, line.color.r, line.color.a, drawn[5].text) == (0.5, 1.0, 1.0, "hi")


def test_mcap_ros2_reads_them_too(bag: dict[str, Any], recording: Recording) -> None:
    path: Path = recording.folder / "ros2" / "ros2_0.mcap"
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        read = {channel.topic: decoded for _, channel, _, decoded in reader.iter_decoded_messages()}
    assert set(read) == {*bag, "/tf_static"}
    assert list(read["/drone/grid"].data) == bag["/drone/grid"].data.tolist()
    assert read["/drone/markers"].markers[4].points[2].z == 0.5
    assert read["/drone/detections"].detections[0].results[0].hypothesis.class_id == "person"
