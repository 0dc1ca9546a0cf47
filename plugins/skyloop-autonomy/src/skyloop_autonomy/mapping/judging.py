"""How right a map is, beside the truth, over what it claims to have seen."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from skyloop_autonomy.mapping.distance_fields import signed_distance
from skyloop_client.errors import ScenarioError


@dataclass(frozen=True, slots=True)
class Agreement:
    """A map beside the truth, over the cells that it says are occupied or free and that were judged."""

    iou: float
    """Cells that are occupied in both, over those occupied in either."""
    seen: int
    false_occupied: int
    """Cells that are free in truth."""
    missed: int
    """Cells that the map says are free and that are not."""


@dataclass(frozen=True, slots=True)
class MapScore(Agreement):
    """The same with the map's distance field."""

    distance_error: float
    """m, the mean error of the map's distance field over free voxels, and ..."""
    within_one_voxel: float
    """... the share of them where it is one voxel or less."""


Cells = NDArray[np.bool_]


def compared(occupied: Cells, free: Cells, truth: Cells, unclear: Cells) -> Agreement:
    """Arrays of one shape. `unclear` cells are not judged, such as those that a surface merely touches."""
    seen = (occupied | free) & ~unclear
    claimed, there = occupied & seen, truth & seen
    either = int((claimed | there).sum())
    iou = float((claimed & there).sum() / either) if either else 1.0
    return Agreement(iou, int(seen.sum()), int((claimed & ~there).sum()), int((there & ~claimed).sum()))


def judge(occupied: Cells, free: Cells, truth: Cells, cell: float, unclear: Cells | None = None) -> MapScore:
    """All arrays are (nx, ny, nz).

    The distance fields compared are those of the map's obstacles and of the true obstacles that were seen.
    """
    if not occupied.shape == free.shape == truth.shape:
        raise ScenarioError(f"a map of {occupied.shape} voxels cannot be judged by a truth of {truth.shape}")
    unclear = np.zeros_like(truth) if unclear is None else unclear
    claimed, there, judged = occupied & ~unclear, (occupied | free) & truth & ~unclear, free & ~truth & ~unclear
    error = np.zeros(1)
    if judged.any() and claimed.any() and there.any():
        error = np.abs(signed_distance(claimed, cell)[judged] - signed_distance(there, cell)[judged])
    return MapScore(
        **asdict(compared(occupied, free, truth, unclear)),
        distance_error=float(error.mean()),
        within_one_voxel=float((error <= cell * (1.0 + 1e-6)).mean()),
    )
