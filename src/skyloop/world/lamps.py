"""What of a shape shines, and which lamps are on.

A lamp is dark until somebody switches it on, so that a world looks the same for all who do not ask for lamps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

USUAL = 5000.0
"""Unreal's intensity of a new point light."""


@dataclass(frozen=True, slots=True)
class Lamp:
    """What shines of a shape."""

    place: tuple[float, float, float]
    """m, in the shape's axes."""
    size: float
    """m around it in which the shape itself glows."""
    colour: tuple[float, float, float] = (1.0, 0.82, 0.56)
    """Linear red, green, blue."""


class LampState(NamedTuple):
    intensity: float = USUAL
    is_on: bool = False
