"""Lamps: what of a shape shines, which lamps are on, and the light they give to pictures.

A lamp shines in all directions and through walls, and fades out at REACH. It is dark until somebody switches it on, so
that a world looks the same for all who do not ask for lamps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skyloop_client.messages import Array

if TYPE_CHECKING:
    from skyloop.world.model import Model, MoverStates

USUAL = 5000.0
"""Unreal's intensity of a new point light."""
LIGHT = 4.0 / USUAL
"""Of an intensity of 1, at 1 m; a white surface 2 m away from a usual lamp is as bright as in full sun."""
REACH = 20.0
"""m; the light falls with the square of the distance and is gone here."""
MOST_LAMPS = 32
"""In one picture: the nearest ones whose light can reach what is in front of the camera."""


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


def lit_lamps(model: Model, motion: MoverStates) -> Array:
    """(n, 7) of the lamps that are on: m, world; m of glow; linear light at 1 m."""
    lit = []
    for number, state in model.lamps.items():
        if not state.is_on or state.intensity <= 0.0:
            continue
        for row in model.objects[number].rows:
            lamp = model.shapes[model.part_shape[row]].lamp
            if lamp is None:
                continue
            standing = row < model.n_standing
            pose = model.standing_poses[row] if standing else motion.poses[row - model.n_standing]
            place = pose[:, :3] @ lamp.place + pose[:, 3]
            scale = float(np.cbrt(abs(np.linalg.det(pose[:, :3]))))
            lit.append([*place, scale * lamp.size, *(LIGHT * state.intensity * np.array(lamp.colour))])
    return np.array(lit).reshape(-1, 7)


def seen_lamps(lit: Array, eye: Array, forward: Array) -> Array:
    """(MOST_LAMPS, 8) those of `lit_lamps` that count in a picture, nearest first, places relative to the eye; the last
    number is 1, and 0 in rows that are left over."""
    ways = lit[:, :3] - eye
    reaching = np.flatnonzero(ways @ forward > -REACH)
    order = reaching[np.argsort(np.linalg.norm(ways[reaching], axis=1), kind="stable")][:MOST_LAMPS]
    out = np.zeros((MOST_LAMPS, 8))
    out[: len(order)] = np.column_stack([ways[order], lit[order, 3:], np.ones(len(order))])
    return out
