"""What plants consist of: boughs as tapered skins around curved lines, leaves as small folded kites, and lumpy hulls
that replace many of them at a distance; and random positions for plants.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import ConvexHull

from skyloop.world.mesh import Colour, Look, Mesh, mesh_of, unit
from skyloop_client.messages import Array

Tint = tuple[float, float, float]
Points = NDArray[np.float64]


def limbs(lines: ArrayLike, radii: ArrayLike, sides: int, **look: Unpack[Look]) -> Mesh:
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


def limb(line: ArrayLike, radii: ArrayLike, sides: int, **look: Unpack[Look]) -> Mesh:
    """A skin of `sides` faces around (k, 3) points with (k,) radii."""
    return limbs(np.asarray(line)[None], np.asarray(radii)[None], sides, **look)


def bent(start: ArrayLike, end: ArrayLike, sag: ArrayLike, n: int) -> Points:
    """(n, 3) points of a parabola from start to end whose middle is shifted by `sag`."""
    t = np.linspace(0.0, 1.0, n)[:, None]
    a, b = np.asarray(start, float), np.asarray(end, float)
    line: Points = a + (b - a) * t + 4.0 * t * (1.0 - t) * np.asarray(sag, float)
    return line


class Spots:
    """Discs that are taken, stored by grid square for fast search."""

    def __init__(self, cell: float = 4.0) -> None:
        self._cell = cell
        self._widest = 0.0
        self._squares: dict[tuple[int, int], list[tuple[float, float, float]]] = {}

    def add(self, x: float, y: float, radius: float) -> None:
        self._widest = max(self._widest, radius)
        key = (int(np.floor(x / self._cell)), int(np.floor(y / self._cell)))
        self._squares.setdefault(key, []).append((x, y, radius))

    def free(self, x: float, y: float, radius: float) -> bool:
        """Whether a disc here touches no taken one."""
        reach = int((radius + self._widest) / self._cell) + 1
        i, j = int(np.floor(x / self._cell)), int(np.floor(y / self._cell))
        for a in range(i - reach, i + reach + 1):
            for b in range(j - reach, j + reach + 1):
                for u, v, r in self._squares.get((a, b), ()):
                    if (x - u) ** 2 + (y - v) ** 2 < (r + radius) ** 2:
                        return False
        return True


def spread_out(candidates: ArrayLike, n: int, spots: Spots, radius: float) -> Points:
    """The first (≤ n, 2) candidates that are 2·radius apart and off all `spots`, to which they are added."""
    found: list[tuple[float, float]] = []
    for x, y in np.asarray(candidates, float).tolist():
        if len(found) == n:
            break
        if spots.free(x, y, radius):
            spots.add(x, y, radius)
            found.append((x, y))
    return np.array(found).reshape(-1, 2)


FOLD = 0.25
"""How far a kite's sides hang down, as a share of its half width."""
LEAF_SLOT = 1
"""The paint slot of all foliage: its hue comes from the placement's palette, its light and shade from the vertices."""


@dataclass(frozen=True, slots=True, eq=False)
class Sprays:
    """Kites, each a twig with its leaves: two triangles folded along their common edge."""

    root: Points
    """(n, 3) m, the point where it grows."""
    reach: Points
    """(n, 3) m from root to tip."""
    across: Points
    """(n, 3) m from the middle to one side."""
    outward: Points
    """(n, 3) unit; away from the middle of the foliage, on the side that the sky lights."""

    def __len__(self) -> int:
        return len(self.root)

    @property
    def middle(self) -> Points:
        return np.asarray(self.root + 0.5 * self.reach)

    def some(self, n: int, growth: float) -> Sprays:
        """About n evenly chosen kites, enlarged about their middles."""
        picked = np.unique(np.linspace(0, len(self) - 1, min(n, len(self))).astype(int))
        reach = self.reach[picked]
        return Sprays(
            self.root[picked] - 0.5 * (growth - 1.0) * reach,
            growth * reach,
            growth * self.across[picked],
            self.outward[picked],
        )


def together(*groups: Sprays) -> Sprays:
    return Sprays(*map(np.concatenate, zip(*((g.root, g.reach, g.across, g.outward) for g in groups), strict=True)))


def spray_mesh(sprays: Sprays, light: ArrayLike, *, roundness: float = 1.0, material: str = "leaves") -> Mesh:
    """Kites whose vertices carry `light`, (n, 3) of 0..1, a little brighter at the tip.

    roundness: how much their normals lean outward, so that a crown is shaded as one round body.
    """
    n = len(sprays)
    normal = unit(np.cross(sprays.across, sprays.reach))
    across = np.where(np.sum(normal * sprays.outward, axis=1, keepdims=True) < 0.0, -sprays.across, sprays.across)
    normal = unit(np.cross(across, sprays.reach))
    length = np.linalg.norm(sprays.reach, axis=1, keepdims=True)
    width = np.linalg.norm(across, axis=1, keepdims=True)
    waist = sprays.root + 0.45 * sprays.reach - FOLD * width * normal
    corners = np.stack([sprays.root, waist + across, sprays.root + sprays.reach, waist - across], axis=1)
    normals = np.repeat(unit(normal + roundness * sprays.outward), 4, axis=0)
    zero = 0.0 * length
    shift = np.arange(n)[:, None] * np.array([[0.37, 0.61]])
    uv = np.stack(
        [
            np.hstack([zero, zero]),
            np.hstack([width, 0.45 * length]),
            np.hstack([zero, length]),
            np.hstack([-width, 0.45 * length]),
        ],
        axis=1,
    )
    first = 4 * np.arange(n)[:, None]
    faces = first + np.array([0, 1, 2, 0, 2, 3])
    shades = np.asarray(light, float)[:, None, :] * np.array([0.86, 1.0, 1.12, 1.0])[None, :, None]
    uv = (uv + (shift % 1.0)[:, None]).reshape(-1, 2)
    mesh = mesh_of(corners.reshape(-1, 3), faces, uv=uv, normals=normals, material=material)
    return coloured(mesh, shades.reshape(-1, 3))


def coloured(mesh: Mesh, light: ArrayLike, slot: int = LEAF_SLOT) -> Mesh:
    """The mesh with (n, 3) vertex colours of 0..1 in a paint slot."""
    colours = np.empty((len(mesh.positions), 4), np.uint8)
    colours[:, :3] = np.clip(np.round(255.0 * np.asarray(light)), 0, 255)
    colours[:, 3] = slot
    return replace(mesh, colours=colours)


def directions(n: int) -> Points:
    """(n, 3) unit vectors, evenly over the sphere (a golden spiral)."""
    k = np.arange(n) + 0.5
    z = 1.0 - 2.0 * k / n
    angle = np.pi * (1.0 + 5.0**0.5) * k
    r = np.sqrt(1.0 - z * z)
    return np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1)


def lumps(distance: ArrayLike, centres: ArrayLike, stretches: ArrayLike, **look: Unpack[Look]) -> Mesh:
    """Closed smooth skins, (m, n) of `distance` m along n even directions, stretched, around (m, 3) centres."""
    reach = np.atleast_2d(distance)
    m, n = reach.shape
    points = np.reshape(centres, (m, 1, 3)) + directions(n) * reach[..., None] * np.reshape(stretches, (m, 1, 3))
    faces = n * np.arange(m)[:, None, None] + _faces_around(n)
    return box_mapped(mesh_of(points.reshape(-1, 3), faces.reshape(-1, 3), **look))


@cache
def _faces_around(n: int) -> Array:
    """The 2n - 4 triangles between n even directions, facing outwards."""
    points = directions(n)
    faces = ConvexHull(points).simplices
    p = points[faces]
    inward = np.sum(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]) * p.mean(axis=1), axis=1) < 0.0
    # the order of ConvexHull's faces is not defined; ours is by vertex numbers
    turned = np.where(inward[:, None], faces[:, ::-1], faces)
    return np.asarray(turned[np.lexsort(np.sort(turned, axis=1).T)])


def box_mapped(mesh: Mesh) -> Mesh:
    """No two faces share corners, and uv run along the two axes that a face faces least."""
    corners = mesh.faces.ravel()
    p = mesh.positions[corners].reshape(-1, 3, 3)
    facing = np.argmax(np.abs(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])), axis=1)
    axes = np.array([[1, 2], [0, 2], [0, 1]])[facing]
    uv = np.take_along_axis(p, axes[:, None, :], axis=2).reshape(-1, 2)
    return Mesh(
        mesh.positions[corners],
        mesh.normals[corners],
        uv,
        mesh.colours[corners],
        mesh.materials[corners],
        np.arange(len(corners), dtype=np.int32).reshape(-1, 3),
    )


def hull(points: Points, n: int, roughness: ArrayLike, **look: Unpack[Look]) -> Mesh:
    """2n - 4 triangles in the outline of a cloud of points; `roughness` (n,) moves the vertices in and out."""
    low, high = points.min(axis=0), points.max(axis=0)
    centre, stretch = 0.5 * (low + high), np.maximum(0.5 * (high - low), 0.05)
    local = (points - centre) / stretch
    distance = np.linalg.norm(local, axis=1)
    aim = directions(n)
    near = np.argsort(-(unit(local) @ aim.T), axis=0, kind="stable")[: max(6, len(points) // n)]
    return lumps(np.quantile(distance[near], 0.85, axis=0) * roughness, centre, stretch, **look)


def skirt(
    apex: tuple[float, float, float], radius: float, drop: float, points: int, turn: float, **look: Unpack[Look]
) -> Mesh:
    """A jagged cone that is open below: `points` tips hang `drop` m under the apex, the notches between them less."""
    k = np.arange(2 * points)
    tip = k % 2 == 0
    angle = np.pi * k / points + turn
    r = np.where(tip, 1.0, 0.66) * radius
    z = np.where(tip, -1.0, -0.72) * drop
    rim = np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=1) + np.asarray(apex)
    faces = np.stack([np.full(len(k), len(k)), k, (k + 1) % len(k)], axis=1)
    return box_mapped(mesh_of(np.vstack([rim, apex]), faces, **look))


class Light:
    """The brightness of foliage at a point of the crown: dark in the middle, light on top and outside."""

    def __init__(self, sprays: Sprays) -> None:
        p = sprays.middle
        low, high = p.min(axis=0), p.max(axis=0)
        self._centre, self._half = 0.5 * (low + high), np.maximum(0.5 * (high - low), 0.05)

    def at(self, points: NDArray[np.floating], outward: NDArray[np.floating]) -> Points:
        local = (points - self._centre) / self._half
        outside = np.clip(np.linalg.norm(local * [1.0, 1.0, 0.7], axis=1), 0.0, 1.1)
        light = 0.62 + 0.27 * outside + 0.08 * (local[:, 2] + 1.0) + 0.12 * outward[:, 2]
        return np.asarray(np.clip(light, 0.2, 1.0))[:, None] * np.ones(3)

    def of_sprays(self, sprays: Sprays) -> Points:
        return self.at(sprays.middle, sprays.outward)

    def on(self, mesh: Mesh, shade: float, generator: np.random.Generator | None = None) -> Mesh:
        """The mesh with this light. With a generator, the brightness of its faces varies as in clumps of leaves."""
        light = shade * self.at(mesh.positions, mesh.normals)
        if generator is not None:
            light *= np.repeat(generator.uniform(0.84, 1.16, (len(light) // 3, 1)), 3, axis=0)
        return coloured(mesh, light)


def speckle(n: int, generator: np.random.Generator) -> Points:
    """(n, 3) factors: each spray differs a little from its neighbour in brightness and hue."""
    hue = 1.0 + generator.normal(0.0, [0.05, 0.02, 0.04], (n, 3))
    return np.asarray(hue * generator.normal(0.97, 0.06, (n, 1)))


def tinted(colour: Colour, tint: Tint) -> Colour:
    """A colour multiplied and kept within 0 to 255."""
    r, g, b = (int(np.clip(c * t, 0, 255)) for c, t in zip(colour, tint, strict=True))
    return r, g, b
