"""Smooth skins over superelliptic cross sections: the surface of bodies, clothes and shoes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop.world.materials import MATERIAL_ID
from skyloop.world.mesh import Colour, Indices, Mesh, merged
from skyloop_client.messages import Array


@dataclass(frozen=True)
class SkinLook:
    material: str
    slot: int = 0
    colour: Colour = (255, 255, 255)


def section(
    z: float, front: float, back: float, half: float, *, x: float = 0.0, y: float = 0.0, p: float = 2.0
) -> list[float]:
    """One level of a skin: m in front of, behind and beside the axis at (x, y); `p` 2 is an ellipse, more is boxier."""
    return [z, x, y, front, back, half, p]


Bulge = Callable[[Array], Array]
"""Moves the (k, n, 3) points of the rings of a skin."""


def of_girth(row: list[float], girth: float) -> list[float]:
    """The section scaled to that girth."""
    ring = _rings(np.array([row]), _angles(64))[0]
    share = girth / np.linalg.norm(np.diff(ring, axis=0, append=ring[:1]), axis=1).sum()
    return [*row[:3], *(share * np.array(row[3:6])), row[6]]


def eased(rows: Sequence[Sequence[float]], ease: float) -> list[list[float]]:
    """The sections made `ease` metres wider all round, as cloth over a body."""
    return [[*row[:3], row[3] + ease, row[4] + ease, row[5] + ease, row[6]] for row in rows]


def _angles(n: int) -> NDArray[np.float64]:
    # four-sided ones have a flat side at the front
    return 2.0 * np.pi * (np.arange(n) + (0.5 if n == 4 else 0.0)) / n


def _rings(rows: Array, angles: Array) -> Array:
    """(k, n, 3) from (k, 7) sections, counter-clockwise from above."""
    z, x, y, front, back, half, p = (rows[:, i, None] for i in range(7))
    c, s = np.cos(angles)[None], np.sin(angles)[None]
    along = np.sign(c) * np.abs(c) ** (2.0 / p)
    across = np.sign(s) * np.abs(s) ** (2.0 / p)
    return np.stack(
        [x + np.where(along > 0.0, front, back) * along, y + half * across, np.broadcast_to(z, along.shape)], -1
    )


def tube(
    rows: Sequence[Sequence[float]],
    look: SkinLook,
    *,
    lod: int = 0,
    n: int = 10,
    top: float = 0.0,
    bottom: float = 0.0,
    bulge: Bulge | None = None,
    paint: tuple[SkinLook, Callable[[Array], Array]] | None = None,
) -> Mesh:
    """A skin through sections from top to bottom or back; `top` and `bottom` are m of rounding beyond open ends.

    n points around are used at full detail; lower levels use fewer points and only the most important sections.
    bulge(points) moves the (k, n, 3) points of the rings. paint: a second look, and a function that selects, from the
    (k - 1, n, 3) patch centres, the patches that have it.
    """
    sections = np.array(rows)
    if sections[0, 0] > sections[-1, 0]:
        sections = sections[::-1].copy()
    n = (n, 6, 4)[lod] if n > 6 else (n, 4, 3)[lod]
    if lod:
        sections = fewer(sections, lod)
    rings = _rings(sections, _angles(n))
    if bulge is not None and lod < 2:
        rings = bulge(rings)
    rings = _rounded(rings, sections, top, bottom, lod)
    if paint is None:
        return skin(rings, look)
    second, has_it = paint
    beside = np.roll(rings, -1, axis=1)
    centres = 0.25 * (rings[:-1] + rings[1:] + beside[:-1] + beside[1:])
    return skin(rings, [look, second], np.asarray(has_it(centres), int))


def fewer(sections: Array, lod: int) -> Array:
    """The ends, and the sections farthest from the straight lines between those already kept; all a little wider."""
    count = 5 - lod if len(sections) > 7 else 4 - lod
    keep = [0, len(sections) - 1]
    while len(keep) < min(count, len(sections)):
        kept = sorted(keep)
        line = np.stack([np.interp(sections[:, 0], sections[kept, 0], sections[kept, i]) for i in range(1, 6)], 1)
        error = np.abs(sections[:, 1:6] - line).sum(axis=1)
        error[keep] = -1.0
        keep.append(int(error.argmax()))
    kept_sections = sections[sorted(keep)]
    # an inscribed polygon is thinner than its ellipse
    kept_sections[:, 3:6] *= (1.05, 1.12)[lod - 1]
    return kept_sections


def _rounded(rings: Array, rows: Array, top: float, bottom: float, lod: int) -> Array:
    """Adds domes at the ends; the last ring of a dome is a single point."""
    if lod == 2:
        return rings
    steps = (np.radians([50.0, 90.0]), np.radians([90.0]))[lod]
    for height, end in ((top, -1), (bottom, 0)):
        if height == 0.0:
            continue
        sign = 1.0 if end else -1.0
        middle = rows[end, [1, 2, 0]]
        dome = [middle + (rings[end] - middle) * np.cos(a) + [0, 0, sign * height * np.sin(a)] for a in steps]
        rings = np.concatenate([rings, dome] if end else [dome[::-1], rings])
    return rings


@cache
def _topology(k: int, n: int, single: tuple[int, ...]) -> tuple[Indices, Indices, Indices, Indices]:
    """The topology of k rings of n points; all points of a ring in `single` are the same.

    Faces with and without a seam, the patch each belongs to, and for each point with a seam the one without.
    """
    welded = np.arange(k)[:, None] * n + np.arange(n + 1) % n
    welded[list(single)] = welded[list(single), :1]
    index = np.arange(k * (n + 1)).reshape(k, n + 1)
    corners = [index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]]
    faces = np.stack([np.stack([corners[i] for i in order], -1) for order in ((0, 1, 2), (0, 2, 3))], 2).reshape(-1, 3)
    joined = welded.ravel()[faces]
    real = (joined[:, 0] != joined[:, 1]) & (joined[:, 1] != joined[:, 2]) & (joined[:, 0] != joined[:, 2])
    return faces[real], joined[real], np.repeat(np.arange((k - 1) * n), 2)[real], welded.ravel()


def skin(rings: ArrayLike, look: SkinLook | Sequence[SkinLook], looks: ArrayLike | None = None) -> Mesh:
    """A skin over (k, n, 3) rings as in `mesh.loft`, with smooth normals across the seam and at single points.

    looks: (k - 1, n) which of several looks each patch has.
    """
    points = np.asarray(rings, float)
    k, n = points.shape[:2]
    single = tuple(np.flatnonzero(np.ptp(points, axis=1).max(axis=1) < 1e-9).tolist())
    faces, joined, patch, welded = _topology(k, n, single)
    flat = points.reshape(-1, 3)
    a, b, c = flat[joined].transpose(1, 0, 2)
    across = np.repeat(np.cross(b - a, c - a), 3, axis=0)
    summed = np.zeros_like(flat)
    np.add.at(summed, joined.ravel(), across)
    normals = (summed / np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), 1e-12))[welded]
    seamed = np.concatenate([points, points[:, :1]], axis=1)
    uv = np.zeros((k, n + 1, 2))
    np.cumsum(np.linalg.norm(np.diff(seamed, axis=1), axis=2), axis=1, out=uv[:, 1:, 0])
    uv[1:, :, 1] = np.cumsum(np.linalg.norm(np.diff(points.mean(axis=1), axis=0), axis=1))[:, None]
    choices = [look] if isinstance(look, SkinLook) else list(look)
    which = None if looks is None else np.asarray(looks).ravel()[patch]
    parts = []
    for number, chosen in enumerate(choices):
        mine = faces if which is None else faces[which == number]
        if not len(mine):
            continue
        used, local = np.unique(mine, return_inverse=True)
        parts.append(
            Mesh(
                seamed.reshape(-1, 3)[used].astype(np.float32),
                normals[used].astype(np.float32),
                uv.reshape(-1, 2)[used].astype(np.float32),
                np.tile(np.array([*chosen.colour, chosen.slot], np.uint8), (len(used), 1)),
                np.full(len(used), MATERIAL_ID[chosen.material], np.uint8),
                local.reshape(-1, 3).astype(np.int32),
            )
        )
    return parts[0] if len(parts) == 1 else merged(parts)


def blob(radii: ArrayLike, centre: Sequence[float], look: SkinLook, *, rings: int = 4, n: int = 6) -> Mesh:
    """A small ellipsoid: an eye, an ear, a bun."""
    rx, ry, rz = np.broadcast_to(np.asarray(radii, float), (3,))
    latitudes = np.linspace(-0.5 * np.pi, 0.5 * np.pi, rings + 1)
    rows = [section(rz * np.sin(a), rx * np.cos(a), rx * np.cos(a), ry * np.cos(a)) for a in latitudes]
    points = _rings(np.array(rows), _angles(n))
    points[[0, -1]] = points[[0, -1]].mean(axis=1, keepdims=True)
    return skin(points + np.asarray(centre), look)
