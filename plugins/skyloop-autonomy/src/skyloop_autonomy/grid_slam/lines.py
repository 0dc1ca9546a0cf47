"""Straight walls in a grid: segments by Hough voting, and the cells that no segment and no strong evidence supports."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np
from numba import float64, int64, void
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from skyloop.core import quantities
from skyloop.core.jit import kernel
from skyloop_client.messages import Array

DIRECTIONS = 90
"""Directions of lines that are voted for, 2 degrees apart."""
_ANGLES = np.arange(DIRECTIONS) * np.pi / DIRECTIONS
_NORMALS = np.ascontiguousarray(np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=1))


class LineSettings(BaseModel):
    """Which rows of cells count as walls."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    shortest: quantities.Length = 1.0
    """m, the shortest wall."""
    gap: quantities.Length = 1.0
    """m; cells of a wall that are further apart belong to two walls."""
    fill: quantities.Positive = 0.4
    """The share of a wall's cells that must be occupied."""
    sure: quantities.Count = 60
    """Evidence of a cell that stays without a wall: many sweeps have seen it, so it is no false return."""


@kernel(void(float64[:, ::1], float64[:, ::1], int64, int64, int64[:, ::1]))
def _vote(cells, normals, sign, offset, votes):
    """Each cell votes for the lines through it, one per direction."""
    for k in range(cells.shape[0]):
        for a in range(normals.shape[0]):
            distance = normals[a, 0] * cells[k, 0] + normals[a, 1] * cells[k, 1]
            votes[a, int64(np.rint(distance)) + offset] += sign


def segments(occupied: NDArray[np.bool_], cell: float, settings: LineSettings) -> tuple[Array, NDArray[np.bool_]]:
    """(n, 4) x0, y0, x1, y1 of the walls in cells, and which cells belong to one."""
    points = np.ascontiguousarray(np.argwhere(occupied), np.float64)
    belongs = np.zeros(len(points), np.bool_)
    least = max(int(settings.fill * settings.shortest / cell), 3)
    offset = int(np.hypot(*occupied.shape)) + 2
    votes = np.zeros((DIRECTIONS, 2 * offset + 1), np.int64)
    _vote(points, _NORMALS, 1, offset, votes)
    walls: list[tuple[float, float, float, float]] = []
    while votes.max(initial=0) >= least:
        angle, distance = (int(k) for k in np.unravel_index(int(np.argmax(votes)), votes.shape))
        normal = _NORMALS[angle]
        on_line = np.flatnonzero(~belongs & (np.abs(points @ normal - (distance - offset)) <= 1.0))
        taken = _pieces(points, on_line, np.array([-normal[1], normal[0]]), cell, settings)
        for piece in taken:
            belongs[piece] = True
            walls.append((*points[piece[0]].tolist(), *points[piece[-1]].tolist()))
            _vote(np.ascontiguousarray(points[piece]), _NORMALS, -1, offset, votes)
        # what remains of this line is too short
        votes[angle, distance] = 0 if not taken else min(int(votes[angle, distance]), least - 1)
    mask = np.zeros(occupied.shape, np.bool_)
    on = points[belongs].astype(np.int64)
    mask[on[:, 0], on[:, 1]] = True
    return np.array(walls).reshape(-1, 4), mask


def _pieces(
    points: Array, on_line: NDArray[np.int64], along: Array, cell: float, settings: LineSettings
) -> list[NDArray[np.int64]]:
    """The cells of a line in runs without gaps that are long and full enough, each in order along the line."""
    positions = points[on_line] @ along
    order = np.argsort(positions, kind="stable")
    on_line, positions = on_line[order], positions[order]
    breaks = np.flatnonzero(np.diff(positions) * cell > settings.gap) + 1
    kept = []
    for run, at in zip(np.split(on_line, breaks), np.split(positions, breaks), strict=True):
        if not len(run):
            continue
        length = (at[-1] - at[0] + 1.0) * cell
        filled = len(np.unique(np.rint(at))) * cell / length
        if length >= settings.shortest and filled >= settings.fill:
            kept.append(run)
    return kept


def without_false_cells(
    evidence: NDArray[np.int8], occupied: int, cell: float, settings: LineSettings
) -> tuple[NDArray[np.bool_], Array]:
    """Obstacles less those that neither lie on or beside a wall nor have strong evidence; and the walls, in cells."""
    from scipy.ndimage import binary_dilation

    obstacles = evidence >= occupied
    walls, on_walls = segments(obstacles, cell, settings)
    near = binary_dilation(on_walls, np.ones((3, 3), np.bool_))
    return obstacles & (near | (evidence >= settings.sure)), walls
