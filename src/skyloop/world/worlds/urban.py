"""A town: nine blocks between streets, the middle one a plaza around (0, 0); traffic, people, street furniture."""

from __future__ import annotations

from typing import Final

import numpy as np

from skyloop.world.generation import generator
from skyloop.world.model import Model, Shape
from skyloop.world.scenery.actors.cars import add_car, park_car
from skyloop.world.scenery.actors.paths import Path
from skyloop.world.scenery.actors.people import add_stander, add_walker
from skyloop.world.scenery.lots import Place, Town, beside, outer_rows, plaza, slab_block, town_block, villa_block
from skyloop.world.scenery.street_furniture import (
    bench_shape,
    bin_shape,
    bollard_shape,
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
    PARKING,
    PITCH,
    STREETS,
    block_centres,
    place_streets,
    street_ground,
)
from skyloop_client.errors import ScenarioError

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
        """Furniture along the kerbs: lamps, trees, things between them; lights or signs at the corners."""
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
            path = Path(loops[order[k % len(loops)]], corner_radius=5.0)
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
                path = Path(lines[order[walkers]], corner_radius=0.8)
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
