"""The plants of the park, and the stones by its pond."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.spatial import cKDTree

from skyloop.world.generation import generator
from skyloop.world.mesh import Colour
from skyloop.world.model import Shape
from skyloop.world.scenery.plants.bushes import (
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
from skyloop.world.scenery.plants.scatter import spread_out
from skyloop.world.scenery.plants.tree_species import BIRCH, CHERRY, OAK, POPLAR, SPRUCE, WILLOW, Species
from skyloop.world.scenery.plants.trees import LARGEST, Stock, tinted
from skyloop.world.worlds.park_layout import PARK, Site
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
