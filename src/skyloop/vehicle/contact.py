"""Contact with the ground: a spring and damper at each point, and dry friction by an anchor that sticks or slides.

On solid objects, points of the hull stand on planes or slide along them in the same way.
"""

# mypy: allow-untyped-defs

import numpy as np
from numba import float64, int64, types, void

from skyloop.core.jit import WHEN_CALLED, inlined, kernel
from skyloop.core.rotations import cross, to_body, to_world
from skyloop.vehicle.contact_search import (
    LIFT,
    finds_type,
    fleet_params_type,
    frame_of_part,
    model_parts_type,
    states_type,
    to_part,
)
from skyloop.vehicle.kernel_records import MAX_HITS, PART_LEG, params_type, scratch_type, state_type
from skyloop.world.ground import ground_at
from skyloop.world.solid_grids import SolidArrays, cast_segment

APART_NS = 200_000_000
"""ns. After this long without contact, touching the same object is a new touch."""
AT_REST = 0.01
"""m/s, the speed below which a touch is not reported."""
GROUND = -1


@inlined
def point_motion(place, y, i):
    """Position and velocity in world axes of row i of `place` (m from the centre of mass, body axes)."""
    rx, ry, rz = place[i, 0], place[i, 1], place[i, 2]
    ax, ay, az = to_world(y[6], y[7], y[8], y[9], rx, ry, rz)
    bx, by, bz = cross(y[10], y[11], y[12], rx, ry, rz)
    cx, cy, cz = to_world(y[6], y[7], y[8], y[9], bx, by, bz)
    return y[0] + ax, y[1] + ay, y[2] + az, y[3] + cx, y[4] + cy, y[5] + cz


@inlined
def plane_force(p, depth, normal, velocity, anchored, gap):
    """World force of a plane on a point `depth` below it, the normal force, and friction over its limit (≥ 1 slides).

    normal: of the plane; velocity: relative to it; gap: from the anchor to the point.
    """
    nx, ny, nz = normal
    vx, vy, vz = velocity
    gx, gy, gz = gap
    if depth <= 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    closing = vx * nx + vy * ny + vz * nz
    push = max(0.0, p.contact_stiffness * depth - p.contact_damping * closing)

    # tangential: a spring to the anchor plus damping, limited by friction
    tx, ty, tz = vx - closing * nx, vy - closing * ny, vz - closing * nz
    fx, fy, fz = -p.contact_damping * tx, -p.contact_damping * ty, -p.contact_damping * tz
    if anchored:
        along = gx * nx + gy * ny + gz * nz
        fx -= p.contact_stiffness * (gx - along * nx)
        fy -= p.contact_stiffness * (gy - along * ny)
        fz -= p.contact_stiffness * (gz - along * nz)
    size = np.sqrt(fx * fx + fy * fy + fz * fz)
    limit = p.friction * push
    excess = 0.0
    if size > 0.0:
        excess = size / max(limit, 1e-12)
        if excess > 1.0:
            fx, fy, fz = fx / excess, fy / excess, fz / excess
    return fx + push * nx, fy + push * ny, fz + push * nz, push, excess


@inlined
def _ground_force(s, p, w, heights, i, motion):
    """The force on contact i, in the form of `plane_force`; its motion is in the form of `point_motion`."""
    x, y, z, vx, vy, vz = motion
    height, nx, ny, nz = ground_at(heights, w.origin_x, w.origin_y, w.cell, x, y)
    gx, gy = x - s.anchor[i, 0], y - s.anchor[i, 1]
    return plane_force(p, (height - z) * nz, (nx, ny, nz), (vx, vy, vz), s.anchored[i], (gx, gy, 0.0))


@inlined
def contact_wrench(s, p, w, heights, y):
    """Force and torque of all contacts with the ground in body axes."""
    place = p.contact_position
    total_x = total_y = total_z = torque_x = torque_y = torque_z = 0.0
    for i in range(p.n_contacts):
        fx, fy, fz, normal, _ = _ground_force(s, p, w, heights, i, point_motion(place, y, i))
        if normal > 0.0:
            bx, by, bz = to_body(y[6], y[7], y[8], y[9], fx, fy, fz)
            tx, ty, tz = cross(place[i, 0], place[i, 1], place[i, 2], bx, by, bz)
            total_x += bx
            total_y += by
            total_z += bz
            torque_x += tx
            torque_y += ty
            torque_z += tz
    return total_x, total_y, total_z, torque_x, torque_y, torque_z


_TWO_NUMBERS, _SPEEDS, _VECTOR = types.UniTuple(int64, 2), types.UniTuple(float64, 2), types.UniTuple(float64, 3)


@kernel(void(state_type, params_type, int64, _TWO_NUMBERS, _VECTOR, _VECTOR, _SPEEDS), turn=WHEN_CALLED)
def note_hit(s, p, t_ns, meeting, place, normal, speeds):
    """Records a touch that is new and not just a vehicle at rest. A touch that breaks the vehicle is always new.

    meeting: the row of the touched object, and the part of the vehicle; speeds: relative, and its closing part.
    """
    row, part = meeting
    speed, closing = speeds
    crash = part != PART_LEG and closing > p.crash_speed and not s.crashed
    if crash:
        s.crashed = 1
    for k in range(max(0, s.n_hits - MAX_HITS), s.n_hits):
        known = k % MAX_HITS
        if s.hit_row[known] == row and t_ns - s.hit_last_ns[known] < APART_NS:
            s.hit_last_ns[known] = t_ns
            if not crash:
                return
    if speed < AT_REST:
        return
    new = s.n_hits % MAX_HITS
    s.n_hits += 1
    s.hit_ns[new] = s.hit_last_ns[new] = t_ns
    s.hit_row[new] = row
    s.hit_part[new] = part
    s.hit_crash[new] = crash
    for k in range(3):
        s.hit_place[new, k] = place[k]
        s.hit_normal[new, k] = normal[k]
    s.hit_speed[new] = speed
    s.hit_closing[new] = closing


@inlined
def still_touches(s, row, t_ns):
    """Notes that the contact continues, so that it does not count as a new touch."""
    for k in range(MAX_HITS):
        if s.hit_row[k] == row and t_ns - s.hit_last_ns[k] < APART_NS:
            s.hit_last_ns[k] = t_ns


@inlined
def _note_ground(s, p, w, heights, i, dt):
    """Records a point that went below the ground during this step, even if it is already moving up again."""
    place = p.contact_position
    bx, by, bz, _, _, _ = point_motion(place, s.motion, i)
    height_b, nx, ny, nz = ground_at(heights, w.origin_x, w.origin_y, w.cell, bx, by)
    if bz >= height_b:
        return
    ax, ay, az, vx, vy, vz = point_motion(place, s.motion_before, i)
    height_a, _, _, _ = ground_at(heights, w.origin_x, w.origin_y, w.cell, ax, ay)
    if az < height_a:
        return
    f = (az - height_a) / (az - height_a + height_b - bz)
    # the velocity at the start of the step: at its end the contact has already slowed the point
    speed = np.sqrt(vx * vx + vy * vy + vz * vz)
    s.impact_speed = max(s.impact_speed, speed)
    closing = -(vx * nx + vy * ny + vz * nz)
    t_ns = int64(np.rint((s.step + f) * dt * 1e9))
    point = (ax + f * (bx - ax), ay + f * (by - ay), az + f * (bz - az))
    note_hit(s, p, t_ns, (GROUND, p.point_part[i]), point, (nx, ny, nz), (speed, closing))


@inlined
def settle_anchors(s, p, w, heights, dt):
    """After a step: sets anchors where points touched, moves them where points slid, removes them where points left."""
    y = s.motion
    s.legs_down = 0
    s.body_down = 0
    for i in range(p.n_contacts):
        motion = point_motion(p.contact_position, y, i)
        px, py = motion[0], motion[1]
        _, _, _, normal, excess = _ground_force(s, p, w, heights, i, motion)
        if not s.anchored[i]:
            _note_ground(s, p, w, heights, i, dt)
        if normal <= 0.0:
            s.anchored[i] = 0
            continue
        if p.contact_is_leg[i] > 0.0:
            s.legs_down += 1
        else:
            s.body_down += 1
        if not s.anchored[i]:
            s.anchored[i] = 1
            s.anchor[i, 0] = px
            s.anchor[i, 1] = py
        elif excess > 1.0:
            s.anchor[i, 0] = px + (s.anchor[i, 0] - px) / excess
            s.anchor[i, 1] = py + (s.anchor[i, 1] - py) / excess
    if s.legs_down + s.body_down:
        still_touches(s, GROUND, int64(np.rint((s.step + 1) * dt * 1e9)))


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
def _refresh(s, k, objects, find, place, depth):
    """Searches for the surface of touch k again, from the free side of its plane; False if there is none any more."""
    solids, parts = objects
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


@kernel(void(states_type, fleet_params_type, model_parts_type, finds_type, int64))
def settle_touches(states, params, objects, finds, i):
    """After a step of vehicle i: planes follow their surfaces, anchors slide, and ended touches are removed."""
    solids, parts = SolidArrays(*objects[0]), objects[1]
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
