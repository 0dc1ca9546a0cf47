"""Visual-inertial odometry: pairs of images and IMU samples in, estimates at the rate of the IMU out."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import matrix_from_quat, quat_from_matrix, quat_from_yaw
from skyloop.navigation.vio.backend import Backend
from skyloop.navigation.vio.calibration import StereoCalibration
from skyloop.navigation.vio.imu_kernels import N_IMU, carry, integrate, ordinary_covariance
from skyloop.navigation.vio.measurement_kernels import Rig
from skyloop.navigation.vio.settings import VioSettings
from skyloop.navigation.vio.starting import RestStart
from skyloop.navigation.vio.tracking import Grey, StereoTracker
from skyloop.navigation.vio.window_filter import WindowFilter
from skyloop_client.messages import Array, Estimate

_S = 1e-9


class VisualInertialOdometry:
    """Give it every IMU sample and every pair of images in the order of their stamps, per kind; read `estimate`."""

    def __init__(
        self,
        calibration: StereoCalibration,
        settings: VioSettings | None = None,
        *,
        start_position: Array | None = None,
        start_yaw: float = 0.0,
        stage_clock: Callable[[], float] | None = None,
    ) -> None:
        """`start_position` (3,) m and `start_yaw` rad: of the body at the first image, in the world's frame. Without
        them the estimate's own frame begins there. `stage_clock` is a clock for benchmarks; see `stage_seconds`."""
        self.calibration = calibration
        s = self.settings = settings or VioSettings()
        self._start_position = np.zeros(3) if start_position is None else np.array(start_position, np.float64)
        self._start_yaw = start_yaw
        self._clock = stage_clock
        self.stage_seconds: dict[str, list[float]] = {"track": [], "filter": []}
        """Seconds of each pair by stage, if there is a `stage_clock`."""
        self.tracker = StereoTracker(calibration, s)
        self._body_from_imu = calibration.body_from_imu.matrix()[:3, :3]
        self._origin = np.zeros(3)
        """Position of the IMU in the world when the filter's place is zero."""
        self.backend = Backend(s, self._new_filter(), self.tracker.reach)
        self._starting: RestStart | None = RestStart(s, calibration)
        self._samples: list[tuple[int, Array]] = []
        """IMU samples from the filter's time on; the first is at or before it."""
        self._pending: list[tuple[int, Any, Any, Any]] = []
        self._frames = 0
        self._last_camera: tuple[Array, Array] | None = None
        self._ahead: tuple[Array, Array, Array] | None = None
        """Rotation, motion and covariance carried on to the newest sample."""
        self._estimate = Estimate.unknown(0, "no IMU sample yet")

    def _new_filter(self) -> WindowFilter:
        c, s, imu = self.calibration, self.settings, self.calibration.imu
        imu_from_left = (c.body_from_imu.inverse() @ c.body_from_left).matrix()
        rig = Rig(
            np.ascontiguousarray(imu_from_left[:3, :3]), imu_from_left[:3, 3].copy(),
            np.ascontiguousarray(self.tracker.right_from_left), np.array(self.tracker.left_in_right, np.float64),
            np.array(self.tracker.along, np.float64),
            np.array([c.left.fx / s.pixel_sd, c.left.fy / s.pixel_sd, c.left.fx / s.disparity_sd]),
        )  # fmt: skip
        k = s.noise_multiplier
        densities = [
            max(k * imu.gyro_noise_density, s.gyro_noise_floor), max(k * imu.accel_noise_density, s.accel_noise_floor),
            max(k * imu.gyro_random_walk, s.gyro_walk_floor), max(k * imu.accel_random_walk, s.accel_walk_floor),
        ]  # fmt: skip
        return WindowFilter(rig, c.gravity, np.square(densities))

    # ---- inputs and output

    @property
    def estimate(self) -> Estimate:
        """The latest estimate: of the stamp of the newest IMU sample. Its covariance is (15, 15)."""
        return self._estimate

    def imu(self, stamp_ns: int, gyro: Array, accel: Array) -> Estimate:
        """Takes one sample, in the IMU's axes; returns the estimate of its instant."""
        sample = np.concatenate([gyro, accel])
        if self._samples and stamp_ns <= self._samples[-1][0]:
            return self._estimate
        if not np.isfinite(sample).all():
            return self._estimate
        self._samples.append((stamp_ns, sample))
        if self._starting is not None:
            self._start(stamp_ns, sample)
            return self._estimate
        if self._pending and self._pending[0][0] <= stamp_ns:
            while self._pending and self._pending[0][0] <= stamp_ns:
                self._take(*self._pending.pop(0))
        else:
            self._carry_on(self._samples[-2:])
        self._publish(stamp_ns, sample)
        return self._estimate

    def images(self, stamp_ns: int, left: Grey, right: Grey | None = None, *, depth: Array | None = None) -> None:
        """Takes one pair: two grey images, or the left one and its depth in metres (0 or NaN: none).

        It is used as soon as the IMU has reached its stamp."""
        if self._starting is not None or stamp_ns <= self.backend.filter.t_ns:
            return
        self._pending.append((stamp_ns, left, right, depth))
        if self._samples and self._samples[-1][0] >= stamp_ns:
            newest_ns, sample = self._samples[-1]
            while self._pending and self._pending[0][0] <= newest_ns:
                self._take(*self._pending.pop(0))
            self._publish(newest_ns, sample)

    def snapshot(self) -> Any:
        """All that it remembers; `restore` takes it back."""
        kept = {name: value for name, value in vars(self).items() if name not in ("calibration", "settings", "_clock")}
        return copy.deepcopy(kept)

    def restore(self, saved: Any) -> None:
        vars(self).update(copy.deepcopy(saved))

    # ---- the start

    def _start(self, stamp_ns: int, sample: Array) -> None:
        assert self._starting is not None
        self._estimate = Estimate.unknown(stamp_ns, "stands still to align")
        begun = self._starting.take(stamp_ns, sample)
        if begun is None:
            return
        f = self.backend.filter
        turn = matrix_from_quat(quat_from_yaw(self._start_yaw))
        # the start tells tilt and biases in axes whose heading is that of the body
        f.rotation = turn @ begun.rotation
        spin = np.eye(N_IMU)
        for first in (0, 3, 6):
            spin[first : first + 3, first : first + 3] = turn
        f.covariance = spin @ begun.covariance @ spin.T
        f.biases = begun.biases.copy()
        f.t_ns = stamp_ns
        body = f.rotation @ self._body_from_imu.T
        self._origin = self._start_position + body @ self.calibration.body_from_imu.position
        self._samples = [(stamp_ns, sample)]
        self._pending.clear()
        self._starting = None
        self._ahead = f.rotation.copy(), f.motion.copy(), f.covariance.copy()
        self._publish(stamp_ns, sample)

    # ---- one pair of images

    def _between(self, start_ns: int, end_ns: int) -> Array:
        """(n, 7) samples with s from `start_ns` to `end_ns`; both ends are interpolated."""
        stamps = np.array([t - start_ns for t, _ in self._samples], np.float64) * _S
        values = np.array([sample for _, sample in self._samples])
        end = (end_ns - start_ns) * _S
        inner = (stamps > 0.0) & (stamps < end)
        times = np.concatenate([[0.0], stamps[inner], [end]])
        ends = [np.array([np.interp(t, stamps, values[:, i]) for i in range(6)]) for t in (0.0, end)]
        return np.column_stack([times, np.vstack([ends[0], values[inner], ends[1]])])

    def _take(self, stamp_ns: int, left: Grey, right: Grey | None, depth: Array | None) -> None:
        began = self._clock() if self._clock else 0.0
        f, s = self.backend.filter, self.settings
        samples = self._between(f.t_ns, stamp_ns)
        rotation, motion = f.rotation.copy(), f.motion.copy()
        unused = np.empty((N_IMU, N_IMU)), np.empty((N_IMU, N_IMU))
        integrate(rotation, motion, f.biases, samples, f.gravity, f.noise, *unused)
        camera = self._camera(rotation, motion[1])
        before = self._last_camera or camera
        turn = camera[0].T @ before[0]
        shift = camera[0].T @ (before[1] - camera[1])
        self.tracker.follow(left, right, depth, turn, shift, self._frames % s.filter_every == 0)
        tracked = self._clock() if self._clock else 0.0
        if self._frames % s.filter_every == 0:
            f.move(stamp_ns, samples)
            self.backend.take(self.tracker.tracks)
            self._last_camera = self._camera(f.rotation, f.motion[1])
            while len(self._samples) > 1 and self._samples[1][0] <= stamp_ns:
                self._samples.pop(0)
        else:
            self._last_camera = camera
        self._frames += 1
        self._ahead = f.rotation.copy(), f.motion.copy(), f.covariance[:N_IMU, :N_IMU].copy()
        self._carry_on(None)
        if self._clock:
            self.stage_seconds["track"].append(tracked - began)
            self.stage_seconds["filter"].append(self._clock() - tracked)

    def _camera(self, rotation: Array, place: Array) -> tuple[Array, Array]:
        """World from left camera."""
        rig = self.backend.filter.rig
        return rotation @ rig.imu_from_left, place + rotation @ rig.left_position

    # ---- between two pairs

    def _carry_on(self, samples: list[tuple[int, Array]] | None) -> None:
        """Carries the output along two samples; None: from the filter's time along all."""
        f = self.backend.filter
        if self._ahead is None:
            self._ahead = f.rotation.copy(), f.motion.copy(), f.covariance[:N_IMU, :N_IMU].copy()
        rotation, motion, covariance = self._ahead
        if samples is None:
            newest = self._samples[-1][0]
            if newest <= f.t_ns:
                return
            rows = self._between(f.t_ns, newest)
        else:
            start = samples[0][0]
            rows = np.array([[(t - start) * _S, *sample] for t, sample in samples])
        transition, q, out = (np.empty((N_IMU, N_IMU)) for _ in range(3))
        integrate(rotation, motion, f.biases, rows, f.gravity, f.noise, transition, q)
        carry(np.ascontiguousarray(covariance), transition, q, out)
        self._ahead = rotation, motion, out

    def _publish(self, stamp_ns: int, sample: Array) -> None:
        assert self._ahead is not None
        rotation, motion, covariance = self._ahead
        f = self.backend.filter
        world_from_body = rotation @ self._body_from_imu.T
        rates = self._body_from_imu @ (sample[:3] - f.biases[0])
        arm = -self.calibration.body_from_imu.position
        levers = np.stack([world_from_body @ arm, world_from_body @ np.cross(rates, arm)])
        out = np.empty((N_IMU, N_IMU))
        ordinary_covariance(covariance, rotation, motion, levers, out)
        self._estimate = Estimate.from_covariance(
            stamp_ns, motion[1] + levers[0] + self._origin, motion[0] + levers[1], quat_from_matrix(world_from_body),
            rates, out, valid=True, gyro_bias=f.biases[0].copy(), accel_bias=f.biases[1].copy(),
        )  # fmt: skip


Pixels = NDArray[np.uint8]
