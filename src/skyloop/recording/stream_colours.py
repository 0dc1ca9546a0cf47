"""Colours for what is not a photograph: depth, numbers of objects and classes, heights, values of points."""

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


def value_range(values: NDArray[Any]) -> tuple[float, float]:
    """Round numbers (1, 2 or 5 with zeros) that enclose the values; 0 is one of them or lies between."""
    known = values[np.isfinite(values)]
    least, most = (min(float(known.min()), 0.0), max(float(known.max()), 0.0)) if len(known) else (0.0, 0.0)
    low, high = 0.0 - _rounded_up(-least), _rounded_up(most)
    return (low, high) if low < high else (0.0, 1.0)


def _rounded_up(value: float) -> float:
    if value <= 0.0:
        return 0.0
    ten = 10.0 ** np.floor(np.log10(value))
    return float(next(times * ten for times in (1.0, 2.0, 5.0, 10.0) if value <= times * ten * (1.0 + 1e-6)))


def value_colours(values: NDArray[Any], bounds: tuple[float, float]) -> Picture:
    """(n, 3), from red for the lower bound to blue for the upper one; grey is no number."""
    import matplotlib

    low, high = bounds
    known = np.isfinite(values)
    share = np.clip((np.where(known, values, low) - low) / (high - low), 0.0, 1.0)
    colours = matplotlib.colormaps["turbo_r"](0.08 + 0.84 * share, bytes=True)[..., :3]
    return np.where(known[..., None], colours, 128).astype(np.uint8)
