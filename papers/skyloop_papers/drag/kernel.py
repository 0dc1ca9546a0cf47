"""Eq. (13) of papers/depth-noise-and-rotor-drag, compiled: force from thrust, attitude and velocity."""

from numba import float64, void

from skyloop.core.jit import kernel
from skyloop.core.rotations import to_body


@kernel(void(float64[::1], float64[:, ::1], float64[:, ::1], float64, float64, float64[:, ::1]))
def lumped_rotor_drag(thrust, quat_wxyz, velocity_world, slope, offset, force_body):  # type: ignore[no-untyped-def]
    """force = -(slope T + offset) Π v, row by row. slope is k c_d1; offset is b c_d1 of all rotors together."""
    for i in range(thrust.shape[0]):
        q = quat_wxyz[i]
        v = velocity_world[i]
        vx, vy, _ = to_body(q[0], q[1], q[2], q[3], v[0], v[1], v[2])
        c = slope * thrust[i] + offset
        force_body[i, 0] = -c * vx
        force_body[i, 1] = -c * vy
        force_body[i, 2] = 0.0
