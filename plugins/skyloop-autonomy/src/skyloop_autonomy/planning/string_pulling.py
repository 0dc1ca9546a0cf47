"""String pulling: a way over cells becomes straight lines between few corners."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from skyloop_client.messages import Array


def corners_kept(count: int, is_free: Callable[[int, int], bool], *, by_halves: bool = False) -> list[int]:
    """Which of `count` points of a way are kept if each one is joined to the farthest that a straight line reaches.

    is_free: whether the line between two of the points, by their numbers, is free. Neighbours count as joined.
    by_halves: far fewer lines are asked for, and the farthest is found only where sight is lost once, as on most ways.
    """
    kept = [0]
    while kept[-1] < count - 1:
        first, low, high = kept[-1], kept[-1] + 1, count - 1
        while low < high:
            last = (low + high + 1) // 2 if by_halves else high
            if is_free(first, last):
                low = last
            else:
                high = last - 1
        kept.append(low)
    return kept


def cells_along(
    start: Array, end: Array, corner: Array, cell: float, shape: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Indices of the cells of a flat grid on a straight line, looked at in steps of half a cell."""
    steps = max(math.ceil(float(np.hypot(*(end - start))) / (0.5 * cell)), 1)
    points = start + np.linspace(0.0, 1.0, steps + 1)[:, None] * (end - start)
    cells = np.clip(np.floor((points - corner) / cell).astype(np.int64), 0, np.array(shape) - 1)
    return cells[:, 0], cells[:, 1]
