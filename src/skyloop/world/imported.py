"""A user's own world: the meshes of a glTF, GLB or OBJ file. Each is an object whose name gives its class and material.

From the file it reads triangles, node transforms, normals (faces without are flat) and base colours (an image counts
with its mean colour). Images are not shown; a material recognised by name uses our texture. Both formats are read as y
up, which is glTF's standard and what most OBJ exporters do; `up: z` changes that.
A bad file gives an error of one line.
"""

from __future__ import annotations

import io
import logging
import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import trimesh
from numpy.typing import NDArray
from trimesh.resolvers import FilePathResolver
from trimesh.visual import TextureVisuals
from trimesh.visual.material import Material, PBRMaterial, SimpleMaterial

from skyloop.world.ground import Ground
from skyloop.world.materials import MATERIAL_ID, MATERIALS
from skyloop.world.mesh import Indices, Mesh
from skyloop.world.model import Model, Shape
from skyloop.world.scenery.interiors import place_plain
from skyloop.world.semantics import CLASS_ID, CLASS_WORDS, MATERIAL_WORDS, check_meanings, meaning_of
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

ENDINGS = (".glb", ".gltf", ".obj")
MOST_TRIANGLES = 3_000_000
MOST_BYTES = 2**30
FARTHEST = 1e5
"""m; beyond it 32-bit positions are coarser than a centimetre."""


@dataclass(frozen=True, slots=True, eq=False)
class ImportedMesh:
    """One mesh of one material at the position that one node gives it."""

    node: str
    mesh: str
    material: str
    placed: Array
    """(4, 4) as in the file."""
    geometry: trimesh.Trimesh
    """Shared by the nodes that show the same mesh."""


def read_parts(path: Path) -> list[ImportedMesh]:
    """Every mesh of the file, once per node that shows it, sorted by the nodes' names."""
    _check_file(path)
    try:
        with _quietly():
            scene = _scene(path)
            parts = [_part(scene, node) for node in sorted(scene.graph.nodes_geometry, key=str)]
    except Exception as error:  # a parser may fail in any way on a broken file
        raise ScenarioError(
            f"world file '{path}' is damaged or no {path.suffix[1:].lower()} file ({_in_short(error)}); export it again"
        ) from None
    parts = [part for part in parts if isinstance(part.geometry, trimesh.Trimesh) and len(part.geometry.faces)]
    if not parts:
        raise ScenarioError(f"world file '{path}' holds no triangles; export meshes, not curves or points")
    count = sum(len(part.geometry.faces) for part in parts)
    if count > MOST_TRIANGLES:
        raise ScenarioError(
            f"world file '{path}' has {count} triangles, more than {MOST_TRIANGLES}; simplify its meshes, export again"
        )
    for part in parts:
        _check_numbers(path, part)
    return parts


def _scene(path: Path) -> Any:
    if path.suffix.lower() != ".obj":
        return trimesh.load_scene(path, process=False, allow_remote=False)
    # names of an old OBJ may be in any encoding; only its ASCII characters are used
    text = io.StringIO(path.read_text(encoding="utf-8", errors="replace"))
    options: Any = {"process": False, "split_objects": True}
    return trimesh.load_scene(text, file_type="obj", resolver=FilePathResolver(str(path)), **options)


def _check_file(path: Path) -> None:
    if path.suffix.lower() not in ENDINGS:
        raise ScenarioError(f"world file '{path}' is no {', '.join(ENDINGS)}; export your world as one of them")
    if not path.is_file():
        raise ScenarioError(f"world file '{path}' does not exist; paths are relative to the scenario's folder")
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            file.read(1)
    except OSError as error:
        raise ScenarioError(f"world file '{path}' cannot be read ({error.strerror}); check its permissions") from None
    if not 0 < size <= MOST_BYTES:
        raise ScenarioError(f"world file '{path}' has {size} bytes; files from 1 byte to 1 GiB are read")


def _check_numbers(path: Path, part: ImportedMesh) -> None:
    vertices, faces = np.asarray(part.geometry.vertices), np.asarray(part.geometry.faces)
    if vertices.ndim != 2 or vertices.shape[1] != 3 or faces.ndim != 2 or faces.shape[1] != 3:
        raise ScenarioError(f"world file '{path}': '{part.node}' is not made of triangles in space; export it again")
    if not (np.isfinite(vertices).all() and np.isfinite(part.placed).all()):
        raise ScenarioError(f"world file '{path}': '{part.node}' has vertices that are NaN or infinite; repair it")
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise ScenarioError(f"world file '{path}': faces of '{part.node}' use vertices it does not have; repair it")


@contextmanager
def _quietly() -> Iterator[None]:
    """Suppresses the parser's warnings; a problem that matters becomes an error."""
    log = logging.getLogger("trimesh")
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)


def _in_short(error: Exception) -> str:
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words[:80]}" if words else type(error).__name__


def _part(scene: Any, node: str) -> ImportedMesh:
    placed, mesh = scene.graph.get(node)
    geometry = scene.geometry[mesh]
    visual = geometry.visual
    material = str(visual.material.name or "") if isinstance(visual, TextureVisuals) and visual.material else ""
    # the OBJ reader appends the material to an object's name
    name = str(node).removesuffix(f"_{material}") if material else str(node)
    return ImportedMesh(name or str(node), str(mesh), material, np.array(placed, float), geometry)


def own_normals(geometry: trimesh.Trimesh) -> Array | None:
    """(n, 3) from the file, or None if it has none or bad ones; faces are then flat (glTF 2.0, 3.7.2)."""
    if "vertex_normals" not in geometry._cache:
        return None
    normals = np.asarray(geometry.vertex_normals, float)
    size = np.linalg.norm(normals, axis=1)
    fits = normals.shape == geometry.vertices.shape and bool((np.abs(size - 1.0) < 0.1).all())
    return normals if fits else None


def colours_of(geometry: trimesh.Trimesh) -> NDArray[np.uint8]:
    """(n, 3) per vertex, or (1, 3) for all: the material's base colour times the mean of its image."""
    with _quietly():
        visual: Any = geometry.visual
        if visual.kind == "vertex":
            return np.asarray(visual.vertex_colors, np.uint8)[:, :3]
        if visual.kind == "face":
            return np.asarray(visual.main_color, np.uint8)[None, :3]
        if not isinstance(visual, TextureVisuals) or visual.material is None:
            return np.full((1, 3), 200, np.uint8)
        colour = _material_colour(visual.material)
    return np.clip(np.round(255.0 * colour), 0, 255).astype(np.uint8)[None]


def _material_colour(material: Material) -> Array:
    """sRGB, 0 to 1."""
    colour, picture = np.ones(3), None
    if isinstance(material, PBRMaterial):
        # glTF's factors are linear light
        colour, picture = _shown(_rgb(material.baseColorFactor)), material.baseColorTexture
    elif isinstance(material, SimpleMaterial):
        colour, picture = _rgb(material.diffuse), material.image
    if picture is not None:
        try:
            # a large image is reduced first; a box filter keeps its mean
            small = picture.convert("RGB")
            small.thumbnail((256, 256), resample=4)
            pixels = np.asarray(small, float) / 255.0
        except (OSError, ValueError, SyntaxError):  # an image that cannot be decoded does not change the colour
            return colour
        colour = colour * _shown((pixels**2.2).mean(axis=(0, 1)))
    return colour


def _rgb(factor: Any) -> Array:
    """0 to 1; white if the file gives no colour."""
    if factor is None:
        return np.ones(3)
    values = np.asarray(factor, float).ravel()[:3]
    if values.shape != (3,) or not np.isfinite(values).all():
        return np.ones(3)
    return np.clip(values / 255.0 if np.asarray(factor).dtype == np.uint8 else values, 0.0, 1.0)


def _shown(light: Array) -> Array:
    return np.asarray(light ** (1.0 / 2.2))


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
    ) -> None:
        """scale: m, the length of one unit of the file.
        up: The upward axis of the file, y or z; null is y.
        ground: m, the height of the level ground vehicles stand on; true: the lowest point of the file; false: the
            same height, but the ground is not drawn.
        classes: Patterns of names (`*`, `?`; upper and lower case are alike) and the class they mean. A name that no
            pattern fits gets its class from its words ("Tree_03"), else it is an object.
        materials: Patterns of names and the material they mean.
        """
        self._check(scale, up, ground)
        self._classes, self._materials = classes or {}, materials or {}
        check_meanings("classes", self._classes, CLASS_ID)
        check_meanings("materials", self._materials, MATERIAL_ID)
        self._path, self._scale, self._turn = path, scale, np.eye(3) if up == "z" else Y_UP
        self._shapes: dict[tuple[int, str], _Centred] = {}
        self.model = Model()
        spots = [spot for part in read_parts(Path(path)) if (spot := self._place(part)) is not None]
        if not spots:
            raise ScenarioError(f"world file '{path}' holds no triangles with an area; export meshes, not lines")
        self._low, self._high = np.min([s[0] for s in spots], axis=0), np.max([s[1] for s in spots], axis=0)
        height = float(self._low[2]) if isinstance(ground, bool) else float(ground)
        self.ground = Ground.flat(height)
        if ground is not False:
            self._place_ground(height, sum(spot[2] for spot in spots))

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
        material = meaning_of(names[::-1], self._materials, MATERIAL_WORDS, "plain")
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
        self.model.place(centred.shape, position, rotation=rotation, scale=scale, is_a=is_a, name=part.node)
        full = centred.shape.lods[0]
        corners = scale * full.positions @ rotation.T + position
        low, high = corners.min(axis=0), corners.max(axis=0)
        return low, high, _level_area(corners, full.faces, float(low[2]))

    def _check_reach(self, part: ImportedMesh, linear: Array, offset: Array) -> None:
        farthest = float(np.abs(part.geometry.vertices).max())
        if np.abs(offset).max() + 2.0 * np.abs(linear).max() * farthest > FARTHEST:
            raise ScenarioError(
                f"world file '{self._path}': '{part.node}' reaches beyond {FARTHEST:g} m; move it, or give a scale"
            )

    def _place_ground(self, height: float, floor_area: float) -> None:
        (x0, y0), (x1, y1) = self._low[:2].tolist(), self._high[:2].tolist()
        own_floor = abs(height - self._low[2]) < 0.02 and floor_area > FLOOR_SHARE * (x1 - x0) * (y1 - y0)
        # if the file has its own floor, the plain is 3 cm lower there, so that the two do not flicker; otherwise the
        # hole only needs some width, because the file may be a single upright sheet
        sunk, wider = (0.03, 0.0) if own_floor else (0.0, 1.0)
        hole = (x0 - wider, y0 - wider, x1 + wider, y1 + wider)
        place_plain(self.model, hole, material="grass", height=height, sunk=sunk)


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
    return Mesh(
        points[corners].astype(np.float32),
        normals.astype(np.float32),
        (unit * _flat_uv(points[corners], np.repeat(facing, 3, axis=0))).astype(np.float32),
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
