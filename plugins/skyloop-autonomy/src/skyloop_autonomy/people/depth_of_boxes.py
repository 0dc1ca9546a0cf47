"""How far away the person in a box is, from a depth image of another resolution that looks the same way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skyloop_client.messages import Array

INNER = 0.25
"""Of a box's width and height, the share left out on each side: there the background begins."""
LEAST = 6
"""Pixels with a value."""
NEAREST_SHARE = 30.0
"""Percentile: a person covers most of the inner part of a box and is nearer than what is behind."""


def depth_of(depth: NDArray[np.float32], box: Array, image_size: tuple[int, int]) -> float | None:
    """m along the optical axis; None if too few pixels have a value. `image_size`: rows and columns of the image that
    the box is in. Both cameras must have the same field of view."""
    scale = np.array([depth.shape[1] / image_size[1], depth.shape[0] / image_size[0]])
    low, high = box[:2] * scale, box[2:] * scale
    inset = INNER * (high - low)
    (x0, y0), (x1, y1) = np.floor(low + inset).astype(int), np.ceil(high - inset).astype(int)
    part = depth[max(y0, 0) : y1, max(x0, 0) : x1]
    values = part[(part > 0.0) & np.isfinite(part)]
    return float(np.percentile(values, NEAREST_SHARE)) if values.size >= LEAST else None
