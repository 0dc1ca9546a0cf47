"""The MCAP bag through other people's readers: rosbags, mcap and mcap_ros2 know nothing of skyloop."""

from __future__ import annotations

import dataclasses
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from skyloop.core.frames import Transform, matrix_from_quat, quat_from_euler, rotate
from skyloop.datasets.export import Exporter
from skyloop.recording.recording import Recording, open_recording
from skyloop.recording.ros2.bag import Mcap
from skyloop.recording.ros2.types import encode, schema_text
from skyloop.recording.ros2.views import mounts, views_of
from skyloop_client.errors import DatasetError
from skyloop_client.messages import ImageTruth, Message, RadarScan
from skyloop_client.streams import StreamInfo

pytestmark = pytest.mark.renders

Bag = dict[str, list[tuple[int, Any]]]
"""By topic: log time and message."""


def write_bag(recording: Recording, folder: Path) -> Recording:
    shutil.copytree(recording.folder, folder)
    Exporter(folder, ("mcap",)).finish()
    return open_recording(folder)


@pytest.fixture(scope="module")
def written(recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return write_bag(recording, tmp_path_factory.mktemp("mcap") / "dataset")


def read_with_rosbags(path: Path) -> Bag:
    bag: Bag = defaultdict(list)
    with AnyReader([path]) as reader:
        for connection, log_ns, raw in reader.messages():
            bag[connection.topic].append((log_ns, reader.deserialize(raw, connection.msgtype)))
        assert reader.message_count == sum(len(messages) for messages in bag.values())
    return dict(bag)


@pytest.fixture(scope="module")
def bag(written: Recording) -> Bag:
    return read_with_rosbags(written.folder / "ros2")


@pytest.fixture(scope="module")
def sent(recording: Recording) -> dict[str, list[Message]]:
    """By stream, straight from the journal."""
    by_stream: dict[str, list[Message]] = defaultdict(list)
    for message in recording.messages():
        by_stream[message.stream].append(message)
    return by_stream


def stamp_ns(header: Any) -> int:
    return int(header.stamp.sec) * 1_000_000_000 + int(header.stamp.nanosec)


def pixels_of(image: Any) -> Any:
    dtype, channels = {
        "rgb8": ("u1", 3), "mono8": ("u1", 1), "8UC1": ("u1", 1), "32FC1": ("<f4", 1), "32SC1": ("<i4", 1),
    }[image.encoding]  # fmt: skip
    assert image.step == image.width * channels * np.dtype(dtype).itemsize
    return image.data.view(dtype).reshape((image.height, image.width, channels)).squeeze()


def transform_of(stamped: Any) -> Transform:
    t, q = stamped.transform.translation, stamped.transform.rotation
    return Transform(np.array([t.x, t.y, t.z]), np.array([q.w, q.x, q.y, q.z]))


def world_from(bag: Bag, frame_id: str, t_ns: int) -> Transform:
    """Follows /tf and /tf_static from a frame up to `map`."""
    parents = {}
    for topic in ("/tf_static", "/tf"):
        for _, message in bag[topic]:
            for stamped in message.transforms:
                if topic == "/tf_static" or stamp_ns(stamped.header) == t_ns:
                    parents[stamped.child_frame_id] = (stamped.header.frame_id, transform_of(stamped))
    pose = Transform.identity()
    while frame_id != "map":
        frame_id, step = parents[frame_id]
        pose = step @ pose
    return pose


TOPICS = {
    "/drone/rgb0/image_raw": "drone/rgb0",
    "/drone/rgb0/camera_info": "drone/rgb0",
    "/drone/cam0/image_raw": "drone/cam0",
    "/drone/cam1/image_raw": "drone/cam1",
    "/drone/cam1/camera_info": "drone/cam1",
    "/drone/depth0/image_raw": "drone/depth0",
    "/drone/depth0/camera_info": "drone/depth0",
    "/drone/lidar0/points": "drone/lidar0",
    "/drone/imu0": "drone/imu0",
    "/truth/drone/imu0/bias": "truth/drone/imu0",
    "/drone/gps0": "drone/gps0",
    "/drone/gps0/velocity": "drone/gps0",
    "/drone/baro0": "drone/baro0",
    "/drone/mag0": "drone/mag0",
    "/truth/drone/odometry": "truth/drone",
    "/truth/drone/rgb0/labels": "truth/drone/rgb0",
    "/truth/drone/rgb0/depth": "truth/drone/rgb0",
}


def test_every_sample_is_there_with_its_own_stamp(bag: Bag, sent: Any) -> None:
    for topic, stream in TOPICS.items():
        assert [log_ns for log_ns, _ in bag[topic]] == [message.arrival_ns for message in sent[stream]], topic
        stamps = [stamp_ns(message.header) for _, message in bag[topic]]
        assert stamps == [message.t_ns for message in sent[stream]], topic


def test_pictures_are_the_very_pixels(bag: Bag, sent: Any) -> None:
    for (_, image), message in zip(bag["/drone/rgb0/image_raw"], sent["drone/rgb0"], strict=True):
        assert image.encoding == "rgb8"
        assert np.array_equal(pixels_of(image), message.data.colour)
    for (_, image), message in zip(bag["/drone/cam0/image_raw"], sent["drone/cam0"], strict=True):
        assert image.encoding == "mono8"
        assert np.array_equal(pixels_of(image), message.data.colour)
    for (_, image), message in zip(bag["/drone/depth0/image_raw"], sent["drone/depth0"], strict=True):
        assert image.encoding == "32FC1"
        depth = pixels_of(image)
        assert np.array_equal(np.isnan(depth), message.data.depth == 0.0)
        assert np.array_equal(np.nan_to_num(depth), message.data.depth)
    names = ("depth", "classes", "instances")
    for name in names:
        for (_, image), message in zip(bag[f"/truth/drone/rgb0/{name}"], sent["truth/drone/rgb0"], strict=True):
            assert np.array_equal(pixels_of(image), getattr(message.data, name))


def test_a_point_seen_in_depth_comes_back_to_its_pixel(bag: Bag, sent: Any) -> None:
    """Into the world by the camera's true pose and ray, back by the bag's transforms and calibration alone."""
    _, info = bag["/drone/rgb0/camera_info"][7]
    _, image = bag["/truth/drone/rgb0/depth"][7]
    truth = sent["truth/drone/rgb0"][7].data
    k = info.k.reshape(3, 3)
    camera = world_from(bag, info.header.frame_id, stamp_ns(info.header))
    depth = pixels_of(image)
    rows, columns = (part.ravel() for part in np.mgrid[3:240:40, 5:320:40])
    seen = np.isfinite(depth[rows, columns])
    rows, columns = rows[seen], columns[seen]
    assert len(rows) > 20
    rays = np.stack([(columns - 159.5) / 160.0, (rows - 119.5) / 160.0, np.ones(len(rows))], axis=-1)
    points = truth.position + (depth[rows, columns, None] * rays) @ matrix_from_quat(truth.quat_wxyz).T
    projected = camera.inverse().apply(points) @ k.T
    assert np.abs(projected[:, 0] / projected[:, 2] - columns).max() < 1e-3
    assert np.abs(projected[:, 1] / projected[:, 2] - rows).max() < 1e-3
    assert np.allclose(projected[:, 2], depth[rows, columns], atol=1e-4)


def cloud_of(message: Any) -> Any:
    formats = {4: "<u2", 7: "<f4"}
    names = [field.name for field in message.fields]
    layout: Any = {
        "names": names,
        "formats": [formats[field.datatype] for field in message.fields],
        "offsets": [field.offset for field in message.fields],
        "itemsize": message.point_step,
    }
    assert message.row_step == message.point_step * message.width == len(message.data)
    return message.data.view(np.dtype(layout))


def test_clouds_are_the_scans(bag: Bag, sent: Any) -> None:
    for (_, message), scan in zip(bag["/drone/lidar0/points"], sent["drone/lidar0"], strict=True):
        cloud = cloud_of(message)
        assert cloud.dtype.names == ("x", "y", "z", "intensity", "ring", "time")
        assert np.array_equal(np.stack([cloud["x"], cloud["y"], cloud["z"]], axis=-1), scan.data.points)
        assert np.array_equal(cloud["intensity"], scan.data.intensities)
        assert np.array_equal(cloud["ring"], scan.data.rings)
        assert np.allclose(cloud["time"], scan.data.offsets_ns * 1e-9, atol=1e-8)


def test_the_lidar_and_the_camera_agree_through_the_transforms(bag: Bag) -> None:
    """Points of the cloud that fall into the image are as far as the depth says there."""
    _, message = bag["/drone/lidar0/points"][5]
    _, image = bag["/truth/drone/rgb0/depth"][5]
    t_ns = stamp_ns(image.header)
    assert stamp_ns(message.header) == t_ns
    cloud, depth = cloud_of(message), pixels_of(image)
    points = np.stack([cloud["x"], cloud["y"], cloud["z"]], axis=-1)
    camera_from_lidar = world_from(bag, image.header.frame_id, t_ns).inverse() @ world_from(
        bag, message.header.frame_id, t_ns
    )
    x, y, z = camera_from_lidar.apply(points).T
    ahead = z > 0.2
    u, v = np.rint(160.0 * x[ahead] / z[ahead] + 159.5), np.rint(160.0 * y[ahead] / z[ahead] + 119.5)
    inside = (u >= 0) & (u < 320) & (v >= 0) & (v < 240)
    there = depth[v[inside].astype(int), u[inside].astype(int)]
    assert inside.sum() > 300
    assert np.median(np.abs(there / z[ahead][inside] - 1.0)) < 0.01


def test_small_samples_carry_their_values(bag: Bag, sent: Any) -> None:
    for (_, imu), message in zip(bag["/drone/imu0"], sent["drone/imu0"], strict=True):
        rate, force = imu.angular_velocity, imu.linear_acceleration
        assert [rate.x, rate.y, rate.z, force.x, force.y, force.z] == [
            *message.data.angular_velocity, *message.data.specific_force,
        ]  # fmt: skip
        assert imu.orientation_covariance[0] == -1.0
        assert imu.angular_velocity_covariance[4] == pytest.approx(1.6968e-4**2 * 200.0)
    _, fix = bag["/drone/gps0"][3]
    true = sent["drone/gps0"][3].data
    assert (fix.latitude, fix.longitude, fix.altitude) == (true.latitude_deg, true.longitude_deg, true.altitude)
    assert fix.position_covariance[8] == true.vertical_sd**2
    assert fix.status.status == (0 if true.fix_type else -1)
    assert bag["/drone/baro0"][5][1].fluid_pressure == sent["drone/baro0"][5].data.pressure
    assert bag["/drone/mag0"][5][1].magnetic_field.z == sent["drone/mag0"][5].data.field_tesla[2]
    _, bias = bag["/truth/drone/imu0/bias"][9]
    assert bias.linear_acceleration.y == sent["truth/drone/imu0"][9].data.accel_bias[1]


def test_odometry_tells_the_velocity_in_body_axes(bag: Bag, sent: Any) -> None:
    _, odometry = bag["/truth/drone/odometry"][60]
    state = sent["truth/drone"][60].data
    v, q = odometry.twist.twist.linear, odometry.pose.pose.orientation
    assert (odometry.header.frame_id, odometry.child_frame_id) == ("map", "drone/base_link")
    assert np.allclose(rotate(np.array([q.w, q.x, q.y, q.z]), np.array([v.x, v.y, v.z])), state.velocity_world)
    assert np.linalg.norm(state.velocity_world) > 0.1


def test_radar_volts_have_their_shape(bag: Bag, sent: Any) -> None:
    for (log_ns, message), scan in zip(bag["/drone/radar0/raw"], sent["drone/radar0/raw"], strict=True):
        shape = [dim.size for dim in message.layout.dim]
        assert [dim.label for dim in message.layout.dim] == ["antenna", "chirp", "sample"]
        assert [dim.stride for dim in message.layout.dim] == [3 * 64 * 64, 64 * 64, 64]
        assert np.array_equal(message.data.reshape(shape), scan.data.volts)
        assert log_ns == scan.arrival_ns


def test_labels_are_boxes_in_the_image_and_poses_before_the_camera(bag: Bag, sent: Any) -> None:
    found = 0
    for (_, array), message in zip(bag["/truth/drone/rgb0/labels"], sent["truth/drone/rgb0"], strict=True):
        labels = message.data.labels
        camera = world_from(bag, array.header.frame_id, message.t_ns)
        for detection, label in zip(array.detections, labels, strict=True):
            box, size = detection.bbox.center.position, (detection.bbox.size_x, detection.bbox.size_y)
            left, top = box.x - 0.5 * (size[0] - 1.0), box.y - 0.5 * (size[1] - 1.0)
            assert (left, top, left + size[0] - 1.0, top + size[1] - 1.0) == label.box_px
            assert detection.results[0].hypothesis.class_id == label.class_name
            p = detection.results[0].pose.pose.position
            assert np.allclose(camera.apply(np.array([p.x, p.y, p.z])), label.centre, atol=1e-6)
            found += 1
    assert found > 5


def test_mcap_finds_schemas_as_foxglove_knows_them(written: Recording) -> None:
    recorded = {(message.t_ns, message.arrival_ns) for message in written.messages()}
    with (written.folder / "ros2" / "ros2_0.mcap").open("rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        assert (reader.get_header().profile, reader.get_header().library) == ("ros2", "skyloop")
        summary = reader.get_summary()
        assert summary is not None and summary.statistics is not None
        types = {channel.topic: summary.schemas[channel.schema_id] for channel in summary.channels.values()}
        assert {schema.encoding for schema in types.values()} == {"ros2msg"}
        assert {channel.message_encoding for channel in summary.channels.values()} == {"cdr"}
        assert types["/drone/rgb0/image_raw"].name == "sensor_msgs/msg/Image"
        assert types["/tf_static"].name == "tf2_msgs/msg/TFMessage"
        assert types["/truth/drone/rgb0/labels"].name == "vision_msgs/msg/Detection2DArray"
        assert len(summary.chunk_indexes) > 5
        count = 0
        for _, _, message, decoded in reader.iter_decoded_messages():
            assert (message.publish_time, message.log_time) in recorded
            assert decoded is not None
            count += 1
        assert count == summary.statistics.message_count


def test_the_same_recording_gives_the_same_bytes(written: Recording, tmp_path: Path) -> None:
    again = write_bag(written, tmp_path / "again")
    for name in ("ros2_0.mcap", "metadata.yaml"):
        assert (again.folder / "ros2" / name).read_bytes() == (written.folder / "ros2" / name).read_bytes()
    assert sorted(path.name for path in (again.folder / "ros2").iterdir()) == ["metadata.yaml", "ros2_0.mcap"]


def test_a_full_disk_leaves_no_half_bag(recording: Recording, tmp_path: Path) -> None:
    (tmp_path / "ros2").mkdir()
    (tmp_path / "ros2" / "ros2_0.mcap.partial").symlink_to("/dev/full")
    writer = Mcap(dataclasses.replace(recording, folder=tmp_path))
    with pytest.raises(DatasetError, match=r"cannot write '.*ros2_0.mcap': No space left on device"):
        writer.add(recording.group(0))
    assert list((tmp_path / "ros2").iterdir()) == []


def translated(info: StreamInfo, record: Any) -> Bag:
    """One record through CDR and rosbags."""
    store = get_typestore(Stores.EMPTY)
    made = {view.topic_of(info): view.make(info, record) for view in views_of(info) if view.in_bag}
    bag: Bag = {}
    for topic, message in {"/tf_static": mounts([info], 0), **made}.items():
        if message is not None:
            kind = message.__msgtype__
            store.register(get_types_from_msg(schema_text(kind), kind))
            bag[topic] = [(0, store.deserialize_cdr(bytes(encode(message)), kind))]
    return bag


def test_a_lens_keeps_its_model(recording: Recording, sent: Any) -> None:
    info = recording.infos["drone/rgb0"]
    for model, theirs, coefficients, count in (
        ("fisheye", "equidistant", [0.1, 0.02, 0.003, 0.0004], 4),
        ("brown-conrady", "plumb_bob", [-0.28, 0.07, 2e-4, 1.8e-5], 5),
        ("pinhole", "plumb_bob", [], 5),
    ):
        details = {**info.details, "model": model, "distortion": coefficients}
        changed = dataclasses.replace(info, details=details)
        _, got = translated(changed, sent["drone/rgb0"][0].data)["/drone/rgb0/camera_info"][0]
        assert got.distortion_model == theirs
        assert got.d.tolist() == coefficients + [0.0] * (count - len(coefficients))
        assert got.p.reshape(3, 4)[:, :3].tolist() == got.k.reshape(3, 3).tolist()


def test_a_gimballed_camera_is_where_its_truth_says(recording: Recording) -> None:
    info = recording.infos["truth/drone/rgb0"]
    info = dataclasses.replace(info, details={**info.details, "gimbal": "roll-pitch"})
    truth = ImageTruth(5, np.array([1.0, 2.0, 3.0]), quat_from_euler(0.1, 0.2, 0.3))
    bag = translated(info, truth)
    assert bag["/tf_static"][0][1].transforms == []
    camera = world_from(bag, "drone/rgb0_optical", 5)
    assert np.array_equal(camera.position, truth.position)
    assert np.array_equal(camera.quat_wxyz, truth.quat_wxyz)


def test_complex_volts_become_pairs(recording: Recording) -> None:
    volts = (np.arange(24) + 1j * np.arange(24, 48)).astype(np.complex64).reshape(2, 3, 4)
    info = recording.infos["drone/radar0/raw"]
    _, message = translated(info, RadarScan(0, volts, 0.0))["/drone/radar0/raw"][0]
    assert [dim.size for dim in message.layout.dim] == [2, 3, 4, 2]
    assert np.array_equal(message.data.reshape(2, 3, 4, 2)[..., 1], volts.imag)
