"""Halls with boxes in them, given as plain arrays: what planners are measured and tested in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyloop.world.generation import generator
from skyloop_client.messages import Array

CELL = 0.2
"""m, as E2ES's maps have it."""
HEIGHT = 3.0
FLIGHT_HEIGHT = 1.5
CORNER = 1.4
"""m from the walls to start and goal."""


@dataclass(frozen=True, slots=True, eq=False)
class BoxWorld:
    """A square hall with upright boxes."""

    side: float
    """m; the hall reaches from 0 to `side` along x and y."""
    boxes: Array
    """(n, 4) m: low x, low y, high x, high y."""

    @property
    def start(self) -> Array:
        return np.array([CORNER, CORNER, FLIGHT_HEIGHT])

    @property
    def goal(self) -> Array:
        return np.array([self.side - CORNER, self.side - CORNER, FLIGHT_HEIGHT])

    def occupied(self, cell: float = CELL) -> NDArray[np.bool_]:
        """(n, n): the cells that a box or a wall touches; the walls are the outermost cells."""
        n = round(self.side / cell)
        low = np.arange(n) * cell
        out = np.zeros((n, n), bool)
        out[[0, -1], :] = out[:, [0, -1]] = True
        for x0, y0, x1, y1 in self.boxes:
            across, along = (low < x1) & (low + cell > x0), (low < y1) & (low + cell > y0)
            out |= across[:, None] & along[None, :]
        return out

    def cloud(self, spacing: float = 0.1) -> Array:
        """(n, 3) m: points on all sides of the boxes and walls, from the floor up."""
        heights = np.arange(0.0, HEIGHT, 2.0 * spacing)
        rings = [
            _ring(box, spacing) for box in (*self.boxes, np.array([CELL, CELL, self.side - CELL, self.side - CELL]))
        ]
        ring = np.vstack(rings)
        return np.column_stack([np.repeat(ring, len(heights), axis=0), np.tile(heights, len(ring))])

    def clearance(self, position: Array) -> float:
        """m from a position to the nearest side of a box or wall; negative inside."""
        x, y = float(position[0]), float(position[1])
        best = min(x - CELL, y - CELL, self.side - CELL - x, self.side - CELL - y)
        for x0, y0, x1, y1 in self.boxes:
            dx, dy = max(x0 - x, x - x1), max(y0 - y, y - y1)
            best = min(best, float(np.hypot(max(dx, 0.0), max(dy, 0.0))) if max(dx, dy) > 0.0 else max(dx, dy))
        return best


def box_world(seed: int, side: float = 16.0, boxes: int = 18) -> BoxWorld:
    """Boxes of 0.4 to 2.5 m anywhere but at the start and the goal."""
    chance = generator(seed, "box world")
    placed: list[Array] = []
    while len(placed) < boxes:
        size, middle = chance.uniform(0.4, 2.5, 2), chance.uniform(0.0, side, 2)
        low, high = middle - 0.5 * size, middle + 0.5 * size
        clear = all(
            np.linalg.norm(np.maximum(np.maximum(low - end, end - high), 0.0)) > 1.2
            for end in (np.full(2, CORNER), np.full(2, side - CORNER))
        )
        if clear:
            placed.append(np.concatenate([low, high]))
    return BoxWorld(side, np.array(placed))


def _ring(box: Array, spacing: float) -> Array:
    """(n, 2) m: points along the four sides."""
    x0, y0, x1, y1 = box
    xs = np.linspace(x0, x1, max(2, int((x1 - x0) / spacing) + 2))
    ys = np.linspace(y0, y1, max(2, int((y1 - y0) / spacing) + 2))
    sides = [np.column_stack([xs, np.full(len(xs), y)]) for y in (y0, y1)]
    sides += [np.column_stack([np.full(len(ys), x), ys]) for x in (x0, x1)]
    return np.vstack(sides)
