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
def look(pair, poses, point, rig, out):
    """Predicts the three rows: out = (z (3,), by_pose (3, 12), by_point (3, 3)); False if it is behind a camera.

    pair: slots of anchor and observer; by_pose: derivatives by θ and ξ of the anchor, then of the observer."""
    rotations, places = poses
    anchor, observer = pair
    z, by_pose, by_point = out
    ra, pa, rk, pk = rotations[anchor], places[anchor], rotations[observer], places[observer]
    alpha, beta, rho = point[0], point[1], point[2]
    m, far, s = np.empty(3), np.empty(3), np.empty(3)
    # everything is multiplied by ρ, so that a point at infinity is an ordinary one
    for i in range(3):
        m[i] = rig.imu_from_left[i, 0] * alpha + rig.imu_from_left[i, 1] * beta + rig.imu_from_left[i, 2]
        m[i] += rho * rig.left_position[i]
    for i in range(3):
        far[i] = ra[i, 0] * m[0] + ra[i, 1] * m[1] + ra[i, 2] * m[2] + rho * pa[i]
    # camera_from_world of the observer
    c = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            c[i, j] = (
                rig.imu_from_left[0, i] * rk[j, 0]
                + rig.imu_from_left[1, i] * rk[j, 1]
                + rig.imu_from_left[2, i] * rk[j, 2]
            )
    h = np.empty(3)
    for i in range(3):
        total = 0.0
        for j in range(3):
            total += c[i, j] * (far[j] - rho * pk[j]) - rig.imu_from_left[j, i] * rho * rig.left_position[j]
        h[i] = total
    g = np.empty(3)
    for i in range(3):
        r = rig.right_from_left
        g[i] = r[i, 0] * h[0] + r[i, 1] * h[1] + r[i, 2] * h[2] + rho * rig.left_origin_in_right[i]
    if h[2] < 0.02 or g[2] < 0.02:
        return False
    u, v = h[0] / h[2], h[1] / h[2]
    ur, vr = g[0] / g[2], g[1] / g[2]
    ax, ay = rig.along[0], rig.along[1]
    z[0], z[1], z[2] = u, v, ax * (ur - u) + ay * (vr - v)
    # rows by h, the scaled point in the left camera, at a fixed ρ
    by_h = np.empty((3, 3))
    by_h[0, 0], by_h[0, 1], by_h[0, 2] = 1.0 / h[2], 0.0, -u / h[2]
    by_h[1, 0], by_h[1, 1], by_h[1, 2] = 0.0, 1.0 / h[2], -v / h[2]
    gx, gy = ax / g[2], ay / g[2]
    gz = -(ax * ur + ay * vr) / g[2]
    for j in range(3):
        r = rig.right_from_left
        by_h[2, j] = gx * r[0, j] + gy * r[1, j] + gz * r[2, j] - ax * by_h[0, j] - ay * by_h[1, j]
    by_rho = gx * rig.left_origin_in_right[0] + gy * rig.left_origin_in_right[1] + gz * rig.left_origin_in_right[2]
    # the derivatives of h: by world point far (scaled), by (α, β, ρ)
    d = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            d[i, j] = by_h[i, 0] * c[0, j] + by_h[i, 1] * c[1, j] + by_h[i, 2] * c[2, j]
    same = anchor == observer
    for i in range(3):
        # -[far]× row by row: d·(θ × far)
        tx = -d[i, 1] * far[2] + d[i, 2] * far[1]
        ty = d[i, 0] * far[2] - d[i, 2] * far[0]
        tz = -d[i, 0] * far[1] + d[i, 1] * far[0]
        by_pose[i, 0], by_pose[i, 1], by_pose[i, 2] = tx, ty, tz
        for j in range(3):
            by_pose[i, 3 + j] = rho * d[i, j]
        for j in range(6):
            if same:
                by_pose[i, j] = 0.0
            by_pose[i, 6 + j] = -by_pose[i, j]
    e = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            e[i, j] = 0.0
            for k in range(3):
                e[i, j] += ra[i, k] * rig.imu_from_left[k, j]
    for i in range(3):
        s[i] = ra[i, 0] * rig.left_position[0] + ra[i, 1] * rig.left_position[1] + ra[i, 2] * rig.left_position[2]
        s[i] += pa[i] - pk[i]
    for i in range(3):
        for j in range(2):
            by_point[i, j] = d[i, 0] * e[0, j] + d[i, 1] * e[1, j] + d[i, 2] * e[2, j]
        total = d[i, 0] * s[0] + d[i, 1] * s[1] + d[i, 2] * s[2]
        for j in range(3):
            back = 0.0
            for k in range(3):
                back += rig.imu_from_left[k, j] * rig.left_position[k]
            total -= by_h[i, j] * back
        by_point[i, 2] = total + (by_rho if i == 2 else 0.0)
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
    rotations, places = poses
    old, new = pair
    # the depth h₂ of the scaled point in the new camera: its third row by (far), see `look`
    r = rig.imu_from_left
    m, far, c = np.empty(3), np.empty(3), np.empty(3)
    for i in range(3):
        m[i] = r[i, 0] * point[0] + r[i, 1] * point[1] + r[i, 2] + point[2] * rig.left_position[i]
    for i in range(3):
        far[i] = rotations[old, i, 0] * m[0] + rotations[old, i, 1] * m[1] + rotations[old, i, 2] * m[2]
        far[i] += point[2] * places[old, i]
    depth = 0.0
    for j in range(3):
        c[j] = r[0, 2] * rotations[new, j, 0] + r[1, 2] * rotations[new, j, 1] + r[2, 2] * rotations[new, j, 2]
        depth += c[j] * (far[j] - point[2] * places[new, j]) - r[j, 2] * point[2] * rig.left_position[j]
    moved[0], moved[1], moved[2] = z[0], z[1], point[2] / depth
    for i in range(2):
        for j in range(12):
            jacobian[i, j] = by_pose[i, j]
        for j in range(3):
            jacobian[i, 12 + j] = by_point[i, j]
    by_depth = -point[2] / (depth * depth)
    jacobian[2, 0] = by_depth * (-c[1] * far[2] + c[2] * far[1])
    jacobian[2, 1] = by_depth * (c[0] * far[2] - c[2] * far[0])
    jacobian[2, 2] = by_depth * (-c[0] * far[1] + c[1] * far[0])
    for j in range(3):
        jacobian[2, 3 + j] = by_depth * point[2] * c[j]
    for j in range(6):
        jacobian[2, 6 + j] = -jacobian[2, j]
    for j in range(2):
        total = 0.0
        for i in range(3):
            e = rotations[old, i, 0] * r[0, j] + rotations[old, i, 1] * r[1, j] + rotations[old, i, 2] * r[2, j]
            total += c[i] * e
        jacobian[2, 12 + j] = by_depth * total
    total = 0.0
    for i in range(3):
        s = places[old, i] - places[new, i]
        for j in range(3):
            s += rotations[old, i, j] * rig.left_position[j]
        total += c[i] * s - r[i, 2] * rig.left_position[i]
    jacobian[2, 14] = 1.0 / depth + by_depth * total
    return True
