"""Synthesised textures of all materials, as layers of one array. Most materials have several variants."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from skyloop.rendering import texture_building as building
from skyloop.rendering import texture_nature as nature
from skyloop.rendering.texture_patterns import Painting
from skyloop.rendering.texture_wallpaper import KINDS, wallpaper
from skyloop.world.generation import generator, kept
from skyloop_client.errors import ScenarioError

Painter = Callable[[np.random.Generator, int, int], Painting]

PAINTERS: Final[dict[str, tuple[Painter, int]]] = {
    "plain": (building.plain, 1),
    "grass": (nature.grass, 2),
    "soil": (nature.soil, 2),
    "gravel": (nature.gravel, 2),
    "asphalt": (nature.asphalt, 2),
    "paving": (building.paving, 2),
    "water": (nature.water, 2),
    "brick": (building.brick, 3),
    "plaster": (building.plaster, 3),
    "concrete": (building.concrete, 2),
    "formboard": (building.formboard, 1),
    "bark": (nature.bark, 3),
    "leaves": (nature.leaves, 3),
    "wood": (building.wood, 3),
    "tiles": (building.tiles, 3),
    "roof_tiles": (building.roof_tiles, 3),
    "wallpaper": (wallpaper, 3 * len(KINDS)),
    "glass": (building.glass, 2),
    "metal": (building.metal, 2),
    "cloth": (building.cloth, 4),
    "hair": (building.hair, 2),
    "cardboard": (building.cardboard, 1),
    "rock": (nature.rock, 2),
    "snow": (nature.snow, 1),
}
"""Each painter with its number of variants; the painter's docstring describes them."""

VARIANTS: Final = {name: count for name, (_, count) in PAINTERS.items()}

# these keep their tone with all seeds, because vertex colours tint them
TINTED: Final = frozenset({"plain", "plaster", "concrete", "formboard", "metal", "cloth", "hair", "snow"})


def texture_layers(
    names: Sequence[str], seed: int, size: int = 512
) -> tuple[NDArray[np.uint8], dict[str, tuple[int, int]]]:
    """(layers, size, size, 4) sRGB and a height for bumps, rows along v; and each name's (first layer, variants).

    Seed 0 is the standard look; other seeds draw other patterns and vary the colours.
    """
    unknown = sorted(set(names) - set(PAINTERS))
    if unknown:
        raise ScenarioError(f"no texture {unknown[0]!r}; there are {', '.join(sorted(PAINTERS))}")
    places: dict[str, tuple[int, int]] = {}
    first = 0
    for name in dict.fromkeys(names):
        places[name] = first, VARIANTS[name]
        first += VARIANTS[name]
    layers = np.empty((first, size, size, 4), np.uint8)
    for name, (at, count) in places.items():
        layers[at : at + count] = _kept_layers(name, seed, size)
    return layers, places


def _kept_layers(name: str, seed: int, size: int) -> NDArray[np.uint8]:
    topic = f"texture/{name}/{seed}/{size}/{_recipes_mark()}"
    return kept(topic, __file__, lambda: {"layers": _painted(name, seed, size)})["layers"]


@cache
def _recipes_mark() -> str:
    """A hash that changes with any of the files that paint textures."""
    files = sorted(Path(__file__).parent.glob("texture_*.py"))
    return hashlib.blake2b(b"".join(file.read_bytes() for file in files), digest_size=8).hexdigest()


def _painted(name: str, seed: int, size: int) -> NDArray[np.uint8]:
    painter, count = PAINTERS[name]
    layers = np.empty((count, size, size, 4), np.uint8)
    for variant in range(count):
        rng = generator(seed, f"texture/{name}/{variant}")
        colour, height = painter(rng, variant, size)
        if seed != 0:
            colour = _varied(colour, rng, name)
        for channel, value in enumerate((*np.moveaxis(colour, -1, 0), height)):
            layers[variant, ..., channel] = np.clip(value * 255 + 0.5, 0, 255)
    return layers


def _varied(colour: NDArray[np.float32], rng: np.random.Generator, name: str) -> NDArray[np.float32]:
    """Changes hue, saturation and brightness as much as things of this kind usually differ."""
    # wallpaper may be printed in any colour, grass may not
    turn = rng.uniform(-1, 1) * (0.02 if name in TINTED else 0.8 if name == "wallpaper" else 0.13)
    saturation = rng.uniform(0.75, 1.2)
    brightness = rng.uniform(0.96, 1.02) if name in TINTED else rng.uniform(0.85, 1.12)
    third = (1 - np.cos(turn)) / 3
    cross = np.sin(turn) / np.sqrt(3)
    # a rotation about the grey axis
    hue = np.cos(turn) * np.eye(3) + third + cross * np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    grey = np.full((3, 3), 1 / 3)
    matrix = brightness * (saturation * hue + (1 - saturation) * grey)
    return np.clip(colour @ matrix.T.astype(np.float32), 0, 1)  # type: ignore[no-any-return]
