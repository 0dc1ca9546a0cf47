"""Estimates for PX4 as MAVLink ODOMETRY: axes, covariances, when one is sent, and the counter of resets.

The pose is in local axes that point forward, right and down. The velocity is in the body's forward, right and down."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from skyloop.core.frames import matrix_from_quat, quat_from_matrix, yaw_from_quat
from skyloop_client.messages import Array, Estimate, Message
from skyloop_client.streams import NS_PER_S, Rate

LOCAL_NED, BODY_FRD, LOCAL_FRD = 1, 12, 20
"""MAV_FRAME_..."""
VISUAL_INERTIAL = 3
"""MAV_ESTIMATOR_TYPE_VIO."""
GOOD = 100
"""Quality in percent. An estimate is valid or not; one that is not valid is not sent."""
FLU_FRD = np.diag([1.0, -1.0, -1.0])
"""frd_from_flu and flu_from_frd."""
_STEEPEST = 0.05
"""Least cosine of the pitch. Roll and yaw cannot be told apart when the nose points up or down."""


@dataclass(frozen=True, slots=True, eq=False)
class LocalAxes:
    """The axes and the origin of the poses."""

    frame_id: int
    origin: Array
    """(3,) m, world."""
    from_world: Array
    """(3, 3) local_from_world."""

    @staticmethod
    def at(frame: str, position: Array, quat_wxyz: Array) -> LocalAxes:
        """ned: north, east and down from the world's origin. frd: from where the vehicle starts, with its heading."""
        if frame == "ned":
            return LocalAxes(LOCAL_NED, np.zeros(3), _local_from_world(0.5 * math.pi))
        return LocalAxes(LOCAL_FRD, position.copy(), _local_from_world(float(yaw_from_quat(quat_wxyz))))


def _local_from_world(yaw: float) -> Array:
    """Forward, right and down for a heading counter-clockwise from east."""
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, s, 0.0], [s, -c, 0.0], [0.0, 0.0, -1.0]])


def odometry_fields(estimate: Estimate, axes: LocalAxes) -> tuple[Any, ...]:
    """From `frame_id` to `velocity_covariance`, in MAVLink's order."""
    world_from_body = matrix_from_quat(estimate.quat_wxyz)
    local_from_frd = axes.from_world @ world_from_body @ FLU_FRD
    quat = quat_from_matrix(local_from_frd)
    frd_from_world = FLU_FRD @ world_from_body.T
    velocity = estimate.velocity_world
    return (
        axes.frame_id,
        BODY_FRD,
        *(axes.from_world @ (estimate.position - axes.origin)).tolist(),
        (quat if quat[0] >= 0.0 else -quat).tolist(),
        *(frd_from_world @ velocity).tolist(),
        *(FLU_FRD @ estimate.angular_velocity_body).tolist(),
        *_covariances(estimate, axes, local_from_frd, frd_from_world),
    )


def _covariances(
    estimate: Estimate, axes: LocalAxes, local_from_frd: Array, frd_from_world: Array
) -> tuple[list[float], list[float]]:
    """Of position, roll, pitch and yaw, and of the velocity; the rates have none, so theirs is NaN.

    Attitude errors are rotation vectors in world axes. A turned body sees another velocity: δv_body = Rᵀ (δv + v × δθ).
    """
    known = estimate.covariance
    if known is None:
        known = np.diag(np.square(np.concatenate([estimate.position_sd, estimate.velocity_sd, estimate.attitude_sd])))
    known = known[:9, :9]
    by_pose, by_velocity = np.zeros((6, 9)), np.zeros((3, 9))
    by_pose[:3, 0:3] = axes.from_world
    by_pose[3:, 6:9] = _angles_from_turn(local_from_frd) @ axes.from_world
    x, y, z = estimate.velocity_world.tolist()
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    by_velocity[:, 3:6], by_velocity[:, 6:9] = frd_from_world, frd_from_world @ cross
    velocity = np.full((6, 6), np.nan)
    velocity[:3, :3] = by_velocity @ known @ by_velocity.T
    return _triangle(by_pose @ known @ by_pose.T), _triangle(velocity)


def _angles_from_turn(local_from_frd: Array) -> Array:
    """(3, 3) by how much roll, pitch and yaw change with a small turn about the local axes."""
    yaw = math.atan2(local_from_frd[1, 0], local_from_frd[0, 0])
    sin_pitch = -float(local_from_frd[2, 0])
    cos_pitch = max(math.sqrt(max(0.0, 1.0 - sin_pitch**2)), _STEEPEST)
    c, s, tilt = math.cos(yaw), math.sin(yaw), sin_pitch / cos_pitch
    return np.array([[c / cos_pitch, s / cos_pitch, 0.0], [-s, c, 0.0], [tilt * c, tilt * s, 1.0]])


def _triangle(whole: Array) -> list[float]:
    """(21,) upper right triangle, row by row."""
    return [float(value) for value in whole[np.triu_indices(6)]]


class OdometryFeed:
    """The newest estimate of a stream, at most at a rate, and how often its frame may have jumped.

    PX4 would use an estimate of quality -1, because its EKF2_EV_QMIN is 0 by default. So nothing is sent while there is
    no valid estimate; PX4 notices that after 0.4 s, and its own failsafe acts."""

    def __init__(self, axes: LocalAxes, rate: Rate) -> None:
        self.axes = axes
        self.resets = 0
        """Counts up when an estimate is valid again after it was lost, and when time was set back."""
        self._rate = rate
        self._estimate: Estimate | None = None
        self._last_slot = -1
        self._was_valid = self._was_lost = False

    def put(self, message: Message) -> None:
        estimate: Estimate = message.data
        self._was_lost |= self._was_valid and not estimate.valid
        self._was_valid = estimate.valid
        self._estimate = estimate if estimate.valid else None

    def take(self, *, set_back: bool = False) -> Estimate | None:
        """The estimate that is due."""
        if set_back:
            self._last_slot, self._was_lost = -1, True
        estimate, self._estimate = self._estimate, None
        if estimate is None:
            return None
        slot = estimate.t_ns * self._rate.num // (NS_PER_S * self._rate.den)
        if slot <= self._last_slot:
            return None
        self._last_slot = slot
        if self._was_lost:
            self._was_lost, self.resets = False, (self.resets + 1) % 256
        return estimate
