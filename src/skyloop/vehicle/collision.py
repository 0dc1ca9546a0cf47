"""Meeting solid things: the step is taken back to the instant of each meeting, an impulse acts, and the rest is flown.

A point that meets a surface slowly presses on it from then on, by the same springs as on the ground: so a vehicle
stands on a roof as it stands on grass. Faster ones bounce. Between vehicles both feel the impulse.
"""

# mypy: allow-untyped-defs

from typing import Any

import numpy as np
from numba import int64, void

from skyloop.compiled import SECOND, inlined, kernel
from skyloop.frames import quat_multiply, rotate
from skyloop.messages import Array
from skyloop.rotations import cross, to_body, to_world
from skyloop.streams import NS_PER_S
from skyloop.vehicle.contact import note_hit
from skyloop.vehicle.layout import FINDING, MAX_TOUCHES, PART_BODY
from skyloop.vehicle.meeting import POSES, finds_type, fleet_params_type, search, states_type
from skyloop.vehicle.touches import settle_touches
from skyloop.world.solid_grids import SolidArrays, anything_near, solids_type

SLOW = 0.5
"""m/s of closing speed below which a point presses instead of bouncing."""
MARGIN = 1e-5
"""m before a surface at which a vehicle is stopped."""
MAX_MEETINGS = 16
"""In one step; a vehicle jammed harder than that moves with the last surface it met."""
SAME_SURFACE = 0.7
"""Cosine between two normals below which a point presses on two planes, as in a corner."""


@inlined
def _response(p, q, rx, ry, rz, jx, jy, jz):
    """Velocity a place r (from the centre of mass) of a vehicle with pose q gains by an impulse j there; world axes."""
    bx, by, bz = to_body(q[3], q[4], q[5], q[6], rx, ry, rz)
    ix, iy, iz = to_body(q[3], q[4], q[5], q[6], jx, jy, jz)
    tx, ty, tz = cross(bx, by, bz, ix, iy, iz)
    turn = p.inverse_inertia
    wx, wy, wz = to_world(q[3], q[4], q[5], q[6], tx * turn[0], ty * turn[1], tz * turn[2])
    cx, cy, cz = cross(wx, wy, wz, rx, ry, rz)
    return jx * p.inverse_mass + cx, jy * p.inverse_mass + cy, jz * p.inverse_mass + cz


@inlined
def _velocity(s, q, rx, ry, rz):
    """Of a place r of a vehicle with pose q, world axes."""
    y = s.motion
    wx, wy, wz = to_world(q[3], q[4], q[5], q[6], y[10], y[11], y[12])
    cx, cy, cz = cross(wx, wy, wz, rx, ry, rz)
    return y[3] + cx, y[4] + cy, y[5] + cz


@inlined
def _kick(s, p, q, rx, ry, rz, jx, jy, jz):
    """Give a vehicle an impulse at r."""
    bx, by, bz = to_body(q[3], q[4], q[5], q[6], rx, ry, rz)
    ix, iy, iz = to_body(q[3], q[4], q[5], q[6], jx, jy, jz)
    tx, ty, tz = cross(bx, by, bz, ix, iy, iz)
    y, turn = s.motion, p.inverse_inertia
    y[3] += jx * p.inverse_mass
    y[4] += jy * p.inverse_mass
    y[5] += jz * p.inverse_mass
    y[10] += tx * turn[0]
    y[11] += ty * turn[1]
    y[12] += tz * turn[2]


@inlined
def _find_impulse(find, ux, uy, uz, restitution, friction):
    """Impulse of Newton's restitution and Coulomb's friction for relative velocity u and mobility find.k.

    It sticks when friction allows, else it slides; should that add energy, as the pair of laws can for some shapes,
    there is no friction. The energy it adds is impulse · (velocity before + after) / 2.
    """
    k, out = find.k, find.impulse
    nx, ny, nz = find.normal[0], find.normal[1], find.normal[2]
    closing = -(ux * nx + uy * ny + uz * nz)
    bounce = restitution * closing
    # stick: K j = bounce n - u, by Cramer's rule on the rows of the symmetric K
    wx, wy, wz = bounce * nx - ux, bounce * ny - uy, bounce * nz - uz
    ax, ay, az = cross(k[1, 0], k[1, 1], k[1, 2], k[2, 0], k[2, 1], k[2, 2])
    bx, by, bz = cross(k[2, 0], k[2, 1], k[2, 2], k[0, 0], k[0, 1], k[0, 2])
    cx, cy, cz = cross(k[0, 0], k[0, 1], k[0, 2], k[1, 0], k[1, 1], k[1, 2])
    per = 1.0 / (k[0, 0] * ax + k[0, 1] * ay + k[0, 2] * az)
    jx = per * (ax * wx + bx * wy + cx * wz)
    jy = per * (ay * wx + by * wy + cy * wz)
    jz = per * (az * wx + bz * wy + cz * wz)
    normal = jx * nx + jy * ny + jz * nz
    tx, ty, tz = jx - normal * nx, jy - normal * ny, jz - normal * nz
    fits = normal > 0.0 and tx * tx + ty * ty + tz * tz <= (friction * normal) ** 2
    added = jx * (bounce * nx + ux) + jy * (bounce * ny + uy) + jz * (bounce * nz + uz)
    if not fits or added > 0.0:
        sx, sy, sz = ux + closing * nx, uy + closing * ny, uz + closing * nz
        size = np.sqrt(sx * sx + sy * sy + sz * sz)
        share = friction / size if size > 1e-12 else 0.0
        for _ in range(2):
            dx, dy, dz = nx - share * sx, ny - share * sy, nz - share * sz
            gx = k[0, 0] * dx + k[0, 1] * dy + k[0, 2] * dz
            gy = k[1, 0] * dx + k[1, 1] * dy + k[1, 2] * dz
            gz = k[2, 0] * dx + k[2, 1] * dy + k[2, 2] * dz
            gain = gx * nx + gy * ny + gz * nz
            push = (1.0 + restitution) * closing / gain if gain > 0.0 else 0.0
            jx, jy, jz = push * dx, push * dy, push * dz
            added = jx * (2.0 * ux + push * gx) + jy * (2.0 * uy + push * gy) + jz * (2.0 * uz + push * gz)
            if gain > 0.0 and added <= 0.0:
                break
            share = 0.0
    out[0], out[1], out[2] = jx, jy, jz


@kernel(void(states_type, fleet_params_type, solids_type, POSES, finds_type), turn=SECOND)
def collide(states, params, solids, poses, finds):
    """The impulse of the meeting finds[0], at the poses the paths now start from; and word of it."""
    find = finds[0]
    i, j = find.vehicle, find.other
    s, p, q = states[i], params[i], poses[i, 0]
    x, y, z = find.place[0], find.place[1], find.place[2]
    rx, ry, rz = x - q[0], y - q[1], z - q[2]
    ux, uy, uz = _velocity(s, q, rx, ry, rz)
    restitution, friction, k = p.restitution, p.friction, find.k
    for a in range(3):
        k[a, 0], k[a, 1], k[a, 2] = _response(p, q, rx, ry, rz, 1.0 * (a == 0), 1.0 * (a == 1), 1.0 * (a == 2))
    ox = oy = oz = 0.0
    if j >= 0:
        o = poses[j, 0]
        ox, oy, oz = x - o[0], y - o[1], z - o[2]
        restitution = 0.5 * (restitution + params[j].restitution)
        friction = 0.5 * (friction + params[j].friction)
        vx, vy, vz = _velocity(states[j], o, ox, oy, oz)
        for a in range(3):
            gx, gy, gz = _response(params[j], o, ox, oy, oz, 1.0 * (a == 0), 1.0 * (a == 1), 1.0 * (a == 2))
            k[a, 0] += gx
            k[a, 1] += gy
            k[a, 2] += gz
    else:
        vx, vy, vz = find.velocity[0], find.velocity[1], find.velocity[2]
    ux, uy, uz = ux - vx, uy - vy, uz - vz
    nx, ny, nz = find.normal[0], find.normal[1], find.normal[2]
    closing = -(ux * nx + uy * ny + uz * nz)
    if closing <= 0.0:
        return
    _find_impulse(find, ux, uy, uz, restitution if closing > SLOW else 0.0, friction)
    jx, jy, jz = find.impulse[0], find.impulse[1], find.impulse[2]
    _kick(s, p, q, rx, ry, rz, jx, jy, jz)
    speed = np.sqrt(ux * ux + uy * uy + uz * uz)
    t_ns = int64(np.rint((s.step - 1 + find.start) * find.dt * 1e9))
    note_hit(s, p, t_ns, find.row, p.point_part[find.point], x, y, z, nx, ny, nz, speed, closing)
    if j >= 0:
        _kick(states[j], params[j], poses[j, 0], ox, oy, oz, -jx, -jy, -jz)
        note_hit(states[j], params[j], t_ns, solids.vehicle_rows[i], PART_BODY, x, y, z, -nx, -ny, -nz, speed, closing)


class Collisions:
    """Leads the vehicles of a fleet around everything solid, step by step while something is near."""

    def __init__(self, states: Any, params: Any, solids: SolidArrays, dt: float, interval: float) -> None:
        n = len(states)
        self.states, self.params, self.solids, self.dt = states, params, solids, dt
        self.labels, self.near, self.poses = np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, 2, 7))
        self._finds, self._checks = np.zeros(1, FINDING), np.zeros(1, FINDING)
        self._find, self._check = self._finds[0], self._checks[0]
        for find in (self._find, self._check):
            find["dt"], find["interval"], find["interval_per_step"] = dt, interval, dt / interval

    @property
    def arrays(self) -> tuple[Any, Any, Any]:
        """Which the kernels mark what is near in."""
        return self.labels, self.near, self.poses

    def meet(self, parts: Any, interval_start: float) -> None:
        """Whatever the vehicles marked near met on the step just taken, `interval_start` into the movers' interval."""
        self._find["interval_start"] = self._check["interval_start"] = interval_start
        for group in self.near.nonzero()[0]:
            self._resolve(parts, int(group))
            for i in (self.labels == group).nonzero()[0]:
                if self.states["n_touches"][i]:
                    settle_touches(self.states, self.params, self.solids, parts, self._finds, i)

    def _search(self, parts: Any, group: int, finds: Any) -> float:
        found = search(self.states, self.params, self.solids, parts, self.labels, self.poses, group, finds)
        return float(found)

    def _resolve(self, parts: Any, group: int) -> None:
        """Back to each meeting, then on with what is left of the step."""
        find, poses = self._find, self.poses
        find["start"], find["end"] = 0.0, 1.0
        share = self._search(parts, group, self._finds)
        if share > 1.0:
            return
        members = np.flatnonzero(self.labels == group)
        for _ in range(MAX_MEETINGS):
            if not self._press(find):
                self._take_back(parts, group, members, share)
                collide(self.states, self.params, self.solids, poses, self._finds)
                self._move_on(members)
            share = self._search(parts, group, self._finds)
            if share > 1.0:
                break
        else:
            self._jam(parts, group, members)
        motion = self.states["motion"]
        motion[members, :3], motion[members, 6:10] = poses[members, 1, :3], poses[members, 1, 3:]

    def _press(self, find: Any) -> bool:
        """A point that meets a surface slowly presses on it from now on; False when this meeting is none of that."""
        s, p, n = self.states[find["vehicle"]], self.params[find["vehicle"]], find["normal"]
        relative = _point_velocity(s, self.poses[find["vehicle"], 1], find["place"]) - find["velocity"]
        closing = float(-relative @ n)
        if closing >= SLOW or find["fraction"] >= 1.0 or find["other"] >= 0:
            return False
        count = int(s["n_touches"])
        same = (s["touch_point"][:count] == find["point"]) & (s["touch_normal"][:count] @ n > SAME_SURFACE)
        k = int(np.argmax(same)) if same.any() else count
        if k == MAX_TOUCHES:
            return False
        met = float(find["start"] + find["fraction"] * (find["end"] - find["start"]))
        t_ns = round((int(s["step"]) - 1 + met) * self.dt * NS_PER_S)
        part = p["point_part"][find["point"]]
        numbers = (*find["place"], *n, float(np.linalg.norm(relative)), closing)
        note_hit(s, p, t_ns, find["row"], part, *numbers)
        s["n_touches"] = max(count, k + 1)
        s["touch_point"][k], s["touch_row"][k] = find["point"], find["row"]
        s["touch_normal"][k], s["touch_velocity"][k], s["touch_anchor"][k] = n, find["velocity"], find["place"]
        # as of the step's start
        s["touch_level"][k] = n @ (find["place"] - met * self.dt * find["velocity"])
        return True

    def _take_back(self, parts: Any, group: int, members: Any, share: float) -> None:
        """Paths now start where they are free: just before the meeting or, where turning bends them, earlier."""
        find, check, poses = self._find, self._check, self.poses
        start, length = float(find["start"]), float(find["end"] - find["start"])
        i = find["vehicle"]
        if share < 1.0:
            closing = (_point_velocity(self.states[i], poses[i, 1], find["place"]) - find["velocity"]) @ -find["normal"]
            share = max(0.0, share - MARGIN / max(1e-9, closing * length * self.dt))
        begin, end = poses[members, 0], poses[members, 1]
        for _ in range(8):
            poses[members, 1] = _unit(begin + share * (end - begin))
            check["start"], check["end"] = start, start + share * length
            if self._search(parts, group, self._checks) > 1.0:
                break
            share *= 0.5
        else:
            share, poses[members, 1] = 0.0, begin
        poses[members, 0] = poses[members, 1]
        find["start"] = start + share * length

    def _move_on(self, members: Any) -> None:
        """The rest of the step with the present velocities."""
        rest = (1.0 - float(self._find["start"])) * self.dt
        begin, motion = self.poses[members, 0], self.states["motion"][members]
        end = begin.copy()
        end[:, :3] += rest * motion[:, 3:6]
        for row, q, w in zip(end, begin[:, 3:], motion[:, 10:13], strict=True):
            row[3:] += 0.5 * rest * quat_multiply(q, np.append(0.0, w))
        self.poses[members, 1] = _unit(end)

    def _jam(self, parts: Any, group: int, members: Any) -> None:
        """Between surfaces that leave it no way: along with the last one met if that is free, else it stays."""
        find = self._find
        self._take_back(parts, group, members, 0.0)
        for i in members:
            self.states[i]["motion"][3:6], self.states[i]["motion"][10:13] = find["velocity"], 0.0
        self._move_on(members)
        if self._search(parts, group, self._checks) <= 1.0:
            self.poses[members, 1] = self.poses[members, 0]


def _unit(poses: Array) -> Array:
    poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    return poses


def _point_velocity(state: Any, pose: Array, place: Array) -> Array:
    """m/s of a place fixed to a vehicle, world."""
    motion = state["motion"]
    spin = rotate(pose[3:], motion[10:13])
    return np.asarray(motion[3:6] + np.cross(spin, place - pose[:3]))


@inlined
def _is_near(s, p, solids, parts, dt):
    """Whether a vehicle alone can meet anything in the step just taken."""
    y = s.motion
    path = 2.0 * dt * np.sqrt(y[3] * y[3] + y[4] * y[4] + y[5] * y[5])
    reach = p.hull_radius + path + 0.01
    if s.n_touches or anything_near(solids, y[0], y[1], y[2], reach):
        return True
    for k in range(parts.shape[0]):
        part = parts[k]
        for end in (part.before, part.after):
            dx, dy, dz = y[0] - end[0, 3], y[1] - end[1, 3], y[2] - end[2, 3]
            # the part may be half its interval away from both ends
            if dx * dx + dy * dy + dz * dz < (reach + part.radius + 0.5) ** 2:
                return True
    return False


@inlined
def _group(states, params, labels, dt):
    """Vehicles that may meet each other in the step just taken get the same label, the lowest index among them."""
    n = states.shape[0]
    for i in range(n):
        labels[i] = i
    for i in range(n):
        a = states[i].motion
        va = np.sqrt(a[3] * a[3] + a[4] * a[4] + a[5] * a[5])
        for j in range(i + 1, n):
            b = states[j].motion
            dx, dy, dz = a[0] - b[0], a[1] - b[1], a[2] - b[2]
            apart = dx * dx + dy * dy + dz * dz
            touch = params[i].hull_radius + params[j].hull_radius + 0.02
            if apart > (touch + 200.0 * dt) ** 2 or labels[i] == labels[j]:
                continue  # no two close at more than 100 m/s
            vb = np.sqrt(b[3] * b[3] + b[4] * b[4] + b[5] * b[5])
            if apart < (touch + 2.0 * dt * (va + vb)) ** 2:
                low, high = min(labels[i], labels[j]), max(labels[i], labels[j])
                for k in range(n):
                    if labels[k] == high:
                        labels[k] = low


@inlined
def mark_near(states, params, solids, parts, labels, near, poses, dt):
    """near[i]: 1 where the group with label i may have met something on the step just taken; True when any has."""
    n = states.shape[0]
    _group(states, params, labels, dt)
    any_near = False
    for i in range(n):
        near[i] = 0
    for i in range(n):
        group = labels[i]
        if group != i or _is_near(states[i], params[i], solids, parts, dt):
            near[group] = 1
            any_near = True
    if any_near:
        for i in range(n):
            a, b = states[i].motion_before, states[i].motion
            for k in range(3):
                poses[i, 0, k], poses[i, 1, k] = a[k], b[k]
            for k in range(4):
                poses[i, 0, 3 + k], poses[i, 1, 3 + k] = a[6 + k], b[6 + k]
    return any_near
