"""Numbers of an airframe that its file leaves out, estimated from its size, mass and rotors.

The constants were chosen beside the shipped airframes; docs/tutorials/own-airframe.md has the comparison.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skyloop_client.messages import Array

AT_ROTORS = 1.0 / 3.0
"""The share of the mass that sits at the rotors: motors, propellers and half of the arms."""
BOX_SIDE, BOX_HEIGHT = 0.53, 0.45
"""Side and height of the box that is the rest of the mass, per arm."""
TAU_PER_RADIUS, TAU_DOWN = 0.25, 1.5
"""s/m, a motor's time constant per radius of its propeller; slowing down takes longer by a factor."""
ROTOR_DRAG = 1.5
"""The force in a rotor's plane per thrust and per speed through the air over the speed of the blades' tips."""
FRAME_AREAS = (0.6, 0.6, 1.5)
"""m²/m², the areas that meet the air along each body axis per squared arm, with a drag coefficient of 1."""
VERTICAL_SHARE = 0.7
"""Linear drag along the body's z axis over that along x and y."""
DENSITY = 1.225
GRAVITY = 9.80665


def inertia(mass: float, hubs: Array) -> tuple[float, float, float]:
    """kg m², of points at the rotors' hubs (n, 3) and a box in the middle."""
    x, y, z = (hubs - hubs.mean(axis=0)).T
    arm = float(np.hypot(x, y).mean())
    point, box = AT_ROTORS * mass / len(hubs), (1.0 - AT_ROTORS) * mass / 12.0
    wide, high = (BOX_SIDE * arm) ** 2, (BOX_HEIGHT * arm) ** 2
    return (
        float(point * (y @ y + z @ z) + box * (wide + high)),
        float(point * (x @ x + z @ z) + box * (wide + high)),
        float(point * (x @ x + y @ y) + box * 2.0 * wide),
    )


def tau_up(radius: float) -> float:
    """s, of a motor with a propeller of this radius."""
    return TAU_PER_RADIUS * radius


def tau_down(up: float) -> float:
    return TAU_DOWN * up


def drag(mass: float, hubs: Array, thrust_coefficient: float, radius: float) -> dict[str, Any]:
    """The coefficients of all drag models, in the units of an airframe file."""
    rotor = ROTOR_DRAG * math.sqrt(thrust_coefficient) / radius
    level = rotor * math.sqrt(mass * GRAVITY / len(hubs)) * len(hubs)
    x, y, _ = (hubs - hubs.mean(axis=0)).T
    pressure = 0.5 * DENSITY * float(np.hypot(x, y).mean()) ** 2
    return {
        "rotor": rotor,
        "linear": (level, level, VERTICAL_SHARE * level),
        "parasitic": tuple(pressure * area for area in FRAME_AREAS),
    }
