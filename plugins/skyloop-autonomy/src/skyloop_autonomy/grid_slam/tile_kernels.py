"""Compiled access to grids in tiles that particles share until one of them writes.

A particle has a table of tile numbers, -1 where nothing is known. A tile holds evidence (int8) and a likelihood field
(uint8): 255 at an obstacle, falling off like a Gaussian with the distance, 0 from `REACH` + 1 cells on. It also holds
the mean position of the returns in each cell, because a wall lies anywhere in its cell and not in the middle.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import float64, int8, int32, int64, uint8, void
from numpy.typing import NDArray

from skyloop.core.jit import inlined, kernel, record_type

SHIFT: Final = 5
SIDE: Final = 1 << SHIFT
"""Cells along a tile: a power of two, because shifting and masking is faster than dividing."""
MASK: Final = SIDE - 1
REACH: Final = 3
"""Cells that the likelihood of an obstacle reaches."""
SPREAD: Final = 1.2
"""Cells, one sigma of the likelihood."""
_OFFSETS = np.arange(-REACH, REACH + 1)
STAMP = np.exp(-0.5 * (_OFFSETS[:, None] ** 2 + _OFFSETS[None, :] ** 2) / SPREAD**2)
STAMP = np.rint(255.0 * STAMP).astype(np.uint8)
"""The likelihood around one obstacle."""
MOST_HITS: Final = 12
"""Returns of which the mean position in a cell is taken. Later ones do not change it: a shared tile stays shared."""

CLEARS: Final = 0.3
"""Cells. A ray that passes the mean position of a cell's returns at a greater distance does not contradict them: it may
graze the wall that takes up a part of the cell."""


class Tiles(NamedTuple):
    """The arrays of `TiledMaps`, as kernels get them."""

    tables: NDArray[np.int32]
    """(particles, n, n) the tiles of each particle."""
    evidence: NDArray[np.int8]
    """(tiles, SIDE, SIDE)."""
    likelihood: NDArray[np.uint8]
    """(tiles, SIDE, SIDE)."""
    positions: NDArray[np.uint8]
    """(tiles, SIDE, SIDE, 2) mean position of the returns in a cell, in 1/256 of a cell from its lower corner."""
    hits: NDArray[np.uint8]
    """(tiles, SIDE, SIDE) how many returns that mean is of."""
    users: NDArray[np.int32]
    """(tiles,) how many particles have the tile."""
    unused: NDArray[np.int32]
    """Numbers of tiles without a user; the first `n_unused[0]` are valid."""
    n_unused: NDArray[np.int64]


TILES = record_type(
    Tiles,
    tables=int32[:, :, ::1],
    evidence=int8[:, :, ::1],
    likelihood=uint8[:, :, ::1],
    positions=uint8[:, :, :, ::1],
    hits=uint8[:, :, ::1],
    users=int32[::1],
    unused=int32[::1],
    n_unused=int64[::1],
)


class EvidenceWeights(NamedTuple):
    """The numbers of GridSettings that kernels need."""

    hit: int
    miss: int
    highest: int
    lowest: int
    occupied: int


EVIDENCE = record_type(EvidenceWeights, hit=int64, miss=int64, highest=int64, lowest=int64, occupied=int64)


@inlined
def tile_of(tiles, p, i, j):
    """The number of the tile that a cell is in; -1 outside of the map and where nothing was seen yet."""
    n = tiles.tables.shape[1] * SIDE
    if i < 0 or j < 0 or i >= n or j >= n:
        return -1
    return int64(tiles.tables[p, i >> SHIFT, j >> SHIFT])


@inlined
def likelihood_at(tiles, p, i, j):
    """0..255 of a cell; 0 outside of the map."""
    tile = tile_of(tiles, p, i, j)
    return 0 if tile < 0 else int64(tiles.likelihood[tile, i & MASK, j & MASK])


@inlined
def evidence_at(tiles, p, i, j):
    tile = tile_of(tiles, p, i, j)
    return 0 if tile < 0 else int64(tiles.evidence[tile, i & MASK, j & MASK])


@inlined
def own_tile(tiles, p, ti, tj):
    """The number of a tile that no other particle has; made or copied if need be."""
    tile = tiles.tables[p, ti, tj]
    if tile >= 0 and tiles.users[tile] == 1:
        return tile
    tiles.n_unused[0] -= 1
    new = tiles.unused[tiles.n_unused[0]]
    tiles.users[new] = 1
    tiles.tables[p, ti, tj] = new
    if tile >= 0:
        tiles.users[tile] -= 1
        tiles.evidence[new] = tiles.evidence[tile]
        tiles.likelihood[new] = tiles.likelihood[tile]
        tiles.positions[new] = tiles.positions[tile]
        tiles.hits[new] = tiles.hits[tile]
    else:
        tiles.evidence[new] = 0
        tiles.likelihood[new] = 0
        tiles.hits[new] = 0
    return new


@inlined
def _put_likelihood(tiles, p, i, j, value):
    n = tiles.tables.shape[1] * SIDE
    if i >= 0 and j >= 0 and i < n and j < n and likelihood_at(tiles, p, i, j) != value:
        tile = own_tile(tiles, p, i >> SHIFT, j >> SHIFT)
        tiles.likelihood[tile, i & MASK, j & MASK] = value


@kernel(void(TILES, int64, int64, int64))
def _appear(given, p, i, j):
    """An obstacle has appeared: its surroundings become likely."""
    tiles = Tiles(*given)
    for a in range(2 * REACH + 1):
        for b in range(2 * REACH + 1):
            x, y = i + a - REACH, j + b - REACH
            if int64(STAMP[a, b]) > likelihood_at(tiles, p, x, y):
                _put_likelihood(tiles, p, x, y, int64(STAMP[a, b]))


@kernel(void(TILES, int64, int64, int64, int64))
def _vanish(given, p, i, j, occupied):
    """An obstacle has gone: its surroundings are computed again from the obstacles that remain."""
    tiles = Tiles(*given)
    for x in range(i - REACH, i + REACH + 1):
        for y in range(j - REACH, j + REACH + 1):
            most = 0
            for a in range(2 * REACH + 1):
                for b in range(2 * REACH + 1):
                    if evidence_at(tiles, p, x + a - REACH, y + b - REACH) >= occupied:
                        most = max(most, int64(STAMP[a, b]))
            _put_likelihood(tiles, p, x, y, most)


@inlined
def _add(given, p, i, j, change, numbers):
    tiles = Tiles(*given)
    before = evidence_at(tiles, p, i, j)
    after = min(max(before + change, numbers.lowest), numbers.highest)
    if after == before:
        # at the limit already: a shared tile stays shared
        return
    tile = own_tile(tiles, p, i >> SHIFT, j >> SHIFT)
    tiles.evidence[tile, i & MASK, j & MASK] = after
    if after <= 0:
        tiles.hits[tile, i & MASK, j & MASK] = 0
    if before < numbers.occupied <= after:
        _appear(given, p, i, j)
    elif after < numbers.occupied <= before:
        _vanish(given, p, i, j, numbers.occupied)


@inlined
def _average(given, p, end):
    """Take a return into the mean of its cell."""
    tiles = Tiles(*given)
    i, j = int64(np.floor(end[0])), int64(np.floor(end[1]))
    tile = tiles.tables[p, i >> SHIFT, j >> SHIFT]
    a, b = i & MASK, j & MASK
    if tile < 0 or tiles.evidence[tile, a, b] <= 0 or tiles.hits[tile, a, b] >= MOST_HITS:
        return
    tile = own_tile(tiles, p, i >> SHIFT, j >> SHIFT)
    count = int64(tiles.hits[tile, a, b]) + 1
    tiles.hits[tile, a, b] = count
    for axis in range(2):
        now = 256.0 * (end[axis] - np.floor(end[axis]))
        before = float64(tiles.positions[tile, a, b, axis])
        mean = now if count == 1 else before + (now - before) / count
        tiles.positions[tile, a, b, axis] = min(int64(np.rint(mean)), 255)


@kernel(void(TILES, int64, float64[:, ::1], float64[::1], EVIDENCE, int32[:, ::1], int64[::1]))
def add_sweep(given, p, ends, start, weights, seen, which):
    """Add one sweep to the map of particle p.

    ends (n, 2), start (2,): in cells from the corner of the map. Each cell changes once: it is hit by a return, or
    else crossed by a ray. seen: (cells, cells) scratch memory. which: a number larger than all before it by two or
    more, the first ray that clears what it crosses, and how many to go on to the next.
    """
    stamp = which[0]
    numbers = EvidenceWeights(*weights)
    size = seen.shape[0]
    for k in range(ends.shape[0]):
        i, j = int64(np.floor(ends[k, 0])), int64(np.floor(ends[k, 1]))
        if not (0 <= i < size and 0 <= j < size):
            continue
        if seen[i, j] != stamp + 1:
            seen[i, j] = stamp + 1
            _add(given, p, i, j, numbers.hit, numbers)
        _average(given, p, ends[k])
    for k in range(which[1], ends.shape[0], which[2]):
        _cross(given, p, ends[k], start, numbers, seen, stamp)


@inlined
def _stays(tiles, p, i, j, lowest, ray):
    """Whether a ray through cell (i, j) changes nothing: it is surely free, or the ray only passes what is in it.

    ray: x and y of its start in cells, and its direction."""
    tile = tiles.tables[p, i >> SHIFT, j >> SHIFT]
    if tile < 0:
        return False
    a, b = i & MASK, j & MASK
    if tiles.hits[tile, a, b] == 0:
        return tiles.evidence[tile, a, b] == lowest
    x = i + (tiles.positions[tile, a, b, 0] + 0.5) / 256.0 - ray[0]
    y = j + (tiles.positions[tile, a, b, 1] + 0.5) / 256.0 - ray[1]
    return abs(ray[2] * y - ray[3] * x) > CLEARS


@inlined
def _cross(given, p, end, start, numbers, seen, stamp):
    """Walk from cell to cell along a ray (Amanatides and Woo), up to the cell before the last."""
    size = seen.shape[0]
    i, j = int64(np.floor(start[0])), int64(np.floor(start[1]))
    last_i, last_j = int64(np.floor(end[0])), int64(np.floor(end[1]))
    dx, dy = end[0] - start[0], end[1] - start[1]
    if dx == 0.0 and dy == 0.0:
        return
    step_i, step_j = (1 if dx > 0.0 else -1), (1 if dy > 0.0 else -1)
    per_i = abs(1.0 / dx) if dx != 0.0 else np.inf
    per_j = abs(1.0 / dy) if dy != 0.0 else np.inf
    next_i = (i + 1 - start[0] if dx > 0.0 else start[0] - i) * per_i if dx != 0.0 else np.inf
    next_j = (j + 1 - start[1] if dy > 0.0 else start[1] - j) * per_j if dy != 0.0 else np.inf
    length = np.hypot(dx, dy)
    ray = (start[0], start[1], dx / length, dy / length)
    tiles = Tiles(*given)
    for _ in range(abs(last_i - i) + abs(last_j - j)):
        if 0 <= i < size and 0 <= j < size and not _stays(tiles, p, i, j, numbers.lowest, ray) and seen[i, j] < stamp:
            seen[i, j] = stamp
            _add(given, p, i, j, -numbers.miss, numbers)
        if next_i < next_j:
            next_i += per_i
            i += step_i
        else:
            next_j += per_j
            j += step_j


@kernel(void(int32[:, :, ::1], int64[::1], int32[:, :, ::1], int32[::1]))
def take_over(old, parents, new, users):
    """The tables of new particles, each with the map of its parent, and how many have each tile."""
    users[:] = 0
    for p in range(new.shape[0]):
        for ti in range(new.shape[1]):
            for tj in range(new.shape[2]):
                tile = old[parents[p], ti, tj]
                new[p, ti, tj] = tile
                if tile >= 0:
                    users[tile] += 1
