"""Signed Euclidean distance fields of a grid in two or three dimensions, exact and incremental.

The squared distance is found axis by axis: first along columns, then as the lower envelope of the parabolas that the
cells of a line put up (Felzenszwalb and Huttenlocher, 2012). Lines on which nothing changed since the last update keep
their result, which gives the same field as computing everything again.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import boolean, float32, float64, int32, int64, types, void
from numpy.typing import NDArray

from skyloop.core.jit import inlined, kernel
from skyloop_client.errors import ScenarioError

NONE = 1 << 28
"""The squared distance, in cells, where nothing is occupied."""
LONGEST_SIDE = 8192
"""Cells; longer sides could reach NONE."""

_GRID = types.Array(boolean, 3, "C", readonly=True)
_CELLS = types.Array(int32, 3, "C")
_DIRTY = types.Array(boolean, 2, "C")


@inlined
def _column(taken, wanted, out):
    """Squared distances along a line to the nearest cell whose value is `wanted`."""
    n, since = taken.shape[0], NONE
    for k in range(n):
        since = 0 if taken[k] == wanted else since + 1
        out[k] = since * since if since < n else NONE
    since = NONE
    for k in range(n - 1, -1, -1):
        since = 0 if taken[k] == wanted else since + 1
        if since < n:
            out[k] = min(out[k], since * since)


@kernel(void(_GRID, _GRID, _CELLS, _DIRTY))
def _changed_columns(taken, before, along_z, dirty):
    """Computes the columns that differ from before, and says which they are."""
    for i in range(taken.shape[0]):
        for j in range(taken.shape[1]):
            dirty[i, j] = False
            for k in range(taken.shape[2]):
                if taken[i, j, k] != before[i, j, k]:
                    dirty[i, j] = True
                    break
            if dirty[i, j]:
                _column(taken[i, j], True, along_z[i, j])


@inlined
def _envelope(line, n, peaks, starts, out):
    """out[q] = min over p of line[p] + (q - p)², with peaks and starts as scratch of n and n + 1."""
    last = -1
    for q in range(n):
        if line[q] >= NONE:
            continue
        height = line[q] + q * q
        start = -np.inf
        while last >= 0:
            p = peaks[last]
            start = (height - (line[p] + p * p)) / (2.0 * (q - p))
            if start > starts[last]:
                break
            last -= 1
        last += 1
        peaks[last] = q
        starts[last] = start if last > 0 else -np.inf
    if last < 0:
        for q in range(n):
            out[q] = NONE
        return
    starts[last + 1] = np.inf
    at = 0
    for q in range(n):
        while starts[at + 1] < q:
            at += 1
        p = peaks[at]
        out[q] = line[p] + (q - p) * (q - p)


@kernel(void(_CELLS, _DIRTY, _CELLS, _DIRTY))
def _changed_y_lines(along_z, dirty_columns, along_y, dirty):
    """The second axis, for the slices with a changed column; dirty[j, k]: it differs in any slice."""
    nx, ny, nz = along_z.shape
    line, out = np.empty(ny, np.int64), np.empty(ny, np.int64)
    peaks, starts = np.empty(ny, np.int64), np.empty(ny + 1)
    dirty[:] = False
    for i in range(nx):
        touched = False
        for j in range(ny):
            touched |= dirty_columns[i, j]
        if not touched:
            continue
        for k in range(nz):
            for j in range(ny):
                line[j] = along_z[i, j, k]
            _envelope(line, ny, peaks, starts, out)
            for j in range(ny):
                if out[j] != along_y[i, j, k]:
                    along_y[i, j, k] = out[j]
                    dirty[j, k] = True


@kernel(void(_CELLS, _DIRTY, _CELLS))
def _changed_x_lines(along_y, dirty, squared):
    nx, ny, nz = along_y.shape
    line, out = np.empty(nx, np.int64), np.empty(nx, np.int64)
    peaks, starts = np.empty(nx, np.int64), np.empty(nx + 1)
    for j in range(ny):
        for k in range(nz):
            if not dirty[j, k]:
                continue
            for i in range(nx):
                line[i] = along_y[i, j, k]
            _envelope(line, nx, peaks, starts, out)
            for i in range(nx):
                squared[i, j, k] = out[i]


@kernel(void(_GRID, _CELLS, _CELLS))
def _depths_inside(taken, along_z, squared):
    """Squared distances from occupied cells to the nearest free one, into `squared`; free cells are left alone.

    Obstacles as sensors see them are a few cells thick, so from each cell the line is searched outwards and the search
    ends where no cell can be nearer. `along_z` is scratch.
    """
    nx, ny, nz = taken.shape
    for i in range(nx):
        for j in range(ny):
            _column(taken[i, j], False, along_z[i, j])
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                if taken[i, j, k]:
                    squared[i, j, k] = _nearest(along_z[i, :, k], j)
    # the second axis is complete before the third begins; it is kept in the scratch
    for i in range(nx):
        for j in range(ny):
            for k in range(nz):
                along_z[i, j, k] = squared[i, j, k] if taken[i, j, k] else 0
    for j in range(ny):
        for k in range(nz):
            for i in range(nx):
                if taken[i, j, k]:
                    squared[i, j, k] = _nearest(along_z[:, j, k], i)


@inlined
def _nearest(line, at):
    """The least of line[p] + (p - at)²."""
    best, d = int64(line[at]), 1
    while d * d < best and (at - d >= 0 or at + d < line.shape[0]):
        if at - d >= 0:
            best = min(best, line[at - d] + d * d)
        if at + d < line.shape[0]:
            best = min(best, line[at + d] + d * d)
        d += 1
    return best


@kernel(void(_GRID, _CELLS, _CELLS, float64, types.Array(float32, 3, "C")))
def _signed(taken, outside, inside, cell, field):
    for i in range(taken.shape[0]):
        for j in range(taken.shape[1]):
            for k in range(taken.shape[2]):
                squared = inside[i, j, k] if taken[i, j, k] else outside[i, j, k]
                distance = cell * (np.sqrt(float64(squared)) - 0.5) if squared < NONE else np.inf
                field[i, j, k] = -distance if taken[i, j, k] else distance


class DistanceField:
    """The signed distance of every cell of a grid that changes little from one update to the next."""

    def __init__(self, shape: tuple[int, ...], cell: float) -> None:
        """shape: (nx, ny) or (nx, ny, nz) cells; cell: m, their side."""
        if len(shape) not in (2, 3) or min(shape) < 1 or max(shape) > LONGEST_SIDE or not cell > 0.0:
            raise ScenarioError(
                f"no distance field of {shape} cells of {cell} m; give 2 or 3 sides up to {LONGEST_SIDE} and a cell > 0"
            )
        self.cell = cell
        self.shape = tuple(shape)
        full = (*shape, 1)[:3]
        self._before = np.zeros(full, np.bool_)
        self._along_z, self._along_y, self._squared = (np.full(full, NONE, np.int32) for _ in range(3))
        self._inside, self._scratch = np.empty(full, np.int32), np.empty(full, np.int32)
        self._dirty_columns, self._dirty_lines = np.zeros(full[:2], np.bool_), np.zeros(full[1:], np.bool_)
        self._field = np.full(full, np.inf, np.float32)

    def update(self, occupied: NDArray[np.bool_]) -> NDArray[np.float32]:
        """m from the middle of each cell to the nearest face between occupied and other cells; negative inside.

        The cell whose middle is nearest counts, and half a cell lies between its middle and its face. A free cell is at
        +inf where nothing is occupied, an occupied one at -inf where everything is. The array is overwritten by the
        next update.
        """
        if occupied.shape != self.shape:
            raise ScenarioError(f"a grid of {occupied.shape} was given to a distance field of {self.shape} cells")
        taken = np.ascontiguousarray(occupied, np.bool_).reshape(self._before.shape)
        _changed_columns(taken, self._before, self._along_z, self._dirty_columns)
        if self._dirty_columns.any():
            _changed_y_lines(self._along_z, self._dirty_columns, self._along_y, self._dirty_lines)
            _changed_x_lines(self._along_y, self._dirty_lines, self._squared)
            _depths_inside(taken, self._scratch, self._inside)
            _signed(taken, self._squared, self._inside, self.cell, self._field)
            self._before[:] = taken
        return self._field.reshape(self.shape)

    @property
    def memory_bytes(self) -> int:
        return sum(int(value.nbytes) for value in vars(self).values() if isinstance(value, np.ndarray))


def signed_distance(occupied: NDArray[np.bool_], cell: float) -> NDArray[np.float32]:
    """The field of one grid of two or three dimensions, computed from nothing."""
    return DistanceField(occupied.shape, cell).update(occupied)
