"""A user's own world: the meshes of a glTF, GLB or OBJ file, or what an SDF file of Gazebo describes.

Each mesh is an object whose name gives its class and material. Triangles, node transforms, normals (faces without are
flat) and base colours are taken. An image of a glTF or OBJ file counts with its mean colour, and a material recognised
by name uses our texture; images that an SDF file names are shown. glTF and OBJ are read as y up, which is glTF's
standard and what most OBJ exporters do; SDF is z up. `up` changes that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from skyloop.world.ground import Ground
from skyloop.world.lamps import Lamp, LampState
from skyloop.world.materials import MATERIAL_ID, MATERIALS
from skyloop.world.mesh import Indices, Mesh, box
from skyloop.world.mesh_files import ImportedMesh, colours_of, own_normals, read_parts
from skyloop.world.model import MOST_PICTURES, PICTURE_PX, Model, Shape
from skyloop.world.scenery.interiors import place_plain
from skyloop.world.sdf import SDF_ENDINGS, PointLight, SdfWorld, read_sdf
from skyloop.world.semantics import CLASS_ID, CLASS_WORDS, MATERIAL_WORDS, check_meanings, meaning_of
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

FARTHEST = 1e5
"""m; beyond it 32-bit positions are coarser than a centimetre."""
Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
LOD_TRIANGLES = 600
FLOOR_SHARE = 0.05
"""A file has its own floor if level faces at its lowest height cover more than this share of its area."""


class Imported:
    def __init__(
        self,
        path: Path,
        *,
        scale: float = 1.0,
        up: Literal["y", "z"] | None = None,
        ground: float | bool = True,
        classes: Mapping[str, str] | None = None,
        materials: Mapping[str, str] | None = None,
        models: str | Sequence[str] = (),
    ) -> None:
        """scale: m, the length of one unit of the file.
        up: The upward axis of the file, y or z; null is y, and z of an SDF file.
        ground: m, the height of the level ground vehicles stand on; true: the lowest point of the file, or the level
            plane of an SDF file; false: the same height, but the ground is not drawn.
        classes: Patterns of names (`*`, `?`; upper and lower case are alike) and the class they mean. A name that no
            pattern fits gets its class from its words ("Tree_03"), else it is an object.
        materials: Patterns of names and the material they mean.
        models: Folders in which an SDF file's `model://` is looked for, seen from the file: one, or a list. The file's
            own folder and `models` in it are always among them.
        """
        self._check(scale, up, ground)
        self._classes, self._materials = classes or {}, materials or {}
        check_meanings("classes", self._classes, CLASS_ID)
        check_meanings("materials", self._materials, MATERIAL_ID)
        self._path, self._scale = Path(path), scale
        found = self._read([models] if isinstance(models, str) else models)
        is_z_up = up == "z" or (up is None and self._path.suffix.lower() in SDF_ENDINGS)
        self._turn = np.eye(3) if is_z_up else Y_UP
        self._shapes: dict[tuple[int, str], _Centred] = {}
        self._pictures: dict[int, int] = {}
        self._kept: list[object] = []
        """Pictures whose ids are in use."""
        self.model = Model()
        spots = [spot for part in found.parts if (spot := self._place(part)) is not None]
        if not spots:
            raise ScenarioError(f"world file '{path}' holds no triangles with an area; export meshes, not lines")
        self._low, self._high = np.min([s[0] for s in spots], axis=0), np.max([s[1] for s in spots], axis=0)
        for light in found.lights:
            self._place_light(light)
        lowest = float(self._low[2]) if found.ground is None else scale * found.ground
        height = lowest if isinstance(ground, bool) else float(ground)
        self.ground = Ground.flat(height)
        if ground is not False:
            self._place_ground(height, lowest, sum(spot[2] for spot in spots))

    def _read(self, models: Sequence[str]) -> SdfWorld:
        if self._path.suffix.lower() in SDF_ENDINGS:
            return read_sdf(self._path, [self._path.parent / folder for folder in models])
        if models:
            raise ScenarioError(f"imported world: models are for SDF files; '{self._path}' includes none")
        return SdfWorld(read_parts(self._path))

    @staticmethod
    def _check(scale: Any, up: Any, ground: Any) -> None:
        if isinstance(scale, bool) or not isinstance(scale, int | float) or not 0.0 < scale <= 1e6:
            raise ScenarioError(f"imported world: scale is {scale!r}; give m per unit of the file, from above 0 to 1e6")
        if up not in ("y", "z", None):
            raise ScenarioError(f"imported world: up is {up!r}; give y or z")
        if not isinstance(ground, int | float) or not math.isfinite(ground):
            raise ScenarioError(f"imported world: ground is {ground!r}; give a height in m, true or false")

    def _place(self, part: ImportedMesh) -> tuple[Array, Array, float] | None:
        """Places a part. Returns its lowest and highest corner and m² of floor in it; None if no face has an area."""
        names = (part.node, part.mesh, part.material)
        is_a = meaning_of(names, self._classes, CLASS_WORDS, "object")
        picture = self._picture(part)
        words, otherwise = (MATERIAL_WORDS, "plain") if picture is None else ({}, "picture")
        material = meaning_of(names[::-1], self._materials, words, otherwise)
        key = id(part.geometry), material
        linear = self._scale * self._turn @ part.placed[:3, :3] @ self._turn.T
        offset = self._scale * self._turn @ part.placed[:3, 3]
        self._check_reach(part, linear, offset)
        size = math.sqrt(float(np.sum(linear * linear)) / 3.0)
        square = size * size
        if np.linalg.det(linear) > 0.0 and np.allclose(linear @ linear.T, square * np.eye(3), atol=1e-5 * square):
            # only rotated and uniformly scaled: nodes that show the same mesh share its shape
            if key not in self._shapes:
                self._shapes[key] = _Centred.of(part, material, self._turn, size)
            centred, rotation, scale = self._shapes[key], linear / size, size
        else:
            centred, rotation, scale = _Centred.of(part, material, linear @ self._turn, 1.0), np.eye(3), 1.0
        if centred.shape is None:
            return None
        position = scale * rotation @ centred.middle + offset
        shape = centred.shape
        if part.solids is not None:
            # in the axes of the shape as it is placed
            world = [(mesh, self._scale * self._turn @ placed[:3]) for mesh, placed in part.solids]
            points = [np.asarray(mesh.vertices) @ to[:, :3].T + to[:, 3] for mesh, to in world]
            faces = [np.asarray(mesh.faces) for mesh, _ in world]
            shape = replace(shape, hull=_hull([(p - position) @ rotation / scale for p in points], faces))
        self.model.place(
            shape, position, rotation=rotation, scale=scale, is_a=is_a, name=part.node, variant=picture or 0
        )
        full = shape.lods[0]
        corners = scale * full.positions @ rotation.T + position
        low, high = corners.min(axis=0), corners.max(axis=0)
        return low, high, _level_area(corners, full.faces, float(low[2]))

    def _check_reach(self, part: ImportedMesh, linear: Array, offset: Array) -> None:
        farthest = float(np.abs(part.geometry.vertices).max())
        if np.abs(offset).max() + 2.0 * np.abs(linear).max() * farthest > FARTHEST:
            raise ScenarioError(
                f"world file '{self._path}': '{part.node}' reaches beyond {FARTHEST:g} m; move it, or give a scale"
            )

    def _picture(self, part: ImportedMesh) -> int | None:
        """The number of the picture that a part shows."""
        if part.picture is None:
            return None
        if id(part.picture) not in self._pictures:
            if len(self._pictures) == MOST_PICTURES:
                raise ScenarioError(f"world file '{self._path}' has more than {MOST_PICTURES} pictures; use fewer")
            self._pictures[id(part.picture)] = len(self._pictures)
            small = part.picture.convert("RGB").resize((PICTURE_PX, PICTURE_PX))
            # texture coordinates count from the lower left
            self.model.pictures.append(np.ascontiguousarray(np.asarray(small)[::-1]))
            self._kept.append(part.picture)
        return self._pictures[id(part.picture)]

    def _place_light(self, light: PointLight) -> None:
        """As a lamp that is on; its body is a speck that stops nothing."""
        speck = box((0.01, 0.01, 0.01)).painted((255, 255, 255), material="plastic")
        shape = Shape(
            light.name, (speck,), casts_shadow=False, lamp=Lamp((0.0, 0.0, 0.0), 0.0, light.colour), hull=_hull()
        )
        place = self._scale * self._turn @ light.place
        self.model.lamps[self.model.place(shape, place, is_a="lamp", name=light.name)] = LampState(
            light.intensity, True
        )

    def _place_ground(self, height: float, lowest: float, floor_area: float) -> None:
        (x0, y0), (x1, y1) = self._low[:2].tolist(), self._high[:2].tolist()
        own_floor = abs(height - lowest) < 0.02 and floor_area > FLOOR_SHARE * (x1 - x0) * (y1 - y0)
        # if the file has its own floor, the plain is 3 cm lower there, so that the two do not flicker; otherwise the
        # hole only needs some width, because the file may be a single upright sheet
        sunk, wider = (0.03, 0.0) if own_floor else (0.0, 1.0)
        hole = (x0 - wider, y0 - wider, x1 + wider, y1 + wider)
        place_plain(self.model, hole, material="grass", height=height, sunk=sunk)


def _hull(points: Sequence[Array] = (), faces: Sequence[Indices] = ()) -> Mesh:
    """What stops vehicles; of it only places and faces count."""
    starts = np.cumsum([0, *map(len, points)])
    joined = [each + start for each, start in zip(faces, starts, strict=False)]
    n = int(starts[-1])
    places = np.concatenate([np.empty((0, 3)), *points]).astype(np.float32)
    blank, zeros = np.zeros((n, 4), np.uint8), np.zeros((n, 3), np.float32)
    return Mesh(
        places, zeros, zeros[:, :2], blank, blank[:, 0], np.concatenate([np.empty((0, 3)), *joined]).astype(np.int32)
    )


def _level_area(corners: Array, faces: Indices, height: float) -> float:
    """m² of faces that lie within 1 cm of the height."""
    p = corners[faces]
    lying = p[np.abs(p[..., 2] - height).max(axis=1) < 0.01]
    return float(0.5 * np.linalg.norm(np.cross(lying[:, 1] - lying[:, 0], lying[:, 2] - lying[:, 0]), axis=1).sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Centred:
    """A shape around the middle of its bounding box, which makes culling effective, and the position of that middle."""

    shape: Shape | None
    """None where no face has an area."""
    middle: Array

    @staticmethod
    def of(part: ImportedMesh, material: str, linear: Array, unit: float) -> _Centred:
        """linear: (3, 3) applied to the file's vertices; unit: m per unit of the result, for the texture."""
        points = np.asarray(part.geometry.vertices, float) @ linear.T
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        mesh = _mesh(part, points - middle, material, linear, unit)
        if mesh is None:
            return _Centred(None, middle)
        if len(mesh.faces) <= LOD_TRIANGLES:
            return _Centred(Shape(part.mesh, (mesh,)), middle)
        # a cell is less than two pixels wide where the coarser mesh is used (640 px over 80°)
        coarse = _thinned(mesh, mesh.radius / 8.0)
        return _Centred(Shape(part.mesh, (mesh, coarse), (28.0 * mesh.radius * unit,)), middle)


def _mesh(part: ImportedMesh, points: Array, material: str, linear: Array, unit: float) -> Mesh | None:
    mirrored = np.linalg.det(linear) < 0.0
    faces = np.asarray(part.geometry.faces)[:, :: -1 if mirrored else 1]
    p = points[faces]
    across = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    area = np.linalg.norm(across, axis=1)
    extent = float(np.ptp(points, axis=0).max(initial=0.0))
    kept = area > 1e-12 * extent * extent
    if not kept.any():
        return None
    faces, facing = faces[kept], across[kept] / area[kept, None]
    colours, given = colours_of(part.geometry), own_normals(part.geometry)
    if MATERIALS[MATERIAL_ID[material]].texture != "plain":
        colours = np.full((1, 3), 255, np.uint8)  # our texture has its own colours
    corners = faces.ravel()
    if given is None or abs(np.linalg.det(linear)) < 1e-12:
        normals = np.repeat(facing, 3, axis=0)
    else:
        normals = given[corners] @ np.linalg.inv(linear)
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    rgb = colours[corners] if len(colours) > 1 else np.tile(colours, (len(corners), 1))
    if material == "picture":
        visual: Any = part.geometry.visual
        uv = np.asarray(visual.uv, float)[corners]
    else:
        uv = unit * _flat_uv(points[corners], np.repeat(facing, 3, axis=0))
    return Mesh(
        points[corners].astype(np.float32),
        normals.astype(np.float32),
        uv.astype(np.float32),
        np.column_stack([rgb, np.zeros(len(rgb), np.uint8)]),
        np.full(len(corners), MATERIAL_ID[material], np.uint8),
        np.arange(len(corners), dtype=np.int32).reshape(-1, 3),
    )


def _flat_uv(points: Array, facing: Array) -> Array:
    """Metres along the two axes to which a face is most parallel."""
    axis = np.abs(facing).argmax(axis=1)
    across = np.array([[1, 2], [0, 2], [0, 1]])[axis]
    return np.take_along_axis(points, across, axis=1)


def _thinned(mesh: Mesh, cell: float) -> Mesh:
    """Merges the corners in each cell; faces that collapse are removed."""
    index = np.floor(mesh.positions / cell).astype(np.int64)
    _, group = np.unique(index, axis=0, return_inverse=True)
    group = group.ravel()
    count = np.bincount(group)[:, None]
    means = np.stack([np.bincount(group, mesh.positions[:, k]) for k in range(3)], axis=1) / count
    faces = group[mesh.faces]
    whole = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    if not whole.any():
        return mesh
    # two faces over the same three cells count as one
    _, first = np.unique(np.sort(faces[whole], axis=1), axis=0, return_index=True)
    kept = mesh.faces[whole][first].ravel()
    return Mesh(
        means[group[kept]].astype(np.float32),
        mesh.normals[kept],
        mesh.uv[kept],
        mesh.colours[kept],
        mesh.materials[kept],
        np.arange(len(kept), dtype=np.int32).reshape(-1, 3),
    )
