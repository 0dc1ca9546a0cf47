"""The cheapest or shortest way over a grid, in steps to the neighbours of a cell that cut no corners.

A* takes cells of any cost, flat or in three dimensions. Where a flat grid has no costs, jump point search finds a way
of the same length 3 to 15 times faster: the rules of Harabor and Grastien in their form without cut corners, where a
diagonal step needs both cells beside it free. Then a cell has forced neighbours only where the way is straight and an
obstacle beside it has just ended.

Of two cells with the same estimate both take the one with the smaller number first, so that a search has one result.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import heapq
import math
from collections.abc import Callable

import numpy as np
from numba import float64, int64, types
from numpy.typing import NDArray

from skyloop.core.jit import WHEN_CALLED, inlined, kernel
from skyloop_client.messages import Array

SQRT2 = math.sqrt(2.0)
STEP_LENGTHS = np.array([0.0, 1.0, SQRT2, math.sqrt(3.0)])
"""Cells, by the number of axes along which a step goes."""
_SAME = 1e-9
"""Cells; ways that differ by less are equally long."""
_ALL_DIRECTIONS = 0b11111111
_CELLS, _NUMBERS, _ENDS = types.boolean[::1], types.int64[::1], types.UniTuple(int64, 2)


def cheapest_way(
    blocked: NDArray[np.bool_], start: tuple[int, ...], goal: tuple[int, ...], cost: Array | None = None
) -> tuple[NDArray[np.int64], float] | None:
    """The cells of a cheapest way, (n, 2) or (n, 3) from start to goal, and its cost; None: no way.

    cost: by cell, of a step of one cell, at least 1; a step between two cells costs their mean. Without it the way is a
    shortest one, and its cost the length in cells."""
    costs = np.ones(blocked.shape) if cost is None else cost
    # a flat grid is one layer
    deep = blocked.shape[2] + 2 if blocked.ndim == 3 else 1
    shape = ((blocked.shape[1] + 2) * deep, deep, blocked.ndim)
    padded = np.pad(costs, 1).reshape(-1)
    return _found(blocked, start, goal, lambda cells, ends, parent: _search(cells, padded, shape, ends, parent))


def jump_point_search(
    blocked: NDArray[np.bool_], start: tuple[int, int], goal: tuple[int, int]
) -> tuple[NDArray[np.int64], float] | None:
    """The jump points of a shortest way over a flat grid, (n, 2) cells from start to goal, and its length in cells;
    None: no way. Two jump points are joined by a straight or diagonal run of cells."""
    wide = blocked.shape[1] + 2
    return _found(blocked, start, goal, lambda cells, ends, parent: _jump_search(cells, wide, ends, parent))


def _found(
    blocked: NDArray[np.bool_],
    start: tuple[int, ...],
    goal: tuple[int, ...],
    search: Callable[[NDArray[np.bool_], tuple[int, int], NDArray[np.int64]], float],
) -> tuple[NDArray[np.int64], float] | None:
    """search: given the cells as one row, the numbers of start and goal, and the parents to fill in, the cost or -1."""
    # the border saves the search all tests for the end of the grid
    padded = np.pad(blocked, 1, constant_values=True)
    first, last = (int(np.ravel_multi_index([i + 1 for i in cell], padded.shape)) for cell in (start, goal))
    flat = padded.reshape(-1)
    if flat[first] or flat[last]:
        return None
    parent = np.full(flat.size, -1, np.int64)
    cost = search(flat, (first, last), parent)
    if cost < 0.0:
        return None
    numbers = [last]
    while numbers[-1] != first:
        numbers.append(int(parent[numbers[-1]]))
    return np.column_stack(np.unravel_index(numbers[::-1], padded.shape)) - 1, float(cost)


@inlined
def _length_ahead(a, b, c):
    """Cells: the length of the way in an empty grid to a cell that is so many cells away along each axis."""
    a, b, c = abs(a), abs(b), abs(c)
    most, least = max(a, b, c), min(a, b, c)
    middle = a + b + c - most - least
    return (STEP_LENGTHS[3] - STEP_LENGTHS[2]) * least + (STEP_LENGTHS[2] - STEP_LENGTHS[1]) * middle + most


@inlined
def _is_open(blocked, at, a, b, c):
    """Whether every cell is free that a step by a, b and c numbers along the three axes touches."""
    if blocked[at + a] or blocked[at + b] or blocked[at + c]:
        return False
    return not (blocked[at + a + b] or blocked[at + a + c] or blocked[at + b + c])


@kernel(
    float64(_CELLS, types.float64[::1], types.UniTuple(int64, 3), _ENDS, _NUMBERS),
    turn=WHEN_CALLED,
)
def _search(blocked, cost, shape, ends, parent):
    """The cost of the cheapest way, or -1. shape: the strides of the first two axes, and how many axes there are."""
    wide, deep, axes = shape
    up = 1 if axes == 3 else 0
    start, goal = ends
    goal_i, goal_j, goal_k = goal // wide, goal % wide // deep, goal % deep
    spent = np.full(blocked.size, np.inf)
    spent[start] = 0.0
    done = blocked.copy()
    queue = [(0.0, start)]
    while len(queue) > 0:
        at = heapq.heappop(queue)[1]
        if at == goal:
            return spent[goal]
        if done[at]:
            continue
        done[at] = True
        i, j, k = goal_i - at // wide, goal_j - at % wide // deep, goal_k - at % deep
        here, here_cost = spent[at], 0.5 * cost[at]
        for a in range(-1, 2):
            for b in range(-1, 2):
                for c in range(-up, up + 1):
                    reached = at + a * wide + b * deep + c
                    if done[reached] or not _is_open(blocked, at, a * wide, b * deep, c):
                        continue
                    length = STEP_LENGTHS[abs(a) + abs(b) + abs(c)]
                    tried = here + length * (here_cost + 0.5 * cost[reached])
                    if tried < spent[reached]:
                        spent[reached], parent[reached] = tried, at
                        heapq.heappush(queue, (tried + _length_ahead(i - a, j - b, k - c), reached))
    return -1.0


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


@kernel(float64(_CELLS, int64, _ENDS, _NUMBERS), turn=WHEN_CALLED)
def _jump_search(blocked, wide, ends, parent):
    """The length of the shortest way in cells, or -1."""
    start, goal = ends
    way = np.full(blocked.size, np.inf)
    directions = np.zeros(blocked.size, np.int64)
    way[start], directions[start] = 0.0, _ALL_DIRECTIONS
    done = np.zeros(blocked.size, np.bool_)
    queue = [(0.0, start)]
    goal_x, goal_y = goal // wide, goal % wide
    while len(queue) > 0:
        at = heapq.heappop(queue)[1]
        if at == goal:
            return way[goal]
        if done[at]:
            continue
        done[at] = True
        for direction in range(8):
            if not (directions[at] >> direction) & 1:
                continue
            across, along = _step(direction, wide)
            if direction % 2 == 1:
                reached = _jump_diagonal(blocked, at, across, along, goal)
            else:
                side = along * wide + across // wide
                reached = _jump_straight(blocked, at, across + along, side, goal)
            if reached < 0 or done[reached]:
                continue
            x, y = reached // wide, reached % wide
            cells = max(abs(x - at // wide), abs(y - at % wide))
            longer = way[at] + cells * (SQRT2 if direction % 2 == 1 else 1.0)
            if longer < way[reached] - _SAME:
                way[reached], parent[reached] = longer, at
                directions[reached] = _onward(blocked, reached, direction, wide)
                # the straight distance never overestimates, so the first way to the goal is a shortest one
                ahead = np.sqrt(float((x - goal_x) ** 2 + (y - goal_y) ** 2))
                heapq.heappush(queue, (longer + ahead, reached))
            elif longer < way[reached] + _SAME:
                # two ways of one length: what one leaves out is found from the other only if both go on
                directions[reached] |= _onward(blocked, reached, direction, wide)
    return -1.0
