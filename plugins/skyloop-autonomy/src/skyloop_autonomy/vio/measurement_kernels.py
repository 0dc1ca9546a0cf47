"""How a point looks in the cameras of a past or present pose, with its derivatives.

A point is (α, β, ρ): tangents of its direction in the left camera of its anchor pose, and its inverse depth there.
Poses are those of the IMU and have the right-invariant error of `imu_kernels`, (θ, ξ) each. A measurement has three
rows: the two tangents in the left image, and the disparity along the baseline. The disparity has a row of its own
because the right image is searched for the patch of the left one: what is wrong on the left is wrong on the right too.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import boolean, float64, int64, types, uint8, void

from skyloop.core.jit import WHEN_CALLED, inlined, kernel, record_type
from skyloop_client.messages import Array

_V = float64[::1]
_M = float64[:, ::1]
LEFT_ONLY, STEREO = 1, 2
"""What is known of a track at a pose; 0: nothing."""


class Rig(NamedTuple):
    """Where the cameras sit on the IMU."""

    imu_from_left: Array
    """(3, 3)."""
    left_position: Array
    """(3,) m, IMU axes."""
    right_from_left: Array
    """(3, 3)."""
    left_origin_in_right: Array
    """(3,) m, right camera's axes."""
    along: Array
    """(2,) the direction in the image in which the disparity grows."""
    weights: Array
    """(3,) one over the sigma of each row."""


RIG = record_type(
    Rig, imu_from_left=_M, left_position=_V, right_from_left=_M, left_origin_in_right=_V, along=_V, weights=_V
)


@inlined
def _sight(pair, poses, point, rig, out):
    """out = (far, h, camera_from_world): the point in the world and in the observer's left camera, both times ρ.

    Everything is multiplied by ρ, so that a point at infinity is an ordinary one."""
    rotations, positions = poses
    anchor, observer = pair
    far, h, c = out
    into, arm, rho = rig.imu_from_left, rig.left_position, point[2]
    m = np.empty(3)
    for i in range(3):
        m[i] = into[i, 0] * point[0] + into[i, 1] * point[1] + into[i, 2] + rho * arm[i]
    for i in range(3):
        far[i] = rho * positions[anchor, i]
        for j in range(3):
            far[i] += rotations[anchor, i, j] * m[j]
            c[i, j] = 0.0
            for k in range(3):
                c[i, j] += into[k, i] * rotations[observer, j, k]
    for i in range(3):
        h[i] = 0.0
        for j in range(3):
            h[i] += c[i, j] * (far[j] - rho * positions[observer, j]) - into[j, i] * rho * arm[j]


@inlined
def _rows_of(h, rho, rig, z, by_h):
    """The three rows z of a scaled point in the left camera, and their derivatives by it; the disparity's own by ρ.

    Returns whether both cameras see it, and that derivative."""
    r, base = rig.right_from_left, rig.left_origin_in_right
    g = np.empty(3)
    for i in range(3):
        g[i] = r[i, 0] * h[0] + r[i, 1] * h[1] + r[i, 2] * h[2] + rho * base[i]
    if h[2] < 0.02 or g[2] < 0.02:
        return False, 0.0
    u, v, ur, vr = h[0] / h[2], h[1] / h[2], g[0] / g[2], g[1] / g[2]
    ax, ay = rig.along[0], rig.along[1]
    z[0], z[1], z[2] = u, v, ax * (ur - u) + ay * (vr - v)
    by_h[0, 0], by_h[0, 1], by_h[0, 2] = 1.0 / h[2], 0.0, -u / h[2]
    by_h[1, 0], by_h[1, 1], by_h[1, 2] = 0.0, 1.0 / h[2], -v / h[2]
    gx, gy, gz = ax / g[2], ay / g[2], -(ax * ur + ay * vr) / g[2]
    for j in range(3):
        by_h[2, j] = gx * r[0, j] + gy * r[1, j] + gz * r[2, j] - ax * by_h[0, j] - ay * by_h[1, j]
    return True, gx * base[0] + gy * base[1] + gz * base[2]


@inlined
def _by_point(pair, poses, rig, d, by_h, out):
    """Derivatives of the rows by α, β and, but for the disparity's own part, ρ; d: by the scaled point in the world."""
    rotations, positions = poses
    anchor, observer = pair
    into, arm = rig.imu_from_left, rig.left_position
    ra = rotations[anchor]
    for i in range(3):
        for j in range(2):
            out[i, j] = 0.0
            for k in range(3):
                out[i, j] += d[i, k] * (ra[k, 0] * into[0, j] + ra[k, 1] * into[1, j] + ra[k, 2] * into[2, j])
        total = 0.0
        for j in range(3):
            s = (
                ra[j, 0] * arm[0]
                + ra[j, 1] * arm[1]
                + ra[j, 2] * arm[2]
                + positions[anchor, j]
                - positions[observer, j]
            )
            back = into[0, j] * arm[0] + into[1, j] * arm[1] + into[2, j] * arm[2]
            total += d[i, j] * s - by_h[i, j] * back
        out[i, 2] = total


@inlined
def look(pair, poses, point, rig, out):
    """Predicts the three rows: out = (z (3,), by_pose (3, 12), by_point (3, 3)); False if it is behind a camera.

    pair: slots of anchor and observer; by_pose: derivatives by θ and ξ of the anchor, then of the observer."""
    z, by_pose, by_point = out
    far, h, c = np.empty(3), np.empty(3), np.empty((3, 3))
    _sight(pair, poses, point, rig, (far, h, c))
    by_h, d = np.empty((3, 3)), np.empty((3, 3))
    seen, by_rho = _rows_of(h, point[2], rig, z, by_h)
    if not seen:
        return False
    for i in range(3):
        for j in range(3):
            d[i, j] = by_h[i, 0] * c[0, j] + by_h[i, 1] * c[1, j] + by_h[i, 2] * c[2, j]
    moves = 0.0 if pair[0] == pair[1] else 1.0
    for i in range(3):
        # d·(θ × far)
        by_pose[i, 0] = moves * (-d[i, 1] * far[2] + d[i, 2] * far[1])
        by_pose[i, 1] = moves * (d[i, 0] * far[2] - d[i, 2] * far[0])
        by_pose[i, 2] = moves * (-d[i, 0] * far[1] + d[i, 1] * far[0])
        for j in range(3):
            by_pose[i, 3 + j] = moves * point[2] * d[i, j]
        for j in range(6):
            by_pose[i, 6 + j] = -by_pose[i, j]
    _by_point(pair, poses, rig, d, by_h, by_point)
    by_point[2, 2] += by_rho
    return True


@inlined
def solve3(a, b, out):
    """out = a⁻¹ b for a symmetric positive 3 by 3 matrix; False if it is singular."""
    c00 = a[1, 1] * a[2, 2] - a[1, 2] * a[2, 1]
    c01 = a[1, 2] * a[2, 0] - a[1, 0] * a[2, 2]
    c02 = a[1, 0] * a[2, 1] - a[1, 1] * a[2, 0]
    det = a[0, 0] * c00 + a[0, 1] * c01 + a[0, 2] * c02
    if not abs(det) > 1e-30:
        return False
    c11 = a[0, 0] * a[2, 2] - a[0, 2] * a[2, 0]
    c12 = a[0, 1] * a[2, 0] - a[0, 0] * a[2, 1]
    c22 = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    out[0] = (c00 * b[0] + c01 * b[1] + c02 * b[2]) / det
    out[1] = (c01 * b[0] + c11 * b[1] + c12 * b[2]) / det
    out[2] = (c02 * b[0] + c12 * b[1] + c22 * b[2]) / det
    return True


_POSES = types.Tuple((float64[:, :, ::1], _M))
_SEEN = types.Tuple((_M, uint8[::1]))


@kernel(float64(_POSES, int64, _SEEN, RIG, _V), turn=WHEN_CALLED)
def triangulate(poses, anchor, seen, rig_fields, point):
    """Refines `point` (α, β, ρ) in place with what is seen of it, by damped least squares; returns the cost per row.

    seen: (poses, 3) rows and (poses,) what is known; a negative cost: it cannot be solved."""
    rig = Rig(*rig_fields)
    rows, known = seen
    z, by_pose, by_point = np.empty(3), np.empty((3, 12)), np.empty((3, 3))
    normal, right, step, trial = np.empty((3, 3)), np.empty(3), np.empty(3), np.empty(3)
    damping, best, count = 1e-4, -1.0, 0
    trial[:] = point
    for _ in range(8):
        cost, count, visible = 0.0, 0, True
        normal[:, :] = 0.0
        right[:] = 0.0
        for k in range(known.shape[0]):
            if known[k] == 0:
                continue
            if not look((anchor, k), poses, trial, rig, (z, by_pose, by_point)):
                visible = False
                break
            for i in range(3 if known[k] == STEREO else 2):
                w = rig.weights[i] * rig.weights[i]
                e = rows[k, i] - z[i]
                cost += w * e * e
                count += 1
                for a in range(3):
                    right[a] += w * by_point[i, a] * e
                    for b in range(3):
                        normal[a, b] += w * by_point[i, a] * by_point[i, b]
        better = visible and (best < 0.0 or cost <= best)
        if better:
            shrinks = best > 0.0 and best - cost < 1e-3 * best
            best = cost
            point[:] = trial
            damping *= 0.1
            if shrinks:
                break
        else:
            damping *= 30.0
            if best < 0.0:
                return -1.0
        for a in range(3):
            normal[a, a] *= 1.0 + damping
        if not solve3(normal, right, step):
            return -1.0
        for a in range(3):
            trial[a] = point[a] + step[a]
        if trial[2] < -0.02:
            trial[2] = 1e-4
    return best / max(count, 1)


@kernel(
    types.UniTuple(int64, 2)(_POSES, int64, _SEEN, RIG, _V, types.Tuple((_M, _M, _V))), turn=WHEN_CALLED
)  # fmt: skip
def stack_rows(poses, anchor, seen, rig_fields, point, out):
    """All rows of one point, whitened: out = (by_poses (3·poses, 6·poses), by_point (…, 3), residuals); (rows, good).

    by_poses has the columns of the poses in their order, θ then ξ."""
    rig = Rig(*rig_fields)
    rows, known = seen
    by_poses, by_points, residuals = out
    z, by_pose, by_point = np.empty(3), np.empty((3, 12)), np.empty((3, 3))
    n = 0
    for k in range(known.shape[0]):
        if known[k] == 0:
            continue
        if not look((anchor, k), poses, point, rig, (z, by_pose, by_point)):
            return n, 0
        for i in range(3 if known[k] == STEREO else 2):
            w = rig.weights[i]
            by_poses[n, :] = 0.0
            if k != anchor:
                for j in range(6):
                    by_poses[n, 6 * anchor + j] = w * by_pose[i, j]
                    by_poses[n, 6 * k + j] = w * by_pose[i, 6 + j]
            for j in range(3):
                by_points[n, j] = w * by_point[i, j]
            residuals[n] = w * (rows[k, i] - z[i])
            n += 1
    return n, 1


@kernel(void(_M, _M, _V, int64), turn=WHEN_CALLED)
def split_rows(by_poses, by_points, residuals, n):
    """Householder reflections that leave by_points triangular in its first three rows and zero below; in place.

    The first three rows then tell the point, the others hold without it."""
    width = by_poses.shape[1]
    v = np.empty(n)
    held = np.empty(width)
    for c in range(3):
        norm = 0.0
        for i in range(c, n):
            norm += by_points[i, c] * by_points[i, c]
        norm = np.sqrt(norm)
        if norm == 0.0:
            continue
        alpha = -norm if by_points[c, c] > 0.0 else norm
        square = 0.0
        for i in range(c, n):
            v[i] = by_points[i, c] - (alpha if i == c else 0.0)
            square += v[i] * v[i]
        f = 2.0 / square
        for j in range(c, 3):
            dot = 0.0
            for i in range(c, n):
                dot += v[i] * by_points[i, j]
            for i in range(c, n):
                by_points[i, j] -= f * dot * v[i]
        dot = 0.0
        for i in range(c, n):
            dot += v[i] * residuals[i]
        for i in range(c, n):
            residuals[i] -= f * dot * v[i]
        for j in range(width):
            held[j] = 0.0
        for i in range(c, n):
            for j in range(width):
                held[j] += v[i] * by_poses[i, j]
        for i in range(c, n):
            w = f * v[i]
            for j in range(width):
                by_poses[i, j] -= w * held[j]


@kernel(boolean(_POSES, types.UniTuple(int64, 2), RIG, _V, _V, _M), turn=WHEN_CALLED)
def moved_anchor(poses, pair, rig_fields, point, moved, jacobian):
    """The point seen from another anchor; pair: old and new; jacobian (3, 15) by both poses' θ, ξ and by the point."""
    rig = Rig(*rig_fields)
    z, by_pose, by_point = np.empty(3), np.empty((3, 12)), np.empty((3, 3))
    if not look(pair, poses, point, rig, (z, by_pose, by_point)):
        return False
    far, h, c = np.empty(3), np.empty(3), np.empty((3, 3))
    _sight(pair, poses, point, rig, (far, h, c))
    # the new inverse depth is ρ/h₂; its derivative by h is -ρ/h₂² along the new optical axis
    depth, rho = h[2], point[2]
    moved[0], moved[1], moved[2] = z[0], z[1], rho / depth
    by_h, d, by_scaled = np.zeros((3, 3)), np.zeros((3, 3)), np.empty((3, 3))
    by_h[2, 2] = -rho / (depth * depth)
    for j in range(3):
        d[2, j] = by_h[2, 2] * c[2, j]
    _by_point(pair, poses, rig, d, by_h, by_scaled)
    by_pose[2, 0] = -d[2, 1] * far[2] + d[2, 2] * far[1]
    by_pose[2, 1] = d[2, 0] * far[2] - d[2, 2] * far[0]
    by_pose[2, 2] = -d[2, 0] * far[1] + d[2, 1] * far[0]
    for j in range(3):
        by_pose[2, 3 + j] = rho * d[2, j]
        by_point[2, j] = by_scaled[2, j]
    by_point[2, 2] += 1.0 / depth
    for j in range(6):
        by_pose[2, 6 + j] = -by_pose[2, j]
    for i in range(3):
        for j in range(12):
            jacobian[i, j] = by_pose[i, j]
        for j in range(3):
            jacobian[i, 12 + j] = by_point[i, j]
    return True
