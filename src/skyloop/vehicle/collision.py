"""Collisions with solid objects. The step is taken back to the instant of each contact, an impulse acts, and the
rest is flown.

A point that meets a surface slowly presses on it from then on, with the same springs as on the ground, so a vehicle
lands and stands on a roof as on grass. A faster point bounces. In a collision of two vehicles both get the impulse.

The velocity changes at once, but accelerometers and the published acceleration get the impulse spread over IMPACT_S, as
long as a collision of a frame with something hard lasts. So what an IMU integrates agrees with the motion.
"""

# mypy: allow-untyped-defs

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import matrix_from_quat, quat_multiply, rotate
from skyloop.vehicle.contact import note_hit, settle_touches
from skyloop.vehicle.contact_search import free_steps, search
from skyloop.vehicle.kernel_records import FINDING, MAX_TOUCHES, PART_BODY, PART_LEG, Records
from skyloop.vehicle.near_steps import advance_among
from skyloop.world.solid_grids import SolidArrays
from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S

SLOW = 0.5
"""m/s, the closing speed below which a point presses instead of bouncing."""
SLOW_LANDING = 1.0
"""m/s, the same for the feet of legs on something that faces up. Legs give, as on the ground; impulses at one foot
after the other would turn a vehicle that lands level."""
LEVEL = 0.7
"""The least upward part of the normal of something that faces up."""
MARGIN = 1e-5
"""m, the distance from a surface at which a vehicle is stopped."""
MAX_MEETINGS = 16
"""Collisions handled in one step. A vehicle with more of them is jammed and moves with the last surface it met."""
MAX_MEETINGS_JAMMED = 2
"""Collisions handled in one step of a vehicle that was jammed before it. In the crown of a tree, each of a thousand
steps a second would handle all 16, at half a millisecond each, only to leave the vehicle where it is."""
TRIED_EVERY = 10
"""Steps after which a vehicle that is jammed between things that stand tries to get free; in between it stays."""
IMPACT_S = 0.01
"""s, over which accelerometers feel an impulse. IMUs of 100 Hz and its multiples see all of it."""
SAME_SURFACE = 0.7
"""The cosine between two normals below which a point presses on two planes, as in a corner."""


@dataclass(slots=True)
class Meeting:
    """A vehicle and the object it collides with."""

    vehicle: int
    point: int
    is_edge: bool
    other: int
    """The other vehicle, or -1."""
    row: int
    position: Array
    normal: Array
    """Points to the side from which the vehicle came."""
    velocity: Array
    """m/s, of the surface."""


def find_impulse(mobility: Array, normal: Array, u: Array, restitution: float, friction: float) -> Array:
    """N s by Newton's restitution and Coulomb's friction, for relative velocity u and velocity gained per impulse.

    The contact sticks if friction allows it and slides otherwise. For some shapes these two laws together add energy;
    then there is no friction. The energy they add is impulse · (velocity before + after) / 2.
    """
    closing = -float(u @ normal)
    after = restitution * closing * normal
    impulse = np.asarray(np.linalg.solve(mobility, after - u))
    push = float(impulse @ normal)
    if np.linalg.norm(impulse - push * normal) <= friction * push and impulse @ (u + after) <= 0.0:
        return impulse
    sliding = u + closing * normal
    speed = float(np.linalg.norm(sliding))
    direction = normal - friction / speed * sliding if speed > 1e-12 else normal
    for attempt in (direction, normal):
        gained = mobility @ attempt
        if gained @ normal > 0.0:
            impulse = (1.0 + restitution) * closing / (gained @ normal) * attempt
            if impulse @ (2.0 * u + mobility @ impulse) <= 0.0:
                break
    return impulse


class Collisions:
    """Keeps the vehicles of a fleet out of everything solid, step by step while something is near."""

    def __init__(self, states: Records, params: Records, solids: SolidArrays, dt: float, interval: float) -> None:
        n = len(states)
        self.states, self.params, self.solids, self.dt = states, params, solids, dt
        self._standing = tuple(solids)
        self._labels, self._near, self.poses = np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, 2, 7))
        self._finds, self._checks = np.zeros(1, FINDING), np.zeros(1, FINDING)
        self._find, self._check = self._finds[0], self._checks[0]
        for find in (self._find, self._check):
            find["dt"], find["interval"], find["interval_per_step"] = dt, interval, dt / interval
        self._noted: set[tuple[int, int]] = set()

    def free_steps(self, parts: Records, most: int) -> int:
        """The number of steps that can be flown without a contact; 0: the next step must be checked."""
        objects, groups = (self._standing, parts), (self._labels, self._near)
        return int(free_steps(self.states, self.params, objects, groups, self.dt, most))

    def advance(
        self, inputs: Records, parts: Records, steps: tuple[int, int, int], ground: tuple[Array, float, float, float]
    ) -> tuple[int, int]:
        """Flies to a step, or to an earlier one with a collision, which is handled. `steps` as for `advance_among`.

        Returns the step reached, and the first vehicle whose motion has diverged or -1."""
        fleet, groups = (self.states, inputs, self.params), (self._labels, self._near)
        step, lost, meets = advance_among(
            fleet, (self._standing, parts), groups, self.poses, self._finds, steps, ground
        )  # fmt: skip
        if meets:
            self._meet(parts)
        return int(step), int(lost)

    def _meet(self, parts: Records) -> None:
        """Handles the collisions on the last step, from the poses at its two ends."""
        self._check["interval_start"] = self._find["interval_start"]
        motion = self.states["motion"]
        velocity, rates = motion[:, 3:6].copy(), motion[:, 10:13].copy()
        for group in self._near.nonzero()[0]:
            self._resolve(parts, int(group))
            for i in (self._labels == group).nonzero()[0]:
                if self.states["n_touches"][i]:
                    settle_touches(self.states, self.params, (self._standing, parts), self._finds, i)
        gained, turned = motion[:, 3:6] - velocity, motion[:, 10:13] - rates
        for i in np.flatnonzero(gained.any(axis=1) | turned.any(axis=1)):
            self._spread_impulse(self.states[i], gained[i], turned[i])

    def _spread_impulse(self, state: np.void, gained: Array, turned: Array) -> None:
        """Adds what an impulse changed (m/s, rad/s) to what earlier ones have left to be felt."""
        steps = max(1, round(IMPACT_S / self.dt))
        left = max(0, int(state["impact_end"] - state["step"])) / steps
        for name, change in (("impact_acceleration", gained), ("impact_angular_acceleration", turned)):
            state[name] = left * state[name] + change / (steps * self.dt)
        state["impact_end"] = state["step"] + steps

    def _search(self, parts: Records, group: int, finds: Records) -> float:
        objects = (self._standing, parts)
        return float(search(self.states, self.params, objects, self._labels, self.poses, group, finds))

    def _resolve(self, parts: Records, group: int) -> None:
        """Goes back to each collision, then flies the rest of the step."""
        find, poses = self._find, self.poses
        find["start"], find["end"] = 0.0, 1.0
        share = self._search(parts, group, self._finds)
        if share > 1.0:
            return
        self._noted.clear()
        members = np.flatnonzero(self._labels == group)
        jammed, motion = self._was_jammed(members), self.states["motion"]
        if jammed and find["candidate"] < 0 and self.states["step"][members[0]] % TRIED_EVERY:
            motion[members, :3], motion[members, 6:10] = poses[members, 0, :3], poses[members, 0, 3:]
            motion[members, 3:6] = motion[members, 10:13] = 0.0
            return
        for _ in range(MAX_MEETINGS_JAMMED if jammed else MAX_MEETINGS):
            met = self._describe(parts)
            if not self._press(met):
                self._take_back(parts, group, members, met, share)
                self._collide(met)
                self._move_on(members)
            share = self._search(parts, group, self._finds)
            if share > 1.0:
                break
        else:
            self._jam(parts, group, members)
        motion[members, :3], motion[members, 6:10] = poses[members, 1, :3], poses[members, 1, 3:]

    def _was_jammed(self, members: NDArray[np.intp]) -> bool:
        """Whether `_jam` ended the step before: it alone leaves vehicles that have hit something exactly at rest."""
        before = self.states["motion_before"][members]
        at_rest = not (before[:, 3:6].any() or before[:, 10:13].any())
        return at_rest and bool(self.states["n_hits"][members].all())

    def _describe(self, parts: Records) -> Meeting:
        """The collision that the search found."""
        find = self._find
        i, k, candidate = int(find["vehicle"]), int(find["feeler"]), int(find["candidate"])
        p, along, (start, end) = self.params[i], float(find["along"]), find["ends"]
        is_edge = k >= p["n_points"]
        point = int(p["edge"][k - p["n_points"], 0]) if is_edge else k
        position = start + along * (end - start)
        corners = self.solids.triangles[find["triangle"]].astype(float).reshape(3, 3)
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        if normal @ (find["local"][0] - corners[0]) < 0.0:
            normal = -normal
        other, row, velocity = -1, int(self.solids.rows[find["triangle"]]) if candidate < 0 else -1, np.zeros(3)
        if candidate >= len(parts):
            other = candidate - len(parts)
            row = int(self.solids.vehicle_parts[other])
            normal = rotate(self.poses[other, 1, 3:], normal)
            velocity = _point_velocity(self.states[other], self.poses[other, 1], position)
        elif candidate >= 0:
            part = parts[candidate]
            row, local = int(part["row"]), find["local"][0] + along * (find["local"][1] - find["local"][0])
            velocity = (part["after"] - part["before"]) @ np.append(local, 1.0) / float(find["interval"])
            normal = part["inverse_after"][:, :3].T @ normal
        if is_edge:
            # the edge of the hull was stopped by a thin object: the normal is square to it and against the motion
            edge = end - start
            relative = _point_velocity(self.states[i], self.poses[i, 1], position) - velocity
            across = relative - (relative @ edge) / (edge @ edge) * edge
            normal = -across if np.linalg.norm(across) > 1e-6 else normal
        return Meeting(i, point, is_edge, other, row, position, normal / np.linalg.norm(normal), velocity)

    def _relative(self, met: Meeting, end: int) -> Array:
        """m/s of the vehicle relative to the surface, with its pose at one end of the path."""
        i, j = met.vehicle, met.other
        surface = met.velocity if j < 0 else _point_velocity(self.states[j], self.poses[j, end], met.position)
        return _point_velocity(self.states[i], self.poses[i, end], met.position) - surface

    def _press(self, met: Meeting) -> bool:
        """Makes a point that meets a surface slowly press on it from now on. False for other contacts."""
        s, find, n = self.states[met.vehicle], self._find, met.normal
        relative = self._relative(met, 1)
        lands = n[2] > LEVEL and self.params[met.vehicle]["point_part"][met.point] == PART_LEG
        slow = SLOW_LANDING if lands else SLOW
        if -relative @ n >= slow or met.is_edge or met.other >= 0:
            return False
        count = int(s["n_touches"])
        same = (s["touch_point"][:count] == met.point) & (s["touch_normal"][:count] @ n > SAME_SURFACE)
        k = int(np.argmax(same)) if same.any() else count
        if k == MAX_TOUCHES:
            return False
        when = float(find["start"] + find["fraction"] * (find["end"] - find["start"]))
        self._note(met, met.vehicle, when, relative)
        s["n_touches"] = max(count, k + 1)
        s["touch_point"][k], s["touch_row"][k] = met.point, met.row
        s["touch_normal"][k], s["touch_velocity"][k], s["touch_anchor"][k] = n, met.velocity, met.position
        # at the start of the step
        s["touch_level"][k] = n @ (met.position - when * self.dt * met.velocity)
        return True

    def _take_back(self, parts: Records, group: int, members: NDArray[np.intp], met: Meeting, share: float) -> None:
        """Lets the paths start where they are free: just before the contact or, where rotation bends them, earlier."""
        find, check, poses = self._find, self._check, self.poses
        start, length = float(find["start"]), float(find["end"] - find["start"])
        if not met.is_edge:
            closing = -float(self._relative(met, 1) @ met.normal)
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

    def _collide(self, met: Meeting) -> None:
        """Applies an impulse at the poses from which the paths now start."""
        i, j = met.vehicle, met.other
        relative = self._relative(met, 0)
        closing = -float(relative @ met.normal)
        if closing <= 0.0:
            return
        bodies = [k for k in (i, j) if k >= 0]
        arms = [met.position - self.poses[k, 0, :3] for k in bodies]
        turns = [matrix_from_quat(self.poses[k, 0, 3:]) for k in bodies]
        mobility = np.zeros((3, 3))
        for k, arm, turn in zip(bodies, arms, turns, strict=True):
            p, lever = self.params[k], turn.T @ _skew(arm)
            mobility += np.eye(3) * p["inverse_mass"] + lever.T @ (p["inverse_inertia"][:, None] * lever)
        restitution = float(np.mean([self.params[k]["restitution"] for k in bodies])) if closing > SLOW else 0.0
        friction = float(np.mean([self.params[k]["friction"] for k in bodies]))
        impulse = find_impulse(mobility, met.normal, relative, restitution, friction)
        for k, arm, turn, sign in zip(bodies, arms, turns, (1.0, -1.0), strict=False):
            motion, p = self.states[k]["motion"], self.params[k]
            motion[3:6] += sign * p["inverse_mass"] * impulse
            motion[10:13] += sign * p["inverse_inertia"] * (turn.T @ (_skew(arm) @ impulse))
            self._note(met, k, float(self._find["start"]), relative)

    def _note(self, met: Meeting, k: int, when: float, relative: Array) -> None:
        """Records the contact for vehicle k, one of the two; once per step and object, unless it is a crash."""
        s, p, closing = self.states[k], self.params[k], -float(relative @ met.normal)
        struck = k != met.vehicle
        row = int(self.solids.vehicle_parts[met.vehicle]) if struck else met.row
        if (k, row) in self._noted and not (closing > p["crash_speed"] and not s["crashed"]):
            return
        self._noted.add((k, row))
        t_ns = round((int(s["step"]) - 1 + when) * self.dt * NS_PER_S)
        part = PART_BODY if struck else int(p["point_part"][met.point])
        normal = -met.normal if struck else met.normal
        note_hit(
            s, p, t_ns, (row, part), tuple(met.position), tuple(normal), (float(np.linalg.norm(relative)), closing)
        )

    def _move_on(self, members: NDArray[np.intp]) -> None:
        """Flies the rest of the step with the present velocities."""
        rest = (1.0 - float(self._find["start"])) * self.dt
        begin, motion = self.poses[members, 0], self.states["motion"][members]
        end = begin.copy()
        end[:, :3] += rest * motion[:, 3:6]
        for row, q, w in zip(end, begin[:, 3:], motion[:, 10:13], strict=True):
            row[3:] += 0.5 * rest * quat_multiply(q, np.append(0.0, w))
        self.poses[members, 1] = _unit(end)

    def _jam(self, parts: Records, group: int, members: NDArray[np.intp]) -> None:
        """Handles a jammed vehicle: it moves with the last surface it met if that way is free, else it stays."""
        find, check, met = self._find, self._check, self._describe(parts)
        mass, motion = self.params["mass"][members], self.states["motion"]
        velocity = met.velocity if len(members) == 1 else mass @ motion[members, 3:6] / mass.sum()
        motion[members, 3:6], motion[members, 10:13] = velocity, 0.0
        self._move_on(members)
        check["start"], check["end"] = find["start"], find["end"]
        if self._search(parts, group, self._checks) <= 1.0:
            self.poses[members, 1] = self.poses[members, 0]


def _unit(poses: Array) -> Array:
    poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1, keepdims=True)
    return poses


def _point_velocity(state: np.void, pose: Array, position: Array) -> Array:
    """m/s, world axes, of a point fixed to a vehicle."""
    motion = state["motion"]
    spin = rotate(pose[3:], motion[10:13])
    return np.asarray(motion[3:6] + _skew(spin) @ (position - pose[:3]))


def _skew(v: Array) -> Array:
    """The matrix of the cross product v ×."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
