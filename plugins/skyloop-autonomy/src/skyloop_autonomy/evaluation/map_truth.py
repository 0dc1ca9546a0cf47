"""The voxels of a map that are occupied in truth, against which maps are scored."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop.world.model import Model, MoverStates
from skyloop.world.occupancy import occupancy
from skyloop_client.messages import Array

TOUCHING = 2e-3
"""m. A surface nearer than this to the face of a voxel may lie on either side of it."""


def true_voxels(
    model: Model, motion: MoverStates | None, origin: ArrayLike, shape: tuple[int, ...], cell: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(nx, ny, nz) which voxels of a map are occupied in truth, and which are unclear.

    A voxel is unclear if it is only touched: shifted a little it would be free, so no sensor can tell.
    """
    lower: Array = np.asarray(origin, float)
    upper = lower + cell * np.array(shape)
    ways = [np.array([x, y, z]) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    # the box is a little smaller, or rounding could add a voxel
    shifted = [occupancy(model, motion, lower + TOUCHING * way, upper + TOUCHING * way - 1e-6, cell) for way in ways]
    always, ever = np.logical_and.reduce(shifted), np.logical_or.reduce(shifted)
    return always, ever & ~always
