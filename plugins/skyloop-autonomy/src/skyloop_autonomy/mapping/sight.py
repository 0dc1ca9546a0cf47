"""What a map believes of a depth image: ranges, edges, blank pixels, and how many pixels make a hit."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skyloop_client.errors import ScenarioError

MOST_NOISE = 1.0 / 3.0
"""Of a cell; where one sigma of the depth noise is larger, a pixel no longer says which cell it met."""


@dataclass(frozen=True, slots=True)
class Sight:
    """Which pixels count, and what they say about the cells between the camera and the surface."""

    near: float = 0.1
    """m along the optical axis; nearer depths are ignored."""
    far: float = 7.2
    """m from the camera. Surfaces beyond are not entered, but the way to them is free up to this range."""
    edge: float = 0.05
    """A depth counts only if two of its four neighbours differ by less than this share of it. Pixels that lie between
    the two depths of an edge do not."""
    hit_pixels: int = 4
    """The number of pixels of one image that must end in a voxel to make a hit."""
    hit_share: float = 0.2
    """A voxel is hit if at least this share of the pixels that end in it or pass it end in it."""
    miss_share: float = 0.03
    """It is missed if at most this share of them ends in it. In between the image says nothing about it: a thin thing
    or the edge of a wall fills only a small part of a voxel."""
    blank_is_far: bool = False
    """Whether a block of pixels without any value shows something out of range. If so, the way up to `far` is free
    there. Off by default, because a covered lens gives blank pixels too."""

    def __post_init__(self) -> None:
        if not (0.0 <= self.near < self.far < math.inf):
            raise ScenarioError(f"sight from {self.near} to {self.far} m is empty; give 0 <= near < far")
        if not (self.edge > 0.0 and self.hit_pixels >= 1 and 0.0 <= self.miss_share <= self.hit_share < 1.0):
            raise ScenarioError(f"{self} cannot work; give edge > 0, hit_pixels >= 1, 0 <= miss_share <= hit_share < 1")

    def stride(self, focal_px: float, cell: float) -> int:
        """px between the rays that carve: two thirds of a cell or less apart at the far end, so no cell is left out."""
        return max(int(cell / 1.5 * focal_px / self.far), 1)


def trusted_range(details: Mapping[str, Any], cell: float, far: float) -> float:
    """m up to which a depth camera tells cells apart, at most `far`; `details` are those of its stream.

    Its noise is noise_scale·exp(growth·depth), with the median growth of the materials that are stated: with the worst
    one, glass, a map would end 2.7 m from the camera.
    """
    scale = float(details.get("noise_scale", 0.0))
    growths = [float(value) for value in dict(details.get("noise_growth_per_m", {})).values()]
    growth = statistics.median(growths) if growths else 0.0
    if scale <= 0.0 or growth <= 0.0:
        return far
    return min(far, max(math.log(MOST_NOISE * cell / scale) / growth, 2.0 * cell))
