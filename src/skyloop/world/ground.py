"""The ground as a height field: two flat triangles per cell, extended beyond its edges.

`place_terrain` draws the same triangles, so that vehicles stand on what cameras and rays see: tiles of several levels
of detail, with skirts that close cracks between them.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import float64, void
from numpy.typing import ArrayLike, NDArray

from skyloop.core.jit import inlined, kernel, record_type
from skyloop.world.materials import MATERIAL_ID
from skyloop.world.mesh import Colour, Mesh, merged
from skyloop.world.model import Model, Shape
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

MOST_POINTS = 2.5e7
"""Points of a sampled height field: 200 MB, and several times that while it is made."""


class HeightField(NamedTuple):
    """A Ground in the form that kernels use."""

    heights: Array
    """(nx, ny) m; first axis east, second north."""
    origin_x: float
    """m, world position of heights[0, 0]."""
    origin_y: float
    cell: float
    """m between neighbouring points."""


height_field_type = record_type(HeightField, heights=float64[:, ::1], origin_x=float64, origin_y=float64, cell=float64)


@inlined
def _cell_index(g, n):
    """Index of the cell at grid coordinate g: -1 before the first of n points, n - 1 after the last."""
    if not g >= 0.0:  # NaN too, so that it never becomes an index
        return -1
    if g >= n - 1:
        return n - 1
    return int(g)


@inlined
def _corner(index, n):
    """The cell whose heights are used and, beyond the edge, the coordinate in it that is held; -1 inside."""
    if index < 0:
        return 0, 0.0
    if index >= n - 1:
        return n - 2, 1.0
    return index, -1.0


@inlined
def ground_at(heights, origin_x, origin_y, cell, x, y):
    """Height (m) and upward unit normal at (x, y); outside, the height of the edge continues."""
    gx, gy = (x - origin_x) / cell, (y - origin_y) / cell
    i, u = _corner(_cell_index(gx, heights.shape[0]), heights.shape[0])
    j, v = _corner(_cell_index(gy, heights.shape[1]), heights.shape[1])
    varies_x, varies_y = u < 0.0, v < 0.0
    if varies_x:
        u = gx - i
    if varies_y:
        v = gy - j
    h00, h11 = heights[i, j], heights[i + 1, j + 1]
    # the cell is split from its low corner to its high one
    if u >= v:
        along_x, along_y = heights[i + 1, j] - h00, h11 - heights[i + 1, j]
    else:
        along_x, along_y = h11 - heights[i, j + 1], heights[i, j + 1] - h00
    slope_x = along_x / cell if varies_x else 0.0
    slope_y = along_y / cell if varies_y else 0.0
    up = 1.0 / np.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    return h00 + along_x * u + along_y * v, -slope_x * up, -slope_y * up, up


@kernel(void(height_field_type, float64, float64, float64[::1]))
def _ground_at_point(ground, x, y, out):
    g = HeightField(*ground)
    out[0], out[1], out[2], out[3] = ground_at(g.heights, g.origin_x, g.origin_y, g.cell, x, y)


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """A height field; point (i, j) is at origin_xy + cell·(i, j)."""

    heights: Array
    """(nx, ny) m, at least 2 by 2, C-contiguous; first axis east, second north."""
    origin_xy: tuple[float, float] = (0.0, 0.0)
    """m, world position of heights[0, 0]."""
    cell: float = 1.0
    """m between neighbouring points."""

    def __post_init__(self) -> None:
        heights = np.array(self.heights, dtype=np.float64, order="C")
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise ScenarioError(f"ground heights have shape {heights.shape}; give a grid of at least 2 by 2 points")
        if not np.isfinite(heights).all():
            raise ScenarioError("ground heights hold NaN or infinity; fill the holes before making a Ground")
        if not (np.isfinite(self.cell) and self.cell > 0.0):
            raise ScenarioError(f"ground cell is {self.cell} m; give a positive spacing")
        object.__setattr__(self, "heights", heights)

    @staticmethod
    def flat(height: float = 0.0) -> Ground:
        return Ground(np.full((2, 2), float(height)))

    @staticmethod
    def from_function(
        height: Callable[[Array, Array], ArrayLike], extent: tuple[float, float, float, float], cell: float
    ) -> Ground:
        """Samples height(x, y), called with arrays, over extent = (x_min, y_min, x_max, y_max)."""
        x_min, y_min, x_max, y_max = extent
        if not (cell > 0.0 and x_max > x_min and y_max > y_min):
            raise ScenarioError(
                f"ground extent {extent} with cell {cell} is empty; give (x_min, y_min, x_max, y_max) and cell > 0"
            )
        if not (x_max - x_min) / cell * (y_max - y_min) / cell <= MOST_POINTS:
            raise ScenarioError(
                f"ground extent {extent} with cell {cell:g} m has more than {MOST_POINTS:.0e} points; make it smaller"
            )
        # The tolerance keeps 10 / 0.1 at 100 cells when rounding makes it 100.00000000000001.
        counts = [max(int(np.ceil(span / cell - 1e-9)), 1) + 1 for span in (x_max - x_min, y_max - y_min)]
        x, y = np.meshgrid(x_min + cell * np.arange(counts[0]), y_min + cell * np.arange(counts[1]), indexing="ij")
        heights = np.broadcast_to(np.asarray(height(x, y), dtype=np.float64), x.shape)
        return Ground(heights, (float(x_min), float(y_min)), float(cell))

    @property
    def kernel_arguments(self) -> tuple[Array, float, float, float]:
        """A HeightField as a tuple of kernel arguments."""
        return self.heights, self.origin_xy[0], self.origin_xy[1], self.cell

    def at(self, x: float, y: float) -> tuple[float, Array]:
        """Height (m) and upward unit normal (3,) at a world position."""
        out = np.empty(4)
        _ground_at_point(self.kernel_arguments, float(x), float(y), out)
        return float(out[0]), out[1:]


TILE = 32
"""Cells along a tile's side."""
FAR = 3000.0
"""m; how far the ground is drawn beyond its edges."""

Cover = Callable[[Array, Array], NDArray[np.integer]]
"""Material numbers at (x, y), called with arrays."""


def place_terrain(
    model: Model, ground: Ground, cover: str | Cover = "grass", *, colour: Colour = (255, 255, 255), variant: int = 0
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


def _tile(
    heights: Array, normals: Array, cell: float, origin: Array, step: int, material: Cover | int, colour: Colour
) -> Mesh:
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


def _grid(grid: NDArray[np.floating], origin: Array, material: Cover | int, colour: Colour) -> Mesh:
    """Triangles over (nx, ny, 6) positions and normals. A triangle has one material, so corners are shared only within
    a material."""
    nx, ny = grid.shape[:2]
    index = np.arange(nx * ny).reshape(nx, ny)
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    faces = np.concatenate(
        [np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)], dtype=np.int32
    )
    points, normals = grid[..., :3].reshape(-1, 3), grid[..., 3:].reshape(-1, 3)
    uv = (points[:, :2] + origin[:2] % 1000.0).astype(np.float32)
    if isinstance(material, int):
        look = np.tile(np.array([*colour, 0], np.uint8), (len(points), 1))
        number = np.full(len(points), material, np.uint8)
        return Mesh(points, normals, uv, look, number, faces)
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


def _apron(ground: Ground, material: Cover | int, colour: Colour) -> Mesh:
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


def _flat(x: Array, y: Array, z: ArrayLike) -> Array:
    """(nx, ny, 6) points whose normals point up."""
    z = np.broadcast_to(z, x.shape)
    return np.stack([x, y, z, 0.0 * z, 0.0 * z, np.ones_like(z)], -1)
