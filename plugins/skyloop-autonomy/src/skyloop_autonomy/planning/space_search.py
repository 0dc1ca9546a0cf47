"""A* through a grid of three dimensions: the shortest way in steps to the 26 neighbours of a cell, no corners cut."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from skyloop.core.jit import WHEN_CALLED, inlined, kernel
from skyloop_autonomy.planning.node_heap import CLOSED, HEAP_ARRAYS, NEW, Heap, nodes_between, pop, push_or_raise

STEP_LENGTHS = np.array([0.0, 1.0, math.sqrt(2.0), math.sqrt(3.0)])
"""Cells, by the number of axes along which a step goes."""


def space_search(
    blocked: NDArray[np.bool_], start: tuple[int, int, int], goal: tuple[int, int, int]
) -> tuple[NDArray[np.int64], float] | None:
    """The cells of a shortest way, (n, 3) from start to goal, and its length in cells; None: no way.

    A diagonal step needs all cells free that touch the line between the two centres."""
    if blocked[start] or blocked[goal]:
        return None
    padded = np.ones(tuple(n + 2 for n in blocked.shape), dtype=np.bool_)
    padded[1:-1, 1:-1, 1:-1] = blocked
    wide, deep = padded.shape[1] * padded.shape[2], padded.shape[2]
    first, last = ((i + 1) * wide + (j + 1) * deep + k + 1 for i, j, k in (start, goal))
    n = padded.size
    parent = np.full(n, -1, np.int64)
    heap = (np.empty(n, np.int64), np.full(n, NEW, np.int64), np.empty(n))
    length = _search(padded.reshape(-1), (wide, deep), (first, last), parent, heap)
    if length < 0.0:
        return None
    cells = nodes_between(parent, first, last)
    return np.stack([cells // wide - 1, cells % wide // deep - 1, cells % deep - 1], axis=1), float(length)


@inlined
def _ahead(node, goal, wide, deep):
    """The length of the way in an empty grid."""
    a, b = abs(node // wide - goal // wide), abs(node % wide // deep - goal % wide // deep)
    c = abs(node % deep - goal % deep)
    most, least = max(a, b, c), min(a, b, c)
    middle = a + b + c - most - least
    return (STEP_LENGTHS[3] - STEP_LENGTHS[2]) * least + (STEP_LENGTHS[2] - STEP_LENGTHS[1]) * middle + most


@inlined
def _is_open(blocked, at, steps):
    """Whether every cell is free that a step along one, two or three axes touches."""
    a, b, c = steps
    if blocked[at + a + b + c]:
        return False
    if a != 0 and blocked[at + a]:
        return False
    if b != 0 and blocked[at + b]:
        return False
    if c != 0 and blocked[at + c]:
        return False
    return not (blocked[at + a + b] or blocked[at + a + c] or blocked[at + b + c])


@kernel(
    float64(
        types.boolean[::1],
        types.UniTuple(int64, 2),
        types.UniTuple(int64, 2),
        types.int64[::1],
        HEAP_ARRAYS,
    ),
    turn=WHEN_CALLED,
)
def _search(blocked, strides, ends, parent, heap_arrays):
    heap = Heap(*heap_arrays)
    wide, deep = strides
    start, goal = ends
    way = np.full(blocked.size, np.inf)
    way[start] = 0.0
    size = push_or_raise(heap, 0, start, _ahead(start, goal, wide, deep))
    while size > 0:
        at = pop(heap, size)
        size -= 1
        if at == goal:
            return way[goal]
        for a in range(-1, 2):
            for b in range(-1, 2):
                for c in range(-1, 2):
                    steps = (a * wide, b * deep, c)
                    reached = at + steps[0] + steps[1] + steps[2]
                    if heap.place[reached] == CLOSED or not _is_open(blocked, at, steps):
                        continue
                    longer = way[at] + STEP_LENGTHS[abs(a) + abs(b) + abs(c)]
                    if longer < way[reached]:
                        way[reached], parent[reached] = longer, at
                        size = push_or_raise(heap, size, reached, longer + _ahead(reached, goal, wide, deep))
    return -1.0
