"""What the odometry keeps of its surroundings, as records to publish: key poses, and the points of the filter.

A key pose is a past pose that stays in the filter's window. The newest pose is on trial: the next step of the filter
drops it if the corners have hardly moved. So a key pose is known one step after its image."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import Transform, quat_from_matrix
from skyloop_autonomy.vio.backend import NOT_A_POINT, Backend
from skyloop_autonomy.vio.tracking import CornerTracks
from skyloop_autonomy.vio.window_filter import N_POINT, N_POSE
from skyloop_client.messages import Array, KeyPose, PointCloud

_MOST_UNREAD = 4
"""Key poses that are remembered where they are not read, as on recordings."""
_LEAST_INVERSE_DEPTH = 0.01
"""1/m. A point that is being refused may drift beyond; it is not published."""


@dataclass(frozen=True, slots=True, eq=False)
class MapPose:
    """From the filter's axes to the published ones."""

    origin: Array
    """(3,) m, world, of the filter's zero."""
    body_from_imu: Transform
    source: str = ""
    """The camera whose pixels the corners have."""


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    t_ns: int
    ids: NDArray[np.int64]
    pixels: NDArray[np.float32]


class KeyPoses:
    """Finds out which poses the window keeps. Its attributes are its whole state."""

    def __init__(self) -> None:
        self._on_trial: _Seen | None = None
        self._kept: deque[_Seen] = deque(maxlen=_MOST_UNREAD)

    @property
    def unread(self) -> bool:
        return bool(self._kept)

    def stepped(self, backend: Backend, tracks: CornerTracks) -> None:
        """After each step in which the filter has taken a pose in."""
        stamps, before = backend.filter.pose_t_ns, self._on_trial
        if not stamps:
            self._on_trial = None
            return
        if before is not None and len(stamps) > 1 and stamps[-2] == before.t_ns:
            self._kept.append(before)
        self._on_trial = _Seen(stamps[-1], tracks.ids.copy(), tracks.pixels.copy())

    def news(self, backend: Backend, frame: MapPose) -> list[KeyPose]:
        """The key poses since the last call, as the filter sees them now."""
        f, found = backend.filter, []
        for seen in self._kept:
            if seen.t_ns in f.pose_t_ns:
                slot = f.pose_t_ns.index(seen.t_ns)
                body = f.pose_rotations[slot] @ frame.body_from_imu.matrix()[:3, :3].T
                position = f.pose_positions[slot] - body @ frame.body_from_imu.position + frame.origin
                if np.isfinite(position).all() and np.isfinite(body).all():
                    turn = quat_from_matrix(body)
                    found.append(KeyPose(seen.t_ns, position, turn, seen.pixels, seen.ids, frame.source))
        self._kept.clear()
        return found


def landmarks(backend: Backend, frame: MapPose, sigma_scale: float) -> PointCloud:
    """The points of the filter's state in world axes, with their numbers and one sigma of each."""
    f, history = backend.filter, backend.history
    ids = np.full(f.n_points, -1, np.int64)
    mine = np.flatnonzero(history.point != NOT_A_POINT)
    ids[history.point[mine]] = history.ids[mine]
    shown = np.flatnonzero((f.points[:, 2] > _LEAST_INVERSE_DEPTH) & (ids >= 0))
    positions, variances = _in_the_world(backend, shown)
    fine = np.isfinite(positions).all(axis=1) & np.isfinite(variances)
    sigmas = sigma_scale * np.sqrt(np.maximum(variances[fine], 0.0))
    points = (positions[fine] + frame.origin).astype(np.float32)
    return PointCloud(f.t_ns, points, sigmas.astype(np.float32), ids=ids[shown[fine]])


def _in_the_world(backend: Backend, chosen: NDArray[np.int64]) -> tuple[Array, Array]:
    """(n, 3) positions in the filter's axes and (n,) variances, the mean of the three axes.

    A point is anchored at a pose: p = R (imu_from_left (α, β, 1) / ρ + left) + t. The error of a pose is
    right-invariant, it turns the world about its origin: δp = θ × p + δt + R imu_from_left δ((α, β, 1) / ρ)."""
    f = backend.filter
    n, anchors = len(chosen), np.array(f.anchors, np.int64)[chosen]
    alpha, beta, rho = f.points[chosen].T
    seen = np.stack([alpha, beta, np.ones(n)], axis=1) / rho[:, None]
    rotations = f.pose_rotations[anchors]
    into_world = rotations @ f.rig.imu_from_left
    positions = (into_world @ seen[:, :, None])[:, :, 0] + rotations @ f.rig.left_position + f.pose_positions[anchors]
    by_point = np.zeros((n, 3, 3))
    by_point[:, 0, 0] = by_point[:, 1, 1] = 1.0 / rho
    by_point[:, :, 2] = -seen / rho[:, None]
    jacobian = np.zeros((n, 3, N_POSE + N_POINT))
    x, y, z = positions.T
    jacobian[:, 0, 1], jacobian[:, 0, 2] = z, -y
    jacobian[:, 1, 0], jacobian[:, 1, 2] = -z, x
    jacobian[:, 2, 0], jacobian[:, 2, 1] = y, -x
    jacobian[:, :, 3:6] = np.eye(3)
    jacobian[:, :, 6:] = into_world @ by_point
    poses = f.first_of_pose(0) + N_POSE * anchors[:, None] + np.arange(N_POSE)
    points = f.first_of_point(0) + N_POINT * chosen[:, None] + np.arange(N_POINT)
    columns = np.concatenate([poses, points], axis=1)
    blocks = f.covariance[columns[:, :, None], columns[:, None, :]]
    return positions, np.einsum("nij,njk,nik->n", jacobian, blocks, jacobian, optimize=True) / 3.0
