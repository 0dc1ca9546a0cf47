"""The five quality levels: what each of them draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Quality:
    detail: float
    """Multiplies the ranges at which shapes give up detail."""
    smallest_px: float
    """Things smaller than this on the image are left out."""
    shadow_size: int
    """Texels along the side of the shadow map; 0: no shadows."""
    shadow_step: int
    """Levels of detail that what throws a shadow has less than at its fullest."""
    shadow_taps: int
    """1, 2 or 3: looks into the shadow map along each axis; more make softer edges."""
    bumps: float
    """Strength of the relief that textures have."""
    occlusion_samples: int
    """Of the ambient occlusion around each pixel; 0: none."""
    oversampling: int
    """Colour samples along each axis of a pixel; odd, so that one of them is the pixel's centre."""
    bloom: float
    """Strength of the glow around bright places."""
    smooth_textures: bool = True
    """Blend between a texture's two nearest sizes; else the one nearest is taken, in steps."""

    @property
    def has_finish(self) -> bool:
        """Is there a second pass, from samples to pixels?"""
        return self.occlusion_samples > 0


QUALITIES: Final = {
    "low": Quality(0.5, 1.5, 0, 0, 1, 0.0, 0, 1, 0.0, smooth_textures=False),
    "medium": Quality(1.0, 1.0, 2048, 1, 1, 0.0, 0, 1, 0.0),
    "high": Quality(1.6, 0.7, 2048, 0, 2, 0.6, 10, 1, 0.0),
    "epic": Quality(2.5, 0.5, 4096, 0, 3, 0.8, 16, 3, 0.0),
    "cinematic": Quality(1e9, 0.0, 4096, 0, 3, 1.0, 24, 3, 0.1),
}
