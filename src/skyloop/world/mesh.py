"""Triangle meshes with normals, texture coordinates in metres, colours and materials; and simple bodies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop.world.materials import MATERIAL_ID
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

Indices = NDArray[np.integer]
Colour = tuple[int, int, int]
WHITE: Colour = (255, 255, 255)


@dataclass(frozen=True, eq=False)
class Mesh:
    """Faces are visible from both sides; the normal at a face's corners points to its front."""

    positions: NDArray[np.float32]
    """(n, 3) m."""
    normals: NDArray[np.float32]
    """(n, 3) unit."""
    uv: NDArray[np.float32]
    """(n, 2) m along the surface; each material defines how many metres its texture covers."""
    colours: NDArray[np.uint8]
    """(n, 4) red, green, blue (a factor on the texture) and a paint slot: with 0 only this colour counts, 1..7 also
    multiply by that colour of the placement's palette."""
    materials: NDArray[np.uint8]
    """(n,) index into MATERIALS; the same for the three corners of a face."""
    faces: NDArray[np.int32]
    """(m, 3) counter-clockwise seen from the front."""

    def __post_init__(self) -> None:
        n = len(self.positions)
        for name, given, shape, kind in (
            ("positions", self.positions, (n, 3), np.float32),
            ("normals", self.normals, (n, 3), np.float32),
            ("uv", self.uv, (n, 2), np.float32),
            ("colours", self.colours, (n, 4), np.uint8),
            ("materials", self.materials, (n,), np.uint8),
        ):
            array = np.ascontiguousarray(given, kind)
            if array.shape != shape:
                raise ScenarioError(f"mesh {name} have shape {array.shape}, {shape} is needed")
            object.__setattr__(self, name, array)
        faces = np.ascontiguousarray(self.faces, np.int32).reshape(-1, 3)
        if len(faces) and (faces.min() < 0 or faces.max() >= n):
            raise ScenarioError(f"mesh faces refer to vertices beyond the {n} there are")
        object.__setattr__(self, "faces", faces)

    @cached_property
    def radius(self) -> float:
        """m from the origin to the farthest vertex."""
        return float(np.sqrt(np.sum(np.square(self.positions), axis=1).max(initial=0.0)))

    def moved(
        self, offset: ArrayLike = (0, 0, 0), *, yaw: float = 0.0, rotation: Array | None = None, scale: ArrayLike = 1.0
    ) -> Mesh:
        """Scaled, then rotated (by a 3 by 3 rotation, or about up), then shifted; uv are metres only at scale 1."""
        rotation = about_up(yaw) if rotation is None else rotation
        scales = np.broadcast_to(np.asarray(scale, float), (3,))
        positions = (self.positions * scales) @ rotation.T + np.asarray(offset, float)
        normals = (self.normals / scales) @ rotation.T
        return replace(self, positions=positions, normals=unit(normals).astype(np.float32))

    def painted(self, colour: Colour = WHITE, *, slot: int = 0, material: str | None = None) -> Mesh:
        colours = np.tile(np.array([*colour, slot], np.uint8), (len(self.positions), 1))
        if material is None:
            return replace(self, colours=colours)
        return replace(self, colours=colours, materials=np.full(len(self.positions), MATERIAL_ID[material], np.uint8))

    def flat(self) -> Mesh:
        """The mesh with flat-shaded faces; no two faces share corners."""
        corners = self.faces.ravel()
        p = self.positions[corners].reshape(-1, 3, 3)
        normals = np.repeat(unit(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])), 3, axis=0)
        return Mesh(
            self.positions[corners],
            normals.astype(np.float32),
            self.uv[corners],
            self.colours[corners],
            self.materials[corners],
            np.arange(len(corners), dtype=np.int32).reshape(-1, 3),
        )


def unit(vectors: ArrayLike) -> Array:
    """The vectors scaled to length 1."""
    array = np.asarray(vectors)
    return np.asarray(array / np.maximum(np.linalg.norm(array, axis=-1, keepdims=True), 1e-12))


def about_up(yaw: float) -> Array:
    """The rotation by a yaw."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


class Look(TypedDict, total=False):
    """What `mesh_of` and all that is built with it may be given."""

    material: str
    colour: Colour
    slot: int


def mesh_of(
    positions: ArrayLike,
    faces: ArrayLike,
    *,
    uv: ArrayLike | None = None,
    normals: ArrayLike | None = None,
    material: str = "plain",
    colour: Colour = WHITE,
    slot: int = 0,
) -> Mesh:
    """A mesh of one material and colour; missing normals are averaged over the faces around each vertex."""
    points = np.asarray(positions, np.float64).reshape(-1, 3)
    triangles = np.asarray(faces, np.int64).reshape(-1, 3)
    if normals is None:
        p = points[triangles]
        across = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
        summed = np.zeros_like(points)
        for corner in range(3):
            np.add.at(summed, triangles[:, corner], across)
        normals = unit(summed)
    return Mesh(
        points.astype(np.float32),
        np.asarray(normals, np.float32),
        np.asarray(points[:, :2] if uv is None else uv, np.float32),
        np.tile(np.array([*colour, slot], np.uint8), (len(points), 1)),
        np.full(len(points), MATERIAL_ID[material], np.uint8),
        triangles.astype(np.int32),
    )


def merged(meshes: Iterable[Mesh]) -> Mesh:
    parts = list(meshes)
    if not parts:
        raise ScenarioError("nothing to merge; give at least one mesh")
    offsets = np.cumsum([0, *(len(mesh.positions) for mesh in parts[:-1])])
    return Mesh(
        np.concatenate([mesh.positions for mesh in parts]),
        np.concatenate([mesh.normals for mesh in parts]),
        np.concatenate([mesh.uv for mesh in parts]),
        np.concatenate([mesh.colours for mesh in parts]),
        np.concatenate([mesh.materials for mesh in parts]),
        np.concatenate([mesh.faces + offset for mesh, offset in zip(parts, offsets, strict=True)]),
    )


def quad(a: ArrayLike, b: ArrayLike, c: ArrayLike, d: ArrayLike, **look: Unpack[Look]) -> Mesh:
    """A flat four-sided face, counter-clockwise from its front; u runs from a to b, v from a to d."""
    p = np.array([a, b, c, d], float)
    along = unit(p[1] - p[0])
    normal = unit(np.cross(p[1] - p[0], p[3] - p[0]))
    up = np.cross(normal, along)
    uv = np.stack([(p - p[0]) @ along, (p - p[0]) @ up], axis=1)
    return mesh_of(p, [[0, 1, 2], [0, 2, 3]], uv=uv, normals=np.tile(normal, (4, 1)), **look)


def box(
    size: Sequence[float], *, centre: Sequence[float] = (0, 0, 0), bottom: bool = True, **look: Unpack[Look]
) -> Mesh:
    """An axis-aligned box with six flat sides; five without its bottom."""
    x, y, z = (0.5 * float(s) for s in size)
    sides = [
        quad((-x, -y, -z), (x, -y, -z), (x, -y, z), (-x, -y, z), **look),
        quad((x, -y, -z), (x, y, -z), (x, y, z), (x, -y, z), **look),
        quad((x, y, -z), (-x, y, -z), (-x, y, z), (x, y, z), **look),
        quad((-x, y, -z), (-x, -y, -z), (-x, -y, z), (-x, y, z), **look),
        quad((-x, -y, z), (x, -y, z), (x, y, z), (-x, y, z), **look),
    ]
    if bottom:
        sides.append(quad((-x, y, -z), (x, y, -z), (x, -y, -z), (-x, -y, -z), **look))
    return merged(sides).moved(centre)


def loft(rings: ArrayLike, *, closed_ends: bool = True, v: ArrayLike | None = None, **look: Unpack[Look]) -> Mesh:
    """A smooth skin over (k, n, 3) rings, each counter-clockwise seen from the last ring towards the first."""
    points = np.asarray(rings, float)
    k, n = points.shape[:2]
    # a seam: the first point of a ring is repeated at its end, so that u continues
    points = np.concatenate([points, points[:, :1]], axis=1)
    around = np.linalg.norm(np.diff(points, axis=1), axis=2)
    u = np.concatenate([np.zeros((k, 1)), np.cumsum(around, axis=1)], axis=1)
    middles = points[:, :-1].mean(axis=1)
    steps = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(middles, axis=0), axis=1))])
    heights = np.broadcast_to(np.asarray(steps if v is None else v, float)[:, None], u.shape)
    index = np.arange(k * (n + 1)).reshape(k, n + 1)
    a, b, c, d = index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]
    faces = np.concatenate([np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)])
    normals = _loft_normals(points)
    parts = [
        mesh_of(
            points.reshape(-1, 3),
            faces,
            uv=np.stack([u, heights], -1).reshape(-1, 2),
            normals=normals.reshape(-1, 3),
            **look,
        )
    ]
    if closed_ends:
        for ring, order in ((points[0, :-1], -1), (points[-1, :-1], 1)):
            parts.append(_cap(ring[::order], **look))
    return merged(parts)


def _loft_normals(points: Array) -> Array:
    closed = np.concatenate([points[:, -2:-1], points, points[:, 1:2]], axis=1)
    around = closed[:, 2:] - closed[:, :-2]
    along = np.gradient(points, axis=0)
    return unit(np.cross(around, along))


def _cap(ring: Array, **look: Unpack[Look]) -> Mesh:
    middle = ring.mean(axis=0)
    n = len(ring)
    faces = [[n, i, (i + 1) % n] for i in range(n)]
    points = np.vstack([ring, middle])
    normal = unit(np.cross(ring[0] - middle, ring[max(1, n // 4)] - middle))
    return mesh_of(points, faces, normals=np.tile(normal, (n + 1, 1)), **look)


def circle(radius: ArrayLike, n: int, *, centre: Sequence[float] = (0, 0, 0)) -> Array:
    """(n, 3) counter-clockwise seen from above; `radius` is one number or (across x, across y)."""
    rx, ry = np.broadcast_to(np.asarray(radius, float), (2,))
    angle = 2.0 * np.pi * np.arange(n) / n
    ring = np.stack([rx * np.cos(angle), ry * np.sin(angle), np.zeros(n)], axis=1)
    return np.asarray(ring + np.asarray(centre, float))


def cylinder(radius: float, height: float, n: int = 12, *, top: float | None = None, **look: Unpack[Look]) -> Mesh:
    """A cylinder that stands on the origin; `top` is the radius of its upper end, for cones."""
    upper = radius if top is None else max(top, 1e-4)
    return loft([circle(radius, n), circle(upper, n, centre=(0, 0, height))], **look)


def ellipsoid(radii: ArrayLike, *, rings: int = 8, n: int = 12, **look: Unpack[Look]) -> Mesh:
    """An ellipsoid around the origin."""
    r = np.broadcast_to(np.asarray(radii, float), (3,))
    latitude = np.linspace(-np.pi / 2, np.pi / 2, rings + 1)
    around = 2.0 * np.pi * np.arange(n + 1) / n
    sphere = np.stack(
        [
            np.cos(latitude)[:, None] * np.cos(around),
            np.cos(latitude)[:, None] * np.sin(around),
            np.broadcast_to(np.sin(latitude)[:, None], (rings + 1, n + 1)),
        ],
        axis=-1,
    )
    index = np.arange((rings + 1) * (n + 1)).reshape(rings + 1, n + 1)
    a, b, c, d = index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]
    # at the poles one of the two triangles has no area
    faces = np.concatenate([np.stack([a, b, c], -1)[1:].reshape(-1, 3), np.stack([a, c, d], -1)[:-1].reshape(-1, 3)])
    uv = np.stack([np.broadcast_to(around * r[:2].mean(), sphere.shape[:2]), sphere[..., 2] * r[2]], -1)
    points = (sphere * r).reshape(-1, 3)
    return mesh_of(points, faces, uv=uv.reshape(-1, 2), normals=unit(sphere / r).reshape(-1, 3), **look)
