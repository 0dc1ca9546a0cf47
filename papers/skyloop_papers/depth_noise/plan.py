"""The constants that decide what `skyloop reproduce depth-noise` gives."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from skyloop_papers.depth_noise.checks import (
    DISTANCES,
    GROWTH,
    PUBLISHED_MEAN_R2,
    PUBLISHED_R2,
    PUBLISHED_TIME,
    STEREO_DISTANCES,
)
from skyloop_papers.depth_noise.light import LUX
from skyloop_papers.depth_noise.stereo import (
    BASELINE,
    DOT_ELECTRONS,
    DOT_SD,
    DOT_SPACING,
    FULL_WELL,
    HALF_BLOCK,
    LENS,
    MAX_DISPARITY,
    READ_NOISE,
    UNIQUENESS,
)
from skyloop_papers.experiment import ExperimentPlan


@dataclass(frozen=True, slots=True)
class DepthNoisePlan(ExperimentPlan):
    quick: bool = False
    """Fewer positions, narrower images."""

    def plain(self) -> dict[str, Any]:
        return {
            **({"quick": True} if self.quick else {}),
            "growth": GROWTH,
            "distances": [DISTANCES[0], DISTANCES[-1], len(DISTANCES)],
            "stereo_distances": STEREO_DISTANCES.tolist(),
            "baseline": BASELINE,
            "lens": asdict(LENS),
            "dots": [DOT_SPACING, DOT_SD, DOT_ELECTRONS],
            "sensor": [FULL_WELL, READ_NOISE],
            "matcher": [MAX_DISPARITY, HALF_BLOCK, UNIQUENESS],
            "lux": LUX,
            "published": [PUBLISHED_R2, PUBLISHED_MEAN_R2, PUBLISHED_TIME],
        }
