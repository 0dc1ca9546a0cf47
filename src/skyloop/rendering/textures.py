"""Textures; a stand-in until the real ones are merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def texture_layers(
    names: Sequence[str], seed: int, size: int = 512
) -> tuple[NDArray[np.uint8], dict[str, tuple[int, int]]]:
    tint: dict[str, Any] = {
        "grass": (90, 120, 60),
        "brick": (160, 90, 70),
        "soil": (120, 95, 70),
        "wood": (160, 120, 80),
    }
    tint |= {"bark": (95, 75, 55), "leaves": (80, 120, 55), "asphalt": (85, 85, 88), "gravel": (180, 165, 140)}
    rng = np.random.Generator(np.random.Philox(key=seed))
    out = np.full((len(names), size, size, 4), 255, np.uint8)
    for k, name in enumerate(names):
        grain = rng.normal(0, 18, (size, size, 1))
        out[k, ..., :3] = np.clip(np.array(tint.get(name, (230, 230, 230))) + grain, 0, 255)
    return out, {name: (k, 1) for k, name in enumerate(names)}
