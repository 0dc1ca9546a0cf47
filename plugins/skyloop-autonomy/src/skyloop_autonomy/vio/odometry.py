"""Visual-inertial odometry: pairs of images and IMU samples in, estimates at the rate of the IMU out."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from skyloop.core.frames import matrix_from_quat, quat_from_matrix, quat_from_yaw, yaw_from_quat
from skyloop_autonomy.vio.agreement import EstimateCheck
from skyloop_autonomy.vio.backend import Backend
from skyloop_autonomy.vio.calibration import StereoCalibration
from skyloop_autonomy.vio.imu_kernels import N_IMU, carry, integrate, ordinary_covariance
from skyloop_autonomy.vio.landmarks import KeyPoses, MapPose, landmarks
from skyloop_autonomy.vio.loop_closing import LoopCloser, corrected
from skyloop_autonomy.vio.measurement_kernels import Rig
from skyloop_autonomy.vio.samples import SampleBuffer
from skyloop_autonomy.vio.settings import VioSettings
from skyloop_autonomy.vio.starting import Start, Starting, Stillness
from skyloop_autonomy.vio.stereo_frontend import FrontendImages, Image, StereoFrontend
from skyloop_autonomy.vio.tracking import Grey, StereoTracker, Work
from skyloop_autonomy.vio.window_filter import WindowFilter
from skyloop_client.messages import Array, Estimate, KeyPose, PointCloud

_LONGEST_WAIT_NS = 500_000_000
"""ns without images after which the filter goes on with the IMU alone, so that nothing piles up."""
_CLOCK_SET_BACK = 50
"""Samples in a row with stamps before the newest one, after which the clock of the IMU must have been set back."""
_LEVEL_SD = 0.004
"""rad."""
_NOT_COPIED = ("calibration", "settings", "_clock")


@dataclass(frozen=True, slots=True, eq=False)
class ImagePair:
    """Two images of one instant; each may be missing."""

    t_ns: int
    left: Image | None
    right: Image | None
    depth: Image | None


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
        """`start_position` (3,) m and `start_yaw` rad: of the body at the start, in the world's frame. Without them the
        estimate's own frame begins there. `stage_clock` is a clock for benchmarks; see `stage_seconds`."""
        self.calibration = calibration
        s = self.settings = settings or VioSettings()
        self._start_position = np.zeros(3) if start_position is None else np.array(start_position, np.float64)
        self._start_yaw = start_yaw
        self._clock = stage_clock
        self.stage_seconds: dict[str, list[float]] = {"track": [], "filter": []}
        """Seconds of each pair by stage, if there is a `stage_clock`."""
        self.frontend = StereoFrontend(calibration)
        self.tracker = StereoTracker(calibration, s)
        self.backend = Backend(s, self._new_filter(), self.tracker.reach, calibration.left.fx)
        self.judge = EstimateCheck(s)
        self._key_poses = KeyPoses()
        self.closer = LoopCloser(s, self.tracker.reach) if s.loops else None
        self._stillness = Stillness(s, calibration.imu)
        self._starting: Starting | None = Starting(s, calibration)
        self._why_not_yet = "stands still to align"
        self._last_known: Estimate | None = None
        """What was known before it had to start again."""
        self._body_from_imu = calibration.body_from_imu.matrix()[:3, :3]
        self._origin = np.zeros(3)
        """Position of the IMU in the world when the filter's position is zero."""
        self._samples = SampleBuffer(s)
        self._pending: list[ImagePair] = []
        self._seen_ns = 0
        """The newest pair's stamp."""
        self._frames = 0
        self._last_camera: tuple[Array, Array] | None = None
        self._ahead = np.eye(3), np.zeros((2, 3)), np.eye(N_IMU)
        """Rotation, motion and covariance, carried on to the newest sample."""
        self._estimate = Estimate.unknown(0, "no IMU sample yet")

    def _new_filter(self) -> WindowFilter:
        c, s, imu = self.calibration, self.settings, self.calibration.imu
        k = s.noise_multiplier
        densities = [
            max(k * imu.gyro_noise_density, s.gyro_noise_floor), max(k * imu.accel_noise_density, s.accel_noise_floor),
            max(k * imu.gyro_random_walk, s.gyro_walk_floor), max(k * imu.accel_random_walk, s.accel_walk_floor),
        ]  # fmt: skip
        return WindowFilter(self._rig(), c.gravity, np.square(densities), (imu.gyro_bias_tau, imu.accel_bias_tau))

    def _rig(self) -> Rig:
        """With the leading camera as the left one."""
        c, s = self.frontend.calibration, self.settings
        imu_from_left = (c.body_from_imu.inverse() @ c.body_from_left).matrix()
        return Rig(
            np.ascontiguousarray(imu_from_left[:3, :3]), imu_from_left[:3, 3].copy(),
            np.ascontiguousarray(self.tracker.right_from_left), np.array(self.tracker.left_in_right, np.float64),
            np.array(self.tracker.along, np.float64),
            np.array([c.left.fx / s.pixel_sd, c.left.fy / s.pixel_sd, c.left.fx / s.disparity_sd]),
        )  # fmt: skip

    # ---- inputs and output

    @property
    def estimate(self) -> Estimate:
        """The latest estimate: of the stamp of the newest IMU sample. Its covariance is (15, 15)."""
        return self._estimate

    @property
    def map_estimate(self) -> Estimate:
        """The latest estimate in the map frame, which places seen again correct; without loop closing the same.

        It never jumps: the map frame moves against the odometry's by at most `correction_speed`."""
        e = self._estimate
        if self.closer is None or e.covariance is None:
            return e
        turned = corrected(self.closer.applied, e.position, e.velocity_world, matrix_from_quat(e.quat_wxyz))
        position, velocity, rotation = turned
        return replace(e, position=position, velocity_world=velocity, quat_wxyz=quat_from_matrix(rotation))

    def imu(self, stamp_ns: int, gyro: Array, accel: Array) -> Estimate:
        """Takes one sample, in the IMU's axes; returns the estimate of its instant."""
        sample = np.concatenate([gyro, accel])
        before_ns = self._samples.newest_ns
        if not self._samples.add(stamp_ns, sample):
            self._go_without_sample(stamp_ns)
            return self._estimate
        if before_ns >= 0 and stamp_ns - before_ns > _LONGEST_WAIT_NS and self._starting is None:
            self._start_again(stamp_ns, f"no IMU sample for {(stamp_ns - before_ns) / 1e9:.1f} s")
            return self._estimate
        if self._starting is not None:
            self._estimate = Estimate.unknown(stamp_ns, self._why_not_yet)
            start = self._starting.take(stamp_ns, sample, self._stillness.images_rest(stamp_ns))
            if start is not None:
                self._begin(stamp_ns, start)
            return self._estimate
        if not self._take_pending(stamp_ns):
            self._carry_on(self._samples.newest_two(), self._samples.newest_gap_noise())
            if stamp_ns - self.backend.filter.t_ns > _LONGEST_WAIT_NS:
                self._go_on_without_images(stamp_ns)
        self._publish(stamp_ns)
        return self._estimate

    def images(
        self, stamp_ns: int, left: Image | None, right: Image | None = None, *, depth: Image | None = None
    ) -> None:
        """Takes one pair: two grey images, or the left one and its depth in metres (0 or NaN: none).

        An image may be missing (None). If the left one is missing for a while, the right camera leads. A pair is used
        as soon as the IMU has reached its stamp. It is dropped if it is not newer than the one before, or far ahead of
        the IMU: its stamp is then wrong."""
        newest_ns = self._samples.newest_ns
        if stamp_ns <= max(self._seen_ns, self.backend.filter.t_ns) or 0 <= newest_ns < stamp_ns - _LONGEST_WAIT_NS:
            return
        self._seen_ns = stamp_ns
        if self._starting is not None:
            seen = self._sorted(left, right, depth)
            if seen.leading is not None:
                work = Work.MEASURE | Work.SEEK
                self.tracker.follow(seen.leading, seen.second, seen.depth, np.eye(3), np.zeros(3), work)
                self._stillness.see(stamp_ns, self.tracker.tracks)
            return
        self._pending.append(ImagePair(stamp_ns, left, right, depth))
        if self._take_pending(self._samples.newest_ns):
            self._publish(self._samples.newest_ns)

    def new_landmarks(self, source: str = "") -> tuple[list[KeyPose], PointCloud] | None:
        """The key poses since the last call, and the points of the filter; None if no pose was kept.

        Both are in the frame of the odometry. `source` is the name of the left camera."""
        if not self._key_poses.unread:
            return None
        frame = MapPose(self._origin, self.calibration.body_from_imu, source)
        poses = self._key_poses.news(self.backend, frame)
        return (poses, landmarks(self.backend, frame, self.settings.sigma_scale)) if poses else None

    def snapshot(self) -> dict[str, object]:
        """All that it remembers; `restore` takes it back."""
        return copy.deepcopy({name: value for name, value in vars(self).items() if name not in _NOT_COPIED})

    def restore(self, saved: dict[str, object]) -> None:
        vars(self).update(copy.deepcopy(saved))

    def _go_without_sample(self, stamp_ns: int) -> None:
        """A sample was refused. One is harmless; many in a row are not."""
        silent_ns = stamp_ns - self._samples.newest_ns
        if self._samples.behind >= _CLOCK_SET_BACK:
            self._start_again(stamp_ns, "the clock of the IMU went back")
        elif self._starting is None and silent_ns > _LONGEST_WAIT_NS:
            reason = f"no usable IMU sample for {silent_ns / 1e9:.1f} s"
            self._estimate = replace(self._estimate, t_ns=stamp_ns, valid=False, reason=reason)

    # ---- the start

    def _begin(self, stamp_ns: int, start: Start) -> None:
        f = self.backend.filter
        turn = matrix_from_quat(quat_from_yaw(self._start_yaw))
        # the start tells tilt and biases in axes whose heading is that of the body
        f.rotation = turn @ start.rotation
        spin = np.eye(N_IMU)
        for first in (0, 3, 6):
            spin[first : first + 3, first : first + 3] = turn
        f.covariance = spin @ start.covariance @ spin.T
        self._doubt_since_last_known(stamp_ns)
        f.biases = start.biases.copy()
        f.t_ns = stamp_ns
        body = f.rotation @ self._body_from_imu.T
        self._origin = self._start_position + body @ self.calibration.body_from_imu.position
        self._samples.forget_before(stamp_ns)
        self._starting = None
        self.judge.begin(stamp_ns)
        self._ahead = f.rotation.copy(), f.motion.copy(), f.covariance.copy()
        self._publish(stamp_ns)

    def _doubt_since_last_known(self, stamp_ns: int) -> None:
        """After a new start: heading and position may have changed since, as far as it may have flown."""
        last, covariance = self._last_known, self.backend.filter.covariance
        if last is None or last.covariance is None:
            return
        seconds = max(0.0, (stamp_ns - last.t_ns) * 1e-9)
        known = last.covariance / self.settings.sigma_scale**2
        turned = min(self.settings.imu_gap_rate_sd * seconds, math.pi)
        flown = (float(np.linalg.norm(last.velocity_world)) + self.settings.moving_speed_sd) * seconds
        covariance[2, 2] += known[8, 8] + turned**2
        covariance[np.diag_indices(9)] += np.repeat([0.0, 0.0, flown**2], 3)
        covariance[6:9, 6:9] += known[:3, :3]

    # ---- pairs of images

    def _take_pending(self, until_ns: int) -> bool:
        taken = False
        while self._pending and self._pending[0].t_ns <= until_ns:
            self._take(self._pending.pop(0))
            taken = True
        if taken:
            f = self.backend.filter
            self._ahead = f.rotation.copy(), f.motion.copy(), f.covariance[:N_IMU, :N_IMU].copy()
            if until_ns > f.t_ns:
                gap = self._samples.gap_noise(f.t_ns, until_ns)
                self._carry_on(self._samples.between(f.t_ns, until_ns), gap)
        return taken

    def _take(self, pair: ImagePair) -> None:
        began = self._clock() if self._clock else 0.0
        seen = self._sorted(pair.left, pair.right, pair.depth)
        if seen.leading is None:
            return
        f, s = self.backend.filter, self.settings
        samples = self._samples.between(f.t_ns, pair.t_ns)
        rotation, motion = f.rotation.copy(), f.motion.copy()
        unused = np.empty((N_IMU, N_IMU)), np.empty((N_IMU, N_IMU))
        integrate((rotation, motion, f.biases), samples, f.gravity, f.noise, unused)
        camera = self._camera(rotation, motion[1])
        before = self._last_camera or camera
        turn, shift = camera[0].T @ before[0], camera[0].T @ (before[1] - camera[1])
        due = self._frames % s.filter_every == 0
        # the pair after the filter's has time to seek
        seeks = self._frames % s.filter_every == 1 % s.filter_every
        work = (Work.MEASURE if due else Work.FOLLOW) | (Work.SEEK if seeks else Work.FOLLOW)
        self.tracker.follow(seen.leading, seen.second, seen.depth, turn, shift, work)
        self._frames += 1
        self._last_camera = camera
        tracked = self._clock() if self._clock else 0.0
        self._stillness.see(pair.t_ns, self.tracker.tracks)
        if due and self._stillness.is_worth_a_step(pair.t_ns):
            self._step(pair.t_ns, samples, seen.leading)
        if self._clock:
            self.stage_seconds["track"].append(tracked - began)
            self.stage_seconds["filter"].append(self._clock() - tracked)

    def _sorted(self, *images: object) -> FrontendImages:
        """The left, right and depth image by the parts they play now."""
        seen = self.frontend.sorted(*images)
        if not self.frontend.must_change(seen):
            return seen
        self.frontend.change()
        before = self.tracker
        self.tracker = StereoTracker(self.frontend.calibration, self.settings)
        self.tracker.next_id = before.next_id
        self.backend.look_with(self._rig())
        self._last_camera = None
        return self.frontend.sorted(*images)

    def _step(self, t_ns: int, samples: Array, image: Grey | None = None) -> None:
        """The filter's own step: to the pair's instant, then what the pair tells."""
        f = self.backend.filter
        gap = self._samples.gap_noise(f.t_ns, t_ns)
        f.move(t_ns, samples, gap)
        f.surprise[:] = 0.0
        rests = self._stillness.rests(t_ns, self._samples)
        if rests:
            f.stand_still(self._samples.mean_gyro(t_ns), self.settings.rest_speed_sd)
        else:
            self.backend.take(self.tracker.tracks)
        # over a blow the samples do not tell what happened, and the doubt about it is in the covariance
        surprise = f.surprise if max(gap) == 0.0 else np.zeros(2)
        against = self.judge.rested(t_ns, surprise) if rests else self.judge.looked(t_ns, surprise, self.backend)
        if against > 0.0:
            imu = self.calibration.imu
            self.backend.restart(against, (imu.gyro_turn_on_sd, imu.accel_turn_on_sd))
        if not rests:
            self._key_poses.stepped(self.backend, self.tracker.tracks)
        self._stillness.stepped(t_ns, self.tracker.tracks)
        camera = self._last_camera = self._camera(f.rotation, f.motion[1])
        if self.closer is not None and image is not None and self._is_level():
            pose = camera[0], camera[1] + self._origin
            self.closer.see(t_ns, image, self.tracker.tracks, pose, self.tracker.left_lens)
        self._samples.forget_before(t_ns)

    def _is_level(self) -> bool:
        """Whether the tilt is known well enough for a picture to be a place to come back to: two degrees of tilt shift
        what is seen from 2 m away by 7 cm."""
        return bool(max(self.backend.filter.covariance[0, 0], self.backend.filter.covariance[1, 1]) < _LEVEL_SD**2)

    def _go_on_without_images(self, t_ns: int) -> None:
        f = self.backend.filter
        f.move(t_ns, self._samples.between(f.t_ns, t_ns), self._samples.gap_noise(f.t_ns, t_ns))
        self._samples.forget_before(t_ns)
        self._ahead = f.rotation.copy(), f.motion.copy(), f.covariance[:N_IMU, :N_IMU].copy()

    def _camera(self, rotation: Array, position: Array) -> tuple[Array, Array]:
        """World from the leading camera."""
        rig = self.backend.filter.rig
        return rotation @ rig.imu_from_left, position + rotation @ rig.left_position

    # ---- between two pairs

    def _carry_on(self, samples: Array, gap: tuple[float, float]) -> None:
        f = self.backend.filter
        rotation, motion, covariance = self._ahead
        transition, q, out = (np.empty((N_IMU, N_IMU)) for _ in range(3))
        integrate((rotation, motion, f.biases), samples, f.gravity, f.noise, (transition, q))
        if max(gap) > 0.0:
            q[np.diag_indices(6)] += np.repeat(gap, 3)
        carry(np.ascontiguousarray(covariance), transition, q, out)
        self._ahead = rotation, motion, out

    def _publish(self, stamp_ns: int) -> None:
        rotation, motion, covariance = self._ahead
        f = self.backend.filter
        world_from_body = rotation @ self._body_from_imu.T
        rates = self._body_from_imu @ (self._samples.newest[:3] - f.biases[0])
        arm = -self.calibration.body_from_imu.position
        levers = np.stack([world_from_body @ arm, world_from_body @ np.cross(rates, arm)])
        out = np.empty((N_IMU, N_IMU))
        ordinary_covariance(np.ascontiguousarray(covariance), rotation, motion, levers, out)
        out *= self.settings.sigma_scale**2
        position = motion[1] + levers[0] + self._origin
        # one number that is not finite makes the sum so
        if not math.isfinite(rotation.sum() + motion.sum() + f.biases.sum() + out.sum()):
            self._start_again(stamp_ns, "the filter broke down and starts again")
            return
        if self.closer is not None:
            self.closer.correction(stamp_ns)
        reason = self.judge.reason(stamp_ns, out)
        self._estimate = Estimate.from_covariance(
            stamp_ns, position, motion[0] + levers[1], quat_from_matrix(world_from_body), rates, out,
            valid=not reason, gyro_bias=f.biases[0].copy(), accel_bias=f.biases[1].copy(), reason=reason,
        )  # fmt: skip

    def _start_again(self, stamp_ns: int, reason: str) -> None:
        """The numbers or the clock are broken, or samples were missing. The new start begins where it was last."""
        if self._estimate.covariance is not None:
            last = self._last_known = self._estimate
            self._start_position, self._start_yaw = last.position.copy(), float(yaw_from_quat(last.quat_wxyz))
        self.backend = Backend(self.settings, self._new_filter(), self.tracker.reach, self.calibration.left.fx)
        # it probably flies, so there is no use in waiting for rest
        hasty = self.settings.model_copy(update={"patience": self.settings.rest_time})
        self._starting, self._why_not_yet = Starting(hasty, self.calibration), reason
        self._stillness, self._samples = Stillness(self.settings, self.calibration.imu), SampleBuffer(self.settings)
        self._pending.clear()
        self._seen_ns = 0
        self._last_camera = None
        self._estimate = Estimate.unknown(stamp_ns, reason)
