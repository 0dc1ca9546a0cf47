"""Which rotor is which motor: PX4, ArduPilot and Betaflight number those of a quad alike."""

from __future__ import annotations

import numpy as np

from skyloop_client.errors import LinkError
from skyloop_client.messages import Array

QUADRANTS = ((1, -1, 1), (-1, 1, 1), (1, 1, -1), (-1, -1, -1))
"""Forward, left, spin (ccw 1) of motors 1 to 4 of a QUAD X: front right, rear left, front left, rear right."""


def motor_order(positions: Array, spins: Array, airframe: str = "the airframe") -> list[int]:
    """Which output of the autopilot drives rotor i; quads by where their rotors are, all others in their own order."""
    if len(positions) != 4:
        return list(range(len(positions)))
    centred = np.asarray(positions)[:, :2] - np.mean(np.asarray(positions)[:, :2], axis=0)
    found = [
        (*np.sign(place).astype(int).tolist(), int(np.sign(spin))) for place, spin in zip(centred, spins, strict=True)
    ]
    if sorted(found) != sorted(QUADRANTS):
        raise LinkError(f"{airframe}: its four rotors are no QUAD X with the front right one turning anticlockwise")
    return [QUADRANTS.index(place) for place in found]
