"""A fixed-lag smoother (GTSAM) as the back end of the odometry, to measure our filter against. No flight uses it.

A node is a pose, a velocity and biases at the instant of a pair; points are in world axes. Nodes are joined by
preintegrated IMU samples. Nodes and points that fall behind the window are marginalised by iSAM2."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from skyloop.core.frames import matrix_from_quat, quat_from_matrix
from skyloop_autonomy.vio.calibration import StereoCalibration
from skyloop_client.messages import Array
from skyloop_papers.benchmarks.smoother_points import (
    NODES,
    Additions,
    PointFactors,
    Step,
    bias_key,
    check_gtsam,
    gtsam,
    pose_key,
    velocity_key,
)

_INTEGRATION = 1e-8
"""m²/s, what the integration itself may be wrong by: 0.1 mm in a second. GTSAM wants more than nothing."""
_SHORTEST_GAP_S = 0.1
"""s between two nodes. With a first node right after the start GTSAM refused the system as singular."""
_FEWEST = 6
"""Corners of a pair that can make a node."""


KEY_PARALLAX_PX = 12.0
"""The mean motion of the corners, turns taken out, that makes a node. Between nodes the IMU carries the state."""
LONGEST_GAP_S = 0.5
"""Between two nodes."""
RELINEARISE = 0.01
"""The change of a variable beyond which iSAM2 linearises it again."""


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


def body_levers(calibration: StereoCalibration, rotation: Array, rates: Array) -> Array:
    """(2, 3) world axes: from the IMU to the body's origin, and the velocity that turning gives the latter."""
    imu_from_body = calibration.body_from_imu.inverse()
    arm = imu_from_body.position
    return np.stack([rotation @ arm, rotation @ np.cross(rates, arm)])


def body_attitude(calibration: StereoCalibration, rotation: Array) -> Array:
    body_from_imu = matrix_from_quat(calibration.body_from_imu.quat_wxyz)
    return quat_from_matrix(rotation @ body_from_imu.T)


class FixedLagBackend:
    """Takes steps of the odometry one after the other."""

    def __init__(
        self,
        calibration: StereoCalibration,
        image_sds: Array,
        imu_densities: Array,
        rest_speed_sd: float = 0.01,
    ) -> None:
        """image_sds: (3,) of a step's rows; imu_densities: (4,) per √Hz of gyroscope, accelerometer, and of the random
        walks of their biases: as the filter has them."""
        check_gtsam()
        self._calibration = calibration
        self._densities = imu_densities
        self._rest_speed_sd = rest_speed_sd
        self._imu_from_left = (calibration.body_from_imu.inverse() @ calibration.body_from_left).matrix()
        self._focal = calibration.left.fx
        self._points = PointFactors(calibration, image_sds)
        self._params = self._preintegration()
        self._solver = self._new_solver()
        self._node = -1
        self._node_ns = self._now_ns = 0
        self._nav = gtsam.NavState()
        self._bias = gtsam.imuBias.ConstantBias()
        self._ahead = self._nav
        self._pim = gtsam.PreintegratedImuMeasurements(self._params, self._bias)
        self._rate = np.zeros(3)
        self._poses: dict[int, Any] = {}
        """Estimates of the nodes in the window, as of when they were new or last read."""
        self._last_rows: dict[int, Array] = {}
        self._values = gtsam.Values()
        self._new = Additions.none()
        self.solver_seconds = 0.0
        """Of the latest step, within GTSAM's update; the rest is our Python around it."""

    @property
    def node_count(self) -> int:
        return self._node

    # ---- set-up

    def _preintegration(self) -> Any:
        params = gtsam.PreintegrationParams(np.array([0.0, 0.0, -self._calibration.gravity]))
        params.setGyroscopeCovariance(self._densities[0] ** 2 * np.eye(3))
        params.setAccelerometerCovariance(self._densities[1] ** 2 * np.eye(3))
        params.setIntegrationCovariance(_INTEGRATION * np.eye(3))
        return params

    def _new_solver(self) -> Any:
        params = gtsam.ISAM2Params()
        params.setRelinearizeThreshold(RELINEARISE)
        params.relinearizeSkip = 1
        params.findUnusedFactorSlots = True
        return gtsam.IncrementalFixedLagSmoother(NODES - 0.5, params)

    # ---- steps

    def begin(self, t_ns: int, rotation: Array, biases: Array, covariance: Array) -> None:
        """The prior is the filter's own start, with its full covariance (15, 15) in its own order."""
        self._node, self._node_ns, self._now_ns = 0, t_ns, t_ns
        pose = gtsam.Pose3(gtsam.Rot3(rotation), np.zeros(3))
        self._nav = self._ahead = gtsam.NavState(pose, np.zeros(3))
        self._bias = gtsam.imuBias.ConstantBias(biases[1], biases[0])
        graph, values, stamps = self._new
        for key, value in ((pose_key(0), pose), (velocity_key(0), np.zeros(3)), (bias_key(0), self._bias)):
            values.insert(key, value)
            stamps[key] = 0.0
        # from the filter's order (turn, velocity, position in world axes, gyro bias, accelerometer bias) to GTSAM's
        into = np.zeros((15, 15))
        into[0:3, 0:3] = into[3:6, 6:9] = rotation.T
        into[6:9, 3:6] = into[9:12, 12:15] = into[12:15, 9:12] = np.eye(3)
        root = np.linalg.inv(np.linalg.cholesky(into @ covariance @ into.T))
        unit = gtsam.noiseModel.Unit.Create(15)
        linear = gtsam.JacobianFactor(
            pose_key(0), root[:, :6], velocity_key(0), root[:, 6:9], bias_key(0), root[:, 9:], np.zeros(15), unit
        )
        graph.add(gtsam.LinearContainerFactor(linear, values))
        self._poses = {0: pose}
        self._start_integration()

    def _start_integration(self) -> None:
        self._pim = gtsam.PreintegratedImuMeasurements(self._params, self._bias)

    def move(self, samples: Array) -> None:
        """samples: (n, 7) s, gyroscope, accelerometer since the samples before, both ends included."""
        middles = 0.5 * (samples[1:, 1:] + samples[:-1, 1:])
        for dt, middle in zip(np.diff(samples[:, 0]).tolist(), middles, strict=True):
            if dt > 0.0:
                self._pim.integrateMeasurement(middle[3:], middle[:3], dt)
        self._rate = samples[-1, 1:4]

    def step(self, step: Step) -> None:
        """Of a pair of images, after the samples up to it."""
        self.solver_seconds = 0.0
        self._now_ns = step.t_ns
        self._ahead = self._pim.predict(self._nav, self._bias)
        if self._is_node(step):
            self._add_node(step)

    def _is_node(self, step: Step) -> bool:
        gap = (step.t_ns - self._node_ns) * 1e-9
        if gap < _SHORTEST_GAP_S or (step.rest_gyro is None and len(step.ids) < _FEWEST):
            return False
        return gap >= LONGEST_GAP_S or (step.rest_gyro is None and self._parallax_px(step) >= KEY_PARALLAX_PX)

    def _parallax_px(self, step: Step) -> float:
        rows = [
            (self._last_rows[k], row)
            for k, row in zip(step.ids.tolist(), step.rows, strict=True)
            if k in self._last_rows
        ]
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
        bias = self._join(graph, n, (step.t_ns - self._node_ns) * 1e-9)
        for key, value in (
            (pose_key(n), self._ahead.pose()),
            (velocity_key(n), self._ahead.velocity()),
            (bias_key(n), bias),
        ):
            values.insert(key, value)
            stamps[key] = float(n)
        self._node_ns = step.t_ns
        self._poses[n] = self._ahead.pose()
        self._last_rows = dict(zip(step.ids.tolist(), step.rows, strict=True))
        if step.rest_gyro is not None:
            self._rest(graph, n, step.rest_gyro)
        else:
            self._points.see(step, self._poses, self._values, self._new)
        self._solve(n)
        self._start_integration()

    def _join(self, graph: Any, n: int, seconds: float) -> Any:
        """Joins the node to the one before; returns the biases that are expected there."""
        imu = self._calibration.imu
        graph.add(
            gtsam.ImuFactor(
                pose_key(n - 1), velocity_key(n - 1), pose_key(n), velocity_key(n), bias_key(n - 1), self._pim
            )
        )
        # they decay as the IMU's stream says; CombinedImuFactor cannot, so its parts are used
        shares = np.array([math.exp(-seconds / tau) - 1.0 for tau in (imu.accel_bias_tau, imu.gyro_bias_tau)])
        change = gtsam.imuBias.ConstantBias(shares[0] * self._bias.accelerometer(), shares[1] * self._bias.gyroscope())
        walks = math.sqrt(seconds) * np.repeat([self._densities[3], self._densities[2]], 3)
        graph.add(
            gtsam.BetweenFactorConstantBias(
                bias_key(n - 1), bias_key(n), change, gtsam.noiseModel.Diagonal.Sigmas(walks)
            )
        )
        return gtsam.imuBias.ConstantBias(
            (1.0 + shares[0]) * self._bias.accelerometer(), (1.0 + shares[1]) * self._bias.gyroscope()
        )

    def _rest(self, graph: Any, n: int, gyro: Array) -> None:
        """As in the filter: the velocity is zero, and the gyroscope shows its bias."""
        speed = gtsam.noiseModel.Isotropic.Sigma(3, self._rest_speed_sd)
        graph.add(gtsam.PriorFactorVector(velocity_key(n), np.zeros(3), speed))
        rate = max(float(self._densities[0] * math.sqrt(30.0)), 2e-4)
        sigmas = gtsam.noiseModel.Diagonal.Sigmas(np.repeat([1e3, rate], 3))
        graph.add(gtsam.PriorFactorConstantBias(bias_key(n), gtsam.imuBias.ConstantBias(np.zeros(3), gyro), sigmas))
        self._points.forget()

    # ---- solution

    def _solve(self, n: int) -> None:
        began = time.process_time()
        self._solver.update(*self._new)
        self._values = self._solver.calculateEstimate()
        self.solver_seconds = time.process_time() - began
        self._new = Additions.none()
        self._poses = {k: self._values.atPose3(pose_key(k)) for k in self._poses if k > n - NODES}
        self._nav = self._ahead = gtsam.NavState(self._poses[n], self._values.atVector(velocity_key(n)))
        self._bias = self._values.atConstantBias(bias_key(n))

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
        joint = margins.jointMarginalCovariance([pose_key(n), velocity_key(n)])
        both = np.zeros((9, 9))
        both[:6, :6], both[6:, 6:] = joint.at(pose_key(n), pose_key(n)), joint.at(velocity_key(n), velocity_key(n))
        both[:6, 6:] = joint.at(pose_key(n), velocity_key(n))
        both[6:, :6] = both[:6, 6:].T
        x, y, z = arm
        into = np.zeros((9, 9))
        into[0:3, 3:6] = into[6:9, 0:3] = rotation
        into[3:6, 6:9] = np.eye(3)
        into[0:3, 0:3] = -np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) @ rotation
        return into @ both @ into.T
