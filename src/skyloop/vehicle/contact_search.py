"""Finds where the hull of a vehicle first meets something solid on its way from one pose to the next."""

# mypy: allow-untyped-defs

import numpy as np
from numba import float64, int64, types

from skyloop.core.jit import inlined, kernel
from skyloop.core.rotations import to_world
from skyloop.vehicle.kernel_records import finding_type, params_type, state_type
from skyloop.world.solid_grids import SolidArrays, anything_near, cast_segment, moving_type, solid_arrays_type

LIFT = 1e-3
"""m above a touched plane, at which a pressed point is checked, so that it meets objects on the plane."""

states_type = types.Array(state_type, 1, "C")
fleet_params_type = types.Array(params_type, 1, "C")
parts_type = types.Array(moving_type, 1, "C")
finds_type = types.Array(finding_type, 1, "C")
"""An array of one record, because Python passes single records to kernels slowly."""
model_parts_type = types.Tuple((solid_arrays_type, parts_type))
"""The objects that can be met: standing objects, and the parts of movers that are near."""
POSES = float64[:, :, ::1]
MOST_ACCELERATION = 100.0
"""m/s², the acceleration that free flight is assumed to stay below."""
LABELS = int64[::1]


@inlined
def _group(states, params, labels, t):
    """Gives vehicles that may meet each other within t seconds the same label, the lowest index. True if any may."""
    n, some = states.shape[0], False
    for i in range(n):
        labels[i] = i
    for i in range(n):
        a = states[i].motion
        for j in range(i + 1, n):
            b = states[j].motion
            dx, dy, dz = a[0] - b[0], a[1] - b[1], a[2] - b[2]
            reach = params[i].hull_radius + params[j].hull_radius + _path(a, t) + _path(b, t)
            if dx * dx + dy * dy + dz * dz < reach * reach and labels[i] != labels[j]:
                some = True
                low, high = min(labels[i], labels[j]), max(labels[i], labels[j])
                for k in range(n):
                    if labels[k] == high:
                        labels[k] = low
    return some


@inlined
def _path(y, t):
    """m that a vehicle may move within t seconds."""
    return t * (np.sqrt(y[3] * y[3] + y[4] * y[4] + y[5] * y[5]) + 0.5 * MOST_ACCELERATION * t) + 0.01


@inlined
def _is_near(s, p, solids, parts, t):
    """Whether a vehicle can meet anything but another vehicle within t seconds."""
    y = s.motion
    reach = p.hull_radius + _path(y, t)
    if s.n_touches or anything_near(solids, y[0], y[1], y[2], reach):
        return True
    for k in range(parts.shape[0]):
        part = parts[k]
        for end in (part.before, part.after):
            dx, dy, dz = y[0] - end[0, 3], y[1] - end[1, 3], y[2] - end[2, 3]
            # between its two end poses the part may be half a metre away from both
            if dx * dx + dy * dy + dz * dz < (reach + part.radius + 0.5) ** 2:
                return True
    return False


@kernel(int64(states_type, fleet_params_type, model_parts_type, types.UniTuple(LABELS, 2), float64, int64))
def free_steps(states, params, objects, groups, dt, most):
    """The number of steps, at most `most`, on which no vehicle can meet anything; 0 if one may on the next.

    groups: written here: the label of every vehicle's group, and 1 for every group that may meet something.
    """
    solids, parts = SolidArrays(*objects[0]), objects[1]
    labels, near = groups
    n, steps = states.shape[0], most
    while True:
        t = max(1, steps) * dt
        any_near = _group(states, params, labels, t)
        for i in range(n):
            near[i] = 0
        for i in range(n):
            if labels[i] != i or _is_near(states[i], params[i], solids, parts, t):
                near[labels[i]] = 1
                any_near = True
                if steps > 0:
                    break
        if not any_near:
            return max(1, steps)
        if steps == 0:
            return 0
        steps = steps // 8


@inlined
def _lift(s, k, at, later):
    """Moves a point to the free side of the plane of touch k, `later` s after the plane was found."""
    n, v = s.touch_normal, s.touch_velocity
    up = s.touch_level[k] + LIFT
    for a in range(3):
        up += n[k, a] * (later * v[k, a] - at[a])
    if up > 0.0:
        for a in range(3):
            at[a] += up * n[k, a]


@inlined
def _place_points(s, p, poses, i, find):
    """The hull's points at both ends of the path."""
    place, out = p.point_position, find.points
    for end in range(2):
        later = find.dt * (find.start if end == 0 else find.end)
        q = poses[i, end]
        for k in range(p.n_points):
            dx, dy, dz = to_world(q[3], q[4], q[5], q[6], place[k, 0], place[k, 1], place[k, 2])
            out[end, k, 0], out[end, k, 1], out[end, k, 2] = q[0] + dx, q[1] + dy, q[2] + dz
        for k in range(s.n_touches):
            _lift(s, k, out[end, s.touch_point[k]], later)


@inlined
def frame_of_part(part, share, find, end):
    """part_from_world of a mover's part at a share of its interval, interpolated; its ends are at most 10 ms apart."""
    a, b, out = part.inverse_before, part.inverse_after, find.inverse
    for r in range(3):
        for c in range(4):
            out[end, r, c] = a[r, c] + share * (b[r, c] - a[r, c])


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
def _approach(params, objects, labels, poses, i, candidate, find):
    """Sets the frames of a candidate (-1 standing, then parts of movers, then vehicles); its grid, or -1: too far."""
    solids, parts = objects
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
def _pressed(s, a, b):
    found = False
    for k in range(s.n_touches):
        found |= s.touch_point[k] == a or s.touch_point[k] == b
    return found


@kernel(float64(states_type, fleet_params_type, model_parts_type, LABELS, POSES, int64, finds_type))
def search(states, params, objects, labels, poses, group, finds):
    """Writes the first contact on the paths of a group's vehicles to finds[0]: that of a point or, if no point meets
    anything, of an edge that is crossed at the path's end and was free at its start.

    Returns the share of the path; 1 for an edge, 2 when nothing is met.
    """
    solids, parts = SolidArrays(*objects[0]), objects[1]
    find = finds[0]
    at = find.points
    find.fraction = 2.0
    for i in range(states.shape[0]):
        if labels[i] != group:
            continue
        s, p = states[i], params[i]
        _place_points(s, p, poses, i, find)
        for candidate in range(-1, parts.shape[0] + solids.vehicle_grids.shape[0]):
            grid = _approach(params, (solids, parts), labels, poses, i, candidate, find)
            if grid < 0:
                continue
            for k in range(p.n_points + p.n_edges):
                a, b, begin, end, tries = k, k, 0, 1, 1
                if k >= p.n_points:
                    if find.fraction <= 1.0:
                        break
                    a, b, begin, tries = p.edge[k - p.n_points, 0], p.edge[k - p.n_points, 1], 1, 2
                    if _pressed(s, a, b):
                        continue
                for attempt in range(tries):
                    begin, end = begin - attempt, end - attempt
                    ax, ay, az = at[begin, a, 0], at[begin, a, 1], at[begin, a, 2]
                    bx, by, bz = at[end, b, 0], at[end, b, 1], at[end, b, 2]
                    if candidate >= 0:
                        ax, ay, az = to_part(find, begin, ax, ay, az)
                        bx, by, bz = to_part(find, end, bx, by, bz)
                    f, triangle = cast_segment(solids, grid, (ax, ay, az), (bx, by, bz))
                    if attempt == 1 and f <= 1.0:
                        find.fraction = 2.0  # the edge was crossed before too: let it out
                    elif attempt == 0:
                        if f >= find.fraction:
                            break
                        find.fraction = 1.0 if tries == 2 else f
                        find.along = f
                        find.vehicle = i
                        find.feeler = k
                        find.candidate = candidate
                        find.triangle = int64(triangle)
                        for axis in range(3):
                            find.ends[0, axis], find.ends[1, axis] = at[begin, a, axis], at[end, b, axis]
                        find.local[0, 0], find.local[0, 1], find.local[0, 2] = ax, ay, az
                        find.local[1, 0], find.local[1, 1], find.local[1, 2] = bx, by, bz
    return find.fraction
