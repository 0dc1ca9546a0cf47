"""What the front end of the odometry gives its filter, kept so that another back end can be given the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import matrix_from_quat, quat_from_matrix
from skyloop_autonomy.vio.calibration import StereoCalibration
from skyloop_autonomy.vio.imu_kernels import ordinary_covariance
from skyloop_autonomy.vio.odometry import VisualInertialOdometry
from skyloop_autonomy.vio.settings import VioSettings
from skyloop_client.messages import Array


@dataclass(frozen=True, slots=True, eq=False)
class BodyState:
    """A back end's belief at one instant: of the body, in the world of the start, with ordinary errors."""

    t_ns: int
    position: Array
    velocity: Array
    quat_wxyz: Array
    gyro_bias: Array
    accel_bias: Array
    covariance: Array | None
    """(9, 9) position, velocity, turn in world axes, as the back end has it, without any factor on its sigmas."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One pair of images that the filter took a step for."""

    t_ns: int
    ids: NDArray[np.int64]
    rows: Array
    """(n, 3) tangents in the left image, disparity of tangents."""
    known: NDArray[np.uint8]
    """LEFT_ONLY or STEREO."""
    rest_gyro: Array | None
    """rad/s, the mean rate if the vehicle rests; the filter then leaves the images alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Beginning:
    """The state with which the filter began, of the IMU, with its covariance (15, 15) in the filter's own order."""

    t_ns: int
    rotation: Array
    biases: Array
    covariance: Array


@dataclass(slots=True, eq=False)
class StepRecord:
    """A whole flight as back ends see it, with what the filter made of it."""

    calibration: StereoCalibration
    settings: VioSettings
    image_sds: Array
    """(3,) the sigmas of a step's rows, as the filter has them."""
    imu_densities: Array
    """(4,) per √Hz: gyroscope, accelerometer, random walks of their biases, as the filter has them."""
    imu_t_ns: list[int] = field(default_factory=list)
    imu: list[Array] = field(default_factory=list)
    """(6,) gyroscope, accelerometer."""
    beginnings: list[Beginning] = field(default_factory=list)
    """One, unless the filter had to start again."""
    steps: list[Step] = field(default_factory=list)
    filtered: list[BodyState] = field(default_factory=list)
    """The filter's belief after each step."""
    filter_seconds: list[float] = field(default_factory=list)
    """Of each step."""

    def samples(self) -> tuple[NDArray[np.int64], Array]:
        return np.array(self.imu_t_ns, np.int64), np.array(self.imu)


class StepTap:
    """Listens to an odometry while it works. It changes nothing in it."""

    def __init__(self, odometry: VisualInertialOdometry, clock: Callable[[], float] = time.process_time) -> None:
        state = odometry.backend.filter
        self._odometry = odometry
        self._clock = clock
        self.record = StepRecord(odometry.calibration, odometry.settings, 1.0 / state.rig.weights, np.sqrt(state.noise))
        for name, heard in (("imu", self._imu), ("_begin", self._begin), ("_step", self._step)):
            setattr(odometry, name, heard(getattr(odometry, name)))

    def _imu(self, take: Callable[..., Any]) -> Callable[..., Any]:
        def heard(stamp_ns: int, gyro: Array, accel: Array) -> Any:
            # before it is taken, because a pair that waits for this sample is used within
            if not self.record.imu_t_ns or stamp_ns > self.record.imu_t_ns[-1]:
                self.record.imu_t_ns.append(stamp_ns)
                self.record.imu.append(np.concatenate([gyro, accel]))
            return take(stamp_ns, gyro, accel)

        return heard

    def _begin(self, begin: Callable[..., Any]) -> Callable[..., Any]:
        def heard(stamp_ns: int, start: Any) -> None:
            begin(stamp_ns, start)
            f = self._odometry.backend.filter
            beginning = Beginning(stamp_ns, f.rotation.copy(), f.biases.copy(), f.covariance.copy())
            self.record.beginnings.append(beginning)

        return heard

    def _step(self, step: Callable[..., Any]) -> Callable[..., Any]:
        def heard(t_ns: int, samples: Array, *more: Any) -> None:
            vio = self._odometry
            rests = vio._stillness.rests(t_ns, vio._samples)
            gyro = vio._samples.mean_gyro(t_ns) if rests else None
            began = self._clock()
            step(t_ns, samples, *more)
            self.record.filter_seconds.append(self._clock() - began)
            tracks = vio.tracker.tracks
            self.record.steps.append(Step(t_ns, tracks.ids.copy(), tracks.rows.copy(), tracks.known.copy(), gyro))
            self.record.filtered.append(_state_of(vio, samples[-1, 1:4]))

        return heard


def _state_of(vio: VisualInertialOdometry, gyro: Array) -> BodyState:
    f = vio.backend.filter
    levers = body_levers(vio.calibration, f.rotation, gyro - f.biases[0])
    out = np.empty((15, 15))
    ordinary_covariance(np.ascontiguousarray(f.covariance[:15, :15]), f.rotation, f.motion, levers, out)
    return BodyState(
        f.t_ns, f.motion[1] + levers[0], f.motion[0] + levers[1], body_attitude(vio.calibration, f.rotation),
        f.biases[0].copy(), f.biases[1].copy(), out[:9, :9].copy(),
    )  # fmt: skip


def body_levers(calibration: StereoCalibration, rotation: Array, rates: Array) -> Array:
    """(2, 3) world axes: from the IMU to the body's origin, and the velocity that turning gives the latter."""
    imu_from_body = calibration.body_from_imu.inverse()
    arm = imu_from_body.position
    return np.stack([rotation @ arm, rotation @ np.cross(rates, arm)])


def body_attitude(calibration: StereoCalibration, rotation: Array) -> Array:
    body_from_imu = matrix_from_quat(calibration.body_from_imu.quat_wxyz)
    return quat_from_matrix(rotation @ body_from_imu.T)
