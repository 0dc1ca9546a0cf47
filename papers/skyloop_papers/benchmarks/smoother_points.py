"""The corners of the odometry's front end as factors of a fixed-lag smoother's graph: which become points, and what
these add."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skyloop_autonomy.vio.calibration import StereoCalibration
from skyloop_autonomy.vio.measurement_kernels import LEFT_ONLY
from skyloop_client.errors import MissingExtra, SetupError
from skyloop_client.messages import Array

gtsam: Any = None
try:
    import gtsam as _gtsam

    gtsam = _gtsam
except ImportError:
    # `check_gtsam` says so
    pass

NODES = 10
"""In the window. This and the numbers below were chosen on a few recorded flights."""
POINTS = 120
"""In the window, at most."""
SIGHTINGS = 3
"""Nodes that must have seen a corner before it becomes a point."""
HUBER = 1.345
"""Sigmas beyond which the weight of a measurement falls."""
REFUSE = 10.0
"""Sigmas by which a point may miss its prediction before the measurement is left out."""
_LEAST_INVERSE_DEPTH = 0.03
_SURE_OF_DEPTH = 4.0
"""The same tests as in the filter: points farther than 33 m, or of unsure depth, are left out."""
_NO_POINT = -1
_LOOSE = 2.0
"""One sigma of a new point's position over its depth; a single pair measures it to 3 to 25 %."""


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
    used: int = 0
    """The last node that saw it."""
    refused: int = 0


class PointFactors:
    """Follows corners from node to node. Its attributes are its whole state."""

    def __init__(self, calibration: StereoCalibration, sds: Array) -> None:
        """sds: (3,) of the rows of a step."""
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
        return gtsam.noiseModel.Robust.Create(gtsam.noiseModel.mEstimator.Huber.Create(HUBER), noise)

    def forget(self) -> None:
        """The corners that are followed are not used any more; points in the graph leave with their nodes."""
        self._followed.clear()

    def see(self, step: Step, poses: dict[int, Any], known_values: Any, new: Additions) -> None:
        """The corners of a new node, the last of `poses`; known_values: the solution so far."""
        n = max(poses)
        kept: dict[int, _Followed] = {}
        camera = poses[n].compose(self._sensor)
        for number, row, known in zip(step.ids.tolist(), step.rows, step.known.tolist(), strict=True):
            one = kept[number] = self._followed.get(number) or _Followed()
            if one.key != _NO_POINT and one.used <= n - NODES:
                one.key = _NO_POINT
            if one.refused >= 3:
                continue
            if one.key == _NO_POINT:
                one.seen.append((n, row, known))
                one.seen = [entry for entry in one.seen if entry[0] > n - NODES]
            elif self._fits(one, camera.transformTo(known_values.atPoint3(one.key)), row, known):
                self._measure(one, n, row, known, new)
        self._followed = kept
        count = sum(one.key != _NO_POINT for one in kept.values())
        waiting = [one for one in kept.values() if one.key == _NO_POINT and len(one.seen) >= SIGHTINGS]
        waiting.sort(key=lambda one: -len(one.seen))
        for one in waiting:
            if count >= POINTS:
                break
            count += self._begin_point(one, camera, poses, new)

    def _fits(self, one: _Followed, p: Array, row: Array, known: int) -> bool:
        """p: the point in the camera, as predicted."""
        if p[2] < 0.1:
            one.refused += 1
            return False
        off = np.array([p[0] / p[2] - row[0], 0.0, p[1] / p[2] - row[1]])
        off[1] = off[0] - self._reach / p[2] + row[2] if known != LEFT_ONLY else off[0]
        far = float(off @ self._weight @ off) > REFUSE**2
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
        new.stamps[one.key] = float(node)
