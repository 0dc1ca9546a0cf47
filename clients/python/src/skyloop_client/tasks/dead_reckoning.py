"""The position of a vehicle since it was at rest, from its accelerometer alone.

Definition, the same in every language: world acceleration a = R·f - (0, 0, g), f the specific force, R
world_from_body at the sample's instant: the autopilot's attitude, taken back to it by the autopilot's angular
velocity, R·f = R_now·(f - age·ω×f). g is the mean of |f| over the first samples, taken at rest. From one sample to
the next, whatever their distance in time dt: v' = v + ½(a + a')·dt, p' = p + ½(v + v')·dt.
"""

from __future__ import annotations

import numpy as np

from skyloop_client.messages import Array, Estimate, ImuSample, VehicleState
from skyloop_client.streams import NS_PER_S


class DeadReckoning:
    """The IMU's axes are assumed to be the body's."""

    def __init__(self) -> None:
        self.position = np.zeros(3)
        """(3,) m since the start, world axes."""
        self.velocity = np.zeros(3)
        """(3,) m/s, world axes."""
        self._at_rest: list[float] = []
        self._before: tuple[int, Array] | None = None

    def add_at_rest(self, sample: ImuSample) -> None:
        """Gravity is the accelerometer's mean at rest."""
        self._at_rest.append(float(np.linalg.norm(sample.specific_force)))

    def add(self, sample: ImuSample, state: VehicleState | Estimate) -> None:
        acceleration = world_force(sample, state)
        acceleration[2] -= np.mean(self._at_rest)
        if self._before is not None:
            then_ns, earlier = self._before
            dt = (sample.t_ns - then_ns) / NS_PER_S
            velocity = self.velocity + 0.5 * dt * (earlier + acceleration)
            self.position = self.position + 0.5 * dt * (self.velocity + velocity)
            self.velocity = velocity
        self._before = sample.t_ns, acceleration


def world_force(sample: ImuSample, state: VehicleState | Estimate) -> Array:
    """(3,) m/s², world axes: the specific force of a sample."""
    age = (state.t_ns - sample.t_ns) / NS_PER_S
    # first order: the age is a fraction of a sampling interval
    force = sample.specific_force - age * np.cross(state.angular_velocity_body, sample.specific_force)
    w, x, y, z = state.quat_wxyz
    axis = np.array([x, y, z])
    turned: Array = force + 2.0 * np.cross(axis, np.cross(axis, force) + w * force)
    return turned
