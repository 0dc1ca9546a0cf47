"""The filter's state and what may be done with it: move, copy the pose, correct, take in and drop points and poses.

A multi-state constraint Kalman filter: besides the IMU's state it holds the poses at a few past pairs of images, and a
number of points that are seen for long. See `imu_kernels` for the error it uses and `measurement_kernels` for points.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from skyloop_autonomy.vio.imu_kernels import ACCEL_BIAS, GYRO_BIAS, N_IMU, PLACE, TURN, carry_all, integrate
from skyloop_autonomy.vio.measurement_kernels import Rig, moved_anchor
from skyloop_autonomy.vio.update_kernels import gathered, replace_point, update, with_point
from skyloop_client.messages import Array

N_POSE, N_POINT = 6, 3


def turned(rotvec: Array) -> tuple[Array, Array]:
    """exp([θ]×) and its left Jacobian."""
    x, y, z = rotvec
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    square = float(rotvec @ rotvec)
    if square < 1e-12:
        return np.eye(3) + k + 0.5 * k @ k, np.eye(3) + 0.5 * k
    angle = np.sqrt(square)
    a, b = np.sin(angle) / angle, (1.0 - np.cos(angle)) / square
    return np.eye(3) + a * k + b * k @ k, np.eye(3) + b * k + (1.0 - a) / square * k @ k


@dataclass
class WindowFilter:
    """Plain numbers and arrays, so that a deep copy is a snapshot."""

    rig: Rig
    gravity: float
    noise: Array
    """(4,) variances per Hz: gyro, accelerometer, gyro bias, accelerometer bias."""
    bias_taus: tuple[float, float] = (np.inf, np.inf)
    """s, in which the biases of gyro and accelerometer decay."""
    rotation: Array = field(default_factory=lambda: np.eye(3))
    """(3, 3) world from IMU."""
    motion: Array = field(default_factory=lambda: np.zeros((2, 3)))
    """Velocity and position of the IMU, world."""
    biases: Array = field(default_factory=lambda: np.zeros((2, 3)))
    """Of gyro and accelerometer, IMU axes."""
    t_ns: int = 0
    covariance: Array = field(default_factory=lambda: np.eye(N_IMU))
    pose_rotations: Array = field(default_factory=lambda: np.zeros((0, 3, 3)))
    pose_positions: Array = field(default_factory=lambda: np.zeros((0, 3)))
    pose_t_ns: list[int] = field(default_factory=list)
    points: Array = field(default_factory=lambda: np.zeros((0, 3)))
    """(n, 3) α, β, ρ in the left camera of the anchor."""
    anchors: list[int] = field(default_factory=list)
    """Slot of each point's anchor pose."""
    surprise: Array = field(default_factory=lambda: np.zeros(2))
    """Of all corrections of the step: the sum of `surprise`, and of its degrees of freedom."""

    @property
    def poses(self) -> tuple[Array, Array]:
        return self.pose_rotations, self.pose_positions

    @property
    def n_poses(self) -> int:
        return len(self.pose_t_ns)

    @property
    def n_points(self) -> int:
        return len(self.anchors)

    def first_of_pose(self, slot: int) -> int:
        return N_IMU + N_POSE * slot

    def first_of_point(self, slot: int) -> int:
        return N_IMU + N_POSE * self.n_poses + N_POINT * slot

    def move(self, t_ns: int, samples: Array, gap: tuple[float, float] = (0.0, 0.0)) -> None:
        """Along IMU samples (s, gyro, accel) that begin at the filter's time and end at `t_ns`.

        gap: variance of turn and velocity that missing samples add."""
        transition, q = np.empty((N_IMU, N_IMU)), np.empty((N_IMU, N_IMU))
        state = self.rotation, self.motion, self.biases
        integrate(state, samples, self.gravity, self.noise, (transition, q))
        span = float(samples[-1, 0] - samples[0, 0])
        # taus are minutes: within one step the decay may come at its end
        decay = np.exp([-span / tau for tau in self.bias_taus])
        self.biases *= decay[:, None]
        shrink = np.repeat([1.0, *decay], [9, 3, 3])
        transition *= shrink[:, None]
        q *= np.outer(shrink, shrink)
        if max(gap) > 0.0:
            q[np.diag_indices(9)] += np.repeat([gap[0], gap[1], gap[1] * span * span], 3)
        carry_all(self.covariance, transition, q)
        self.t_ns = t_ns

    def stand_still(self, gyro: Array, speed_sd: float) -> None:
        """The vehicle rests: its velocity is zero, and the gyroscope shows its bias."""
        columns = np.array([[*range(3, 6), *range(GYRO_BIAS, GYRO_BIAS + 3)]] * 6)
        rate_sd = max(float(np.sqrt(self.noise[0] * 30.0)), 2e-4)
        values = np.diag([1.0 / speed_sd] * 3 + [1.0 / rate_sd] * 3)
        residuals = np.concatenate([-self.motion[0] / speed_sd, (gyro - self.biases[0]) / rate_sd])
        self.correct(columns, values, residuals)

    def forget_window(self, doubts: tuple[float, ...]) -> None:
        """Drops all poses and points and adds variance to turn, velocity, position and both biases."""
        self.covariance = self.covariance[:N_IMU, :N_IMU].copy()
        self.covariance[np.diag_indices(N_IMU)] += np.repeat(np.square(doubts), 3)
        self.pose_rotations, self.pose_positions = np.zeros((0, 3, 3)), np.zeros((0, 3))
        self.pose_t_ns, self.points, self.anchors = [], np.zeros((0, 3)), []

    def add_pose(self) -> None:
        """The present pose becomes the newest of the past ones. Its error is that of the present."""
        n = self.first_of_pose(self.n_poses)
        copy = [*range(TURN, TURN + 3), *range(PLACE, PLACE + 3)]
        chosen = [*range(n), *copy, *range(n, len(self.covariance))]
        self.covariance = gathered(self.covariance, np.array(chosen))
        self.pose_rotations = np.concatenate([self.pose_rotations, self.rotation[None]])
        self.pose_positions = np.concatenate([self.pose_positions, self.motion[1][None]])
        self.pose_t_ns.append(self.t_ns)

    def let_points_slide(self, tangent_sd: float) -> None:
        """Adds variance to the directions of all points."""
        if self.n_points:
            first = self.first_of_point(0) + N_POINT * np.arange(self.n_points)
            for row in (first, first + 1):
                self.covariance[row, row] += tangent_sd**2

    def drop_pose(self, slot: int) -> list[int]:
        """Points anchored there move to the newest other pose. It returns the slots of those that cannot."""
        other = self.n_poses - 1 if slot != self.n_poses - 1 else self.n_poses - 2
        lost = [k for k in range(self.n_points) if self.anchors[k] == slot and not self._move_anchor(k, other)]
        self.drop_points(lost)
        first = self.first_of_pose(slot)
        kept = [*range(first), *range(first + N_POSE, len(self.covariance))]
        self.covariance = gathered(self.covariance, np.array(kept))
        self.pose_rotations = np.delete(self.pose_rotations, slot, axis=0)
        self.pose_positions = np.delete(self.pose_positions, slot, axis=0)
        del self.pose_t_ns[slot]
        self.anchors = [a - (a > slot) for a in self.anchors]
        return lost

    def _move_anchor(self, point: int, slot: int) -> bool:
        moved, jacobian = np.empty(3), np.empty((3, 15))
        pair = (self.anchors[point], slot)
        if not moved_anchor(self.poses, pair, tuple(self.rig), self.points[point], moved, jacobian):
            return False
        if not 0.0 < moved[2] < 20.0:
            return False
        old, new, own = self.first_of_pose(pair[0]), self.first_of_pose(slot), self.first_of_point(point)
        columns = np.array([[*range(old, old + 6), *range(new, new + 6), *range(own, own + 3)]])
        replace_point(self.covariance, columns, jacobian, own)
        self.points[point] = moved
        self.anchors[point] = slot
        return True

    def drop_points(self, slots: list[int]) -> None:
        if not slots:
            return
        gone = set(slots)
        keep = [k for k in range(self.n_points) if k not in gone]
        n = self.first_of_point(0)
        chosen = [*range(n), *(n + N_POINT * k + i for k in keep for i in range(N_POINT))]
        self.covariance = gathered(self.covariance, np.array(chosen))
        self.points = np.ascontiguousarray(self.points[keep])
        self.anchors = [self.anchors[k] for k in keep]

    def add_point(self, point: Array, anchor: int, rows: tuple[Array, Array, Array]) -> None:
        """A point with the three rows that fix it: by the poses (3, 6·poses), by the point (triangular), residuals."""
        by_poses, by_point, residuals = rows
        columns = np.arange(N_IMU, N_IMU + N_POSE * self.n_poses)
        change = np.empty(3)
        self.covariance = with_point(self.covariance, columns, by_poses, by_point, residuals, change)
        self.points = np.concatenate([self.points, (point + change)[None]])
        self.anchors.append(anchor)

    def correct(self, columns: NDArray[np.int64], values: Array, residuals: Array) -> bool:
        """Takes in whitened rows and moves the whole state."""
        change = np.empty(len(self.covariance))
        before = self.covariance[:N_IMU, :N_IMU].copy()
        if not len(residuals) or not update(self.covariance, columns, values, residuals, change):
            return False
        self.surprise += surprise(before, self.covariance[:N_IMU, :N_IMU], change[:N_IMU])
        self._shift(change)
        return True

    def _shift(self, change: Array) -> None:
        turn, jacobian = turned(change[TURN : TURN + 3])
        self.rotation = orthonormal(turn @ self.rotation)
        self.motion[0] = turn @ self.motion[0] + jacobian @ change[3:6]
        self.motion[1] = turn @ self.motion[1] + jacobian @ change[PLACE : PLACE + 3]
        self.biases[0] += change[GYRO_BIAS : GYRO_BIAS + 3]
        self.biases[1] += change[ACCEL_BIAS : ACCEL_BIAS + 3]
        for slot in range(self.n_poses):
            first = self.first_of_pose(slot)
            turn, jacobian = turned(change[first : first + 3])
            self.pose_rotations[slot] = turn @ self.pose_rotations[slot]
            self.pose_positions[slot] = turn @ self.pose_positions[slot] + jacobian @ change[first + 3 : first + 6]
        if self.n_points:
            self.points += change[self.first_of_point(0) :].reshape(-1, 3)


_LEAST_NEWS = 1e-5
"""Share of its variance that a correction must take from a direction of the state to tell anything of it."""


def surprise(before: Array, after: Array, change: Array) -> Array:
    """The squared size of a correction of the IMU's state in its own sigmas, and the number of directions it corrects.

    A correction has the covariance by which it shrinks that of the state, so that the first is χ² with the second as
    its degrees of freedom if images, IMU and filter agree."""
    sds = np.sqrt(np.maximum(before.diagonal(), 1e-30))
    shares, directions = np.linalg.eigh((before - after) / np.outer(sds, sds))
    told = shares > _LEAST_NEWS
    along = directions.T[told] @ (change / sds)
    return np.array([along @ (along / shares[told]), told.sum()])


def orthonormal(rotation: Array) -> Array:
    """The nearest rotation matrix, for one that is nearly so: one step of Newton's method."""
    return 0.5 * rotation @ (3.0 * np.eye(3) - rotation.T @ rotation)
