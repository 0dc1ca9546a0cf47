"""How the odometry begins, at rest or in motion, and whether the vehicle rests, by the IMU and the images together.

At rest it learns tilt and gyroscope bias, in motion it begins with wide doubts.

A hover is as calm as the ground to an IMU; only the images tell them apart. While hardly anything moves in the images,
their errors repeat from pair to pair, so most of those pairs are left out: taken as independent they would make the
filter far too sure of itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skyloop_autonomy.vio.calibration import ImuModel, StereoCalibration
from skyloop_autonomy.vio.imu_kernels import ACCEL_BIAS, GYRO_BIAS, N_IMU
from skyloop_autonomy.vio.samples import SampleBuffer
from skyloop_autonomy.vio.settings import VioSettings
from skyloop_autonomy.vio.tracking import CornerTracks
from skyloop_client.messages import Array

_UP = np.array([0.0, 0.0, 1.0])
_KNOWN_POSITION_SD = 1e-3
"""m and rad: the start is where the frame begins, so position and heading are known by definition."""
_LEAST_GYRO_BIAS_SD, _LEAST_ACCEL_BIAS_SD = 2e-3, 0.02
"""rad/s and m/s², for an IMU that tells nothing of its turn-on bias."""
_NOISE_SIGMAS = 3.0
_LOOK_EVERY = 0.1
"""s between two looks at the latest samples."""
_REST_GYRO_SD, _REST_ACCEL_SD = 1e-4, 2e-3
"""rad/s and m/s², how far a vehicle at rest may still turn and shake."""


class Start(NamedTuple):
    rotation: Array
    """(3, 3) world from IMU, with the heading of the body's x axis at zero."""
    biases: Array
    covariance: Array
    at_rest: bool


class Starting:
    """Collects samples until the vehicle has stood still for a while, or patience is over."""

    def __init__(self, settings: VioSettings, calibration: StereoCalibration) -> None:
        self._settings = settings
        self._calibration = calibration
        self._first_ns: int | None = None
        self._looked_ns = 0
        self._samples: list[tuple[int, Array]] = []
        """Of the last `rest_time`."""

    def take(self, t_ns: int, sample: Array, images_rest: bool) -> Start | None:
        """images_rest: whether the images have shown no motion for a while."""
        s = self._settings
        if self._first_ns is None:
            self._first_ns = self._looked_ns = t_ns
        self._samples.append((t_ns, sample))
        if (t_ns - self._first_ns) * 1e-9 < s.rest_time or (t_ns - self._looked_ns) * 1e-9 < _LOOK_EVERY:
            return None
        self._looked_ns = t_ns
        while (t_ns - self._samples[0][0]) * 1e-9 > s.rest_time:
            self._samples.pop(0)
        values = np.array([value for _, value in self._samples])
        # a hover or a steady flight is as calm as the ground to an IMU, so the images must agree
        if images_rest and is_still(values, rest_limits(s, self._calibration.imu)):
            return aligned(values.mean(axis=0), len(values), self._calibration, s)
        if (t_ns - self._first_ns) * 1e-9 < s.patience:
            return None
        return moving(values, self._calibration, s)


def rest_limits(settings: VioSettings, imu: ImuModel) -> tuple[float, float]:
    """rad/s and m/s², the scatter of samples above which the vehicle moves: a few times what the IMU's own noise makes.

    A vehicle that still sways on its legs would give a gyroscope bias that is wrong by many of its sigmas."""
    per_sample = _NOISE_SIGMAS * np.sqrt(imu.rate_hz)
    gyro, accel = per_sample * imu.gyro_noise_density, per_sample * imu.accel_noise_density
    return max(float(gyro), settings.rest_gyro_sd), max(float(accel), settings.rest_accel_sd)


def is_still(samples: Array, limits: tuple[float, float]) -> bool:
    """Whether the scatter of (n, 6) samples is noise, not motion. A hover or a steady flight looks so as well."""
    scatter = samples.std(axis=0)
    return bool(scatter[:3].max() < limits[0] and scatter[3:].max() < limits[1])


def _bias_sds(calibration: StereoCalibration) -> tuple[float, float]:
    imu = calibration.imu
    return max(imu.gyro_turn_on_sd, _LEAST_GYRO_BIAS_SD), max(imu.accel_turn_on_sd, _LEAST_ACCEL_BIAS_SD)


def aligned(mean: Array, count: int, calibration: StereoCalibration, settings: VioSettings) -> Start:
    """From the mean sample of a vehicle at rest. Tilt and accelerometer bias cannot be told apart; their errors are
    correlated in the covariance, and turning the vehicle will separate them."""
    imu = calibration.imu
    rotation = _level(mean[3:], calibration)
    gyro_sd, accel_sd = _bias_sds(calibration)
    tilt, speed, position = [0.5] * 2, [settings.rest_speed_sd] * 3, [_KNOWN_POSITION_SD] * 3
    prior = np.array([*tilt, _KNOWN_POSITION_SD, *speed, *position, *[gyro_sd] * 3, *[accel_sd] * 3])
    covariance = np.diag(np.square(prior))
    # at rest gyro = bias, and R (f - b) = g: with R = exp(θ) R̂ the error of the latter is θ × g - R̂ δb
    force = rotation @ mean[3:]
    jacobian = np.zeros((6, N_IMU))
    jacobian[:3, GYRO_BIAS : GYRO_BIAS + 3] = np.eye(3)
    jacobian[3:, :3] = -np.array([[0.0, -force[2], force[1]], [force[2], 0.0, -force[0]], [-force[1], force[0], 0.0]])
    jacobian[3:, ACCEL_BIAS : ACCEL_BIAS + 3] = -rotation
    residual = np.concatenate([mean[:3], calibration.gravity * _UP - force])
    scale = np.sqrt(imu.rate_hz / count)
    gyro_white = imu.gyro_noise_density * scale + _REST_GYRO_SD
    accel_white = imu.accel_noise_density * scale + _REST_ACCEL_SD
    noise = np.diag(np.square([*[gyro_white] * 3, *[accel_white] * 3]))
    gain = covariance @ jacobian.T @ np.linalg.inv(jacobian @ covariance @ jacobian.T + noise)
    change = gain @ residual
    rest = np.eye(N_IMU) - gain @ jacobian
    covariance = rest @ covariance @ rest.T + gain @ noise @ gain.T
    biases = np.stack([change[GYRO_BIAS : GYRO_BIAS + 3], change[ACCEL_BIAS : ACCEL_BIAS + 3]])
    return Start(rotation, biases, 0.5 * (covariance + covariance.T), True)


def moving(samples: Array, calibration: StereoCalibration, settings: VioSettings) -> Start:
    """From the samples of a vehicle that flies: roughly level by its mean force; the images soon show the rest."""
    gyro_sd, accel_sd = _bias_sds(calibration)
    tilt, speed = [settings.moving_tilt_sd] * 2, [settings.moving_speed_sd] * 3
    prior = [*tilt, _KNOWN_POSITION_SD, *speed, *[_KNOWN_POSITION_SD] * 3, *[gyro_sd] * 3, *[accel_sd] * 3]
    rotation = _level(samples[:, 3:].mean(axis=0), calibration)
    return Start(rotation, np.zeros((2, 3)), np.diag(np.square(prior)), False)


def _level(force: Array, calibration: StereoCalibration) -> Array:
    """World from IMU with the force upwards and the body looking along x."""
    world_from_imu = _turning(force / max(float(np.linalg.norm(force)), 1e-9))
    body_from_imu = calibration.body_from_imu.matrix()[:3, :3]
    forward = world_from_imu @ body_from_imu.T @ np.array([1.0, 0.0, 0.0])
    c, s = forward[:2] / max(float(np.hypot(*forward[:2])), 1e-9)
    return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ world_from_imu


def _turning(up: Array) -> Array:
    """The shortest rotation that turns `up` to the world's up."""
    axis = np.cross(up, _UP)
    cosine = float(up @ _UP)
    if cosine < -0.999999:
        return np.diag([1.0, -1.0, -1.0])
    k = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.asarray(np.eye(3) + k + k @ k / (1.0 + cosine))


_NEARLY_ALL = 0.9
_FEWEST = 10
"""Corners in common below which nothing is concluded from their motion."""
_NEAR = 0.15
"""1/m. Nearer corners decide, if there are enough: clouds drift over a vehicle at rest, and in a steady flight they
stand still."""


class _Reference:
    """Where the corners were at an earlier instant."""

    def __init__(self, t_ns: int, tracks: CornerTracks) -> None:
        self.t_ns = t_ns
        self.ids: NDArray[np.int64] = tracks.ids.copy()
        self.pixels = tracks.pixels.copy()

    def motion_px(self, tracks: CornerTracks, share: float = 0.5) -> float:
        """The motion since, which this share of the corners does not exceed; infinite if too few are left."""
        _, mine, theirs = np.intersect1d(self.ids, tracks.ids, assume_unique=True, return_indices=True)
        if len(mine) < _FEWEST:
            return float("inf")
        moved = np.linalg.norm(self.pixels[mine] - tracks.pixels[theirs], axis=1)
        near = tracks.inverse_depths[theirs] > _NEAR
        return float(np.quantile(moved[near] if near.sum() >= _FEWEST else moved, share))


class Stillness:
    def __init__(self, settings: VioSettings, imu: ImuModel) -> None:
        self._settings = settings
        self._limits = rest_limits(settings, imu)
        self._still: _Reference | None = None
        """Since when the corners have stayed where they were."""
        self._stepped: _Reference | None = None
        """At the filter's last step."""
        self._motion_px = float("inf")

    def see(self, t_ns: int, tracks: CornerTracks) -> None:
        # not half of the corners but nearly all: without near ones, most of a view may be far and stand still in flight
        if self._still is None or self._still.motion_px(tracks, _NEARLY_ALL) > self._settings.rest_px:
            self._still = _Reference(t_ns, tracks)
        self._motion_px = float("inf") if self._stepped is None else self._stepped.motion_px(tracks)

    def is_worth_a_step(self, t_ns: int) -> bool:
        s = self._settings
        if self._stepped is None or self._motion_px >= s.step_px:
            return True
        return (t_ns - self._stepped.t_ns) * 1e-9 >= s.step_time

    def images_rest(self, t_ns: int) -> bool:
        """Whether nothing has moved in the images for `rest_time`, or nearly."""
        return self._still is not None and (t_ns - self._still.t_ns) * 1e-9 >= 0.8 * self._settings.rest_time

    def rests(self, t_ns: int, samples: SampleBuffer) -> bool:
        return self.images_rest(t_ns) and samples.covers_rest() and is_still(samples.recent(), self._limits)

    def stepped(self, t_ns: int, tracks: CornerTracks) -> None:
        self._stepped = _Reference(t_ns, tracks)
