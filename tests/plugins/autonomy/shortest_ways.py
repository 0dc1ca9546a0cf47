"""The shortest way over the free cells of a grid, by SciPy: the oracle of the planners."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import dijkstra


def shortest_length(blocked: np.ndarray, start: tuple[int, ...], goal: tuple[int, ...]) -> float:
    """By SciPy's Dijkstra, in cells; a step needs every cell free in the box that it spans."""
    axes, free = blocked.ndim, ~blocked
    numbers = np.arange(blocked.size).reshape(blocked.shape)
    rows, columns, lengths = [], [], []
    for step in itertools.product((-1, 0, 1), repeat=axes):
        if not any(step):
            continue
        here = tuple(slice(max(0, -s), n - max(0, s)) for s, n in zip(step, blocked.shape, strict=True))
        is_open = np.ones(free[here].shape, bool)
        for part in itertools.product(*[(0, s) if s else (0,) for s in step]):
            moved = tuple(
                slice(max(0, -s) + p, n - max(0, s) + p) for s, p, n in zip(step, part, blocked.shape, strict=True)
            )
            is_open &= free[moved]
        there = tuple(slice(max(0, -s) + s, n - max(0, s) + s) for s, n in zip(step, blocked.shape, strict=True))
        rows.append(numbers[here][is_open])
        columns.append(numbers[there][is_open])
        lengths.append(np.full(is_open.sum(), np.sqrt(np.abs(step).sum())))
    graph = coo_matrix(
        (np.concatenate(lengths), (np.concatenate(rows), np.concatenate(columns))), shape=(blocked.size, blocked.size)
    )
    return float(dijkstra(graph.tocsr(), indices=numbers[start])[numbers[goal]])
