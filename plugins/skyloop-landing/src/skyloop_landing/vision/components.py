"""8-connected components of a binary image in one pass over its rows, as logic that sees a row only once finds them."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from numba import int64, types, uint8

from skyloop.core.jit import inlined, kernel

AREA, SUM_X, SUM_Y, X_MIN, X_MAX, Y_MIN, Y_MAX = range(7)
"""Columns of a table of components."""
COLUMNS = 7


@inlined
def _root(parents, node):
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


@inlined
def _runs_of(row, runs):
    """Writes (first, last) column of each run of dark pixels; returns their number."""
    n, columns = 0, len(row)
    x = 0
    while x < columns:
        while x < columns and row[x] == 0:
            x += 1
        if x == columns:
            break
        runs[n, 0] = x
        while x < columns and row[x] != 0:
            x += 1
        runs[n, 1] = x - 1
        n += 1
    return n


@inlined
def _join(parents, runs, n_runs, above, n_above, owners, n_open):
    """Joins each run, node n_open + k, with the components of the runs that it touches in the row above."""
    first = 0
    for k in range(n_runs):
        node = n_open + k
        parents[node] = node
        while first < n_above and above[first, 1] < runs[k, 0] - 1:
            first += 1
        other = first
        while other < n_above and above[other, 0] <= runs[k, 1] + 1:
            a, b = _root(parents, node), _root(parents, owners[other])
            # the smaller number stays, so that a chain of nodes ends at the leftmost component
            parents[max(a, b)] = min(a, b)
            other += 1
        # the last of them may also touch the next run
        first = max(first, other - 1)


@inlined
def _add_run(table, row, x0, x1, y):
    n = x1 - x0 + 1
    table[row, AREA] += n
    table[row, SUM_X] += n * (x0 + x1) // 2
    table[row, SUM_Y] += n * y
    table[row, X_MIN] = min(table[row, X_MIN], x0)
    table[row, X_MAX] = max(table[row, X_MAX], x1)
    table[row, Y_MIN] = min(table[row, Y_MIN], y)
    table[row, Y_MAX] = max(table[row, Y_MAX], y)


@inlined
def _add_component(table, row, others, other):
    for k in range(3):
        table[row, k] += others[other, k]
    for k in (X_MIN, Y_MIN):
        table[row, k] = min(table[row, k], others[other, k])
    for k in (X_MAX, Y_MAX):
        table[row, k] = max(table[row, k], others[other, k])


@inlined
def _list(component, objects, counts, min_area):
    """Enters a finished component; counts: listed, dropped."""
    if component[AREA] < min_area:
        return
    if counts[0] < len(objects):
        objects[counts[0], :] = component
        counts[0] += 1
    else:
        counts[1] += 1


_TABLE = int64[:, ::1]


@kernel(types.void(uint8[:, ::1], int64, _TABLE, int64[::1], int64[:, :, ::1], int64[:, :, ::1], int64[:, ::1]))
def find_components(binary, min_area, objects, counts, runs, tables, room):
    """Lists the components in the order of their last row and there of their leftmost pixel.

    Room for one row and the row above it, with half as many entries as an image is wide: runs (2, n, 2), tables of
    open components (2, n, 7), and `room`: (4, 2 n) owners of runs (2 rows), parents of nodes, new numbers of nodes.
    """
    rows, columns = binary.shape
    parents, numbers = room[2], room[3]
    counts[:] = 0
    n_above, n_open = 0, 0
    for y in range(rows):
        now, before = y & 1, (y & 1) ^ 1
        above, old, table = runs[before], tables[before], tables[now]
        n_runs = _runs_of(binary[y], runs[now])
        for k in range(n_open):
            parents[k] = k
        _join(parents, runs[now], n_runs, above, n_above, room[before], n_open)
        for k in range(n_open + n_runs):
            numbers[k] = -1
        n_new = 0
        for k in range(n_runs):
            node = _root(parents, n_open + k)
            if numbers[node] < 0:
                numbers[node] = n_new
                table[n_new, :] = 0
                table[n_new, X_MIN], table[n_new, Y_MIN] = columns, rows
                n_new += 1
            room[now, k] = numbers[node]
            _add_run(table, numbers[node], runs[now, k, 0], runs[now, k, 1], y)
        for k in range(n_open):
            number = numbers[_root(parents, k)]
            if number < 0:
                _list(old[k], objects, counts, min_area)
            else:
                _add_component(table, number, old, k)
        n_above, n_open = n_runs, n_new
    last = tables[(rows - 1) & 1]
    for k in range(n_open):
        _list(last[k], objects, counts, min_area)
