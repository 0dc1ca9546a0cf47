"""From pixels to the binary image and its 8-connected components.

The binary image is found in integers, as docs/explanations/landing-detector.md has it bit by bit, the components in one
pass over its rows, as logic finds them that sees a row only once.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from numba import int64, types, uint8, uint16, uint32, void

from skyloop.core.jit import inlined, kernel

TILE = 128
"""px, the side of a tile of the threshold."""
FLAT = 0xFFFF
"""Stands for the statistics of a tile with too little contrast until those of the whole image are known."""

_PIXELS = uint8[:, ::1]


@kernel(void(uint8[:, :, ::1], _PIXELS))
def grey_of(rgb, grey):
    """y = (77 R + 150 G + 29 B + 128) >> 8."""
    rows, columns = grey.shape
    for y in range(rows):
        for x in range(columns):
            grey[y, x] = (77 * rgb[y, x, 0] + 150 * rgb[y, x, 1] + 29 * rgb[y, x, 2] + 128) >> 8


@inlined
def _weighted(rows, half, shift, out):
    """Whole rows, and no index but x: so the compiler works on many pixels at once, fourteen times as fast."""
    a, b, c, d, e = rows
    for x in range(len(out)):
        outer, inner = uint32(a[x]) + uint32(e[x]), uint32(b[x]) + uint32(d[x])
        out[x] = (outer + uint32(48) * inner + uint32(158) * uint32(c[x]) + uint32(half)) >> uint32(shift)


@kernel(void(_PIXELS, uint16[:, ::1], _PIXELS))
def smooth(grey, sums, smoothed):
    """Gauss 5 x 5: weights 1 48 158 48 1 along rows into `sums`, then along columns. Edge pixels are repeated."""
    rows, columns = grey.shape
    for y in range(rows):
        for x in (0, 1, columns - 2, columns - 1):
            a, b, c, d = max(x - 2, 0), max(x - 1, 0), min(x + 1, columns - 1), min(x + 2, columns - 1)
            sums[y, x] = grey[y, a] + grey[y, d] + 48 * (grey[y, b] + grey[y, c]) + 158 * grey[y, x]
        row = grey[y]
        _weighted((row[:-4], row[1:-3], row[2:-2], row[3:-1], row[4:]), 0, 0, sums[y, 2:-2])
    for y in range(rows):
        a, b, c, d = max(y - 2, 0), max(y - 1, 0), min(y + 1, rows - 1), min(y + 2, rows - 1)
        _weighted((sums[a], sums[b], sums[y], sums[c], sums[d]), 32768, 16, smoothed[y])


@kernel(void(_PIXELS, int64, uint8[::1], uint8[::1], uint16[:, ::1]))
def tile_statistics(smoothed, min_contrast, least, greatest, tiles):
    """min + max of each tile: twice its threshold. One with less contrast than `min_contrast` gets that of the image.

    `least` and `greatest` are room for one row of pixels.
    """
    rows, columns = smoothed.shape
    darkest, brightest = uint8(255), uint8(0)
    for j in range(tiles.shape[0]):
        least[:] = 255
        greatest[:] = 0
        for y in range(j * TILE, min((j + 1) * TILE, rows)):
            for x in range(columns):
                least[x] = min(least[x], smoothed[y, x])
                greatest[x] = max(greatest[x], smoothed[y, x])
        for i in range(tiles.shape[1]):
            low, high = uint8(255), uint8(0)
            for x in range(i * TILE, min((i + 1) * TILE, columns)):
                low, high = min(low, least[x]), max(high, greatest[x])
            darkest, brightest = min(darkest, low), max(brightest, high)
            tiles[j, i] = int64(low) + int64(high) if int64(high) - int64(low) >= min_contrast else FLAT
    whole = int64(darkest) + int64(brightest)
    for j in range(tiles.shape[0]):
        for i in range(tiles.shape[1]):
            if tiles[j, i] == FLAT:
                tiles[j, i] = whole


@kernel(void(_PIXELS, uint16[:, ::1], uint32[::1], _PIXELS))
def binarise(smoothed, tiles, limits, binary):
    """1 where (g << 15) < the sum that is interpolated between four tiles. `limits` is room for one row."""
    rows, columns = smoothed.shape
    last_row, last_column = tiles.shape[0] - 1, tiles.shape[1] - 1
    for y in range(rows):
        v = y - TILE // 2
        j, b = v // TILE, v % TILE
        above, below = min(max(j, 0), last_row), min(max(j + 1, 0), last_row)
        for i in range(-1, tiles.shape[1]):
            left, right = min(max(i, 0), last_column), min(max(i + 1, 0), last_column)
            at_left = tiles[above, left] * (TILE - b) + tiles[below, left] * b
            at_right = tiles[above, right] * (TILE - b) + tiles[below, right] * b
            start = TILE // 2 + i * TILE
            for x in range(max(start, 0), min(start + TILE, columns)):
                a = x - start
                limits[x] = at_left * (TILE - a) + at_right * a
        for x in range(columns):
            binary[y, x] = (uint32(smoothed[y, x]) << 15) < limits[x]


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
