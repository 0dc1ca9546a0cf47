"""Paths on the ground: straight legs joined by circular arcs, so that the heading never jumps."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, void
from numpy.typing import ArrayLike

from skyloop.core.jit import inlined, kernel, record_type
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

SHARPEST = np.radians(170.0)
"""A corner sharper than this doubles back; no arc of a useful radius fits there."""

S, X, Y, HEADING, CURVATURE = range(5)
"""Columns of `MoverPath.pieces`: the start (m along the path, m, m, rad) and the curvature (1/m, left is > 0)."""


class PathArrays(NamedTuple):
    """A Path in the form that kernels use."""

    pieces: Array
    """(n, 5), with the columns S, X, Y, HEADING, CURVATURE."""
    length: float
    """m."""
    lap_turn: float
    """rad, a multiple of 2π."""


path_type = record_type(PathArrays, pieces=float64[:, ::1], length=float64, lap_turn=float64)


@inlined
def piece_at(path, s):
    """(laps, s within the lap, row of `pieces`) at arc length s of a closed path."""
    pieces, length = path.pieces, path.length
    laps = np.floor(s / length)
    rest = min(max(s - laps * length, 0.0), length)
    low, high = 0, pieces.shape[0]
    while high - low > 1:
        middle = (low + high) // 2
        if pieces[middle, 0] <= rest:
            low = middle
        else:
            high = middle
    return laps, rest, low


@inlined
def path_at(path, s):
    """(x, y, heading) at arc length s; the heading continues from lap to lap, so that it never jumps."""
    laps, rest, row = piece_at(path, s)
    pieces = path.pieces
    along = rest - pieces[row, 0]
    heading, curvature = pieces[row, 3], pieces[row, 4]
    turned = along * curvature
    # chord of an arc: its length is 2 sin(turned / 2) / curvature, its direction half way between the headings
    half = 0.5 * turned
    chord = along * (1.0 - half * half / 6.0) if abs(half) < 1e-4 else along * np.sin(half) / half
    x = pieces[row, 1] + chord * np.cos(heading + half)
    y = pieces[row, 2] + chord * np.sin(heading + half)
    return x, y, heading + turned + laps * path.lap_turn


@kernel(void(path_type, float64[::1], float64[:, ::1]))
def _path_at_many(arrays, s, out):
    path = PathArrays(*arrays)
    for i in range(s.shape[0]):
        out[i, 0], out[i, 1], out[i, 2] = path_at(path, s[i])


class MoverPath:
    """A closed loop, or (open) out along the right-hand side of a line and back along the other."""

    def __init__(self, points: ArrayLike, *, closed: bool = True, corner_radius: float = 1.0) -> None:
        """points: (n, 2) m; corner_radius: m, smaller where the legs are too short for it."""
        corners = np.array(points, float)
        if corners.ndim != 2 or corners.shape[1] != 2 or not np.isfinite(corners).all():
            raise ScenarioError(f"path points have shape {corners.shape}; give (n, 2) finite metres")
        if not corner_radius > 0.0:
            raise ScenarioError(f"path corner_radius is {corner_radius}; give metres > 0")
        apart = np.linalg.norm(np.diff(corners, axis=0), axis=1) > 1e-6
        corners = corners[np.concatenate([[True], apart])]
        if closed and len(corners) > 2 and np.linalg.norm(corners[0] - corners[-1]) < 1e-6:
            corners = corners[:-1]
        if len(corners) < 2:
            raise ScenarioError("a path needs at least two points that differ")
        if not closed or len(corners) == 2:
            corners = _there_and_back(corners, 0.5 * corner_radius)
        self.kernel_arguments = self.pieces, self.length, self.lap_turn = _pieces(corners, corner_radius)
        """PathArrays as a tuple of kernel arguments."""

    def at(self, s: ArrayLike) -> tuple[Array, Array]:
        """((..., 2) m, (...) heading in rad) at arc length s, which may be beyond one lap either way."""
        where = np.asarray(s, np.float64)
        out = np.empty((where.size, 3))
        _path_at_many(self.kernel_arguments, where.flatten(), out)
        return out[:, :2].reshape(*where.shape, 2), out[:, 2].reshape(where.shape)


def _there_and_back(line: Array, offset: float) -> Array:
    """The loop around an open line at `offset` to its right; the ends are half circles."""
    along = np.diff(line, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    right = np.stack([along[:, 1], -along[:, 0]], axis=1)
    before, after = np.vstack([right[:1], right]), np.vstack([right, right[-1:]])
    straightness = np.sum(before * after, axis=1)
    if straightness.min() < np.cos(SHARPEST):
        raise ScenarioError(f"path doubles back at point {int(straightness.argmin())}; leave that point out")
    mitre = offset * (before + after) / (1.0 + straightness)[:, None]
    return np.vstack([line + mitre, (line - mitre)[::-1]])


def _pieces(corners: Array, corner_radius: float) -> tuple[Array, float, float]:
    legs = np.roll(corners, -1, axis=0) - corners
    lengths = np.linalg.norm(legs, axis=1)
    headings = np.arctan2(legs[:, 1], legs[:, 0])
    turns = np.remainder(np.roll(headings, -1) - headings + np.pi, 2.0 * np.pi) - np.pi
    if np.abs(turns).max() > SHARPEST:
        k = (int(np.abs(turns).argmax()) + 1) % len(corners)
        raise ScenarioError(f"path doubles back at point {k} ({corners[k]}); move it or leave it out")
    # each corner may use half of each of its legs
    room = 0.5 * np.minimum(lengths, np.roll(lengths, -1))
    tangents = np.minimum(corner_radius * np.tan(0.5 * np.abs(turns)), room)
    rows, s, heading = [], 0.0, headings[0]
    for k, length in enumerate(lengths):
        before = tangents[k - 1]
        straight = length - before - tangents[k]
        start = corners[k] + legs[k] / length * before
        if straight > 1e-9:
            rows.append([s, *start, heading, 0.0])
            s += straight
        if abs(turns[k]) > 1e-9:
            radius = tangents[k] / np.tan(0.5 * abs(turns[k]))
            rows.append([s, *(start + legs[k] / length * straight), heading, np.sign(turns[k]) / radius])
            s += radius * abs(turns[k])
        heading += turns[k]
    return np.array(rows), float(s), float(2.0 * np.pi * np.round(turns.sum() / (2.0 * np.pi)))
