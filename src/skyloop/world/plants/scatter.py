"""Where things grow: spots at random, never closer together than a given distance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skyloop.world.plants.branches import Points

MAX_TRIES = 60
"""Spots tried for every one wanted before the ground counts as full."""


class Spots:
    """Discs already taken, found quickly by the square they are in."""

    def __init__(self, cell: float = 4.0) -> None:
        self._cell = cell
        self._widest = 0.0
        self._squares: dict[tuple[int, int], list[tuple[float, float, float]]] = {}

    def add(self, x: float, y: float, radius: float) -> None:
        self._widest = max(self._widest, radius)
        key = (int(np.floor(x / self._cell)), int(np.floor(y / self._cell)))
        self._squares.setdefault(key, []).append((x, y, radius))

    def free(self, x: float, y: float, radius: float) -> bool:
        """Whether a disc here touches none taken."""
        reach = int((radius + self._widest) / self._cell) + 1
        i, j = int(np.floor(x / self._cell)), int(np.floor(y / self._cell))
        for a in range(i - reach, i + reach + 1):
            for b in range(j - reach, j + reach + 1):
                for u, v, r in self._squares.get((a, b), ()):
                    if (x - u) ** 2 + (y - v) ** 2 < (r + radius) ** 2:
                        return False
        return True


def spread_out(
    generator: np.random.Generator,
    n: int,
    extent: float,
    fits: Callable[[float, float], bool],
    spots: Spots,
    radius: float,
) -> Points:
    """(≤ n, 2) points of the square ±extent, at least 2·radius apart, that `fits` accepts; they are added to `spots`."""
    found: list[tuple[float, float]] = []
    for x, y in generator.uniform(-extent, extent, (MAX_TRIES * n, 2)).tolist():
        if len(found) == n:
            break
        if fits(x, y) and spots.free(x, y, radius):
            spots.add(x, y, radius)
            found.append((x, y))
    return np.array(found).reshape(-1, 2)
