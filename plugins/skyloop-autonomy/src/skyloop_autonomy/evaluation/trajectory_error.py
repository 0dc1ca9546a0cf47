"""Errors of an estimated trajectory against the true one: APE by eqs (8) to (10) of e2es, and RPE.

The two are brought together by Umeyama's method (rotation and shift by default). Angles are in radians; eq. (10) is
given as well, whose value has no unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import (
    matrix_from_quat,
    quat_conjugate,
    quat_from_matrix,
    quat_from_yaw,
    quat_multiply,
    rotate_inverse,
    rotvec_from_quat,
    slerp,
)
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S

Alignment: TypeAlias = Literal["se3", "sim3", "yaw", "start", "none"]
"""`se3`: rotation and shift by least squares (Umeyama, as in e2es). `sim3`: scale as well. `yaw`: heading and shift by
least squares, because gravity shows roll and pitch. `start`: heading and position of the first pose. `none`: as it is.
"""
Unit: TypeAlias = Literal["m", "s", "poses"]
LONGEST_GAP_S = 0.1
"""Between two true poses; a stamp within a longer gap is left out."""


@dataclass(frozen=True, slots=True, eq=False)
class PoseTrajectory:
    """Poses over time."""

    t_ns: NDArray[np.int64]
    """(n,), ascending."""
    position: Array
    """(n, 3) m."""
    quat_wxyz: Array
    """(n, 4) world_from_body."""

    def __len__(self) -> int:
        return len(self.t_ns)

    def __getitem__(self, rows: NDArray[np.bool_] | slice) -> PoseTrajectory:
        return PoseTrajectory(self.t_ns[rows], self.position[rows], self.quat_wxyz[rows])

    @property
    def length(self) -> float:
        """m along the positions."""
        return float(np.linalg.norm(np.diff(self.position, axis=0), axis=1).sum())

    def at(
        self, t_ns: NDArray[np.int64], longest_gap_s: float = LONGEST_GAP_S
    ) -> tuple[PoseTrajectory, NDArray[np.bool_]]:
        """Poses between the given ones, and which of the stamps have one."""
        after = np.searchsorted(self.t_ns, t_ns, side="left")
        inside = (after < len(self)) & (t_ns >= self.t_ns[0])
        second = np.clip(after, 0, len(self) - 1)
        # a stamp that is there is taken as it is
        first = np.where(self.t_ns[second] == t_ns, second, np.maximum(second - 1, 0))
        gap = self.t_ns[second] - self.t_ns[first]
        kept = inside & (gap <= longest_gap_s * NS_PER_S)
        first, second, gap, stamps = first[kept], second[kept], gap[kept], t_ns[kept]
        share = (stamps - self.t_ns[first]) / np.maximum(gap, 1)
        position = self.position[first] + share[:, None] * (self.position[second] - self.position[first])
        turn = slerp(self.quat_wxyz[first], self.quat_wxyz[second], share)
        return PoseTrajectory(stamps, position, np.where((gap == 0)[:, None], self.quat_wxyz[first], turn)), kept


@dataclass(frozen=True, slots=True, eq=False)
class Similarity:
    """truth = scale · rotation · estimate + shift."""

    rotation: Array
    """(3, 3)."""
    shift: Array
    """(3,) m."""
    scale: float = 1.0

    def moved(self, track: PoseTrajectory) -> PoseTrajectory:
        position = self.scale * track.position @ self.rotation.T + self.shift
        return replace(
            track, position=position, quat_wxyz=quat_multiply(quat_from_matrix(self.rotation), track.quat_wxyz)
        )


@dataclass(frozen=True, slots=True, eq=False)
class PoseErrors:
    """The error of every pose, or of every step."""

    t_ns: NDArray[np.int64]
    translation: Array
    """(n,) m."""
    rotation: Array
    """(n,) rad, the angle of the remaining rotation."""

    @property
    def translation_rmse(self) -> float:
        """m, eq. (9)."""
        return _rms(self.translation)

    @property
    def rotation_rmse(self) -> float:
        """rad; root mean square of the angle."""
        return _rms(self.rotation)

    @property
    def rotation_matrix_rmse(self) -> float:
        """Eq. (10): root mean square of the Frobenius norm of R - I, which is 2√2 sin(angle / 2)."""
        return _rms(2.0 * math.sqrt(2.0) * np.sin(0.5 * self.rotation))


def together(
    truth: PoseTrajectory, estimate: PoseTrajectory, longest_gap_s: float = LONGEST_GAP_S
) -> tuple[PoseTrajectory, PoseTrajectory]:
    """Both at the stamps of the estimate for which there is a truth."""
    if len(truth) == 0 or len(estimate) == 0:
        raise DatasetError("there is nothing to compare: the truth or the estimate has no poses")
    at, kept = truth.at(estimate.t_ns, longest_gap_s)
    if len(at) < 3:
        raise DatasetError(
            f"only {len(at)} of {len(estimate)} poses have a true pose within {longest_gap_s:g} s; "
            "check that both are on one clock"
        )
    return at, estimate[kept]


def align(truth: PoseTrajectory, estimate: PoseTrajectory, how: Alignment = "se3") -> Similarity:
    """The motion of the estimate that brings it to the truth; both have the same stamps."""
    if how == "none":
        return Similarity(np.eye(3), np.zeros(3))
    if how == "start":
        # not from the forward axis, which points up in a body such as EuRoC's
        apart = matrix_from_quat(quat_multiply(truth.quat_wxyz[0], quat_conjugate(estimate.quat_wxyz[0])))
        rotation = matrix_from_quat(quat_from_yaw(math.atan2(apart[1, 0] - apart[0, 1], apart[0, 0] + apart[1, 1])))
        return Similarity(rotation, truth.position[0] - rotation @ estimate.position[0])
    centre, other = truth.position.mean(axis=0), estimate.position.mean(axis=0)
    spread, other_spread = truth.position - centre, estimate.position - other
    covariance = spread.T @ other_spread / len(truth)
    if how == "yaw":
        # the heading that maximises the trace of rotation · covarianceᵀ
        turn = math.atan2(covariance[1, 0] - covariance[0, 1], covariance[0, 0] + covariance[1, 1])
        rotation = matrix_from_quat(quat_from_yaw(turn))
        return Similarity(rotation, centre - rotation @ other)
    left, values, right = np.linalg.svd(covariance)
    signs = np.ones(3)
    if np.linalg.det(left) * np.linalg.det(right) < 0.0:
        signs[2] = -1.0
    rotation = left @ np.diag(signs) @ right
    scale = 1.0
    if how == "sim3":
        variance = float(np.mean(np.sum(other_spread**2, axis=1)))
        if variance == 0.0:
            raise DatasetError("the estimate does not move, so its scale cannot be found; align with se3")
        scale = float(values @ signs) / variance
    return Similarity(rotation, centre - scale * rotation @ other, scale)


def absolute_errors(truth: PoseTrajectory, estimate: PoseTrajectory, how: Alignment = "se3") -> PoseErrors:
    """E_n = (T_n truth)⁻¹ S T_n estimate, eq. (8), of two tracks with the same stamps."""
    moved = align(truth, estimate, how).moved(estimate)
    turn = quat_multiply(quat_conjugate(truth.quat_wxyz), moved.quat_wxyz)
    # the length of the shift is the same in the axes of either pose
    return PoseErrors(truth.t_ns, np.linalg.norm(moved.position - truth.position, axis=1), _angle(turn))


def relative_errors(
    truth: PoseTrajectory, estimate: PoseTrajectory, delta: float = 1.0, unit: Unit = "m"
) -> PoseErrors:
    """Errors of the motion over steps of `delta` of the true way, of time, or of poses, one step after the other.

    E = (step of the truth)⁻¹ (step of the estimate). It needs no alignment."""
    ends = _steps(truth, delta, unit)
    if len(ends) < 2:
        raise DatasetError(f"the way is shorter than two steps of {delta:g} {unit}; give a shorter step")
    position, turn = _motion(truth, ends)
    other_position, other_turn = _motion(estimate, ends)
    difference = quat_multiply(quat_conjugate(turn), other_turn)
    return PoseErrors(truth.t_ns[ends[1:]], np.linalg.norm(other_position - position, axis=1), _angle(difference))


def _steps(truth: PoseTrajectory, delta: float, unit: Unit) -> NDArray[np.int64]:
    """Indices of the poses between which the steps lie."""
    if not delta > 0.0:
        raise DatasetError(f"a step of {delta:g} {unit} is not positive")
    if unit == "poses":
        return np.arange(0, len(truth), max(round(delta), 1))
    if unit == "s":
        passed = (truth.t_ns - truth.t_ns[0]) / NS_PER_S
    else:
        passed = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(truth.position, axis=0), axis=1))])
    ends, begun = [0], 0.0
    for index, value in enumerate(passed.tolist()):
        if value - begun >= delta:
            ends.append(index)
            begun = value
    return np.array(ends)


def _motion(track: PoseTrajectory, ends: NDArray[np.int64]) -> tuple[Array, Array]:
    """Of every step: the shift in the axes of its first pose, and the rotation."""
    first, second = ends[:-1], ends[1:]
    shift = rotate_inverse(track.quat_wxyz[first], track.position[second] - track.position[first])
    return shift, quat_multiply(quat_conjugate(track.quat_wxyz[first]), track.quat_wxyz[second])


def _angle(quat: Array) -> Array:
    return np.asarray(2.0 * np.arctan2(np.linalg.norm(quat[:, 1:], axis=1), np.abs(quat[:, 0])))


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


STATES = 9
"""Position, velocity, attitude: the first nine of an `Estimate`'s covariance."""


@dataclass(frozen=True, slots=True)
class Band:
    low: float
    high: float

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


def state_errors(truth: Sequence[Array], estimate: Sequence[Array]) -> Array:
    """(n, 9) estimate minus truth; each is position (n, 3), velocity (n, 3), quat_wxyz (n, 4).

    The attitude error is a rotation vector in world axes, as `Estimate.attitude_sd` has it."""
    turn = rotvec_from_quat(quat_multiply(estimate[2], quat_conjugate(truth[2])))
    return np.concatenate([estimate[0] - truth[0], estimate[1] - truth[1], turn], axis=1)


def nees(errors: Array, covariances: Array) -> Array:
    """(n,) of n errors (n, k) with their covariances (n, k, k). Its mean is k if the covariances are right."""
    return np.asarray(np.einsum("ni,ni->n", errors, np.linalg.solve(covariances, errors[..., None])[..., 0]))


def band(runs: int, states: int = STATES) -> Band:
    """Where the mean NEES over so many runs at one instant lies with a probability of 95 %."""
    from scipy.stats import chi2

    low, high = chi2.ppf([0.025, 0.975], runs * states) / runs
    return Band(float(low), float(high))
