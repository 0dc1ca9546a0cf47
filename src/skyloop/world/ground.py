"""The ground as a height field: two flat triangles per cell, extended beyond its edges.

The triangles are those of `terrain.place_terrain`, so that vehicles stand on what cameras and rays see.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import float64, void
from numpy.typing import ArrayLike

from skyloop.core.jit import inlined, kernel, record_type
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
def _ground_at_point(ground: Any, x: Any, y: Any, out: Any) -> None:
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
