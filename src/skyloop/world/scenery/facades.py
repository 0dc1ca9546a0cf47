"""Outer walls with windows, doors, shop fronts and balconies, at three levels of detail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from skyloop.world.mesh import Colour
from skyloop.world.scenery.panels import Paint, Panels, Point

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
class Opening:
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

    def rectangle(self, panels: Panels, s: Any, z: Any, out: float, paint: Paint) -> None:
        """A rectangle that faces outwards."""
        (s0, s1), (z0, z1) = s, z
        panels.quad(self.at(s0, out, z0), self.at(s1, out, z0), self.at(s1, out, z1), self.at(s0, out, z1), paint)

    def block(self, panels: Panels, s: Any, z: Any, out: Any, paint: Paint, *, without: str = "back") -> None:
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
    panels: Panels, facade: Facade, rows: list[list[Opening]], z: tuple[float, float], paint: Paint
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


def _reveals(panels: Panels, facade: Facade, hole: Opening, paint: Paint) -> None:
    s0, s1, z0, z1, at, back = hole.s0, hole.s1, hole.z0, hole.z1, facade.at, -RECESS
    panels.quad(at(s0, 0, z0), at(s0, back, z0), at(s0, back, z1), at(s0, 0, z1), paint)
    panels.quad(at(s1, back, z0), at(s1, 0, z0), at(s1, 0, z1), at(s1, back, z1), paint)
    panels.quad(at(s0, 0, z0), at(s1, 0, z0), at(s1, back, z0), at(s0, back, z0), paint)
    panels.quad(at(s0, back, z1), at(s1, back, z1), at(s1, 0, z1), at(s0, 0, z1), paint)


def fill_opening(panels: Panels, facade: Facade, hole: Opening, pane: Colour) -> None:
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


def _door(panels: Panels, facade: Facade, hole: Opening) -> None:
    """A leaf with two raised panels and a handle, a window above it, a step in front of it."""
    s0, s1, z0 = hole.s0, hole.s1, hole.z0
    leaf, dark = Paint("wood", (255, 255, 255), 4), Paint("metal", (60, 60, 60))
    top = min(z0 + 2.1, hole.z1)
    facade.block(panels, (s0, s1), (z0, top), (-RECESS, 0.05 - RECESS), leaf)
    for z in ((z0 + 0.2, z0 + 0.9), (z0 + 1.1, top - 0.2)):
        facade.block(panels, (s0 + 0.15, s1 - 0.15), z, (0.05 - RECESS, 0.08 - RECESS), leaf)
    facade.block(panels, (s1 - 0.12, s1 - 0.08), (z0 + 0.95, z0 + 1.1), (0.05 - RECESS, 0.12 - RECESS), dark)
    facade.block(panels, (s0 - 0.15, s1 + 0.15), (0.0, z0), (0.0, 0.35), Paint("cement"))


def _balcony(panels: Panels, facade: Facade, hole: Opening) -> None:
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


def flat_opening(panels: Panels, facade: Facade, hole: Opening, pane: Colour, lift: float) -> None:
    """The opening as one rectangle in front of the wall, for the middle detail."""
    paint = Paint("wood", (255, 255, 255), 4) if hole.kind == "door" else Paint("glass", pane)
    facade.rectangle(panels, (hole.s0, hole.s1), (hole.z0, hole.z1), lift, paint)
    if hole.kind == "balcony":
        s, z = (hole.s0 - 0.5, hole.s1 + 0.5), (hole.z0 - 0.16, hole.z0 + 0.95)
        facade.block(panels, s, z, (lift, 1.2), Paint("metal", (255, 255, 255), 5))
