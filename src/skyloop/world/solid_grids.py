"""Triangles in the form that the flight kernels search: grids of cells in blocks, only where something is.

Grid 0 holds all standing solid objects in world axes. Every other grid is one shape in its own axes, for movers and for
the hulls of vehicles. A block is 4 by 4 by 4 cells. A block with triangles has a number, and its cells have lists of
triangles. An empty block holds a negative number: minus the least distance in blocks to the next occupied one.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numba import boolean, float32, float64, int32, int64, types, void
from numpy.typing import NDArray

from skyloop.core.jit import WHEN_CALLED, kernel, record_type
from skyloop_client.messages import Array

Ints = NDArray[np.int32]

SMALLEST_CELL, LARGEST_CELL = 0.03, 0.5
"""m; large objects get larger cells if there would be too many."""
MAX_BLOCKS = 2_000_000
MAX_REFERENCES = 12_000_000
FARTHEST = 15
"""Blocks; larger distances are not distinguished."""

GRID = np.dtype(
    [
        ("low", np.float64, (3,)),
        ("high", np.float64, (3,)),
        ("cell", np.float64),
        ("blocks", np.int64, (3,)),
        ("first_block", np.int64),
    ],
    align=True,
)
MOVING = np.dtype(
    [
        ("grid", np.int64),
        ("row", np.int64),
        ("radius", np.float64),  # m, around the part's origin
        ("before", np.float64, (3, 4)),  # world_from_part at both ends of the interval
        ("after", np.float64, (3, 4)),
        ("inverse_before", np.float64, (3, 4)),  # part_from_world
        ("inverse_after", np.float64, (3, 4)),
    ],
    align=True,
)
"""A part of a mover during an interval of simulated time."""


class SolidArrays(NamedTuple):
    """The arrays that kernels get."""

    grids: NDArray[np.void]
    blocks: Ints
    starts: Ints
    """(64 n + 1,) where each cell's triangles begin in `references`; 64 cells per occupied block."""
    references: Ints
    triangles: NDArray[np.float32]
    """(n, 9) m, three corners."""
    rows: Ints
    """(n,) rows of the model, for standing triangles."""
    n_standing: int
    vehicle_grids: NDArray[np.int64]
    vehicle_parts: NDArray[np.int64]


grid_type = numba.from_dtype(GRID)
moving_type = numba.from_dtype(MOVING)
solid_arrays_type = record_type(
    SolidArrays,
    grids=types.Array(grid_type, 1, "C"),
    blocks=int32[::1],
    starts=int32[::1],
    references=int32[::1],
    triangles=float32[:, ::1],
    rows=int32[::1],
    n_standing=int64,
    vehicle_grids=int64[::1],
    vehicle_parts=int64[::1],
)
solids_type = types.NamedTuple(solid_arrays_type.types, SolidArrays)
"""For kernels that are called by other kernels."""

COUNT_BLOCKS, COUNT, FILL = range(3)


@kernel(void(float32[:, ::1], grid_type, int32[::1], int32[::1], int32[::1], int64))
def _enter(triangles, grid, blocks, starts, references, task):
    """Visits every cell that the triangles' planes cross in their boxes: marks blocks, counts, or writes references."""
    cell, ny, nz = grid.cell, grid.blocks[1], grid.blocks[2]
    half = 0.5005 * cell
    lo, hi = np.empty(3, np.int64), np.empty(3, np.int64)
    for k in range(triangles.shape[0]):
        t = triangles[k]
        for a in range(3):
            x, y, z = float64(t[a]), float64(t[3 + a]), float64(t[6 + a])
            most = 4 * grid.blocks[a] - 1
            lo[a] = max(0, int64((min(x, y, z) - grid.low[a]) / cell - 1e-3))
            hi[a] = min(most, int64((max(x, y, z) - grid.low[a]) / cell + 1e-3))
        ax, ay, az = float64(t[3]) - t[0], float64(t[4]) - t[1], float64(t[5]) - t[2]
        bx, by, bz = float64(t[6]) - t[0], float64(t[7]) - t[1], float64(t[8]) - t[2]
        nx, ny_, nz_ = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        reach = half * (abs(nx) + abs(ny_) + abs(nz_)) + 1e-12
        for i in range(lo[0], hi[0] + 1):
            dx = grid.low[0] + (i + 0.5) * cell - t[0]
            for j in range(lo[1], hi[1] + 1):
                dy = grid.low[1] + (j + 0.5) * cell - t[1]
                for m in range(lo[2], hi[2] + 1):
                    dz = grid.low[2] + (m + 0.5) * cell - t[2]
                    if abs(nx * dx + ny_ * dy + nz_ * dz) > reach:
                        continue
                    block = grid.first_block + ((i >> 2) * ny + (j >> 2)) * nz + (m >> 2)
                    if task == COUNT_BLOCKS:
                        blocks[block] = 0
                        starts[0] += 1
                        continue
                    at = 64 * blocks[block] + (((i & 3) << 4) | ((j & 3) << 2) | (m & 3))
                    if task == COUNT:
                        starts[at + 1] += 1
                    else:
                        references[starts[at]] = k
                        starts[at] += 1


@kernel(boolean(solids_type, float64, float64, float64, float64), turn=WHEN_CALLED)
def anything_near(solids, x, y, z, reach):
    """Whether a cell of the standing grid within a box of half side `reach` has triangles."""
    grid = solids.grids[0]
    size = 4.0 * grid.cell
    inside = True
    lo0 = lo1 = lo2 = hi0 = hi1 = hi2 = 0
    for a in range(3):
        centre = x if a == 0 else (y if a == 1 else z)
        if centre + reach < grid.low[a] or centre - reach > grid.high[a] or grid.blocks[a] == 0:
            return False
        if centre < grid.low[a] or centre > grid.high[a]:
            inside = False
        most = 4 * grid.blocks[a] - 1
        lo = min(most, max(0, int64((centre - reach - grid.low[a]) / grid.cell)))
        hi = max(0, min(most, int64((centre + reach - grid.low[a]) / grid.cell)))
        if a == 0:
            lo0, hi0 = lo, hi
        elif a == 1:
            lo1, hi1 = lo, hi
        else:
            lo2, hi2 = lo, hi
    ny, nz = grid.blocks[1], grid.blocks[2]
    if inside:
        i, j, m = int64((x - grid.low[0]) / size), int64((y - grid.low[1]) / size), int64((z - grid.low[2]) / size)
        i, j, m = min(i, grid.blocks[0] - 1), min(j, ny - 1), min(m, nz - 1)
        away = solids.blocks[(i * ny + j) * nz + m]
        if away < 0 and (-away - 1) * size > reach:
            return False
    for i in range(lo0, hi0 + 1):
        for j in range(lo1, hi1 + 1):
            for m in range(lo2, hi2 + 1):
                block = solids.blocks[((i >> 2) * ny + (j >> 2)) * nz + (m >> 2)]
                if block >= 0:
                    at = 64 * block + (((i & 3) << 4) | ((j & 3) << 2) | (m & 3))
                    if solids.starts[at + 1] > solids.starts[at]:
                        return True
    return False


_POINT = types.UniTuple(float64, 3)


@kernel(types.UniTuple(float64, 2)(solids_type, int64, _POINT, _POINT))
def cast_segment(solids, number, a, b):
    """Where a short segment a → b first crosses a triangle of a grid: share of its length and the triangle, or (2, -1).

    Both sides of a triangle count. A segment that starts exactly on a triangle counts as starting in front of it.
    """
    ax, ay, az = a
    bx, by, bz = b
    grid = solids.grids[number]
    best, found = 2.0, -1
    pad = 1e-6
    if (
        max(ax, bx) < grid.low[0] - pad or min(ax, bx) > grid.high[0] + pad
        or max(ay, by) < grid.low[1] - pad or min(ay, by) > grid.high[1] + pad
        or max(az, bz) < grid.low[2] - pad or min(az, bz) > grid.high[2] + pad
    ):  # fmt: skip
        return best, -1.0
    per, ny, nz = 1.0 / grid.cell, grid.blocks[1], grid.blocks[2]
    lx, ly, lz = grid.low[0], grid.low[1], grid.low[2]
    tx, ty, tz = 4 * grid.blocks[0] - 1, 4 * ny - 1, 4 * nz - 1
    dx, dy, dz = bx - ax, by - ay, bz - az
    for i in range(max(0, int64((min(ax, bx) - lx) * per)), min(tx, int64((max(ax, bx) - lx) * per)) + 1):
        for j in range(max(0, int64((min(ay, by) - ly) * per)), min(ty, int64((max(ay, by) - ly) * per)) + 1):
            for m in range(max(0, int64((min(az, bz) - lz) * per)), min(tz, int64((max(az, bz) - lz) * per)) + 1):
                block = solids.blocks[grid.first_block + ((i >> 2) * ny + (j >> 2)) * nz + (m >> 2)]
                if block < 0:
                    continue
                at = 64 * block + (((i & 3) << 4) | ((j & 3) << 2) | (m & 3))
                for k in range(solids.starts[at], solids.starts[at + 1]):
                    t = solids.triangles[solids.references[k]]
                    x0, y0, z0 = float64(t[0]), float64(t[1]), float64(t[2])
                    ux, uy, uz = t[3] - x0, t[4] - y0, t[5] - z0
                    vx, vy, vz = t[6] - x0, t[7] - y0, t[8] - z0
                    nx, ny_, nz_ = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
                    gap_a = nx * (ax - x0) + ny_ * (ay - y0) + nz_ * (az - z0)
                    gap_b = gap_a + nx * dx + ny_ * dy + nz_ * dz
                    if not ((gap_a >= 0.0 >= gap_b or (gap_a < 0.0 <= gap_b)) and gap_a != gap_b):
                        continue
                    f = gap_a / (gap_a - gap_b)
                    if f >= best:
                        continue
                    # inside if on the same side of all three edges, with a small margin that closes seams
                    px, py, pz = ax + f * dx - x0, ay + f * dy - y0, az + f * dz - z0
                    area = nx * nx + ny_ * ny_ + nz_ * nz_
                    cx, cy, cz = uy * pz - uz * py, uz * px - ux * pz, ux * py - uy * px
                    w = nx * cx + ny_ * cy + nz_ * cz
                    cx, cy, cz = py * vz - pz * vy, pz * vx - px * vz, px * vy - py * vx
                    v = nx * cx + ny_ * cy + nz_ * cz
                    if v >= -1e-7 * area and w >= -1e-7 * area and v + w <= (1.0 + 2e-7) * area:
                        best, found = f, solids.references[k]
    return best, float64(found)


class Grids:
    """Collects grids and joins their arrays."""

    def __init__(self) -> None:
        self.grids: list[NDArray[np.void]] = []
        self._blocks: list[Ints] = []
        self._counts: list[Ints] = []
        self._references: list[Ints] = []
        self._triangles: list[NDArray[np.float32]] = []
        self._n_blocks = self._n_occupied = self._n_triangles = 0

    def add(self, corners: Array) -> int:
        """(n, 3, 3) corners; returns the grid's number."""
        triangles = np.ascontiguousarray(corners.reshape(-1, 9), np.float32)
        grid, blocks, counts, references = _built(triangles)
        grid["first_block"] = self._n_blocks
        self._blocks.append(np.where(blocks >= 0, blocks + self._n_occupied, blocks).astype(np.int32))
        self._counts.append(counts)
        self._references.append(references + np.int32(self._n_triangles))
        self._triangles.append(triangles)
        self.grids.append(grid)
        self._n_blocks += len(blocks)
        self._n_occupied += len(counts) // 64
        self._n_triangles += len(triangles)
        return len(self.grids) - 1

    def joined(self) -> tuple[NDArray[np.generic], ...]:
        starts = np.zeros(64 * self._n_occupied + 1, np.int32)
        np.cumsum(np.concatenate(self._counts), out=starts[1:])
        references, triangles = np.concatenate(self._references), np.concatenate(self._triangles)
        return np.array(self.grids, GRID), np.concatenate(self._blocks), starts, references, triangles


def _built(triangles: NDArray[np.float32]) -> tuple[NDArray[np.void], Ints, Ints, Ints]:
    """One grid: its record, blocks, triangles per cell and their references, all counted from 0."""
    grid = np.zeros((), GRID)
    nothing = np.zeros(1, np.int32)
    n = len(triangles)
    if not n:
        grid["cell"], grid["low"], grid["high"] = 1.0, 1.0, -1.0
        return grid, nothing[:0], nothing[:0], nothing[:0]
    points = triangles.reshape(-1, 3).astype(np.float64)
    low, high = points.min(axis=0) - 1e-3, points.max(axis=0) + 1e-3
    # four cells per triangle, if they were spread evenly
    cell = float(np.clip(np.cbrt(np.prod(high - low) * 4.0 / n), SMALLEST_CELL, LARGEST_CELL))
    while True:
        grid["cell"], grid["low"], grid["high"] = cell, low, high
        grid["blocks"] = np.maximum(1, np.ceil((high - low) / (4.0 * cell))).astype(np.int64)
        if np.prod(grid["blocks"].astype(float)) <= MAX_BLOCKS:
            blocks = np.full(int(np.prod(grid["blocks"])), -1, np.int32)
            counted = np.zeros(1, np.int32)
            _enter(triangles, grid[()], blocks, counted, nothing, COUNT_BLOCKS)
            if 0 <= counted[0] <= MAX_REFERENCES:
                break
        cell *= 1.5
    occupied = np.flatnonzero(blocks == 0)
    blocks[occupied] = np.arange(len(occupied))
    starts = np.zeros(64 * len(occupied) + 1, np.int32)
    _enter(triangles, grid[()], blocks, starts, nothing, COUNT)
    counts = starts[1:].copy()
    np.cumsum(starts, out=starts)
    references = np.empty(starts[-1], np.int32)
    _enter(triangles, grid[()], blocks, starts, references, FILL)
    _tell_distances(blocks.reshape(tuple(grid["blocks"])))
    return grid, blocks, counts, references


def _tell_distances(blocks: Ints) -> None:
    """Gives empty blocks minus the number of blocks to the next occupied one; a diagonal step counts as one."""
    near = blocks >= 0
    for distance in range(1, FARTHEST + 1):
        grown = near.copy()
        for axis in range(3):
            here, there = np.moveaxis(grown, axis, 0), np.moveaxis(grown.copy(), axis, 0)
            here[1:] |= there[:-1]
            here[:-1] |= there[1:]
        blocks[grown & ~near] = -distance
        near = grown
    blocks[~near] = -FARTHEST
