"""The five quality levels and what each of them draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Quality:
    detail: float
    """A factor on the distances at which shapes switch to less detail."""
    smallest_px: float
    """Objects smaller than this on the image are not drawn."""
    shadow_size: int
    """Texels along the side of the shadow map; 0: no shadows."""
    shadow_step: int
    """The number of levels of detail by which a shadow caster is simpler than its full shape."""
    shadow_taps: int
    """1, 2 or 3: samples of the shadow map along each axis; more make softer edges."""
    bumps: float
    """The strength of the textures' relief."""
    occlusion_samples: int
    """Samples of the ambient occlusion around each pixel; 0: none."""
    oversampling: int
    """Colour samples along each axis of a pixel; odd, so that one of them is the pixel's centre."""
    bloom: float
    """The strength of the glow around bright places."""
    smooth_textures: bool = True
    """true: blend between a texture's two nearest mip levels; false: take the nearest one."""

    @property
    def has_finish(self) -> bool:
        """Whether there is a second pass, from samples to pixels."""
        return self.occlusion_samples > 0


QUALITIES: Final = {
    "low": Quality(0.5, 1.5, 0, 0, 1, 0.0, 0, 1, 0.0, smooth_textures=False),
    "medium": Quality(1.0, 1.0, 2048, 1, 1, 0.0, 0, 1, 0.0),
    "high": Quality(1.6, 0.7, 2048, 0, 2, 0.6, 10, 1, 0.0),
    "epic": Quality(2.5, 0.5, 4096, 0, 3, 0.8, 16, 3, 0.0),
    "cinematic": Quality(1e9, 0.0, 4096, 0, 3, 1.0, 24, 3, 0.1),
}
"""The qualities of images, by name."""
