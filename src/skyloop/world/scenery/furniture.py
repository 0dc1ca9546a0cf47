"""Furniture of rooms. Every piece stands on z = 0 around the origin, its back towards +y and its front towards -y.

Paint slot 1 is its main colour (wood, cloth), slot 2 its second colour, if it has one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypedDict, Unpack

import numpy as np

from skyloop.world.lamps import Lamp
from skyloop.world.mesh import Colour, Look, Mesh, box, cylinder, ellipsoid, merged, mesh_of
from skyloop.world.model import Shape


class Paint(TypedDict):
    """A material in one of the paint slots."""

    material: str
    slot: int


WOOD: Paint = {"material": "wood", "slot": 1}
CLOTH: Paint = {"material": "cloth", "slot": 1}
WOODS: tuple[Colour, ...] = ((255, 240, 215), (225, 190, 150), (170, 125, 90), (120, 80, 55), (245, 245, 240))
VENEER = 1
"""The variant of the wood texture without wide joints between its boards."""
CLOTHS: tuple[Colour, ...] = (
    (150, 50, 50), (60, 90, 140), (80, 110, 75), (190, 170, 140), (90, 90, 95), (200, 130, 60), (120, 80, 130),
)  # fmt: skip


def _box(x: float, y: float, z: float, wide: float, deep: float, tall: float, **look: Unpack[Look]) -> Mesh:
    """(x, y): its middle; z: its bottom."""
    return box((wide, deep, tall), centre=(x, y, z + 0.5 * tall), **look)


def _legs(wide: float, deep: float, tall: float, thick: float, **look: Unpack[Look]) -> list[Mesh]:
    x, y = 0.5 * (wide - thick), 0.5 * (deep - thick)
    return [_box(a * x, b * y, 0.0, thick, thick, tall, **look) for a in (-1, 1) for b in (-1, 1)]


@cache
def table(wide: float = 1.6, deep: float = 0.9, tall: float = 0.75) -> Shape:
    top = _box(0, 0, tall - 0.04, wide, deep, 0.04, **WOOD)
    rail = _box(0, 0, tall - 0.12, wide - 0.2, deep - 0.2, 0.08, **WOOD)
    return Shape("table", (merged([top, rail, *_legs(wide - 0.1, deep - 0.1, tall - 0.04, 0.07, **WOOD)]),))


@cache
def chair() -> Shape:
    parts = _legs(0.42, 0.42, 0.43, 0.045, **WOOD)
    parts.append(_box(0, 0, 0.43, 0.45, 0.45, 0.05, material="cloth", slot=2))
    parts += [_box(side * 0.2, 0.2, 0.48, 0.04, 0.04, 0.45, **WOOD) for side in (-1, 1)]
    parts += [_box(0, 0.2, z, 0.36, 0.03, 0.09, **WOOD) for z in (0.58, 0.72, 0.84)]
    return Shape("chair", (merged(parts),))


@cache
def sofa(seats: int = 3) -> Shape:
    wide = 0.7 * seats + 0.4
    parts = [
        _box(0, 0.04, 0.1, wide - 0.36, 0.78, 0.22, **CLOTH),
        _box(0, 0.35, 0.1, wide - 0.36, 0.2, 0.75, **CLOTH),
        _box(-wide / 2 + 0.1, 0, 0.1, 0.2, 0.9, 0.52, **CLOTH),
        _box(wide / 2 - 0.1, 0, 0.1, 0.2, 0.9, 0.52, **CLOTH),
        *_legs(wide - 0.1, 0.8, 0.1, 0.06, material="wood", colour=(90, 60, 45)),
    ]
    for seat in range(seats):
        x = 0.7 * (seat - 0.5 * (seats - 1))
        parts.append(_box(x, -0.08, 0.32, 0.67, 0.68, 0.14, colour=(235, 235, 235), **CLOTH))
        parts.append(_box(x, 0.2, 0.46, 0.62, 0.12, 0.34, colour=(235, 235, 235), **CLOTH))
    return Shape("sofa", (merged(parts),))


@cache
def bed(wide: float = 1.6) -> Shape:
    parts = [
        _box(0, 0, 0.12, wide, 2.05, 0.2, **WOOD),
        _box(0, 1.06, 0.0, wide + 0.06, 0.06, 1.0, **WOOD),
        _box(0, 0, 0.32, wide - 0.06, 1.98, 0.18, material="cloth"),
        _box(0, -0.34, 0.49, wide - 0.02, 1.34, 0.06, material="cloth", slot=2),
        *_legs(wide - 0.1, 1.9, 0.12, 0.08, **WOOD),
    ]
    pillows = 2 if wide > 1.2 else 1
    for k in range(pillows):
        x = 0.38 * wide * (k - 0.5 * (pillows - 1)) * 1.2
        pillow = ellipsoid((0.32, 0.2, 0.08), rings=4, n=8, material="cloth")
        parts.append(pillow.moved((x, 0.72, 0.54)))
    return Shape("bed", (merged(parts),))


@cache
def bookshelf(wide: float = 1.2, tall: float = 2.0, seed: int = 0) -> Shape:
    deep, board = 0.32, 0.025
    frame = [_box(side * (wide - board) / 2, 0, 0, board, deep, tall, **WOOD) for side in (-1, 1)]
    frame.append(_box(0, deep / 2 - 0.01, 0, wide - 2 * board, 0.012, tall, **WOOD))
    levels = np.arange(0.05, tall, 0.37)
    frame += [_box(0, -0.006, z, wide - 2 * board, deep - 0.012, board, **WOOD) for z in levels]
    random = np.random.Generator(np.random.Philox(key=seed))
    books, rows = [], []
    for z in levels[:-1] + board:
        x, end = -wide / 2 + 0.05, wide / 2 - 0.06 - random.uniform(0.0, 0.4)
        colours = []
        while x < end:
            thick, high = random.uniform(0.04, 0.09), random.uniform(0.2, 0.31)
            colour = tuple(random.integers(40, 240, 3).tolist())
            colours.append(colour)
            books.append(box((thick - 0.004, 0.2, high), centre=(x, 0.0, z + high / 2), bottom=False, colour=colour))
            x += thick
        mean: Any = tuple(int(c) for c in np.mean(colours, axis=0))
        rows.append(
            box((x + wide / 2 - 0.05, 0.2, 0.26), centre=((x - wide / 2 + 0.05) / 2, 0.0, z + 0.13), colour=mean)
        )
    return Shape("bookshelf", (merged(frame + books), merged(frame + rows)), (12.0,))


@cache
def cupboard(wide: float = 1.0, deep: float = 0.55, tall: float = 1.9) -> Shape:
    parts = [
        _box(0, 0.01, 0.06, wide, deep - 0.02, tall - 0.06, **WOOD),
        _box(0, 0.02, 0, wide - 0.06, deep - 0.1, 0.07, colour=(50, 44, 40)),
    ]
    for side in (-1, 1):
        door = (side * wide / 4, -deep / 2 + 0.0, 0.1, wide / 2 - 0.02, 0.03, tall - 0.16)
        parts.append(_box(*door, colour=(230, 230, 230), **WOOD))
        parts.append(_box(side * 0.06, -deep / 2 - 0.03, tall / 2, 0.02, 0.03, 0.14, material="metal"))
    return Shape("cupboard", (merged(parts),))


@cache
def counter(wide: float = 2.4) -> Shape:
    """A kitchen counter with sink and stove."""
    parts = [
        _box(0, 0.03, 0.08, wide, 0.54, 0.8, **WOOD),
        _box(0, 0, 0.88, wide + 0.02, 0.62, 0.04, material="cement", colour=(90, 90, 95)),
        _box(-wide / 4, 0, 0.921, 0.55, 0.4, 0.012, material="metal", colour=(200, 205, 210)),
        _box(wide / 4, 0, 0.921, 0.56, 0.48, 0.012, colour=(25, 25, 28)),
        cylinder(0.015, 0.28, 8, material="metal").moved((-wide / 4, 0.24, 0.92)),
        _box(-wide / 4, 0.16, 1.19, 0.025, 0.18, 0.025, material="metal"),
    ]
    n = max(int(wide / 0.6), 1)
    for k in range(n):
        x = (k - 0.5 * (n - 1)) * wide / n
        parts.append(_box(x, -0.25, 0.12, wide / n - 0.02, 0.03, 0.72, colour=(235, 235, 235), **WOOD))
        parts.append(_box(x, -0.28, 0.76, 0.2, 0.025, 0.02, material="metal"))
    return Shape("kitchen counter", (merged(parts),))


@cache
def fridge() -> Shape:
    parts = [_box(0, 0.02, 0.03, 0.62, 0.6, 1.75, material="metal", colour=(235, 238, 240))]
    for low, high in ((0.06, 0.62), (0.65, 1.75)):
        parts.append(_box(0, -0.29, low, 0.6, 0.03, high - low, material="plastic", colour=(240, 242, 244)))
        parts.append(_box(-0.24, -0.325, 0.5 * (low + high) - 0.1, 0.02, 0.03, 0.3, material="metal"))
    return Shape("fridge", (merged(parts),))


@cache
def bathtub() -> Shape:
    look: Look = {"material": "plastic", "colour": (245, 246, 248)}
    parts = [
        _box(0, 0, 0, 1.7, 0.75, 0.12, **look),
        *(_box(0, side * 0.34, 0.12, 1.7, 0.07, 0.45, **look) for side in (-1, 1)),
        *(_box(side * 0.815, 0, 0.12, 0.07, 0.61, 0.45, **look) for side in (-1, 1)),
        cylinder(0.02, 0.2, 8, material="metal").moved((0.815, 0, 0.57)),
    ]
    return Shape("bathtub", (merged(parts),))


@cache
def floor_lamp() -> Shape:
    parts = [
        cylinder(0.15, 0.03, 14, material="metal", colour=(60, 60, 62)),
        cylinder(0.014, 1.4, 8, material="metal", colour=(60, 60, 62)).moved((0, 0, 0.03)),
        cylinder(0.24, 0.3, 16, top=0.15, material="cloth", slot=1).moved((0, 0, 1.35)),
    ]
    return Shape("floor lamp", (merged(parts),), lamp=Lamp((0.0, 0.0, 1.5), 0.32))


@cache
def potted_plant(tall: float = 1.2, seed: int = 0) -> Shape:
    """Long leaves that bend out of a pot."""
    random = np.random.Generator(np.random.Philox(key=1000 + seed))
    pot = cylinder(0.15, 0.32, 14, top=0.2, material="plaster", slot=1)
    leaves = [_leaf(tall, random) for _ in range(26)]
    far = [*leaves[::3], pot]
    return Shape("plant", (merged([pot, *leaves]), merged(far)), (15.0,))


def _leaf(tall: float, random: np.random.Generator) -> Mesh:
    heading, lean, long = random.uniform(0, 2 * math.pi), random.uniform(0.08, 0.5), tall * random.uniform(0.55, 0.95)
    s = np.linspace(0.0, 1.0, 5)
    out, up = long * lean * s**1.6, 0.3 + long * (s - 0.6 * lean * s**2)
    half = 0.07 * np.sin(np.pi * np.clip(s, 0.06, 0.985)) ** 0.7
    points = np.concatenate([np.stack([out, half, up], 1), np.stack([out, -half, up], 1)])
    c, sn = np.cos(heading), np.sin(heading)
    points[:, :2] = points[:, :2] @ np.array([[c, sn], [-sn, c]])
    faces = [f for k in range(4) for f in ([k, k + 5, k + 6], [k, k + 6, k + 1])]
    shade = int(random.integers(150, 256))
    return mesh_of(points, faces, material="leaves", colour=(shade, 255, shade - 30))


@cache
def picture(wide: float, tall: float, seed: int) -> Shape:
    """A few painted fields in a frame. It hangs with its back on y = 0, its middle at the origin."""
    random = np.random.Generator(np.random.Philox(key=2000 + seed))
    parts = [box((wide, 0.03, tall), centre=(0, -0.015, 0), **WOOD)]
    across, up = sorted(random.uniform(0.25, 0.75, 2)), random.uniform(0.3, 0.7)
    xs = (np.array([0.0, *across, 1.0]) - 0.5) * (wide - 0.1)
    zs = (np.array([0.0, up, 1.0]) - 0.5) * (tall - 0.1)
    for i in range(3):
        for k in range(2):
            colour: Any = tuple(random.integers(30, 250, 3).tolist())
            size = (xs[i + 1] - xs[i], 0.012, zs[k + 1] - zs[k])
            parts.append(box(size, centre=((xs[i] + xs[i + 1]) / 2, -0.036, (zs[k] + zs[k + 1]) / 2), colour=colour))
    return Shape("picture", (merged(parts),))


@cache
def notice_board(wide: float = 1.8, tall: float = 1.1, seed: int = 0) -> Shape:
    """Cork in a frame with sheets of paper on it. It hangs with its back on y = 0."""
    random = np.random.Generator(np.random.Philox(key=3000 + seed))
    parts = [
        box((wide, 0.025, tall), centre=(0, -0.0125, 0), material="wood", colour=(150, 110, 70)),
        box((wide - 0.1, 0.01, tall - 0.1), centre=(0, -0.03, 0), material="cardboard", colour=(225, 180, 130)),
    ]
    columns, rows = int((wide - 0.2) / 0.3), int((tall - 0.2) / 0.4)
    for i in range(columns):
        for k in range(rows):
            if random.random() < 0.8:
                x, z = (i - 0.5 * (columns - 1)) * 0.3, (k - 0.5 * (rows - 1)) * 0.4
                colour: Any = tuple(
                    random.choice([[255] * 3, [250, 240, 150], [180, 215, 250], [250, 190, 190]]).tolist()
                )
                size = (random.uniform(0.16, 0.24), 0.006, random.uniform(0.22, 0.32))
                parts.append(box(size, centre=(x, -0.038, z), colour=colour))
    return Shape("notice board", (merged(parts),))


@cache
def bench(wide: float = 1.6) -> Shape:
    parts = [_box(0, y, 0.42, wide, 0.12, 0.04, **WOOD) for y in (-0.15, 0.0, 0.15)]
    for side in (-1, 1):
        parts.append(_box(side * (wide / 2 - 0.2), 0, 0, 0.05, 0.4, 0.42, material="metal", colour=(70, 72, 75)))
    return Shape("bench", (merged(parts),))


@cache
def carton(wide: float, deep: float, tall: float) -> Shape:
    tape = _box(0, 0, tall, 0.06, deep, 0.004, colour=(190, 160, 110))
    return Shape("carton", (merged([_box(0, 0, 0, wide, deep, tall, material="cardboard"), tape]),))


@cache
def rug(wide: float, deep: float) -> Shape:
    border = _box(0, 0, 0, wide, deep, 0.012, **CLOTH)
    middle = _box(0, 0, 0.012, wide - 0.3, deep - 0.3, 0.01, material="cloth", slot=2)
    return Shape("rug", (merged([border, middle]),), casts_shadow=False)


@cache
def television() -> Shape:
    parts = [
        _box(0, 0, 0, 1.6, 0.42, 0.45, **WOOD),
        _box(0, 0, 0.45, 0.4, 0.2, 0.03, colour=(20, 20, 22)),
        _box(0, 0.02, 0.48, 0.06, 0.04, 0.1, colour=(20, 20, 22)),
        _box(0, 0, 0.56, 1.3, 0.05, 0.74, material="plastic", colour=(20, 20, 22)),
        _box(0, -0.03, 0.59, 1.24, 0.02, 0.68, material="glass", colour=(70, 80, 95)),
    ]
    return Shape("television", (merged(parts),))


@dataclass(frozen=True, slots=True)
class Piece:
    make: Callable[[], Shape]
    wide: float
    deep: float
    at_wall: bool = True
    is_a: str = "furniture"


PIECES: dict[str, Piece] = {
    "table": Piece(table, 1.6, 0.9, at_wall=False),
    "desk": Piece(lambda: table(1.4, 0.7), 1.4, 0.7),
    "low table": Piece(lambda: table(1.1, 0.6, 0.42), 1.1, 0.6, at_wall=False),
    "sofa": Piece(sofa, 2.5, 0.9),
    "small sofa": Piece(lambda: sofa(2), 1.8, 0.9),
    "armchair": Piece(lambda: sofa(1), 1.1, 0.9),
    "bed": Piece(bed, 1.66, 2.18),
    "single bed": Piece(lambda: bed(0.9), 0.96, 2.18),
    "bookshelf": Piece(bookshelf, 1.2, 0.32, is_a="shelf"),
    "low bookshelf": Piece(lambda: bookshelf(1.6, 1.2, 3), 1.6, 0.32, is_a="shelf"),
    "cupboard": Piece(cupboard, 1.0, 0.62),
    "chest": Piece(lambda: cupboard(1.2, 0.5, 0.9), 1.2, 0.57),
    "counter": Piece(counter, 2.42, 0.62),
    "fridge": Piece(fridge, 0.62, 0.7),
    "bathtub": Piece(bathtub, 1.7, 0.75),
    "television": Piece(television, 1.6, 0.42),
    "lamp": Piece(floor_lamp, 0.5, 0.5, is_a="lamp"),
    "plant": Piece(potted_plant, 1.1, 1.1, is_a="bush"),
    "bench": Piece(bench, 1.6, 0.45, is_a="bench"),
    "carton": Piece(lambda: carton(0.6, 0.5, 0.45), 0.6, 0.5, is_a="box"),
    "big carton": Piece(lambda: carton(1.0, 0.8, 0.9), 1.0, 0.8, is_a="box"),
}
