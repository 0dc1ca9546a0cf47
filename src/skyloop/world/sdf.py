"""A world of Gazebo's: what an SDF file (`.sdf`, `.world`) shows and what stops vehicles. Everything stands still.

One line says what was skipped. Positions in the `state` block that Gazebo Classic saves are those it applies.
"""

from __future__ import annotations

import copy
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from skyloop.world.lamps import USUAL
from skyloop.world.mesh_files import ImportedMesh
from skyloop.world.sdf_files import Folders, is_remote, read_xml
from skyloop.world.sdf_frames import Frames, numbers_of
from skyloop.world.sdf_shapes import Geometries, Solid, look_of
from skyloop_client.errors import ScenarioError, SkyloopError
from skyloop_client.messages import Array

log = logging.getLogger(__name__)
SDF_ENDINGS = (".sdf", ".world")
DEEPEST = 20
"""Includes in includes."""
MOST_MODELS, MOST_INCLUDES = 20_000, 3_000
LEVEL = 1e-6
NOT_TAKEN = ("plugin", "sensor", "joint", "actor", "population", "road", "projector", "particle_emitter")


@dataclass(frozen=True, slots=True)
class PointLight:
    name: str
    place: Array
    """(3,) m."""
    colour: tuple[float, float, float]
    intensity: float


@dataclass(slots=True)
class SdfWorld:
    parts: list[ImportedMesh] = field(default_factory=list)
    lights: list[PointLight] = field(default_factory=list)
    ground: float | None = None
    """m, the height of a level plane that vehicles stand on."""


def read_sdf(path: Path, models: Sequence[Path] = ()) -> SdfWorld:
    """`models`: folders beside those of the file in which included models and their files are looked for."""
    folders = Folders(path, models)
    root = read_xml(path)
    if root.tag not in ("sdf", "gazebo"):
        raise ScenarioError(f"world file '{path}' begins with <{root.tag}>; an SDF file begins with <sdf>")
    reader = _Reader(folders)
    try:
        worlds = root.findall("world")
        scope = worlds[0] if worlds else root
        reader.skipped["further worlds"] += max(len(worlds) - 1, 0)
        reader.read(scope, path.parent.resolve())
    except SkyloopError as error:
        raise ScenarioError(f"world file '{path}': {error}") from None
    except RecursionError:
        raise ScenarioError(f"world file '{path}': its models or frames are nested too deeply") from None
    if not reader.found.parts:
        raise ScenarioError(f"world file '{path}' shows nothing{reader.what_was_skipped()}; give its models visuals")
    if told := reader.what_was_skipped():
        log.warning("world file '%s'%s", path, told)
    return reader.found


@dataclass(slots=True, eq=False)
class _Placed:
    name: str
    pose: Array
    solid: Solid


class _Reader:
    def __init__(self, folders: Folders) -> None:
        self.found = SdfWorld()
        self.skipped: Counter[str] = Counter()
        self._folders, self._geometries = folders, Geometries(folders)
        self._folder_of: dict[Element, Path] = {}
        """Of the files that included models came from."""
        self._n_models = self._n_includes = 0

    def what_was_skipped(self) -> str:
        told = ", ".join(f"{what} ({count})" for what, count in sorted(self.skipped.items()) if count)
        return f": skipped: {told}" if told else ""

    # ---- files into one tree

    def read(self, scope: Element, folder: Path) -> None:
        self._expand(scope, folder, 0)
        _apply_state(scope)
        frames = Frames(scope, scope.get("name", "world"))
        self._count(scope)
        for light in scope.findall("light"):
            self._light(light, frames.of(light), "")
        for model in scope.findall("model"):
            self._model(model, frames, np.eye(4), folder)

    def _expand(self, scope: Element, folder: Path, depth: int) -> None:
        """Puts included models where their includes are."""
        if depth > DEEPEST:
            raise ScenarioError(f"includes are {DEEPEST} deep; is there a circle?")
        for place, child in enumerate(list(scope)):
            if child.tag == "include" and (model := self._included(child, folder, depth)) is not None:
                scope[place] = model
            elif child.tag == "model":
                self._n_models += 1
                if self._n_models > MOST_MODELS:
                    raise ScenarioError(f"it has more than {MOST_MODELS} models")
                self._expand(child, folder, depth)

    def _included(self, include: Element, folder: Path, depth: int) -> Element | None:
        uri = (include.findtext("uri") or "").strip()
        file = self._folders.model_file(uri, folder)
        if file is None:
            return self._missing(include, uri)
        self._n_includes += 1
        if self._n_includes > MOST_INCLUDES:
            raise ScenarioError(f"it includes more than {MOST_INCLUDES} models")
        root = read_xml(file)
        model = next((child for child in root if child.tag in ("model", "light", "actor")), None)
        if model is None:
            raise ScenarioError(f"'{file}' holds no model")
        self._folder_of[model] = file.parent
        holder = Element("holder")
        holder.append(model)
        self._expand(holder, file.parent, depth + 1)
        return _renamed(holder[0], include)

    def _missing(self, include: Element, uri: str) -> Element | None:
        name = uri.rstrip("/").rpartition("/")[2].lower().replace(" ", "_")
        if name == "sun":
            self.skipped["sun (`weather` sets it)"] += 1
        elif name == "ground_plane":
            # Gazebo's own, which every installation has
            model = Element("model", name="ground_plane")
            link = SubElement(model, "link", name="link")
            for tag in ("visual", "collision"):
                plane = SubElement(SubElement(SubElement(link, tag, name=tag), "geometry"), "plane")
                SubElement(plane, "size").text = "100 100"
            return _renamed(model, include)
        elif is_remote(uri):
            self.skipped["model of the network"] += 1
        else:
            raise ScenarioError(f"no model '{uri}' in {self._folders}; name its folder in the option models")
        return None

    # ---- models

    def _count(self, element: Element) -> None:
        for tag in NOT_TAKEN:
            self.skipped[tag] += len(element.findall(tag))

    def _model(self, model: Element, frames: Frames, owner: Array, folder: Path, above: str = "") -> None:
        folder = self._folder_of.get(model, folder)
        pose, inner = owner @ frames.of(model), frames.inner(model)
        path = f"{above}{model.get('name', 'model')}"
        self._count(model)
        visuals: list[ImportedMesh] = []
        keys: list[_Placed] = []
        collisions: list[_Placed] = []
        for link in model.findall("link"):
            own, label = inner.of(link), f"{path}::{link.get('name', 'link')}"
            self._count(link)
            for light in link.findall("light"):
                self._light(light, pose @ inner.of(light, own), f"{label}::")
            for visual in link.findall("visual"):
                shown = self._placed(visual, pose @ inner.of(visual, own), folder, label)
                if shown is not None and _is_seen(visual, label):
                    keys += [shown] * len(shown.solid.parts)
                    visuals += self._shown(visual, shown, folder)
            for collision in link.findall("collision"):
                if (stops := self._placed(collision, pose @ inner.of(collision, own), folder, label)) is not None:
                    collisions.append(stops)
        self._add(visuals, keys, collisions)
        for nested in model.findall("model"):
            self._model(nested, inner, pose, folder, f"{path}::")

    def _placed(self, element: Element, pose: Array, folder: Path, label: str) -> _Placed | None:
        """A visual or a collision."""
        where = f"{label}::{element.get('name', element.tag)}"
        geometry = element.find("geometry")
        solid = self._geometries.solid(geometry, folder, where)
        if solid is None:
            tag = "geometry" if geometry is None else geometry[0].tag
            self.skipped["mesh of the network" if tag == "mesh" else tag] += 1
            return None
        return _Placed(where, pose, solid)

    def _shown(self, visual: Element, placed: _Placed, folder: Path) -> Iterator[ImportedMesh]:
        look = look_of(visual, self._folders, folder, placed.name)
        for name, matrix, geometry in placed.solid.parts:
            painted, picture = self._geometries.painted(geometry, look)
            node = f"{placed.name}::{name}" if name else placed.name
            yield ImportedMesh(node, name or placed.solid.key[0], look.name, placed.pose @ matrix, painted, picture)

    def _add(self, visuals: list[ImportedMesh], keys: list[_Placed], collisions: list[_Placed]) -> None:
        """Without collisions, what is seen stops vehicles; with them, they do. A level plane is the ground."""
        has_collisions = bool(collisions)
        collisions = [each for each in collisions if not self._is_ground(each)]
        left = [each for each in collisions if not any(_same(each, key) for key in keys)]
        parts = []
        for part, key in zip(visuals, keys, strict=True):
            stops = any(_same(each, key) for each in collisions) if has_collisions else not self._is_ground(key)
            parts.append(part if stops else replace(part, solids=()))
        if left and parts:
            own = ((parts[0].geometry, parts[0].placed),) if parts[0].solids is None else ()
            more = tuple((mesh, each.pose @ matrix) for each in left for _, matrix, mesh in each.solid.parts)
            parts[0] = replace(parts[0], solids=own + more)
        elif left:
            self.skipped["collision of a model that shows nothing"] += len(left)
        self.found.parts += parts

    def _is_ground(self, placed: _Placed) -> bool:
        if placed.solid.key[0] != "plane":
            return False
        up = placed.pose[:3, :3] @ placed.solid.key[1:4]
        if up[2] < (1.0 - LEVEL) * float(np.linalg.norm(up)):
            return False
        height = float(placed.pose[2, 3])
        if self.found.ground is None:
            self.found.ground = height
        return abs(height - self.found.ground) < 1e-3

    def _light(self, light: Element, pose: Array, above: str) -> None:
        kind = light.get("type", "point")
        if kind == "directional":
            self.skipped["sun (`weather` sets it)"] += 1
            return
        name = f"{above}{light.get('name', 'light')}"
        red, green, blue = numbers_of(light.find("diffuse"), (4, 3), (1.0, 1.0, 1.0), name)[:3]
        strength = numbers_of(light.find("intensity"), (1,), (1.0,), name)[0]
        self.skipped["cone of a spot light"] += kind == "spot"
        colour = np.clip([red, green, blue], 0.0, 1.0) ** 2.2
        lit = PointLight(name, pose[:3, 3], (float(colour[0]), float(colour[1]), float(colour[2])), USUAL * strength)
        self.found.lights.append(lit)


def _is_seen(visual: Element, where: str) -> bool:
    return numbers_of(visual.find("transparency"), (1,), (0.0,), where)[0] < 1.0


def _same(one: _Placed, other: _Placed) -> bool:
    return one.solid.key == other.solid.key and bool(np.allclose(one.pose, other.pose, atol=1e-6))


def _renamed(model: Element, include: Element) -> Element:
    """An included model with what its include says of it."""
    for tag, key in (("name", "name"), ("placement_frame", "placement_frame")):
        if text := (include.findtext(tag) or "").strip():
            model.set(key, text)
    given = include.find("pose")
    if given is not None:
        for own in model.findall("pose"):
            model.remove(own)
        model.append(copy.deepcopy(given))
    return model


def _apply_state(world: Element) -> None:
    """As Gazebo Classic does: the poses of whole models, in the world's axes."""
    models = {model.get("name"): model for model in world.findall("model")}
    for state in world.findall("state/model"):
        model, pose = models.get(state.get("name")), state.find("pose")
        if model is not None and pose is not None:
            for own in model.findall("pose"):
                model.remove(own)
            model.attrib.pop("placement_frame", None)
            SubElement(model, "pose").text = pose.text
