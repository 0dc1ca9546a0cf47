"""Colours for what is not a photograph: depth, numbers of objects and classes, heights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.recording.radar_pictures import Picture

DEPTH_RANGE = (0.3, 60.0)
"""m, the nearest and the farthest depth that is told apart."""
LIDAR_HEIGHT = (-8.0, 8.0)
"""m below and above the sensor."""


def depth_picture(depth: NDArray[Any]) -> Picture:
    """Near is red, far is blue, on a logarithmic scale. Black means no value."""
    import matplotlib

    nearest, farthest = DEPTH_RANGE
    known = np.isfinite(depth) & (depth > 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.log(farthest / depth) / np.log(farthest / nearest)
    colours = matplotlib.colormaps["turbo"](np.clip(np.where(known, share, 0.0), 0.0, 1.0), bytes=True)[..., :3]
    return np.where(known[..., None], colours, 0).astype(np.uint8)


def id_picture(numbers: NDArray[Any]) -> Picture:
    """A colour for each number, black for 0."""
    n = numbers.astype(np.uint64)
    mixed = (n * 2654435761) & 0xFFFFFF
    colours = np.stack([64 + (mixed >> shift & 0xFF) * 3 // 4 for shift in (0, 8, 16)], axis=-1)
    return np.where((numbers > 0)[..., None], colours, 0).astype(np.uint8)


def height_colours(heights: NDArray[Any]) -> Picture:
    """(n, 3), from dark for low to light for high."""
    import matplotlib

    low, high = LIDAR_HEIGHT
    share = np.clip((heights - low) / (high - low), 0.0, 1.0)
    return np.asarray(matplotlib.colormaps["viridis"](share, bytes=True)[:, :3], np.uint8)
