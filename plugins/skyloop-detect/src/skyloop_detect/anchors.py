"""Anchors: the boxes around every cell of the feature maps from which the network's answers start.

A box is left, top, right, bottom in pixels; 0 is the outer edge of the first pixel. Offsets are those of SSD: the shift
of the middle in anchor sizes and the logarithm of the size ratio, times `SCALES`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

STRIDES = (8, 16, 32)
"""px between neighbouring cells of each feature map."""
HEIGHTS = ((11.0, 18.0), (30.0, 50.0), (84.0, 150.0))
"""px, the heights of the upright anchors of each map: people from 8 px up, 1.65 from one to the next."""
SHAPES = ((0.42, 1.0), (0.9, 0.8), (1.6, 0.8))
"""Width and height, as parts of the upright height: a person; a person seen from above, a marker; a car or bench."""
PER_CELL = len(HEIGHTS[0]) * len(SHAPES)
SCALES = (0.1, 0.1, 0.2, 0.2)
"""Of SSD: they bring all four offsets to about one."""
LARGEST_LOG = 4.0
"""A ratio of sizes of e⁴ is more than any image holds; it keeps `exp` finite."""


def map_sizes(height: int, width: int) -> list[tuple[int, int]]:
    """Rows and columns of each feature map; every layer of stride 2 rounds up."""
    return [(-(-height // stride), -(-width // stride)) for stride in STRIDES]


@lru_cache(maxsize=8)
def anchors(height: int, width: int) -> NDArray[np.float32]:
    """(n, 4) px: middle x, middle y, width, height; by map, row, column and anchor of the cell."""
    levels = []
    for (rows, columns), stride, heights in zip(map_sizes(height, width), STRIDES, HEIGHTS, strict=True):
        sizes = np.array([(w * tall, h * tall) for tall in heights for w, h in SHAPES], np.float32)
        out = np.empty((rows, columns, PER_CELL, 4), np.float32)
        out[..., 0] = ((np.arange(columns) + 0.5) * stride)[:, None]
        out[..., 1] = ((np.arange(rows) + 0.5) * stride)[:, None, None]
        out[..., 2:] = sizes
        levels.append(out.reshape(-1, 4))
    whole = np.concatenate(levels)
    whole.setflags(write=False)
    return whole


def decoded(offsets: NDArray[np.float32], starts: NDArray[np.float32]) -> NDArray[np.float32]:
    """(n, 4) px boxes of the network's offsets from (n, 4) anchors."""
    moved = np.asarray(offsets, np.float32) * np.array(SCALES, np.float32)
    middles = starts[:, :2] + moved[:, :2] * starts[:, 2:]
    sizes = starts[:, 2:] * np.exp(np.minimum(moved[:, 2:], LARGEST_LOG))
    return np.concatenate([middles - 0.5 * sizes, middles + 0.5 * sizes], axis=1)
