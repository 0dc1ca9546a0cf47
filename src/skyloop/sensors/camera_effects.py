"""Effects of a real camera: exposure times, rolling shutter, gimbal, vignetting, noise, automatic exposure,
and the motion of the surface points, in the world and in the image.

The renderer shows light E (times the exposure) as √(1 - exp(-E)): 1 - exp(-E) is the share of the sensor's full well,
the root its display curve. Averages over time are taken of E, and noise is added to the share.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import float32, float64, int64, types, uint8, uint32, uint64, void
from numpy.typing import NDArray

from skyloop.core.frames import (
    euler_from_quat,
    matrix_from_quat,
    quat_conjugate,
    quat_from_euler,
    quat_from_rotvec,
    quat_from_yaw,
    quat_multiply,
    rotate,
    yaw_from_quat,
)
from skyloop.core.jit import kernel, readonly
from skyloop.sensors.camera_lens import PINHOLE, Lens, project
from skyloop.sensors.noise import draw_normals
from skyloop.world.views import View, movers_type
from skyloop_client.messages import Array, Kinematics
from skyloop_client.streams import NS_PER_S

GAIN_LIMITS = (1.0 / 64.0, 64.0)
"""The limits of automatic exposure."""


def _light_table() -> NDArray[np.float32]:
    """(256,) light E of a pixel value. The light of clipped pixels is lost; they count as just clipped."""
    share = np.square(np.minimum(np.arange(256), 254.9) / 255.0)
    return np.asarray(-np.log1p(-share), np.float32)


_LIGHT = _light_table()
_IMAGE = readonly(uint8, 3)
_TABLE = readonly(float32, 1)
_FALLOFF = readonly(float32, 2)


def sub_instants(exposure_time: float, samples: int) -> list[float]:
    """s from the middle of the exposure, evenly spread over it."""
    n = samples if exposure_time > 0.0 else 1
    return [((k + 0.5) / n - 0.5) * exposure_time for k in range(n)]


def shutter_bands(height: int, readout_time: float, bands: int) -> list[tuple[int, int, float]]:
    """First row, last row (exclusive) and s after the stamp for each group of rows that is read together, top first."""
    n = min(bands, height) if readout_time > 0.0 else 1
    edges = [round(k * height / n) for k in range(n + 1)]
    return [(a, b, (0.5 * (a + b) / height - 0.5) * readout_time) for a, b in pairwise(edges)]


def extrapolated(kinematics: Kinematics, dt: float) -> Kinematics:
    """The motion `dt` s later, at constant acceleration and constant rates about the sensor's axes."""
    if dt == 0.0:
        return kinematics
    k = kinematics
    return replace(
        k,
        t_ns=k.t_ns + round(dt * NS_PER_S),
        position=k.position + dt * k.velocity_world + 0.5 * dt * dt * k.acceleration_world,
        velocity_world=k.velocity_world + dt * k.acceleration_world,
        quat_wxyz=quat_multiply(k.quat_wxyz, quat_from_rotvec(dt * k.angular_velocity)),
    )


class GimbalAim(NamedTuple):
    """The direction to which a gimbal turns its camera; the camera is always level from side to side."""

    pitch: float
    """rad below the horizon."""
    yaw: float
    """rad, counter-clockwise from the vehicle's heading, or from east."""
    follows: bool
    """Whether it turns with the vehicle's heading."""


class Gimbal:
    """Turns the mount against the body's motion, without error or delay; the position moves with the body."""

    def __init__(self, mode: str, mount_quat: Array, attitude: Array) -> None:
        """`attitude`: (4,) world_from_sensor that mode "fixed" keeps."""
        self._mode = mode
        self._mount = mount_quat
        self._attitude = attitude

    @property
    def usual_aim(self) -> GimbalAim | None:
        """The direction before the first command; None if there is no gimbal."""
        if self._mode == "none":
            return None
        follows = self._mode == "roll-pitch"
        _, pitch, yaw = euler_from_quat(self._mount if follows else self._attitude)
        return GimbalAim(float(pitch), float(yaw), follows)

    def steadied(self, k: Kinematics, aim: GimbalAim | None = None) -> Kinematics:
        """The motion of the camera itself; `aim` is the commanded direction."""
        if self._mode == "none":
            return k
        if aim is not None and not aim.follows:
            return replace(k, quat_wxyz=quat_from_euler(0.0, aim.pitch, aim.yaw), angular_velocity=np.zeros(3))
        if aim is None and self._mode == "fixed":
            return replace(k, quat_wxyz=self._attitude, angular_velocity=np.zeros(3))
        body = quat_multiply(k.quat_wxyz, quat_conjugate(self._mount))
        turned = self._mount if aim is None else quat_from_euler(0.0, aim.pitch, aim.yaw)
        level = quat_multiply(quat_from_yaw(yaw_from_quat(body)), turned)
        forward = rotate(body, [1.0, 0.0, 0.0])
        turning = np.cross(rotate(k.quat_wxyz, k.angular_velocity), forward)
        flat = forward[0] ** 2 + forward[1] ** 2
        yaw_rate = (forward[0] * turning[1] - forward[1] * turning[0]) / max(flat, 1e-12)
        about = rotate(quat_conjugate(level), [0.0, 0.0, yaw_rate])
        return replace(k, quat_wxyz=level, angular_velocity=about)


@kernel(void(_IMAGE, _TABLE, float32, float32[:, :, ::1]))
def _add_light(colour, light, weight, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(out.shape[2]):
                out[i, j, k] += weight * light[colour[i, j, k]]


@kernel(void(readonly(float32, 3), _FALLOFF, float64, float64, uint64, uint64, uint8[:, :, ::1]))
def _develop(light, falloff, full_well, read_noise, key, index, out):
    """From light to pixel values; shot noise is Gaussian with the variance of the number of electrons."""
    height, width, channels = out.shape[0], out.shape[1], out.shape[2]
    n = channels * height * width
    normals = np.empty(((n + 3) // 4 * 4) if full_well > 0.0 else 0)
    if full_well > 0.0:
        draw_normals(key, index, normals)
    for i in range(height):
        for j in range(width):
            for k in range(channels):
                share = 1.0 - math.exp(-float64(light[i, j, k] * falloff[i, j]))
                if full_well > 0.0:
                    electrons = share * full_well
                    sd = math.sqrt(electrons + read_noise * read_noise)
                    share = min(max(share + sd / full_well * normals[channels * (i * width + j) + k], 0.0), 1.0)
                out[i, j, k] = uint8(255.0 * math.sqrt(share) + 0.5)


def add_light(colour: NDArray[np.uint8], weight: float, out: NDArray[np.float32]) -> None:
    """Adds `weight` times the light of `colour` to `out`, of the same height and width."""
    _add_light(colour, _LIGHT, weight, out)


def develop(
    light: NDArray[np.float32],
    falloff: NDArray[np.float32],
    full_well: float,
    read_noise: float,
    key: np.uint64,
    index: int,
) -> NDArray[np.uint8]:
    """The image of (height, width, channels) light; falloff (height, width) is the share that the lens lets through."""
    out = np.empty(light.shape, np.uint8)
    _develop(light, falloff, full_well, read_noise, key, np.uint64(index), out)
    return out


def vignette(cosine: Array, strength: float) -> NDArray[np.float32]:
    """The share of the light that arrives at an angle off the axis: cos⁴ at strength 1, all of it at 0."""
    natural = np.clip(np.nan_to_num(cosine), 0.0, 1.0) ** 4
    return np.ascontiguousarray(1.0 - strength * (1.0 - natural), np.float32)


def next_gain(gain: float, colour: NDArray[np.uint8], target: float, tau: float, period_s: float) -> float:
    """The exposure after an image of this brightness. Pixel values go as the root of light, hence the square."""
    mean = max(float(colour.mean()) / 255.0, 1e-3)
    step = 2.0 * -math.expm1(-period_s / tau) * math.log(target / mean)
    return min(max(gain * math.exp(step), GAIN_LIMITS[0]), GAIN_LIMITS[1])


@kernel(
    void(
        readonly(uint32, 3), readonly(float32, 2), readonly(float64, 3), movers_type,
        types.Tuple((readonly(float64, 2), readonly(float64, 1))), float32[:, :, ::1],
    )
)  # fmt: skip
def _surface_velocities(surface, distance, directions, moving, pose, out):
    """v + ω × (p - origin) of the part that each pixel shows; pose: rotation and position."""
    n_standing, poses, velocities, turns = moving
    rotation, position = pose
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            k = int64(surface[i, j, 1]) - 1 - n_standing
            if k < 0:
                out[i, j, 0] = out[i, j, 1] = out[i, j, 2] = 0.0
                continue
            d = float64(distance[i, j])
            x, y, z = d * directions[i, j, 0], d * directions[i, j, 1], d * directions[i, j, 2]
            rx = rotation[0, 0] * x + rotation[0, 1] * y + rotation[0, 2] * z + position[0] - poses[k, 0, 3]
            ry = rotation[1, 0] * x + rotation[1, 1] * y + rotation[1, 2] * z + position[1] - poses[k, 1, 3]
            rz = rotation[2, 0] * x + rotation[2, 1] * y + rotation[2, 2] * z + position[2] - poses[k, 2, 3]
            out[i, j, 0] = velocities[k, 0] + turns[k, 1] * rz - turns[k, 2] * ry
            out[i, j, 1] = velocities[k, 1] + turns[k, 2] * rx - turns[k, 0] * rz
            out[i, j, 2] = velocities[k, 2] + turns[k, 0] * ry - turns[k, 1] * rx


def surface_velocities(lens: Lens, seen: View, distance: NDArray[np.float32]) -> NDArray[np.float32]:
    """(height, width, 3) m/s, world axes: as View.velocities, but through any lens."""
    out = np.empty((*distance.shape, 3), np.float32)
    pose = np.ascontiguousarray(matrix_from_quat(seen.pose.quat_wxyz)), np.asarray(seen.pose.position)
    _surface_velocities(seen.surface, distance, lens.directions, tuple(seen.movers), pose, out)
    return out


@kernel(
    void(
        types.Tuple((int64, readonly(float64, 1), readonly(float64, 3))),
        types.Tuple((readonly(float32, 2), readonly(float32, 3))),
        types.Tuple((readonly(float64, 2), readonly(float64, 1), readonly(float64, 1))), float32[:, :, ::1],
    )
)  # fmt: skip
def _image_motion(lens, seen, camera, out):
    """ḋ = Rᵀ(v - v_camera)/distance - ω × d of each direction d; with distortion, a difference of `project`.

    lens: its code, numbers and directions; seen: distances and velocities; camera: rotation, velocity and rates.
    """
    model, p, directions = lens
    distance, velocities = seen
    rotation, velocity, turn = camera
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            x, y, z = directions[i, j, 0], directions[i, j, 1], directions[i, j, 2]
            near = 1.0 / float64(distance[i, j])
            vx = (velocities[i, j, 0] - velocity[0]) * near
            vy = (velocities[i, j, 1] - velocity[1]) * near
            vz = (velocities[i, j, 2] - velocity[2]) * near
            dx = rotation[0, 0] * vx + rotation[1, 0] * vy + rotation[2, 0] * vz - turn[1] * z + turn[2] * y
            dy = rotation[0, 1] * vx + rotation[1, 1] * vy + rotation[2, 1] * vz - turn[2] * x + turn[0] * z
            dz = rotation[0, 2] * vx + rotation[1, 2] * vy + rotation[2, 2] * vz - turn[0] * y + turn[1] * x
            if model == PINHOLE:
                out[i, j, 0] = p[0] * (dx - x / z * dz) / z
                out[i, j, 1] = p[1] * (dy - y / z * dz) / z
                continue
            h = 1e-4 / (1.0 + math.sqrt(dx * dx + dy * dy + dz * dz))
            u1, v1 = project(model, p, x + h * dx, y + h * dy, z + h * dz)
            u0, v0 = project(model, p, x - h * dx, y - h * dy, z - h * dz)
            out[i, j, 0], out[i, j, 1] = (u1 - u0) / (2.0 * h), (v1 - v0) / (2.0 * h)


def image_motion(
    lens: Lens,
    distance: NDArray[np.float32],
    velocities: NDArray[np.float32],
    rotation: Array,
    velocity: Array,
    angular_velocity: Array,
) -> NDArray[np.float32]:
    """(height, width, 2) px/s of the surface points; rotation is world_from_camera, the rates are in camera axes."""
    out = np.empty((*distance.shape, 2), np.float32)
    camera = (np.ascontiguousarray(rotation), velocity, angular_velocity)
    _image_motion((lens.code, lens.numbers, lens.directions), (distance, velocities), camera, out)
    return out
