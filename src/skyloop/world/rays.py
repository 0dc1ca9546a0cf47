"""Rays against everything in the world: Embree for the triangles, Numba for the work around it.

All standing objects are one Embree scene in world axes. Each distinct moving shape has its own scene in the part's
axes, built once; rays are transformed into those axes, never triangles into the world's. Embree computes in float32:
the distance to a surface less than 100 m away is within 0.2 mm of exact.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene
from numba import boolean, float32, float64, int32, int64, types, uint8, void
from numpy.typing import ArrayLike, NDArray

from skyloop.core.jit import inlined, kernel, record_type
from skyloop.world.mesh import Mesh
from skyloop.world.model import Model, MoverStates
from skyloop_client.messages import Array

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class RayHits:
    """The first hit of each ray."""

    distance: Floats
    """(n,) m; inf: nothing within range."""
    row: NDArray[np.int32]
    """(n,) row of the model; -1: nothing."""
    material: NDArray[np.uint8]
    """(n,) of the surface; 0 where nothing was hit."""
    normal: Floats
    """(n, 3) unit, world, of the flat triangle, towards the ray's origin; zero where nothing was hit."""


_RAYS, _LINE, _ROWS = float32[:, ::1], float32[::1], int32[::1]


@inlined
def _note(k, far, normal, directions, row, material, hits):
    """Writes the hit of ray k, with its normal turned against the ray."""
    nx, ny, nz = normal
    distance, rows, materials, normals = hits
    size = np.sqrt(nx * nx + ny * ny + nz * nz)
    if nx * directions[k, 0] + ny * directions[k, 1] + nz * directions[k, 2] > 0.0:
        size = -size
    scale = 1.0 / size if size != 0.0 else 0.0
    distance[k], rows[k], materials[k] = far, row, material
    normals[k, 0], normals[k, 1], normals[k, 2] = nx * scale, ny * scale, nz * scale


_ANSWER = types.Tuple((_ROWS, _LINE, _RAYS))
"""Embree's result: triangle (-1: none), distance and unscaled normal."""
_HITS = types.Tuple((_LINE, _ROWS, uint8[::1], _RAYS))
"""The fields of RayHits."""


@kernel(void(_ANSWER, _RAYS, _ROWS, uint8[::1], _HITS))
def _take_all(answer, directions, row_of, material_of, hits):
    """Converts Embree's result for all rays to RayHits."""
    prim, far, ng = answer
    distance, rows, materials, normals = hits
    for k in range(prim.shape[0]):
        if prim[k] < 0:
            distance[k], rows[k], materials[k] = np.inf, -1, 0
            normals[k, 0] = normals[k, 1] = normals[k, 2] = 0.0
        else:
            normal = (ng[k, 0], ng[k, 1], ng[k, 2])
            _note(k, far[k], normal, directions, row_of[prim[k]], material_of[prim[k]], hits)


@kernel(void(_ROWS, _ANSWER, float64[:, ::1], _RAYS, int64, uint8[::1], _HITS))
def _take_nearer(index, answer, part_from_world, directions, row, material_of, hits):
    """Merges Embree's result for the rays `index`, in a part's axes, where it is nearer than the hits so far."""
    prim, far, ng = answer
    distance, m = hits[0], part_from_world
    for i in range(index.shape[0]):
        if prim[i] >= 0 and far[i] < distance[index[i]]:
            a, b, c = float64(ng[i, 0]), float64(ng[i, 1]), float64(ng[i, 2])
            # normals transform by the inverse transpose
            nx = m[0, 0] * a + m[1, 0] * b + m[2, 0] * c
            ny = m[0, 1] * a + m[1, 1] * b + m[2, 1] * c
            nz = m[0, 2] * a + m[1, 2] * b + m[2, 2] * c
            _note(index[i], far[i], (nx, ny, nz), directions, row, material_of[prim[i]], hits)


@inlined
def _comes_near(k, origins, directions, reach, centre, radius):
    """Whether ray k, no longer than `reach`, touches the sphere."""
    x, y, z = centre[0] - origins[k, 0], centre[1] - origins[k, 1], centre[2] - origins[k, 2]
    along = x * directions[k, 0] + y * directions[k, 1] + z * directions[k, 2]
    if along < -radius or along - radius > reach:
        return False
    return x * x + y * y + z * z - along * along <= radius * radius


_POINTS, _POSES = float64[:, ::1], float64[:, :, ::1]


class Spheres(NamedTuple):
    """Bounding spheres of a moving object and of each of its parts."""

    middle: Array
    """(3,) m, world."""
    radius: float
    centres: Array
    """(n, 3) m, world, of the parts."""
    radii: Array
    parts_from_world: Array
    """(n, 3, 4)."""
    shown: NDArray[np.bool_]
    """(n,) False: rays pass through this part."""


_SPHERES = record_type(
    Spheres,
    middle=float64[::1],
    radius=float64,
    centres=_POINTS,
    radii=float64[::1],
    parts_from_world=_POSES,
    shown=boolean[::1],
)


@kernel(
    int64(
        types.Tuple((_RAYS, _RAYS, _LINE, float64)), _SPHERES, _ROWS, int64[::1],
        types.Tuple((_ROWS, _RAYS, _RAYS, _LINE)),
    )
)  # fmt: skip
def _into_parts(rays, spheres, picked, ends, room):
    """Selects the rays that touch the spheres of an object's parts, in the axes of each part, grouped by part.

    rays: their origins, directions, distances so far and range; room: as `_room` makes it. `ends` gives where each
    part's rays end. Returns the largest possible number of rays; nothing is written if they do not fit.
    """
    origins, directions, distance, max_range = rays
    group = Spheres(*spheres)
    index, starts, along, far = room
    centres, radii, parts_from_world, shown = group.centres, group.radii, group.parts_from_world, group.shown
    near = 0
    middle = (group.middle[0], group.middle[1], group.middle[2])
    for k in range(origins.shape[0]):
        if _comes_near(k, origins, directions, min(max_range, distance[k]), middle, group.radius):
            picked[near] = k
            near += 1
    count, most = 0, near * centres.shape[0]
    for part in range(centres.shape[0] if most <= index.shape[0] else 0):
        m = parts_from_world[part]
        centre = (centres[part, 0], centres[part, 1], centres[part, 2])
        for i in range(near if shown[part] else 0):
            k = picked[i]
            reach = min(max_range, float64(distance[k]))
            if _comes_near(k, origins, directions, reach, centre, radii[part]):
                index[count], far[count] = k, reach
                for j in range(3):
                    turned_start, turned_along = m[j, 3], 0.0
                    for axis in range(3):
                        turned_start += m[j, axis] * origins[k, axis]
                        turned_along += m[j, axis] * directions[k, axis]
                    starts[count, j], along[count, j] = turned_start, turned_along
                count += 1
        ends[part] = count
    return most


class _Tree:
    """Triangles in an Embree scene."""

    def __init__(self, vertices: Floats, faces: NDArray[np.int32], materials: NDArray[np.uint8]) -> None:
        self.materials = materials
        self.scene = EmbreeScene()
        # the scene does not keep its geometry alive
        self._geometry = TriangleMesh(self.scene, vertices, faces)

    def run(self, origins: Floats, directions: Floats, far: Floats) -> tuple[NDArray[np.int32], Floats, Floats]:
        """Triangle (-1: none), distance and unscaled normal; `far` (n,) limits each ray and is overwritten."""
        answer = self.scene.run(origins, directions, dists=far, output=True)
        return answer["primID"], answer["tfar"], answer["Ng"]


def face_materials(mesh: Mesh) -> NDArray[np.uint8]:
    return mesh.materials[mesh.faces[:, 0]]


class RayTracer:
    """Casts rays into a frozen model; its scenes are built at the first cast."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._standing: _Tree | None = None
        self._row_of_triangle: NDArray[np.int32] = np.empty(0, np.int32)
        self._parts: dict[int, _Tree] = {}
        n = model.n_standing
        shapes = model.part_shape[n:]
        spheres = {number: _sphere(model.shapes[number].lods[0]) for number in np.unique(shapes).tolist()}
        self._part_centres: Array = np.array([spheres[number][0] for number in shapes.tolist()]).reshape(-1, 3)
        self._part_radii: Array = np.array([spheres[number][1] for number in shapes.tolist()])
        # parts of one object are consecutive
        self._group_starts = np.flatnonzero(np.diff(model.part_object[n:], prepend=-1))

    def cast(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        max_range: float,
        motion: MoverStates | None,
        hidden_parts: tuple[int, int] | None = None,
    ) -> RayHits:
        """Casts (n, 3) rays with unit directions, world axes, at all standing objects and, given `motion`, all moving
        objects.

        hidden_parts: first and last + 1 of the movers' rows that rays pass through.
        """
        starts = np.ascontiguousarray(origins, np.float32)
        along = np.ascontiguousarray(directions, np.float32)
        standing = self._stood()
        n = len(starts)
        hits = RayHits(
            np.empty(n, np.float32), np.empty(n, np.int32), np.empty(n, np.uint8), np.empty((n, 3), np.float32)
        )
        answer = standing.run(starts, along, np.full(n, max_range, np.float32))
        _take_all(answer, along, self._row_of_triangle, standing.materials, _arrays(hits))
        if motion is not None and len(motion.poses) and n:
            self._cast_at_movers(starts, along, float(max_range), motion.poses, hidden_parts or (0, 0), hits)
        return hits

    def embree_scene(self) -> EmbreeScene:
        """The scene of all standing objects, for direct use of Embree."""
        return self._stood().scene

    def _stood(self) -> _Tree:
        if self._standing is None:
            self._standing = self._build()
        return self._standing

    def _cast_at_movers(
        self, starts: Floats, along: Floats, max_range: float, poses: Array, hidden: tuple[int, int], hits: RayHits
    ) -> None:
        scale = np.sqrt(np.sum(np.square(poses[:, :, :3]), axis=1).max(axis=1))
        # a little larger than exact, for float32
        radii = 1.001 * scale * self._part_radii + 1e-3
        centres = np.einsum("nij,nj->ni", poses[:, :, :3], self._part_centres) + poses[:, :, 3]
        middles, group_radii, seen = self._groups(centres, radii, starts, max_range, hidden)
        parts_from_world = inverses(poses)
        rows = self._model.n_standing + np.arange(len(poses))
        shown = (rows < hidden[0]) | (rows >= hidden[1])
        rays = (starts, along, hits.distance, max_range)
        picked, room = np.empty(len(starts), np.int32), _room(2 * len(starts))
        bounds = [*self._group_starts.tolist(), len(poses)]
        for group in np.flatnonzero(seen).tolist():
            own = slice(bounds[group], bounds[group + 1])
            ends = np.zeros(own.stop - own.start, np.int64)
            spheres = Spheres(
                middles[group], group_radii[group], centres[own], radii[own], parts_from_world[own], shown[own]
            )
            most = _into_parts(rays, tuple(spheres), picked, ends, room)
            if most > len(room[0]):
                room = _room(most)
                _into_parts(rays, tuple(spheres), picked, ends, room)
            for part, (first, end) in enumerate(pairwise([0, *ends.tolist()]), own.start):
                if first < end:
                    index, *part_rays = room[0][first:end], *(buffer[first:end] for buffer in room[1:])
                    row = int(rows[part])
                    tree = self._part(int(self._model.part_shape[row]))
                    answer = tree.run(*part_rays)
                    _take_nearer(index, answer, parts_from_world[part], along, row, tree.materials, _arrays(hits))

    def _groups(
        self, centres: Array, radii: Array, starts: Floats, max_range: float, hidden: tuple[int, int]
    ) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Bounding spheres of the moving objects, and which of them a ray can reach."""
        first = self._group_starts
        counts = np.diff(first, append=len(centres))
        middles = np.add.reduceat(centres, first) / counts[:, None]
        apart = np.linalg.norm(centres - np.repeat(middles, counts, axis=0), axis=1)
        group_radii = np.maximum.reduceat(apart + radii, first)
        # by columns: numpy is thirty times slower along the short axis
        low, high = (np.array([side(starts[:, axis]) for axis in range(3)]) for side in (np.min, np.max))
        away = np.linalg.norm(np.maximum(np.maximum(low - middles, middles - high), 0.0), axis=1)
        last = first + counts - 1 + self._model.n_standing
        is_hidden = (first + self._model.n_standing >= hidden[0]) & (last < hidden[1])
        return middles, group_radii, (away - group_radii <= max_range) & ~is_hidden

    def _part(self, number: int) -> _Tree:
        if number not in self._parts:
            mesh = self._model.shapes[number].lods[0]
            self._parts[number] = _Tree(mesh.positions, mesh.faces, face_materials(mesh))
        return self._parts[number]

    def _build(self) -> _Tree:
        """Builds the scene of all standing objects, in world axes."""
        model = self._model
        meshes = [model.shapes[number].lods[0] for number in model.part_shape[: model.n_standing].tolist()]
        vertices = np.empty((sum(len(mesh.positions) for mesh in meshes), 3), np.float32)
        n_faces = sum(len(mesh.faces) for mesh in meshes)
        faces = np.empty((n_faces, 3), np.int32)
        materials = np.empty(n_faces, np.uint8)
        self._row_of_triangle = np.empty(n_faces, np.int32)
        vertex = face = 0
        for row, (mesh, pose) in enumerate(zip(meshes, model.standing_poses, strict=True)):
            vertex_end, face_end = vertex + len(mesh.positions), face + len(mesh.faces)
            vertices[vertex:vertex_end] = mesh.positions @ pose[:, :3].T + pose[:, 3]
            faces[face:face_end] = mesh.faces + vertex
            materials[face:face_end] = face_materials(mesh)
            self._row_of_triangle[face:face_end] = row
            vertex, face = vertex_end, face_end
        return _Tree(vertices, faces, materials)


def _arrays(hits: RayHits) -> tuple[NDArray[np.generic], ...]:
    return hits.distance, hits.row, hits.material, hits.normal


def _sphere(mesh: Mesh) -> tuple[Array, float]:
    """Bounding sphere of a mesh, in its own axes."""
    points = mesh.positions.astype(np.float64)
    centre = 0.5 * (points.min(axis=0) + points.max(axis=0))
    return centre, float(np.linalg.norm(points - centre, axis=1).max())


def inverses(poses: Array) -> Array:
    """(m, 3, 4) part_from_world."""
    turns = np.linalg.inv(poses[:, :, :3])
    return np.concatenate([turns, -(turns @ poses[:, :, 3:])], axis=2)


def _room(n: int) -> tuple[NDArray[np.int32], Floats, Floats, Floats]:
    """Buffers for n rays of parts: their numbers, origins, directions and reach."""
    return np.empty(n, np.int32), np.empty((n, 3), np.float32), np.empty((n, 3), np.float32), np.empty(n, np.float32)
