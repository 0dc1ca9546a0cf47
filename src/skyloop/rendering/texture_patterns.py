"""Building blocks of textures: noise, cells, strokes and stamps on a square that tiles seamlessly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import floor
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.floating]
Complexes = NDArray[np.complex64]
Painting = tuple[Floats, Floats]
"""(n, n, 3) sRGB and (n, n) height, both 0 to 1; rows run along v, up a wall, columns along u."""

BAND: Final = 32
"""Rows processed at once where whole arrays would spend most of the time on page faults."""


@lru_cache(maxsize=8)
def _frequencies(size: int, stretch_u: float, stretch_v: float) -> tuple[Floats, Floats]:
    fu = np.fft.rfftfreq(size, 1.0 / size).astype(np.float32) * np.float32(stretch_u)
    fv = np.fft.fftfreq(size, 1.0 / size).astype(np.float32) * np.float32(stretch_v)
    square = fu[None, :] ** 2 + fv[:, None] ** 2 + np.float32(1e-6)
    return square, 0.5 * np.log(square)


def noise(
    rng: np.random.Generator,
    size: int,
    coarse: float,
    fine: float,
    *,
    slope: float = 1.0,
    stretch: tuple[float, float] = (1.0, 1.0),
) -> Floats:
    """Noise of zero mean and unit deviation, with `coarse` to `fine` cycles per texture, weaker as cycles^-slope.

    stretch: how many times longer the grain is along (u, v).
    """
    # imported here, because it takes a third of a second and painted textures are cached
    from scipy.fft import irfft2

    square, log = _frequencies(size, *stretch)
    gain = np.exp(np.float32(-slope) * log)
    gain /= (1 + np.square(np.float32(coarse**2) / square)) * (1 + np.square(square / np.float32(fine**2)))
    gain[0, 0] = 0.0
    shape = (*gain.shape, 2)
    spectrum = rng.standard_normal(shape, dtype=np.float32).view(np.complex64)[..., 0] * gain
    field: Floats = irfft2(spectrum, s=(size, size))
    field /= field.std()
    return field


@dataclass(frozen=True, slots=True)
class VoronoiCells:
    """Scattered points around each texel; distances are in cell widths."""

    nearest: Floats
    second: Floats
    number: NDArray[np.intp]
    du: Floats
    dv: Floats
    """From the nearest point to the texel, in cell widths."""
    count: int

    @property
    def edge(self) -> Floats:
        """0 on the border between two cells, about 0.5 in the middle of a cell."""
        return self.second - self.nearest


def cells(
    rng: np.random.Generator,
    size: int,
    columns: int,
    rows: int | None = None,
    *,
    jitter: float = 0.8,
    bend: tuple[Floats, Floats] | None = None,
) -> VoronoiCells:
    """One jittered point in each square of a columns × rows grid; bend: (du, dv) to add to positions, up to 2 cells."""
    rows = columns if rows is None else rows
    shaken = (rng.random((rows, columns, 2), dtype=np.float32) - 0.5) * jitter + 0.5
    # the grid is repeated around itself, so that no texel has to wrap
    line, column = np.arange(-3, rows + 3), np.arange(-3, columns + 3)
    numbers = (line[:, None] % rows * columns + column % columns).ravel()
    points = shaken[..., 0] + np.arange(columns) + 1j * (shaken[..., 1] + np.arange(rows)[:, None])
    points = (
        points.ravel()[numbers] + np.add.outer(1j * (line // rows * rows), column // columns * columns).ravel()
    ).astype(np.complex64)
    u, v = places(size)
    place = np.empty((size, size), np.complex64)
    place.real, place.imag = u * columns, v * rows
    if bend is not None:
        place.real += np.clip(bend[0], -1.9, 1.9)
        place.imag += np.clip(bend[1], -1.9, 1.9)
    width = columns + 6
    parts = [_nearest(place[first : first + BAND], points, width) for first in range(0, size, BAND)]
    number, away, second = (np.concatenate(part) for part in zip(*parts, strict=True))
    return VoronoiCells(np.abs(away), second, numbers.take(number), away.real, away.imag, rows * columns)


def _nearest(place: Complexes, points: Complexes, width: int) -> tuple[NDArray[np.intp], Complexes, Floats]:
    """Index of the nearest point in a grid of `width`, the vector from it, and the distance of the second nearest."""
    cell = np.floor(place.imag).astype(np.intp) * width + np.floor(place.real).astype(np.intp) + 3 * width + 3
    around = np.array([width * j + i for j in (-1, 0, 1) for i in (-1, 0, 1)])
    # squared distances as the integers of their bits, which sort alike; the last four bits hold the neighbour's index
    nearest, second = np.full((2, *place.shape), np.iinfo(np.int32).max, np.int32)
    for k, step in enumerate(around):
        away = place - points.take(cell + step, mode="clip")
        square = ((away.real**2 + away.imag**2).view(np.int32) & ~15) | k
        np.minimum(second, np.maximum(nearest, square), out=second)
        np.minimum(nearest, square, out=nearest)
    number = cell + around.take(nearest & 15)
    return number, place - points.take(number), np.sqrt(second.view(np.float32))


def places(size: int) -> tuple[Floats, Floats]:
    """(u, v) of the texel centres, 0 to 1."""
    middle = (np.arange(size, dtype=np.float32) + np.float32(0.5)) / np.float32(size)
    return np.broadcast_to(middle, (size, size)), np.broadcast_to(middle[:, None], (size, size))


def blocks(
    size: int, columns: int, rows: int, joint: float, *, shift: Sequence[float] = (0.0, 0.5)
) -> tuple[NDArray[np.intp], Floats, Floats, Floats]:
    """Masonry: index of the block, (s, t) inside it from 0 to 1, and a mask that is 1 on it and 0 in the joint.

    joint: its width, in textures; shift: offsets of successive rows, in blocks, repeated.
    """
    u, v = places(size)
    row = np.floor(v * rows)
    along = u * columns + np.array(shift, np.float32)[row.astype(np.intp) % len(shift)]
    column = np.floor(along)
    s, t = along - column, v * rows - row
    gap = np.minimum(np.minimum(s, 1 - s) / columns, np.minimum(t, 1 - t) / rows)
    mask = steps(gap, 0.5 * joint, 0.5 * joint + 1.6 / size)
    return (row * columns + column % columns).astype(np.intp), s, t, mask


def steps(value: Floats | float, low: float, high: float) -> Floats:
    """0 below `low`, 1 above `high`, smooth between (`low` may exceed `high`)."""
    x = np.clip((value - np.float32(low)) / np.float32(high - low), 0, 1)
    return np.asarray(x * x * (3 - 2 * x), np.float32)


def ramp(value: Floats, *colours: Sequence[float]) -> Floats:
    """Colours (0 to 255) spread evenly over values 0 to 1."""
    table = np.array(colours, np.float32) / 255
    fine = np.linspace(0, len(table) - 1, 512)
    low = np.minimum(fine.astype(int), len(table) - 2)
    share = (fine - low)[:, None]
    smooth: Floats = (table[low] * (1 - share) + table[low + 1] * share).astype(np.float32)
    colour = np.empty((*value.shape, 3), np.float32)
    for first in range(0, len(value), BAND):
        band = slice(first, first + BAND)
        colour[band] = smooth.take(np.clip(value[band] * 511, 0, 511).astype(np.intp), axis=0)
    return colour


def mix(a: ArrayLike, b: ArrayLike, share: Floats) -> Floats:
    """A mix of `share` of b with the rest of a."""
    mixed = np.empty((*share.shape, 3), np.float32)
    below, above = np.broadcast_to(a, mixed.shape), np.broadcast_to(b, mixed.shape)
    for channel in range(3):  # one channel at a time runs twice as fast
        mixed[..., channel] = below[..., channel] + share * (above[..., channel] - below[..., channel])
    return mixed


def rgb(*colour: float) -> Floats:
    return np.array(colour, np.float32) / 255


def picked(rng: np.random.Generator, palette: Sequence[Sequence[float]], count: int, spread: float = 0.06) -> Floats:
    """(count, 3) colours of the palette (0 to 255), each a little lighter or darker."""
    chosen = np.array(palette, np.float32)[rng.integers(len(palette), size=count)] / 255
    return np.clip(chosen * (1 + spread * rng.standard_normal((count, 1))), 0, 1).astype(np.float32)


def lit(height: Floats, strength: float) -> Floats:
    """Shading 1 ± strength per height difference of neighbours, for a lamp up and to the left."""
    slope = np.roll(height, 1, 1) - np.roll(height, -1, 1) + np.roll(height, -1, 0) - np.roll(height, 1, 0)
    return np.clip(1 - strength * slope, 0.4, 1.6)


def normed(height: Floats) -> Floats:
    """Scaled to 0..1."""
    low, high = np.percentile(height[::4, ::4], (0.5, 99.5))
    return np.asarray(np.clip((height - low) / max(high - low, 1e-9), 0, 1), np.float32)


@dataclass(frozen=True, slots=True)
class Canvas:
    """A painting in progress. Later stamps lie on top, and a stamp that leaves at one edge enters opposite."""

    paint: Floats
    """(4, n, n): red, green, blue and height, each contiguous, which makes stamping fast."""

    @classmethod
    def of(cls, size: int, colour: ArrayLike, height: ArrayLike) -> Canvas:
        """colour: (3,) or (n, n, 3); height: one number, or (n, n)."""
        paint = np.empty((4, size, size), np.float32)
        paint[:3] = np.moveaxis(np.broadcast_to(colour, (size, size, 3)), -1, 0)
        paint[3] = height
        return cls(paint)

    @property
    def colour(self) -> Floats:
        return np.moveaxis(self.paint[:3], 0, -1)

    @property
    def height(self) -> Floats:
        relief: Floats = self.paint[3]
        return relief

    def stamp(self, u: float, v: float, mask: Floats, colour: ArrayLike, height: float) -> None:
        """mask: (h, w) opacity 0 to 1; colour: (3,) or (h, w, 3), 0 to 1; centred on (u, v) in textures."""
        size = self.paint.shape[-1]
        h, w = mask.shape
        paint = np.empty((4, *np.shape(colour)[:-1]) if np.ndim(colour) > 1 else (4, 1, 1), np.float32)
        paint[:3] = np.moveaxis(np.asarray(colour), -1, 0) if np.ndim(colour) > 1 else np.reshape(colour, (3, 1, 1))
        paint[3] = height
        low, left = floor(v * size - h / 2 + 0.5) % size, floor(u * size - w / 2 + 0.5) % size
        if low + h <= size and left + w <= size:
            ground = self.paint[:, low : low + h, left : left + w]
            ground += mask * (paint - ground)
            return
        # a stamp over the edge is split into up to four pieces
        for rows, part_v in _pieces(low, h, size):
            for columns, part_u in _pieces(left, w, size):
                ground = self.paint[:, rows, columns]
                ground += mask[part_v, part_u] * (
                    (paint if np.ndim(colour) == 1 else paint[:, part_v, part_u]) - ground
                )

    def strokes(
        self, starts: Floats, headings: Floats, lengths: Floats, bends: Floats, colours: Floats, heights: Floats
    ) -> None:
        """Draws many thin curved strokes, one texel wide: starts (n, 2) and lengths in textures, bends in rad.

        colours: (n, 2, 3) at root and tip.
        """
        size = self.paint.shape[-1]
        points = int(np.ceil(lengths.max() * size)) + 1
        along = np.linspace(0, 1, points, dtype=np.float32)
        angle = headings[:, None] + bends[:, None] * along
        step = (lengths / points * size)[:, None]
        u = starts[:, :1] * size + np.cumsum(np.cos(angle) * step, axis=1)
        v = starts[:, 1:] * size + np.cumsum(np.sin(angle) * step, axis=1)
        place = (np.floor(v).astype(np.intp) % size) * size + np.floor(u).astype(np.intp) % size
        paint = colours[:, :1] * (1 - along[:, None]) + colours[:, 1:] * along[:, None]
        # numpy keeps the last of several values for one index: the later stroke lies on top
        flat = self.paint.reshape(4, -1)
        for channel in range(3):
            flat[channel, place.ravel()] = paint[..., channel].ravel()
        flat[3, place.ravel()] = np.repeat(heights, points)


def _pieces(first: int, length: int, size: int) -> list[tuple[slice, slice]]:
    """Pairs (slice of the texture, slice of the stamp); a stamp is at most as long as the texture."""
    before = min(length, size - first)
    pieces = [(slice(first, first + before), slice(0, before))]
    return pieces if before == length else [*pieces, (slice(0, length - before), slice(before, length))]


def patch(half: float) -> tuple[Floats, Floats, float]:
    """Local (x, y) of a square stamp, where ±1 is `half` texels from its middle, and the width of a texel there."""
    n = max(int(np.ceil(half)), 1)
    line = (np.arange(-n, n + 1) / half).astype(np.float32)
    x, y = np.meshgrid(line, line)
    return x, y, 1.0 / half
