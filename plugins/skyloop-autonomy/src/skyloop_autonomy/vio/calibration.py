"""What visual-inertial odometry knows of its sensors: lenses, mounts, noise, rates and latencies, from `StreamInfo`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

import numpy as np

from skyloop.core.frames import SENSOR_FROM_CAMERA, Transform, quat_multiply
from skyloop_client.errors import ScenarioError, nearest_name
from skyloop_client.streams import StreamInfo

LENSES = ("pinhole", "brown-conrady", "fisheye")
DEFAULT_GRAVITY = 9.80665
_PAIRS = (("left", "right"), ("cam0", "cam1"), ("infra1", "infra2"))
"""The names by which the two cameras of a pair are known when none are given."""


@dataclass(frozen=True, slots=True)
class CameraModel:
    """The lens of one camera, in OpenCV's terms."""

    width: int
    """px."""
    height: int
    """px."""
    fx: float
    """px."""
    fy: float
    """px."""
    cx: float
    """px; the centre of the first pixel is at 0."""
    cy: float
    """px."""
    distortion: tuple[float, ...] = ()
    """k1, k2, p1, p2[, k3] of brown-conrady, or k1 to k4 of a fisheye; empty: none."""
    model: str = "pinhole"
    """One of LENSES."""

    @property
    def is_distorted(self) -> bool:
        return self.model == "fisheye" or any(self.distortion)


@dataclass(frozen=True, slots=True)
class ImuModel:
    """The errors of the IMU, as its data sheet gives them."""

    gyro_noise_density: float = 1e-4
    """rad/s/√Hz."""
    gyro_random_walk: float = 1e-5
    """rad/s²/√Hz."""
    gyro_bias_tau: float = math.inf
    """s, the time in which the bias decays towards zero; infinite: it does not."""
    gyro_turn_on_sd: float = 0.01
    """rad/s, one sigma of the bias at the start."""
    accel_noise_density: float = 2e-3
    """m/s²/√Hz."""
    accel_random_walk: float = 1e-4
    """m/s³/√Hz."""
    accel_bias_tau: float = math.inf
    """s, the time in which the bias decays towards zero; infinite: it does not."""
    accel_turn_on_sd: float = 0.1
    """m/s², one sigma of the bias at the start."""
    rate_hz: float = 200.0
    """Samples per second."""
    latency_ns: int = 0
    """ns from the instant a sample describes to its arrival."""


@dataclass(frozen=True, slots=True, eq=False)
class StereoCalibration:
    """Two cameras, or one and a depth image on its pixels, and an IMU on one rigid body."""

    left: CameraModel
    right: CameraModel | None
    """None: the second image is a depth image, pixel by pixel that of the left camera."""
    body_from_left: Transform
    """The pose of the left camera's optical frame (right, down, forward) on the body."""
    body_from_right: Transform
    """The same of the right one; of a depth image that of the left camera."""
    body_from_imu: Transform
    """The pose of the IMU's frame on the body."""
    imu: ImuModel = ImuModel()
    gravity: float = DEFAULT_GRAVITY
    """m/s², downwards."""
    rate_hz: float = 30.0
    """Pairs of images per second."""
    """ns from the instant a pair shows to its arrival."""

    @property
    def baseline(self) -> float:
        """m, between the two lenses; 0 with a depth image."""
        return float(np.linalg.norm(self.body_from_right.position - self.body_from_left.position))

    def swapped(self) -> StereoCalibration:
        """The same rig with the right camera in the left one's part."""
        if self.right is None:
            return self
        return replace(
            self,
            left=self.right,
            right=self.left,
            body_from_left=self.body_from_right,
            body_from_right=self.body_from_left,
        )

    @staticmethod
    def from_streams(
        infos: Mapping[str, StreamInfo],
        *,
        left: str | None = None,
        right: str | None = None,
        depth: str | None = None,
        imu: str | None = None,
        gravity: float = DEFAULT_GRAVITY,
    ) -> StereoCalibration:
        """From what is known of the input streams. Streams that are not named are found by their kind and name.

        Without a second camera a stream of depth images on the pixels of the left camera takes its place.
        """
        names = chosen_streams(infos, left=left, right=right, depth=depth, imu=imu)
        camera, inertial = infos[names.left], infos[names.imu]
        model = camera_model(camera)
        right_model, body_from_right = None, _body_from_camera(camera)
        if names.right is not None:
            right_model, body_from_right = camera_model(infos[names.right]), _body_from_camera(infos[names.right])
        elif names.depth is not None:
            _check_depth(infos[names.depth], camera)
        return StereoCalibration(
            left=model,
            right=right_model,
            body_from_left=_body_from_camera(camera),
            body_from_right=body_from_right,
            body_from_imu=Transform(inertial.mount.position, inertial.mount.quat_wxyz),
            imu=imu_model(inertial),
            gravity=gravity,
            rate_hz=camera.rate.hz if camera.rate else 30.0,
        )


@dataclass(frozen=True, slots=True)
class ChosenStreams:
    """The inputs of the odometry, by the names they have in `infos`."""

    left: str
    imu: str
    right: str | None = None
    depth: str | None = None

    @property
    def names(self) -> dict[str, str | None]:
        return {"left": self.left, "right": self.right, "depth": self.depth, "imu": self.imu}


def chosen_streams(
    infos: Mapping[str, StreamInfo],
    *,
    left: str | None = None,
    right: str | None = None,
    depth: str | None = None,
    imu: str | None = None,
) -> ChosenStreams:
    """The streams that are named, or else: the pair left/right or cam0/cam1, the only depth image, the only IMU."""
    for name in (left, right, depth, imu):
        if name is not None and name not in infos:
            raise ScenarioError(f"no stream named '{name}' for odometry; {nearest_name(name, list(infos))}")
    cameras = {name.rsplit("/", 1)[-1]: name for name, info in infos.items() if info.message == "CameraImage"}
    depths = [name for name, info in infos.items() if info.message == "DepthImage"]
    inertial = [name for name, info in infos.items() if info.message == "ImuSample"]
    if imu is None:
        imu = next((name for name in inertial if name.rsplit("/", 1)[-1] in ("imu", "imu0")), None)
        imu = imu or (inertial[0] if inertial else None)
    if imu is None:
        raise ScenarioError("odometry needs an IMU; add one under sensors, such as imu: {kind: imu, preset: e2es}")
    if left is None and right is None and depth is None:
        pair = next((pair for pair in _PAIRS if pair[0] in cameras and pair[1] in cameras), None)
        if pair is not None:
            return ChosenStreams(cameras[pair[0]], imu, right=cameras[pair[1]])
    left = left or next((cameras[name] for name in ("left", "cam0", *cameras) if name in cameras), None)
    if right is None and depth is None:
        depth = depths[0] if depths else None
    if left is None or (right is None and depth is None):
        raise ScenarioError(
            "odometry needs two cameras named left and right, or a camera and a depth camera; add "
            "left: {kind: camera, preset: d435-left, mode: grey} and the same with right"
        )
    return ChosenStreams(left, imu, right=right, depth=None if right is not None else depth)


def camera_model(info: StreamInfo) -> CameraModel:
    """The lens from the details of a camera's stream."""
    details = info.details
    try:
        width, height = int(details["width"]), int(details["height"])
        fx, fy, cx, cy = (float(details[name]) for name in ("fx", "fy", "cx", "cy"))
    except (KeyError, TypeError, ValueError) as error:
        raise ScenarioError(
            f"stream '{info.name}' does not state its lens ({error}); odometry needs fx, fy, cx, cy"
        ) from None
    model = str(details.get("model", "pinhole"))
    if model not in LENSES:
        raise ScenarioError(f"stream '{info.name}' has a lens of model '{model}'; {nearest_name(model, LENSES)}")
    return CameraModel(width, height, fx, fy, cx, cy, tuple(float(k) for k in details.get("distortion", ())), model)


def imu_model(info: StreamInfo) -> ImuModel:
    """The noise from the details of an IMU's stream; a recording without turn-on biases gets the usual ones."""
    usual = asdict(ImuModel())
    rate_hz = usual.pop("rate_hz")
    del usual["latency_ns"]
    stated = {name: info.details.get(name) for name in usual}
    numbers = {name: usual[name] if number is None else float(number) for name, number in stated.items()}
    if any(math.isnan(number) or number < 0.0 for number in numbers.values()):
        raise ScenarioError(f"stream '{info.name}' states a negative noise density; check its details")
    return ImuModel(**numbers, rate_hz=info.rate.hz if info.rate else rate_hz, latency_ns=info.latency_ns)


def _body_from_camera(info: StreamInfo) -> Transform:
    return Transform(info.mount.position, quat_multiply(info.mount.quat_wxyz, SENSOR_FROM_CAMERA))


def _check_depth(depth: StreamInfo, camera: StreamInfo) -> None:
    """A depth image is looked up at the pixels of the left camera, so both need one pose and one size."""
    same = (depth.details.get("width"), depth.details.get("height")) == (
        camera.details["width"],
        camera.details["height"],
    )
    apart = float(np.linalg.norm(depth.mount.position - camera.mount.position))
    turned = 1.0 - abs(float(depth.mount.quat_wxyz @ camera.mount.quat_wxyz))
    if not same or apart > 1e-3 or turned > 1e-6:
        raise ScenarioError(
            f"depth image '{depth.name}' does not lie on the pixels of '{camera.name}'; "
            "give both one size and one mount"
        )
