"""Recordings and sequences of EuRoC's played back on a bus."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from skyloop.core.bus import Bus, record_bytes
from skyloop.core.clock import Clock, RealTime
from skyloop.core.frames import matrix_from_quat, rotate
from skyloop.datasets.checking import check
from skyloop.recording.recording import Recording
from skyloop.recording.replay import open_replay, replay
from skyloop.recording.replay import replay_at as play
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Message

START_NS = 1403636579758555392
CAMERA_NS = [START_NS + 5_000_192, START_NS + 55_000_064]
TRUTH_NS = START_NS + 10_000_128

CAMERA_YAML = """\
# General sensor definitions.
sensor_type: camera
comment: VI-Sensor cam{number} (MT9M034)

# Sensor extrinsics wrt. the body-frame.
T_BS:
  cols: 4
  rows: 4
  data: [0.0148655429818, -0.999880929698, 0.00414029679422, -0.0216401454975,
         0.999557249008, 0.0149672133247, 0.025715529948, {y},
        -0.0257744366974, 0.00375618835797, 0.999660727178, 0.00981073058949,
         0.0, 0.0, 0.0, 1.0]

# Camera specific definitions.
rate_hz: 20
resolution: [8, 6]
camera_model: pinhole
intrinsics: [458.654, 457.296, 367.215, 248.375] #fu, fv, cu, cv
distortion_model: radial-tangential
distortion_coefficients: [-0.28340811, 0.07395907, 0.00019359, 1.76187114e-05]
"""
IMU_YAML = """\
#Default imu sensor yaml file
sensor_type: imu
comment: VI-Sensor IMU (ADIS16448)

# Sensor extrinsics wrt. the body-frame.
T_BS:
  cols: 4
  rows: 4
  data: [1.0, 0.0, 0.0, 0.0,
         0.0, 1.0, 0.0, 0.0,
         0.0, 0.0, 1.0, 0.0,
         0.0, 0.0, 0.0, 1.0]
rate_hz: 200

# inertial sensor noise model parameters (static)
gyroscope_noise_density: 1.6968e-04     # [ rad / s / sqrt(Hz) ]   ( gyro "white noise" )
gyroscope_random_walk: 1.9393e-05       # [ rad / s^2 / sqrt(Hz) ] ( gyro bias diffusion )
accelerometer_noise_density: 2.0000e-3  # [ m / s^2 / sqrt(Hz) ]   ( accel "white noise" )
accelerometer_random_walk: 3.0000e-3    # [ m / s^3 / sqrt(Hz) ].  ( accel bias diffusion )
"""
IMU_HEAD = (
    "#timestamp [ns],w_RS_S_x [rad s^-1],w_RS_S_y [rad s^-1],w_RS_S_z [rad s^-1],"
    "a_RS_S_x [m s^-2],a_RS_S_y [m s^-2],a_RS_S_z [m s^-2]\n"
)
IMU_ROWS = "".join(f"{START_NS + 5_000_000 * i},-0.1,0.14,{0.07 + i},8.17,-0.3,-3.6\n" for i in range(14))
TRUTH_HEAD = (
    "#timestamp, p_RS_R_x [m], p_RS_R_y [m], p_RS_R_z [m], q_RS_w [], q_RS_x [], q_RS_y [], q_RS_z [], "
    "v_RS_R_x [m s^-1], v_RS_R_y [m s^-1], v_RS_R_z [m s^-1], b_w_RS_S_x [rad s^-1], b_w_RS_S_y [rad s^-1], "
    "b_w_RS_S_z [rad s^-1], b_a_RS_S_x [m s^-2], b_a_RS_S_y [m s^-2], b_a_RS_S_z [m s^-2]\n"
)
TRUTH_ROW = (
    f"{TRUTH_NS},4.688319,-1.786938,0.783338,0.534108,-0.153029,-0.827383,-0.082152,-0.027876,0.033207,0.800006,"
    "-0.003172,0.021267,0.078502,-0.025266,0.136696,0.075593\n"
)


@pytest.fixture
def sequence(tmp_path: Path) -> Path:
    """A tenth of a second as the authors of EuRoC lay it out, line ends and all."""
    mav0 = tmp_path / "MH_00" / "mav0"
    for number in (0, 1):
        folder = mav0 / f"cam{number}"
        (folder / "data").mkdir(parents=True)
        (folder / "sensor.yaml").write_text(CAMERA_YAML.format(number=number, y=-0.064677 + 0.11 * number))
        rows = "".join(f"{t_ns},{t_ns}.png\r\n" for t_ns in CAMERA_NS)
        (folder / "data.csv").write_bytes(b"#timestamp [ns],filename\r\n" + rows.encode())
        for i, t_ns in enumerate(CAMERA_NS):
            grey = (np.arange(48).reshape(6, 8) + 100 * number + 10 * i).astype(np.uint8)
            Image.fromarray(grey).save(folder / "data" / f"{t_ns}.png")
    for name, settings, rows in (
        ("imu0", IMU_YAML, IMU_HEAD + IMU_ROWS),
        ("state_groundtruth_estimate0", "sensor_type: visual-inertial\n", TRUTH_HEAD + TRUTH_ROW),
        ("leica0", "sensor_type: position\n", f"#timestamp [ns],p_RS_R_x [m]\n{START_NS},1\n"),
    ):
        (mav0 / name).mkdir()
        (mav0 / name / "sensor.yaml").write_text(settings)
        (mav0 / name / "data.csv").write_text(rows)
    (mav0 / "body.yaml").write_text("comment: MAV AscTec Firefly\n")
    return mav0.parent


def all_messages(folder: Path, clock: Clock | None = None) -> tuple[Bus, list[Message]]:
    bus, heard = Bus(), list[Message]()
    opened = open_replay(folder)
    opened.advertise(bus)
    for stream in bus.infos:
        bus.on(stream, heard.append)
    assert opened.run(bus, clock) == len(heard)
    return bus, heard


@pytest.mark.renders
def test_a_recording_is_heard_as_it_was_sent(recording: Recording) -> None:
    bus, heard = all_messages(recording.folder)
    assert list(bus.infos) == list(recording.infos)
    sent = [message for group in range(recording.n_groups) for message in recording.group(group)]
    assert len(heard) == len(sent) > 1000
    for one, other in zip(heard, sent, strict=True):
        assert (one.stream, one.index, one.t_ns, one.arrival_ns) == (
            other.stream, other.index, other.t_ns, other.arrival_ns,
        )  # fmt: skip
        assert record_bytes(one.data) == record_bytes(other.data)
    arrivals = [message.arrival_ns for message in heard]
    assert arrivals == sorted(arrivals)
    assert bus.infos["drone/rgb0"].details["fx"] == pytest.approx(160.0)


@pytest.mark.renders
def test_it_keeps_the_pace_of_its_clock(recording: Recording) -> None:
    wall = [0.0]

    def sleep(seconds: float) -> None:
        wall[0] += seconds

    clock = Clock(RealTime(2.0, wall=lambda: wall[0], sleep=sleep))
    bus, late = Bus(), []
    opened = open_replay(recording.folder)
    opened.advertise(bus)
    for stream in bus.infos:
        bus.on(stream, lambda message: late.append(clock.now_ns - message.arrival_ns))
    opened.run(bus, clock)
    assert set(late) == {0}
    arrivals = [message.arrival_ns for message in recording.messages()]
    assert wall[0] == pytest.approx((arrivals[-1] - arrivals[0]) * 1e-9 / 2.0)


def test_a_euroc_sequence_is_heard_in_the_order_of_its_stamps(sequence: Path) -> None:
    bus, heard = all_messages(sequence)
    assert set(bus.infos) == {"drone/cam0", "drone/cam1", "drone/imu0", "truth/drone", "truth/drone/imu0"}
    assert bus.counts == {"drone/cam0": 2, "drone/cam1": 2, "drone/imu0": 14, "truth/drone": 1, "truth/drone/imu0": 1}
    stamps = [message.t_ns for message in heard]
    assert stamps == sorted(stamps)
    assert all(message.arrival_ns == message.t_ns == message.data.t_ns for message in heard)
    assert [m.t_ns for m in heard if m.stream == "drone/cam1"] == CAMERA_NS
    assert [m.index for m in heard if m.stream == "drone/imu0"] == list(range(14))
    picture = [m.data for m in heard if m.stream == "drone/cam1"][1].colour
    assert picture.shape == (6, 8, 3)
    assert np.array_equal(picture[..., 1], np.arange(48).reshape(6, 8) + 110)
    imu = [m.data for m in heard if m.stream == "drone/imu0"][3]
    assert imu.angular_velocity.tolist() == [-0.1, 0.14, 3.07]
    assert imu.specific_force.tolist() == [8.17, -0.3, -3.6]


def test_the_truth_of_euroc_is_a_state_and_biases(sequence: Path) -> None:
    bus, _ = all_messages(sequence)
    state, bias = bus.latest("truth/drone"), bus.latest("truth/drone/imu0")
    assert state.position.tolist() == [4.688319, -1.786938, 0.783338]
    assert state.velocity_world.tolist() == [-0.027876, 0.033207, 0.800006]
    assert np.allclose(state.quat_wxyz, [0.534108, -0.153029, -0.827383, -0.082152], atol=1e-5)
    assert np.isnan(state.angular_velocity_body).all()
    assert bias.gyro_bias.tolist() == [-0.003172, 0.021267, 0.078502]
    assert bias.accel_bias.tolist() == [-0.025266, 0.136696, 0.075593]


def test_the_calibration_of_euroc_travels_with_the_streams(sequence: Path) -> None:
    infos = open_replay(sequence / "mav0").infos
    camera, imu = infos["drone/cam0"], infos["drone/imu0"]
    assert {name: camera.details[name] for name in ("fx", "fy", "cx", "cy", "width", "height")} == {
        "fx": 458.654, "fy": 457.296, "cx": 367.215, "cy": 248.375, "width": 8, "height": 6,
    }  # fmt: skip
    assert camera.details["model"] == "brown-conrady"
    assert camera.details["distortion"] == [-0.28340811, 0.07395907, 0.00019359, 1.76187114e-05]
    assert camera.rate is not None and camera.rate.hz == 20.0
    assert camera.mount.position.tolist() == [-0.0216401454975, -0.064677, 0.00981073058949]
    # where the lens looks (z of its axes, third column of T_BS) is x of the sensor; right is minus left
    look = [0.00414029679422, 0.025715529948, 0.999660727178]
    right = [0.0148655429818, 0.999557249008, -0.0257744366974]
    assert np.allclose(rotate(camera.mount.quat_wxyz, [1.0, 0.0, 0.0]), look, atol=1e-6)
    assert np.allclose(rotate(camera.mount.quat_wxyz, [0.0, -1.0, 0.0]), right, atol=1e-6)
    assert np.array_equal(matrix_from_quat(imu.mount.quat_wxyz), np.eye(3))
    assert imu.details == {
        "gyro_noise_density": 1.6968e-4, "gyro_random_walk": 1.9393e-5,
        "accel_noise_density": 2e-3, "accel_random_walk": 3e-3,
    }  # fmt: skip


def test_calibrations_as_opencv_writes_them(sequence: Path) -> None:
    """With its own first line and its own tag of matrices, neither of which is YAML; replayed and checked."""
    plain = open_replay(sequence).infos
    for path in (sequence / "mav0").glob("*/sensor.yaml"):
        text = path.read_text().replace("T_BS:", "T_BS: !!opencv-matrix").replace("  cols: 4\n", "  cols: 4\n  dt: d\n")
        path.write_text(f"%YAML:1.0\n---\n{text}")
    assert [f.where for f in check(sequence) if f.severity == "error"] == []
    for name, info in open_replay(sequence).infos.items():
        assert (info.details, info.rate) == (plain[name].details, plain[name].rate)
        assert np.array_equal(info.mount.quat_wxyz, plain[name].mount.quat_wxyz)
        assert np.array_equal(info.mount.position, plain[name].mount.position)
    assert play(sequence, 0.0) == {
        "drone/cam0": 2, "drone/cam1": 2, "drone/imu0": 14, "truth/drone": 1, "truth/drone/imu0": 1,
    }  # fmt: skip


def test_a_sequence_with_a_scan_of_the_room_is_sound(sequence: Path) -> None:
    """EuRoC's Vicon rooms have a pointcloud0, which is one file and no table; a lost table is told all the same."""
    room = sequence / "mav0" / "pointcloud0"
    room.mkdir()
    (room / "sensor.yaml").write_text("sensor_type: pointcloud\n")
    (room / "data.ply").write_text("ply\n")
    assert check(sequence) == []
    (sequence / "mav0" / "leica0" / "data.csv").unlink()
    assert [f.where for f in check(sequence)] == ["mav0/leica0"]


def break_line(path: Path, line: int, text: str) -> None:
    lines = path.read_text().splitlines()
    lines[line - 1] = text
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("name", "line", "text", "says"),
    [
        ("imu0", 5, "1403636579,abc", r"imu0/data.csv' line 5: 2 cells, not 7"),
        ("imu0", 5, f"{START_NS + 15_000_000},1,2,nan,4,5,6", r"imu0/data.csv' line 5: a number is not finite"),
        ("imu0", 5, f"{START_NS},1,2,3,4,5,6", r"imu0/data.csv' line 5: stamp \d+ does not come after"),
        ("imu0", 5, "1.4e18,1,2,3,4,5,6", r"imu0/data.csv' line 5: '1.4e18' is not a stamp"),
        ("cam0", 3, f"{CAMERA_NS[1]},none.png", r"cam0/data.csv' line 3: '.*none.png' is missing"),
        ("cam0", 3, f"{CAMERA_NS[1]},../sensor.yaml", r"cam0/data.csv' line 3: .* is not a readable image"),
    ],
)
def test_a_broken_line_is_named(sequence: Path, name: str, line: int, text: str, says: str) -> None:
    break_line(sequence / "mav0" / name / "data.csv", line, text)
    with pytest.raises(DatasetError, match=says) as caught:
        all_messages(sequence)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("cam0/sensor.yaml", None, r"cam0/sensor.yaml' is missing"),
        ("imu0/sensor.yaml", "{", r"imu0/sensor.yaml' cannot be read"),
        ("imu0/sensor.yaml", "rate_hz: -5", r"imu0/sensor.yaml' cannot be read: .*positive"),
        ("imu0/sensor.yaml", "gyroscope_noise_density: much", r"imu0/sensor.yaml' misstates a noise"),
        ("cam0/sensor.yaml", "resolution: [8, 6]", r"cam0/sensor.yaml' lacks or misstates .*intrinsics"),
    ],
)
def test_a_broken_file_is_named(sequence: Path, name: str, content: str | None, says: str) -> None:
    path = sequence / "mav0" / name
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    with pytest.raises(DatasetError, match=says) as caught:
        open_replay(sequence)
    assert "\n" not in str(caught.value)


@pytest.mark.renders
def test_what_is_no_dataset_is_refused(recording: Recording, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="is not a dataset"):
        replay(tmp_path, Bus())
    (tmp_path / "mav0").mkdir()
    with pytest.raises(DatasetError, match="holds neither cam0, imu0"):
        replay(tmp_path, Bus())
    (tmp_path / "recording.json").write_bytes((recording.folder / "recording.json").read_bytes())
    with pytest.raises(DatasetError, match="holds no complete group"):
        replay(tmp_path, Bus())
