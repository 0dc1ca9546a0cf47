"""Random positions for plants, never closer together than a given distance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skyloop.world.scenery.plants.branches import Points


class Spots:
    """Discs that are taken, stored by grid square for fast search."""

    def __init__(self, cell: float = 4.0) -> None:
        self._cell = cell
        self._widest = 0.0
        self._squares: dict[tuple[int, int], list[tuple[float, float, float]]] = {}

    def add(self, x: float, y: float, radius: float) -> None:
        self._widest = max(self._widest, radius)
        key = (int(np.floor(x / self._cell)), int(np.floor(y / self._cell)))
        self._squares.setdefault(key, []).append((x, y, radius))

    def free(self, x: float, y: float, radius: float) -> bool:
        """Whether a disc here touches no taken one."""
        reach = int((radius + self._widest) / self._cell) + 1
        i, j = int(np.floor(x / self._cell)), int(np.floor(y / self._cell))
        for a in range(i - reach, i + reach + 1):
            for b in range(j - reach, j + reach + 1):
                for u, v, r in self._squares.get((a, b), ()):
                    if (x - u) ** 2 + (y - v) ** 2 < (r + radius) ** 2:
                        return False
        return True


def spread_out(candidates: ArrayLike, n: int, spots: Spots, radius: float) -> Points:
    """The first (≤ n, 2) candidates that are 2·radius apart and off all `spots`, to which they are added."""
    found: list[tuple[float, float]] = []
    for x, y in np.asarray(candidates, float).tolist():
        if len(found) == n:
            break
        if spots.free(x, y, radius):
            spots.add(x, y, radius)
            found.append((x, y))
    return np.array(found).reshape(-1, 2)
