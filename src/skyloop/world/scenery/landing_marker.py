"""The landing marker: a dark ring, square and rectangle on a white board; see docs/explanations/landing-marker.md."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop.world.mesh import Colour, Mesh, merged, mesh_of
from skyloop.world.model import Shape
from skyloop_client.messages import Array

DARK: Colour = (16, 16, 18)
LIGHT: Colour = (246, 246, 244)
FAR = 60.0
"""m; beyond it a coarser outline is drawn."""


@dataclass(frozen=True, slots=True)
class LandingMarker:
    """All lengths are in m. Its own axes: x from the rectangle to the square, its heading; y to the left; z up."""

    ring_outer_diameter: float = 1.7135
    ring_inner_radius: float = 0.7
    square_side: float = 0.343
    rectangle_length: float = 0.64
    """m, across the heading."""
    rectangle_width: float = 0.40
    """m, along the heading."""
    offset: float = 0.26
    """m, the distance of the square's centre ahead of the ring's, and of the rectangle's behind it."""
    board_radius: float = 1.25
    thickness: float = 0.03
    """m, of the board; all figures lie in its top."""

    @property
    def ring_outer_radius(self) -> float:
        return 0.5 * self.ring_outer_diameter

    def is_dark(self, x: Array, y: Array) -> NDArray[np.bool_]:
        """Whether points of the board, in the marker's own axes, are painted dark."""
        r = np.hypot(x, y)
        ring = (r >= self.ring_inner_radius) & (r <= self.ring_outer_radius)
        half = 0.5 * self.square_side
        square = (np.abs(x - self.offset) <= half) & (np.abs(y) <= half)
        length, width = 0.5 * self.rectangle_length, 0.5 * self.rectangle_width
        rectangle = (np.abs(x + self.offset) <= width) & (np.abs(y) <= length)
        return np.asarray(ring | square | rectangle)

    def shape(self) -> Shape:
        return Shape("landing marker", (self._mesh(64), self._mesh(20)), (FAR,))

    def _cuts(self) -> tuple[list[float], list[float]]:
        """The coordinates of the sides of square and rectangle."""
        half, width, length = 0.5 * self.square_side, 0.5 * self.rectangle_width, 0.5 * self.rectangle_length
        xs = [-self.offset - width, -self.offset + width, self.offset - half, self.offset + half]
        return xs, [-length, -half, half, length]

    def _mesh(self, n: int) -> Mesh:
        """One flat top, cut along the edges of the figures. No face lies on another, so nothing flickers."""
        xs, ys = self._cuts()
        r = self.ring_inner_radius
        angles = [*(2.0 * np.pi * np.arange(n) / n)]
        # extra corners where the lines meet the inner circle, so that neighbouring faces share all corners
        angles += [sign * np.arccos(x / r) for x in xs for sign in (-1, 1)]
        angles += [angle for y in ys for angle in (np.arcsin(y / r), np.pi - np.arcsin(y / r))]
        around = np.unique(np.round(np.mod(angles, 2.0 * np.pi), 9))
        unit = np.stack([np.cos(around), np.sin(around)], axis=1)
        parts = [
            self._band(unit, self.ring_outer_radius, self.board_radius, LIGHT),
            self._band(unit, self.ring_inner_radius, self.ring_outer_radius, DARK),
            self._rim(unit),
        ]
        disc = unit * r
        for x0, x1 in zip([-r, *xs], [*xs, r], strict=True):
            for y0, y1 in zip([-r, *ys], [*ys, r], strict=True):
                piece = _clipped(disc, x0, x1, y0, y1)
                if len(piece) >= 3:
                    dark = bool(self.is_dark(*piece.mean(axis=0)))
                    parts.append(self._flat(piece, _fan(len(piece)), DARK if dark else LIGHT))
        return merged(parts)

    def _flat(self, points: Array, faces: ArrayLike, colour: Colour) -> Mesh:
        corners = np.column_stack([points, np.full(len(points), self.thickness)])
        up = np.tile([0.0, 0.0, 1.0], (len(points), 1))
        return mesh_of(corners, faces, normals=up, material="paint", colour=colour)

    def _band(self, unit: Array, inner: float, outer: float, colour: Colour) -> Mesh:
        n = len(unit)
        k = np.arange(n)
        following = (k + 1) % n
        faces = np.concatenate(
            [np.stack([k, k + n, following + n], axis=1), np.stack([k, following + n, following], axis=1)]
        )
        return self._flat(np.concatenate([unit * inner, unit * outer]), faces, colour)

    def _rim(self, unit: Array) -> Mesh:
        """The board's edge, which goes down into the ground."""
        n = len(unit)
        k = np.arange(n)
        following = (k + 1) % n
        circle = unit * self.board_radius
        points = np.concatenate([np.column_stack([circle, np.full(n, z)]) for z in (-0.1, self.thickness)])
        normals = np.tile(np.column_stack([unit, np.zeros(n)]), (2, 1))
        faces = np.concatenate(
            [np.stack([k, following, following + n], axis=1), np.stack([k, following + n, k + n], axis=1)]
        )
        return mesh_of(points, faces, normals=normals, material="paint", colour=LIGHT)


def _fan(n: int) -> NDArray[np.int64]:
    k = np.arange(1, n - 1)
    return np.stack([np.zeros_like(k), k, k + 1], axis=1)


def _clipped(polygon: Array, x0: float, x1: float, y0: float, y1: float) -> Array:
    """The part of a convex polygon (n, 2) inside a rectangle."""
    for axis, limit, sign in ((0, x0, 1.0), (0, x1, -1.0), (1, y0, 1.0), (1, y1, -1.0)):
        inside = sign * (polygon[:, axis] - limit)
        kept: list[Array] = []
        for k in range(len(polygon)):
            a, b = inside[k], inside[(k + 1) % len(polygon)]
            if a >= -1e-9:
                kept.append(polygon[k])
            if (a > 1e-9 and b < -1e-9) or (a < -1e-9 and b > 1e-9):
                kept.append(polygon[k] + a / (a - b) * (polygon[(k + 1) % len(polygon)] - polygon[k]))
        polygon = np.array(kept).reshape(-1, 2)
        if len(polygon) < 3:
            return polygon
    x, y = polygon.T
    area = 0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)
    return polygon if area > 1e-9 else polygon[:0]
