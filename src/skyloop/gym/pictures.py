"""The camera beside the arena, whose pictures `render` returns."""

from __future__ import annotations

from skyloop.core.validation import validated
from skyloop.gym.course import VEHICLE
from skyloop.sensors.observer import Observer, ObserverConfig

PLACE = (-7.0, -5.0, 3.5)
"""m, world axes."""


def beside_the_arena(height: int, width: int) -> Observer:
    """A camera at a fixed position that turns towards the vehicle. Height and width are in px."""
    watching = {"mode": "fixed", "position": PLACE, "vehicle": VEHICLE, "quality": "low"}
    return Observer(validated(ObserverConfig, {**watching, "height": height, "width": width}, "picture_size"))
