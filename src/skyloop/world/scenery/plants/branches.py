"""Trunks and boughs: tapered skins around curved lines."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop.world.mesh import Mesh, mesh_of

Points = NDArray[np.float64]


def limbs(lines: ArrayLike, radii: ArrayLike, sides: int, **look: Any) -> Mesh:
    """Skins of `sides` faces around m lines, (m, k, 3) points with (m, k) radii; open at their ends."""
    points, widths = np.asarray(lines, float), np.asarray(radii, float)
    m, k = widths.shape
    along = unit(np.gradient(points, axis=1))
    # one reference direction for a whole limb, so that its rings are not twisted against each other
    steep = np.abs(unit(points[:, -1] - points[:, 0])[:, 2:]) > 0.7
    first = unit(np.cross(along, np.where(steep, [0.0, 1.0, 0.0], [0.0, 0.0, 1.0])[:, None]))
    second = np.cross(along, first)
    # a seam: the first point of a ring is repeated at its end, so that u continues
    angle = 2.0 * np.pi * np.arange(sides + 1) / sides
    ring = np.cos(angle)[:, None] * first[:, :, None] + np.sin(angle)[:, None] * second[:, :, None]
    steps = np.linalg.norm(np.diff(points, axis=1), axis=2)
    height = np.concatenate([np.zeros((m, 1)), np.cumsum(steps, axis=1)], axis=1)
    uv = np.stack([widths[..., None] * angle, np.broadcast_to(height[..., None], ring.shape[:3])], axis=-1)
    index = np.arange(m * k * (sides + 1)).reshape(m, k, sides + 1)
    a, b, c, d = index[:, :-1, :-1], index[:, :-1, 1:], index[:, 1:, 1:], index[:, 1:, :-1]
    return mesh_of(
        (points[:, :, None] + widths[..., None, None] * ring).reshape(-1, 3),
        np.concatenate([np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)]),
        uv=uv.reshape(-1, 2),
        normals=ring.reshape(-1, 3),
        **look,
    )


def limb(line: ArrayLike, radii: ArrayLike, sides: int, **look: Any) -> Mesh:
    """A skin of `sides` faces around (k, 3) points with (k,) radii."""
    return limbs(np.asarray(line)[None], np.asarray(radii)[None], sides, **look)


def bent(start: ArrayLike, end: ArrayLike, sag: ArrayLike, n: int) -> Points:
    """(n, 3) points of a parabola from start to end whose middle is shifted by `sag`."""
    t = np.linspace(0.0, 1.0, n)[:, None]
    a, b = np.asarray(start, float), np.asarray(end, float)
    line: Points = a + (b - a) * t + 4.0 * t * (1.0 - t) * np.asarray(sag, float)
    return line


def unit(vectors: Any) -> Points:
    """The vectors scaled to length 1."""
    array = np.asarray(vectors, float)
    return np.asarray(array / np.maximum(np.linalg.norm(array, axis=-1, keepdims=True), 1e-12))
