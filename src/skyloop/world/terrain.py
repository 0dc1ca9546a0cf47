"""The height field as triangles: tiles of several levels of detail, with skirts that close cracks between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.world.ground import Ground
from skyloop.world.materials import MATERIAL_ID
from skyloop.world.mesh import Mesh, merged
from skyloop.world.model import Model, Shape

TILE = 32
"""Cells along a tile's side."""
FAR = 3000.0
"""m; how far the ground is drawn beyond its edges."""

Cover = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]
"""Material numbers at (x, y), called with arrays."""


def place_terrain(
    model: Model,
    ground: Ground,
    cover: str | Cover = "grass",
    *,
    colour: Any = (255, 255, 255),
    variant: int = 0,
) -> None:
    """Places the ground in the model as tiles of one material, or of `cover(x, y)`, and extends its edges."""
    material = cover if callable(cover) else MATERIAL_ID[cover]
    nx, ny = ground.heights.shape
    slopes = np.gradient(ground.heights, ground.cell)
    normals = np.stack([-slopes[0], -slopes[1], np.ones((nx, ny))], -1)
    normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    for i in range(0, nx - 1, TILE):
        for j in range(0, ny - 1, TILE):
            window = np.s_[i : i + TILE + 1, j : j + TILE + 1]
            origin = np.array([ground.origin_xy[0] + i * ground.cell, ground.origin_xy[1] + j * ground.cell, 0.0])
            lods = [
                _tile(ground.heights[window], normals[window], ground.cell, origin, step, material, colour)
                for step in (1, 2, 4, 8)
            ]
            size = TILE * ground.cell
            shape = Shape(f"terrain {i},{j}", tuple(lods), (1.5 * size, 3.0 * size, 6.0 * size), casts_shadow=False)
            model.place(shape, origin, is_a="by material", name="terrain", solid=False, variant=variant)
    shape = Shape("far terrain", (_apron(ground, material, colour),), casts_shadow=False)
    model.place(shape, is_a="by material", name="far terrain", solid=False, variant=variant)


def _tile(heights: Any, normals: Any, cell: float, origin: Any, step: int, material: Cover | int, colour: Any) -> Mesh:
    rows, columns = _thinned(heights.shape[0], step), _thinned(heights.shape[1], step)
    x, y = np.meshgrid(rows * cell, columns * cell, indexing="ij")
    picked = np.ix_(rows, columns)
    grid = np.concatenate([np.stack([x, y, heights[picked]], -1), normals[picked]], -1)
    surface = _grid(grid, origin, material, colour)
    if step == 1:
        return surface
    # a skirt on the coarser tiles covers the gap to their neighbour
    lowered = grid - np.array([0, 0, 0.25 * step * cell, 0, 0, 0])
    skirts = [
        _grid(np.stack([upper[edge], lower[edge]]), origin, material, colour)
        for upper, lower in ((grid, lowered),)
        for edge in (np.s_[0], np.s_[-1, ::-1], np.s_[:, -1], np.s_[::-1, 0])
    ]
    return merged([surface, *skirts])


def _thinned(n: int, step: int) -> NDArray[np.int64]:
    return np.unique(np.append(np.arange(0, n, step), n - 1))


def _grid(grid: Any, origin: Any, material: Cover | int, colour: Any) -> Mesh:
    """Triangles over (nx, ny, 6) positions and normals. A triangle has one material, so corners are shared only within
    a material."""
    nx, ny = grid.shape[:2]
    index = np.arange(nx * ny).reshape(nx, ny)
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    faces = np.concatenate(
        [np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)], dtype=np.int32
    )
    points, normals = grid[..., :3].reshape(-1, 3), grid[..., 3:].reshape(-1, 3)
    uv = points[:, :2] + origin[:2] % 1000.0
    if isinstance(material, int):
        look = np.tile(np.array([*colour, 0], np.uint8), (len(points), 1))
        return Mesh(points, normals, uv, look, np.full(len(points), material, np.uint8), faces)
    middle = points[faces].mean(axis=1) + origin
    kinds = np.asarray(material(middle[:, 0], middle[:, 1]))
    parts = []
    for kind in np.unique(kinds):
        mine = faces[kinds == kind]
        used, local = np.unique(mine, return_inverse=True)
        look = np.tile(np.array([*colour, 0], np.uint8), (len(used), 1))
        number = np.full(len(used), kind, np.uint8)
        parts.append(Mesh(points[used], normals[used], uv[used], look, number, local.reshape(-1, 3).astype(np.int32)))
    return merged(parts)


def _apron(ground: Ground, material: Cover | int, colour: Any) -> Mesh:
    """The heights of the edges, extended to the horizon."""
    x0, y0 = ground.origin_xy
    nx, ny = ground.heights.shape
    xs, ys = x0 + ground.cell * np.arange(nx), y0 + ground.cell * np.arange(ny)
    far_x, far_y = (x0 - FAR, xs[-1] + FAR), (y0 - FAR, ys[-1] + FAR)
    h, zero = ground.heights, np.zeros(3)
    parts = []
    for low, high, line in ((far_x[0], xs[0], h[0]), (xs[-1], far_x[1], h[-1])):
        x, y = np.meshgrid([low, high], ys, indexing="ij")
        parts.append(_grid(_flat(x, y, line[None]), zero, material, colour))
    for low, high, line in ((far_y[0], ys[0], h[:, 0]), (ys[-1], far_y[1], h[:, -1])):
        x, y = np.meshgrid(xs, [low, high], indexing="ij")
        parts.append(_grid(_flat(x, y, line[:, None]), zero, material, colour))
    corners = [(far_x[0], xs[0], far_y[0], ys[0], h[0, 0]), (xs[-1], far_x[1], far_y[0], ys[0], h[-1, 0])]
    corners += [(far_x[0], xs[0], ys[-1], far_y[1], h[0, -1]), (xs[-1], far_x[1], ys[-1], far_y[1], h[-1, -1])]
    for ax, bx, ay, by, height in corners:
        x, y = np.meshgrid([ax, bx], [ay, by], indexing="ij")
        parts.append(_grid(_flat(x, y, height), zero, material, colour))
    return merged(parts)


def _flat(x: Any, y: Any, z: Any) -> Any:
    """(nx, ny, 6) points whose normals point up."""
    z = np.broadcast_to(z, x.shape)
    return np.stack([x, y, z, 0.0 * z, 0.0 * z, np.ones_like(z)], -1)
