"""ASL/EuRoC as strangers see it: OpenCV with the written calibration, evo in its own process, and kill -9."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from asl_reading import STATES, copy, picture, pixels_of, rows, sensor, t_bs, world_from_body, write
from scipy.spatial.transform import Rotation

from skyloop.core.frames import Transform
from skyloop.datasets.recording_run import plan_recording
from skyloop.datasets.rig import RecordOptions, rig_scenario
from skyloop.datasets.worker import record_alone
from skyloop.recording.formats.asl import Asl
from skyloop.recording.formats.asl_sensors import channels_of
from skyloop.recording.formats.camera_poses import colour_camera
from skyloop.recording.formats.tum import Tum
from skyloop.recording.recording import Recording, open_recording
from skyloop_client.messages import CameraImage, ImuBias, Message, VehicleState
from skyloop_client.streams import Mount, StreamInfo

pytestmark = pytest.mark.renders

IMU_POSITION, IMU_ROTATION_DEG = [0.03, -0.05, 0.02], [10.0, -20.0, 35.0]
DISTORTION = [-0.2, 0.05, 0.002, -0.001]
WINGS = ("truth/drone", "drone/imu0", "drone/cam1")
"""Streams a second vehicle gets a copy of."""


@pytest.fixture(scope="module")
def mav0(recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(copy(recording, tmp_path_factory.mktemp("asl") / "dataset"))


@pytest.fixture(scope="module")
def skewed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset with an IMU that sits askew and an rgb0 whose lens distorts; cam0 looks from the same place."""
    folder = tmp_path_factory.mktemp("skewed") / "dataset"
    options = RecordOptions("radar-lab", frames=3, rate_hz=10.0, speed=1.0, sensors=("rgb", "stereo", "lidar", "imu"))
    overrides = {
        "vehicles.drone.sensors.rgb0.model": "brown-conrady",
        "vehicles.drone.sensors.rgb0.distortion": DISTORTION,
        "vehicles.drone.sensors.imu0.mount": {"position": IMU_POSITION, "rotation_deg": IMU_ROTATION_DEG},
    }
    plan_recording(rig_scenario(options, overrides), folder, frames=3, rate_hz=10.0, formats=())
    record_alone(folder)
    return write(folder)


def test_rows_are_the_samples_and_every_row_has_its_file(recording: Recording, mav0: Path) -> None:
    stamps: dict[str, list[str]] = {}
    for message in recording.messages():
        stamps.setdefault(recording.sensor_name(message.stream), []).append(str(message.t_ns))
    stamps[STATES] = stamps.pop("drone")
    folders = {"depth_groundtruth0": "rgb0", "normal0": "rgb0", "segmentation0": "rgb0", "instance0": "rgb0"}
    found = {path.name for path in mav0.iterdir() if path.is_dir()}
    assert found == set(folders) | set(stamps) - {"battery", "actuators", "status", "events", "setpoint"}
    for name in found:
        expected = stamps[folders.get(name, name)]
        if name in ("rgb0", "imu0") or name in folders:  # truth comes with each sample
            expected = expected[::2]
        table = rows(mav0 / name)
        assert [row[0] for row in table] == expected
        assert sensor(mav0 / name)["T_BS"]["cols"] == 4
        if (mav0 / name / "data").exists():
            assert [row[1] for row in table] == sorted(path.name for path in (mav0 / name / "data").iterdir())


def test_numbers_come_back_exactly(recording: Recording, mav0: Path) -> None:
    imu = [m.data for m in recording.messages(["drone/imu0"])]
    written = np.array([row[1:] for row in rows(mav0 / "imu0")], float)
    np.testing.assert_array_equal(written, [[*s.angular_velocity, *s.specific_force] for s in imu])
    biases = {m.t_ns: m.data for m in recording.messages(["truth/drone/imu0"])}
    states = np.array([row[1:] for row in rows(mav0 / STATES)], float)
    assert states.shape[1] == 16
    for state, row in zip([m.data for m in recording.messages(["truth/drone"])], states, strict=True):
        bias = biases[state.t_ns]
        np.testing.assert_array_equal(row[:10], [*state.position, *state.quat_wxyz, *state.velocity_world])
        np.testing.assert_array_equal(row[10:], [*bias.gyro_bias, *bias.accel_bias])
    about = sensor(mav0 / "imu0")
    details = recording.infos["drone/imu0"].details
    assert about["gyroscope_noise_density"] == details["gyro_noise_density"]
    assert about["accelerometer_random_walk"] == details["accel_random_walk"]
    assert about["rate_hz"] == 200


def test_a_camera_s_colour_is_its_mode_s_whatever_its_name(tmp_path: Path) -> None:
    lens = {"width": 3, "height": 2, "fx": 1.0, "fy": 1.0, "cx": 1.0, "cy": 0.5}
    pixels = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
    infos: dict[str, StreamInfo] = {}
    for name, mode, image in (
        ("eye", "grey", pixels[..., 0]),
        ("camera", "colour", pixels),
        ("cam0", "colour", pixels),
    ):
        info = StreamInfo(f"drone/{name}", "CameraImage", None, "drone", details={**lens, "mode": mode})
        infos[info.name] = info
        (channel,) = channels_of(info, name, Transform.identity(), [])
        assert channel.content is not None
        written = np.frombuffer(channel.content(CameraImage(0, image)) or b"", np.uint8)
        read = cv2.imdecode(written, cv2.IMREAD_UNCHANGED)
        np.testing.assert_array_equal(read, image if mode == "grey" else image[..., ::-1])
        assert channel.about["encoding"] == ("8-bit grey" if mode == "grey" else "8-bit red, green, blue")
    assert colour_camera(Recording(tmp_path, infos, {"vehicle": "drone"})) == "drone/camera"


def test_pictures_come_back_through_opencv(recording: Recording, mav0: Path) -> None:
    samples = {m.stream: m for m in recording.group(0)}  # the last of each stream
    colour, truth = samples["drone/rgb0"], samples["truth/drone/rgb0"].data
    name = f"data/{colour.t_ns}.png"
    np.testing.assert_array_equal(picture(mav0 / "rgb0" / name)[..., ::-1], colour.data.colour)
    eye = picture(mav0 / "cam1" / name)
    assert eye.dtype == np.uint8
    np.testing.assert_array_equal(eye, samples["drone/cam1"].data.colour)
    np.testing.assert_array_equal(picture(mav0 / "segmentation0" / name), truth.classes)
    assert sensor(mav0 / "segmentation0")["classes"] == dict(enumerate(recording.classes))
    np.testing.assert_array_equal(picture(mav0 / "instance0" / name), truth.instances)
    for folder, depth in (("depth0", samples["drone/depth0"].data.depth), ("depth_groundtruth0", truth.depth)):
        metres = picture(mav0 / folder / name) * sensor(mav0 / folder)["depth_unit"]
        known = np.isfinite(depth) & (depth < 65.0)
        assert np.abs(metres - depth)[known].max() < 5.1e-4 and not metres[~np.isfinite(depth)].any()
    normals = picture(mav0 / "normal0" / name)[..., ::-1] / 127.5 - 1.0
    assert np.abs(normals - truth.normals).max() < 0.0079
    cloud = np.load(mav0 / "lidar0/data" / f"{samples['drone/lidar0'].t_ns}.npy")
    scan = samples["drone/lidar0"].data
    np.testing.assert_array_equal(np.stack([cloud["x"], cloud["y"], cloud["z"]], axis=1), scan.points)
    np.testing.assert_array_equal(cloud["offset_ns"], scan.offsets_ns)
    radar = samples["drone/radar0/raw"]
    np.testing.assert_array_equal(np.load(mav0 / "radar0/data" / f"{radar.t_ns}.npy"), radar.data.volts)


@pytest.mark.parametrize("dataset", ["mav0", "skewed"])
def test_opencv_finds_the_lidars_points_where_the_camera_sees_them(
    dataset: str, request: pytest.FixtureRequest
) -> None:
    """The LiDAR measures with other means than the camera: only right poses, mounts and lenses bring them together."""
    mav = request.getfixturevalue(dataset)
    stamp = rows(mav / "lidar0")[1][0]
    cloud = np.load(mav / "lidar0/data" / f"{stamp}.npy")
    lidar = world_from_body(mav, stamp) @ t_bs(mav / "lidar0")
    points = np.stack([cloud["x"], cloud["y"], cloud["z"]], axis=1) @ lidar[:3, :3].T + lidar[:3, 3]
    pixels, z = pixels_of(points, mav, "segmentation0", stamp)
    seen = (z > 0.5) & (np.abs(pixels - [159.5, 119.5]) < [150.0, 110.0]).all(axis=1)
    assert seen.sum() > 300
    column, row = np.rint(pixels[seen]).astype(int).T
    depth = picture(mav / "depth_groundtruth0/data" / f"{stamp}.png")[row, column] * 1e-3
    # half a pixel off, the ground's depth differs by up to depth²/(2·f·height)
    assert np.mean(np.abs(depth - z[seen]) < 0.005 + z[seen] ** 2 / 400.0) > 0.97
    classes = picture(mav / "segmentation0/data" / f"{stamp}.png")[row, column]
    assert np.mean(classes == cloud["class"][seen]) > 0.97


@pytest.mark.parametrize("dataset", ["mav0", "skewed"])
def test_a_depth_pixel_lies_in_the_labelled_person_and_comes_back_within_a_pixel(
    dataset: str, request: pytest.FixtureRequest
) -> None:
    mav: Path = request.getfixturevalue(dataset)
    recording = open_recording(mav.parent)
    truth = next(m.data for m in recording.messages(["truth/drone/rgb0"]) if m.data.labels)
    stamp, label = str(truth.t_ns), truth.labels[0]
    row, column = np.argwhere(picture(mav / "instance0/data" / f"{stamp}.png") == label.instance)[label.visible_px // 2]
    z = picture(mav / "depth_groundtruth0/data" / f"{stamp}.png")[row, column] * 1e-3
    about = sensor(mav / "rgb0")
    fx, fy, cx, cy = about["intrinsics"]
    matrix, lens = np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]]), np.array(about["distortion_coefficients"])
    ray = cv2.undistortPoints(np.array([[[column, row]]], float), matrix, lens).ravel()
    camera = world_from_body(mav, stamp) @ t_bs(mav / "rgb0")
    point = camera @ [z * ray[0], z * ray[1], z, 1.0]
    away = Rotation.from_euler("z", -label.yaw).apply(point[:3] - label.centre)
    assert (np.abs(away) < 0.5 * label.size + 0.03).all()
    pixel, _ = pixels_of(point[None, :3], mav, "rgb0", stamp)
    assert np.abs(pixel[0] - [column, row]).max() < 1.0
    classes = sensor(mav / "segmentation0")["classes"]
    assert classes[picture(mav / "segmentation0/data" / f"{stamp}.png")[row, column]] == label.class_name


def test_undistorted_by_opencv_the_image_is_a_pinholes(skewed: Path) -> None:
    about, pinhole = sensor(skewed / "rgb0"), sensor(skewed / "cam0")
    assert about["distortion_model"] == "radial-tangential" and about["distortion_coefficients"] == DISTORTION
    fx, fy, cx, cy = about["intrinsics"]
    assert pinhole["intrinsics"] == about["intrinsics"]
    stamp = rows(skewed / "rgb0")[0][0]
    raw = cv2.cvtColor(picture(skewed / "rgb0/data" / f"{stamp}.png"), cv2.COLOR_BGR2GRAY)
    matrix = np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])
    flat = cv2.undistort(raw, matrix, np.array(about["distortion_coefficients"])).astype(float)
    same = picture(skewed / "cam0/data" / f"{stamp}.png").astype(float)
    inner = np.s_[20:-20, 20:-20]
    left = np.abs(flat - same)[inner].mean()
    assert left < 0.35 * np.abs(raw - same)[inner].mean() and left < 4.0


def test_a_point_shifts_between_the_stereo_cameras_by_baseline_times_focal_length_over_depth(mav0: Path) -> None:
    left, right = t_bs(mav0 / "cam0"), t_bs(mav0 / "cam1")
    offset = np.linalg.inv(left) @ right
    baseline, focal = offset[0, 3], sensor(mav0 / "cam0")["intrinsics"][0]
    assert baseline == pytest.approx(0.1) and np.abs(offset[1:3, 3]).max() < 1e-12
    stamp = rows(mav0 / "cam0")[0][0]
    first, second = (picture(mav0 / camera / "data" / f"{stamp}.png") for camera in ("cam0", "cam1"))
    depth = picture(mav0 / "depth_groundtruth0/data" / f"{stamp}.png") * 1e-3
    corners = cv2.goodFeaturesToTrack(first[10:-10, 45:-10], 60, 0.01, 8).reshape(-1, 2).astype(int)
    errors = []
    for column, row in np.add(corners, [45, 10]):
        patch = depth[row - 5 : row + 6, column - 5 : column + 6]
        if np.ptp(patch) > 0.1 * patch.min() or patch.min() == 0.0:
            continue
        strip = second[row - 5 : row + 6, column - 40 : column + 6]
        match = cv2.matchTemplate(strip, first[row - 5 : row + 6, column - 5 : column + 6], cv2.TM_SQDIFF)
        errors.append(35 - int(np.argmin(match[0])) - baseline * focal / depth[row, column])
    assert len(errors) > 10 and np.median(np.abs(errors)) < 0.6


def curved(recording: Recording, folder: Path) -> tuple[Recording, list[Message]]:
    """A recording in which only states are: an asymmetric curve, turning about all axes, an IMU askew."""
    folder.mkdir()
    askew = Rotation.from_euler("ZYX", [35.0, -20.0, 10.0], degrees=True).as_quat(scalar_first=True)
    infos = {name: replace(info, mount=Mount(np.array(IMU_POSITION), askew)) if name.endswith("imu0") else info
             for name, info in recording.infos.items()}  # fmt: skip
    messages = []
    for k in range(100):
        t = 0.02 * k
        place = np.array([3.0 * t + np.sin(2.0 * t), np.cos(1.3 * t) + 0.4 * t**2, 1.0 + 0.2 * t**3 - 0.5 * t])
        speed = np.array([3.0 + 2.0 * np.cos(2.0 * t), -1.3 * np.sin(1.3 * t) + 0.8 * t, 0.6 * t**2 - 0.5])
        spin = np.array([0.5, -0.8, 1.1])
        turn = (Rotation.from_euler("ZYX", [0.7, 0.2, -0.3]) * Rotation.from_rotvec(spin * t)).as_quat(
            scalar_first=True
        )
        t_ns, nothing = 20_000_000 * k, np.zeros(3)
        state = VehicleState(t_ns, place, speed, turn, spin, nothing, nothing, np.zeros(4), np.zeros(4), nothing)
        messages.append(Message("truth/drone", k, t_ns, t_ns, state))
    return replace(recording, folder=folder, infos=infos), messages


def test_the_ground_truth_is_the_motion_of_the_imu(recording: Recording, tmp_path: Path) -> None:
    turning, messages = curved(recording, tmp_path / "dataset")
    biases = [ImuBias(t, np.full(3, float(t)), np.full(3, -float(t))) for t in (0, 30_000_000, 500_000_000)]
    told = [Message("truth/drone/imu0", k, bias.t_ns, bias.t_ns, bias) for k, bias in enumerate(biases)]
    writer = Asl(turning)
    writer.add(messages[:50] + told[:2])
    writer.add(messages[50:] + told[2:])
    writer.finish()
    table = np.array(rows(turning.folder / "mav0" / STATES), float)
    t, place, speed = table[:, 0] * 1e-9, table[:, 1:4], table[:, 8:11]
    np.testing.assert_allclose((place[2:] - place[:-2]) / (t[2:] - t[:-2])[:, None], speed[1:-1], atol=2e-3)
    lever = (
        Rotation.from_quat(table[:, 4:8], scalar_first=True)
        * Rotation.from_euler("ZYX", [35.0, -20.0, 10.0], degrees=True).inv()
    )
    bodies = np.array([message.data.position for message in messages])
    np.testing.assert_allclose(place - lever.apply(IMU_POSITION), bodies, atol=1e-12)
    # what was last told: of the first, from 30 ms the second; the third came with the second group
    assert table[[0, 1, 2, 49, 50, 99], 11].tolist() == [0.0, 0.0, 3e7, 3e7, 5e8, 5e8]
    assert (table[:, 14] == -table[:, 11]).all()


def test_another_vehicle_has_its_own_folder_and_body(recording: Recording, tmp_path: Path) -> None:
    turning, messages = curved(recording, tmp_path / "dataset")
    other = {name.replace("drone", "wing"): replace(info, name=name.replace("drone", "wing"), vehicle="wing")
             for name, info in recording.infos.items() if name in WINGS}  # fmt: skip
    facts = {**recording.facts, "scenario": {"vehicles": [{"name": "drone"}, {"name": "wing"}]}}
    writer = Asl(replace(turning, infos={**turning.infos, **other}, facts=facts))
    writer.add([replace(message, stream="truth/wing") for message in messages])
    writer.finish()
    first, second = turning.folder / "mav0", turning.folder / "mav1"
    assert {path.name for path in second.iterdir()} == {"body.yaml", "imu0", "cam1", STATES}
    table = np.array(rows(second / STATES), float)
    np.testing.assert_array_equal(table[:, 1:4], [message.data.position for message in messages])
    assert rows(first / STATES) == []
    np.testing.assert_allclose(t_bs(second / "cam1")[:3, 3], [0.12, -0.1, 0.0], atol=1e-12)
    assert np.abs(t_bs(first / "cam1")[:3, 3] - [0.12, -0.1, 0.0]).max() > 0.03
    np.testing.assert_allclose(t_bs(first / "imu0"), np.eye(4), atol=1e-12)


def evo_ape(home: Path, *arguments: object) -> dict[str, float]:
    evo = Path(sys.executable).with_name("evo_ape")
    told = subprocess.run([evo, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "HOME": str(home)})  # fmt: skip
    lines = [line.split() for line in told.stdout.splitlines() if "\t" in line]
    assert lines, told.stdout + told.stderr
    return {name: float(value) for name, value in lines}


def test_evo_agrees_with_an_independently_moved_copy(recording: Recording, tmp_path: Path) -> None:
    turning, messages = curved(recording, tmp_path / "dataset")
    for kind in (Asl, Tum):
        writer = kind(turning)
        writer.add(messages)
        writer.finish()
    states = turning.folder / "mav0" / STATES / "data.csv"
    camera = np.loadtxt(turning.folder / "tum/groundtruth.txt")
    # TUM's is the camera's trajectory: take it to the IMU, then move the whole world
    mount = t_bs(turning.folder / "mav0/rgb0")
    turns = Rotation.from_quat(camera[:, 4:]) * Rotation.from_matrix(mount[:3, :3]).inv()
    places = camera[:, 1:4] - turns.apply(mount[:3, 3])
    move, shift = Rotation.from_euler("xyz", [0.4, -1.1, 2.0]), np.array([5.0, -7.0, 2.0])
    moved = move.apply(places) + shift
    texts = {"imu": (places, turns), "moved": (moved, move * turns)}
    for name, (place, turn) in texts.items():
        np.savetxt(tmp_path / f"{name}.txt", np.column_stack([camera[:, 0], place, turn.as_quat()]), fmt="%.9f")
    assert evo_ape(tmp_path, "euroc", states, tmp_path / "imu.txt", "-r", "full")["max"] < 1e-6
    assert evo_ape(tmp_path, "euroc", states, tmp_path / "moved.txt", "--align")["max"] < 1e-6
    apart = np.sqrt(np.mean(np.sum((moved - places) ** 2, axis=1)))
    assert evo_ape(tmp_path, "euroc", states, tmp_path / "moved.txt")["rmse"] == pytest.approx(apart, abs=1e-5)
