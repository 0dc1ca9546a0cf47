"""Flights for the tests of visual-inertial odometry: an IMU and corners of a box-shaped room, without any pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from skyloop.core.frames import SENSOR_FROM_CAMERA, Transform, matrix_from_quat
from skyloop_autonomy.vio.calibration import CameraModel, ImuModel, StereoCalibration
from skyloop_autonomy.vio.measurement_kernels import STEREO
from skyloop_autonomy.vio.odometry import VisualInertialOdometry
from skyloop_autonomy.vio.settings import VioSettings
from skyloop_autonomy.vio.tracking import CornerTracks

GRAVITY = 9.80665
BASELINE = 0.05
FOCAL = 343.5
IMU_HZ, PAIRS_HZ = 200, 20
REST_S = 1.0


def calibration(imu: ImuModel | None = None) -> StereoCalibration:
    lens = CameraModel(640, 360, FOCAL, FOCAL, 319.5, 179.5)
    left = Transform(np.array([0.12, 0.0, 0.0]), SENSOR_FROM_CAMERA)
    right = Transform(np.array([0.12, -BASELINE, 0.0]), SENSOR_FROM_CAMERA)
    noise = imu or ImuModel(
        gyro_noise_density=1e-4, gyro_random_walk=2e-5, gyro_turn_on_sd=0.0087,
        accel_noise_density=1e-3, accel_random_walk=1e-4, accel_turn_on_sd=0.196,
    )  # fmt: skip
    return StereoCalibration(lens, lens, left, right, Transform.identity(), noise, GRAVITY, float(PAIRS_HZ))


@dataclass
class Flight:
    """Truth at IMU instants; the IMU with noise and biases."""

    times: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray
    rotations: np.ndarray
    imu: np.ndarray
    """(n, 6) gyro, accelerometer."""
    biases: np.ndarray


def flight(seed: int, seconds: float, imu: ImuModel, liveliness: float = 1.0) -> Flight:
    """Rest, then a wandering flight: sums of sines in place and heading; it tilts as acceleration needs."""
    rng = np.random.default_rng([seed, 1])
    t = np.arange(0.0, seconds, 1.0 / IMU_HZ)
    # a smooth start: all motion is multiplied by a ramp that begins at rest
    s = np.clip((t - REST_S) / 3.0, 0.0, None)
    phase = np.where(t > REST_S, t - REST_S, 0.0)
    ramp = np.where(s < 1.0, s**4 * (35 - 84 * s + 70 * s**2 - 20 * s**3), 1.0)
    position = np.zeros((len(t), 3))
    for axis, size in enumerate((2.0, 2.0, 0.4)):
        for rate in (0.15, 0.31):
            position[:, axis] += (
                liveliness * ramp * size * np.sin(rate * phase + rng.uniform(0.0, 6.0)) * rng.uniform(0.4, 1.0)
            )
    position -= position[0]
    position[:, 2] += ramp * 1.5
    heading = ramp * (0.8 * np.sin(0.12 * phase + rng.uniform(0.0, 6.0)) + 0.1 * phase * rng.choice([-1.0, 1.0]))
    return flown_along(t, position, heading, imu, rng)


def flown_along(
    t: np.ndarray, position: np.ndarray, heading: np.ndarray, imu: ImuModel, rng: np.random.Generator
) -> Flight:
    """A flight through these positions with these headings; it tilts as acceleration needs."""
    dt = 1.0 / IMU_HZ
    velocity: Any = np.gradient(position, dt, axis=0, edge_order=2)
    acceleration: Any = np.gradient(velocity, dt, axis=0, edge_order=2)
    force = acceleration + np.array([0.0, 0.0, GRAVITY])
    up = force / np.linalg.norm(force, axis=1, keepdims=True)
    ahead = np.stack([np.cos(heading), np.sin(heading), np.zeros(len(t))], axis=1)
    side = np.cross(up, ahead)
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    rotations = np.stack([np.cross(side, up), side, up], axis=2)
    steps = Rotation.from_matrix(np.swapaxes(rotations[:-1], 1, 2) @ rotations[1:]).as_rotvec() / dt
    rates = np.concatenate([steps[:1], 0.5 * (steps[1:] + steps[:-1]), steps[-1:]])
    local = np.einsum("nji,nj->ni", rotations, force)
    walks = np.sqrt(dt) * np.array([imu.gyro_random_walk] * 3 + [imu.accel_random_walk] * 3)
    on = np.array([imu.gyro_turn_on_sd] * 3 + [imu.accel_turn_on_sd] * 3)
    biases = on * rng.normal(size=6) + np.cumsum(walks * rng.normal(size=(len(t), 6)), axis=0)
    white = np.sqrt(IMU_HZ) * np.array([imu.gyro_noise_density] * 3 + [imu.accel_noise_density] * 3)
    measured = np.concatenate([rates, local], axis=1) + biases + white * rng.normal(size=(len(t), 6))
    return Flight(t, position, velocity, rotations, measured, biases)


class Corners:
    """Points on the walls of a room of 12 by 12 m, seen with white noise; a track is lost now and then."""

    def __init__(self, seed: int, count: int = 900, pixel_sd: float = 0.3, clouds: int = 0) -> None:
        """clouds: points at 400 m that turn about the room by 4 mrad/s, as drifting clouds do."""
        self.rng = np.random.default_rng([seed, 2])
        walls = self.rng.uniform(-6.0, 6.0, (count, 3))
        walls[:, 2] = self.rng.uniform(0.0, 3.0, count)
        side = self.rng.integers(0, 4, count)
        walls[np.arange(count), side // 2] = np.where(side % 2, 6.0, -6.0)
        around = self.rng.uniform(-np.pi, np.pi, clouds)
        sky = np.stack([400.0 * np.cos(around), 400.0 * np.sin(around), self.rng.uniform(20.0, 120.0, clouds)], axis=1)
        self.points = np.concatenate([sky, walls])
        self.clouds, count = clouds, count + clouds
        self.pixel_sd = pixel_sd
        self.numbers = np.full(count, -1)
        self.next_id = 0

    def tracks(self, rotation: np.ndarray, position: np.ndarray, most: int = 120) -> CornerTracks:
        c, s = np.cos(0.004 / PAIRS_HZ), np.sin(0.004 / PAIRS_HZ)
        self.points[: self.clouds, :2] = self.points[: self.clouds, :2] @ np.array([[c, s], [-s, c]])
        eye = position + rotation @ [0.12, 0.0, 0.0]
        local = (self.points - eye) @ rotation
        depth = np.where(local[:, 0] > 0.3, local[:, 0], np.nan)
        tangents = np.stack([-local[:, 1] / depth, -local[:, 2] / depth], axis=1)
        visible = (np.abs(tangents[:, 0]) < 0.9) & (np.abs(tangents[:, 1]) < 0.5) & ((depth < 15.0) | (depth > 100.0))
        visible &= self.rng.uniform(size=len(visible)) > 0.01
        self.numbers[~visible] = -1
        free = np.flatnonzero(visible & (self.numbers < 0))[: max(0, most - int((self.numbers >= 0).sum()))]
        self.numbers[free] = np.arange(self.next_id, self.next_id + len(free))
        self.next_id += len(free)
        index = np.flatnonzero(self.numbers >= 0)
        index = index[np.argsort(self.numbers[index])]
        noise = self.pixel_sd / FOCAL * self.rng.normal(size=(len(index), 3))
        rows = np.column_stack([tangents[index], BASELINE / depth[index]]) + noise
        n = len(index)
        return CornerTracks(
            self.numbers[index].astype(np.int64), (FOCAL * rows[:, :2]).astype(np.float32), rows,
            np.full(n, STEREO, np.uint8), 1.0 / depth[index], np.zeros(n, np.int64),
        )  # fmt: skip


class WithWalker(Corners):
    """A third of the corners move together, as on a person."""

    walked = 0.0

    def tracks(self, rotation: np.ndarray, position: np.ndarray, most: int = 120) -> CornerTracks:
        self.walked += 0.05
        tracks = super().tracks(rotation, position, most)
        tracks.rows[tracks.ids % 3 == 0, 0] += 0.3 * np.sin(0.8 * self.walked)
        return tracks


@dataclass
class Errors:
    """Of one flight, one row per pair: truth minus estimate of position, velocity, turn and biases."""

    times: np.ndarray
    values: np.ndarray
    """(n, 15)."""
    covariances: np.ndarray
    """(n, 15, 15)."""
    valid: np.ndarray

    def nees(self, first: int, last: int) -> np.ndarray:
        """(n,) normalised squared error of some states, divided by their number: 1 on average if all is consistent."""
        part = self.values[:, first:last]
        solved = np.linalg.solve(self.covariances[:, first:last, first:last], part[..., None])[..., 0]
        return np.einsum("ni,ni->n", part, solved) / (last - first)


TRUE_NOISE: dict[str, Any] = {
    "pixel_sd": 0.3, "disparity_sd": 0.3, "noise_multiplier": 1.0, "gyro_noise_floor": 0.0, "accel_noise_floor": 0.0,
    "gyro_walk_floor": 0.0, "accel_walk_floor": 0.0, "rest_px": 1.6, "sigma_scale": 1.0, "step_px": 0.7,
}  # fmt: skip
"""Settings by which the filter knows exactly how noisy everything is."""


class TrackDrivenOdometry(VisualInertialOdometry):
    """The odometry, with corners given in place of images."""

    def corners(self, t_ns: int, tracks: CornerTracks) -> None:
        f = self.backend.filter
        self._stillness.see(t_ns, tracks)
        if self._starting is not None or t_ns <= f.t_ns:
            return
        self.tracker.tracks = tracks
        self._step(t_ns, self._samples.between(f.t_ns, t_ns))
        self._ahead = f.rotation.copy(), f.motion.copy(), f.covariance[:15, :15].copy()
        self._publish(t_ns)


def give(odometry: TrackDrivenOdometry, flown: Flight, k: int, seen: Corners) -> None:
    """The IMU sample k, and the corners if a pair is due."""
    t_ns = round(flown.times[k] * 1e9)
    odometry.imu(t_ns, flown.imu[k, :3], flown.imu[k, 3:])
    if k % (IMU_HZ // PAIRS_HZ) == 0:
        odometry.corners(t_ns, seen.tracks(flown.rotations[k], flown.positions[k]))


def fly(
    seed: int,
    seconds: float,
    *,
    first: float = 0.0,
    corners: Corners | None = None,
    liveliness: float = 1.0,
    blow: tuple[float, float] | None = None,
    **settings: Any,
) -> tuple[TrackDrivenOdometry, Errors]:
    """Flies on corners; `first` s: the IMU is switched on that late; `blow`: s at which one sample of the accelerometer
    shows m/s that the vehicle has not gained."""
    rig = calibration()
    odometry = TrackDrivenOdometry(rig, VioSettings(**{**TRUE_NOISE, **settings}))
    flown = flight(seed, seconds, rig.imu)
    seen = corners or Corners(seed)
    if blow is not None:
        flown.imu[round(blow[0] * IMU_HZ), 5] += blow[1] * IMU_HZ
    rows = []
    for k in range(round(first * IMU_HZ), len(flown.times)):
        give(odometry, flown, k, seen)
        e = odometry.estimate
        if k % (IMU_HZ // PAIRS_HZ) or e.covariance is None:
            continue
        turn = flown.rotations[k] @ matrix_from_quat(e.quat_wxyz).T
        error = np.concatenate(
            [
                flown.positions[k] - e.position, flown.velocities[k] - e.velocity_world,
                Rotation.from_matrix(turn).as_rotvec(), flown.biases[k, :3] - e.gyro_bias,
                flown.biases[k, 3:] - e.accel_bias,
            ]
        )  # fmt: skip
        rows.append((flown.times[k], error, e.covariance, e.valid))
    times, values, covariances, valid = zip(*rows, strict=True)
    return odometry, Errors(np.array(times), np.array(values), np.array(covariances), np.array(valid))
