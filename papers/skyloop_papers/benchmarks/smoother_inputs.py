"""What a back end of the odometry is given: the steps of the front end, kept so that another one can be given the same.

And what the fixed-lag smoother makes of their corners: which become points, and what these add to its graph."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import matrix_from_quat, quat_from_matrix
from skyloop_autonomy.vio.calibration import StereoCalibration
from skyloop_autonomy.vio.imu_kernels import ordinary_covariance
from skyloop_autonomy.vio.measurement_kernels import LEFT_ONLY
from skyloop_autonomy.vio.odometry import VisualInertialOdometry
from skyloop_autonomy.vio.settings import VioSettings
from skyloop_client.errors import MissingExtra, SetupError
from skyloop_client.messages import Array

gtsam: Any = None
try:
    import gtsam as _gtsam

    gtsam = _gtsam
except ImportError:
    # `check_gtsam` says so
    pass

_LEAST_INVERSE_DEPTH = 0.03
_SURE_OF_DEPTH = 4.0
"""The same tests as in the filter: points farther than 33 m, or of unsure depth, are left out."""
_NO_POINT = -1
_LOOSE = 2.0
"""One sigma of a new point's position over its depth; a single pair tells it to 3 to 25 %."""


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


def check_gtsam() -> None:
    if gtsam is None:
        raise MissingExtra("the smoother is GTSAM's, which is not installed: pip install 'skyloop[bench]'")


def pose_key(node: int) -> int:
    return int(gtsam.symbol("x", node))


def velocity_key(node: int) -> int:
    return int(gtsam.symbol("v", node))


def bias_key(node: int) -> int:
    return int(gtsam.symbol("b", node))


def point_key(number: int) -> int:
    return int(gtsam.symbol("l", number))


@dataclass(frozen=True, slots=True)
class SmootherConfig:
    """The defaults were chosen on a few recorded flights."""

    solver: Literal["incremental", "batch"] = "incremental"
    """`incremental`: iSAM2; `batch`: Levenberg-Marquardt over the whole window at every node."""
    nodes: int = 10
    """Nodes in the window."""
    key_parallax_px: float = 12.0
    """The mean motion of the corners, turns taken out, that makes a node. Between nodes the IMU carries the state."""
    longest_gap_s: float = 0.5
    """s between two nodes at most."""
    points: int = 120
    """Points in the window at most."""
    sightings: int = 3
    """Nodes that must have seen a corner before it becomes a point."""
    is_lasting: bool = True
    """A point stays as long as it is seen. Otherwise it leaves with the first node that saw it, and begins anew."""
    huber: float = 1.345
    """Sigmas beyond which the weight of a measurement falls."""
    refuse: float = 10.0
    """Sigmas by which a point may miss its prediction before the measurement is left out."""
    relinearise: float = 0.01
    """The change of a variable beyond which iSAM2 linearises it again."""
    iterations: int = 0
    """Further updates of iSAM2 per node; or at most this many plus one of Levenberg-Marquardt."""
    decay: bool = True
    """Whether the biases decay as the IMU's stream says; CombinedImuFactor cannot, so its parts are used."""


class Additions(NamedTuple):
    """What the next update brings."""

    graph: Any
    values: Any
    stamps: dict[int, float]
    """The node that keeps a variable in the window."""

    @staticmethod
    def none() -> Additions:
        return Additions(gtsam.NonlinearFactorGraph(), gtsam.Values(), {})


@dataclass(slots=True)
class _Followed:
    """A corner and what is known of it."""

    seen: list[tuple[int, Array, int]] = field(default_factory=list)
    """Node, row, LEFT_ONLY or STEREO; those not yet in the graph."""
    key: int = _NO_POINT
    born: int = 0
    """The first node that saw the point."""
    used: int = 0
    """The last node that saw it."""
    refused: int = 0


class PointFactors:
    """Follows corners from node to node. Its attributes are its whole state."""

    def __init__(self, calibration: StereoCalibration, sds: Array, config: SmootherConfig) -> None:
        """sds: (3,) of the rows of a step."""
        self.config = config
        self._set_up_cameras(calibration, sds)
        self._sensor = gtsam.Pose3((calibration.body_from_imu.inverse() @ calibration.body_from_left).matrix())
        self._followed: dict[int, _Followed] = {}
        self._next_point = 0

    def _set_up_cameras(self, c: StereoCalibration, sds: Array) -> None:
        right = c.body_from_right.inverse() @ c.body_from_left
        tilted = np.abs(right.matrix()[:3, :3] - np.eye(3)).max() > 1e-6
        if c.right is None or tilted or np.abs(right.position[1:]).max() > 1e-6:
            raise SetupError("the smoother needs two parallel cameras side by side; this recording has others")
        self._reach = abs(float(right.position[0]))
        self._disparity_sd = float(sds[2])
        self._stereo_lens = gtsam.Cal3_S2Stereo(1.0, 1.0, 0.0, 0.0, 0.0, self._reach)
        self._lens = gtsam.Cal3_S2(1.0, 1.0, 0.0, 0.0, 0.0)
        # the right image is searched for the patch of the left one, so both share the error on the left
        u, v, d = np.square(sds)
        both = np.array([[u, u, 0.0], [u, u + d, 0.0], [0.0, 0.0, v]])
        self._weight = np.linalg.inv(both)
        self._stereo_noise = self._robust(gtsam.noiseModel.Gaussian.Covariance(both))
        self._left_noise = self._robust(gtsam.noiseModel.Diagonal.Sigmas(sds[:2]))

    def _robust(self, noise: Any) -> Any:
        return gtsam.noiseModel.Robust.Create(gtsam.noiseModel.mEstimator.Huber.Create(self.config.huber), noise)

    def forget(self) -> None:
        """The corners that are followed are not used any more; points in the graph leave with their nodes."""
        self._followed.clear()

    def see(self, step: Step, poses: dict[int, Any], known_values: Any, new: Additions) -> None:
        """The corners of a new node, the last of `poses`; known_values: the solution so far."""
        c, n = self.config, max(poses)
        kept: dict[int, _Followed] = {}
        camera = poses[n].compose(self._sensor)
        for number, row, known in zip(step.ids.tolist(), step.rows, step.known.tolist(), strict=True):
            one = kept[number] = self._followed.get(number) or _Followed()
            first = one.used if c.is_lasting else one.born
            if one.key != _NO_POINT and first <= n - c.nodes:
                one.key = _NO_POINT
            if one.refused >= 3:
                continue
            if one.key == _NO_POINT:
                one.seen.append((n, row, known))
                one.seen = [entry for entry in one.seen if entry[0] > n - c.nodes]
            elif self._fits(one, camera.transformTo(known_values.atPoint3(one.key)), row, known):
                self._measure(one, n, row, known, new)
        self._followed = kept
        held = sum(one.key != _NO_POINT for one in kept.values())
        waiting = [one for one in kept.values() if one.key == _NO_POINT and len(one.seen) >= c.sightings]
        waiting.sort(key=lambda one: -len(one.seen))
        for one in waiting:
            if held >= c.points:
                break
            held += self._begin_point(one, camera, poses, new)

    def _fits(self, one: _Followed, p: Array, row: Array, known: int) -> bool:
        """p: the point in the camera, as predicted."""
        if p[2] < 0.1:
            one.refused += 1
            return False
        off = np.array([p[0] / p[2] - row[0], 0.0, p[1] / p[2] - row[1]])
        off[1] = off[0] - self._reach / p[2] + row[2] if known != LEFT_ONLY else off[0]
        far = float(off @ self._weight @ off) > self.config.refuse**2
        one.refused = one.refused + 1 if far else 0
        return not far

    def _begin_point(self, one: _Followed, camera: Any, poses: dict[int, Any], new: Additions) -> int:
        """Its depth is the mean of what the pairs say, in inverse depth, where their error is the same everywhere."""
        stereo = [(node, row) for node, row, known in one.seen if known != LEFT_ONLY]
        if len(stereo) < 2:
            return 0
        inverse = []
        for node, row in stereo:
            z = self._reach / max(row[2], 1e-4)
            there = poses[node].compose(self._sensor).transformFrom(np.array([row[0] * z, row[1] * z, z]))
            inverse.append(1.0 / max(camera.transformTo(there)[2], 1e-2))
        rho = float(np.mean(inverse))
        sure = rho * self._reach * math.sqrt(len(stereo)) / self._disparity_sd
        if not _LEAST_INVERSE_DEPTH < rho < 10.0 or sure < _SURE_OF_DEPTH:
            return 0
        row = one.seen[-1][1]
        one.key = point_key(self._next_point)
        self._next_point += 1
        position = camera.transformFrom(np.array([row[0], row[1], 1.0]) / rho)
        new.values.insert(one.key, position)
        # a point that an iteration throws behind a camera has no derivatives there, and the system would be singular
        loose = gtsam.noiseModel.Isotropic.Sigma(3, _LOOSE / rho)
        new.graph.add(gtsam.PriorFactorPoint3(one.key, position, loose))
        one.born = one.seen[0][0]
        for node, row, known in one.seen:
            self._measure(one, node, row, known, new)
        one.seen = []
        return 1

    def _measure(self, one: _Followed, node: int, row: Array, known: int, new: Additions) -> None:
        if known == LEFT_ONLY:
            factor = gtsam.GenericProjectionFactorCal3_S2(
                row[:2], self._left_noise, pose_key(node), one.key, self._lens, False, False, self._sensor
            )
        else:
            seen = gtsam.StereoPoint2(row[0], row[0] - row[2], row[1])
            factor = gtsam.GenericStereoFactor3D(
                seen, self._stereo_noise, pose_key(node), one.key, self._stereo_lens, False, False, self._sensor
            )
        new.graph.add(factor)
        one.used = node
        new.stamps[one.key] = float(node if self.config.is_lasting else one.born)
