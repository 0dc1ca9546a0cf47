"""Where the hull of a vehicle first meets something solid on its way from one pose to the next."""

# mypy: allow-untyped-defs

import numpy as np
from numba import float64, int64, types

from skyloop.compiled import FIRST, inlined, kernel
from skyloop.rotations import cross, to_world
from skyloop.vehicle.layout import finding_type, params_type, state_type
from skyloop.world.solid_grids import cast_segment, moving_type, solids_type

LIFT = 1e-3
"""m above a touched plane at which a pressed point is led along it, so that it meets what stands on the plane."""

states_type = types.Array(state_type, 1, "C")
fleet_params_type = types.Array(params_type, 1, "C")
parts_type = types.Array(moving_type, 1, "C")
finds_type = types.Array(finding_type, 1, "C")
"""An array of one, because Python hands records to kernels slowly."""
POSES = float64[:, :, ::1]
LABELS = int64[::1]


@inlined
def lifted(s, i, x, y, z, later):
    """Point i at (x, y, z) brought to the free side of the planes it presses on, `later` s after they were found."""
    n, v = s.touch_normal, s.touch_velocity
    for k in range(s.n_touches):
        if s.touch_point[k] == i:
            nx, ny, nz = n[k, 0], n[k, 1], n[k, 2]
            level = s.touch_level[k] + later * (nx * v[k, 0] + ny * v[k, 1] + nz * v[k, 2])
            up = max(0.0, level + LIFT - (nx * x + ny * y + nz * z))
            x, y, z = x + up * nx, y + up * ny, z + up * nz
    return x, y, z


@inlined
def _place_points(s, p, poses, i, find):
    """The hull's points at both ends of the path."""
    place, out = p.point_position, find.points
    for end in range(2):
        later = find.dt * (find.start if end == 0 else find.end)
        q = poses[i, end]
        for k in range(p.n_points):
            dx, dy, dz = to_world(q[3], q[4], q[5], q[6], place[k, 0], place[k, 1], place[k, 2])
            x, y, z = q[0] + dx, q[1] + dy, q[2] + dz
            if s.n_touches:
                x, y, z = lifted(s, k, x, y, z, later)
            out[end, k, 0], out[end, k, 1], out[end, k, 2] = x, y, z


@inlined
def frame_of_part(part, share, find, end):
    """part_from_world of a mover's part at a share of its interval; poses are blended, 10 ms apart at most."""
    a, b, m, out = part.before, part.after, find.k, find.inverse
    for r in range(3):
        for c in range(3):
            m[r, c] = a[r, c] + share * (b[r, c] - a[r, c])
    size = 0.0
    for c in range(3):
        for r in range(3):
            r1, r2, c1, c2 = (r + 1) % 3, (r + 2) % 3, (c + 1) % 3, (c + 2) % 3
            out[end, c, r] = m[r1, c1] * m[r2, c2] - m[r1, c2] * m[r2, c1]
        if c == 0:
            size = 1.0 / (out[end, 0, 0] * m[0, 0] + out[end, 0, 1] * m[1, 0] + out[end, 0, 2] * m[2, 0])
    for c in range(3):
        out[end, c, 3] = 0.0
        for r in range(3):
            out[end, c, r] *= size
            out[end, c, 3] -= out[end, c, r] * (a[r, 3] + share * (b[r, 3] - a[r, 3]))


@inlined
def _frame_of_vehicle(p, q, find, end):
    """body_from_world of a vehicle whose centre of mass has pose q."""
    out, c = find.inverse, p.centre_of_mass
    for k in range(3):
        x, y, z = to_world(q[3], q[4], q[5], q[6], 1.0 * (k == 0), 1.0 * (k == 1), 1.0 * (k == 2))
        out[end, k, 0], out[end, k, 1], out[end, k, 2] = x, y, z
        out[end, k, 3] = c[k] - (x * q[0] + y * q[1] + z * q[2])


@inlined
def to_part(find, end, x, y, z):
    m = find.inverse
    return (
        m[end, 0, 0] * x + m[end, 0, 1] * y + m[end, 0, 2] * z + m[end, 0, 3],
        m[end, 1, 0] * x + m[end, 1, 1] * y + m[end, 1, 2] * z + m[end, 1, 3],
        m[end, 2, 0] * x + m[end, 2, 1] * y + m[end, 2, 2] * z + m[end, 2, 3],
    )


@inlined
def front(solids, triangle, find, moves, ax, ay, az):
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
def part_velocity(part, interval, x, y, z):
    """m/s of a point of a mover's part, given in its own axes."""
    a, b = part.before, part.after
    per = 1.0 / interval
    return (
        per * ((b[0, 0] - a[0, 0]) * x + (b[0, 1] - a[0, 1]) * y + (b[0, 2] - a[0, 2]) * z + b[0, 3] - a[0, 3]),
        per * ((b[1, 0] - a[1, 0]) * x + (b[1, 1] - a[1, 1]) * y + (b[1, 2] - a[1, 2]) * z + b[1, 3] - a[1, 3]),
        per * ((b[2, 0] - a[2, 0]) * x + (b[2, 1] - a[2, 1]) * y + (b[2, 2] - a[2, 2]) * z + b[2, 3] - a[2, 3]),
    )


@inlined
def velocity_at(y, x0, y0, z0, x, y_, z):
    """Of a place fixed to a vehicle with motion y whose centre of mass is at (x0, y0, z0)."""
    wx, wy, wz = to_world(y[6], y[7], y[8], y[9], y[10], y[11], y[12])
    cx, cy, cz = cross(wx, wy, wz, x - x0, y_ - y0, z - z0)
    return y[3] + cx, y[4] + cy, y[5] + cz


@inlined
def _surface_velocity(states, parts, poses, candidate, find):
    """Of what was met at find.place into find.velocity."""
    x, y, z = find.place[0], find.place[1], find.place[2]
    vx = vy = vz = 0.0
    if candidate >= parts.shape[0]:
        j = candidate - parts.shape[0]
        q = poses[j, 1]
        vx, vy, vz = velocity_at(states[j].motion, q[0], q[1], q[2], x, y, z)
    elif candidate >= 0:
        lx, ly, lz = to_part(find, 1, x, y, z)
        vx, vy, vz = part_velocity(parts[candidate], find.interval, lx, ly, lz)
    find.velocity[0], find.velocity[1], find.velocity[2] = vx, vy, vz


@inlined
def _approach(params, solids, parts, labels, poses, i, candidate, find):
    """The grid of a candidate (-1 what stands, then parts of movers, then vehicles) with its frames set, or -1: far."""
    n = parts.shape[0]
    if candidate < 0:
        return 0
    q = poses[i, 1]
    if candidate < n:
        part = parts[candidate]
        dx, dy, dz = q[0] - part.after[0, 3], q[1] - part.after[1, 3], q[2] - part.after[2, 3]
        ex, ey, ez = q[0] - part.before[0, 3], q[1] - part.before[1, 3], q[2] - part.before[2, 3]
        reach = part.radius + params[i].hull_radius + 0.1
        if min(dx * dx + dy * dy + dz * dz, ex * ex + ey * ey + ez * ez) > (reach + part.radius) ** 2:
            return -1
        for end in range(2):
            at = find.start if end == 0 else find.end
            frame_of_part(part, find.interval_start + at * find.interval_per_step, find, end)
        return part.grid
    j = candidate - n
    if j == i or labels[j] != labels[i]:
        return -1
    for end in range(2):
        _frame_of_vehicle(params[j], poses[j, end], find, end)
    return solids.vehicle_grids[j]


@inlined
def row_of(solids, parts, candidate, triangle):
    if candidate < 0:
        return int64(solids.rows[triangle])
    if candidate < parts.shape[0]:
        return parts[candidate].row
    return solids.vehicle_rows[candidate - parts.shape[0]]


@inlined
def _pressed(s, a, b):
    found = False
    for k in range(s.n_touches):
        found |= s.touch_point[k] == a or s.touch_point[k] == b
    return found


@inlined
def _edge_normal(s, q, find, a, b):
    """Of what stops an edge, the edge of a thin thing: square to the hull's edge, against the motion. False if none."""
    at, place, v = find.points, find.place, find.velocity
    ex, ey, ez = at[1, b, 0] - at[1, a, 0], at[1, b, 1] - at[1, a, 1], at[1, b, 2] - at[1, a, 2]
    vx, vy, vz = velocity_at(s.motion, q[0], q[1], q[2], place[0], place[1], place[2])
    vx, vy, vz = vx - v[0], vy - v[1], vz - v[2]
    along = (vx * ex + vy * ey + vz * ez) / (ex * ex + ey * ey + ez * ez)
    vx, vy, vz = vx - along * ex, vy - along * ey, vz - along * ez
    speed = np.sqrt(vx * vx + vy * vy + vz * vz)
    if speed < 1e-6:
        return False
    find.normal[0], find.normal[1], find.normal[2] = -vx / speed, -vy / speed, -vz / speed
    return True


@inlined
def _feel(s, p, solids, grid, moves, find, k):
    """Feeler k of the hull: a point's path, or an edge that is crossed at the path's end and was free at its start.

    Gives the share of the feeler's length (2: nothing met), the triangle, and the feeler's start in the part's axes.
    """
    at = find.points
    is_edge = k >= p.n_points
    best, triangle, ox, oy, oz = 2.0, -1, 0.0, 0.0, 0.0
    for task in range(2 if is_edge else 1):
        a = b = k
        from_end, to_end = 0, 1
        if is_edge:
            a, b = p.edge[k - p.n_points, 0], p.edge[k - p.n_points, 1]
            from_end = to_end = 1 - task
        ax, ay, az = at[from_end, a, 0], at[from_end, a, 1], at[from_end, a, 2]
        bx, by, bz = at[to_end, b, 0], at[to_end, b, 1], at[to_end, b, 2]
        if moves:
            ax, ay, az = to_part(find, from_end, ax, ay, az)
            bx, by, bz = to_part(find, to_end, bx, by, bz)
        f, met = cast_segment(solids, grid, ax, ay, az, bx, by, bz)
        if task == 0:
            best, triangle, ox, oy, oz = f, int64(met), ax, ay, az
            if f > 1.0 or (is_edge and _pressed(s, a, b)):
                return 2.0, -1, ox, oy, oz
        elif f <= 1.0:
            best = 2.0
    return best, triangle, ox, oy, oz


@kernel(float64(states_type, fleet_params_type, solids_type, parts_type, LABELS, POSES, int64, finds_type), turn=FIRST)
def search(states, params, solids, parts, labels, poses, group, finds):
    """First meeting on the paths of the vehicles of a group into finds[0].

    Edges count only when no point meets anything. Returns its share of the path; 1 for an edge, 2 when nothing is met.
    """
    find = finds[0]
    find.fraction = 2.0
    n = parts.shape[0]
    for i in range(states.shape[0]):
        if labels[i] != group:
            continue
        s, p, at = states[i], params[i], find.points
        _place_points(s, p, poses, i, find)
        for candidate in range(-1, n + solids.vehicle_grids.shape[0]):
            grid = _approach(params, solids, parts, labels, poses, i, candidate, find)
            if grid < 0:
                continue
            for k in range(p.n_points + p.n_edges):
                if k >= p.n_points and find.fraction <= 1.0:
                    break
                f, triangle, ox, oy, oz = _feel(s, p, solids, grid, candidate >= 0, find, k)
                if f >= find.fraction:
                    continue
                is_edge = k >= p.n_points
                a = p.edge[k - p.n_points, 0] if is_edge else k
                b = p.edge[k - p.n_points, 1] if is_edge else k
                start = 1 if is_edge else 0
                for axis in range(3):
                    find.place[axis] = at[start, a, axis] + f * (at[1, b, axis] - at[start, a, axis])
                _surface_velocity(states, parts, poses, candidate, find)
                if is_edge and not _edge_normal(s, poses[i, 1], find, a, b):
                    continue
                if not is_edge:
                    find.normal[0], find.normal[1], find.normal[2] = front(
                        solids, triangle, find, candidate >= 0, ox, oy, oz
                    )
                find.fraction = 1.0 if is_edge else f
                find.vehicle = i
                find.point = a
                find.other = candidate - n if candidate >= n else -1
                find.row = row_of(solids, parts, candidate, triangle)
    return find.fraction
