"""How right a map is, beside the truth, over what it claims to have seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyloop.navigation.mapping.distance_fields import signed_distance
from skyloop_client.errors import ScenarioError


@dataclass(frozen=True, slots=True)
class MapScore:
    """A map beside the truth."""

    iou: float
    """Voxels that are occupied in both, over those occupied in either; of the voxels seen."""
    seen: int
    """Voxels that the map says are occupied or free, and that were judged."""
    false_occupied: int
    """Voxels that are free in truth."""
    missed: int
    """Voxels that the map says are free and that are not."""
    distance_error: float
    """m, the mean error of the map's distance field over free voxels, and ..."""
    within_one_voxel: float
    """... the share of them where it is one voxel or less."""


def judge(
    occupied: NDArray[np.bool_],
    free: NDArray[np.bool_],
    truth: NDArray[np.bool_],
    cell: float,
    unclear: NDArray[np.bool_] | None = None,
) -> MapScore:
    """All arrays are (nx, ny, nz). `unclear` voxels are not judged, such as those that a surface merely touches.

    The distance fields compared are those of the map's obstacles and of the true obstacles that were seen.
    """
    if not occupied.shape == free.shape == truth.shape:
        raise ScenarioError(f"a map of {occupied.shape} voxels cannot be judged by a truth of {truth.shape}")
    seen = (occupied | free) & ~(np.zeros_like(truth) if unclear is None else unclear)
    claimed, there = occupied & seen, truth & seen
    either = int((claimed | there).sum())
    judged = free & ~truth & seen
    error = np.zeros(1)
    if judged.any() and claimed.any() and there.any():
        error = np.abs(signed_distance(claimed, cell)[judged] - signed_distance(there, cell)[judged])
    return MapScore(
        iou=float((claimed & there).sum() / either) if either else 1.0,
        seen=int(seen.sum()),
        false_occupied=int((claimed & ~there).sum()),
        missed=int((there & ~claimed).sum()),
        distance_error=float(error.mean()),
        within_one_voxel=float((error <= cell * (1.0 + 1e-6)).mean()),
    )
