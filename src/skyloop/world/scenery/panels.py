"""Collects many flat four-sided faces into one mesh: walls, windows, furniture, shelves, letters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from skyloop.world.materials import MATERIAL_ID
from skyloop.world.mesh import WHITE, Colour, Mesh

SIDES = ("-y", "+x", "+y", "-x", "+z", "-z")
# corners of each side, counter-clockwise from outside, as (x, y, z) choices between low and high
_CORNERS = (
    ((0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)),
    ((1, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1)),
    ((1, 1, 0), (0, 1, 0), (0, 1, 1), (1, 1, 1)),
    ((0, 1, 0), (0, 0, 0), (0, 0, 1), (0, 1, 1)),
    ((0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)),
    ((0, 1, 0), (1, 1, 0), (1, 0, 0), (0, 0, 0)),
)
Point = tuple[float, float, float]


class Paint(NamedTuple):
    material: str
    colour: Colour = WHITE
    slot: int = 0

    @property
    def look(self) -> dict[str, Any]:
        """In the form that the functions of `mesh` use."""
        return {"material": self.material, "colour": self.colour, "slot": self.slot}


class Panels:
    """Collects faces. Texture coordinates are the positions themselves, so a texture continues across neighbours."""

    def __init__(self) -> None:
        self._corners: list[Point] = []
        self._paints: list[tuple[int, ...]] = []

    def quad(self, a: Point, b: Point, c: Point, d: Point, paint: Paint) -> None:
        """Counter-clockwise from the front; u runs from a to b. With c equal to d it is a triangle."""
        self._corners += (a, b, c, d)
        self._paints.append((*paint.colour, paint.slot, MATERIAL_ID[paint.material]))

    def floor(self, low: tuple[float, float], high: tuple[float, float], z: float, paint: Paint) -> None:
        """A level rectangle between two (x, y), seen from above."""
        (x0, y0), (x1, y1) = low, high
        self.quad((x0, y0, z), (x1, y0, z), (x1, y1, z), (x0, y1, z), paint)

    def box(self, low: Point, high: Point, paint: Paint, *, without: Sequence[str] = ()) -> None:
        """An axis-aligned box between two corners, without the sides named in `without` ("-z" is the bottom)."""
        x, y, z = zip(low, high, strict=True)
        for side, corners in zip(SIDES, _CORNERS, strict=True):
            if side not in without:
                a, b, c, d = ((x[i], y[j], z[k]) for i, j, k in corners)
                self.quad(a, b, c, d, paint)

    def mesh(self) -> Mesh:
        p = np.array(self._corners, float).reshape(-1, 4, 3)
        along = p[:, 1] - p[:, 0]
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        normals = np.cross(along, p[:, 2] - p[:, 0])
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        up = np.cross(normals, along)
        uv = np.stack([np.einsum("nki,ni->nk", p, along), np.einsum("nki,ni->nk", p, up)], -1)
        paints = np.repeat(np.array(self._paints, np.uint8), 4, axis=0)
        start = 4 * np.arange(len(p))[:, None]
        whole = np.linalg.norm(p[:, 2] - p[:, 3], axis=1) > 1e-9
        faces = np.concatenate([start + np.array([0, 1, 2]), (start + np.array([0, 2, 3]))[whole]])
        return Mesh(
            p.reshape(-1, 3), np.repeat(normals, 4, axis=0), uv.reshape(-1, 2), paints[:, :4], paints[:, 4], faces
        )


_ROWS: Final = {
    "A": "010 101 111 101 101", "B": "110 101 110 101 110", "C": "011 100 100 100 011", "D": "110 101 101 101 110",
    "E": "111 100 110 100 111", "F": "111 100 110 100 100", "G": "011 100 101 101 011", "H": "101 101 111 101 101",
    "I": "111 010 010 010 111", "K": "101 110 100 110 101", "L": "100 100 100 100 111", "M": "101 111 111 101 101",
    "N": "110 101 101 101 101", "O": "111 101 101 101 111", "P": "110 101 110 100 100", "R": "110 101 110 101 101",
    "S": "111 100 111 001 111", "T": "111 010 010 010 010", "U": "101 101 101 101 111", "V": "101 101 101 101 010",
    "W": "101 101 111 111 101", "Y": "101 101 010 010 010", "0": "111 101 101 101 111", "1": "010 110 010 010 111",
    "2": "111 001 111 100 111", "3": "111 001 011 001 111", "5": "111 100 111 001 111", "7": "111 001 010 010 010",
    " ": "000 000 000 000 000",
}  # fmt: skip


def strokes(text: str, height: float) -> list[tuple[float, float, float, float]]:
    """(left, low, right, high) m of the rectangles that write `text` around (0, 0)."""
    cell = height / 5.0
    start = -0.5 * cell * (4 * len(text) - 1)
    found = []
    for place, letter in enumerate(text):
        rows = _ROWS[letter].split()
        for column in range(3):
            # runs down a column, so that few rectangles are needed
            marks = [row[column] == "1" for row in rows] + [False]
            top = None
            for k, marked in enumerate(marks):
                if marked and top is None:
                    top = k
                elif not marked and top is not None:
                    left = start + cell * (4 * place + column)
                    found.append((left, (2.5 - k) * cell, left + cell, (2.5 - top) * cell))
                    top = None
    return found
