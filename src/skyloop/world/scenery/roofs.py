"""Roofs for a rectangular house centred on the origin, its width along y and its depth along x, walls up to `z`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skyloop.world.mesh import Mesh, cylinder
from skyloop.world.scenery.panels import Paint, Panels

EAVE: Final = 0.22
"""m, height of the board under the tiles' edge."""
SLAB: Final = 0.1
"""m, the thickness of the tiles, measured vertically."""
TILES: Final = Paint("roof tiles", (255, 255, 255), 3)
BOARD: Final = Paint("wood", (255, 255, 255), 2)
DECK: Final = Paint("gravel", (190, 190, 188))
COPING: Final = Paint("cement", (225, 225, 220))
PARAPET: Final = 0.7
"""m by which the walls rise above a flat roof."""


@dataclass(frozen=True, slots=True)
class Roof:
    build: Callable[[Panels, bool], None]
    """Adds the faces of the roof; with False, only those that are visible from far away."""
    extras: tuple[Mesh, ...] = ()
    """Round things on it, at full detail only."""
    top: float = 0.0
    """m, its highest point."""
    pitch: float = 0.0
    """Rise over run of two slopes that reach from gable to gable; 0 for other roofs."""


def gable_roof(
    width: float, depth: float, z: float, pitch: float, wall: Paint, *, verges: tuple[float, float] = (0.1, 0.1)
) -> Roof:
    """Two slopes with the ridge along the width; the gables are wall. verges: m of tiles beyond -y and +y."""
    half_w, half_d = 0.5 * width, 0.5 * depth
    out = half_d + 0.45
    eave, ridge = z + EAVE, z + EAVE + pitch * out

    def build(panels: Panels, near: bool) -> None:
        for side in (1, -1):
            # rotated by half a turn about the middle for the back slope
            def at(x: float, y: float, height: float, side: int = side) -> tuple[float, float, float]:
                return (side * x, side * y, height)

            panels.quad(at(out, -half_w, z), at(out, half_w, z), at(out, half_w, eave), at(out, -half_w, eave), BOARD)
            panels.quad(at(out, half_w, z), at(out, -half_w, z), at(half_d, -half_w, z), at(half_d, half_w, z), BOARD)
            panels.quad(at(out, half_w, z), at(-out, half_w, z), at(-out, half_w, eave), at(out, half_w, eave), wall)
            top = at(0.0, half_w, ridge)
            panels.quad(at(out, half_w, eave), at(-out, half_w, eave), top, top, wall)
            beyond = verges[::side] if near else (0.0, 0.0)
            drip = out + 0.08 if near else out
            low, ends = eave - pitch * (drip - out), (-half_w - beyond[0], half_w + beyond[1])
            under = [at(drip, ends[0], low), at(drip, ends[1], low), at(0, ends[1], ridge), at(0, ends[0], ridge)]
            tiles = [(x, y, height + (SLAB if near else 0.0)) for x, y, height in under]
            panels.quad(tiles[0], tiles[1], tiles[2], tiles[3], TILES)
            if near:
                panels.quad(under[1], under[0], under[3], under[2], BOARD)
                for k, m in ((0, 1), (1, 2), (3, 0)):
                    panels.quad(under[k], under[m], tiles[m], tiles[k], TILES)

    return Roof(build, top=ridge + SLAB, pitch=pitch)


def hip_roof(width: float, depth: float, z: float, pitch: float, *, overhang: float = 0.6) -> Roof:
    """Four slopes over a boxed eave."""
    a, b = 0.5 * depth + overhang, 0.5 * width + overhang
    eave = z + EAVE
    run = min(a, b)
    ridge = eave + pitch * run
    # the ridge's two ends
    e0, e1 = (-(a - run), -(b - run), ridge), (a - run, b - run, ridge)

    def build(panels: Panels, near: bool) -> None:
        panels.box((-a, -b, z), (a, b, eave), BOARD, without=("+z",))
        corners = [(a, -b, eave), (a, b, eave), (-a, b, eave), (-a, -b, eave)]
        ends = ((e0, e1), (e1, e1), (e1, e0), (e0, e0)) if b >= a else ((e1, e1), (e1, e0), (e0, e0), (e0, e1))
        for k, (first, last) in enumerate(ends):
            low0, low1 = corners[k], corners[(k + 1) % 4]
            panels.quad(low0, low1, last, first, TILES)

    return Roof(build, top=ridge)


def flat_roof(generator: np.random.Generator, width: float, depth: float, z: float, wall: Paint) -> Roof:
    """A deck behind a parapet with things on it; walls reach `z`, the deck lies PARAPET lower."""
    a, b, t, deck = 0.5 * depth, 0.5 * width, 0.25, z - PARAPET
    boxes, fans = _roof_boxes(generator, width, depth, deck, wall)

    def build(panels: Panels, near: bool) -> None:
        panels.floor((-a, -b), (a, b), deck, DECK)
        # the outer sides of the parapet belong to the facades
        for y0, y1, outer in ((-b, -b + t, "-y"), (b - t, b, "+y")):
            panels.box((-a, y0, deck), (a, y1, z), wall, without=("-z", "-x", "+x", outer))
        for x0, x1, outer in ((-a, -a + t, "-x"), (a - t, a, "+x")):
            panels.box((x0, -b + t, deck), (x1, b - t, z), wall, without=("-z", "-y", "+y", outer))
        if near:
            lip, inner = 0.06, t + 0.04
            for y0, y1 in ((-b, -b + inner), (b - inner, b)):
                panels.box((-a - lip, y0, z), (a + lip, y1, z + 0.08), COPING)
            for x0, x1 in ((-a - lip, -a + inner), (a - inner, a + lip)):
                panels.box((x0, -b + inner, z), (x1, b - inner, z + 0.08), COPING, without=("-y", "+y"))
        for low, high, paint in boxes if near else boxes[:1]:
            panels.box(low, high, paint, without=("-z",))

    return Roof(build, fans, top=z + 0.08)


Boxes = list[tuple[tuple[float, float, float], tuple[float, float, float], Paint]]


def _roof_boxes(
    generator: np.random.Generator, width: float, depth: float, deck: float, wall: Paint
) -> tuple[Boxes, tuple[Mesh, ...]]:
    """A stair head with its door, and cooling units with fans in free cells of a 3 m grid."""
    boxes: Boxes = []
    fans: list[Mesh] = []
    if min(width, depth) < 7.0:
        return boxes, ()
    grid = [(x, y) for x in np.arange(2.0 - 0.5 * depth, 0.5 * depth - 1.9, 3.0) for y in _middles(width, 3.0)]
    x, y = (float(v) for v in generator.uniform(-0.2, 0.2, 2) * (depth, width))
    boxes.append(((x - 1.3, y - 1.6, deck), (x + 1.3, y + 1.6, deck + 2.4), wall))
    boxes.append(((x - 1.45, y - 1.75, deck + 2.4), (x + 1.45, y + 1.75, deck + 2.55), COPING))
    leaf = Paint("metal", (95, 100, 105))
    boxes.append(((x + 1.3, y - 0.45, deck + 0.05), (x + 1.35, y + 0.45, deck + 2.05), leaf))
    free = [place for place in grid if abs(place[0] - x) > 2.4 or abs(place[1] - y) > 2.8]
    count = min(len(free), int(generator.integers(2, 6)))
    for k in generator.permutation(len(free))[:count]:
        u, v = (float(c) for c in free[k])
        boxes.append(
            ((u - 0.5, v - 0.6, deck + 0.12), (u + 0.5, v + 0.6, deck + 0.95), Paint("metal", (205, 208, 210)))
        )
        for side in (-0.5, 0.5):
            boxes.append(((u - 0.45, v + side - 0.05, deck), (u + 0.45, v + side + 0.05, deck + 0.12), COPING))
        fans.append(cylinder(0.36, 0.05, 10, material="rubber", colour=(50, 52, 54)).moved((u, v, deck + 0.95)))
    return boxes, tuple(fans)


def _middles(length: float, step: float) -> NDArray[Any]:
    n = max(1, int(length / step))
    return length / n * (np.arange(n) + 0.5) - 0.5 * length


def chimney(panels: Panels, x: float, y: float, z: tuple[float, float]) -> None:
    """A chimney from inside the roof up to z[1], with two pots on it."""
    brick, cap = Paint("brick", (235, 225, 215)), Paint("cement", (200, 198, 195))
    panels.box((x - 0.3, y - 0.45, z[0]), (x + 0.3, y + 0.45, z[1]), brick, without=("-z", "+z"))
    panels.box((x - 0.38, y - 0.53, z[1]), (x + 0.38, y + 0.53, z[1] + 0.1), cap)
    for dy in (-0.22, 0.22):
        low, high = (x - 0.1, y + dy - 0.1, z[1] + 0.1), (x + 0.1, y + dy + 0.1, z[1] + 0.45)
        panels.box(low, high, Paint("roof tiles", (200, 150, 130)), without=("-z",))


def skylight(panels: Panels, place: Any, pitch: float, *, side: int) -> None:
    """A window in the slope that falls towards side·x; `place` is its middle on the tiles."""
    x, y, z = place
    run, half, lift = 0.45, 0.4, 0.09

    def at(u: float, v: float, up: float) -> tuple[float, float, float]:
        return (x + side * u, y + side * v, z - pitch * u + up)

    frame, glass = Paint("metal", (80, 82, 86)), Paint("glass", (110, 126, 138))
    outer = [(run, -half), (run, half), (-run, half), (-run, -half)]
    a, b, c, d = (at(u, v, lift) for u, v in outer)
    panels.quad(a, b, c, d, frame)
    for k in range(4):
        (u0, v0), (u1, v1) = outer[k], outer[(k + 1) % 4]
        panels.quad(at(u0, v0, -0.05), at(u1, v1, -0.05), at(u1, v1, lift), at(u0, v0, lift), frame)
    a, b, c, d = (at(0.85 * u, 0.85 * v, lift + 0.03) for u, v in outer)
    panels.quad(a, b, c, d, glass)
