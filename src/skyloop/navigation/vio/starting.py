"""How the odometry begins: at rest it learns the tilt and the gyroscope's bias from the IMU alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skyloop.navigation.vio.calibration import StereoCalibration
from skyloop.navigation.vio.imu_kernels import ACCEL_BIAS, GYRO_BIAS, N_IMU
from skyloop.navigation.vio.settings import VioSettings
from skyloop_client.messages import Array

_UP = np.array([0.0, 0.0, 1.0])
_KNOWN_PLACE_SD = 1e-3
"""m and rad: the start is where the frame begins, so place and heading are known by definition."""
_REST_SPEED_SD = 0.01
"""m/s, how still a vehicle at rest is."""


class Start(NamedTuple):
    rotation: Array
    """(3, 3) world from IMU, with the heading of the body's x axis at zero."""
    biases: Array
    covariance: Array


class RestStart:
    """Collects samples until the vehicle has stood still for a while."""

    def __init__(self, settings: VioSettings, calibration: StereoCalibration) -> None:
        self._settings = settings
        self._calibration = calibration
        self._since_ns = 0
        self._samples: list[Array] = []

    def take(self, t_ns: int, sample: Array) -> Start | None:
        if not self._samples:
            self._since_ns = t_ns
        self._samples.append(sample)
        if (t_ns - self._since_ns) * 1e-9 < self._settings.rest_time:
            return None
        values = np.array(self._samples)
        scatter = values.std(axis=0)
        self._samples.clear()
        if scatter[:3].max() > self._settings.rest_gyro_sd or scatter[3:].max() > self._settings.rest_accel_sd:
            return None
        return aligned(values.mean(axis=0), len(values), self._calibration)


def aligned(mean: Array, count: int, calibration: StereoCalibration) -> Start:
    """From the mean sample of a vehicle at rest. Tilt and accelerometer bias cannot be told apart; their errors are
    correlated in the covariance, and turning the vehicle will separate them."""
    imu = calibration.imu
    up = mean[3:] / np.linalg.norm(mean[3:])
    rotation = _heading_zero(_turning(up), calibration.body_from_imu.matrix()[:3, :3])
    gyro_sd = max(imu.gyro_turn_on_sd, 2e-3)
    accel_sd = max(imu.accel_turn_on_sd, 0.02)
    prior = np.array(
        [0.5, 0.5, _KNOWN_PLACE_SD, *[_REST_SPEED_SD] * 3, *[_KNOWN_PLACE_SD] * 3, *[gyro_sd] * 3, *[accel_sd] * 3]
    )
    covariance = np.diag(np.square(prior))
    white = imu.accel_noise_density * np.sqrt(imu.rate_hz / count) + 2e-3
    # at rest gyro = bias, and R (f - b) = g: with R = exp(θ) R̂ the error of the latter is θ × g - R̂ δb
    force = rotation @ mean[3:]
    jacobian = np.zeros((6, N_IMU))
    jacobian[:3, GYRO_BIAS : GYRO_BIAS + 3] = np.eye(3)
    jacobian[3:, :3] = -np.array([[0.0, -force[2], force[1]], [force[2], 0.0, -force[0]], [-force[1], force[0], 0.0]])
    jacobian[3:, ACCEL_BIAS : ACCEL_BIAS + 3] = -rotation
    residual = np.concatenate([mean[:3], calibration.gravity * _UP - force])
    gyro_white = imu.gyro_noise_density * np.sqrt(imu.rate_hz / count) + 1e-4
    noise = np.diag(np.square([*[gyro_white] * 3, *[white] * 3]))
    gain = covariance @ jacobian.T @ np.linalg.inv(jacobian @ covariance @ jacobian.T + noise)
    change = gain @ residual
    rest = np.eye(N_IMU) - gain @ jacobian
    covariance = rest @ covariance @ rest.T + gain @ noise @ gain.T
    biases = np.stack([change[GYRO_BIAS : GYRO_BIAS + 3], change[ACCEL_BIAS : ACCEL_BIAS + 3]])
    return Start(rotation, biases, 0.5 * (covariance + covariance.T))


def _turning(up: Array) -> Array:
    """The shortest rotation that turns `up` to the world's up."""
    axis = np.cross(up, _UP)
    cosine = float(up @ _UP)
    if cosine < -0.999999:
        return np.diag([1.0, -1.0, -1.0])
    k = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.asarray(np.eye(3) + k + k @ k / (1.0 + cosine))


def _heading_zero(world_from_imu: Array, body_from_imu: Array) -> Array:
    """Turned about up until the body looks along x."""
    forward = world_from_imu @ body_from_imu.T @ np.array([1.0, 0.0, 0.0])
    c, s = forward[:2] / max(float(np.hypot(*forward[:2])), 1e-9)
    return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ world_from_imu
