"""A flight through the unknown city beside the truth: its map, its way and its clearance."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.world.model import Model
from skyloop.world.occupancy import occupancy
from skyloop_autonomy.mapping.counting import FREE, OCCUPIED
from skyloop_autonomy.mapping.judging import Agreement, compared
from skyloop_autonomy.planning.clearance_grid import ClearanceGrid
from skyloop_client.messages import Array, GridMap
from skyloop_papers.unknown_city.plan import BAND, GOAL, HEIGHT, LOOSE, TOUCHING

AROUND = 40.0
"""m around start and goal that the optimum may use; the boundary wall is within."""
SLICE = 0.1
"""m above and below the height of flight in which the world's surfaces count: the map is of the plane of flight."""


def true_cells(model: Model, corner: Array, shape: tuple[int, ...], cell: float, slack: float) -> tuple[Any, Any]:
    """(nx, ny) which cells are occupied at the height of flight, and which are unclear.

    A cell is occupied if a wall takes up any part of it, or if walls shut it off from the start: the insides of
    buildings. It is unclear if that depends on a shift of the world by `slack` metres."""
    # the whole city: within the map alone, streets may have no connection with the start
    before = np.maximum(np.ceil((corner + AROUND) / cell), 0).astype(int)
    high = np.maximum(corner + cell * np.array(shape), np.array(GOAL) + AROUND)
    low = corner - before * cell
    shifts = [np.array([x, y]) for x in (-slack, slack) for y in (-slack, slack)]
    window = tuple(slice(first, first + size) for first, size in zip(before, shape, strict=True))
    shifted = [_occupied(model, low + shift, high + shift, cell)[window] for shift in shifts]
    always, ever = np.logical_and.reduce(shifted), np.logical_or.reduce(shifted)
    return always, ever & ~always


def _occupied(model: Model, low: Array, high: Array, cell: float) -> NDArray[np.bool_]:
    from scipy.ndimage import label

    walls = occupancy(model, None, [*low, HEIGHT - SLICE], [*high, HEIGHT + SLICE], cell).any(axis=2)
    parts, _ = label(~walls)
    start = tuple(np.floor(-low / cell).astype(int))
    return np.asarray(parts != parts[start])


def map_score(model: Model, grid: GridMap, slack: float = TOUCHING) -> Agreement:
    cells = grid.cells.T
    truth, unclear = true_cells(model, grid.origin[:2], cells.shape, grid.resolution, slack)
    return compared(cells == OCCUPIED, cells == FREE, truth, unclear)


class TrueCity:
    """The world at the height of flight: the shortest way, and how near a track comes to walls."""

    def __init__(self, model: Model, cell: float = 0.2) -> None:
        corner = np.array([-AROUND, -AROUND])
        shape = tuple(math.ceil((GOAL[axis] + 2.0 * AROUND) / cell) for axis in (0, 1))
        self.occupied, _ = true_cells(model, corner, shape, cell, 0.0)
        self.corner, self.cell = corner, cell
        self._ways = ClearanceGrid(self.occupied, corner, cell, BAND, crowded=0.0)

    def optimum(self) -> Array:
        """(n, 2) m, the shortest way that keeps as far from walls as the pilot does."""
        way = self._ways.way(np.zeros(2), np.array(GOAL))
        assert way is not None, "the world promises two routes"
        return way

    def least_clearance(self, track: Array) -> float:
        """m; track: (n, 2 or more)."""
        return min(self._ways.clearance(point) for point in track)


def way_length(track: Array) -> float:
    return float(np.hypot(*np.diff(np.asarray(track)[:, :2], axis=0).T).sum())


def scores_of_map(model: Model, grid: GridMap) -> dict[str, Any]:
    strict, loose = map_score(model, grid), map_score(model, grid, LOOSE)
    return {
        "iou": strict.iou, "iou_loose": loose.iou, "cells_seen": strict.seen,
        "false_occupied": strict.false_occupied, "missed": strict.missed,
    }  # fmt: skip
