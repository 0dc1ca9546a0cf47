"""A vehicle as other vehicles and sensors see it: a mover of the world's model whose pose is that of the fleet."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skyloop.core.frames import matrix_from_quat, quat_from_rotvec, quat_multiply
from skyloop.vehicle.fleet import Fleet
from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S


class VehicleMover:
    """Its pose is exact at the present instant and extrapolated a little before and after it."""

    n_rows = 1

    def __init__(self, fleet: Fleet, index: int, now_ns: Callable[[], int]) -> None:
        self._fleet, self._index, self._now_ns = fleet, index, now_ns

    def poses(self, t: float) -> Array:
        state = self._fleet.state(self._index, self._now_ns())
        dt = t - state.t_ns / NS_PER_S
        turn = quat_from_rotvec((state.angular_velocity_body + 0.5 * dt * state.angular_acceleration_body) * dt)
        pose = np.empty((1, 3, 4))
        pose[0, :, :3] = matrix_from_quat(quat_multiply(state.quat_wxyz, turn))
        pose[0, :, 3] = state.position + (state.velocity_world + 0.5 * dt * state.acceleration_world) * dt
        return pose
