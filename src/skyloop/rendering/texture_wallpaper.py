"""Wallpapers rich in corners from 1 cm to 40 cm, so that a camera 1 m to 5 m away can track any wall of `room`.

There are twelve kinds of pattern, each in three colourings. Randomly placed elements do not repeat within a texture.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from skyloop.rendering.texture_patterns import (
    Canvas,
    Floats,
    Painting,
    cells,
    mix,
    noise,
    patch,
    picked,
    places,
    ramp,
    steps,
)

Palette = list[tuple[float, float, float]]
Stamp = Callable[[Floats, Floats, float], Floats]

# background first, then inks; old house paints rather than primary colours
PALETTES: Final[tuple[Palette, ...]] = (
    [(232, 224, 206), (62, 78, 92), (168, 92, 70), (196, 164, 104), (112, 130, 112)],
    [(58, 72, 78), (222, 210, 184), (188, 138, 90), (142, 164, 160), (120, 66, 58)],
    [(214, 220, 214), (70, 98, 84), (196, 120, 104), (54, 60, 74), (176, 168, 120)],
    [(228, 208, 188), (120, 62, 66), (66, 84, 108), (186, 146, 96), (88, 96, 72)],
    [(74, 88, 72), (224, 216, 190), (196, 156, 96), (148, 172, 140), (44, 48, 50)],
    [(206, 214, 224), (52, 70, 110), (146, 92, 104), (232, 232, 226), (110, 124, 150)],
)


def wallpaper(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """The kind is variant % 12, the colouring variant // 12."""
    kind, colouring = variant % len(KINDS), variant // len(KINDS)
    palette = PALETTES[(kind + 2 * colouring) % len(PALETTES)]
    canvas = KINDS[kind](rng, size, palette, colouring)
    fibre = noise(rng, size, size / 8, size / 2.5, slope=0.2)
    return canvas.colour * (1 + 0.025 * fibre)[..., None], (canvas.height + 0.03 * fibre).astype(np.float32)


def _ink(palette: Palette, k: int) -> Floats:
    return np.array(palette[k % len(palette)], np.float32) / 255


def _disc(x: Floats, y: Floats, texel: float) -> Floats:
    return steps(np.hypot(x, y), 0.95 + texel, 0.95 - texel)


def _ring(x: Floats, y: Floats, texel: float) -> Floats:
    return steps(np.abs(np.hypot(x, y) - 0.72), 0.2 + texel, 0.2 - texel)


def _square(x: Floats, y: Floats, texel: float) -> Floats:
    return steps(np.maximum(np.abs(x), np.abs(y)), 0.68 + texel, 0.68 - texel)


def _cross(x: Floats, y: Floats, texel: float) -> Floats:
    arms = np.maximum(np.minimum(np.abs(x), np.abs(y)) - 0.26, np.maximum(np.abs(x), np.abs(y)) - 0.9)
    return steps(arms, texel, -texel)


def _triangle(x: Floats, y: Floats, texel: float) -> Floats:
    return steps(np.maximum(-y - 0.45, np.maximum(0.87 * x + 0.5 * y, -0.87 * x + 0.5 * y) - 0.45), texel, -texel)


def _leaf(x: Floats, y: Floats, texel: float) -> Floats:
    inside = 0.42 * np.sqrt(np.clip(1 - x * x, 0, 1)) * (1 - 0.3 * x) - np.abs(y)
    return steps(inside, -texel, texel) * (1 - 0.75 * steps(np.abs(y), 2 * texel, 0.4 * texel))


def _star(x: Floats, y: Floats, texel: float) -> Floats:
    return steps(np.hypot(x, y) * (1.0 + 0.5 * np.cos(5 * np.arctan2(y, x))), 0.55 + texel, 0.55 - texel)


def _flower(x: Floats, y: Floats, texel: float) -> Floats:
    """Petals around an open ring, where the centre is stamped."""
    r, angle = np.hypot(x, y), np.arctan2(y, x)
    petals = steps(r - 0.62 - 0.3 * np.abs(np.cos(2.5 * angle)), texel, -texel)
    return petals * (1 - 0.8 * steps(np.abs(np.sin(2.5 * angle)) * r, 1.6 * texel, 0.3 * texel) * steps(r, 0.7, 0.5))


def _turned(
    rng: np.random.Generator, shapes: Sequence[Stamp], count: int, reach: tuple[float, float], size: int
) -> list[Floats]:
    """Masks of the shapes in turn, with random sizes within reach (radius, in textures) and random headings."""
    masks = []
    for k in range(count):
        x, y, texel = patch(max(rng.uniform(*reach) * size, 1.5))
        turn = rng.uniform(0, 2 * np.pi)
        local = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
        masks.append(shapes[k % len(shapes)](*local, texel))
    return masks


def _scatter(
    canvas: Canvas,
    rng: np.random.Generator,
    shapes: Sequence[Stamp],
    raster: int,
    reach: tuple[float, float],
    inks: Floats,
    *,
    share: float = 1.0,
    height: float = 0.6,
) -> None:
    """Places a stamp in each square of a jittered grid, or in a share of them; reach: its radius, in textures."""
    size = len(canvas.height)
    masks = _turned(rng, shapes, 6 * len(shapes), reach, size)
    squares = rng.permutation(raster * raster)[: int(share * raster * raster)]
    shaken = rng.uniform(0.1, 0.9, (len(squares), 2))
    which, colour = rng.integers(len(masks), size=len(squares)), rng.integers(len(inks), size=len(squares))
    for square, (du, dv), mask, ink in zip(squares, shaken, which, colour, strict=True):
        u, v = (square % raster + du) / raster, (square // raster + dv) / raster
        canvas.stamp(u, v, masks[mask], inks[ink], height)


def _inks(rng: np.random.Generator, palette: Palette, count: int = 12, spread: float = 0.1) -> Floats:
    return picked(rng, palette[1:], count, spread)


def stripes(rng: np.random.Generator, size: int, palette: Palette, colouring: int) -> Canvas:
    """Upright stripes of many widths, with garlands and blossoms on them."""
    widths = rng.uniform(0.4, 1.6, (16, 22, 12)[colouring])
    edges = np.concatenate([[0], np.cumsum(widths) / widths.sum()])
    stripe = np.searchsorted(edges, places(size)[0][0], side="right") - 1
    tints = picked(rng, palette[:3], len(widths), 0.08)
    tints[1::2] = picked(rng, palette[:1], len(tints[1::2]), 0.05)
    canvas = Canvas.of(size, tints[stripe][None], 0.4)
    for middle, wide in zip((edges[:-1] + edges[1:]) / 2, np.diff(edges), strict=True):
        masks = _turned(rng, (_leaf, _flower, _star), 6, (0.25 * wide, 0.45 * wide), size)
        count, sway = int(1.2 / wide), rng.uniform(0, 2 * np.pi)
        for k in range(count):
            at = middle + 0.2 * wide * np.sin(sway + 2 * np.pi * 3 * k / count), (k + rng.uniform(0, 0.5)) / count
            canvas.stamp(*at, masks[int(rng.integers(6))], _ink(palette, int(rng.integers(1, 5))), 0.6)
    _scatter(canvas, rng, (_disc, _star), 24, (0.005, 0.009), _inks(rng, palette), share=0.7)
    return canvas


def damask(rng: np.random.Generator, size: int, palette: Palette, colouring: int) -> Canvas:
    """Mirrored ornaments in a half-drop grid, each different, between sprigs."""
    canvas = Canvas.of(size, _ink(palette, 0), 0.3)
    columns, rows = ((5, 4), (4, 4), (6, 4))[colouring]
    for column in range(columns):
        for row in range(rows):
            n = int(0.46 * size / columns)
            field = noise(rng, 2 * n + 2, 3, 14, slope=0.9)[: 2 * n + 1, : n + 1]
            half = np.concatenate([field[:, :0:-1], field], axis=1)
            y, x = np.mgrid[-1 : 1 : (2 * n + 1) * 1j, -1 : 1 : (2 * n + 1) * 1j].astype(np.float32)
            lens = np.abs(x) + 0.75 * y * y
            body = steps(half - 1.6 * lens + 1.0, 0.0, 0.12)
            lines = steps(np.abs(half - 1.6 * lens + 0.45), 0.1, 0.03)
            at = (column + 0.5) / columns, (row + 0.5 * (column % 2)) / rows
            canvas.stamp(*at, body, _ink(palette, 1 + (column + row) % 2), 0.6)
            canvas.stamp(*at, lines * body, _ink(palette, 3), 0.75)
    _scatter(canvas, rng, (_leaf, _flower, _disc), 26, (0.007, 0.014), _inks(rng, palette), share=0.6)
    return canvas


def dots(rng: np.random.Generator, size: int, palette: Palette, colouring: int) -> Canvas:
    """Dots and rings of many sizes."""
    canvas = Canvas.of(size, _ink(palette, 0), 0.4)
    for raster, reach, share in ((7, (0.03, 0.065), 0.7), (14, (0.014, 0.03), 0.8), (28, (0.006, 0.013), 0.8)):
        shapes = ((_disc, _ring), (_disc,), (_ring, _ring, _disc))[colouring]
        _scatter(canvas, rng, shapes, raster, reach, _inks(rng, palette), share=share)
    _scatter(canvas, rng, (_disc,), 34, (0.004, 0.007), _inks(rng, palette[:2] * 2), share=0.6)
    return canvas


def florals(rng: np.random.Generator, size: int, palette: Palette, colouring: int) -> Canvas:
    """Blossoms over leaves."""
    canvas = Canvas.of(size, _ink(palette, 0), 0.3)
    leaf_inks = picked(rng, [(98, 116, 84), (122, 136, 98), (76, 96, 78)], 8, 0.1)
    _scatter(canvas, rng, (_leaf,), (16, 12, 20)[colouring], (0.02, 0.045), leaf_inks, share=0.9, height=0.45)
    bloom = (0.018, (0.045, 0.06, 0.034)[colouring])
    _scatter(canvas, rng, (_flower,), (12, 9, 15)[colouring], bloom, _inks(rng, palette), share=0.6, height=0.7)
    _scatter(canvas, rng, (_flower, _leaf, _disc), 30, (0.006, 0.012), _inks(rng, palette), share=0.6)
    return canvas


def shards(rng: np.random.Generator, size: int, palette: Palette, colouring: int) -> Canvas:
    """Polygons of two sizes; each large one has its own mixture of inks."""
    raster = (9, 12, 7)[colouring]
    large = cells(rng, size, raster, jitter=0.9)
    small = cells(rng, size, 3 * raster, jitter=0.95)
    inks = np.array(palette, np.float32) / 255
    pair = inks[rng.integers(len(inks), size=(large.count, 2))]
    chosen = pair[large.number, rng.integers(2, size=small.count)[small.number]]
    light = (1 + 0.16 * rng.standard_normal(small.count).astype(np.float32))[small.number]
    line = steps(large.edge * 3 / raster, 2.5 / size, 8.0 / size)
    colour = mix(_ink(palette, 4), chosen * light[..., None], line)
    return Canvas.of(size, np.clip(colour, 0, 1), (0.3 + 0.3 * line * steps(small.edge, 0.0, 0.1)).astype(np.float32))


def collage(rng: np.random.Generator, size: int, palette: Palette, colouring: int) -> Canvas:
    """Overlapping photographs: landscapes, portraits, streets, all different."""
    canvas = Canvas.of(size, _ink(palette, 1) * 0.8, 0.2)
    raster = (8, 9, 7)[colouring]
    skies = ramp(np.linspace(0, 1, 64, dtype=np.float32), (236, 226, 206), (150, 178, 204), (92, 120, 160))
    for square in np.concatenate([rng.permutation(raster * raster), rng.permutation(raster * raster)[: raster * 3]]):
        n = int(rng.uniform(0.55, 0.9) * size / raster)
        h, w = (n, int(n * rng.uniform(1.1, 1.5))) if rng.random() < 0.5 else (int(n * rng.uniform(1.1, 1.5)), n)
        picture = _photograph(rng, h, w, skies, palette)
        rim = max(2, n // 14)
        framed = np.full((h + 2 * rim, w + 2 * rim, 3), 0.92, np.float32)
        framed[rim:-rim, rim:-rim] = picture
        du, dv = rng.uniform(0.25, 0.75, 2)
        u, v = (square % raster + du) / raster, (square // raster + dv) / raster
        shadow = np.full((h + 2 * rim, w + 2 * rim), 0.45, np.float32)
        canvas.stamp(u + 1.5 / size, v - 1.5 / size, shadow, np.zeros(3, np.float32), 0.3)
        canvas.stamp(u, v, np.ones_like(shadow), framed, 0.7)
    return canvas


def _photograph(rng: np.random.Generator, h: int, w: int, skies: Floats, palette: Palette) -> Floats:
    x, y = np.linspace(0, 1, w, dtype=np.float32)[None, :], np.linspace(0, 1, h, dtype=np.float32)[:, None]
    picture = np.repeat(skies[(np.linspace(0, 63, h)).astype(int)][:, None], w, axis=1).copy()
    scene = rng.integers(3)
    if scene == 0:
        for level in (0.55, 0.4, 0.22):
            a, b = rng.uniform(3, 9, 2)
            ridge = level + 0.07 * np.sin(a * x + 6 * b) + 0.04 * np.sin(5 * b * x)
            picture[y < ridge] = _ink(palette, int(rng.integers(1, 5))) * rng.uniform(0.5, 1.1)
    elif scene == 1:
        for _ in range(7):
            left, wide, tall = rng.uniform(0, 0.85), rng.uniform(0.12, 0.3), rng.uniform(0.3, 0.85)
            house = (x > left) & (x < left + wide) & (y < tall)
            panes = (np.floor(x * 14) % 2 == 0) & (np.floor(y * 14) % 2 == 0)
            tint = _ink(palette, int(rng.integers(0, 5))) * rng.uniform(0.6, 1.0)
            picture[house] = tint
            picture[house & panes] = 1 - 0.8 * tint
    else:
        picture[:] = _ink(palette, int(rng.integers(1, 5))) * 0.8
        middle = 0.5 + rng.uniform(-0.1, 0.1)
        picture[((x - middle) / 0.34) ** 2 + ((y - 0.05) / 0.42) ** 2 < 1] = (
            _ink(palette, int(rng.integers(1, 5))) * 0.6
        )
        picture[((x - middle) / 0.2) ** 2 + ((y - 0.66) / 0.24) ** 2 < 1] = (0.24, 0.18, 0.15)
        picture[((x - middle) / 0.16) ** 2 + ((y - 0.6) / 0.22) ** 2 < 1] = (0.82, 0.66, 0.56)
    picture *= 1 + 0.05 * rng.standard_normal((h, w, 1), dtype=np.float32)
    return picture


def lettering(rng: np.random.Generator, size: int, palette: Palette, colouring: int) -> Canvas:
    """Pasted newsprint: columns of invented letters in several sizes."""
    canvas = Canvas.of(size, _ink(palette, 0), 0.4)
    glyphs = _alphabet(rng)
    for top, tall in _lines(rng, size, ((10, 14, 22, 40), (12, 18, 30, 54), (9, 12, 20, 64))[colouring]):
        scale = tall / 9
        n = max(4, round(7 * scale)), max(3, round(5 * scale))
        pick = np.ix_((np.arange(n[0]) * 7 // n[0]), (np.arange(n[1]) * 5 // n[1]))
        pitch = n[1] + max(1, round(1.2 * scale))
        letters = size // pitch
        ink = _ink(palette, int(rng.integers(1, 5)) if tall > 20 else 1)
        for k in range(letters):
            if rng.random() < 0.86:
                glyph = glyphs[int(rng.integers(len(glyphs)))][pick]
                canvas.stamp((k + 0.5) / letters, (top + tall / 2) / size, glyph, ink, 0.5)
    return canvas


def _alphabet(rng: np.random.Generator, letters: int = 40) -> Floats:
    """(letters, 7, 5) of stems, bars and slants, three to five each; row 0 is the bottom."""
    strokes = np.zeros((9, 7, 5), np.float32)
    strokes[0, :, 0] = strokes[1, :, 4] = strokes[2, :, 2] = strokes[3, :4, 4] = strokes[4, 3:, 0] = 1
    strokes[5, 0] = strokes[6, 3] = strokes[7, 6] = 1
    strokes[8, np.arange(7), np.arange(7) * 4 // 6] = 1
    weights = np.array([5, 2, 1, 2, 1, 2, 3, 3, 1]) / 20
    chosen = [rng.choice(9, rng.integers(3, 5), replace=False, p=weights) for _ in range(letters)]
    return np.stack([strokes[strokes_of].max(axis=0) for strokes_of in chosen])


def _lines(rng: np.random.Generator, size: int, sizes: Sequence[int]) -> list[tuple[int, int]]:
    """(lowest row, height) of the lines of print, which fill the texture exactly."""
    lines, top = [], 0
    while size - top >= 8:
        tall = min(int(rng.choice(sizes, p=(0.3, 0.3, 0.25, 0.15)) * size / 512), size - top)
        lines.append((top, max(tall, 4)))
        top += max(tall, 4)
    return lines


def terrazzo(rng: np.random.Generator, size: int, palette: Palette, colouring: int) -> Canvas:
    """Stone chips of three sizes on a light background."""
    canvas = Canvas.of(size, _ink(palette, 0), 0.5)
    colour, height = canvas.colour, canvas.height
    for raster, share, gap in (((34, 26, 40)[colouring], 0.6, 0.16), (18, 0.45, 0.12), (9, 0.3, 0.1)):
        chips = cells(rng, size, raster, jitter=0.95)
        there = rng.random(chips.count) < share
        mask = there[chips.number] * steps(chips.edge, gap, gap + 3.0 * raster / size)
        colour = mix(colour, _inks(rng, palette, chips.count, 0.15)[chips.number], mask)
        height = np.maximum(height, 0.6 * mask)
    return Canvas.of(size, colour, height)


def labyrinth(rng: np.random.Generator, size: int, palette: Palette, colouring: int) -> Canvas:
    """Bands that turn at random from tile to tile, over patches of colour."""
    raster = (16, 20, 12)[colouring]
    u, v = places(size)
    column, row = np.floor(u * raster).astype(np.intp), np.floor(v * raster).astype(np.intp)
    x, y = u * raster - column, v * raster - row
    flip = (rng.random((raster, raster)) < 0.5)[row, column]
    x = np.where(flip, 1 - x, x)
    width = 0.5 * raster / size
    near = np.minimum(np.abs(np.hypot(x, y) - 0.5), np.abs(np.hypot(1 - x, 1 - y) - 0.5))
    band = steps(near, 0.17 + width, 0.17 - width)
    core = steps(near, 0.06 + width, 0.06 - width)
    tone = picked(rng, palette[:2] * 2 + palette[2:], raster * raster, 0.1)[row * raster + column]
    patches = cells(rng, size, 5, jitter=0.9)
    ink = _inks(rng, palette, patches.count)[patches.number]
    colour = mix(mix(tone, ink, band), _ink(palette, 0), core)
    canvas = Canvas.of(size, colour, (0.3 + 0.4 * band).astype(np.float32))
    _scatter(canvas, rng, (_disc, _square, _cross), 24, (0.005, 0.01), _inks(rng, palette), share=0.5)
    return canvas


def patchwork(rng: np.random.Generator, size: int, palette: Palette, colouring: int) -> Canvas:
    """Painted tiles, each with its own four-fold ornament."""
    raster = (8, 10, 7)[colouring]
    canvas = Canvas.of(size, _ink(palette, 0) * 0.75, 0.2)
    n = int(size / raster / 2) - 1
    x, y = np.meshgrid(np.linspace(0, 1, n, dtype=np.float32), np.linspace(0, 1, n, dtype=np.float32))
    for square in range(raster * raster):
        field = np.zeros((n, n), np.float32)
        for _ in range(3):
            a, b = rng.integers(1, 5, 2)
            p, q = rng.uniform(0, 2 * np.pi, 2)
            field += np.cos(np.pi * a * x + p) * np.cos(np.pi * b * y + q) + np.cos(np.pi * a * y + p) * np.cos(
                np.pi * b * x + q
            )
        levels = np.digitize(field, (-1.0, 0.1, 0.9))
        tint = np.array(palette, np.float32)[rng.permutation(5)[:4]] / 255
        corner = tint[levels]
        whole = np.concatenate([corner[::-1], corner])
        whole = np.concatenate([whole[:, ::-1], whole], axis=1) * np.float32(rng.uniform(0.88, 1.05))
        at = (square % raster + 0.5) / raster, (square // raster + 0.5) / raster
        canvas.stamp(*at, np.ones(whole.shape[:2], np.float32), whole, 0.6)
    return canvas


def confetti(rng: np.random.Generator, size: int, palette: Palette, colouring: int) -> Canvas:
    """Stars, crosses, squares and triangles of all sizes."""
    canvas = Canvas.of(size, _ink(palette, 0), 0.4)
    shapes = ((_star, _cross, _triangle), (_square, _triangle), (_cross, _star, _ring))[colouring]
    for raster, reach, share in ((7, (0.03, 0.06), 0.6), (15, (0.014, 0.026), 0.8), (30, (0.006, 0.012), 0.8)):
        _scatter(canvas, rng, shapes, raster, reach, _inks(rng, palette), share=share)
    return canvas


def bookshelf(rng: np.random.Generator, size: int, palette: Palette, colouring: int) -> Canvas:
    """Printed shelves full of books, with titles on their spines."""
    canvas = Canvas.of(size, np.array((58, 44, 36), np.float32) / 255, 0.1)
    shelves = (8, 6, 7)[colouring]
    pitch = size / shelves
    for shelf in range(shelves):
        left = rng.uniform(0, size)
        end = left + size
        while left < end - 2:
            wide = min(rng.uniform(0.09, 0.22) * pitch, end - left)
            tall = rng.uniform(0.62, 0.86) * pitch
            _book(canvas, rng, left, shelf * pitch + 0.1 * pitch, wide, tall, palette)
            left += wide + (rng.uniform(0.1, 0.4) * pitch if rng.random() < 0.05 else 0.0)
        board = np.ones((max(2, int(0.1 * pitch)), size), np.float32)
        canvas.stamp(0.5, (shelf + 0.05) / shelves, board, np.array((150, 112, 76), np.float32) / 255, 0.9)
    return canvas


def _book(
    canvas: Canvas, rng: np.random.Generator, left: float, foot: float, wide: float, tall: float, palette: Palette
) -> None:
    """left, foot, wide, tall: in texels."""
    size = len(canvas.height)
    h, w = max(int(tall), 4), max(int(wide), 2)
    spine = np.empty((h, w, 3), np.float32)
    tint = _ink(palette, int(rng.integers(0, 5))) * rng.uniform(0.65, 1.1)
    spine[:] = tint * (1 - 0.35 * np.abs(np.linspace(-1, 1, w, dtype=np.float32)) ** 3)[:, None]
    title = _ink(palette, int(rng.integers(0, 5)))
    title = title if np.abs(title - tint).sum() > 0.4 else 1 - 0.8 * tint
    low, high = int(h * rng.uniform(0.15, 0.4)), int(h * rng.uniform(0.6, 0.9))
    rim = max(1, w // 4)
    letters = rng.random((high - low, 1)) < 0.6
    spine[low:high, rim : w - rim] = np.where(letters[..., None], title, spine[low:high, rim : w - rim])
    for at in rng.integers(1, h - 2, 2):
        spine[at : at + 2] = title
    canvas.stamp((left + w / 2) / size, (foot + h / 2) / size, np.ones((h, w), np.float32), np.clip(spine, 0, 1), 0.6)


KINDS: Final = (
    stripes, damask, dots, florals, shards, collage, lettering, terrazzo, labyrinth, patchwork, confetti, bookshelf,
)  # fmt: skip
