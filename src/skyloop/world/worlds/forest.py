"""A forest on hilly ground: spruces, pines, beeches and birches over ferns, bushes, rocks and fallen trunks."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from skyloop.world.generation import generator
from skyloop.world.ground import Cover, Ground, place_terrain
from skyloop.world.materials import MATERIAL_ID
from skyloop.world.model import Model, Shape
from skyloop.world.scenery.bushes import (
    BUSH_GREENS,
    FERN_GREENS,
    SMALL_LEAVES,
    bush_shape,
    fallen_trunk_shape,
    fern_shape,
    grass_shape,
    rock_shape,
)
from skyloop.world.scenery.foliage import Spots, Tint, spread_out, tinted
from skyloop.world.scenery.trees import BEECH, BIRCH, LARGEST, PINE, SPRUCE, Stock
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

FREE = 3.0
"""m around the middle that are free of objects up to the sky."""
THINNEST, DENSEST = 50.0, 2000.0
"""Trees per hectare."""
SMALLEST_SIZE, LARGEST_SIZE = 40.0, 300.0
"""m along the forest's side."""
MOST_TREES = 6000
TRIANGLES: Final = 360_000
"""Triangles for all trees at full detail; with many trees each is simpler."""
# in a forest spruces lose their lower boughs, for lack of light
KINDS: Final = (replace(SPRUCE, height=17.0, crown_base=0.36, crown_radius=2.4), PINE, BEECH, BIRCH)
SHARES: Final = (0.36, 0.22, 0.27, 0.15)


class Forest:
    """A forest on hilly ground with undergrowth, rocks and fallen trunks."""

    def __init__(
        self, seed: int, *, density: float = 500.0, size: float = 120.0, randomise: frozenset[str] = frozenset()
    ) -> None:
        """density: 1/ha, the number of trees per hectare, 50 to 2000.
        size: m, the side of the forest, 40 to 300; it may hold 6000 trees at most.
        """
        if not THINNEST <= density <= DENSEST:
            raise ScenarioError(
                f"world 'forest': density is {density}; give {THINNEST:.0f} to {DENSEST:.0f} trees per hectare"
            )
        if not SMALLEST_SIZE <= size <= LARGEST_SIZE:
            raise ScenarioError(f"world 'forest': size is {size}; give {SMALLEST_SIZE:.0f} to {LARGEST_SIZE:.0f} m")
        n = round(density * size * size / 1e4)
        if n > MOST_TREES:
            raise ScenarioError(
                f"world 'forest': {n} trees (density {density}, size {size}); keep it to {MOST_TREES} by less of either"
            )
        self.ground = _hills(seed, 0.5 * size)
        self.model = Model()
        place_terrain(self.model, self.ground, _cover(0.5 * size), colour=(168, 164, 128))
        chance = generator(seed, "forest/season")
        any_colours = "colours" in randomise
        autumn = any_colours and bool(chance.random() < 0.4)
        r, g, b = chance.uniform(0.7, 1.0, 3) if any_colours else np.ones(3)
        self._tint: Tint = (float(r), float(g), float(b))
        self._spots = Spots(2.0)
        self._spots.add(0.0, 0.0, FREE + 0.5)
        self._extent = 0.5 * size - 1.0
        self._place_trees(seed, n, density, autumn)
        self._place_undergrowth(generator(seed, "forest/undergrowth"), size * size)

    def _place_trees(self, seed: int, n: int, density: float, autumn: bool) -> None:
        chance = generator(seed, "forest/trees")
        detail = float(np.clip((TRIANGLES / max(n, 1) - 90.0) / 1750.0, 0.05, 1.0))
        stocks = [Stock(kind, chance, detail=detail, autumn=autumn, tint=self._tint) for kind in KINDS]
        # discs of this radius cover 0.3 of the ground; random placement alone could reach 0.55
        radius = np.sqrt(0.3 * 1e4 / density / np.pi)
        places = self._spread(chance, n, Spots(2.0), radius, LARGEST * max(kind.crown_radius for kind in KINDS))
        kinds = _kinds(chance, places)
        for k, ((x, y), kind) in enumerate(zip(places, kinds, strict=True)):
            self._spots.add(x, y, 0.45)
            stocks[kind].plant(self.model, self.ground, x, y, chance, f"{KINDS[kind].name} {k + 1}")

    def _spread(self, chance: np.random.Generator, n: int, spots: Spots, radius: float, clear: float = 0.0) -> Array:
        """(≤ n, 2) m, random points that are 2·radius apart and `clear` m off the free middle."""
        candidates = chance.uniform(-self._extent, self._extent, (40 * n + 100, 2))
        candidates = candidates[np.linalg.norm(candidates, axis=1) > FREE + clear]
        return spread_out(candidates, n, spots, radius)

    def _place_undergrowth(self, chance: np.random.Generator, area: float) -> None:
        share = area / 120.0**2
        self._place_fallen(chance, round(22 * share))
        greens = [[tinted(green, self._tint)] for green in BUSH_GREENS]
        ferns = [[tinted(green, self._tint)] for green in FERN_GREENS]
        for name, is_a, make, count, radius, palettes in (
            ("rock", "rock", rock_shape, 60, 0.6, [[]]),
            ("bush", "bush", bush_shape, 90, 0.9, greens),
            ("fern", "undergrowth", fern_shape, 900, 0.35, ferns),
            ("grass tuft", "undergrowth", grass_shape, 500, 0.3, [[]]),
        ):
            shapes: list[Shape] = [make(chance) for _ in range(3)]
            for k, (x, y) in enumerate(self._spread(chance, round(count * share), self._spots, radius)):
                self.model.place(
                    shapes[k % 3],
                    (x, y, self.ground.at(x, y)[0]),
                    yaw=float(chance.uniform(0.0, 2.0 * np.pi)),
                    scale=float(chance.uniform(0.6, 1.5)),
                    is_a=is_a,
                    name=f"{name} {k + 1}",
                    palette=palettes[k % len(palettes)],
                    variant=SMALL_LEAVES,
                )

    def _place_fallen(self, chance: np.random.Generator, n: int) -> None:
        """Trunks between the trees, where there is room for them."""
        lengths = (4.5, 6.0, 8.0)
        shapes = [fallen_trunk_shape(chance, length=length) for length in lengths]
        laid = 0
        for x, y, yaw in chance.uniform((-1.0, -1.0, 0.0), (1.0, 1.0, np.pi), (80 * n, 3)).tolist():
            x, y = 0.92 * self._extent * x, 0.92 * self._extent * y
            half = 0.5 * lengths[laid % 3]
            along = np.linspace(-half, half, 9)
            places = np.stack([x + along * np.cos(yaw), y + along * np.sin(yaw)], axis=1).tolist()
            if laid == n or not all(self._spots.free(u, v, 0.35) for u, v in places):
                continue
            for u, v in places:
                self._spots.add(u, v, 0.35)
            self._lay(shapes[laid % 3], x, y, yaw, 0.6 * half, f"fallen trunk {laid + 1}")
            laid += 1

    def _lay(self, shape: Shape, x: float, y: float, yaw: float, reach: float, name: str) -> None:
        """Lays a trunk along the slope between two points `reach` m to both sides."""
        along = np.array([np.cos(yaw), np.sin(yaw)])
        rise = self.ground.at(x + reach * along[0], y + reach * along[1])[0]
        fall = self.ground.at(x - reach * along[0], y - reach * along[1])[0]
        forward = np.array([*(2.0 * reach * along), rise - fall])
        forward /= np.linalg.norm(forward)
        left = np.array([-along[1], along[0], 0.0])
        turn = np.column_stack([forward, left, np.cross(forward, left)])
        self.model.place(shape, (x, y, 0.5 * (rise + fall)), rotation=turn, is_a="undergrowth", name=name)


def _cover(half: float) -> Cover:
    """Bare earth under the trees, grass outside."""

    def material(x: Array, y: Array) -> NDArray[np.int64]:
        inside = np.maximum(np.abs(x), np.abs(y)) < half
        return np.where(inside, MATERIAL_ID["soil"], MATERIAL_ID["grass"])

    return material


def _kinds(chance: np.random.Generator, places: Array) -> Array:
    """(n,) indices of KINDS; nearby trees are often alike, because each kind has its own slow wave over the ground."""
    heading, phase = chance.uniform(0.0, 2.0 * np.pi, (2, len(KINDS), 1))
    wave = np.sin((places[:, 0] * np.cos(heading) + places[:, 1] * np.sin(heading)) / 9.0 + phase)
    liking = np.log(np.array(SHARES))[:, None] + 0.9 * wave + chance.gumbel(0.0, 0.8, (len(KINDS), len(places)))
    return np.asarray(np.argmax(liking, axis=0))


def _hills(seed: int, half: float) -> Ground:
    chance = generator(seed, "forest/hills")
    heading, phase = chance.uniform(0.0, 2.0 * np.pi, (2, 9))
    length = chance.uniform(14.0, 70.0, 9)

    def height(x: Array, y: Array) -> Array:
        total = np.zeros_like(x)
        for k in range(9):
            along = x * np.cos(heading[k]) + y * np.sin(heading[k])
            # longer waves are higher, so that slopes stay alike
            total += 0.028 * length[k] * np.sin(2.0 * np.pi * along / length[k] + phase[k])
        near = np.clip((np.hypot(x, y) - FREE) / 12.0, 0.0, 1.0)
        return np.asarray(total * near * near * (3.0 - 2.0 * near))

    return Ground.from_function(height, (-half, -half, half, half), 1.0)
