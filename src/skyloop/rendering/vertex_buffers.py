"""A model in the form the renderer reads: one buffer of vertices, one of indices, and tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyloop.rendering.wire import Arrays
from skyloop.world.materials import MATERIALS
from skyloop.world.mesh import Mesh
from skyloop.world.model import Model

VERTEX = np.dtype(
    [
        ("position", "<f4", 3),
        ("normal", "u1", 4),
        ("uv", "<f4", 2),
        ("colour", "u1", 4),
        ("material", "u1", 4),
    ]
)


def pack_model(model: Model) -> Arrays:
    """Packs all levels of all shapes; `lods` has a row (first index, count, base vertex) for each."""
    vertices, indices, spheres, first_lod, ranges = [], [], [], [], []
    lods: list[tuple[int, int, int]] = []
    n_vertices = n_indices = 0
    for shape in model.shapes:
        first_lod.append((len(lods), len(shape.lods), int(shape.casts_shadow)))
        ranges.append([*shape.ranges, *[np.inf] * (8 - len(shape.ranges))])
        spheres.append(_sphere(shape.lods[0]))
        for mesh in shape.lods:
            vertices.append(_vertices(mesh))
            indices.append(mesh.faces.astype(np.uint32).ravel())
            lods.append((n_indices, mesh.faces.size, n_vertices))
            n_vertices += len(mesh.positions)
            n_indices += mesh.faces.size
    return {
        "vertices": np.concatenate([v.view(np.uint8).reshape(-1) for v in vertices]) if vertices else np.zeros(0, "u1"),
        "indices": np.concatenate(indices) if indices else np.zeros(0, "u4"),
        "lods": np.array(lods, np.uint32).reshape(-1, 3),
        "spheres": np.array(spheres, np.float64).reshape(-1, 4),
        "first_lod": np.array(first_lod, np.int32).reshape(-1, 3),
        "ranges": np.array(ranges, np.float64).reshape(-1, 8),
        "palettes": np.array(model.palettes, np.uint8),
        **pack_rows(model),
    }


def pack_rows(model: Model) -> Arrays:
    """The part of a packed model that changes when something is placed or removed."""
    return {
        "row_shape": model.row_shape,
        "row_palette": model.row_palette,
        "row_variant": model.row_variant,
        "standing_poses": model.standing_poses,
    }


def used_textures(model: Model) -> list[str]:
    used: set[int] = set()
    for shape in model.shapes:
        for mesh in shape.lods:
            used.update(np.unique(mesh.materials).tolist())
    return sorted({MATERIALS[number].texture for number in used} | {"plain"})


def _vertices(mesh: Mesh) -> np.ndarray[Any, np.dtype[Any]]:
    out = np.zeros(len(mesh.positions), VERTEX)
    out["position"] = mesh.positions
    out["normal"][:, :3] = np.round(127.0 + 127.0 * mesh.normals)
    out["uv"] = mesh.uv
    out["colour"] = mesh.colours
    out["material"][:, 0] = mesh.materials
    return out


def _sphere(mesh: Mesh) -> tuple[float, ...]:
    """Centre and radius of a bounding sphere."""
    if not len(mesh.positions):
        return 0.0, 0.0, 0.0, 0.0
    centre = 0.5 * (mesh.positions.min(axis=0) + mesh.positions.max(axis=0)).astype(np.float64)
    radius = np.sqrt(np.sum(np.square(mesh.positions - centre), axis=1).max())
    return (*centre.tolist(), float(radius))
