"""A plain-walled training ground: streets between tall blocks in which the straight way is shut and others are not.

At 10 m height, at least two routes without a common crossing lead from (0, 0) to (70, 60) through streets of 7 m and
more. Other streets are blocked somewhere, and courts open on one side only.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from skyloop.world.generation import generator
from skyloop.world.ground import Ground, place_terrain
from skyloop.world.materials import MATERIAL_ID
from skyloop.world.mesh import Colour, Mesh
from skyloop.world.model import Model, Shape
from skyloop.world.scenery.panels import Paint, Panels

GOAL: Final = (70.0, 60.0)
CROSSINGS: Final = 4
"""Crossings along each axis; the first is at (0, 0), the last at GOAL."""
STREET: Final = (7.0, 9.0)
"""m, narrowest and widest."""
HEIGHT: Final = (12.5, 25.0)
OUTER: Final = 16.0
"""m from the outermost streets' edges to the boundary wall."""
FLOOR: Final = 3.4
"""m between the string courses along the walls."""
SHADES: Final[tuple[Colour, ...]] = (
    (248, 240, 222),
    (236, 214, 176),
    (232, 206, 192),
    (206, 218, 226),
    (226, 226, 220),
)

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1."""
Node = tuple[int, int]


class UrbanWalls:
    def __init__(self, seed: int, *, randomise: frozenset[str] = frozenset()) -> None:
        self.model = Model()
        self._chance = generator(seed, "urban-walls")
        # a separate generator, so that randomising looks moves nothing
        self._looks = generator(seed, "urban-walls/looks")
        self._randomise = randomise
        self._lines = [self._streets(goal) for goal in GOAL]
        """For x and y: (n, 2) m, low and high edge of each street."""
        (x0, x1), (y0, y1) = ((line[0, 0] - OUTER, line[-1, 1] + OUTER) for line in self._lines)
        self.ground = Ground(np.zeros((2, 2)), (float(x0), float(y0)), float(max(x1 - x0, y1 - y0)))
        asphalt, grass = MATERIAL_ID["asphalt"], MATERIAL_ID["grass"]
        inside = (float(x0), float(y0), float(x1), float(y1))
        place_terrain(self.model, self.ground, lambda x, y: np.where(_within(inside, x, y), asphalt, grass))
        self._place_boundary(inside)
        self._place_blocks(inside)
        self._place_bars()

    def _streets(self, goal: float) -> NDArray[np.float64]:
        middles = np.linspace(0.0, goal, CROSSINGS)
        middles[1:-1] += self._chance.uniform(-2.0, 2.0, CROSSINGS - 2)
        widths = self._chance.uniform(*STREET, CROSSINGS)
        return np.stack([middles - 0.5 * widths, middles + 0.5 * widths], axis=1)

    def _lots(self, axis: int, inside: Box) -> NDArray[np.float64]:
        """(n, 2) m, the lots between the streets, from boundary to boundary."""
        edges = np.concatenate([[inside[axis]], self._lines[axis].ravel(), [inside[axis + 2]]])
        return edges.reshape(-1, 2)

    def _place_blocks(self, inside: Box) -> None:
        """A building on every lot; those at the boundary open their courts towards the streets."""
        columns, rows = self._lots(0, inside), self._lots(1, inside)
        last = CROSSINGS
        for i, (x0, x1) in enumerate(columns):
            for j, (y0, y1) in enumerate(rows):
                lot = (float(x0), float(y0), float(x1), float(y1))
                # towards the inside: +x from the left column, and so on; corner lots have no court
                inward = {(0, 1): "+x", (last, 1): "-x", (1, 0): "+y", (1, last): "-y"}
                edge = (i if i in (0, last) else 1, j if j in (0, last) else 1)
                corner = i in (0, last) and j in (0, last)
                if corner:
                    self._place(f"building {i}{j}", [lot])
                    continue
                opening = inward.get(edge) or str(self._chance.choice(["+x", "-x", "+y", "-y"]))
                inner = edge == (1, 1)
                form = self._chance.choice(["box", "ell", "court"], p=(0.5, 0.3, 0.2) if inner else (0.5, 0.0, 0.5))
                if (i, j) in ((0, 2), (2, last)):
                    form = "court"
                self._place(f"building {i}{j}", _parts(str(form), lot, opening))

    def _place_bars(self) -> None:
        """Buildings across the streets that no route needs."""
        kept = _two_routes(self._chance)
        for i in range(CROSSINGS):
            for j in range(CROSSINGS):
                for axis, end in ((0, (i + 1, j)), (1, (i, j + 1))):
                    open_street = frozenset(((i, j), end)) in kept or self._chance.random() < 0.25
                    if max(end) < CROSSINGS and not open_street:
                        self._place(f"bar {i}{j}{'xy'[axis]}", [self._bar((i, j), axis)])

    def _bar(self, start: Node, axis: int) -> Box:
        """A building over two fifths of the street from crossing `start` along `axis`, at one end of it."""
        along, across = self._lines[axis], self._lines[1 - axis][start[1 - axis]]
        low, high = along[start[axis], 1], along[start[axis] + 1, 0]
        length = 0.4 * (high - low)
        first = low if self._chance.random() < 0.5 else high - length
        span, width = (float(first), float(first + length)), (float(across[0]), float(across[1]))
        return (span[0], width[0], span[1], width[1]) if axis == 0 else (width[0], span[0], width[1], span[1])

    def _place(self, name: str, parts: list[Box]) -> None:
        height = float(self._chance.uniform(*HEIGHT))
        # the parts differ in height, so that no two faces share a plane
        heights = [max(height - 0.7 * k, HEIGHT[0] - 0.3 * k) for k in range(len(parts))]
        material = str(self._chance.choice(["plaster", "cement"]))
        middle = np.array([0.5 * (parts[0][0] + parts[0][2]), 0.5 * (parts[0][1] + parts[0][3]), 0.0])
        mesh = _building(parts, heights, Paint(material, (255, 255, 255), 1)).moved(-middle)
        shade = SHADES[int(self._chance.integers(len(SHADES)))]
        if "colours" in self._randomise:
            r, g, b = (int(v) for v in self._looks.integers(120, 256, 3))
            shade = (r, g, b)
        variant = int(self._looks.integers(3)) if "textures" in self._randomise else 0
        shape = Shape(name, (mesh,))
        self.model.place(shape, middle, is_a="building", name=name, palette=[shade], variant=variant)

    def _place_boundary(self, inside: Box) -> None:
        x0, y0, x1, y1 = inside
        t, height, paint = 0.5, 14.0, Paint("cement", (225, 225, 222))
        sides = ((x0 - t, y0 - t, x1 + t, y0), (x0 - t, y1, x1 + t, y1 + t), (x0 - t, y0, x0, y1), (x1, y0, x1 + t, y1))
        for k, (a, b, c, d) in enumerate(sides):
            panels = Panels()
            panels.box((a, b, 0.0), (c, d, height), paint, without=("-z",))
            self.model.place(Shape("boundary", (panels.mesh(),)), is_a="wall", name=f"boundary wall {k}")


def _within(box: Box, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    return (x > box[0]) & (x < box[2]) & (y > box[1]) & (y < box[3])


def _parts(form: str, lot: Box, opening: str) -> list[Box]:
    """A lot as one box, as an L, or as a U whose court opens on one side; the boxes touch and never overlap."""
    x0, y0, x1, y1 = lot
    if form == "box":
        return [lot]
    if form == "ell":
        x, y = 0.5 * (x0 + x1), 0.5 * (y0 + y1)
        return [(x0, y0, x1, y), (x0, y, x, y1)] if opening[0] == "+" else [(x0, y, x1, y1), (x, y0, x1, y)]
    # the court: as wide as the walls beside it allow, and two thirds of the lot deep
    axis = "xy".index(opening[1])
    low, high = np.array(lot[:2]), np.array(lot[2:])
    size = high - low
    side = 1 - axis
    court = max(5.5, size[side] - 7.0)
    wall = 0.5 * (size[side] - court)
    deep = 0.35 * size[axis]
    back_low, back_high = low.copy(), high.copy()
    if opening[0] == "+":
        back_high[axis] = low[axis] + deep
    else:
        back_low[axis] = high[axis] - deep
    boxes = [(*back_low, *back_high)]
    for near, far in ((low[side], low[side] + wall), (high[side] - wall, high[side])):
        wing_low, wing_high = low.copy(), high.copy()
        wing_low[side], wing_high[side] = near, far
        if opening[0] == "+":
            wing_low[axis] = back_high[axis]
        else:
            wing_high[axis] = back_low[axis]
        boxes.append((*wing_low, *wing_high))
    return [(float(a), float(b), float(c), float(d)) for a, b, c, d in boxes]


def _building(parts: list[Box], heights: list[float], wall: Paint) -> Mesh:
    """Plain walls on a darker base with a thin string course at every floor, and a flat roof inside a lip."""
    panels = Panels()
    stone, foot = Paint("cement", (205, 205, 202)), Paint(wall.material, (185, 182, 180), 1)
    for (x0, y0, x1, y1), height in zip(parts, heights, strict=True):
        panels.box((x0, y0, 0.6), (x1, y1, height), wall, without=("-z", "+z"))
        panels.box((x0, y0, 0.0), (x1, y1, 0.6), foot, without=("+z",))
        for z in np.arange(FLOOR, height - 1.5, FLOOR):
            panels.box((x0 - 0.05, y0 - 0.05, z), (x1 + 0.05, y1 + 0.05, z + 0.15), stone, without=("-z",))
        panels.floor((x0, y0), (x1, y1), height, Paint("gravel", (200, 200, 198)))
        a, b, c, d, top = x0 - 0.12, y0 - 0.12, x1 + 0.12, y1 + 0.12, height + 0.35
        for low, high in (((a, b), (c, y0 + 0.2)), ((a, y1 - 0.2), (c, d))):
            panels.box((*low, height), (*high, top), stone)
        for low, high in (((a, y0 + 0.2), (x0 + 0.2, y1 - 0.2)), ((x1 - 0.2, y0 + 0.2), (c, y1 - 0.2))):
            panels.box((*low, height), (*high, top), stone, without=("-y", "+y"))
    return panels.mesh()


def _two_routes(chance: np.random.Generator) -> set[frozenset[Node]]:
    """The streets of two routes from the first to the last crossing that share no other crossing."""
    last = CROSSINGS - 1
    while True:
        ways = [_way(chance, (1, 0), (last, last - 1)), _way(chance, (0, 1), (last - 1, last))]
        if not set(ways[0]) & set(ways[1]):
            break
    streets = set()
    for way in ways:
        whole = [(0, 0), *way, (last, last)]
        streets |= {frozenset(pair) for pair in pairwise(whole)}
    return streets


def _way(chance: np.random.Generator, start: Node, end: Node) -> list[Node]:
    """A random shortest route over the crossings."""
    steps = chance.permutation([0] * (end[0] - start[0]) + [1] * (end[1] - start[1]))
    way = [start]
    for axis in steps:
        i, j = way[-1]
        way.append((i + 1, j) if axis == 0 else (i, j + 1))
    return way
