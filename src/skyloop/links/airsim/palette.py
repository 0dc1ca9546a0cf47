"""The colours of segmentation ids, in the order Cosys-AirSim's client has them in simGetSegmentationColorMap."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

N_COLOURS = 1 << 16
"""As many as are made; the client's own table goes on."""
# what is shown of the odd values from 79 to 147; from 150 on a value is shown as it is, and others are not used
_SHOWN = (
    79, 81, 83, 85, 86, 88, 90, 93, 95, 96, 98, 101, 102, 105, 106, 109, 110, 113, 114, 117, 119, 120, 122, 125, 127,
    129, 131, 133, 135, 137, 139, 141, 143, 145, 147,
)  # fmt: skip


def _channel() -> list[int]:
    """Values of a channel as they are shown, ever finer: each lies between two that came before it."""
    values = [0]
    for step in (256 >> k for k in range(9)):
        values += range(step - 1, 257, 2 * step)
    shown = {79 + 2 * k: value for k, value in enumerate(_SHOWN)} | {value: value for value in range(150, 256)}
    return [shown[value] for value in values[:256] if value in shown]


def _palette() -> NDArray[np.uint8]:
    """(N_COLOURS, 3) red, green, blue: shell after shell of ever finer values."""
    shown = _channel()
    colours: list[tuple[int, ...]] = []
    for last in range(len(shown)):
        before, newest = shown[:last], shown[last : last + 1]
        # which channels have the newest value, blue alone first
        for red, green, blue in ((0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1), (1, 1, 0), (1, 1, 1)):
            colours += itertools.product(*(newest if is_new else before for is_new in (red, green, blue)))
        if len(colours) >= N_COLOURS:
            break
    return np.array(colours[:N_COLOURS], np.uint8)


COSYS_PALETTE = _palette()
