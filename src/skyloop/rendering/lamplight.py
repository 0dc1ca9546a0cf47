"""The light that lamps give to pictures: in all directions, through walls, and out to REACH."""

from __future__ import annotations

import numpy as np

from skyloop.world.lamps import USUAL
from skyloop.world.model import Model, MoverStates
from skyloop_client.messages import Array

LIGHT = 4.0 / USUAL
"""Of an intensity of 1, at 1 m; a white surface 2 m away from a usual lamp is as bright as in full sun."""
REACH = 20.0
"""m; the light falls with the square of the distance and is gone here."""
MOST_LAMPS = 32
"""In one picture: the nearest ones whose light can reach what is in front of the camera."""


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
