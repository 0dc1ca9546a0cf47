"""Synthesised textures of all materials, as layers of one array. Most materials have several variants.

Those of grown and weathered surfaces are painted here. A painter is (rng, variant, size) → Painting.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from skyloop.rendering import texture_building as building
from skyloop.rendering.texture_patterns import (
    Canvas,
    Floats,
    Painting,
    cells,
    lit,
    mix,
    noise,
    normed,
    patch,
    picked,
    ramp,
    rgb,
    steps,
)
from skyloop.rendering.texture_wallpaper import KINDS, wallpaper
from skyloop.world.generation import generator, kept
from skyloop_client.errors import ScenarioError


def grass(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """0: mown lawn; 1: meadow, longer, with dry blades."""
    ground = noise(rng, size, 3, size / 3, slope=0.8)
    canvas = Canvas.of(size, ramp(normed(ground), (38, 46, 22), (58, 66, 32), (74, 78, 42)), 0.05)
    patches = noise(rng, size, 3, 40, slope=1.2)
    reach, dry = ((0.030, 0.10), (0.055, 0.22))[variant]
    living = np.array([[86, 116, 44], [104, 132, 52], [72, 106, 44], [122, 142, 62], [94, 120, 58]], np.float32) / 255
    withered = np.array([[164, 152, 92], [140, 132, 76]], np.float32) / 255
    count = size * size // (14, 20)[variant]
    for layer in range(3):
        starts = rng.random((count, 2), dtype=np.float32)
        there = patches[(starts[:, 1] * size).astype(int), (starts[:, 0] * size).astype(int)]
        body = living[rng.integers(5, size=count)]
        old = rng.random(count) < dry * (1 + 0.4 * there)
        body[old] = withered[rng.integers(2, size=int(old.sum()))]
        light = (0.66 + 0.2 * layer) * (1 + 0.05 * there + 0.12 * rng.standard_normal(count, dtype=np.float32))
        tip = body * light[:, None]
        canvas.strokes(
            starts,
            rng.uniform(0, 2 * np.pi, count).astype(np.float32),
            (reach * rng.uniform(0.35, 1, count)).astype(np.float32),
            rng.normal(0, 0.7, count).astype(np.float32),
            np.stack([tip * 0.6, tip], axis=1),
            (0.35 * layer + rng.uniform(0.1, 0.3, count)).astype(np.float32),
        )
    return canvas.colour, canvas.height


def soil(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """0: dry earth with crumbs and pebbles; 1: forest floor with fallen leaves and needles."""
    crumbs = noise(rng, size, 8, size / 2.5, slope=0.9)
    broad = noise(rng, size, 2, 14, slope=1.5)
    height = normed(crumbs + 0.15 * broad)
    dark, pale = (((84, 66, 48), (158, 132, 102)), ((50, 40, 29), (104, 82, 58)))[variant]
    colour = ramp(height, dark, pale) * (1 + 0.03 * broad[..., None])
    if variant == 0:
        stones = cells(rng, size, 56, jitter=0.95)
        chosen = rng.random(stones.count) < 0.16
        mask = chosen[stones.number] * steps(stones.nearest, 0.34, 0.22)
        tint = picked(rng, [(150, 138, 122), (120, 108, 94), (170, 156, 136)], stones.count, 0.12)[stones.number]
        dome = np.sqrt(np.clip(1 - (stones.nearest / 0.36) ** 2, 0, 1))
        colour = mix(colour * lit(height, 1.2)[..., None], tint * lit(dome, 0.8)[..., None], mask)
        return colour, np.maximum(0.6 * height, mask * (0.5 + 0.5 * dome)).astype(np.float32)
    canvas = Canvas.of(size, colour * lit(height, 1.2)[..., None], 0.4 * height)
    _litter(canvas, rng, size)
    return canvas.colour, canvas.height


def _litter(canvas: Canvas, rng: np.random.Generator, size: int) -> None:
    count = size * 4
    tint = picked(rng, [(122, 88, 52), (96, 68, 42), (150, 112, 66)], count, 0.12)
    canvas.strokes(
        rng.random((count, 2), dtype=np.float32),
        rng.uniform(0, 2 * np.pi, count).astype(np.float32),
        rng.uniform(0.008, 0.03, count).astype(np.float32),
        rng.normal(0, 0.3, count).astype(np.float32),
        np.stack([tint * 0.8, tint], axis=1),
        rng.uniform(0.4, 0.6, count).astype(np.float32),
    )
    browns = [(124, 84, 46), (146, 100, 54), (104, 72, 44), (160, 122, 72), (92, 74, 44)]
    _leaf_stamps(canvas, rng, 520, (0.012, 0.024), picked(rng, browns, 520, 0.12) * 0.85, 0.45)


def _leaf_stamps(
    canvas: Canvas, rng: np.random.Generator, count: int, reach: tuple[float, float], tints: Floats, slim: float
) -> None:
    """Leaves with a midrib and side veins, later ones on top. reach: half their length, in textures."""
    size = len(canvas.height)
    shapes = []
    for turn in np.arange(24) * (2 * np.pi * 0.381966):
        x, y, texel = patch(max(rng.uniform(*reach) * size, 2.0))
        along, across = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
        across = across + 0.12 * (along * along - 0.4)
        width = slim * np.sqrt(np.clip(1 - along * along, 0, 1)) * (1 - 0.3 * along)
        inside = width - np.abs(across)
        ribs = np.cos((along - 0.8 * np.abs(across)) * 22) > 0.8
        vein = np.maximum(steps(np.abs(across), 1.6 * texel, 0.2 * texel), 0.45 * ribs)
        side = 0.94 + 0.12 * (across > 0) - 0.25 * steps(inside, 2.5 * texel, 0.0)
        shapes.append((steps(inside, -0.5 * texel, 0.9 * texel), (side * (1 + 0.22 * vein))[..., None]))
    places_at = rng.random((count, 2))
    for k, ((u, v), shape) in enumerate(zip(places_at, rng.integers(len(shapes), size=count), strict=True)):
        mask, light = shapes[shape]
        canvas.stamp(u, v, mask, tints[k] * light, 0.3 + 0.7 * k / count)


def gravel(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """0: crushed grey stone; 1: pale river gravel."""
    palette = (
        [(148, 143, 135), (122, 118, 112), (168, 160, 148), (138, 128, 116), (106, 104, 102)],
        [(186, 172, 148), (164, 148, 124), (200, 190, 170), (150, 132, 110), (176, 158, 130)],
    )[variant]
    grain = noise(rng, size, size / 8, size / 2, slope=0.3)
    colour = np.zeros((size, size, 3), np.float32)
    colour[:] = np.array(palette[1]) / 255 * 0.42
    height = np.zeros((size, size), np.float32)
    for columns, level in ((72, 0.0), (44, 0.25)):
        stones = cells(rng, size, columns, jitter=0.9)
        there = np.ones(stones.count) if level == 0 else rng.random(stones.count) < 0.6
        mask = there[stones.number] * steps(stones.edge, 0.04, 0.14)
        tilt_u, tilt_v = rng.normal(0, 0.35, (2, stones.count)).astype(np.float32)
        dome = (
            np.clip(1.6 * stones.edge, 0, 0.6) + tilt_u[stones.number] * stones.du + tilt_v[stones.number] * stones.dv
        )
        tint = picked(rng, palette, stones.count, 0.10)[stones.number]
        shade = lit(dome, 0.9) * (0.72 + 0.35 * steps(stones.edge, 0.05, 0.3)) * (1 + 0.045 * grain)
        colour = mix(colour, tint * shade[..., None], mask)
        height = (height * (1 - mask) + mask * (level + 0.5 * np.clip(dome + 0.4, 0, 1.4))).astype(np.float32)
    return colour, height


def asphalt(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """0: worn grey; 1: fresh and dark."""
    stones = cells(rng, size, 150, jitter=0.9)
    level = (98, 70)[variant]
    tint = picked(
        rng, [(level, level, level + 2), (level + 14, level + 12, level + 9), (level - 14,) * 3], stones.count, 0.09
    )
    pale = rng.random(stones.count) < (0.07, 0.035)[variant]
    tint[pale] = picked(rng, [(168, 164, 156), (150, 146, 142)], int(pale.sum()), 0.1)
    tar = rgb(level - 32, level - 32, level - 30)
    mask = steps(stones.edge, 0.02, 0.22)
    colour = mix(tar, tint[stones.number], mask)
    worn = noise(rng, size, 2, 24, slope=1.3)
    fine = noise(rng, size, size / 6, size / 2, slope=0.2)
    colour = colour * (1 + 0.03 * worn + 0.05 * fine)[..., None]
    return colour, (0.25 + 0.5 * mask + 0.05 * fine).astype(np.float32)


def water(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """Wind ripples. 0: pond; 1: clear pool."""
    swell = noise(rng, size, 9, 34, slope=1.5, stretch=(1.7, 1.0))
    ripples = noise(rng, size, 30, 90, slope=1.0, stretch=(1.8, 1.0))
    height = normed(swell + 0.3 * ripples)
    # a wave that slopes away reflects the bright sky; one that slopes towards the eye shows the depth
    slope = np.roll(height, 1, 0) - np.roll(height, -1, 0)
    deep, middle, bright = (
        ((36, 58, 62), (58, 86, 92), (128, 156, 162)),
        ((36, 86, 106), (64, 126, 148), (150, 196, 208)),
    )[variant]
    return ramp(normed(slope + 0.05 * height), deep, middle, middle, bright), height


def bark(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """Grain along v. 0: oak, deep fissures; 1: pine, reddish plates; 2: birch, white with dark bands."""
    fibre = noise(rng, size, 10, size / 2.2, slope=0.6, stretch=(1.0, 5.0))
    if variant == 2:
        return _birch(rng, size, fibre)
    if variant == 0:
        # furrows where either of two fields crosses zero: they split and join again up the trunk
        first = noise(rng, size, 7, 60, slope=1.0, stretch=(1.0, 5.0))
        second = noise(rng, size, 11, 90, slope=1.0, stretch=(1.0, 4.0))
        ridge = steps(np.abs(first), 0.0, 0.8) * (0.4 + 0.6 * steps(np.abs(second), 0.0, 0.6))
        own: Floats = np.ones((size, size), np.float32)
    else:
        bend = (0.16 * noise(rng, size, 3, 16, slope=1.0), 0.16 * noise(rng, size, 3, 16, slope=1.0))
        plates = cells(rng, size, 13, 6, jitter=0.9, bend=bend)
        ridge = steps(plates.edge + 0.03 * fibre, 0.0, 0.25)
        own = (1 + 0.06 * rng.standard_normal(plates.count).astype(np.float32))[plates.number]
    rough = noise(rng, size, 12, size / 2.5, slope=0.9, stretch=(1.0, 2.0))
    height = normed(ridge + 0.09 * fibre + 0.05 * rough)
    dark, light = (((40, 32, 26), (98, 84, 70), (152, 138, 120)), ((48, 36, 30), (118, 86, 68), (164, 128, 106)))
    low, middle, high = (dark, light)[variant]
    return ramp(height, low, middle, high) * (own * lit(height, 0.9))[..., None], height


def _birch(rng: np.random.Generator, size: int, fibre: Floats) -> Painting:
    peel = noise(rng, size, 6, 120, slope=1.0, stretch=(6.0, 1.0))
    white = ramp(normed(peel + 0.2 * fibre), (176, 168, 156), (214, 208, 198), (232, 228, 222))
    canvas = Canvas.of(size, white, 0.6 + 0.08 * normed(peel))
    for _ in range(90):
        x, y, _ = patch(rng.uniform(0.01, 0.05) * size)
        thin = rng.uniform(0.06, 0.14)
        mask = steps(np.hypot(x, y / thin) + 0.15 * rng.standard_normal(x.shape, dtype=np.float32), 1.0, 0.75)
        canvas.stamp(rng.random(), rng.random(), mask * 0.85, rgb(66, 56, 50) * rng.uniform(0.7, 1.3), 0.3)
    scars = steps(noise(rng, size, 4, 60, slope=1.0, stretch=(2.2, 1.0)) + 0.25 * fibre, 1.75, 2.3)
    return mix(canvas.colour, rgb(44, 38, 36), scars), (canvas.height * (1 - 0.7 * scars)).astype(np.float32)


def leaves(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """0: broad leaves; 1: small leaves of a hedge; 2: needles."""
    greens = [(74, 108, 42), (88, 124, 50), (62, 96, 42), (104, 136, 58), (84, 114, 62)]
    if variant == 2:
        return _needles(rng, size)
    count, reach, slim = ((300, (0.055, 0.085), 0.5), (1100, (0.026, 0.042), 0.46))[variant]
    dark = noise(rng, size, 4, size / 4, slope=1.0)
    canvas = Canvas.of(size, ramp(normed(dark), (22, 34, 14), (40, 58, 24)), 0.0)
    depth = np.linspace(0.6, 1.12, count, dtype=np.float32)[:, None]
    _leaf_stamps(canvas, rng, count, reach, picked(rng, greens, count, 0.08) * depth, slim)
    fine = noise(rng, size, size / 10, size / 2.5, slope=0.4)
    return canvas.colour * (1 + 0.035 * fine)[..., None], canvas.height


def _needles(rng: np.random.Generator, size: int) -> Painting:
    canvas = Canvas.of(size, rgb(24, 34, 22), 0.0)
    for layer in range(4):
        twigs, needles = (110, 90, 60, 50)[layer], 70
        count = twigs * needles
        heading = np.repeat(rng.uniform(0, 2 * np.pi, twigs), needles)
        along = np.tile(np.linspace(0, 0.24, needles), twigs)
        base = np.repeat(rng.random((twigs, 2)), needles, axis=0)
        starts = base + along[:, None] * np.stack([np.cos(heading), np.sin(heading)], axis=1)
        side = np.tile([0.75, -0.75], count // 2) + rng.normal(0, 0.16, count)
        tint = picked(rng, [(58, 86, 54), (70, 100, 60), (48, 76, 52)], count, 0.12) * (0.75 + 0.18 * layer)
        canvas.strokes(
            starts.astype(np.float32),
            (heading + side).astype(np.float32),
            rng.uniform(0.03, 0.055, count).astype(np.float32),
            (-0.4 * side).astype(np.float32),
            np.stack([tint * 0.75, tint * 1.15], axis=1),
            np.full(count, 0.25 + 0.22 * layer, np.float32),
        )
    return canvas.colour, canvas.height


def rock(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """0: grey granite; 1: warm sandstone."""
    bend = (0.12 * noise(rng, size, 3, 60, slope=1.2), 0.12 * noise(rng, size, 3, 60, slope=1.2))
    slabs = cells(rng, size, 5, 7, jitter=0.95, bend=bend)
    tilt_u, tilt_v, own = rng.normal(0, 1.0, (3, slabs.count)).astype(np.float32)
    facets = tilt_u[slabs.number] * slabs.du + tilt_v[slabs.number] * slabs.dv
    rough = noise(rng, size, 5, size / 2.2, slope=1.1)
    cracks = steps(slabs.edge + 0.015 * rough, 0.0, 0.06)
    height = normed(0.8 * facets + 0.25 * rough + 0.7 * cracks)
    tones = (((92, 90, 86), (132, 130, 125), (166, 163, 157)), ((118, 98, 76), (164, 142, 112), (196, 176, 146)))[
        variant
    ]
    specks = noise(rng, size, size / 6, size / 2, slope=0.0)
    colour = (
        ramp(normed(rough + 0.5 * specks), *tones)
        * (lit(height, 1.2) * (0.62 + 0.38 * cracks) * (1 + 0.05 * own[slabs.number]))[..., None]
    )
    return colour, height


def snow(rng: np.random.Generator, variant: int, size: int) -> Painting:
    drift = noise(rng, size, 3, 40, slope=1.6)
    grain = noise(rng, size, size / 10, size / 2, slope=0.2)
    height = normed(drift + 0.25 * grain)
    return ramp(normed(0.6 * drift + grain), (218, 224, 234), (236, 239, 244), (250, 251, 253)), height


Painter = Callable[[np.random.Generator, int, int], Painting]

PAINTERS: Final[dict[str, tuple[Painter, int]]] = {
    "plain": (building.plain, 1),
    "grass": (grass, 2),
    "soil": (soil, 2),
    "gravel": (gravel, 2),
    "asphalt": (asphalt, 2),
    "paving": (building.paving, 2),
    "water": (water, 2),
    "brick": (building.brick, 3),
    "plaster": (building.plaster, 3),
    "concrete": (building.concrete, 2),
    "formboard": (building.formboard, 1),
    "bark": (bark, 3),
    "leaves": (leaves, 3),
    "wood": (building.wood, 3),
    "tiles": (building.tiles, 3),
    "roof_tiles": (building.roof_tiles, 3),
    "wallpaper": (wallpaper, 3 * len(KINDS)),
    "glass": (building.glass, 2),
    "metal": (building.metal, 2),
    "cloth": (building.cloth, 4),
    "hair": (building.hair, 2),
    "cardboard": (building.cardboard, 1),
    "rock": (rock, 2),
    "snow": (snow, 1),
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
    """Changes hue, saturation and brightness as much as objects of this kind usually differ."""
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
    return np.asarray(np.clip(colour @ matrix.T.astype(np.float32), 0, 1))
