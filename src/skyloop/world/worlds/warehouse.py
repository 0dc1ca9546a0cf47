"""A warehouse of 60 by 40 by 9 m: racks of pallets, forklifts, goods on the floor, a few people; (0, 0) is a crossing.

The hall's shell casts no shadow: the renderer has sun and sky as its only lights, and they replace the lamps.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Final

import numpy as np

from skyloop.world.generation import generator
from skyloop.world.ground import Ground
from skyloop.world.lamps import Lamp
from skyloop.world.mesh import Colour
from skyloop.world.model import Model, Shape
from skyloop.world.scenery.actors.indoor_walks import Area, add_walkers
from skyloop.world.scenery.actors.paths import MoverPath
from skyloop.world.scenery.actors.people import add_stander, add_walker
from skyloop.world.scenery.interiors import place_floor, place_plain
from skyloop.world.scenery.panels import Paint, Panels
from skyloop.world.scenery.warehouse_equipment import (
    BAY,
    CARTON_COLOURS,
    COLOURS,
    DRUM_COLOURS,
    LEVELS,
    PALLET,
    SLOTS,
    DrivingForklift,
    Load,
    barrel_shape,
    forklift_shape,
    guard_shape,
    packing_table_shape,
    pallet_loads,
    pallet_shape,
    rack_bay_shape,
)
from skyloop_client.errors import ScenarioError

HALF_X, HALF_Y, HEIGHT = 30.0, 20.0, 9.0
"""m, inside."""
WALL: Final = 0.3
PLINTH: Final = 2.4
"""m, height of the concrete part of the walls."""
FRAME: Final = 6.0
"""m between the steel frames."""
GATES: Final = (-8.0, 0.0, 8.0)
"""m along the +x wall, the middles of the gates."""
GATE: Final = (4.0, 4.5)
"""m wide and high."""

CONCRETE, SHEET = Paint("cement", (186, 196, 204)), Paint("metal", (226, 232, 236))
RIB: Final = Paint("metal", (196, 206, 214))
STEEL: Final = Paint("metal", (190, 196, 202))
GLASS: Final = Paint("glass", (215, 232, 240))
LIGHT: Final = Paint("plastic", (255, 252, 238))


def place_hall(model: Model, variant: int = 0) -> None:
    rim = WALL - 0.05
    area = (-HALF_X - rim, -HALF_Y - rim, HALF_X + rim, HALF_Y + rim)
    place_floor(model, area, material="cement", colour=(196, 196, 192), variant=variant)
    place_plain(model, area, material="asphalt")
    for k, panels in enumerate(_walls()):
        _shell(model, panels, "wall", f"wall {k + 1}")
    _shell(model, _roof(), "ceiling", "roof")
    _shell(model, _frames(), "ceiling", "steel frames")
    for k, y in enumerate(GATES):
        _shell(model, _gate(y), "door", f"gate {k + 1}")
    _shell(model, _side_door(), "door", "door 1")
    lamp = Panels()
    lamp.box((-0.75, -0.14, 0.0), (0.75, 0.14, 0.1), Paint("metal", (240, 240, 240)))
    lamp.box((-0.7, -0.1, -0.03), (0.7, 0.1, 0.0), LIGHT, without=("+z",))
    lamp.box((-0.02, -0.02, 0.1), (0.02, 0.02, 1.1), STEEL, without=("-z", "+z"))
    shine = Lamp((0.0, 0.0, -0.05), 0.75, (1.0, 0.95, 0.86))
    shape = Shape("hall lamp", (lamp.mesh(),), casts_shadow=False, lamp=shine)
    places = [(x, y) for x in np.arange(-24.0, 25.0, 12.0) for y in (-15.7, -9.6, 0.0, 9.6, 15.7)]
    for k, (x, y) in enumerate(places):
        model.place(shape, (x, y, HEIGHT - 1.1), is_a="lamp", name=f"hall lamp {k + 1}")


def _shell(model: Model, panels: Panels, is_a: str, name: str) -> None:
    model.place(Shape(name, (panels.mesh(),), casts_shadow=False), is_a=is_a, name=name)


def _walls() -> list[Panels]:
    """Four boxes, plinth below and sheet above, with upright ribs on both faces of the sheet."""
    x, y, t = HALF_X, HALF_Y, WALL
    outlines = ((x, -y - t, x + t, y + t), (-x - t, -y - t, -x, y + t), (-x, y, x, y + t), (-x, -y - t, x, -y))
    walls = []
    for x0, y0, x1, y1 in outlines:
        panels = Panels()
        panels.box((x0, y0, 0.0), (x1, y1, PLINTH), CONCRETE, without=("-z", "+z"))
        panels.box((x0, y0, PLINTH), (x1, y1, HEIGHT), SHEET, without=("-z", "+z"))
        along_x = x1 - x0 > y1 - y0
        low, high = (x0, x1) if along_x else (y0, y1)
        for s in np.arange(low + 0.5, high - 0.3, 1.0):
            for face, way in ((y0 if along_x else x0, -1.0), (y1 if along_x else x1, 1.0)):
                a, b = sorted((face, face + 0.08 * way))
                hidden = ("-z", "+y" if way < 0 else "-y") if along_x else ("-z", "+x" if way < 0 else "-x")
                corners = ((s, a), (s + 0.25, b)) if along_x else ((a, s), (b, s + 0.25))
                panels.box((*corners[0], PLINTH + 0.1), (*corners[1], HEIGHT), RIB, without=(*hidden, "+z"))
        walls.append(panels)
    return walls


def _roof() -> Panels:
    """Strips across the hall: sheet, and glass between the frames."""
    panels = Panels()
    x, y = HALF_X + WALL + 0.2, HALF_Y + WALL + 0.2
    cuts = [-x, *(v + off for v in np.arange(-27.0, 28.0, FRAME) for off in (-0.9, 0.9)), x]
    for k, (x0, x1) in enumerate(pairwise(cuts)):
        paint = GLASS if k % 2 else SHEET
        panels.floor((x0, -y), (x1, y), HEIGHT + 0.15, paint)
        panels.quad((x0, y, HEIGHT), (x1, y, HEIGHT), (x1, -y, HEIGHT), (x0, -y, HEIGHT), paint)
    for (x0, y0), (x1, y1) in (((-x, -y), (x, -y)), ((x, -y), (x, y)), ((x, y), (-x, y)), ((-x, y), (-x, -y))):
        low, high = HEIGHT, HEIGHT + 0.15
        panels.quad((x0, y0, low), (x1, y1, low), (x1, y1, high), (x0, y0, high), SHEET)
    return panels


def _frames() -> Panels:
    """Columns along the walls, girders across, purlins along the hall."""
    panels = Panels()
    for x in np.arange(-HALF_X + FRAME, HALF_X - 0.1, FRAME):
        for y in (-HALF_Y, HALF_Y - 0.4):
            panels.box((x - 0.15, y, 0.0), (x + 0.15, y + 0.4, 8.2), STEEL, without=("-z", "+z"))
            band = Paint("paint", (240, 195, 30))
            panels.box((x - 0.17, y - 0.02, 0.1), (x + 0.17, y + 0.42, 1.2), band, without=("-z",))
        panels.box((x - 0.12, -HALF_Y, 8.2), (x + 0.12, HALF_Y, 8.75), STEEL, without=("-y", "+y"))
    for y in (-16.0, -12.0, -8.0, -4.0, 0.0, 4.0, 8.0, 12.0, 16.0):
        panels.box((-HALF_X, y - 0.06, 8.75), (HALF_X, y + 0.06, 8.95), STEEL, without=("-x", "+x"))
    return panels


def _gate(y: float) -> Panels:
    """A roller gate in front of the wall: slats between yellow and black posts."""
    panels = Panels()
    wide, high = 0.5 * GATE[0], GATE[1]
    # in front of the wall's ribs
    front = HALF_X - 0.12
    for k in range(15):
        z = 0.3 * k
        panels.box((front, y - wide, z + 0.02), (HALF_X - 0.05, y + wide, z + 0.28), Paint("metal", (150, 175, 200)))
    panels.box((HALF_X - 0.05, y - wide, 0.0), (HALF_X - 0.045, y + wide, high), Paint("metal", (90, 100, 110)))
    for side in (-1.0, 1.0):
        low, far = sorted((y + side * wide, y + side * (wide + 0.25)))
        for k in range(9):
            paint = Paint("paint", (240, 195, 30)) if k % 2 else Paint("paint", (30, 30, 30))
            panels.box((HALF_X - 0.15, low, 0.5 * k), (HALF_X, far, 0.5 * k + 0.5), paint, without=("-z", "+z", "+x"))
    panels.box((HALF_X - 0.35, y - wide - 0.25, high), (HALF_X, y + wide + 0.25, high + 0.45), STEEL)
    for k in range(1 + round((y - GATES[0]) / 8.0)):
        # the number of dots is the gate's number
        panels.box(
            (HALF_X - 0.1, y - 0.6 + 0.5 * k, 5.3),
            (HALF_X - 0.05, y - 0.3 + 0.5 * k, 5.6),
            Paint("plastic", (30, 70, 150)),
        )
    return panels


def _side_door() -> Panels:
    """A door for people in the -x wall, with a green sign over it."""
    panels = Panels()
    x = -HALF_X
    panels.box((x, -0.6, 0.0), (x + 0.08, -0.5, 2.2), STEEL, without=("-x", "-z"))
    panels.box((x, 0.5, 0.0), (x + 0.08, 0.6, 2.2), STEEL, without=("-x", "-z"))
    panels.box((x, -0.6, 2.2), (x + 0.08, 0.6, 2.3), STEEL, without=("-x",))
    panels.box((x, -0.5, 0.0), (x + 0.04, 0.5, 2.2), Paint("metal", (70, 110, 150)), without=("-x", "-z"))
    panels.box((x + 0.04, 0.3, 1.0), (x + 0.1, 0.42, 1.06), Paint("metal", (210, 210, 210)))
    panels.box((x, -0.4, 2.45), (x + 0.1, 0.4, 2.75), Paint("plastic", (30, 150, 80)), without=("-x",))
    panels.box((x + 0.1, -0.25, 2.53), (x + 0.115, 0.1, 2.67), Paint("plastic", (240, 250, 240)), without=("-x",))
    return panels


ROWS: Final = (5.95, 7.25, 11.95, 13.25, 18.15)
"""m from the middle aisle to the middles of the racks; the first four stand back to back in pairs."""
RUNS: Final = ((-24.4, 7), (4.6, 6))
"""m along x where racks begin, and their number of bays."""
AISLES: Final = (9.6, 15.7)
"""m, the middles of the aisles between them."""
GOODS: Final = ((25.5, 10.0), (25.5, 12.0), (27.6, 10.0), (27.6, 12.0), (25.5, -10.0), (27.6, -12.0), (27.6, -10.0))
"""Positions of pallets on the floor."""
STANDING: Final = ((-26.9, 6.5), (26.5, -6.5), (-26.9, -12.0), (23.0, 7.0), (-26.9, 12.0), (0.4, 17.0), (-0.5, -17.0))
"""Positions of people who stand."""
YELLOW: Final = Paint("paint", (240, 195, 30))
LINE_LIFT: Final = 0.02

Place = tuple[float, float]

MOST_PEOPLE = 60


class Warehouse:
    def __init__(
        self,
        seed: int,
        *,
        people: int = 3,
        fill: float = 0.7,
        walkers: int = 0,
        randomise: frozenset[str] = frozenset(),
    ) -> None:
        """people: The number of people who stand or walk.
        fill: The share of the racks' places that are taken.
        walkers: The number of further people who walk to and fro, 0 to 12.
        """
        if not 0 <= people <= MOST_PEOPLE or not 0.0 <= fill <= 1.0:
            raise ScenarioError(
                f"world 'warehouse': people is {people}, fill {fill}; give 0 to {MOST_PEOPLE} people, fill 0 to 1"
            )
        self.ground = Ground(np.zeros((2, 2)), (-50.0, -50.0), 100.0)
        self.model = Model()
        self._seed, self._randomise = seed, randomise
        self._count: Counter[str] = Counter()
        self._looks = generator(seed, "warehouse/looks")
        # a separate generator, so that randomising looks moves nothing
        self._any_looks = generator(seed, "warehouse/any looks")
        place_hall(self.model, self._variant())
        self._mark_floor()
        self._pallet, self._loads = pallet_shape(), pallet_loads(self._looks)
        self._place_racks(fill)
        self._place_goods()
        self._place_forklifts()
        chance = generator(seed, "warehouse/people")
        if "people" in randomise:
            people = int(chance.integers(people // 2, 2 * people + 1))
        self._add_people(people, chance)
        inside = Area(-30.0, -20.0, 30.0, 20.0)
        add_walkers(self.model, self.ground, walkers, inside, seed=seed, world="warehouse", randomise=randomise)

    def _variant(self) -> int:
        return int(self._any_looks.integers(3)) if "textures" in self._randomise else 0

    def _colour(self, colours: tuple[Colour, ...]) -> Colour:
        usual = colours[int(self._looks.integers(len(colours)))]
        if "colours" not in self._randomise:
            return usual
        r, g, b = (int(v) for v in self._any_looks.integers(60, 256, 3))
        return (r, g, b)

    def _put(
        self,
        shape: Shape,
        xy: Place,
        is_a: str,
        *,
        z: float = 0.0,
        yaw: float = 0.0,
        colour: Colour | None = None,
        kind: str = "",
    ) -> None:
        self._count[kind or is_a] += 1
        name = f"{kind or is_a} {self._count[kind or is_a]}"
        palette = [colour] if colour else []
        self.model.place(shape, (*xy, z), yaw=yaw, is_a=is_a, name=name, palette=palette, variant=self._variant())

    def _load(self, chance: np.random.Generator, xy: Place, z: float, *, yaw: float = 0.0, empty: float = 0.08) -> None:
        """A pallet, usually with a load."""
        self._put(self._pallet, xy, "pallet", z=z, yaw=yaw)
        if chance.random() > empty:
            load: Load = self._loads[int(chance.integers(len(self._loads)))]
            self._put(load.shape, xy, load.is_a, z=z + PALLET[2], yaw=yaw, colour=self._colour(load.colours))

    def _place_racks(self, fill: float) -> None:
        chance = generator(self._seed, "warehouse/racks")
        bay, end, guard = rack_bay_shape(), rack_bay_shape(ends=True), guard_shape()
        for side in (-1.0, 1.0):
            for row in ROWS:
                for start, bays in RUNS:
                    for k in range(bays):
                        self._put(bay, (start + BAY * k, side * row), "shelf")
                        for level in LEVELS:
                            for slot in SLOTS:
                                if chance.random() < fill:
                                    x, y = chance.uniform((-0.03, -0.04), (0.03, 0.04))
                                    self._load(chance, (start + BAY * k + slot + x, side * row + y), level)
                    self._put(end, (start + BAY * bays, side * row), "shelf", kind="shelf end")
                    for x in (start - 0.4, start + BAY * bays + 0.4):
                        self._put(guard, (x, side * row), "object", kind="guard post")

    def _place_goods(self) -> None:
        """Goods on the floor near the gates: pallets, a stack of empty ones, barrels, packing tables."""
        chance = generator(self._seed, "warehouse/goods")
        for xy in GOODS:
            turn = float(chance.choice([0.0, 0.5 * np.pi])) + float(chance.normal(0.0, 0.04))
            self._load(chance, xy, 0.0, yaw=turn)
        for k in range(int(chance.integers(4, 9))):
            turn = float(chance.normal(0.0, 0.02))
            self._put(self._pallet, (27.5, 15.5), "pallet", z=k * PALLET[2], yaw=turn)
        barrel = barrel_shape()
        for k in range(int(chance.integers(5, 10))):
            xy = (24.6 + 0.66 * (k % 3), -15.0 - 0.66 * (k // 3))
            self._put(barrel, xy, "barrel", colour=self._colour(DRUM_COLOURS))
        table = packing_table_shape()
        for y in (-12.0, -6.5, 6.5, 12.0):
            colour = self._colour(CARTON_COLOURS)
            self._put(table, (-28.2, y), "furniture", yaw=np.pi, kind="packing table", colour=colour)

    def _place_forklifts(self) -> None:
        chance = generator(self._seed, "warehouse/forklifts")
        for xy, yaw in (((26.8, 3.0), 2.9), ((-26.3, -15.6), 0.4)):
            shape = forklift_shape(lift=float(chance.choice([0.12, 0.6])))
            self._put(shape, xy, "forklift", yaw=yaw, colour=self._colour(COLOURS))
        # around the second pair of rows behind the crossing
        side = float(chance.choice([-1.0, 1.0]))
        corners = [(x, side * y) for x, y in ((2.2, AISLES[0]), (23.4, AISLES[0]), (23.4, AISLES[1]), (2.2, AISLES[1]))]
        loop = MoverPath(corners, corner_radius=2.0)
        mover = DrivingForklift(loop, self.ground, speed=1.8, start=float(chance.uniform(0.0, loop.length)))
        palette = [self._colour(COLOURS)]
        self.model.add_mover(mover, [forklift_shape()], is_a="forklift", name="forklift 3", palette=palette)

    def _add_people(self, people: int, chance: np.random.Generator) -> None:
        """One person walks around the middle aisle, the others stand at tables and by the goods."""
        places = list(STANDING)
        for k in range(people):
            if k == 1:
                path = MoverPath([(-25.8, 4.2), (22.6, 4.2), (22.6, -4.2), (-25.8, -4.2)], corner_radius=1.0)
                start = float(chance.uniform(0.0, path.length))
                add_walker(self.model, chance, self.ground, path, start=start, randomise=self._randomise)
            elif places:
                x, y = places.pop(0)
                # a person at a table faces it
                yaw = np.pi if x < -20.0 else float(chance.uniform(-np.pi, np.pi))
                add_stander(self.model, chance, self.ground, (x, y), yaw, randomise=self._randomise)

    def _mark_floor(self) -> None:
        """Yellow lines beside the aisles and around the areas for goods."""
        panels = Panels()

        def line(x0: float, y0: float, x1: float, y1: float) -> None:
            panels.floor((x0, y0), (x1, y1), 0.0, YELLOW)

        for side in (-1.0, 1.0):
            for y in (5.1, 8.15, 11.05, 14.15, 17.2):
                low, high = sorted((side * y - 0.05, side * y + 0.05))
                for start, bays in RUNS:
                    line(start - 0.8, low, start + BAY * bays + 0.8, high)
            low, high = sorted((side * 8.6, side * 13.4))
            for x in (24.4, 29.0):
                line(x, low, x + 0.1, high)
            for y in (low, high - 0.1):
                line(24.5, y, 29.0, y + 0.1)
        shape = Shape("floor markings", (panels.mesh(),), casts_shadow=False)
        self.model.place(shape, (0.0, 0.0, LINE_LIFT), is_a="floor", name="floor markings")
