"""The map from above: what a vehicle that flies level between two heights would meet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyloop_autonomy.mapping.counting import FREE, OCCUPIED, UNKNOWN
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array, GridMap


@dataclass(frozen=True, slots=True, eq=False)
class GroundGrid:
    """A map in square cells, seen from above."""

    states: NDArray[np.int8]
    """(nx, ny) OCCUPIED, FREE or UNKNOWN; along x (east) and y (north)."""
    origin: Array
    """(2,) m, world, of the outer corner of cell [0, 0]."""
    cell: float
    """m, side of a cell."""
    height: float = 0.0
    """m, world, the middle of the layers that were projected."""

    @property
    def occupied(self) -> NDArray[np.bool_]:
        return np.asarray(self.states == OCCUPIED)

    @property
    def free(self) -> NDArray[np.bool_]:
        return np.asarray(self.states == FREE)

    def message(self, t_ns: int) -> GridMap:
        """Rows along y and columns along x, as GridMap has them."""
        origin = np.array([*self.origin, self.height])
        return GridMap(t_ns, np.ascontiguousarray(self.states.T), self.cell, origin)


def projected(
    states: NDArray[np.int8], origin: Array, cell: float, heights: tuple[float, float] | None = None
) -> GroundGrid:
    """Voxels (nx, ny, nz) seen from above; heights: m, world, from which to which they count, None: all.

    A cell is occupied if any of its voxels is, free if any is free and none occupied, else unknown.
    """
    low, high = (origin[2], origin[2] + states.shape[2] * cell) if heights is None else heights
    first = max(int(np.floor((low - origin[2]) / cell + 1e-9)), 0)
    end = min(int(np.ceil((high - origin[2]) / cell - 1e-9)), states.shape[2])
    if first >= end:
        raise ScenarioError(
            f"no voxel between {low:g} and {high:g} m; the map reaches from {origin[2]:g} m "
            f"to {origin[2] + states.shape[2] * cell:g} m"
        )
    band = states[:, :, first:end]
    out = np.full(states.shape[:2], UNKNOWN, np.int8)
    out[(band == FREE).any(axis=2)] = FREE
    out[(band == OCCUPIED).any(axis=2)] = OCCUPIED
    return GroundGrid(out, np.array(origin[:2], float), cell, float(origin[2] + 0.5 * (first + end) * cell))
