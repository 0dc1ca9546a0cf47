"""The motion of the surface points in an image: in the world, and in the image, through any lens."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math

import numpy as np
from numba import float32, float64, int64, types, uint32, void
from numpy.typing import NDArray

from skyloop.core.frames import matrix_from_quat
from skyloop.core.jit import kernel
from skyloop.sensors.camera_lens import PINHOLE, Lens, project, readonly
from skyloop.world.views import View, movers_type
from skyloop_client.messages import Array


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
