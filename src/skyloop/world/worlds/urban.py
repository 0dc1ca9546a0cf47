"""A town: nine blocks between streets, the middle one a plaza around (0, 0); traffic, people, street furniture.

Blocks are closed rows of town houses, villas in gardens, apartment slabs on lawns, a plaza.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from skyloop.world.generation import generator
from skyloop.world.ground import Ground
from skyloop.world.mesh import Colour
from skyloop.world.model import Model, Shape
from skyloop.world.scenery.actors.cars import add_car, park_car
from skyloop.world.scenery.actors.paths import MoverPath
from skyloop.world.scenery.actors.people import add_stander, add_walker
from skyloop.world.scenery.buildings import house_colours, house_shape
from skyloop.world.scenery.panels import Paint, Panels
from skyloop.world.scenery.street_furniture import (
    bench_shape,
    bin_shape,
    bollard_shape,
    fence_shape,
    fountain_shape,
    lamp_shape,
    planter_shape,
    shelter_shape,
    sign_shape,
    traffic_light_shape,
)
from skyloop.world.scenery.streets import (
    HALF_BLOCK,
    HALF_LOT,
    LANE,
    OUTER_FRONT,
    PARKING,
    PITCH,
    STREETS,
    block_centres,
    place_streets,
    street_ground,
)
from skyloop.world.scenery.trees import OAK, Stock
from skyloop_client.errors import ScenarioError

DEPTH: Final = 11.0
"""m, of the houses in rows."""
WIDTHS: Final = ((8.0, 10.0, 12.0, 12.0), (10.0, 10.0, 10.0, 12.0))
"""m, widths of the houses that fill a lot's side."""
SHORT_WIDTHS: Final = ((8.0, 12.0), (10.0, 10.0))
"""m, widths that fill the gap between two rows."""
STREET_TREE: Final = replace(
    OAK, name="street tree", height=6.6, crown_radius=1.75, crown_base=0.36, trunk_radius=0.13, spray=(0.5, 0.32)
)
GARDEN_TREE: Final = replace(OAK, name="garden tree", height=8.0, crown_radius=2.6, trunk_radius=0.2, spray=(0.7, 0.44))

Place = tuple[float, float]


class Town:
    """Names, colours and shapes shared by everything that is placed."""

    def __init__(self, model: Model, ground: Ground, seed: int, randomise: frozenset[str]) -> None:
        self.model, self.ground, self.randomise = model, ground, randomise
        self.chance = generator(seed, "urban/houses")
        # a separate generator, so that randomising looks moves nothing
        self._looks = generator(seed, "urban/looks")
        self._shapes: dict[tuple[object, ...], Shape] = {}
        self._count: Counter[str] = Counter()
        trees = generator(seed, "urban/trees")
        tint = self._looks.uniform(0.8, 1.1, 3) if "colours" in randomise else np.ones(3)
        hue = (float(tint[0]), float(tint[1]), float(tint[2]))
        self._stocks = {
            "street": Stock(STREET_TREE, trees, detail=0.5, tint=hue),
            "garden": Stock(GARDEN_TREE, trees, detail=0.6, tint=hue),
        }

    def name(self, kind: str) -> str:
        self._count[kind] += 1
        return f"{kind} {self._count[kind]}"

    def put(
        self, shape: Shape, xy: Place, yaw: float, is_a: str, *, palette: Sequence[Colour] = (), kind: str = ""
    ) -> None:
        variant = int(self._looks.integers(3)) if "textures" in self.randomise else 0
        self.model.place(
            shape, (*xy, 0.0), yaw=yaw, is_a=is_a, name=self.name(kind or is_a), palette=palette, variant=variant
        )

    def house(
        self,
        xy: Place,
        yaw: float,
        width: float,
        floors: int,
        style: str,
        *,
        depth: float = DEPTH,
        blind: Sequence[str] = (),
    ) -> None:
        """Places a house whose front faces `yaw`."""
        key = (style, width, depth, floors, tuple(blind), int(self.chance.integers(2)))
        if key not in self._shapes:
            self._shapes[key] = house_shape(self.chance, width, depth, floors, style, blind=blind)
        palette = house_colours(self.chance)
        if "colours" in self.randomise:
            palette = [(int(r), int(g), int(b)) for r, g, b in self._looks.integers(90, 256, (5, 3))]
        self.put(self._shapes[key], xy, yaw, "building", palette=palette, kind="house")

    def tree(self, xy: Place, where: str) -> None:
        """where: "street" for slender trees, "garden" for wide ones."""
        self._stocks[where].plant(self.model, self.ground, *xy, self.chance, self.name("tree"))

    def surface(self, panels: Panels, kind: str, is_a: str, *, z: float = 0.0) -> None:
        shape = Shape(kind, (panels.mesh(),), casts_shadow=False)
        self.model.place(shape, (0.0, 0.0, z), is_a=is_a, name=self.name(kind), solid=z > 0.0)


def beside(centre: Place, side: int, out: float, along: float) -> Place:
    """The point `out` from a block's middle towards side 0..3 (+x, +y, -x, -y) and `along` to that side's left."""
    c, s = ((1, 0), (0, 1), (-1, 0), (0, -1))[side]
    return (centre[0] + c * out - s * along, centre[1] + s * out + c * along)


def town_block(town: Town, centre: Place) -> None:
    """Houses wall to wall around a court."""
    for side in range(4):
        long = side in (1, 3)
        choices = WIDTHS if long else SHORT_WIDTHS
        widths = town.chance.permutation(choices[int(town.chance.integers(len(choices)))])
        along = -0.5 * float(widths.sum())
        for k, width in enumerate(float(w) for w in widths):
            # the ends of the long rows face side streets; +y of a house is to its front's left
            ends = [edge for edge, free in (("left", k == 0), ("right", k == len(widths) - 1)) if free and long]
            blind = [edge for edge in ("left", "right") if edge not in ends]
            xy = beside(centre, side, HALF_LOT - 0.5 * DEPTH, along + 0.5 * width)
            town.house(xy, side * 0.5 * np.pi, width, int(town.chance.integers(3, 5)), "town", blind=blind)
            along += width
    court = HALF_LOT - DEPTH
    panels = Panels()
    panels.floor(
        (centre[0] - HALF_LOT, centre[1] - HALF_LOT), (centre[0] + HALF_LOT, centre[1] + HALF_LOT), 0.0, Paint("gravel")
    )
    town.surface(panels, "court", "path")
    for _ in range(2):
        x, y = town.chance.uniform(-0.4, 0.4, 2) * court
        town.tree((centre[0] + float(x) * 1.2, centre[1] + float(y) * 1.2), "street")


def villa_block(town: Town, centre: Place) -> None:
    """Four villas in fenced gardens."""
    lawn, paths = Panels(), Panels()
    half = HALF_LOT
    lawn.floor((centre[0] - half, centre[1] - half), (centre[0] + half, centre[1] + half), 0.0, Paint("grass"))
    fence = fence_shape(6.0)
    for side in range(4):
        yaw = side * 0.5 * np.pi
        for k in range(-3, 4):
            gate = side in (0, 2) and k in (-2, 2)
            if not gate:
                town.put(fence, beside(centre, side, half, 6.0 * k), yaw, "fence")
        if side in (1, 3):
            continue
        for along in (-12.0, 12.0):
            width = float(town.chance.choice([9.0, 10.0, 11.0]))
            town.house(beside(centre, side, 9.5, along), yaw, width, 2, "villa", depth=9.0)
            door = along + width / int((width - 0.6) / 2.9) * (int((width - 0.6) / 2.9) // 2 + 0.5) - 0.5 * width
            a, b = beside(centre, side, 14.4, door - 0.7), beside(centre, side, half, door + 0.7)
            paths.floor((min(a[0], b[0]), min(a[1], b[1])), (max(a[0], b[0]), max(a[1], b[1])), 0.0, Paint("paving"))
            for out, off in ((17.0, 5.2), (2.2, -3.0)):
                town.tree(
                    beside(centre, side, out, along + off * float(town.chance.choice([-1.0, 1.0]))),
                    "street" if out > 9 else "garden",
                )
    town.surface(lawn, "lawn", "grass")
    town.surface(paths, "garden paths", "path", z=0.03)


def slab_block(town: Town, centre: Place) -> None:
    """Two large apartment houses, with a lawn and trees between them."""
    half = HALF_LOT
    lawn, paths = Panels(), Panels()
    lawn.floor((centre[0] - half, centre[1] - half), (centre[0] + half, centre[1] + half), 0.0, Paint("grass"))
    for side in (0, 2):
        xy = beside(centre, side, 12.0, 0.0)
        town.house(xy, side * 0.5 * np.pi, 27.0, int(town.chance.integers(5, 7)), "block", depth=12.0)
        # eight bays: the door is in the fifth
        door = 27.0 / 8 * 4.5 - 13.5
        a, b = beside(centre, side, 18.4, door - 1.0), beside(centre, side, half, door + 1.0)
        paths.floor((min(a[0], b[0]), min(a[1], b[1])), (max(a[0], b[0]), max(a[1], b[1])), 0.0, Paint("paving"))
    for x, y in ((0.0, -12.0), (0.0, 1.0), (0.0, 13.0), (-13.0, 17.5), (13.0, -17.5)):
        town.tree((centre[0] + x, centre[1] + y), "garden")
    town.surface(lawn, "lawn", "grass")
    town.surface(paths, "garden paths", "path", z=0.03)


def outer_rows(town: Town) -> None:
    """Houses around the town, with their fronts towards it."""
    for side in range(4):
        reach = OUTER_FRONT + (DEPTH if side in (1, 3) else 0.0)
        along = -reach
        while reach - along > 1.0:
            left = reach - along
            width = float(town.chance.choice([12.0, 14.0, 16.0]))
            if left < 28.0:
                width = left if left < 18.0 else 0.5 * left
            style = str(town.chance.choice(["town", "block", "plain"], p=(0.5, 0.25, 0.25)))
            xy = beside((0.0, 0.0), side, OUTER_FRONT + 0.5 * DEPTH, along + 0.5 * width)
            blind = ("left", "right", "back")
            town.house(xy, (side + 2) * 0.5 * np.pi, width, int(town.chance.integers(3, 6)), style, blind=blind)
            along += width


def plaza(town: Town) -> None:
    """The middle block: paving with a fountain, four beds of trees, benches and lanterns; (0, 0) is free."""
    stones, beds = Panels(), Panels()
    cuts = (-HALF_LOT, -9.0, 9.0, HALF_LOT)
    for i in range(3):
        for j in range(3):
            bed = i != 1 and j != 1
            paint = Paint("grass") if bed else Paint("paving", (255, 246, 232))
            (beds if bed else stones).floor((cuts[i], cuts[j]), (cuts[i + 1], cuts[j + 1]), 0.0, paint)
    town.surface(stones, "plaza", "pavement")
    town.surface(beds, "bed", "grass")
    town.put(fountain_shape(), (-14.5, 0.0), 0.0, "by material", kind="fountain")
    bench, lantern, bin_, tub = (make(town.chance) for make in (bench_shape, lamp_shape, bin_shape, planter_shape))
    for side in range(4):
        yaw = side * 0.5 * np.pi
        town.put(lantern, beside((0.0, 0.0), side, 8.4, 8.4), yaw, "lamp", kind="lantern")
        town.put(bin_, beside((0.0, 0.0), side, 11.0, 8.4), yaw, "bin")
        for along in (-8.4, 8.4):
            # benches stand in front of the beds and face across the path
            town.put(bench, beside((0.0, 0.0), side, 14.0, along), yaw + np.pi / 2 * (1 if along < 0 else -1), "bench")
            town.put(tub, beside((0.0, 0.0), side, 19.5, 0.5 * along), yaw, "furniture", kind="planter")
        for out, along in ((12.5, 17.5), (17.5, 12.5), (12.0, 12.0)):
            town.tree(beside((0.0, 0.0), side, out, along), "street")


BLOCKS: Final = (town_block,) * 4 + (villa_block,) * 2 + (slab_block,) * 2
"""The kinds of the eight blocks around the plaza; their order is random."""
POSTS: Final = HALF_BLOCK - 0.75
"""m from a block's middle to the line of lamps and trees."""
WALKS: Final = (HALF_LOT + 1.2, HALF_LOT + 2.0)
"""m from a block's middle to the two lines on which people walk, one for each direction."""
PARKED: Final = 36
CAR_SPEED: Final = 7.0
"""m/s."""

MOST_PEOPLE, MOST_CARS = 120, 60


class Urban:
    def __init__(self, seed: int, *, people: int = 16, cars: int = 8, randomise: frozenset[str] = frozenset()) -> None:
        """people: The number of people who stand or walk.
        cars: The number of cars that drive; parked ones come on top.
        """
        for name, value, most in (("people", people, MOST_PEOPLE), ("cars", cars, MOST_CARS)):
            if not 0 <= value <= most:
                raise ScenarioError(f"world 'urban': {name} is {value}; give 0 to {most}")
        self.ground = street_ground()
        self.model = Model()
        self._seed, self._randomise = seed, randomise
        self._town = Town(self.model, self.ground, seed, randomise)
        place_streets(self.model)
        centres = [centre for centre in block_centres() if centre != (0.0, 0.0)]
        order = generator(seed, "urban/blocks").permutation(len(BLOCKS))
        for centre, kind in zip(centres, order, strict=True):
            BLOCKS[kind](self._town, centre)
        plaza(self._town)
        outer_rows(self._town)
        self._place_furniture()
        self._park_cars()
        self._drive_cars(cars)
        chance = generator(seed, "urban/people")
        if "people" in randomise:
            people = int(chance.integers(people // 2, 2 * people + 1))
        self._add_people(people, chance)

    def _place_furniture(self) -> None:
        """Furniture along the kerbs: lamps, trees, objects between them; lights or signs at the corners."""
        chance = generator(self._seed, "urban/furniture")
        lamp = lamp_shape(chance, "street")
        between = [
            (bench_shape(chance), "bench", ""),
            (bin_shape(chance), "bin", ""),
            (planter_shape(chance), "furniture", "planter"),
            (shelter_shape(), "furniture", "bus shelter"),
            (bin_shape(chance), "bin", ""),
        ]
        lights = [traffic_light_shape(chance) for _ in range(3)]
        signs = [sign_shape(chance, kind) for kind in ("stop", "warning", "limit", "parking", "way", "no entry")]
        bollard = bollard_shape()
        for centre in block_centres():
            for side in range(4):
                yaw = side * 0.5 * np.pi
                for along in (-12.0, 12.0):
                    self._town.put(lamp, beside(centre, side, POSTS + 0.3, along), yaw, "lamp")
                for along in (-17.0, -6.0, 6.0, 17.0):
                    if chance.random() < 0.55:
                        self._town.tree(beside(centre, side, POSTS, along), "street")
                shape, is_a, kind = between[int(chance.integers(len(between)))]
                # benches and shelters have their backs to the traffic
                self._town.put(shape, beside(centre, side, POSTS, 0.0), yaw + np.pi, is_a, kind=kind)
                self._place_corner(centre, side, chance, lights, signs)
                if centre == (0.0, 0.0):
                    for along in np.arange(-4.0, 4.1, 2.0)[[0, 1, 3, 4]]:
                        self._town.put(
                            bollard, beside(centre, side, HALF_LOT + 0.2, along), yaw, "furniture", kind="bollard"
                        )

    def _place_corner(
        self, centre: Place, side: int, chance: np.random.Generator, lights: list[Shape], signs: list[Shape]
    ) -> None:
        """A light or sign at the far end, facing cars that drive along this side with the block on their right."""
        xy, yaw = beside(centre, side, POSTS + 0.2, -HALF_BLOCK + 2.0), side * 0.5 * np.pi + 0.5 * np.pi
        crossing = beside(centre, side, 0.5 * PITCH, -0.5 * PITCH)
        if max(abs(c) for c in crossing) < STREETS[-1]:
            self._town.put(lights[int(chance.integers(3))], xy, yaw, "traffic light")
        elif chance.random() < 0.7:
            shape = signs[int(chance.integers(len(signs)))]
            self._town.put(shape, xy, yaw, "sign")

    def _park_cars(self) -> None:
        chance = generator(self._seed, "urban/parked")
        slots = [
            (centre, side, along)
            for centre in block_centres()
            for side in range(4)
            for along in (-15.0, -9.0, -3.0, 3.0, 9.0, 15.0)
        ]
        for k in sorted(chance.permutation(len(slots))[:PARKED]):
            centre, side, along = slots[k]
            xy = beside(centre, side, 0.5 * PITCH - PARKING, along + float(chance.uniform(-0.4, 0.4)))
            park_car(self.model, chance, self.ground, xy, side * 0.5 * np.pi - 0.5 * np.pi)

    def _drive_cars(self, cars: int) -> None:
        """Cars drive around the blocks to the right and around the town to the left, in lanes that never cross."""
        chance = generator(self._seed, "urban/traffic")
        loops = [_square(centre, 0.5 * PITCH - LANE, clockwise=True) for centre in block_centres()]
        loops.append(_square((0.0, 0.0), STREETS[-1] + LANE, clockwise=False))
        order = chance.permutation(len(loops))
        for k in range(cars):
            path = MoverPath(loops[order[k % len(loops)]], corner_radius=5.0)
            # cars of one loop have the same speed and keep their distance
            share = (k // len(loops)) / (1 + (cars - 1) // len(loops))
            add_car(self.model, chance, self.ground, path, speed=CAR_SPEED, start=share * path.length)

    def _add_people(self, people: int, chance: np.random.Generator) -> None:
        """Three of four walk around a block, one line for each direction; the others stand."""
        lines = [_square(centre, half, clockwise=half == WALKS[0]) for centre in block_centres() for half in WALKS]
        order = chance.permutation(len(lines))
        places = _standing_places()
        standing = chance.permutation(len(places))
        for k in range(people):
            walkers = k - k // 4
            if k % 4 < 3 and walkers < len(lines):
                path = MoverPath(lines[order[walkers]], corner_radius=0.8)
                start = float(chance.uniform(0.0, path.length))
                add_walker(self.model, chance, self.ground, path, start=start, randomise=self._randomise)
            elif len(standing):
                xy, yaw = places[standing[0]], float(chance.uniform(-np.pi, np.pi))
                standing = standing[1:]
                add_stander(self.model, chance, self.ground, xy, yaw, randomise=self._randomise)


def _square(centre: Place, half: float, *, clockwise: bool) -> list[Place]:
    x, y = centre
    corners = [(x + half, y + half), (x - half, y + half), (x - half, y - half), (x + half, y - half)]
    return corners[::-1] if clockwise else corners


def _standing_places() -> list[Place]:
    """Positions on the pavements between the posts, and on the plaza."""
    kerbside = [
        beside(centre, side, POSTS - 0.2, along)
        for centre in block_centres()
        for side in range(4)
        for along in (-9.0, -3.0, 3.0, 9.0)
    ]
    around = [(6.0, 3.0), (-6.5, -4.0), (4.5, -6.5), (-5.0, 6.5), (12.0, 4.0), (-9.5, 2.5), (3.0, 14.0), (-2.5, -13.0)]
    return around + kerbside
