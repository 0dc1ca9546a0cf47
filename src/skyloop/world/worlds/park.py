"""A city park: lawns and hills, paths, a pond, trees, hedges and flowers, people, and houses around it."""

from __future__ import annotations

import numpy as np

from skyloop.world.generation import generator
from skyloop.world.model import Model
from skyloop.world.scenery.actors.paths import Path
from skyloop.world.scenery.actors.people import add_stander, add_walker
from skyloop.world.scenery.buildings import house_colours, house_shape
from skyloop.world.scenery.street_furniture import bench_shape, bin_shape, lamp_shape
from skyloop.world.terrain import place_terrain
from skyloop.world.worlds.park_layout import Plan, Site, Way
from skyloop.world.worlds.park_paths import STREET, lane, place_paths, place_street, place_water
from skyloop.world.worlds.park_planting import place_hedges, place_small_plants, place_trees
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

FREE = 3.0
"""m around the middle where nothing stands."""
HOUSES = (
    ("town", 14.0, 11.0, 4), ("town", 18.0, 12.0, 3), ("town", 12.0, 11.0, 5), ("villa", 13.0, 11.0, 2),
    ("villa", 15.0, 10.0, 2), ("block", 24.0, 12.0, 6), ("block", 20.0, 13.0, 4), ("plain", 16.0, 12.0, 3),
)  # fmt: skip
"""Style, m of width and depth, floors."""
MOST_PEOPLE, MOST_TREES = 60, 200


class Park:
    """A city park: trees of six species, paths, a pond, benches, lamps, hedges, houses around, people."""

    def __init__(
        self, seed: int, *, people: int = 14, trees: int = 90, randomise: frozenset[str] = frozenset()
    ) -> None:
        """people: The number of people, 60 at most; four of seven walk. With "people" randomised there are up to
            twice as many.
        trees: The number of trees, 200 at most.
        """
        for name, value, most in (("people", people, MOST_PEOPLE), ("trees", trees, MOST_TREES)):
            if not 0 <= value <= most:
                raise ScenarioError(f"world 'park': {name} is {value}; give 0 to {most}")
        randomise = frozenset(randomise)
        plan = Plan(seed, any_material="textures" in randomise)
        # the lawn as it is drawn: lower under the paths, which are solid themselves
        self.ground = plan.seen_ground()
        self.model = Model()
        site = Site(seed, plan, self.model, "colours" in randomise)
        site.spots.add(0.0, 0.0, FREE + 0.5)
        place_terrain(self.model, self.ground, "grass")
        place_paths(self.model, plan)
        place_water(self.model, plan)
        place_street(self.model)
        _place_houses(site)
        _place_furniture(site)
        place_hedges(site)
        place_trees(site, trees)
        place_small_plants(site)
        if "people" in randomise:
            people = int(generator(seed, "park/how many people").integers(0, 2 * people + 1))
        _place_people(site, people, randomise)


def _place_houses(site: Site) -> None:
    chance = generator(site.seed, "park/houses")
    shapes = [house_shape(chance, width, depth, floors, style) for style, width, depth, floors in HOUSES]
    number = 0
    for side in range(4):
        turn = 0.5 * np.pi * side
        end = 88.0 if side % 2 == 0 else STREET[3] - 2.0
        along = -end
        while True:
            k = int(chance.integers(len(HOUSES)))
            style, width, depth, _ = HOUSES[k]
            if along + width > end:
                break
            back = STREET[3] + (5.0 if style == "villa" else 1.0) + 0.5 * depth
            x, y = back, along + 0.5 * width
            place = (x * np.cos(turn) - y * np.sin(turn), x * np.sin(turn) + y * np.cos(turn))
            number += 1
            site.stand(
                shapes[k],
                place,
                yaw=turn + np.pi,
                is_a="building",
                name=f"house {number}",
                palette=house_colours(chance),
            )
            along += width + chance.uniform(1.5, 7.0)


def _place_furniture(site: Site) -> None:
    """Lamps and benches along the paths, a bin by every other bench."""
    chance = generator(site.seed, "park/furniture")
    lamps, benches, bins = (
        [make(chance) for _ in range(count)] for make, count in ((lamp_shape, 1), (bench_shape, 3), (bin_shape, 1))
    )
    count = {"lamp": 0, "bench": 0, "bin": 0}
    for number, way in enumerate(site.plan.ways):
        for i in range(5, len(way.line) - 3, 9):
            what = "bench" if (i // 9) % 2 else "lamp"
            # outside the ring path, and on either side of the other paths
            outwards = -1.0 if way.name == "ring path" or chance.random() < 0.5 else 1.0
            side = outwards * way.left[i]
            place = way.line[i] + side * (way.half_width + 0.85)
            if not _beside_path(site, number, place, 0.9):
                continue
            if what == "lamp":
                site.lamps.append(place)
            yaw = float(np.arctan2(-side[1], -side[0]))
            shape = lamps[0] if what == "lamp" else benches[int(chance.integers(len(benches)))]
            count[what] += 1
            site.take(place, 0.4 if what == "lamp" else 1.1)
            site.stand(shape, place, yaw=yaw, is_a=what, name=f"{what} {count[what]}")
            by = place + 1.7 * way.along[i]
            if what == "bench" and count[what] % 2 and _beside_path(site, number, by, 0.3):
                count["bin"] += 1
                site.take(by, 0.35)
                site.stand(bins[0], by, yaw=yaw, is_a="bin", name=f"bin {count['bin']}")


def _beside_path(site: Site, number: int, place: Array, radius: float) -> bool:
    """Whether there is room at a point beside path `number`."""
    x, y = float(place[0]), float(place[1])
    clear = site.plan.off_path(x, y, but=number)[0] > 0.3 + radius and site.plan.pond(x, y) > 1.25
    return bool(clear and site.spots.free(x, y, radius))


def _place_people(site: Site, people: int, randomise: frozenset[str]) -> None:
    chance = generator(site.seed, "park/people")
    walking = (4 * people + 6) // 7
    loops = [way for way in site.plan.ways if way.closed]
    # people keep right: each loop has two lanes, and all in a lane walk at one speed, so that they never collide
    lanes = [_lane(way, sign) for way in loops for sign in (1.0, -1.0)]
    for k, path in enumerate(lanes):
        members = len(range(k, walking, len(lanes)))
        speed, first = float(chance.uniform(0.9, 1.5)), float(chance.uniform(0.0, path.length))
        for m in range(members):
            start = first + path.length * (m + chance.uniform(-0.2, 0.2)) / members
            add_walker(site.model, chance, site.ground, path, speed=speed, start=start, randomise=randomise)
    _place_standers(site, chance, people - walking, randomise)


def _lane(way: Way, sign: float) -> Path:
    points = lane(way, -sign * 0.5)
    return Path(points if sign > 0.0 else points[::-1], corner_radius=3.0)


def _place_standers(site: Site, chance: np.random.Generator, n: int, randomise: frozenset[str]) -> None:
    """People on the grass by the paths: pairs that talk, and single ones."""
    placed = 0
    for number in chance.integers(len(site.plan.ways), size=200 * n).tolist():
        way = site.plan.ways[number]
        i = int(chance.integers(4, len(way.line) - 4))
        side = (1.0 if chance.random() < 0.5 else -1.0) * way.left[i]
        place = way.line[i] + side * (way.half_width + 0.8)
        if placed == n or not _beside_path(site, number, place, 0.9):
            continue
        site.take(place, 0.9)
        heading = float(chance.uniform(0.0, 2.0 * np.pi))
        apart = 0.55 * np.array([np.cos(heading), np.sin(heading)])
        two = n - placed >= 2 and chance.random() < 0.6
        for offset, yaw in ((apart, heading + np.pi), (-apart, heading)) if two else ((0.0 * apart, heading),):
            add_stander(site.model, chance, site.ground, place + offset, yaw, randomise=randomise)
            placed += 1
