"""Drag of the frame. The drag of the rotors is in `rotors.py`, where each rotor's thrust is known."""

import numpy as np

from skyloop.core.jit import inlined
from skyloop.vehicle.kernel_records import DRAG_BOX, DRAG_LINEAR

BOX_THRESHOLD = 0.1
"""m/s of normal velocity below which AirSim ignores a face."""


@inlined
def _box_face(factor, speed):  # type: ignore[no-untyped-def]
    """Only the face that meets the air counts. It lies on the axis, so there is no torque."""
    return factor * abs(speed) * speed if abs(speed) > BOX_THRESHOLD else 0.0


@inlined
def frame_drag(p, density_ratio, air_x, air_y, air_z):  # type: ignore[no-untyped-def]
    """Force in body axes. air: velocity of the vehicle through the air, body axes."""
    speed = density_ratio * np.sqrt(air_x * air_x + air_y * air_y + air_z * air_z)
    fx = -p.parasitic[0] * speed * air_x
    fy = -p.parasitic[1] * speed * air_y
    fz = -p.parasitic[2] * speed * air_z
    if p.drag_model == DRAG_LINEAR:
        # eq. (5), in body axes
        fx -= p.linear_drag[0] * air_x
        fy -= p.linear_drag[1] * air_y
        fz -= p.linear_drag[2] * air_z
    elif p.drag_model == DRAG_BOX:
        fx -= _box_face(p.box_drag[0] * density_ratio, air_x)
        fy -= _box_face(p.box_drag[1] * density_ratio, air_y)
        fz -= _box_face(p.box_drag[2] * density_ratio, air_z)
    return fx, fy, fz
