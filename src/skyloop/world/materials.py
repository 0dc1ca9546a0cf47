"""Surface materials: their look, their reflectance for a laser, and the noise of a stereo depth camera on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Material:
    name: str
    texture: str
    """A texture of `rendering.textures`; "plain" is white, so that the vertex colour decides."""
    tile: float
    """m of surface that one repeat of the texture covers."""
    semantic: str
    """The class of the surface if its thing has none of its own, as terrain."""
    reflectance: float
    """The share of a laser's light (905 nm) that is reflected, 0 to 1, at normal incidence."""
    depth_noise: float
    """1/m, the m of Kim's σ = 0.005·exp(m·d)."""
    gloss: float = 0.0
    """The strength of the sun's highlight, 0 to 1."""
    translucency: float = 0.0
    """The share of the sun's light that shines through to the other side, 0 to 1; for surfaces without gloss."""


# depth_noise: cement 0.50, formboard 0.55 and plastic 0.85 are Kim's Table 1 (its Fig. 4 has 0.35 and 0.5 for the first
# two); the others are estimates between them, by texture and gloss of the surface.
MATERIALS: Final = (
    Material("plain", "plain", 1.0, "object", 0.50, 0.60),
    Material("grass", "grass", 2.0, "grass", 0.45, 0.45),
    Material("soil", "soil", 2.0, "ground", 0.30, 0.45),
    Material("gravel", "gravel", 1.5, "path", 0.35, 0.42),
    Material("asphalt", "asphalt", 2.0, "road", 0.17, 0.45),
    Material("paving", "paving", 1.2, "pavement", 0.35, 0.45),
    Material("water", "water", 4.0, "water", 0.05, 0.95, 0.9),
    Material("brick", "brick", 1.0, "wall", 0.35, 0.42),
    Material("plaster", "plaster", 2.0, "wall", 0.60, 0.55),
    Material("cement", "concrete", 2.0, "wall", 0.40, 0.50),
    Material("formboard", "formboard", 1.2, "wall", 0.55, 0.55),
    Material("plastic", "plain", 1.0, "object", 0.55, 0.85, 0.5),
    Material("bark", "bark", 0.6, "tree", 0.30, 0.40),
    Material("leaves", "leaves", 0.5, "tree", 0.55, 0.45, translucency=0.6),
    Material("wood", "wood", 1.0, "furniture", 0.50, 0.48),
    Material("tiles", "tiles", 1.0, "floor", 0.60, 0.60, 0.3),
    Material("roof tiles", "roof_tiles", 1.2, "roof", 0.35, 0.45),
    Material("wallpaper", "wallpaper", 2.0, "wall", 0.60, 0.45),
    Material("glass", "glass", 2.0, "window", 0.10, 0.95, 0.9),
    Material("metal", "metal", 1.0, "object", 0.70, 0.75, 0.6),
    Material("car paint", "plain", 1.0, "car", 0.45, 0.75, 0.8),
    Material("rubber", "plain", 1.0, "object", 0.06, 0.50),
    Material("skin", "plain", 1.0, "person", 0.60, 0.55),
    Material("cloth", "cloth", 0.4, "person", 0.45, 0.48),
    Material("hair", "hair", 0.3, "person", 0.20, 0.50),
    Material("cardboard", "cardboard", 0.8, "box", 0.55, 0.48),
    Material("rock", "rock", 2.0, "rock", 0.35, 0.42),
    Material("paint", "plain", 1.0, "marker", 0.30, 0.55),
    Material("snow", "snow", 2.0, "ground", 0.85, 0.80),
)

MATERIAL_ID: Final = {material.name: number for number, material in enumerate(MATERIALS)}
