"""Meshes in files: every mesh of a glTF, GLB or OBJ file where its nodes put it, with its colours.

A bad file gives an error of one line.
"""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from numpy.typing import NDArray
from PIL import Image
from trimesh.resolvers import FilePathResolver
from trimesh.visual import TextureVisuals
from trimesh.visual.material import Material, PBRMaterial, SimpleMaterial

from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array
from skyloop_client.regular_files import opened, read_bytes, read_text

MESHES = (".glb", ".gltf", ".obj", ".stl", ".dae", ".ply")
WHOLE_WORLDS = (".glb", ".gltf", ".obj")
MOST_TRIANGLES = 3_000_000
MOST_BYTES = 2**30


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
    picture: Image.Image | None = None
    """Shown on its surface, by the geometry's texture coordinates."""
    solids: tuple[tuple[trimesh.Trimesh, Array], ...] | None = None
    """What stops vehicles instead of the geometry, with (4, 4) as in the file; empty if nothing does."""


def read_parts(path: Path, roots: Sequence[Path] = ()) -> list[ImportedMesh]:
    """Every mesh of the file, once per node that shows it, sorted by the nodes' names.

    roots: The only folders it may take images and further files from; none given: any."""
    _check_file(path, MESHES if roots else WHOLE_WORLDS)
    if path.suffix.lower() == ".dae" and find_spec("collada") is None:
        raise ScenarioError(f"'{path}' is a COLLADA file, which the package pycollada reads; pip install pycollada")
    try:
        with _quietly():
            scene = _scene(path, roots)
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


class _Within(FilePathResolver):
    """Finds what a file names; below some folders only, if there are any."""

    def __init__(self, path: Path, roots: Sequence[Path]) -> None:
        super().__init__(str(path))
        self._roots = roots

    def get(self, name: str) -> bytes:
        path = (Path(self.parent) / name.strip()).resolve()
        if self._roots and not any(path.is_relative_to(root) for root in self._roots):
            raise ScenarioError(f"'{name}' leads out of the folders")
        return read_bytes(path)


def _scene(path: Path, roots: Sequence[Path]) -> Any:
    resolver = _Within(path, roots)
    if path.suffix.lower() != ".obj":
        with opened(path) as file:
            return trimesh.load_scene(file, file_type=path.suffix.lower()[1:], resolver=resolver, process=False)
    # names of an old OBJ may be in any encoding; only its ASCII characters are used
    text = io.StringIO(read_text(path, errors="replace"))
    return trimesh.load_scene(text, file_type="obj", resolver=resolver, process=False, split_objects=True)


def _check_file(path: Path, endings: Sequence[str]) -> None:
    if path.suffix.lower() not in endings:
        raise ScenarioError(f"world file '{path}' is no {', '.join(endings)}; export your world as one of them")
    if not path.exists():
        raise ScenarioError(f"world file '{path}' does not exist; paths are relative to the scenario's folder")
    try:
        size = path.stat().st_size
        with opened(path) as file:
            file.read(1)
    except OSError as error:
        raise ScenarioError(f"world file '{path}' cannot be read: {error.strerror}") from None
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
