"""Geometries and materials of SDF as triangles with colours or pictures.

Primitives carry texture coordinates as Gazebo's do: a picture covers each face of a box, the side of a cylinder, each
of its ends, and a whole sphere.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
import trimesh
from PIL import Image
from trimesh.visual import TextureVisuals
from trimesh.visual.material import SimpleMaterial

from skyloop.world.mesh_files import ImportedMesh, read_parts
from skyloop.world.sdf_files import Folders, is_remote
from skyloop.world.sdf_frames import numbers_of
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array
from skyloop_client.regular_files import checked, read_bytes, read_text

SIDES, RINGS = 32, 16
Z_FROM_Y_UP = np.array([[1.0, 0, 0, 0], [0, 0, -1.0, 0], [0, 1.0, 0, 0], [0, 0, 0, 1.0]])
UP_AXIS_WITHIN = 1 << 14
"""Bytes of a file in which its head is."""
Colour = tuple[float, float, float]
GAZEBO_COLOURS: dict[str, Colour] = {
    "Red": (1, 0, 0), "Green": (0, 1, 0), "Blue": (0, 0, 1), "White": (1, 1, 1), "Black": (0, 0, 0),
    "FlatBlack": (0.1, 0.1, 0.1), "Yellow": (1, 1, 0), "Orange": (1, 0.51, 0.18), "Purple": (1, 0, 1),
    "Turquoise": (0, 1, 1), "Grey": (0.7, 0.7, 0.7), "DarkGrey": (0.175, 0.175, 0.175), "Gold": (0.8, 0.65, 0.18),
    "SkyBlue": (0.13, 0.44, 0.7), "RedBright": (0.87, 0.26, 0.07), "ZincYellow": (0.97, 0.95, 0.17),
}  # fmt: skip
"""Of the scripts that come with Gazebo."""
UNPAINTED: Colour = (0.7, 0.7, 0.7)


@dataclass(frozen=True, slots=True)
class Look:
    """A visual's material."""

    name: str = ""
    colour: Colour | None = None
    """None: the mesh's own, or Gazebo's grey."""
    picture: Path | None = None


def look_of(visual: Element, folders: Folders, near: Path, where: str) -> Look:
    material = visual.find("material")
    if material is None:
        return Look()
    name = (material.findtext("script/name") or "").strip()
    scripted = _script(material, name, folders, near)
    colour = GAZEBO_COLOURS.get(name.removeprefix("Gazebo/")) if scripted.colour is None else scripted.colour
    for tag in ("ambient", "diffuse"):
        given = material.find(tag)
        if given is not None and (given.text or "").strip() and not name:
            red, green, blue = numbers_of(given, (4, 3), (1.0,) * 3, where)[:3]
            colour = (red, green, blue)
    uri = (material.findtext("pbr/metal/albedo_map") or material.findtext("pbr/specular/albedo_map") or "").strip()
    picture = scripted.picture if not uri else folders.find(uri, near)
    if uri and picture is None:
        raise ScenarioError(f"{where}: no picture '{uri}' in {folders}")
    return Look(name, colour, picture)


def _script(material: Element, name: str, folders: Folders, near: Path) -> Look:
    """Colour and picture of an Ogre material of this name, where its script is in the folders."""
    found = [folders.find(uri.text or "", near) for uri in material.findall("script/uri")] if name else []
    places = [path for path in found if path is not None]
    files = [file for path in places for file in (sorted(path.glob("*.material")) if path.is_dir() else [path])]
    for file in files:
        block = _block(read_text(file, errors="replace")[: 1 << 20], name)
        if block is None:
            continue
        words = re.search(r"\bdiffuse\s+([\d.eE+-]+)\s+([\d.eE+-]+)\s+([\d.eE+-]+)", block)
        named = re.search(r"^\s*texture\s+(\S+)", block, flags=re.MULTILINE)
        colour: Colour | None = None
        if words is not None:
            red, green, blue = (float(word) for word in words.groups())
            colour = (red, green, blue)
        folders_of = [*(path for path in places if path.is_dir()), file.parent, file.parent.parent / "textures"]
        pictures = [folders.find(named[1], place) for place in folders_of] if named else []
        return Look(name, colour, next((path for path in pictures if path is not None), None))
    return Look(name)


def _block(text: str, name: str) -> str | None:
    begin = re.search(rf"^\s*material\s+{re.escape(name)}\s*(:[^\n{{]*)?\{{", text, flags=re.MULTILINE)
    if begin is None:
        return None
    depth = 1
    for place in range(begin.end(), len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if not depth:
            return text[begin.end() : place]
    return None


# ---- geometries


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A geometry, in its own axes; several meshes where a file has several."""

    key: tuple[Any, ...]
    """Equal for equal geometries."""
    parts: tuple[tuple[str, Array, trimesh.Trimesh], ...]
    """Name, (4, 4) and triangles."""


class Geometries:
    """Makes each geometry once."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._made: dict[tuple[Any, ...], Solid] = {}
        self._files: dict[Path, list[ImportedMesh]] = {}
        self._painted: dict[tuple[int, Look], tuple[trimesh.Trimesh, Image.Image | None]] = {}
        self._pictures: dict[Path, Image.Image] = {}

    def solid(self, geometry: Element | None, near: Path, where: str) -> Solid | None:
        """None where the kind of geometry is not taken."""
        shape = next(iter(geometry), None) if geometry is not None else None
        if shape is None:
            raise ScenarioError(f"{where}: it has no geometry")
        if shape.tag == "mesh":
            return self._mesh(shape, near, where)
        if shape.tag not in _MAKERS:
            return None
        values: list[float] = []
        for tag, usual in _NUMBERS[shape.tag].items():
            found = numbers_of(shape.find(tag), (len(usual),), usual, where)
            if tag != "normal" and not all(1e-6 < number < 1e6 for number in found):
                raise ScenarioError(f"{where}: <{tag}> is {found}; give m above 0")
            values += found
        key = (shape.tag, *values)
        if key not in self._made:
            self._made[key] = Solid(key, (("", np.eye(4), _MAKERS[shape.tag](*values)),))
        return self._made[key]

    def _mesh(self, mesh: Element, near: Path, where: str) -> Solid | None:
        uri = (mesh.findtext("uri") or "").strip()
        path = self._folders.find(uri, near)
        if path is None and is_remote(uri):
            return None
        if path is None or not path.is_file():
            raise ScenarioError(f"{where}: no mesh '{uri}' in {self._folders}; name its folder in the option models")
        scale = numbers_of(mesh.find("scale"), (3,), (1.0, 1.0, 1.0), where)
        wanted = (mesh.findtext("submesh/name") or "").strip()
        key = ("mesh", path, wanted, *scale)
        if key not in self._made:
            if path not in self._files:
                self._files[path] = read_parts(path, roots=self._folders.roots)
            stretch = np.diag([*scale, 1.0])
            if path.suffix.lower() == ".dae" and b"<up_axis>Y_UP" in read_bytes(path)[:UP_AXIS_WITHIN]:
                # the reader of COLLADA files leaves their axes as they are
                stretch = stretch @ Z_FROM_Y_UP
            parts = [part for part in self._files[path] if wanted in ("", part.node, part.mesh)]
            if not parts:
                raise ScenarioError(f"{where}: '{path}' has no submesh '{wanted}'")
            self._made[key] = Solid(key, tuple((part.node, stretch @ part.placed, part.geometry) for part in parts))
        return self._made[key]

    def painted(self, geometry: trimesh.Trimesh, look: Look) -> tuple[trimesh.Trimesh, Image.Image | None]:
        """The same triangles with a look, and the picture that they show."""
        key = id(geometry), look
        if key not in self._painted:
            self._painted[key] = self._paint(geometry, look)
        return self._painted[key]

    def _paint(self, geometry: trimesh.Trimesh, look: Look) -> tuple[trimesh.Trimesh, Image.Image | None]:
        own: Any = geometry.visual if isinstance(geometry.visual, TextureVisuals) else None
        uv = None if own is None else own.uv
        if look.picture is not None and uv is not None:
            return geometry, self._picture(look.picture)
        material = getattr(own, "material", None)
        image = getattr(material, "image", None) or getattr(material, "baseColorTexture", None)
        if look.colour is None and image is not None and uv is not None:
            return geometry, image
        if look.colour is None and look.picture is None:
            return geometry, None
        copy = geometry.copy()
        if "vertex_normals" in geometry._cache:
            copy._cache["vertex_normals"] = geometry.vertex_normals
        colour = np.clip(look.colour or UNPAINTED, 0.0, 1.0)
        image = None if look.picture is None else self._picture(look.picture)
        # a mesh without coordinates shows the mean colour of its picture
        copy.visual = TextureVisuals(uv=uv, material=SimpleMaterial(image=image, diffuse=[*colour, 1.0]))
        return copy, None

    def _picture(self, path: Path) -> Image.Image:
        if path not in self._pictures:
            try:
                with Image.open(checked(path)) as image:
                    self._pictures[path] = image.convert("RGB")
            except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
                raise ScenarioError(
                    f"picture '{path}' cannot be read ({type(error).__name__}); give a PNG or JPEG"
                ) from None
        return self._pictures[path]


def _made(points: list[Array], normals: list[Array], uv: list[Array], faces: list[Array]) -> trimesh.Trimesh:
    starts = np.cumsum([0, *(len(each) for each in points)])
    joined = np.concatenate([face + start for face, start in zip(faces, starts, strict=False)])
    mesh = trimesh.Trimesh(np.concatenate(points), joined, vertex_normals=np.concatenate(normals), process=False)
    mesh.visual = TextureVisuals(uv=np.concatenate(uv), material=SimpleMaterial(diffuse=[*UNPAINTED, 1.0]))
    return mesh


QUAD = np.array([[0, 1, 2], [0, 2, 3]])
SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def _quad(corners: Array) -> tuple[Array, Array, Array, Array]:
    """Corners counter-clockwise from the picture's lower left."""
    normal = np.cross(corners[1] - corners[0], corners[3] - corners[0])
    return corners, np.tile(normal / np.linalg.norm(normal), (4, 1)), SQUARE, QUAD


def _box(x: float, y: float, z: float) -> trimesh.Trimesh:
    sides = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            # across and up, so that pictures on walls are upright
            up = np.eye(3)[2 if axis < 2 else 1]
            out = sign * np.eye(3)[axis]
            across = np.cross(up, out)
            corners = [out - across - up, out + across - up, out + across + up, out - across + up]
            sides.append(_quad(0.5 * np.array(corners) * [x, y, z]))
    return _made(*(list(each) for each in zip(*sides, strict=True)))


def _plane(nx: float, ny: float, nz: float, x: float, y: float) -> trimesh.Trimesh:
    out = np.array([nx, ny, nz]) / max(float(np.linalg.norm([nx, ny, nz])), 1e-9)
    turn = trimesh.geometry.align_vectors([0.0, 0.0, 1.0], out)[:3, :3]
    corners = 0.5 * np.array([[-x, -y, 0.0], [x, -y, 0.0], [x, y, 0.0], [-x, y, 0.0]])
    return _made(*([each] for each in _quad(corners @ turn.T)))


def _turned(profile: Array, normals: Array, v: Array) -> tuple[Array, Array, Array, Array]:
    """A surface of revolution: (n, 2) radius and height from below, normals likewise, and v of each ring."""
    angle = np.linspace(0.0, 2.0 * np.pi, SIDES + 1)
    c, s = np.cos(angle), np.sin(angle)

    def around(pairs: Array) -> Array:
        return np.stack([np.outer(pairs[:, 0], c), np.outer(pairs[:, 0], s), np.repeat(pairs[:, 1:], len(c), 1)], -1)

    uv = np.stack(np.meshgrid(angle / (2.0 * np.pi), v), -1)
    k = np.arange(len(profile) - 1)[:, None] * (SIDES + 1) + np.arange(SIDES)
    low, high = k.ravel(), k.ravel() + SIDES + 1
    faces = np.concatenate([np.stack([low, low + 1, high + 1], 1), np.stack([low, high + 1, high], 1)])
    return around(profile).reshape(-1, 3), around(normals).reshape(-1, 3), uv.reshape(-1, 2), faces


def _cap(radius: float, z: float, sign: float) -> tuple[Array, Array, Array, Array]:
    angle = sign * np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    rim = np.stack([np.cos(angle), np.sin(angle)], 1)
    points = np.column_stack([radius * rim, np.full(SIDES, z)])
    k = np.arange(1, SIDES - 1)
    uv = 0.5 + 0.5 * rim * [sign, 1.0]
    return points, np.tile([0.0, 0.0, sign], (SIDES, 1)), uv, np.stack([np.zeros_like(k), k, k + 1], 1)


def _cylinder(radius: float, length: float) -> trimesh.Trimesh:
    half = 0.5 * length
    side = _turned(
        np.array([[radius, -half], [radius, half]]), np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([0.0, 1.0])
    )
    pieces = [side, _cap(radius, -half, -1.0), _cap(radius, half, 1.0)]
    return _made(*(list(each) for each in zip(*pieces, strict=True)))


def _cone(radius: float, length: float) -> trimesh.Trimesh:
    half, slant = 0.5 * length, np.array([length, radius]) / np.hypot(length, radius)
    side = _turned(np.array([[radius, -half], [0.0, half]]), np.array([slant, slant]), np.array([0.0, 1.0]))
    return _made(*(list(each) for each in zip(*[side, _cap(radius, -half, -1.0)], strict=True)))


def _capsule(radius: float, length: float) -> trimesh.Trimesh:
    angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, RINGS + 2)
    angle = np.sort(np.append(angle, 0.0))
    out = np.stack([np.cos(angle), np.sin(angle)], 1)
    lift = np.where(np.arange(len(angle)) < len(angle) // 2, -0.5, 0.5) * length
    profile = radius * out + np.stack([np.zeros_like(lift), lift], 1)
    profile[[0, -1], 0] = 0.0
    return _made(*([each] for each in _turned(profile, out, np.linspace(0.0, 1.0, len(angle)))))


def _ellipsoid(x: float, y: float, z: float) -> trimesh.Trimesh:
    angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, RINGS + 1)
    out = np.stack([np.cos(angle), np.sin(angle)], 1)
    out[[0, -1], 0] = 0.0
    points, normals, uv, faces = _turned(out, out, np.linspace(0.0, 1.0, len(angle)))
    normals = normals / [x, y, z]
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return _made([points * [x, y, z]], [normals], [uv], [faces])


_ROUND: dict[str, tuple[float, ...]] = {"radius": (0.5,), "length": (1.0,)}
_NUMBERS: dict[str, dict[str, tuple[float, ...]]] = {
    "box": {"size": (1.0, 1.0, 1.0)}, "cylinder": _ROUND, "sphere": {"radius": (0.5,)}, "capsule": _ROUND,
    "plane": {"normal": (0.0, 0.0, 1.0), "size": (1.0, 1.0)}, "cone": _ROUND, "ellipsoid": {"radii": (0.5, 0.5, 0.5)},
}  # fmt: skip
"""Elements of each geometry and what they are if they are left out."""
_MAKERS: dict[str, Callable[..., trimesh.Trimesh]] = {
    "box": _box, "cylinder": _cylinder, "sphere": lambda radius: _ellipsoid(radius, radius, radius), "plane": _plane,
    "capsule": _capsule, "cone": _cone, "ellipsoid": _ellipsoid,
}  # fmt: skip
