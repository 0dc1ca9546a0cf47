"""Trunks and boughs: tapered skins over bent lines."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop.world.mesh import Mesh, loft

Points = NDArray[np.float64]


def limb(line: ArrayLike, radii: ArrayLike, sides: int, *, closed_ends: bool = False, **look: Any) -> Mesh:
    """A skin of `sides` faces around (k, 3) points with (k,) radii."""
    points, widths = np.asarray(line, float), np.asarray(radii, float)
    along = unit(np.gradient(points, axis=0))
    # one reference for the whole limb, so that rings are not twisted against each other
    steep = abs(unit(points[-1] - points[0])[2]) > 0.7
    first = unit(np.cross(along, (0.0, 1.0, 0.0) if steep else (0.0, 0.0, 1.0)))
    second = np.cross(along, first)
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.cos(angle)[:, None] * first[:, None] + np.sin(angle)[:, None] * second[:, None]
    return loft(points[:, None] + widths[:, None, None] * ring, closed_ends=closed_ends, **look)


def bent(start: ArrayLike, end: ArrayLike, sag: ArrayLike, n: int) -> Points:
    """(n, 3) points of a parabola from start to end whose middle is shifted by `sag`."""
    t = np.linspace(0.0, 1.0, n)[:, None]
    a, b = np.asarray(start, float), np.asarray(end, float)
    line: Points = a + (b - a) * t + 4.0 * t * (1.0 - t) * np.asarray(sag, float)
    return line


def unit(vectors: Any) -> Points:
    """Each of length 1."""
    array = np.asarray(vectors, float)
    return np.asarray(array / np.maximum(np.linalg.norm(array, axis=-1, keepdims=True), 1e-12))
