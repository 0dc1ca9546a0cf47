"""Estimates and true states over time, as arrays: what scores and pictures of a localisation are made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import quat_from_matrix, quat_multiply
from skyloop_autonomy.evaluation.trajectory_error import STATES, PoseTrajectory, Similarity, align, nees, state_errors
from skyloop_client.messages import Array, Estimate, VehicleState
from skyloop_client.streams import NS_PER_S


class EstimateLog:
    """Collects every estimate."""

    def __init__(self) -> None:
        self._kept: list[Estimate] = []
        self.changes: list[tuple[float, bool, str]] = []
        """s, valid or not from then on, and the reason."""

    def add(self, estimate: Estimate) -> None:
        if self._kept and estimate.t_ns <= self._kept[-1].t_ns:
            # two messages of one instant: the later one knows more
            self._kept[-1] = estimate
        else:
            self._kept.append(estimate)
        if not self.changes or (estimate.valid, estimate.reason) != self.changes[-1][1:]:
            self.changes.append((estimate.t_ns / NS_PER_S, estimate.valid, estimate.reason))

    def arrays(self) -> Estimates:
        kept = self._kept
        unknown = np.full(3, np.nan)

        def stacked(values: list[Array] | list[Array | None], empty: Array = unknown) -> Array:
            return np.array([empty if value is None else value for value in values]).reshape(len(kept), *empty.shape)

        covariances = [
            np.diag(np.concatenate([one.position_sd, one.velocity_sd, one.attitude_sd]) ** 2)
            if one.covariance is None
            else one.covariance[:STATES, :STATES]
            for one in kept
        ]
        return Estimates(
            t_ns=np.array([estimate.t_ns for estimate in kept], np.int64),
            valid=np.array([estimate.valid for estimate in kept], np.bool_),
            position=stacked([one.position for one in kept]),
            velocity=stacked([one.velocity_world for one in kept]),
            quat_wxyz=stacked([one.quat_wxyz for one in kept], np.full(4, np.nan)),
            gyro_bias=stacked([one.gyro_bias for one in kept]),
            accel_bias=stacked([one.accel_bias for one in kept]),
            covariance=np.array(covariances).reshape(len(kept), STATES, STATES),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """(n, …) of each; units and axes as in `Estimate`."""

    t_ns: NDArray[np.int64]
    valid: NDArray[np.bool_]
    position: Array
    velocity: Array
    quat_wxyz: Array
    gyro_bias: Array
    accel_bias: Array
    covariance: Array

    def __len__(self) -> int:
        return len(self.t_ns)

    @property
    def seconds(self) -> Array:
        return np.asarray(self.t_ns / NS_PER_S)

    @property
    def track(self) -> PoseTrajectory:
        """The valid poses."""
        return PoseTrajectory(self.t_ns[self.valid], self.position[self.valid], self.quat_wxyz[self.valid])

    @property
    def is_finite(self) -> bool:
        """Whether no number of a valid estimate is NaN or infinite."""
        rows = self.valid
        parts = (self.position, self.velocity, self.quat_wxyz, self.covariance)
        return all(bool(np.isfinite(part[rows]).all()) for part in parts)


@dataclass(frozen=True, slots=True, eq=False)
class Truths:
    """True states; and the true biases of the IMU, where they are known."""

    track: PoseTrajectory
    velocity: Array
    bias_t_ns: NDArray[np.int64]
    gyro_bias: Array
    accel_bias: Array

    @staticmethod
    def of(states: list[VehicleState], biases: list[tuple[int, Array, Array]]) -> Truths:
        stamps = np.array([state.t_ns for state in states], np.int64)
        positions = np.array([state.position for state in states]).reshape(-1, 3)
        turns = np.array([state.quat_wxyz for state in states]).reshape(-1, 4)
        return Truths(
            PoseTrajectory(stamps, positions, turns),
            np.array([state.velocity_world for state in states]).reshape(-1, 3),
            np.array([bias[0] for bias in biases], np.int64),
            np.array([bias[1] for bias in biases]).reshape(-1, 3),
            np.array([bias[2] for bias in biases]).reshape(-1, 3),
        )


@dataclass(frozen=True, slots=True, eq=False)
class StateErrors:
    """Errors of valid estimates in their own frame, with the covariances they claim."""

    seconds: Array
    errors: Array
    """(n, 9) position m, velocity m/s, attitude rad; axes of the estimator's world."""
    covariances: Array
    """(n, 9, 9)."""

    @property
    def sigmas(self) -> Array:
        return np.sqrt(np.maximum(np.diagonal(self.covariances, axis1=1, axis2=2), 0.0))

    def nees(self) -> Array:
        """(n,); NaN where the covariance cannot be inverted."""
        out = np.full(len(self.seconds), np.nan)
        usable = np.linalg.eigvalsh(self.covariances)[:, 0] > 0.0
        out[usable] = nees(self.errors[usable], self.covariances[usable])
        return out


def errors_from_start(truth: Truths, estimates: Estimates) -> StateErrors:
    """The truth is moved to the estimator's world by heading and position at the first valid estimate.

    An estimator knows its start exactly, by definition of its world, so its covariance is of what came after."""
    at, kept = truth.track.at(estimates.t_ns[estimates.valid])
    estimate = estimates.track[kept]
    into = align(estimate, at, "start") if len(at) else Similarity(np.eye(3), np.zeros(3))
    speeds = np.stack([np.interp(at.t_ns, truth.track.t_ns, truth.velocity[:, axis]) for axis in range(3)], axis=1)
    turned = quat_multiply(quat_from_matrix(into.rotation), at.quat_wxyz)
    true = (into.moved(at).position, speeds @ into.rotation.T, turned)
    velocity = estimates.velocity[estimates.valid][kept]
    errors = state_errors(true, (estimate.position, velocity, estimate.quat_wxyz))
    return StateErrors(at.t_ns / NS_PER_S, errors, estimates.covariance[estimates.valid][kept])
