"""Houses with facades and roofs at three levels of detail; the front faces +x, the width runs along y."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np

from skyloop.world.mesh import Colour, Mesh, merged
from skyloop.world.model import Shape
from skyloop.world.scenery.building_parts import (
    FAR_LIFT,
    LIFT,
    PANES,
    PARAPET,
    SHOP_FRAME,
    TILES,
    TRIM,
    Facade,
    Opening,
    Roof,
    chimney,
    fill_opening,
    flat_opening,
    flat_roof,
    gable_roof,
    hip_roof,
    skylight,
    wall_with_openings,
)
from skyloop.world.scenery.panels import Paint, Panels, strokes
from skyloop_client.errors import ScenarioError

SIDES: Final = ("front", "right", "back", "left")
STYLES: Final = ("town", "villa", "block", "plain")
GROUND_FLOOR: Final = {"town": 3.7, "villa": 3.0, "block": 3.2, "plain": 3.4}
"""m, the height of the ground floor; the upper floors follow."""
UPPER_FLOOR: Final = {"town": 3.1, "villa": 2.8, "block": 2.9, "plain": 3.2}
SHOPS: Final = ("BAKERY", "CAFE", "BOOKS", "FLOWERS", "BANK", "PHARMACY", "HOTEL", "MARKET", "SHOES", "TOYS", "BIKES")
MIDDLE_RANGE, FAR_RANGE = 40.0, 130.0
"""m from which the middle and the far detail are shown."""

WALL_COLOURS: Final[tuple[Colour, ...]] = (
    (246, 238, 220),
    (240, 222, 180),
    (232, 200, 170),
    (214, 222, 226),
    (226, 214, 214),
    (206, 218, 196),
    (250, 250, 246),
    (224, 190, 160),
)
TRIM_COLOURS: Final[tuple[Colour, ...]] = ((248, 248, 244), (236, 228, 212), (206, 200, 190))
ROOF_COLOURS: Final[tuple[Colour, ...]] = ((255, 255, 255), (214, 190, 180), (170, 160, 160), (235, 205, 180))
ACCENT_COLOURS: Final[tuple[Colour, ...]] = (
    (140, 42, 40),
    (36, 72, 60),
    (38, 60, 104),
    (96, 66, 44),
    (60, 60, 64),
    (190, 140, 50),
)
BALCONY_COLOURS: Final[tuple[Colour, ...]] = ((230, 232, 232), (150, 172, 186), (206, 150, 96), (126, 140, 120))


def house_colours(generator: np.random.Generator) -> list[Colour]:
    """A palette for a house: walls, trim, roof, doors and shops, balconies."""
    choices = (WALL_COLOURS, TRIM_COLOURS, ROOF_COLOURS, ACCENT_COLOURS, BALCONY_COLOURS)
    return [colours[int(generator.integers(len(colours)))] for colours in choices]


@dataclass(slots=True)
class _Side:
    facade: Facade
    rows: list[list[Opening]] = field(default_factory=list)
    panes: list[Colour] = field(default_factory=list)

    @property
    def openings(self) -> list[tuple[Opening, Colour]]:
        return list(zip([hole for row in self.rows for hole in row], self.panes, strict=True))


def house_shape(
    generator: np.random.Generator, width: float, depth: float, floors: int, style: str, *, blind: Sequence[str] = ()
) -> Shape:
    """Centred on the origin; style is one of STYLES; blind: "left" (-y) and "right" (+y) sides against neighbours."""
    if style not in STYLES:
        raise ScenarioError(f"'{style}' is no style of house; the styles are {', '.join(STYLES)}")
    levels = [0.0] + [GROUND_FLOOR[style] + UPPER_FLOOR[style] * k for k in range(floors)]
    flat = style in ("block", "plain") or (style == "town" and generator.random() < 0.3)
    top = levels[-1] + (0.15 + PARAPET if flat else 0.25)
    wall = _wall_paint(generator, style)
    sides = _sides(width, depth)
    for k, side in enumerate(sides):
        if SIDES[k] in blind:
            continue
        side.rows = _rows(generator, style, side.facade.width, levels, front=k == 0)
        n = sum(len(row) for row in side.rows)
        side.panes = [PANES[i] for i in generator.integers(len(PANES), size=n)]
    pitch = float(generator.uniform(0.6, 0.85)) if style == "town" else float(generator.uniform(0.45, 0.6))
    if flat:
        roof = flat_roof(generator, width, depth, top, wall)
    elif style == "villa" and generator.random() < 0.6:
        roof = hip_roof(width, depth, top, pitch)
    else:
        left, right = (0.0 if side in blind else 0.1 for side in ("left", "right"))
        roof = gable_roof(width, depth, top, pitch, wall, verges=(left, right))
    near, middle = Panels(), Panels()
    _front_details(near, middle, generator, sides[0], style, levels, flat)
    if not flat:
        _roof_details(near, middle, generator, roof, width, depth)
    lods = (
        _near(near, sides, wall, roof, top),
        _middle(middle, sides, wall, roof, top),
        _far(sides, wall, roof, top, levels),
    )
    return Shape(f"{style} house", lods, (MIDDLE_RANGE, FAR_RANGE))


def _wall_paint(generator: np.random.Generator, style: str) -> Paint:
    materials = {"town": ("plaster", "brick"), "villa": ("plaster", "brick"), "block": ("cement", "plaster")}
    choice = materials.get(style, ("plaster",))
    material = choice[int(generator.integers(len(choice)))]
    return Paint(material, (255, 255, 255), 1)


def _sides(width: float, depth: float) -> list[_Side]:
    """Front, right, back and left."""
    a, b = 0.5 * depth, 0.5 * width
    return [
        _Side(Facade((a, -b), (0.0, 1.0), width)),
        _Side(Facade((a, b), (-1.0, 0.0), depth)),
        _Side(Facade((-a, b), (0.0, -1.0), width)),
        _Side(Facade((-a, -b), (1.0, 0.0), depth)),
    ]


def _rows(
    generator: np.random.Generator, style: str, length: float, levels: list[float], *, front: bool
) -> list[list[Opening]]:
    """The openings of each floor."""
    pitch, size, sill, kind = {
        "town": (2.3, (1.1, 1.65), 0.85, "crowned"),
        "villa": (2.9, (1.15, 1.35), 0.9, "shuttered"),
        "block": (3.0, (1.5, 1.4), 0.9, "window"),
        "plain": (2.6, (2.0, 1.5), 0.95, "ribbon"),
    }[style]
    n = max(1, int((length - 0.6) / pitch))
    middles = length / n * (np.arange(n) + 0.5)
    rows = []
    for floor, level in enumerate(levels[:-1]):
        if floor == 0 and front:
            rows.append(_ground_floor(generator, style, length, middles, size, sill))
            continue
        row = []
        for k, s in enumerate(float(m) for m in middles):
            if style == "block" and front and floor > 0 and k % 2 == 0:
                row.append(Opening(s - 0.8, s + 0.8, level + 0.1, level + 2.25, "balcony"))
            else:
                row.append(Opening(s - 0.5 * size[0], s + 0.5 * size[0], level + sill, level + sill + size[1], kind))
        rows.append(row)
    return rows


def _ground_floor(
    generator: np.random.Generator,
    style: str,
    length: float,
    middles: np.ndarray,
    size: tuple[float, float],
    sill: float,
) -> list[Opening]:
    """A door, and windows or shops beside it."""
    n = len(middles)
    if style == "town":
        # the door at one end, shop windows along the rest
        left = bool(generator.integers(2))
        rest = (1.9, length - 0.4) if left else (0.4, length - 1.9)
        shops = max(1, round((rest[1] - rest[0]) / 3.0))
        step = (rest[1] - rest[0]) / shops
        row = [
            Opening(rest[0] + step * k + 0.1, rest[0] + step * (k + 1) - 0.1, 0.45, 2.75, "shop") for k in range(shops)
        ]
        s = 0.5 if left else length - 1.5
        row.append(Opening(s, s + 1.0, 0.15, 2.7, "door"))
        return sorted(row, key=lambda hole: hole.s0)
    kind = "shuttered" if style == "villa" else "ribbon" if style == "plain" else "window"
    door = n // 2
    row = []
    for k, s in enumerate(float(m) for m in middles):
        if k == door:
            row.append(Opening(s - 0.55, s + 0.55, 0.15, 2.4, "door"))
        else:
            row.append(Opening(s - 0.5 * size[0], s + 0.5 * size[0], sill, sill + size[1], kind))
    return row


def _front_details(
    near: Panels,
    middle: Panels,
    generator: np.random.Generator,
    side: _Side,
    style: str,
    levels: list[float],
    flat: bool,
) -> None:
    """Parts that stand out from the front; the large ones also at the middle detail."""
    facade = side.facade
    door = next(hole for hole in side.rows[0] if hole.kind == "door")
    if style == "town":
        shops = [hole for hole in side.rows[0] if hole.kind == "shop"]
        _shop_front(near, middle, generator, facade, (shops[0].s0, shops[-1].s1))
        whole = (0.0, facade.width)
        for panels in (near, middle):
            facade.block(panels, whole, (levels[1] - 0.2, levels[1] + 0.02), (0.0, 0.1), TRIM)
            if flat:
                facade.block(panels, whole, (levels[-1] - 0.15, levels[-1] + 0.1), (0.0, 0.3), TRIM)
                facade.block(panels, whole, (levels[-1] - 0.35, levels[-1] - 0.15), (0.0, 0.15), TRIM)
    elif style == "villa":
        _porch(near, facade, door, posts=True)
        _porch(middle, facade, door, posts=False)
    else:
        for panels in (near, middle):
            canopy = Paint("cement", (220, 220, 216))
            facade.block(panels, (door.s0 - 0.5, door.s1 + 0.5), (2.55, 2.7), (0.0, 1.3), canopy)


def _shop_front(
    near: Panels, middle: Panels, generator: np.random.Generator, facade: Facade, s: tuple[float, float]
) -> None:
    """The name board with its letters, and often an awning."""
    for panels in (near, middle):
        facade.block(panels, s, (2.85, 3.35), (0.0, 0.12), SHOP_FRAME)
    name = SHOPS[int(generator.integers(len(SHOPS)))]
    middle_s, height = 0.5 * (s[0] + s[1]), min(0.3, (s[1] - s[0]) / len(name))
    for left, low, right, high in strokes(name, height):
        letters = Paint("plastic", (245, 238, 215))
        facade.rectangle(near, (middle_s + left, middle_s + right), (3.1 + low, 3.1 + high), 0.14, letters)
    if generator.random() < 0.6:
        for panels in (near, middle):
            _awning(panels, facade, s)


def _awning(panels: Panels, facade: Facade, s: tuple[float, float]) -> None:
    """A striped cloth with a hanging edge."""
    n = max(2, int((s[1] - s[0]) / 0.5))
    edges = np.linspace(s[0], s[1], n + 1)
    for k, (a, b) in enumerate(pairwise(edges)):
        paint = Paint("cloth", (250, 246, 236)) if k % 2 else Paint("cloth", (255, 255, 255), 4)
        panels.quad(
            facade.at(a, 1.3, 2.45), facade.at(b, 1.3, 2.45), facade.at(b, 0.0, 2.83), facade.at(a, 0.0, 2.83), paint
        )
        facade.rectangle(panels, (a, b), (2.27, 2.45), 1.3, paint)


def _porch(panels: Panels, facade: Facade, door: Opening, *, posts: bool) -> None:
    s0, s1, at = door.s0 - 0.6, door.s1 + 0.6, facade.at
    facade.block(panels, (s0, s1), (2.55, 2.75), (0.0, 1.5), TRIM)
    a, b = s0 - 0.1, s1 + 0.1
    panels.quad(at(a, 1.6, 2.76), at(b, 1.6, 2.76), at(b, 0.0, 3.0), at(a, 0.0, 3.0), TILES)
    for s in (s0 + 0.05, s1 - 0.2) if posts else ():
        facade.block(panels, (s, s + 0.15), (0.0, 2.55), (1.25, 1.4), TRIM, without="")


def _roof_details(
    near: Panels, middle: Panels, generator: np.random.Generator, roof: Roof, width: float, depth: float
) -> None:
    x, y = (float(v) for v in generator.choice([-1.0, 1.0], 2) * (0.12 * depth, 0.5 * width - 1.2))
    y = y if roof.pitch else 0.0
    for panels in (near, middle):
        chimney(panels, x, y, (roof.top - 0.1 * depth - 1.0, roof.top + 0.7))
    if not roof.pitch:
        return
    for side in (-1, 1):
        for y in np.linspace(-0.3, 0.3, 2 if width < 9 else 3) * width:
            if generator.random() < 0.6:
                x = 0.28 * depth
                skylight(near, (side * x, float(y), roof.top - roof.pitch * x), roof.pitch, side=side)


def _near(panels: Panels, sides: list[_Side], wall: Paint, roof: Roof, top: float) -> Mesh:
    for side in sides:
        wall_with_openings(panels, side.facade, side.rows, (0.0, top), wall)
        for hole, pane in side.openings:
            fill_opening(panels, side.facade, hole, pane)
    _bottom(panels, sides, wall)
    roof.build(panels, True)
    return merged([panels.mesh(), *roof.extras])


def _middle(panels: Panels, sides: list[_Side], wall: Paint, roof: Roof, top: float) -> Mesh:
    for side in sides:
        side.facade.rectangle(panels, (0.0, side.facade.width), (0.0, top), 0.0, wall)
        for hole, pane in side.openings:
            flat_opening(panels, side.facade, hole, pane, LIFT)
    _bottom(panels, sides, wall)
    roof.build(panels, True)
    return panels.mesh()


def _far(sides: list[_Side], wall: Paint, roof: Roof, top: float, levels: list[float]) -> Mesh:
    panels = Panels()
    # the mean colour of windows and the wall between them
    band = Paint(wall.material, (182, 184, 188), 1)
    for side in sides:
        side.facade.rectangle(panels, (0.0, side.facade.width), (0.0, top), 0.0, wall)
        for level in levels[:-1] if side.rows else ():
            s = (0.08 * side.facade.width, 0.92 * side.facade.width)
            side.facade.rectangle(panels, s, (level + 0.9, level + 2.4), FAR_LIFT, band)
    roof.build(panels, False)
    return panels.mesh()


def _bottom(panels: Panels, sides: list[_Side], wall: Paint) -> None:
    a, b, c, d = (side.facade.at(0.0, 0.0, 0.0) for side in sides)
    panels.quad(d, c, b, a, wall)
