"""A fixed-lag smoother (GTSAM) as the back end of the odometry, to measure our filter against. No flight uses it.

A node is a pose, a velocity and biases at the instant of a pair; points are in world axes. Nodes are joined by
preintegrated IMU samples. Nodes and points that fall behind the window are marginalised."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from skyloop.benchmarks.vio_steps import Beginning, BodyState, Step, body_attitude, body_levers
from skyloop.navigation.vio.calibration import StereoCalibration
from skyloop.navigation.vio.measurement_kernels import LEFT_ONLY
from skyloop_client.errors import MissingExtra, SetupError
from skyloop_client.messages import Array

try:
    import gtsam
    from gtsam.symbol_shorthand import B, L, V, X
except ImportError:
    gtsam = None

_LEAST_INVERSE_DEPTH = 0.03
_SURE_OF_DEPTH = 4.0
"""The same tests as in the filter: points farther than 33 m, or of unsure depth, are left out."""
_SAME_PLACE = 1e-8
"""m²/s, what the integration itself may be wrong by, 0.1 mm in a second. With less the system is near singular."""
_FEWEST = 6
"""Corners of a pair that can make a node."""
_LOOSE = 2.0
"""One sigma of a new point's place over its depth; a single pair tells it to 3 to 25 %."""


@dataclass(frozen=True, slots=True)
class SmootherConfig:
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


@dataclass(slots=True)
class _Followed:
    """A corner and what is known of it."""

    seen: list[tuple[int, Array, int]] = field(default_factory=list)
    """Node, row, LEFT_ONLY or STEREO; those not yet in the graph."""
    key: int | None = None
    born: int = 0
    """The first node that saw the point."""
    used: int = 0
    """The last node that saw it."""
    refused: int = 0


def check_gtsam() -> None:
    if gtsam is None:
        raise MissingExtra("the smoother is GTSAM's, which is not installed: pip install 'skyloop[bench]'")


class FixedLagBackend:
    """Takes the steps of a `StepRecord` one after the other."""

    def __init__(
        self,
        calibration: StereoCalibration,
        image_sds: Array,
        imu_densities: Array,
        config: SmootherConfig | None = None,
        rest_speed_sd: float = 0.01,
    ) -> None:
        check_gtsam()
        self.config = config or SmootherConfig()
        self._calibration = calibration
        self._densities = imu_densities
        self._rest_speed_sd = rest_speed_sd
        self._imu_from_left = (calibration.body_from_imu.inverse() @ calibration.body_from_left).matrix()
        self._sensor = gtsam.Pose3(self._imu_from_left)
        self._focal = calibration.left.fx
        self._set_up_cameras(image_sds)
        self._params = self._preintegration()
        self._solver = self._new_solver()
        self._node = -1
        self._node_ns = self._now_ns = 0
        self._nav = gtsam.NavState()
        self._bias = gtsam.imuBias.ConstantBias()
        self._ahead = self._nav
        self._pim = gtsam.PreintegratedImuMeasurements(self._params, self._bias)
        self._rate = np.zeros(3)
        self._followed: dict[int, _Followed] = {}
        self._poses: dict[int, Any] = {}
        """Estimates of the nodes in the window, as of when they were new or last read."""
        self._next_point = 0
        self._last_rows: dict[int, Array] = {}
        self._new = gtsam.NonlinearFactorGraph(), gtsam.Values(), {}
        self.solver_seconds = 0.0
        """Of the latest step, within GTSAM's update; the rest is our Python around it."""

    @property
    def node_count(self) -> int:
        return self._node

    # ---- set-up

    def _set_up_cameras(self, sds: Array) -> None:
        c = self._calibration
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

    def _preintegration(self) -> Any:
        params = gtsam.PreintegrationParams(np.array([0.0, 0.0, -self._calibration.gravity]))
        params.setGyroscopeCovariance(self._densities[0] ** 2 * np.eye(3))
        params.setAccelerometerCovariance(self._densities[1] ** 2 * np.eye(3))
        params.setIntegrationCovariance(_SAME_PLACE * np.eye(3))
        return params

    def _new_solver(self) -> Any:
        c = self.config
        lag = c.nodes - 0.5
        if c.solver == "batch":
            params = gtsam.LevenbergMarquardtParams()
            params.setMaxIterations(1 + c.iterations)
            return gtsam.BatchFixedLagSmoother(lag, params)
        params = gtsam.ISAM2Params()
        params.setRelinearizeThreshold(c.relinearise)
        params.relinearizeSkip = 1
        params.findUnusedFactorSlots = True
        return gtsam.IncrementalFixedLagSmoother(lag, params)

    # ---- steps

    def begin(self, start: Beginning) -> None:
        """The prior is the filter's own start, with its whole covariance."""
        self._node, self._node_ns, self._now_ns = 0, start.t_ns, start.t_ns
        pose = gtsam.Pose3(gtsam.Rot3(start.rotation), np.zeros(3))
        self._nav = self._ahead = gtsam.NavState(pose, np.zeros(3))
        self._bias = gtsam.imuBias.ConstantBias(start.biases[1], start.biases[0])
        graph, values, stamps = self._new
        for key, value in ((X(0), pose), (V(0), np.zeros(3)), (B(0), self._bias)):
            values.insert(key, value)
            stamps[key] = 0.0
        # from the filter's order (turn, velocity, place in world axes, gyro bias, accelerometer bias) to GTSAM's
        into = np.zeros((15, 15))
        into[0:3, 0:3] = into[3:6, 6:9] = start.rotation.T
        into[6:9, 3:6] = into[9:12, 12:15] = into[12:15, 9:12] = np.eye(3)
        covariance = into @ start.covariance @ into.T
        root = np.linalg.inv(np.linalg.cholesky(covariance))
        unit = gtsam.noiseModel.Unit.Create(15)
        linear = gtsam.JacobianFactor(X(0), root[:, :6], V(0), root[:, 6:9], B(0), root[:, 9:], np.zeros(15), unit)
        graph.add(gtsam.LinearContainerFactor(linear, values))
        self._poses = {0: pose}
        self._start_integration()

    def _start_integration(self) -> None:
        self._pim = gtsam.PreintegratedImuMeasurements(self._params, self._bias)

    def step(self, step: Step, samples: Array) -> None:
        """samples: (n, 7) s, gyroscope, accelerometer from the step before to this one, both ends included."""
        self.solver_seconds = 0.0
        middles = 0.5 * (samples[1:, 1:] + samples[:-1, 1:])
        for dt, middle in zip(np.diff(samples[:, 0]).tolist(), middles, strict=True):
            if dt > 0.0:
                self._pim.integrateMeasurement(middle[3:], middle[:3], dt)
        self._rate = samples[-1, 1:4]
        self._now_ns = step.t_ns
        self._ahead = self._pim.predict(self._nav, self._bias)
        if self._is_node(step):
            self._add_node(step)

    def _is_node(self, step: Step) -> bool:
        if step.rest_gyro is None and len(step.ids) < _FEWEST:
            # a node that only the IMU knows makes the system near singular, and tells nothing
            return False
        if (step.t_ns - self._node_ns) * 1e-9 >= self.config.longest_gap_s:
            return True
        if step.rest_gyro is not None:
            return False
        return self._parallax_px(step) >= self.config.key_parallax_px

    def _parallax_px(self, step: Step) -> float:
        rows = [(self._last_rows[k], row) for k, row in zip(step.ids.tolist(), step.rows, strict=True) if k in self._last_rows]
        if len(rows) < 0.5 * max(len(self._last_rows), 1) or not rows:
            return math.inf
        before, now = np.array([r[0][:2] for r in rows]), np.array([r[1][:2] for r in rows])
        into = self._imu_from_left[:3, :3]
        turn = into.T @ self._ahead.attitude().matrix().T @ self._nav.attitude().matrix() @ into
        rays = np.column_stack([before, np.ones(len(before))]) @ turn.T
        return float(np.linalg.norm(rays[:, :2] / rays[:, 2:] - now, axis=1).mean() * self._focal)

    def _add_node(self, step: Step) -> None:
        n = self._node = self._node + 1
        graph, values, stamps = self._new
        self._join(graph, n, (step.t_ns - self._node_ns) * 1e-9)
        for key, value in ((X(n), self._ahead.pose()), (V(n), self._ahead.velocity()), (B(n), self._decayed)):
            values.insert(key, value)
            stamps[key] = float(n)
        self._node_ns = step.t_ns
        self._poses[n] = self._ahead.pose()
        self._last_rows = dict(zip(step.ids.tolist(), step.rows, strict=True))
        if step.rest_gyro is not None:
            self._rest(graph, n, step.rest_gyro)
        else:
            self._see(step, n)
        self._solve(n)
        self._start_integration()

    def _join(self, graph: Any, n: int, seconds: float) -> None:
        imu = self._calibration.imu
        graph.add(gtsam.ImuFactor(X(n - 1), V(n - 1), X(n), V(n), B(n - 1), self._pim))
        shares = np.zeros(2)
        if self.config.decay:
            shares = np.array([math.exp(-seconds / tau) - 1.0 for tau in (imu.accel_bias_tau, imu.gyro_bias_tau)])
        change = gtsam.imuBias.ConstantBias(
            shares[0] * self._bias.accelerometer(), shares[1] * self._bias.gyroscope()
        )
        self._decayed = gtsam.imuBias.ConstantBias(
            (1.0 + shares[0]) * self._bias.accelerometer(), (1.0 + shares[1]) * self._bias.gyroscope()
        )
        walks = math.sqrt(seconds) * np.repeat([self._densities[3], self._densities[2]], 3)
        graph.add(gtsam.BetweenFactorConstantBias(B(n - 1), B(n), change, gtsam.noiseModel.Diagonal.Sigmas(walks)))

    def _rest(self, graph: Any, n: int, gyro: Array) -> None:
        """As in the filter: the velocity is zero, and the gyroscope shows its bias."""
        speed = gtsam.noiseModel.Isotropic.Sigma(3, self._rest_speed_sd)
        graph.add(gtsam.PriorFactorVector(V(n), np.zeros(3), speed))
        rate = max(float(self._densities[0] * math.sqrt(30.0)), 2e-4)
        sigmas = gtsam.noiseModel.Diagonal.Sigmas(np.repeat([1e3, rate], 3))
        graph.add(gtsam.PriorFactorConstantBias(B(n), gtsam.imuBias.ConstantBias(np.zeros(3), gyro), sigmas))
        self._followed.clear()

    # ---- points

    def _see(self, step: Step, n: int) -> None:
        c = self.config
        kept: dict[int, _Followed] = {}
        camera = self._ahead.pose().compose(self._sensor)
        for number, row, known in zip(step.ids.tolist(), step.rows, step.known.tolist(), strict=True):
            one = kept[number] = self._followed.get(number) or _Followed()
            first = one.used if c.is_lasting else one.born
            if one.key is not None and first <= n - c.nodes:
                one.key = None
            if one.refused >= 3:
                continue
            if one.key is None:
                one.seen.append((n, row, known))
                one.seen = [entry for entry in one.seen if entry[0] > n - c.nodes]
            elif self._fits(one, camera, row, known):
                self._measure(one, n, row, known)
        self._followed = kept
        held = sum(one.key is not None for one in kept.values())
        waiting = [one for one in kept.values() if one.key is None and len(one.seen) >= c.sightings]
        waiting.sort(key=lambda one: -len(one.seen))
        for one in waiting:
            if held >= c.points:
                break
            held += self._begin_point(one, camera)

    def _fits(self, one: _Followed, camera: Any, row: Array, known: int) -> bool:
        p = camera.transformTo(self._values.atPoint3(one.key))
        if p[2] < 0.1:
            one.refused += 1
            return False
        off = np.array([p[0] / p[2] - row[0], 0.0, p[1] / p[2] - row[1]])
        off[1] = off[0] - self._reach / p[2] + row[2] if known != LEFT_ONLY else off[0]
        far = float(off @ self._weight @ off) > self.config.refuse**2
        one.refused = one.refused + 1 if far else 0
        return not far

    def _begin_point(self, one: _Followed, camera: Any) -> int:
        """Its depth is the mean of what the pairs say, in inverse depth, where their error is the same everywhere."""
        stereo = [(node, row) for node, row, known in one.seen if known != LEFT_ONLY]
        if len(stereo) < 2:
            return 0
        inverse = []
        for node, row in stereo:
            z = self._reach / max(row[2], 1e-4)
            there = self._poses[node].compose(self._sensor).transformFrom(np.array([row[0] * z, row[1] * z, z]))
            inverse.append(1.0 / max(camera.transformTo(there)[2], 1e-2))
        rho = float(np.mean(inverse))
        sure = rho * self._reach * math.sqrt(len(stereo)) / self._disparity_sd
        if not _LEAST_INVERSE_DEPTH < rho < 10.0 or sure < _SURE_OF_DEPTH:
            return 0
        row = one.seen[-1][1]
        one.key = L(self._next_point)
        self._next_point += 1
        place = camera.transformFrom(np.array([row[0], row[1], 1.0]) / rho)
        self._new[1].insert(one.key, place)
        # a point that an iteration throws behind a camera has no derivatives there, and the system would be singular
        loose = gtsam.noiseModel.Isotropic.Sigma(3, _LOOSE / rho)
        self._new[0].add(gtsam.PriorFactorPoint3(one.key, place, loose))
        one.born = one.seen[0][0]
        for node, row, known in one.seen:
            self._measure(one, node, row, known)
        one.seen = []
        return 1

    def _measure(self, one: _Followed, node: int, row: Array, known: int) -> None:
        graph, _, stamps = self._new
        if known == LEFT_ONLY:
            factor = gtsam.GenericProjectionFactorCal3_S2(
                row[:2], self._left_noise, X(node), one.key, self._lens, False, False, self._sensor
            )
        else:
            seen = gtsam.StereoPoint2(row[0], row[0] - row[2], row[1])
            factor = gtsam.GenericStereoFactor3D(
                seen, self._stereo_noise, X(node), one.key, self._stereo_lens, False, False, self._sensor
            )
        graph.add(factor)
        one.used = node
        stamps[one.key] = float(node if self.config.is_lasting else one.born)

    # ---- solution

    def _solve(self, n: int) -> None:
        c = self.config
        graph, values, stamps = self._new
        began = time.process_time()
        self._solver.update(graph, values, stamps)
        if c.solver == "incremental":
            for _ in range(c.iterations):
                self._solver.update()
        self._values = self._solver.calculateEstimate()
        self.solver_seconds = time.process_time() - began
        self._new = gtsam.NonlinearFactorGraph(), gtsam.Values(), {}
        self._poses = {k: self._values.atPose3(X(k)) for k in self._poses if k > n - c.nodes}
        self._nav = self._ahead = gtsam.NavState(self._poses[n], self._values.atVector(V(n)))
        self._bias = self._values.atConstantBias(B(n))

    def state(self, with_covariance: bool = False) -> BodyState:
        """Of the latest step. The covariance is that of the newest node, so it is given only at a node."""
        rotation = self._ahead.attitude().matrix()
        levers = body_levers(self._calibration, rotation, self._rate - self._bias.gyroscope())
        covariance = None
        if with_covariance and self._now_ns == self._node_ns and self._node > 0:
            covariance = self._covariance(rotation, levers[0])
        return BodyState(
            self._now_ns, self._ahead.position() + levers[0], self._ahead.velocity() + levers[1],
            body_attitude(self._calibration, rotation), self._bias.gyroscope(), self._bias.accelerometer(), covariance,
        )  # fmt: skip

    def _covariance(self, rotation: Array, arm: Array) -> Array:
        n = self._node
        margins = gtsam.Marginals(self._solver.getFactors(), self._values)
        joint = margins.jointMarginalCovariance([X(n), V(n)])
        both = np.zeros((9, 9))
        both[:6, :6], both[6:, 6:] = joint.at(X(n), X(n)), joint.at(V(n), V(n))
        both[:6, 6:] = joint.at(X(n), V(n))
        both[6:, :6] = both[:6, 6:].T
        x, y, z = arm
        into = np.zeros((9, 9))
        into[0:3, 3:6] = into[6:9, 0:3] = rotation
        into[3:6, 6:9] = np.eye(3)
        into[0:3, 0:3] = -np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) @ rotation
        return into @ both @ into.T
