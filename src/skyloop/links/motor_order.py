"""Maps rotors to motor numbers. PX4, ArduPilot and Betaflight number the motors of a quad alike."""

from __future__ import annotations

import numpy as np

from skyloop_client.errors import LinkError
from skyloop_client.messages import Array

QUADRANTS = ((1, -1, 1), (-1, 1, 1), (1, 1, -1), (-1, -1, -1))
"""Forward, left, spin (1: anticlockwise) of QUAD X motors 1 to 4: front right, rear left, front left, rear right."""


def motor_order(positions: Array, spins: Array, airframe: str = "the airframe") -> list[int]:
    """The autopilot output of each rotor: by position for quads, in the airframe's own order otherwise."""
    if len(positions) != 4:
        return list(range(len(positions)))
    centred = np.asarray(positions)[:, :2] - np.mean(np.asarray(positions)[:, :2], axis=0)
    found = [
        (*np.sign(place).astype(int).tolist(), int(np.sign(spin))) for place, spin in zip(centred, spins, strict=True)
    ]
    if sorted(found) != sorted(QUADRANTS):
        raise LinkError(f"{airframe}: its four rotors are not a QUAD X whose front right rotor turns anticlockwise")
    return [QUADRANTS.index(place) for place in found]
