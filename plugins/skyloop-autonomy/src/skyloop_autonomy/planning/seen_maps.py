"""What planners see of the maps that come as records on streams."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from skyloop_autonomy.planning.clearance import MOVER_COLUMNS
from skyloop_autonomy.planning.replanning import Surroundings
from skyloop_client.messages import Array, GridMap, Movers, PointCloud

OCCUPIED_FROM = 50
"""The value of a cell from which it counts as occupied. Unknown cells (-1) count as free, as E2ES has it."""
FARTHEST = 200.0
"""m from the vehicle; the map is not made larger than that for a goal."""
MARGIN = 3.0
"""m around the map, the vehicle and the goal within which a way may lead through what was never seen."""
CLOSED = 0.3
"""m around a position that was closed."""
OLDEST_MOVERS = 1.0
"""s; movers that are older are left out."""


class SeenMaps:
    """The newest maps, made ready for `advance`."""

    def __init__(self) -> None:
        self._ground: GridMap | None = None
        self._near: PointCloud | None = None
        self._cloud: Array = np.empty((0, 3))
        self._grown: tuple[NDArray[np.bool_], Array] | None = None
        self._movers: Movers | None = None
        self._closed: list[Array] = []

    def take(self, ground: GridMap | None, near: PointCloud | None, movers: Movers | None = None) -> None:
        self._movers = movers
        if ground is not None and ground is not self._ground:
            self._ground, self._grown = ground, None
        if near is not None and near is not self._near:
            self._near, self._cloud = near, near.points.astype(np.float64)

    @property
    def are_there(self) -> bool:
        return self._ground is not None and self._near is not None

    def age(self, t_ns: int) -> float:
        """s since the older one of the two maps was true; 0 before the first."""
        stamps = [record.t_ns for record in (self._ground, self._near) if record is not None]
        return (t_ns - min(stamps)) * 1e-9 if stamps else 0.0

    def movers(self, t_ns: int) -> Array:
        """(m, 8): where the objects that move are at an instant, if they go on as they did; see `clearance`."""
        movers = self._movers
        if movers is None or not 0.0 <= (since := (t_ns - movers.t_ns) * 1e-9) <= OLDEST_MOVERS:
            return np.empty((0, MOVER_COLUMNS))
        positions = movers.positions + since * movers.velocities
        return np.column_stack([positions, movers.velocities, movers.sizes[:, 0], 0.5 * movers.sizes[:, 1]])

    def close(self, position: Array) -> None:
        """No way leads over this position until `open_all`: the map from above shows it free, but it was not passed."""
        self._closed.append(position)

    def open_all(self) -> None:
        self._closed.clear()

    def surroundings(self, positions: Array, t_ns: int) -> Surroundings:
        """positions: (n, 3) m, world, for which the map is made large enough: the vehicle, then the goal. t_ns: now."""
        positions = positions[(np.abs(positions - positions[0]) < FARTHEST).all(axis=1)]
        if self._ground is None:
            return Surroundings(np.zeros((1, 1), np.bool_), np.zeros(2), 0.2, self._cloud, self.movers(t_ns))
        cell = self._ground.resolution
        if self._grown is None or not _holds(*self._grown, cell, positions):
            self._grown = _grown(self._ground, positions)
        cells, origin = self._grown
        if self._closed:
            cells = cells.copy()
            for position in self._closed:
                _close(cells, (position[:2] - origin) / cell, CLOSED / cell)
        return Surroundings(cells, origin, cell, self._cloud, self.movers(t_ns))


def _close(cells: NDArray[np.bool_], position: Array, radius: float) -> None:
    """Marks the cells whose middles are within a radius of a position as occupied; both in cells."""
    low = np.maximum(np.floor(position - radius), 0).astype(int)
    part = cells[tuple(slice(first, first + math.ceil(2.0 * radius) + 2) for first in low)]
    x, y = (low[axis] + 0.5 + np.arange(part.shape[axis]) - position[axis] for axis in (0, 1))
    part |= np.hypot(x[:, None], y[None]) < radius


def _holds(cells: NDArray[np.bool_], origin: Array, cell: float, positions: Array) -> bool:
    upper = origin + cell * np.array(cells.shape)
    return bool((positions[:, :2] >= origin + 0.5 * MARGIN).all() and (positions[:, :2] <= upper - 0.5 * MARGIN).all())


def _grown(ground: GridMap, positions: Array) -> tuple[NDArray[np.bool_], Array]:
    """(nx, ny) cells that are occupied, and the lower corner of the first: the map with free cells around it."""
    occupied = np.ascontiguousarray((ground.cells >= OCCUPIED_FROM).T)
    cell, lower = ground.resolution, ground.origin[:2]
    upper = lower + cell * np.array(occupied.shape)
    before = [math.ceil(max(lower[a] - positions[:, a].min() + MARGIN, 0.0) / cell) for a in (0, 1)]
    after = [math.ceil(max(positions[:, a].max() + MARGIN - upper[a], 0.0) / cell) for a in (0, 1)]
    cells = np.pad(occupied, [(before[0], after[0]), (before[1], after[1])])
    return cells, lower - cell * np.array(before)
