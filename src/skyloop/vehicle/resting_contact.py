"""Resting contact with solid things: points of the hull stand on planes or slide along them, as on the ground."""

# mypy: allow-untyped-defs

import numpy as np
from numba import float64, int64, void

from skyloop.core.jit import WHEN_CALLED, inlined, kernel
from skyloop.core.rotations import cross, to_body
from skyloop.vehicle.contact import note_hit, plane_force, point_motion
from skyloop.vehicle.contact_search import (
    LIFT,
    finds_type,
    fleet_params_type,
    frame_of_part,
    states_type,
    things_type,
    to_part,
)
from skyloop.vehicle.kernel_records import PART_LEG, params_type, scratch_type, state_type
from skyloop.world.solid_grids import SolidArrays, cast_segment


@inlined
def touch_force(s, p, y, k):
    """For touch k, in world axes: force, normal force, friction over its limit; then depth and position."""
    x, y_, z, vx, vy, vz = point_motion(p.point_position, y, s.touch_point[k])
    n, v, a = s.touch_normal, s.touch_velocity, s.touch_anchor
    depth = s.touch_level[k] - (n[k, 0] * x + n[k, 1] * y_ + n[k, 2] * z)
    vx, vy, vz = vx - v[k, 0], vy - v[k, 1], vz - v[k, 2]
    gx, gy, gz = x - a[k, 0], y_ - a[k, 1], z - a[k, 2]
    plane = (n[k, 0], n[k, 1], n[k, 2])
    fx, fy, fz, normal, excess = plane_force(p, depth, plane, (vx, vy, vz), True, (gx, gy, gz))
    return fx, fy, fz, normal, excess, depth, x, y_, z


@kernel(void(state_type, params_type, scratch_type), turn=WHEN_CALLED)
def touch_wrench(s, p, w):
    """Writes force and torque of the touches at the motion w.trial to w.push, in body axes."""
    y, place, out = w.trial, p.point_position, w.push
    for j in range(6):
        out[j] = 0.0
    for k in range(s.n_touches):
        fx, fy, fz, normal, _, _, _, _, _ = touch_force(s, p, y, k)
        if normal > 0.0:
            i = s.touch_point[k]
            bx, by, bz = to_body(y[6], y[7], y[8], y[9], fx, fy, fz)
            tx, ty, tz = cross(place[i, 0], place[i, 1], place[i, 2], bx, by, bz)
            out[0] += bx
            out[1] += by
            out[2] += bz
            out[3] += tx
            out[4] += ty
            out[5] += tz


@inlined
def _front(solids, triangle, find, moves, ax, ay, az):
    """Unit normal of a triangle in world axes, on the side of a point a in the part's axes."""
    t = solids.triangles[triangle]
    x0, y0, z0 = float64(t[0]), float64(t[1]), float64(t[2])
    nx, ny, nz = cross(t[3] - x0, t[4] - y0, t[5] - z0, t[6] - x0, t[7] - y0, t[8] - z0)
    if nx * (ax - x0) + ny * (ay - y0) + nz * (az - z0) < 0.0:
        nx, ny, nz = -nx, -ny, -nz
    if moves:
        m = find.inverse
        nx, ny, nz = (
            m[1, 0, 0] * nx + m[1, 1, 0] * ny + m[1, 2, 0] * nz,
            m[1, 0, 1] * nx + m[1, 1, 1] * ny + m[1, 2, 1] * nz,
            m[1, 0, 2] * nx + m[1, 1, 2] * ny + m[1, 2, 2] * nz,
        )
    size = 1.0 / np.sqrt(nx * nx + ny * ny + nz * nz)
    return nx * size, ny * size, nz * size


@inlined
def _part_velocity(part, interval, x, y, z):
    """m/s of a point of a mover's part; the point is in the part's axes."""
    a, b = part.before, part.after
    per = 1.0 / interval
    return (
        per * ((b[0, 0] - a[0, 0]) * x + (b[0, 1] - a[0, 1]) * y + (b[0, 2] - a[0, 2]) * z + b[0, 3] - a[0, 3]),
        per * ((b[1, 0] - a[1, 0]) * x + (b[1, 1] - a[1, 1]) * y + (b[1, 2] - a[1, 2]) * z + b[1, 3] - a[1, 3]),
        per * ((b[2, 0] - a[2, 0]) * x + (b[2, 1] - a[2, 1]) * y + (b[2, 2] - a[2, 2]) * z + b[2, 3] - a[2, 3]),
    )


@inlined
def _find_part(parts, row):
    for k in range(parts.shape[0]):
        if parts[k].row == row:
            return k
    return -1


@inlined
def _refresh(s, k, things, find, place, depth):
    """Searches for the surface of touch k again, from the free side of its plane; False if there is none any more."""
    solids, parts = things
    x, y, z = place
    n, row = s.touch_normal, s.touch_row[k]
    ax = x + (depth + LIFT) * n[k, 0]
    ay = y + (depth + LIFT) * n[k, 1]
    az = z + (depth + LIFT) * n[k, 2]
    bx, by, bz, grid, moving = x, y, z, 0, -1
    if row >= solids.n_standing:
        moving = _find_part(parts, row)
        if moving < 0:
            return False
        grid = parts[moving].grid
        frame_of_part(parts[moving], find.interval_start + find.interval_per_step, find, 1)
        ax, ay, az = to_part(find, 1, ax, ay, az)
        bx, by, bz = to_part(find, 1, bx, by, bz)
    f, triangle = cast_segment(solids, grid, (ax, ay, az), (bx, by, bz))
    if f > 1.0:
        return False
    if moving < 0:
        s.touch_row[k] = solids.rows[int64(triangle)]
    else:
        hx, hy, hz = ax + f * (bx - ax), ay + f * (by - ay), az + f * (bz - az)
        v = s.touch_velocity
        v[k, 0], v[k, 1], v[k, 2] = _part_velocity(parts[moving], find.interval, hx, hy, hz)
    # f goes from the lifted point down to the point itself
    down = (1.0 - f) * (depth + LIFT)
    hx, hy, hz = x + down * n[k, 0], y + down * n[k, 1], z + down * n[k, 2]
    n[k, 0], n[k, 1], n[k, 2] = _front(solids, int64(triangle), find, moving >= 0, ax, ay, az)
    s.touch_level[k] = n[k, 0] * hx + n[k, 1] * hy + n[k, 2] * hz
    return True


@inlined
def _keep(s, k, m):
    """Moves touch k to index m ≤ k."""
    s.touch_point[m] = s.touch_point[k]
    s.touch_row[m] = s.touch_row[k]
    s.touch_level[m] = s.touch_level[k]
    for a in range(3):
        s.touch_normal[m, a] = s.touch_normal[k, a]
        s.touch_velocity[m, a] = s.touch_velocity[k, a]
        s.touch_anchor[m, a] = s.touch_anchor[k, a]


@kernel(void(states_type, fleet_params_type, things_type, finds_type, int64))
def settle_touches(states, params, things, finds, i):
    """After a step of vehicle i: planes follow their surfaces, anchors slide, and ended touches are removed."""
    solids, parts = SolidArrays(*things[0]), things[1]
    s, p, find = states[i], params[i], finds[0]
    kept = 0
    t_ns = int64(np.rint(s.step * find.dt * 1e9))
    for k in range(s.n_touches):
        n, v, anchor = s.touch_normal, s.touch_velocity, s.touch_anchor
        for a in range(3):
            s.touch_level[k] += find.dt * n[k, a] * v[k, a]
            anchor[k, a] += find.dt * v[k, a]
        _, _, _, _, _, depth, x, y, z = touch_force(s, p, s.motion, k)
        if depth <= 0.0 or not _refresh(s, k, (solids, parts), find, (x, y, z), depth):
            continue
        _, _, _, normal, excess, _, x, y, z = touch_force(s, p, s.motion, k)
        if excess > 1.0:
            anchor[k, 0] = x + (anchor[k, 0] - x) / excess
            anchor[k, 1] = y + (anchor[k, 1] - y) / excess
            anchor[k, 2] = z + (anchor[k, 2] - z) / excess
        part = p.point_part[s.touch_point[k]]
        if normal > 0.0:
            if part == PART_LEG:
                s.legs_down += 1
            else:
                s.body_down += 1
        _, _, _, vx, vy, vz = point_motion(p.point_position, s.motion, s.touch_point[k])
        vx, vy, vz = vx - v[k, 0], vy - v[k, 1], vz - v[k, 2]
        speed, closing = np.sqrt(vx * vx + vy * vy + vz * vz), -(vx * n[k, 0] + vy * n[k, 1] + vz * n[k, 2])
        note_hit(s, p, t_ns, (s.touch_row[k], part), (x, y, z), (n[k, 0], n[k, 1], n[k, 2]), (speed, closing))
        _keep(s, k, kept)
        kept += 1
    s.n_touches = kept
