"""A city park: lawns and hills, paths, a pond, trees, hedges and flowers, people, and houses around it."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.spatial import cKDTree

from skyloop.world.generation import generator
from skyloop.world.ground import place_terrain
from skyloop.world.mesh import Colour
from skyloop.world.model import Model, Shape
from skyloop.world.scenery.actors.paths import Path
from skyloop.world.scenery.actors.people import add_stander, add_walker
from skyloop.world.scenery.buildings import house_colours, house_shape
from skyloop.world.scenery.bushes import (
    BLOSSOMS,
    BUSH_GREENS,
    HEDGE_LENGTH,
    SMALL_LEAVES,
    bush_shape,
    flowers_shape,
    grass_shape,
    hedge_shape,
    reeds_shape,
    rock_shape,
)
from skyloop.world.scenery.foliage import spread_out, tinted
from skyloop.world.scenery.street_furniture import bench_shape, bin_shape, lamp_shape
from skyloop.world.scenery.trees import BIRCH, CHERRY, LARGEST, OAK, POPLAR, SPRUCE, WILLOW, Species, Stock
from skyloop.world.worlds.park_layout import PARK, STREET, Plan, Site, Way, lane, place_paths, place_street, place_water
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

LAWN = 14.0
"""m from the middle, east and north, that no crown reaches: room for the first flight."""
SHARES: Final = ((CHERRY, 0.15), (POPLAR, 0.12), (WILLOW, 0.05), (BIRCH, 0.22), (SPRUCE, 0.20))
"""Shares of the trees; the rest are oaks."""
LOW_CROWNS: Final = ("spruce", "willow", "cherry")
"""Too low to walk under."""


def place_trees(site: Site, n: int) -> None:
    """Cherries along the ring, poplars in a row, willows at the pond, the others in groves."""
    chance = generator(site.seed, "park/trees")
    wanted = {species.name: int(share * n) for species, share in SHARES}
    wanted["oak"] = n - sum(wanted.values())
    for species in (POPLAR, CHERRY, WILLOW, SPRUCE, OAK, BIRCH):
        stock = Stock(species, chance, autumn=site.autumn, tint=site.tint)
        candidates = np.vstack(
            [_first_choice(site, species, chance), _groves(chance, 60 * (10 + wanted[species.name]))]
        )
        candidates = candidates[_room(site, species, candidates)]
        radius = max(1.5, 0.6 * species.crown_radius)
        for k, (x, y) in enumerate(spread_out(candidates, wanted[species.name], site.spots, radius)):
            stock.plant(site.model, site.ground, x, y, chance, f"{species.name} {k + 1}")


def _first_choice(site: Site, species: Species, chance: np.random.Generator) -> Array:
    """(n, 2) m, the preferred positions of a species."""
    if species is WILLOW:
        return np.asarray(chance.permutation(site.plan.shore(60, 1.5)))
    if species is POPLAR:
        line = np.arange(-52.0, 53.0, 6.5)
        side = 0.5 * np.pi * chance.integers(4)
        c, s = np.cos(side), np.sin(side)
        row = np.stack([np.full(len(line), PARK - 3.2), line], axis=1)
        return np.asarray(row @ np.array([[c, s], [-s, c]]))
    if species is CHERRY:
        ring = site.plan.ways[-1]
        return ring.line[::8] - (ring.half_width + LARGEST * species.crown_radius + 0.6) * ring.left[::8]
    return np.empty((0, 2))


def _groves(chance: np.random.Generator, n: int) -> Array:
    """(n, 2) m anywhere, those near one of three centres first."""
    places, middles = chance.uniform(-PARK, PARK, (n, 2)), chance.uniform(-0.8 * PARK, 0.8 * PARK, (3, 2))
    nearest = np.linalg.norm(places[:, None] - middles, axis=2).min(axis=1)
    return places[np.argsort(nearest * chance.uniform(0.3, 1.7, n), kind="stable")]


def _room(site: Site, species: Species, places: Array) -> Array:
    """Whether a large tree of the species fits, with regard to paths, lamps, pond, lawn and hedge."""
    x, y = places.T
    crown = LARGEST * species.crown_radius
    aside = np.maximum(np.abs(x), np.abs(y))
    off_path = crown + 0.2 if species.name in LOW_CROWNS else 1.0
    return np.asarray(
        (aside > LAWN + crown)
        & (aside < PARK - 2.5)
        & (site.plan.off_path(x, y) > off_path)
        & (site.plan.pond(x, y) > 1.35)
        & (cKDTree(np.array(site.lamps)).query(places)[0] > crown + 0.2)
    )


def place_hedges(site: Site) -> None:
    """Hedges around the park, open at the gates, and in short runs behind the ring path."""
    chance = generator(site.seed, "park/hedges")
    shapes = [hedge_shape(chance) for _ in range(3)]
    palettes = [[tinted(green, site.tint)] for green in BUSH_GREENS]
    pieces = []
    for side in range(4):
        turn = 0.5 * np.pi * side
        for along in np.arange(-PARK + 0.5 * HEDGE_LENGTH, PARK, HEDGE_LENGTH):
            x, y = PARK * np.cos(turn) - along * np.sin(turn), PARK * np.sin(turn) + along * np.cos(turn)
            pieces.append((x, y, turn + 0.5 * np.pi, 1.0))
    ring = site.plan.ways[-1]
    for start in chance.choice(len(ring.line) // 12, 5, replace=False) * 12:
        for i in start + np.arange(4) * 2:
            x, y = ring.line[i] - (ring.half_width + 2.0) * ring.left[i]
            # stretched, because the run is longer than the path it follows
            pieces.append((x, y, float(np.arctan2(ring.along[i, 1], ring.along[i, 0])), 1.2))
    number = 0
    for x, y, yaw, stretch in pieces:
        if site.plan.off_path(x, y, but=len(site.plan.ways) - 1)[0] < 1.6 or not site.spots.free(x, y, 0.6):
            continue
        number += 1
        shape = shapes[int(chance.integers(len(shapes)))]
        site.stand(
            shape,
            (x, y),
            yaw=yaw,
            scale=(stretch, 1.0, 1.0),
            is_a="hedge",
            name=f"hedge {number}",
            palette=palettes[0],
            variant=SMALL_LEAVES,
        )
    for x, y, *_ in pieces:
        site.spots.add(x, y, 0.6)


def place_small_plants(site: Site) -> None:
    chance = generator(site.seed, "park/small plants")
    anywhere = chance.uniform(-PARK + 2.0, PARK - 2.0, (3000, 2))
    off_path, pond = site.plan.off_path(*anywhere.T), site.plan.pond(*anywhere.T)
    aside = np.abs(anywhere).max(axis=1)
    near_path = anywhere[(off_path > 1.3) & (off_path < 3.0) & (pond > 1.4)]
    dry = anywhere[(off_path > 1.2) & (pond > 1.35)]
    outside = anywhere[(off_path > 1.2) & (pond > 1.35) & (aside > LAWN)]
    greens = [[tinted(green, site.tint)] for green in BUSH_GREENS]
    beds = [flowers_shape(chance) for _ in range(2)]
    for k, place in enumerate(spread_out(near_path, 16, site.spots, 1.3)):
        blossoms = [BLOSSOMS[int(i)] for i in chance.choice(len(BLOSSOMS), 2, replace=False)]
        palette = [*greens[k % len(greens)], *blossoms]
        site.stand(beds[k % 2], place, is_a="undergrowth", name=f"flower bed {k + 1}", palette=palette)
    _sprinkle(
        site, chance, [bush_shape(chance) for _ in range(3)], spread_out(outside, 55, site.spots, 0.9), "bush", greens
    )
    tufts = [grass_shape(chance) for _ in range(3)]
    _sprinkle(site, chance, tufts, spread_out(dry[::-1], 400, site.spots, 0.3), "grass tuft", [], "undergrowth")
    _place_shore(site, chance)


def _place_shore(site: Site, chance: np.random.Generator) -> None:
    rocks = [rock_shape(chance) for _ in range(3)]
    stones = np.vstack([chance.permutation(site.plan.shore(70, share))[:22] for share in (0.98, 1.06, 1.16)])
    for k, (x, y) in enumerate(spread_out(stones, 44, site.spots, 0.35)):
        size = chance.uniform(0.35, 1.0)
        site.stand(rocks[k % 3], (x, y), yaw=chance.uniform(0, 6.28), scale=size, is_a="rock", name=f"rock {k + 1}")
    reeds = [reeds_shape(chance) for _ in range(3)]
    wet = chance.permutation(site.plan.shore(90, 0.985))
    _sprinkle(site, chance, reeds, spread_out(wet, 26, site.spots, 0.3), "reeds", [], "undergrowth")


def _sprinkle(
    site: Site,
    chance: np.random.Generator,
    shapes: list[Shape],
    places: Array,
    name: str,
    palettes: list[list[Colour]],
    is_a: str = "",
) -> None:
    for k, place in enumerate(places):
        site.stand(
            shapes[k % len(shapes)],
            place,
            yaw=float(chance.uniform(0.0, 2.0 * np.pi)),
            scale=float(chance.uniform(0.75, 1.3)),
            is_a=is_a or name,
            name=f"{name} {k + 1}",
            palette=palettes[k % len(palettes)] if palettes else (),
            variant=SMALL_LEAVES,
        )


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
