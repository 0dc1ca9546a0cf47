"""Flights in front of a painted wall: small pairs of images and IMU samples, and what may go wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

import numpy as np
from vio_flights import GRAVITY, IMU_HZ, Flight, flown_along

from skyloop.sensors.camera import Camera, CameraConfig
from skyloop.sensors.imu import Imu, ImuConfig
from skyloop_autonomy.vio import StereoCalibration, VioSettings, VisualInertialOdometry
from skyloop_autonomy.vio.lens import cv2
from skyloop_autonomy.vio.visual_localiser import VisualLocaliser
from skyloop_client.estimator import EstimatorSetup
from skyloop_client.messages import CameraImage, Estimate, ImuSample, Message, StartConditions
from skyloop_client.streams import Mount, Rate, StreamInfo

WIDTH, HEIGHT, PAIRS_HZ = 320, 180, 20
WALL = 3.0
"""m ahead of the start."""
PER_M = 80.0
"""px of the painting."""
SETTINGS = VioSettings(features=80)


class Pair(NamedTuple):
    t_ns: int
    left: np.ndarray | None
    right: np.ndarray | None


class Sample(NamedTuple):
    t_ns: int
    gyro: np.ndarray
    force: np.ndarray


Event = Pair | Sample
"""What comes from the sensors, in the order in which it comes."""


def infos() -> dict[str, StreamInfo]:
    """Two small cameras and an IMU with its turn-on biases."""
    out = {"imu": StreamInfo("drone/imu", "ImuSample", Rate(IMU_HZ), "drone", 0, Mount(), _imu().details())}
    for name in ("left", "right"):
        config = CameraConfig(preset=f"d435-{name}", width=WIDTH, height=HEIGHT, mode="grey")  # type: ignore[arg-type]
        details = Camera(config, 1.0 / PAIRS_HZ).details()
        out[name] = StreamInfo(
            f"drone/{name}", "CameraImage", Rate(PAIRS_HZ), "drone", 0, config.mount.mount(), details
        )
    return out


def _imu() -> Imu:
    return Imu(ImuConfig(preset="e2es"), 1.0 / IMU_HZ)


def calibration() -> StereoCalibration:
    return StereoCalibration.from_streams(infos(), gravity=GRAVITY)


@cache
def blobs(seed: int, height: int, width: int, smallest: float = 2.0, contrast: float = 60.0) -> np.ndarray:
    """A picture with blobs of all sizes, in which corners are found."""
    noise = np.random.default_rng(seed).normal(size=(height, width)).astype(np.float32)
    picture = sum(cv2.GaussianBlur(noise, (0, 0), scale * smallest) * scale * smallest for scale in (1, 2, 4))
    return np.clip(128.0 + contrast * picture / picture.std(), 0, 255).astype(np.uint8)


def painting() -> np.ndarray:
    """On 10 by 10 m."""
    return blobs(2, 800, 800, 1.5)


def view(rotation: np.ndarray, position: np.ndarray, mount: np.ndarray, focal: float) -> np.ndarray:
    """The wall x = WALL, with the middle of the painting straight ahead of the start; mount: body from camera."""
    world_from_camera = np.eye(4)
    world_from_camera[:3, :3], world_from_camera[:3, 3] = rotation, position
    camera = world_from_camera @ mount
    middle = 0.5 * len(painting()) / PER_M
    plane = np.array([[0.0, 0.0, WALL], [-1.0 / PER_M, 0.0, middle], [0.0, -1.0 / PER_M, middle]])
    plane[:, 2] -= camera[:3, 3]
    lens = np.array([[focal, 0.0, 0.5 * (WIDTH - 1)], [0.0, focal, 0.5 * (HEIGHT - 1)], [0.0, 0.0, 1.0]])
    return np.asarray(cv2.warpPerspective(painting(), lens @ camera[:3, :3].T @ plane, (WIDTH, HEIGHT)))


def swaying(seconds: float, seed: int = 1) -> Flight:
    """Rest for a second, then a figure before the wall, always looking at it."""
    t = np.arange(0.0, seconds, 1.0 / IMU_HZ)
    s = np.clip((t - 1.0) / 1.5, 0.0, 1.0)
    ramp, phase = s**4 * (35 - 84 * s + 70 * s**2 - 20 * s**3), np.maximum(t - 1.0, 0.0)
    position = ramp[:, None] * np.stack(
        [0.3 * np.sin(0.9 * phase), 0.6 * np.sin(1.1 * phase), 0.3 * np.sin(1.7 * phase)], axis=1
    )
    rig = calibration()
    return flown_along(t, position, 0.1 * ramp * np.sin(phase), rig.imu, np.random.default_rng([seed, 3]))


def events(seconds: float) -> tuple[Flight, tuple[Event, ...]]:
    """All that the sensors give on the beginning of one flight, of at most 11 s."""
    flown, given = _all_events()
    return flown, tuple(event for event in given if event.t_ns < round(seconds * 1e9))


@cache
def _all_events() -> tuple[Flight, tuple[Event, ...]]:
    """An IMU sample comes before the pair of the same instant."""
    flown, rig = swaying(11.0), calibration()
    mounts = rig.body_from_left.matrix(), rig.body_from_right.matrix()
    out: list[Event] = []
    for k, seconds_now in enumerate(flown.times):
        t_ns = round(seconds_now * 1e9)
        out.append(Sample(t_ns, flown.imu[k, :3], flown.imu[k, 3:]))
        if k % (IMU_HZ // PAIRS_HZ) == 0:
            left, right = (view(flown.rotations[k], flown.positions[k], mount, rig.left.fx) for mount in mounts)
            out.append(Pair(t_ns, left, right))
    return flown, tuple(out)


def through_odometry(given: Iterable[Event], settings: VioSettings = SETTINGS) -> list[Estimate]:
    """Every estimate."""
    return estimates_of(VisualInertialOdometry(calibration(), settings), given)


def estimates_of(odometry: VisualInertialOdometry, given: Iterable[Event]) -> list[Estimate]:
    out = []
    for event in given:
        if isinstance(event, Sample):
            out.append(odometry.imu(*event))
        else:
            odometry.images(*event)
    return out


def localiser(settings: VioSettings = SETTINGS) -> VisualLocaliser:
    nowhere = StartConditions(0.0, 0.0, 0.0, GRAVITY, np.zeros(3), np.zeros(3), 0.0)
    return VisualLocaliser(EstimatorSetup("drone", "vio", infos(), nowhere), settings=settings)


def through_localiser(given: Iterable[Event], settings: VioSettings = SETTINGS) -> list[Estimate]:
    """The same by messages."""
    made, out = localiser(settings), []
    for number, event in enumerate(given):
        if isinstance(event, Sample):
            found = made.estimate_of(Message("drone/imu", number, event.t_ns, event.t_ns, ImuSample(*event)))
            if found is not None:
                out.append(found)
            continue
        for name, image in (("left", event.left), ("right", event.right)):
            if image is not None:
                data = CameraImage(event.t_ns, image)
                made.estimate_of(Message(f"drone/{name}", number, event.t_ns, event.t_ns, data))
    return out


Way = Callable[[Iterable[Event]], list[Estimate]]
WAYS: dict[str, Way] = {"odometry": through_odometry, "localiser": through_localiser}


def is_finite(estimate: Estimate) -> bool:
    parts = [
        estimate.position, estimate.velocity_world, estimate.quat_wxyz, estimate.angular_velocity_body,
        estimate.position_sd, estimate.velocity_sd, estimate.attitude_sd,
    ]  # fmt: skip
    parts += [part for part in (estimate.covariance, estimate.gyro_bias, estimate.accel_bias) if part is not None]
    return all(bool(np.isfinite(part).all()) for part in parts)


def off(flown: Flight, estimate: Estimate) -> float:
    """m from the truth."""
    k = round(estimate.t_ns * 1e-9 * IMU_HZ)
    return float(np.linalg.norm(estimate.position - flown.positions[k]))
