"""Touching the ground: spring and damper at each contact point, dry friction by an anchor that sticks or slides."""

import numpy as np

from skyloop.compiled import inlined
from skyloop.rotations import cross, to_body, to_world
from skyloop.world.ground import ground_at


@inlined
def _point_motion(p, y, i):  # type: ignore[no-untyped-def]
    """Position and velocity of contact point i, world axes."""
    place = p.contact_position
    rx, ry, rz = place[i, 0], place[i, 1], place[i, 2]
    ax, ay, az = to_world(y[6], y[7], y[8], y[9], rx, ry, rz)
    bx, by, bz = cross(y[10], y[11], y[12], rx, ry, rz)
    cx, cy, cz = to_world(y[6], y[7], y[8], y[9], bx, by, bz)
    return y[0] + ax, y[1] + ay, y[2] + az, y[3] + cx, y[4] + cy, y[5] + cz


@inlined
def _point_force(s, p, w, heights, i, x, y, z, vx, vy, vz):  # type: ignore[no-untyped-def]
    """World force on contact point i, the normal force, and how far friction is over its limit (ratio, ≥ 1 slides)."""
    height, nx, ny, nz = ground_at(heights, w.origin_x, w.origin_y, w.cell, x, y)
    depth = (height - z) * nz
    if depth <= 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0
    closing = vx * nx + vy * ny + vz * nz
    normal = max(0.0, p.contact_stiffness * depth - p.contact_damping * closing)

    # tangential: a spring to the anchor plus damping, never more than friction allows
    tx, ty, tz = vx - closing * nx, vy - closing * ny, vz - closing * nz
    fx, fy, fz = -p.contact_damping * tx, -p.contact_damping * ty, -p.contact_damping * tz
    if s.anchored[i]:
        gx, gy = x - s.anchor[i, 0], y - s.anchor[i, 1]
        along = gx * nx + gy * ny
        fx -= p.contact_stiffness * (gx - along * nx)
        fy -= p.contact_stiffness * (gy - along * ny)
        fz += p.contact_stiffness * along * nz
    size = np.sqrt(fx * fx + fy * fy + fz * fz)
    limit = p.friction * normal
    excess = 0.0
    if size > 0.0:
        excess = size / max(limit, 1e-12)
        if excess > 1.0:
            fx, fy, fz = fx / excess, fy / excess, fz / excess
    return fx + normal * nx, fy + normal * ny, fz + normal * nz, normal, excess


@inlined
def contact_wrench(s, p, w, heights, y):  # type: ignore[no-untyped-def]
    """Force and torque of all contacts in body axes."""
    place = p.contact_position
    total_x = total_y = total_z = torque_x = torque_y = torque_z = 0.0
    for i in range(p.n_contacts):
        px, py, pz, vx, vy, vz = _point_motion(p, y, i)
        fx, fy, fz, normal, _ = _point_force(s, p, w, heights, i, px, py, pz, vx, vy, vz)
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


@inlined
def settle_anchors(s, p, w, heights):  # type: ignore[no-untyped-def]
    """After a step: plant anchors where points touched, drag them where they slid, drop them where they left."""
    y = s.motion
    s.legs_down = 0
    s.body_down = 0
    for i in range(p.n_contacts):
        px, py, pz, vx, vy, vz = _point_motion(p, y, i)
        _, _, _, normal, excess = _point_force(s, p, w, heights, i, px, py, pz, vx, vy, vz)
        if normal <= 0.0:
            s.anchored[i] = 0
            continue
        if p.contact_is_leg[i] > 0.0:
            s.legs_down += 1
        else:
            s.body_down += 1
        if not s.anchored[i]:
            # of the step's start: by its end the contact has already braked the point
            _, _, _, vx, vy, vz = _point_motion(p, s.motion_before, i)
            s.impact_speed = max(s.impact_speed, np.sqrt(vx * vx + vy * vy + vz * vz))
            s.anchored[i] = 1
            s.anchor[i, 0] = px
            s.anchor[i, 1] = py
        elif excess > 1.0:
            s.anchor[i, 0] = px + (s.anchor[i, 0] - px) / excess
            s.anchor[i, 1] = py + (s.anchor[i, 1] - py) / excess
