"""Drag of the frame. What the rotors add is in `rotors.py`, where each rotor's thrust is known."""

import numpy as np

from skyloop.compiled import inlined
from skyloop.vehicle.layout import DRAG_BOX, DRAG_LINEAR

BOX_THRESHOLD = 0.1
"""m/s of normal velocity below which AirSim ignores a face."""


@inlined
def frame_drag(p, w, density_ratio):  # type: ignore[no-untyped-def]
    """Added to w.wrench. w.air: velocity of the vehicle through the air, body axes."""
    air, wrench = w.air, w.wrench
    if p.drag_model == DRAG_LINEAR:
        # eq. (5), in body axes
        for k in range(3):
            wrench[k] -= p.linear_drag[k] * air[k]
    elif p.drag_model == DRAG_BOX:
        # only the face that meets the air counts; it lies on the axis, so there is no torque
        for k in range(3):
            if abs(air[k]) > BOX_THRESHOLD:
                wrench[k] -= p.box_drag[k] * density_ratio * abs(air[k]) * air[k]
    if p.parasitic[0] + p.parasitic[1] + p.parasitic[2] > 0.0:
        speed = np.sqrt(air[0] * air[0] + air[1] * air[1] + air[2] * air[2])
        for k in range(3):
            wrench[k] -= p.parasitic[k] * density_ratio * speed * air[k]
