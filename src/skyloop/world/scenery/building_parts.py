"""Roofs, and outer walls with windows, doors, shop fronts and balconies, at three levels of detail.

Roofs are for a rectangular house centred on the origin, its width along y and its depth along x, walls up to `z`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from skyloop.world.mesh import Colour, Mesh, cylinder
from skyloop.world.scenery.panels import Paint, Panels, Point
from skyloop_client.messages import Array

Span = tuple[float, float]
"""m: from and to."""
RECESS: Final = 0.14
"""m from the wall's face back to the glass."""
LIFT: Final = 0.03
"""m by which flat windows of the middle detail stand out from the wall."""
FAR_LIFT: Final = 0.08
"""m for the dark bands of the far detail, seen from over 100 m."""

PANES: Final[tuple[Colour, ...]] = ((70, 84, 96), (96, 112, 122), (54, 62, 72), (128, 140, 146), (176, 170, 152))
"""What is visible in the glass: sky, dark rooms, a curtain."""
TRIM: Final = Paint("plaster", (255, 255, 255), 2)
SHOP_FRAME: Final = Paint("metal", (255, 255, 255), 4)


@dataclass(frozen=True, slots=True)
class FacadeOpening:
    """A hole in the wall: s is m along the wall from its left end, z m above the foot of the house."""

    s0: float
    s1: float
    z0: float
    z1: float
    kind: str = "window"
    """window, crowned (by a lintel), shuttered, ribbon (no sill), door, shop or balcony (a window down to a slab)."""


class Facade:
    """One side of a house: its foot runs from `start` along `along`, from left to right seen from outside."""

    def __init__(self, start: tuple[float, float], along: tuple[float, float], width: float) -> None:
        self.start, self.along, self.width = start, along, width

    def at(self, s: float, out: float, z: float) -> Point:
        """The point s m along the foot, out m in front of the wall, z m up."""
        (x, y), (u, v) = self.start, self.along
        return (x + s * u + out * v, y + s * v - out * u, z)

    def rectangle(self, panels: Panels, s: Span, z: Span, out: float, paint: Paint) -> None:
        """A rectangle that faces outwards."""
        (s0, s1), (z0, z1) = s, z
        panels.quad(self.at(s0, out, z0), self.at(s1, out, z0), self.at(s1, out, z1), self.at(s0, out, z1), paint)

    def block(self, panels: Panels, s: Span, z: Span, out: Span, paint: Paint, *, without: str = "back") -> None:
        """A box on the wall; `without` leaves out the side towards it."""
        (s0, s1), (z0, z1), (o0, o1) = s, z, out
        self.rectangle(panels, s, z, o1, paint)
        if without != "back":
            panels.quad(self.at(s1, o0, z0), self.at(s0, o0, z0), self.at(s0, o0, z1), self.at(s1, o0, z1), paint)
        panels.quad(self.at(s0, o0, z0), self.at(s0, o1, z0), self.at(s0, o1, z1), self.at(s0, o0, z1), paint)
        panels.quad(self.at(s1, o1, z0), self.at(s1, o0, z0), self.at(s1, o0, z1), self.at(s1, o1, z1), paint)
        panels.quad(self.at(s0, o1, z1), self.at(s1, o1, z1), self.at(s1, o0, z1), self.at(s0, o0, z1), paint)
        panels.quad(self.at(s0, o0, z0), self.at(s1, o0, z0), self.at(s1, o1, z0), self.at(s0, o1, z0), paint)


def wall_with_openings(
    panels: Panels, facade: Facade, rows: list[list[FacadeOpening]], z: tuple[float, float], paint: Paint
) -> None:
    """The wall around the openings and the reveals into them; rows from the lowest up, each from left to right."""
    below = z[0]
    for row in [row for row in rows if row]:
        low, high = min(hole.z0 for hole in row), max(hole.z1 for hole in row)
        if low > below:
            facade.rectangle(panels, (0.0, facade.width), (below, low), 0.0, paint)
        left = 0.0
        for hole in row:
            facade.rectangle(panels, (left, hole.s0), (low, high), 0.0, paint)
            for part in ((low, hole.z0), (hole.z1, high)):
                if part[1] > part[0]:
                    facade.rectangle(panels, (hole.s0, hole.s1), part, 0.0, paint)
            _reveals(panels, facade, hole, paint)
            left = hole.s1
        facade.rectangle(panels, (left, facade.width), (low, high), 0.0, paint)
        below = high
    facade.rectangle(panels, (0.0, facade.width), (below, z[1]), 0.0, paint)


def _reveals(panels: Panels, facade: Facade, hole: FacadeOpening, paint: Paint) -> None:
    s0, s1, z0, z1, at, back = hole.s0, hole.s1, hole.z0, hole.z1, facade.at, -RECESS
    panels.quad(at(s0, 0, z0), at(s0, back, z0), at(s0, back, z1), at(s0, 0, z1), paint)
    panels.quad(at(s1, back, z0), at(s1, 0, z0), at(s1, 0, z1), at(s1, back, z1), paint)
    panels.quad(at(s0, 0, z0), at(s1, 0, z0), at(s1, back, z0), at(s0, back, z0), paint)
    panels.quad(at(s0, back, z1), at(s1, back, z1), at(s1, 0, z1), at(s0, 0, z1), paint)


def fill_opening(panels: Panels, facade: Facade, hole: FacadeOpening, pane: Colour) -> None:
    """Glass, frames, sills, doors and the parts in front of them, in full detail."""
    s0, s1, z0, z1 = hole.s0, hole.s1, hole.z0, hole.z1
    glass = Paint("glass", pane)
    facade.rectangle(panels, (s0, s1), (z0, z1), -RECESS, glass)
    front = 0.05 - RECESS
    if hole.kind == "door":
        _door(panels, facade, hole)
        return
    paint = SHOP_FRAME if hole.kind == "shop" else TRIM
    bar = 0.07 if hole.kind == "shop" else 0.06
    for z in ((z0, z0 + bar), (z1 - bar, z1)):
        facade.rectangle(panels, (s0, s1), z, front, paint)
    middle = 0.5 * (s0 + s1)
    uprights = [(s0, s0 + bar), (s1 - bar, s1)]
    if s1 - s0 > 0.8:
        uprights.append((middle - 0.5 * bar, middle + 0.5 * bar))
    for s in uprights:
        facade.rectangle(panels, s, (z0 + bar, z1 - bar), front, paint)
    if hole.kind in ("window", "crowned", "shuttered"):
        facade.block(panels, (s0 - 0.08, s1 + 0.08), (z0 - 0.07, z0), (0.0, 0.09), TRIM)
    if hole.kind == "crowned":
        facade.block(panels, (s0 - 0.1, s1 + 0.1), (z1, z1 + 0.14), (0.0, 0.05), TRIM)
    if hole.kind == "shuttered":
        for s in ((s0 - 0.5, s0 - 0.1), (s1 + 0.1, s1 + 0.5)):
            facade.block(panels, s, (z0, z1 - 0.02), (0.0, 0.05), Paint("wood", (255, 255, 255), 4))
    if hole.kind == "balcony":
        _balcony(panels, facade, hole)
    if hole.kind == "shop":
        facade.block(panels, (s0, s1), (z0 - 0.3, z0), (0.0, 0.05), SHOP_FRAME)


def _door(panels: Panels, facade: Facade, hole: FacadeOpening) -> None:
    """A leaf with two raised panels and a handle, a window above it, a step in front of it."""
    s0, s1, z0 = hole.s0, hole.s1, hole.z0
    leaf, dark = Paint("wood", (255, 255, 255), 4), Paint("metal", (60, 60, 60))
    top = min(z0 + 2.1, hole.z1)
    facade.block(panels, (s0, s1), (z0, top), (-RECESS, 0.05 - RECESS), leaf)
    for z in ((z0 + 0.2, z0 + 0.9), (z0 + 1.1, top - 0.2)):
        facade.block(panels, (s0 + 0.15, s1 - 0.15), z, (0.05 - RECESS, 0.08 - RECESS), leaf)
    facade.block(panels, (s1 - 0.12, s1 - 0.08), (z0 + 0.95, z0 + 1.1), (0.05 - RECESS, 0.12 - RECESS), dark)
    facade.block(panels, (s0 - 0.15, s1 + 0.15), (0.0, z0), (0.0, 0.35), Paint("cement"))


def _balcony(panels: Panels, facade: Facade, hole: FacadeOpening) -> None:
    """A slab with a parapet of sheet metal between rails."""
    s0, s1, floor, depth = hole.s0 - 0.5, hole.s1 + 0.5, hole.z0, 1.2
    facade.block(panels, (s0, s1), (floor - 0.16, floor - 0.02), (0.0, depth), Paint("cement", (235, 235, 230)))
    sheet = Paint("metal", (255, 255, 255), 5)
    z = (floor + 0.08, floor + 0.92)
    facade.block(panels, (s0, s1), z, (depth - 0.05, depth), sheet, without="")
    for s in ((s0, s0 + 0.05), (s1 - 0.05, s1)):
        facade.block(panels, s, z, (0.0, depth - 0.05), sheet)
    rail = Paint("metal", (90, 92, 96))
    facade.block(
        panels, (s0 - 0.02, s1 + 0.02), (floor + 0.92, floor + 0.98), (depth - 0.07, depth + 0.02), rail, without=""
    )


def flat_opening(panels: Panels, facade: Facade, hole: FacadeOpening, pane: Colour, lift: float) -> None:
    """The opening as one rectangle in front of the wall, for the middle detail."""
    paint = Paint("wood", (255, 255, 255), 4) if hole.kind == "door" else Paint("glass", pane)
    facade.rectangle(panels, (hole.s0, hole.s1), (hole.z0, hole.z1), lift, paint)
    if hole.kind == "balcony":
        s, z = (hole.s0 - 0.5, hole.s1 + 0.5), (hole.z0 - 0.16, hole.z0 + 0.95)
        facade.block(panels, s, z, (lift, 1.2), Paint("metal", (255, 255, 255), 5))


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
    """Round objects on it, at full detail only."""
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
    """A deck behind a parapet with objects on it; walls reach `z`, the deck lies PARAPET lower."""
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
    free = [position for position in grid if abs(position[0] - x) > 2.4 or abs(position[1] - y) > 2.8]
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


def _middles(length: float, step: float) -> Array:
    n = max(1, int(length / step))
    return np.asarray(length / n * (np.arange(n) + 0.5) - 0.5 * length, np.float64)


def chimney(panels: Panels, x: float, y: float, z: tuple[float, float]) -> None:
    """A chimney from inside the roof up to z[1], with two pots on it."""
    brick, cap = Paint("brick", (235, 225, 215)), Paint("cement", (200, 198, 195))
    panels.box((x - 0.3, y - 0.45, z[0]), (x + 0.3, y + 0.45, z[1]), brick, without=("-z", "+z"))
    panels.box((x - 0.38, y - 0.53, z[1]), (x + 0.38, y + 0.53, z[1] + 0.1), cap)
    for dy in (-0.22, 0.22):
        low, high = (x - 0.1, y + dy - 0.1, z[1] + 0.1), (x + 0.1, y + dy + 0.1, z[1] + 0.45)
        panels.box(low, high, Paint("roof tiles", (200, 150, 130)), without=("-z",))


def skylight(panels: Panels, position: Point, pitch: float, *, side: int) -> None:
    """A window in the slope that falls towards side·x; `position` is its middle on the tiles."""
    x, y, z = position
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
