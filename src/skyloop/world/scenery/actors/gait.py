"""The walk of people: feet that stand still on the ground, a pelvis above them, and legs that join the two.

The stride grows with the root of the speed, because the walk ratio (step length over cadence) of a person is constant
(Sekiya and Nagasaki 1998). The support time follows Boulic, Thalmann and Thalmann (1990). A shoe rolls over its heel
and toe without slipping, and swings between supports. The pelvis is as high as knees that stay a little bent allow.
Everything is a function of the phase, which is the arc length walked divided by the stride.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import float64, from_dtype, void
from numpy.typing import NDArray

from skyloop.core.jit import inlined, kernel
from skyloop.world.ground import Ground, HeightField, ground_at, height_field_type
from skyloop.world.scenery.actors.body import sole_outline
from skyloop.world.scenery.actors.body_tables import Build
from skyloop.world.scenery.actors.paths import MoverPath, PathArrays, path_at, path_type
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

SLOWEST, FASTEST = 0.5, 2.0
"""m/s."""
_LIMBS = ("upper arm", "forearm", "hand", "thigh", "shank", "foot")
PARTS = ("pelvis", "chest", "head", *(f"{side} {part}" for side in ("left", "right") for part in _LIMBS))
"""Rows of a person's poses."""
WALK_RATIO = 0.0064 / 0.93
"""m of step per step/min of cadence, and per m of hip height."""
UNDER_HIP = 0.217
"""The share of the stride, after the heel strikes, at which the ankle is below the hip."""
SAMPLES = 96
_STRAIGHTEST = np.radians(6.0)
"""The least bend of a walking knee."""

WALK = np.dtype(
    [
        (name, np.float64)
        for name in (
            "speed", "start", "stride", "duty", "scale", "step_half", "toe_out", "hip_half", "thigh", "shank",
            "hip_height", "bob", "bob_phase", "surge", "sway", "pelvis_turn", "pelvis_list", "chest_turn", "lean",
            "lumbar_x", "lumbar_z", "shoulder_x", "shoulder_half", "shoulder_z", "neck_x", "neck_z",
            "upper_arm", "forearm", "arm_swing", "arm_middle", "arm_out", "elbow", "elbow_swing",
        )
    ]
)  # fmt: skip
"""One walker: m, rad, m/s; `duty` and `bob_phase` are shares of the stride."""


def stride_of(speed: float, hip_height: float) -> tuple[float, float]:
    """(m, share): the length of a stride (two steps), and the share of it in which a foot stands."""
    stride = 2.0 * np.sqrt(WALK_RATIO * hip_height * 60.0 * speed)
    period = stride / speed
    return float(stride), float(0.752 - 0.143 / period)


def _foot_pitch(u: Array, strike: float, off: float) -> Array:
    """Toes up, rad, over the share u of the support: heel strike, flat, heel rise, toe off."""
    landing = strike * np.clip(1.0 - u / 0.17, 0.0, 1.0) ** 1.5
    rise = off * np.clip((u - 0.52) / 0.48, 0.0, 1.0) ** 2.0
    return landing + rise


class _Rolling:
    """Height and advance (m) of an ankle whose pitched shoe rolls over `outline` without slip."""

    def __init__(self, outline: Array) -> None:
        self._pitch = pitch = np.linspace(-1.6, 0.8, 481)
        c, s = np.cos(pitch)[:, None], np.sin(pitch)[:, None]
        self._height = height = -(outline[:, 0] * s + outline[:, 1] * c).min(axis=1)
        # rolling rotates the ankle about the point of contact, which is `height` below it
        walked = np.concatenate([[0.0], np.cumsum(0.5 * (height[1:] + height[:-1]) * np.diff(pitch))])
        self._advance = np.interp(0.0, pitch, walked) - walked

    def height(self, pitch: float | Array) -> Array:
        return np.asarray(np.interp(pitch, self._pitch, self._height))

    def advance(self, pitch: float | Array) -> Array:
        return np.asarray(np.interp(pitch, self._pitch, self._advance))


def foot_cycle(speed: float, stride: float, duty: float, outline: Array) -> Array:
    """(SAMPLES + 1, 3) over one stride from heel strike: the ankle's advance and height (m), the foot's pitch (rad)."""
    rolling = _Rolling(outline)
    strike = np.radians(np.interp(speed, [0.5, 1.4, 2.0], [12.0, 20.0, 25.0]))
    off = -np.radians(np.interp(speed, [0.5, 1.4, 2.0], [52.0, 65.0, 70.0]))
    phase = np.linspace(0.0, 1.0, SAMPLES + 1)
    u = phase / duty
    pitch = _foot_pitch(u, strike, off)
    du = 1e-4
    slope_off = (off - _foot_pitch(np.array(1.0 - du), strike, off)) / du * (1.0 - duty) / duty
    slope_strike = (_foot_pitch(np.array(du), strike, off) - strike) / du * (1.0 - duty) / duty
    w = np.clip((phase - duty) / (1.0 - duty), 0.0, 1.0)
    knots = np.array([0.0, 0.16, 0.50, 0.80, 1.0])
    swing = np.array([off, 1.08 * off, 0.20 * off, 0.95 * strike, strike])
    slopes = np.gradient(swing, knots)
    slopes[[0, -1]] = 0.8 * slope_off, 0.25 * slope_strike
    pitch = np.where(u < 1.0, pitch, _hermite(knots, swing, slopes, w))
    clearance = np.interp(speed, [0.5, 2.0], [0.018, 0.030]) * np.sin(np.pi * w) ** 1.3
    height = rolling.height(pitch) + clearance
    x0, x1 = float(rolling.advance(off)), stride + float(rolling.advance(strike))
    pace = 0.9 * float(rolling.height(off)) * abs(float(slope_off))
    reach = _hermite(np.array([0.0, 1.0]), np.array([x0, x1]), np.array([pace, 0.10 * (x1 - x0)]), w)
    advance = np.where(u < 1.0, rolling.advance(pitch), reach)
    return np.stack([advance, height, pitch], axis=1)


def _hermite(knots: Array, values: Array, slopes: Array, x: Array) -> Array:
    """Cubic pieces through (knots, values) with the given slopes."""
    i = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(knots) - 2)
    width = knots[i + 1] - knots[i]
    f = (x - knots[i]) / width
    rise = f * f * (3.0 - 2.0 * f)
    bends = f * (1.0 - f) * ((1.0 - f) * slopes[i] - f * slopes[i + 1]) * width
    return values[i] + rise * (values[i + 1] - values[i]) + bends


def _spline(cycle: Array, stride: float) -> Array:
    """(SAMPLES, 3, 4) cubic coefficients, highest power first; constant where the samples are, so feet stand still."""
    turn = np.array([stride, 0.0, 0.0])
    around = np.concatenate([cycle[-2:-1] - turn, cycle, cycle[1:2] + turn])
    step = np.diff(around, axis=0)
    # harmonic means of the steps to both sides never overshoot (Fritsch and Carlson 1980)
    product = step[:-1] * step[1:]
    slope = np.where(product > 0.0, 2.0 * product / np.where(product > 0.0, step[:-1] + step[1:], 1.0), 0.0)
    y, rise, before, after = cycle[:-1], step[1:-1], slope[:-1], slope[1:]
    return np.ascontiguousarray(
        np.stack([before + after - 2.0 * rise, 3.0 * rise - 2.0 * before - after, before, y], -1)
    )


def _ride(cycle: Array, walk: NDArray[np.void]) -> tuple[float, float, float]:
    """(m, m, share): the mean height of the hips, their bobbing and its phase, as high as the legs allow."""
    phase = np.arange(SAMPLES) / SAMPLES
    longest = np.sqrt(
        walk["thigh"] ** 2 + walk["shank"] ** 2 + 2.0 * walk["thigh"] * walk["shank"] * np.cos(_STRAIGHTEST)
    )
    hip_x = walk["stride"] * (phase - UNDER_HIP) + walk["hip_half"] * np.sin(walk["pelvis_turn"]) * np.cos(
        2 * np.pi * phase
    )
    hip_x += walk["surge"] * np.sin(4.0 * np.pi * (phase - 0.06))
    hip_y = walk["hip_half"] - walk["step_half"] + walk["sway"] * np.sin(2.0 * np.pi * phase)
    ahead = cycle[:-1, 0] - hip_x
    room = longest**2 - ahead**2 - hip_y**2
    raised = walk["hip_half"] * np.sin(walk["pelvis_list"]) * np.sin(2.0 * np.pi * phase)
    highest = cycle[:-1, 1] + np.sqrt(np.maximum(room, 0.01)) - raised
    highest = np.minimum(highest, np.roll(highest, SAMPLES // 2))
    best = (-np.inf, 0.0, 0.0)
    for bob in np.linspace(0.0, 0.0135 * walk["stride"], 7):
        for lag in np.linspace(0.22, 0.40, 10):
            mean = float((highest - bob * np.cos(4.0 * np.pi * (phase - lag))).min())
            best = max(best, (mean, float(bob), float(lag)))
    return best


@dataclass(frozen=True, slots=True, eq=False)
class Gait:
    """One person's walk at one speed."""

    walk: NDArray[np.void]
    """(1,) WALK."""
    foot: NDArray[np.float64]
    """(SAMPLES, 3, 4) in the form of `_spline`."""

    @staticmethod
    def of(build: Build, scale: float, speed: float, start: float = 0.0) -> Gait:
        """start: m along the path at t = 0."""
        if not SLOWEST <= speed <= FASTEST:
            raise ScenarioError(f"a person cannot walk at {speed} m/s; give {SLOWEST} to {FASTEST}")
        walk = np.zeros(1, WALK)
        one = walk[0]
        joints = build.joints()
        hip, lumbar, shoulder, neck = (scale * joints[name] for name in ("hip", "lumbar", "shoulder", "neck"))
        stride, duty = stride_of(speed, scale * build.height("hip"))
        one["speed"], one["start"], one["stride"], one["duty"], one["scale"] = speed, start, stride, duty, scale
        one["step_half"], one["toe_out"], one["hip_half"] = 0.55 * hip[1], np.radians(6.0), hip[1]
        for name in ("thigh", "shank", "upper arm", "forearm"):
            one[name.replace(" ", "_")] = scale * build.length(name)
        one["surge"], one["sway"] = 0.008 * stride, 0.020 + 0.006 / speed
        one["pelvis_turn"], one["pelvis_list"] = np.radians(2.5 + 2.2 * speed), np.radians(1.5 + 1.3 * speed)
        one["chest_turn"], one["lean"] = np.radians(2.0 + 2.0 * speed), np.radians(1.0 + 1.6 * speed)
        one["lumbar_x"], one["lumbar_z"] = lumbar[0], lumbar[2] - hip[2]
        one["shoulder_x"], one["shoulder_half"], one["shoulder_z"] = shoulder - [lumbar[0], 0.0, lumbar[2]]
        one["neck_x"], one["neck_z"] = neck[0] - lumbar[0], neck[2] - lumbar[2]
        one["arm_swing"], one["arm_middle"] = np.radians(4.0 + 9.5 * speed), np.radians(-3.0)
        one["arm_out"] = np.radians(6.5 + 0.35 * (build.bmi - 22.0))
        one["elbow"], one["elbow_swing"] = np.radians(13.0 + 7.0 * speed), np.radians(3.0 + 5.0 * speed)
        cycle = foot_cycle(speed, stride, duty, scale * sole_outline(build))
        one["hip_height"], one["bob"], one["bob_phase"] = _ride(cycle, one)
        return Gait(walk, _spline(cycle, stride))

    def poses(self, t: float, path: MoverPath, ground: Ground) -> Array:
        """(15, 3, 4) world_from_part of PARTS, scaled by the person's size."""
        out = np.empty((len(PARTS), 3, 4))
        walk_poses(t, self.walk, self.foot, path.kernel_arguments, ground.kernel_arguments, out)
        return out


@inlined
def _turn(m, yaw, pitch, roll):
    """m[:, :3] = Rz(yaw) Ry(pitch) Rx(roll)."""
    cy, sy, cp, sp, cr, sr = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch), np.cos(roll), np.sin(roll)
    m[0, 0], m[0, 1], m[0, 2] = cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr
    m[1, 0], m[1, 1], m[1, 2] = sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr
    m[2, 0], m[2, 1], m[2, 2] = -sp, cp * sr, cp * cr


@inlined
def _bend(parent, child, pitch):
    """child[:, :3] = parent[:, :3] Ry(pitch)."""
    c, s = np.cos(pitch), np.sin(pitch)
    for i in range(3):
        x, z = parent[i, 0], parent[i, 2]
        child[i, 0], child[i, 1], child[i, 2] = c * x - s * z, parent[i, 1], s * x + c * z


@inlined
def _hang(parent, child, x, y, z):
    """Puts the child's origin at (x, y, z) m in the parent."""
    for i in range(3):
        child[i, 3] = parent[i, 3] + parent[i, 0] * x + parent[i, 1] * y + parent[i, 2] * z


@inlined
def _foot_pose(w, foot, way, phase, lag, side, out):
    """Writes the pose of one foot to `out`; returns the height of the ground under it, and its heading.

    way: the path, and the ground below it.
    """
    path, ground = way
    count = np.floor(phase - lag)
    part = phase - lag - count
    x = part * foot.shape[0]
    piece = min(int(x), foot.shape[0] - 1)
    f = x - piece
    c = foot[piece]
    advance = ((c[0, 0] * f + c[0, 1]) * f + c[0, 2]) * f + c[0, 3]
    height = ((c[1, 0] * f + c[1, 1]) * f + c[1, 2]) * f + c[1, 3]
    pitch = ((c[2, 0] * f + c[2, 1]) * f + c[2, 2]) * f + c[2, 3]
    swing = max(0.0, (part - w.duty) / (1.0 - w.duty))
    # from one footprint to the next, with zero speed and acceleration at both
    share = swing * swing * swing * (10.0 + swing * (6.0 * swing - 15.0))
    px = py = pz = yaw = slope = level = 0.0
    for k in range(2):
        weight = share if k else 1.0 - share
        s = w.stride * (count + lag + k + UNDER_HIP)
        sx, sy, heading = path_at(path, s)
        cx, cy = np.cos(heading), np.sin(heading)
        sx -= side * w.step_half * cy
        sy += side * w.step_half * cx
        h, nx, ny, nz = ground_at(ground.heights, ground.origin_x, ground.origin_y, ground.cell, sx, sy)
        rise = -(nx * cx + ny * cy) / nz
        ahead = advance - k * w.stride
        px += weight * (sx + ahead * cx)
        py += weight * (sy + ahead * cy)
        pz += weight * (h + rise * ahead + height)
        yaw += weight * heading
        slope += weight * np.arctan(rise)
        level += weight * h
    _turn(out, yaw + side * w.toe_out, -(pitch + slope), 0.0)
    out[0, 3], out[1, 3], out[2, 3] = px, py, pz
    return level, yaw


@inlined
def _leg(w, pelvis, thigh, shank, foot, side, heading):
    """Thigh and shank from the hip to the ankle, with the knee bent forwards."""
    _hang(pelvis, thigh, 0.0, side * w.hip_half, 0.0)
    ux, uy, uz = foot[0, 3] - thigh[0, 3], foot[1, 3] - thigh[1, 3], foot[2, 3] - thigh[2, 3]
    reach = np.sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = ux / reach, uy / reach, uz / reach
    longest = (w.thigh + w.shank) * 0.9995
    if reach > longest:  # where the ground is too steep for the leg, the foot leaves its footprint
        for i, u in enumerate((ux, uy, uz)):
            foot[i, 3] -= (reach - longest) * u
        reach = longest
    fx, fy = np.cos(heading), np.sin(heading)
    along = fx * ux + fy * uy
    nx, ny, nz = fx - along * ux, fy - along * uy, -along * uz
    size = 1.0 / np.sqrt(nx * nx + ny * ny + nz * nz)
    nx, ny, nz = nx * size, ny * size, nz * size
    a = (w.thigh * w.thigh - w.shank * w.shank + reach * reach) / (2.0 * reach)
    b = np.sqrt(max(0.0, w.thigh * w.thigh - a * a))
    # y = n × u is the knee's axis, to the left
    yx, yy, yz = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux
    for part, along_u, along_n, size in ((thigh, a, b, w.thigh), (shank, reach - a, -b, w.shank)):
        zx = -(along_u * ux + along_n * nx) / size
        zy = -(along_u * uy + along_n * ny) / size
        zz = -(along_u * uz + along_n * nz) / size
        part[0, 0], part[1, 0], part[2, 0] = yy * zz - yz * zy, yz * zx - yx * zz, yx * zy - yy * zx
        part[0, 1], part[1, 1], part[2, 1] = yx, yy, yz
        part[0, 2], part[1, 2], part[2, 2] = zx, zy, zz
    _hang(thigh, shank, 0.0, 0.0, -w.thigh)


@inlined
def _arm(w, chest, arm, side, heading, swing):
    """arm: its three parts from the shoulder on; swing: -1 farthest back, 1 farthest ahead."""
    upper, fore, hand = arm
    _hang(chest, upper, w.shoulder_x, side * w.shoulder_half, w.shoulder_z)
    _turn(upper, heading, -(w.arm_middle + w.arm_swing * swing), side * w.arm_out)
    _bend(upper, fore, -(w.elbow + w.elbow_swing * swing))
    _hang(upper, fore, 0.0, 0.0, -w.upper_arm)
    _bend(fore, hand, -0.06)
    _hang(fore, hand, 0.0, 0.0, -w.forearm)


@kernel(
    void(
        float64, from_dtype(WALK)[::1], float64[:, :, ::1], path_type, height_field_type, float64[:, :, ::1],
    )
)  # fmt: skip
def walk_poses(t, walk, foot, path, ground, out):
    """Writes the poses of all parts of one walker at t seconds to out (15, 3, 4)."""
    w, way = walk[0], (PathArrays(*path), HeightField(*ground))
    s = w.start + w.speed * t
    phase = s / w.stride
    x, y, heading = path_at(way[0], s)
    turn = 2.0 * np.pi * (phase - np.floor(phase))
    c, sn = np.cos(turn), np.sin(turn)
    pelvis, chest, head = out[0], out[1], out[2]
    level = gap = 0.0
    headings = np.empty(2)
    for k in range(2):
        side = 1.0 - 2.0 * k
        under, headings[k] = _foot_pose(w, foot, way, phase, 0.5 * k, side, out[8 + 6 * k])
        level += 0.5 * under
        gap += side * under
    surge = w.surge * np.sin(2.0 * turn - 0.24 * np.pi)
    sway = w.sway * sn
    bob = w.bob * np.cos(2.0 * turn - 4.0 * np.pi * w.bob_phase)
    pelvis[0, 3] = x + surge * np.cos(heading) - sway * np.sin(heading)
    pelvis[1, 3] = y + surge * np.sin(heading) + sway * np.cos(heading)
    # on a slope the leg must still reach the lower foot
    pelvis[2, 3] = level + w.hip_height + bob - 0.5 * (np.sqrt(gap * gap + 1e-4) - 1e-2)
    _turn(pelvis, heading - w.pelvis_turn * c, 0.03, w.pelvis_list * sn)
    _turn(chest, heading + w.chest_turn * c, w.lean, -0.3 * w.pelvis_list * sn)
    _hang(pelvis, chest, w.lumbar_x, 0.0, w.lumbar_z)
    _turn(head, heading + 0.2 * w.chest_turn * c, 0.3 * w.lean, 0.0)
    _hang(chest, head, w.neck_x, 0.0, w.neck_z)
    for k in range(2):
        side = 1.0 - 2.0 * k
        row = 3 + 6 * k
        # arms swing against the legs, a little later
        swing = -side * np.cos(turn - 0.25)
        arm = (out[row], out[row + 1], out[row + 2])
        _arm(w, chest, arm, side, heading + 0.5 * w.chest_turn * c, swing)
        facing = 0.5 * (heading + headings[k]) + 0.5 * side * w.toe_out
        _leg(w, pelvis, out[row + 3], out[row + 4], out[row + 5], side, facing)
    for row in range(out.shape[0]):
        for i in range(3):
            for j in range(3):
                out[row, i, j] *= w.scale
