"""Contact with the ground: a spring and damper at each point, and dry friction by an anchor that sticks or slides."""

# mypy: allow-untyped-defs

import numpy as np
from numba import float64, int64, types, void

from skyloop.core.jit import WHEN_CALLED, inlined, kernel
from skyloop.core.rotations import cross, to_body, to_world
from skyloop.vehicle.kernel_records import MAX_HITS, PART_BODY, PART_LEG, params_type, state_type
from skyloop.world.ground import ground_at

APART_NS = 200_000_000
"""ns. After this long without contact, touching the same thing is a new touch."""
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

    meeting: the row of the touched thing, and the part of the vehicle; speeds: relative, and its closing part.
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
    part = PART_LEG if p.contact_is_leg[i] > 0.0 else PART_BODY
    t_ns = int64(np.rint((s.step + f) * dt * 1e9))
    point = (ax + f * (bx - ax), ay + f * (by - ay), az + f * (bz - az))
    note_hit(s, p, t_ns, (GROUND, part), point, (nx, ny, nz), (speed, closing))


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
