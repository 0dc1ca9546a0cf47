"""What the odometry learns from StreamInfo, and what it says where something is missing."""

from __future__ import annotations

import numpy as np
import pytest

from skyloop.core.frames import quat_from_euler
from skyloop.sensors.camera import Camera, CameraConfig
from skyloop.sensors.imu import Imu, ImuConfig
from skyloop_autonomy.vio import CameraModel, StereoCalibration
from skyloop_autonomy.vio.calibration import chosen_streams
from skyloop_autonomy.vio.lens import PixelLens
from skyloop_client.errors import ScenarioError
from skyloop_client.streams import Mount, Rate, StreamInfo


def camera(name: str, message: str = "CameraImage", **options: object) -> StreamInfo:
    config = CameraConfig(**{"preset": "d435-left", **options})  # type: ignore[arg-type]
    details = Camera(config, 1.0 / 30.0).details()
    return StreamInfo(f"drone/{name}", message, Rate(30), "drone", 20_000_000, config.mount.mount(), details)


def imu(name: str = "imu", **more: object) -> StreamInfo:
    details = {**Imu(ImuConfig(preset="e2es"), 0.005).details(), **more}
    return StreamInfo(f"drone/{name}", "ImuSample", Rate(200), "drone", 0, Mount(np.array([0.01, 0.0, 0.02])), details)


def pair() -> dict[str, StreamInfo]:
    return {"left": camera("left"), "right": camera("right", preset="d435-right"), "imu": imu()}


def test_the_d435_pair_and_the_imu_of_e2es() -> None:
    found = StereoCalibration.from_streams(pair(), gravity=9.8)
    assert (found.left.width, found.left.height, found.rate_hz) == (640, 360, 30.0)
    assert found.left.fx == pytest.approx(343.4963684) and found.left.cx == 319.5
    assert found.baseline == pytest.approx(0.05)
    assert found.body_from_left.position == pytest.approx([0.12, 0.0, 0.0])
    # the optical axis looks along the body's x, the image's right is the body's right
    assert found.body_from_left.apply(np.array([0.0, 0.0, 1.0])) == pytest.approx([1.12, 0.0, 0.0])
    assert found.body_from_left.apply(np.array([1.0, 0.0, 0.0])) == pytest.approx([0.12, -1.0, 0.0])
    assert found.body_from_imu.position == pytest.approx([0.01, 0.0, 0.02])
    assert (found.imu.gyro_turn_on_sd, found.imu.accel_turn_on_sd, found.imu.rate_hz) == (0.0087, 0.196, 200.0)
    assert (found.imu.gyro_bias_tau, found.imu.accel_bias_tau) == (1000.0, 300.0)
    assert (found.imu.accel_noise_density, found.gravity) == (3e-5, 9.8)


def test_streams_are_found_by_name_and_kind() -> None:
    infos = {"drone/cam0": camera("cam0"), "drone/cam1": camera("cam1"), "drone/imu0": imu("imu0")}
    chosen = chosen_streams(infos)
    assert (chosen.left, chosen.right, chosen.imu) == ("drone/cam0", "drone/cam1", "drone/imu0")
    depth = camera("depth", "DepthImage")
    chosen = chosen_streams({"eye": camera("eye"), "depth": depth, "imu": imu()})
    assert (chosen.left, chosen.right, chosen.depth) == ("eye", None, "depth")
    assert StereoCalibration.from_streams({"eye": camera("eye"), "depth": depth, "imu": imu()}).right is None
    both = {**pair(), "other": camera("other")}
    assert chosen_streams(both, left="other", right="right").left == "other"


@pytest.mark.parametrize(
    ("infos", "named", "words"),
    [
        ({"left": camera("left"), "imu": imu()}, {}, "needs two cameras named left and right"),
        ({"left": camera("left"), "right": camera("right")}, {}, "needs an IMU"),
        (pair(), {"left": "lefft"}, "did you mean 'left'"),
        ({"left": camera("left"), "depth": camera("d", "DepthImage", width=320), "imu": imu()}, {}, "one size and one"),
        ({**pair(), "imu": imu(gyro_noise_density=-1.0)}, {}, "negative noise density"),
        ({**pair(), "left": StreamInfo("drone/left", "CameraImage")}, {}, "does not state its lens"),
    ],
)
def test_what_is_missing_is_one_line(infos: dict[str, StreamInfo], named: dict[str, str], words: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        StereoCalibration.from_streams(infos, **named)  # type: ignore[arg-type]
    assert words in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("model", "distortion"),
    [("pinhole", ()), ("brown-conrady", (-0.28, 0.07, 2e-4, 2e-5)), ("fisheye", (0.02, -0.01, 0.003, 0.0))],
)
def test_pixels_and_tangents_are_inverse_and_agree_with_the_simulated_lens(
    model: str, distortion: tuple[float, ...]
) -> None:
    config = CameraConfig(preset="perfect", model=model, distortion=distortion)  # type: ignore[arg-type]
    simulated = Camera(config, 0.05)
    details = simulated.details()
    numbers = {name: details[name] for name in ("width", "height", "fx", "fy", "cx", "cy")}
    lens = PixelLens(CameraModel(**numbers, distortion=tuple(details["distortion"]), model=model))
    tangents = np.random.default_rng(1).uniform(-0.6, 0.6, (50, 2))
    pixels = lens.pixels(tangents)
    assert pixels == pytest.approx(simulated.lens.project(np.column_stack([tangents, np.ones(50)])), abs=1e-6)
    assert lens.tangents(pixels) == pytest.approx(tangents, abs=1e-4)


def test_a_turned_mount_turns_the_camera() -> None:
    down = StreamInfo(
        "drone/left", "CameraImage", Rate(30), "drone", 0,
        Mount(np.zeros(3), quat_from_euler(0.0, np.pi / 2, 0.0)), camera("left").details,
    )  # fmt: skip
    found = StereoCalibration.from_streams({**pair(), "left": down})
    assert found.body_from_left.apply(np.array([0.0, 0.0, 1.0])) == pytest.approx([0.0, 0.0, -1.0])
