"""The look of a world in a form that a light viewer draws: shapes at a bounded number of triangles, plainly coloured.

A viewer without textures gets, at each vertex, the mean colour of the texture that the renderer would put there."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.rendering.textures import texture_layers
from skyloop.world.materials import MATERIALS
from skyloop.world.mesh import Mesh
from skyloop.world.model import Model
from skyloop.world.semantics import CLASSES

MOST_TRIANGLES = 150_000
"""Of all placed shapes together: less than a megabyte, compressed."""
SWATCH_PX = 64
"""Side of the textures whose mean colours are taken."""
UNCLASSED = "ground"


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Rows of a model that have the same shape and the same colours."""

    shape: int
    """Index into `Appearance.shapes`."""
    colours: NDArray[np.uint8]
    """(n, 3) red, green, blue of each vertex of the shape."""
    rows: list[int]


@dataclass(frozen=True, slots=True, eq=False)
class Appearance:
    shapes: list[tuple[NDArray[np.float32], NDArray[np.int32]]]
    """Vertices (n, 3) m and faces (m, 3) of each shape."""
    groups: list[Group]
    poses: NDArray[np.float32]
    """(rows, 3, 4) world_from_part: of what stands, then of what moves, as it is now."""
    n_standing: int
    classes: list[str]
    """Class of each row."""
    vehicles: dict[int, list[int]]
    """By the number of a vehicle: its rows."""


def appearance_of(model: Model, vehicle_things: list[int], t_ns: int, most: int = MOST_TRIANGLES) -> Appearance:
    """The look of a frozen model at an instant."""
    levels = _levels(model, most)
    meshes = [shape.lods[level] for shape, level in zip(model.shapes, levels, strict=True)]
    members: dict[tuple[int, int, int], list[int]] = {}
    table = zip(model.row_shape.tolist(), model.row_palette.tolist(), model.row_variant.tolist(), strict=True)
    for row, key in enumerate(table):
        members.setdefault(key, []).append(row)
    groups = [
        Group(shape, _colours(meshes[shape], model.palettes[palette], variant), rows)
        for (shape, palette, variant), rows in members.items()
    ]
    classes = [_class_name(model, int(thing)) for thing in model.row_thing]
    return Appearance(
        shapes=[(mesh.positions, mesh.faces) for mesh in meshes],
        groups=groups,
        poses=np.concatenate([model.standing_poses, model.moving_poses(t_ns)]).astype(np.float32),
        n_standing=model.n_standing,
        classes=classes,
        vehicles={number: list(model.things[thing].rows) for number, thing in enumerate(vehicle_things)},
    )


def _class_name(model: Model, thing: int) -> str:
    code = model.things[thing].class_id
    return CLASSES[code] if code < len(CLASSES) else UNCLASSED


def _levels(model: Model, most: int) -> list[int]:
    """Level of detail of each shape: the costliest is coarsened until all together fit, or none can be coarser."""
    placed = np.bincount(model.row_shape, minlength=len(model.shapes))
    levels = [0] * len(model.shapes)

    costs = [int(n) * len(shape.lods[0].faces) for n, shape in zip(placed, model.shapes, strict=True)]
    queue = [(-cost, number) for number, cost in enumerate(costs)]
    heapq.heapify(queue)
    total = sum(costs)
    while total > most and queue:
        _, number = heapq.heappop(queue)
        shape = model.shapes[number]
        if levels[number] == len(shape.lods) - 1:
            continue
        levels[number] += 1
        cost = int(placed[number]) * len(shape.lods[levels[number]].faces)
        total += cost - costs[number]
        costs[number] = cost
        heapq.heappush(queue, (-cost, number))
    return levels


def _colours(mesh: Mesh, palette: NDArray[Any], variant: int) -> NDArray[np.uint8]:
    tints = np.ones((len(MATERIALS), 3))
    for material in np.unique(mesh.materials).tolist():
        tints[material] = _tint(material, variant)
    paint = palette.astype(np.float64) / 255.0
    shades = mesh.colours[:, :3] / 255.0 * tints[mesh.materials]
    slots = mesh.colours[:, 3]
    shades = np.where((slots > 0)[:, None], shades * paint[np.minimum(slots, len(paint) - 1)], shades)
    return np.clip(shades * 255.0 + 0.5, 0, 255).astype(np.uint8)


@cache
def _tint(material: int, variant: int) -> tuple[float, float, float]:
    """The mean colour, 0 to 1, of a material's texture."""
    layers, places = _swatches()
    first, count = places[MATERIALS[material].texture]
    red, green, blue = (layers[first + variant % count, ..., :3].mean(axis=(0, 1)) / 255.0).tolist()
    return red, green, blue


@cache
def _swatches() -> tuple[NDArray[np.uint8], dict[str, tuple[int, int]]]:
    return texture_layers([material.texture for material in MATERIALS], 0, SWATCH_PX)
