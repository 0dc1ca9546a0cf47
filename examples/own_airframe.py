"""An airframe of your own: a hexacopter, from a function that returns the content of an airframe file."""

import math
from typing import Any

ARM = 0.30
"""m from the centre to each rotor."""


def hexacopter() -> dict[str, Any]:
    angles = [math.radians(30.0 + 60.0 * k) for k in range(6)]
    around = [(math.cos(angle), math.sin(angle)) for angle in angles]
    return {
        "name": "hexacopter",
        "sources": ["made up for this example: iris motors on six arms of 0.3 m"],
        "mass": 2.4,
        "inertia": [0.045, 0.045, 0.080],
        "rotors": [
            {"position": [ARM * x, ARM * y, 0.02], "spin": "ccw" if k % 2 else "cw"} for k, (x, y) in enumerate(around)
        ],
        "motor": {
            "thrust_coefficient": 5.84e-6,
            "torque_ratio": 0.06,
            "max_speed": 1100.0,
            "idle_speed": 100.0,
            "tau_up": 0.0125,
            "tau_down": 0.025,
            "radius": 0.128,
        },
        "drag": {"model": "rotor", "rotor": 0.0724},
        "battery": {"cells": 4, "capacity_ah": 5.0, "resistance": 0.02},
        "contact": {
            "legs": [[0.2 * x, 0.2 * y, -0.15] for x, y in around[::2]],
            "body": [[0.4 * x, 0.4 * y, 0.03] for x, y in around],
        },
    }
