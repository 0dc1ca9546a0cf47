"""Jump point search: the shortest way over a flat grid, in steps to the eight neighbours of a cell.

The rules of Harabor and Grastien in their form without cut corners: a diagonal step needs both cells beside it free.
Then a cell has forced neighbours only where the way is straight and an obstacle beside it has just ended.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from skyloop.core.jit import WHEN_CALLED, inlined, kernel
from skyloop_autonomy.planning.node_heap import CLOSED, HEAP_ARRAYS, NEW, Heap, nodes_between, pop, push_or_raise

SQRT2 = math.sqrt(2.0)
_SAME = 1e-9
"""Cells; ways that differ by less are equally long."""
_ALL_DIRECTIONS = 0b11111111


def jump_point_search(
    blocked: NDArray[np.bool_], start: tuple[int, int], goal: tuple[int, int]
) -> tuple[NDArray[np.int64], float] | None:
    """The jump points of a shortest way, (n, 2) cells from start to goal, and its length in cells; None: no way.

    blocked: (nx, ny). Two jump points are joined by a straight or diagonal run of cells."""
    nx, ny = blocked.shape
    wide = ny + 2
    # the border saves the search all tests for the end of the grid
    padded = np.ones((nx + 2, wide), dtype=np.bool_)
    padded[1:-1, 1:-1] = blocked
    first, last = (start[0] + 1) * wide + start[1] + 1, (goal[0] + 1) * wide + goal[1] + 1
    flat = padded.reshape(-1)
    if flat[first] or flat[last]:
        return None
    n = flat.size
    parent = np.full(n, -1, np.int64)
    heap = (np.empty(n, np.int64), np.full(n, NEW, np.int64), np.empty(n))
    length = _search(flat, wide, first, last, parent, heap)
    if length < 0.0:
        return None
    cells = nodes_between(parent, first, last)
    return np.stack([cells // wide - 1, cells % wide - 1], axis=1), float(length)


@inlined
def _step(direction, wide):
    """Directions count from +x by eighths of a turn towards +y."""
    across, along = 0, 0
    if direction in (7, 0, 1):
        across = 1
    elif direction in (3, 4, 5):
        across = -1
    if direction in (1, 2, 3):
        along = 1
    elif direction in (5, 6, 7):
        along = -1
    return across * wide, along


@inlined
def _forced(blocked, at, step, side):
    """Whether an obstacle on this side has just ended, so that the way around it leads through this cell."""
    return blocked[at - step + side] and not blocked[at + side]


@inlined
def _jump_straight(blocked, at, step, side, goal):
    """The next jump point, or -1 before an obstacle."""
    while True:
        at += step
        if blocked[at]:
            return -1
        if at == goal or _forced(blocked, at, step, side) or _forced(blocked, at, step, -side):
            return at


@inlined
def _jump_diagonal(blocked, at, across, along, goal):
    while True:
        if blocked[at + across] or blocked[at + along]:
            return -1
        at += across + along
        if blocked[at]:
            return -1
        if at == goal or _jump_straight(blocked, at, across, along, goal) >= 0:
            return at
        if _jump_straight(blocked, at, along, across, goal) >= 0:
            return at


@inlined
def _onward(blocked, at, direction, wide):
    """The directions to search from a cell that was entered in `direction`, as bits."""
    across, along = _step(direction, wide)
    if direction % 2 == 1:
        return (1 << direction) | (1 << ((direction + 1) % 8)) | (1 << ((direction + 7) % 8))
    step = across + along
    left_across, left_along = _step((direction + 2) % 8, wide)
    left = left_across + left_along
    onward = 1 << direction
    if _forced(blocked, at, step, left):
        onward |= (1 << ((direction + 1) % 8)) | (1 << ((direction + 2) % 8))
    if _forced(blocked, at, step, -left):
        onward |= (1 << ((direction + 7) % 8)) | (1 << ((direction + 6) % 8))
    return onward


@kernel(float64(types.boolean[::1], int64, int64, int64, types.int64[::1], HEAP_ARRAYS), turn=WHEN_CALLED)
def _search(blocked, wide, start, goal, parent, heap_arrays):
    """The length of the shortest way in cells, or -1."""
    heap = Heap(*heap_arrays)
    way = np.full(blocked.size, np.inf)
    directions = np.zeros(blocked.size, np.int64)
    way[start], directions[start] = 0.0, _ALL_DIRECTIONS
    size = push_or_raise(heap, 0, start, 0.0)
    goal_x, goal_y = goal // wide, goal % wide
    while size > 0:
        at = pop(heap, size)
        size -= 1
        if at == goal:
            return way[goal]
        for direction in range(8):
            if not (directions[at] >> direction) & 1:
                continue
            across, along = _step(direction, wide)
            if direction % 2 == 1:
                reached = _jump_diagonal(blocked, at, across, along, goal)
            else:
                side = along * wide + across // wide
                reached = _jump_straight(blocked, at, across + along, side, goal)
            if reached < 0 or heap.place[reached] == CLOSED:
                continue
            x, y = reached // wide, reached % wide
            cells = max(abs(x - at // wide), abs(y - at % wide))
            longer = way[at] + cells * (SQRT2 if direction % 2 == 1 else 1.0)
            if longer < way[reached] - _SAME:
                way[reached], parent[reached] = longer, at
                directions[reached] = _onward(blocked, reached, direction, wide)
                # the straight distance never overestimates, so the first way to the goal is a shortest one
                ahead = np.sqrt(float((x - goal_x) ** 2 + (y - goal_y) ** 2))
                size = push_or_raise(heap, size, reached, longer + ahead)
            elif longer < way[reached] + _SAME:
                # two ways of one length: what one leaves out is found from the other only if both go on
                directions[reached] |= _onward(blocked, reached, direction, wide)
    return -1.0
