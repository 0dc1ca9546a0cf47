"""Pictures of records as JPEG: colour, grey, depth, classes, radar."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import simplejpeg
from numpy.typing import NDArray

QUALITY = 75
WIDEST = 640
"""px; wider pictures are sent with every second, third... column and row."""
NO_POWER = 1e-30
"""V², in place of 0, which has no value in decibels."""
SPAN_DB = 60.0


def jpeg(pixels: NDArray[Any]) -> tuple[bytes, int, int]:
    """The bytes, and the width and height, of (h, w) or (h, w, 3) uint8."""
    step = -(-pixels.shape[1] // WIDEST)
    small = np.ascontiguousarray(pixels[::step, ::step])
    height, width = small.shape[:2]
    if small.ndim == 2:
        data = simplejpeg.encode_jpeg(small[..., None], QUALITY, "GRAY", fastdct=True)
    else:
        data = simplejpeg.encode_jpeg(small, QUALITY, "RGB", "420", fastdct=True)
    return data, width, height


def depth_colours(depth: NDArray[Any]) -> tuple[NDArray[np.uint8], float]:
    """Near is bright, far is dark, unknown is black; and the m at which the scale ends."""
    known = np.isfinite(depth) & (depth > 0.0)
    far = float(np.percentile(depth[known][::7], 98)) if known.any() else 1.0
    far = max(far, 0.5)
    share = np.where(known, 255.0 * (1.0 - np.minimum(depth, far) / far), 0.0).astype(np.uint8)
    colours = _ramp()[share]
    colours[~known] = 0
    return colours, far


def class_colours(numbers: NDArray[Any]) -> NDArray[np.uint8]:
    colours: NDArray[np.uint8] = _palette()[numbers.astype(np.int64) % len(_palette())]
    return colours


def power_colours(power: NDArray[Any]) -> NDArray[np.uint8]:
    """Range grows upwards, columns go from approaching to receding; enlarged, for it has few cells."""
    decibels = 10.0 * np.log10(np.maximum(power[::-1], NO_POWER))
    share = np.clip((decibels - decibels.max()) / SPAN_DB + 1.0, 0.0, 1.0)
    colours = _ramp()[(share * 255).astype(np.uint8)]
    grow = max(1, 320 // max(colours.shape[:2]))
    grown: NDArray[np.uint8] = colours.repeat(grow, axis=0).repeat(grow, axis=1)
    return grown


def value_colours(values: NDArray[Any]) -> tuple[NDArray[np.uint8], float, float]:
    """(n, 3) of (n,) values, such as distances, and the values at the dark and the bright end; not finite is grey."""
    finite = np.isfinite(values)
    low, high = (float(values[finite].min()), float(values[finite].max())) if finite.any() else (0.0, 1.0)
    share = np.clip((np.nan_to_num(values, nan=low, posinf=high, neginf=low) - low) / max(high - low, 1e-9), 0.0, 1.0)
    colours = _ramp()[(share * 255).astype(np.uint8)]
    colours[~finite] = 128
    return colours, low, high


def grey_of(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    """An image for debugging, of any kind, as one that can be shown."""
    if pixels.dtype == np.uint8:
        return np.asarray(pixels, np.uint8)
    values = pixels.astype(np.float64)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    return np.clip((np.nan_to_num(values, nan=low) - low) / max(high - low, 1e-9) * 255.0, 0, 255).astype(np.uint8)


@cache
def _ramp() -> NDArray[np.uint8]:
    """(256, 3) viridis, from dark violet to yellow: readable for the colour-blind and in grey."""
    stops = np.array(
        [(68, 1, 84), (71, 44, 122), (59, 81, 139), (44, 113, 142), (33, 144, 141), (39, 173, 129), (92, 200, 99),
         (170, 220, 50), (253, 231, 37)], float,
    )  # fmt: skip
    at = np.linspace(0, len(stops) - 1, 256)
    return np.stack([np.interp(at, np.arange(len(stops)), stops[:, k]) for k in range(3)], axis=1).astype(np.uint8)


@cache
def _palette() -> NDArray[np.uint8]:
    """(64, 3) distinct colours: hues by the golden ratio; 0, the sky, is a dark blue."""
    hue = (np.arange(64) * 0.61803398875) % 1.0
    tone = np.where(np.arange(64) % 3 == 0, 0.95, np.where(np.arange(64) % 3 == 1, 0.75, 0.55))
    channels = [np.clip(np.abs(((hue + shift) % 1.0) * 6.0 - 3.0) - 1.0, 0.0, 1.0) for shift in (0.0, 2 / 3, 1 / 3)]
    colours = (np.stack(channels, axis=1) * 0.7 + 0.3) * tone[:, None] * 255
    colours[0] = (25, 35, 60)
    return colours.astype(np.uint8)
