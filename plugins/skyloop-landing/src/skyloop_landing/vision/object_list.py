"""The part of the landing detector that a chip's logic does: an image in, a list of dark objects out.

This is the reference. Logic and firmware must give the same bits; docs/explanations/landing-detector.md says which.
"""

# mypy: allow-untyped-calls

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop.core.jit import prepare
from skyloop_client.errors import StreamError
from skyloop_landing.vision.components import COLUMNS, TILE, binarise, find_components, grey_of, smooth, tile_statistics

WIDTH, HEIGHT = 1280, 720
"""px, of the images that the logic is made for."""
MIN_AREA = 32
"""px; smaller objects are not listed. The least value of the register."""
MIN_CONTRAST = 24
"""Steps between the darkest and the brightest pixel of a tile; below, the whole image gives its threshold."""
CAPACITY = 256
"""Objects in a list."""
MOST_DROPPED = 65535
HEADER_WORDS, OBJECT_WORDS = 4, 8

Pixels: TypeAlias = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class ObjectList:
    """What one image holds."""

    frame: int
    """The number of the image, from 1."""
    objects: NDArray[np.int64]
    """(n, 7): area, sum of x, sum of y, x_min, x_max, y_min, y_max, in px; ordered as the logic finds them."""
    dropped: int = 0
    """Objects for which there was no room."""

    @property
    def overflow(self) -> bool:
        return self.dropped > 0

    def words(self) -> NDArray[np.uint32]:
        """The list as little-endian words, as the logic writes them."""
        words = np.zeros(HEADER_WORDS + OBJECT_WORDS * len(self.objects), "<u4")
        words[:3] = self.frame, len(self.objects), int(self.overflow) | self.dropped << 16
        area, sum_x, sum_y, x_min, x_max, y_min, y_max = self.objects.T
        table = words[HEADER_WORDS:].reshape(-1, OBJECT_WORDS)
        table[:, :5] = np.stack([area, sum_x, sum_y, x_min | x_max << 16, y_min | y_max << 16], axis=1)
        return words

    @staticmethod
    def from_words(words: ArrayLike) -> ObjectList:
        given = np.asarray(words, "<u4").astype(np.int64)
        count = int(given[1])
        area, sum_x, sum_y, x, y = given[HEADER_WORDS:].reshape(-1, OBJECT_WORDS)[:count, :5].T
        objects = np.stack([area, sum_x, sum_y, x & 0xFFFF, x >> 16, y & 0xFFFF, y >> 16], axis=1)
        return ObjectList(int(given[0]), objects, int(given[2]) >> 16)


def grey(image: Pixels) -> Pixels:
    """Of (h, w, 3) red, green, blue; a grey image (h, w) is returned as it is."""
    if image.ndim == 2:
        return np.ascontiguousarray(image)
    out = np.empty(image.shape[:2], np.uint8)
    grey_of(np.ascontiguousarray(image), out)
    return out


def smoothed(grey_image: Pixels) -> Pixels:
    """Gauss 5 x 5 of sigma 0.65."""
    out = np.empty_like(grey_image)
    smooth(grey_image, np.empty(grey_image.shape, np.uint16), out)
    return out


def tiles_of(smooth_image: Pixels, min_contrast: int = MIN_CONTRAST) -> NDArray[np.uint16]:
    """(rows, columns) of tiles: least plus greatest brightness, twice the threshold."""
    rows, columns = smooth_image.shape
    tiles = np.empty((-(-rows // TILE), -(-columns // TILE)), np.uint16)
    tile_statistics(smooth_image, min_contrast, np.empty(columns, np.uint8), np.empty(columns, np.uint8), tiles)
    return tiles


def dark(smooth_image: Pixels, tiles: NDArray[np.uint16]) -> Pixels:
    """1 where a pixel is darker than the threshold between the nearest tiles, else 0."""
    out = np.empty_like(smooth_image)
    binarise(smooth_image, tiles, np.empty(smooth_image.shape[1], np.uint32), out)
    return out


def listed(binary: Pixels, frame: int = 1, min_area: int = MIN_AREA, capacity: int = CAPACITY) -> ObjectList:
    """The components of a binary image."""
    most_runs = (binary.shape[1] + 1) // 2
    objects, counts = np.empty((capacity, COLUMNS), np.int64), np.zeros(2, np.int64)
    runs, tables = np.empty((2, most_runs, 2), np.int64), np.empty((2, most_runs, COLUMNS), np.int64)
    room = np.empty((4, 2 * most_runs), np.int64)
    find_components(np.ascontiguousarray(binary), min_area, objects, counts, runs, tables, room)
    return ObjectList(frame, objects[: counts[0]].copy(), min(int(counts[1]), MOST_DROPPED))


class ObjectFinder:
    """Finds the dark objects of one image after the other. The threshold is that of the image before.

    After a reset there is no image before, so the first list is empty.
    """

    def __init__(
        self, width: int = WIDTH, height: int = HEIGHT, *, min_contrast: int = MIN_CONTRAST, capacity: int = CAPACITY
    ) -> None:
        """width, height: px, of the images. min_contrast: see MIN_CONTRAST; 0 is as published. capacity: of a list."""
        self._shape = (height, width)
        self._min_contrast, self._capacity = min_contrast, capacity
        self.frame = 0
        """Images so far."""
        self.tiles = np.zeros((-(-height // TILE), -(-width // TILE)), np.uint16)
        """Statistics of the last image."""
        self.binary: Pixels = np.zeros(self._shape, np.uint8)
        """The last image: 1 where it is dark."""
        # outside, the time to load compiled code would count as execution time of the first image
        prepare("skyloop_landing.vision", when_called=True)

    def reset(self) -> None:
        self.frame = 0
        self.tiles = np.zeros_like(self.tiles)
        self.binary = np.zeros_like(self.binary)

    def find(self, image: Pixels, min_area: int = MIN_AREA) -> ObjectList:
        """image: (height, width, 3) uint8 red, green, blue, or (height, width) uint8 grey.

        min_area: px; the processor sets it before each image, so that noise on the ground does not fill the list."""
        if image.shape[:2] != self._shape or image.dtype != np.uint8:
            h, w = self._shape
            raise StreamError(
                f"the landing detector was given an image of shape {image.shape} and type {image.dtype}; "
                f"give it {w} x {h} px of 8 bits, or make an ObjectFinder of the image's size"
            )
        smooth_image = smoothed(grey(image))
        self.frame += 1
        self.binary = dark(smooth_image, self.tiles)
        self.tiles = tiles_of(smooth_image, self._min_contrast)
        return listed(self.binary, self.frame, min_area, self._capacity)
