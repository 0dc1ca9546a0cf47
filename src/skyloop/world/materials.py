"""Surface materials: their look, their reflectance for a laser, and the noise of a stereo depth camera on them.

`RADAR_SURFACES` is for waves of about 60 GHz. Permittivities of building materials follow ITU-R P.2040 extrapolated to
60 GHz, water a Debye relaxation at 20 °C, skin Gabriel's tissue tables. Roughness and shares are our estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from skyloop_client.messages import Array


@dataclass(frozen=True, slots=True)
class Material:
    name: str
    texture: str
    """A texture of `rendering.textures`; "plain" is white, so that the vertex colour decides."""
    tile: float
    """m of surface that one repeat of the texture covers."""
    semantic: str
    """The class of the surface if its object has none of its own, as terrain."""
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
    # a picture of the world's own, stretched over the surface as its texture coordinates say
    Material("picture", "picture", 1.0, "object", 0.50, 0.50),
)

MATERIAL_ID: Final = {material.name: number for number, material in enumerate(MATERIALS)}


@dataclass(frozen=True, slots=True)
class RadarSurface:
    permittivity: complex
    """Relative; the imaginary part is negative where waves are absorbed."""
    roughness: float
    """m, standard deviation of the height; the power that a mirror loses by it is scattered in all directions."""
    diffuse: float
    """The share of the reflected power that is always scattered, by blades, leaves, grains or weave; 0 to 1."""
    transparency: float = 0.0
    """The share of the power that passes the surface, one way, 0 to 1."""


METAL = RadarSurface(1.0 - 1e6j, 0.005e-3, 0.0)
RADAR_SURFACES: Final = {
    "plain": RadarSurface(3.0 - 0.1j, 0.2e-3, 0.1),
    "grass": RadarSurface(6.0 - 6.0j, 8e-3, 1.0),
    "soil": RadarSurface(3.5 - 0.3j, 5e-3, 0.8),
    "gravel": RadarSurface(4.5 - 0.2j, 6e-3, 0.9),
    "asphalt": RadarSurface(3.8 - 0.2j, 0.8e-3, 0.4),
    "paving": RadarSurface(5.2 - 0.34j, 0.5e-3, 0.2),
    "water": RadarSurface(12.0 - 21.0j, 0.8e-3, 0.05),
    "brick": RadarSurface(3.9 - 0.02j, 0.8e-3, 0.3),
    "plaster": RadarSurface(2.73 - 0.12j, 0.2e-3, 0.1, 0.2),
    "cement": RadarSurface(5.24 - 0.34j, 0.3e-3, 0.15),
    "formboard": RadarSurface(2.58 - 0.2j, 0.1e-3, 0.1),
    "plastic": RadarSurface(2.6 - 0.02j, 0.05e-3, 0.05, 0.7),
    "bark": RadarSurface(4.0 - 1.5j, 4e-3, 0.9),
    "leaves": RadarSurface(6.0 - 6.0j, 1e-3, 1.0, 0.3),
    "wood": RadarSurface(1.99 - 0.11j, 0.15e-3, 0.15, 0.1),
    "tiles": RadarSurface(5.5 - 0.2j, 0.05e-3, 0.05),
    "roof tiles": RadarSurface(4.5 - 0.2j, 0.5e-3, 0.3),
    "wallpaper": RadarSurface(2.73 - 0.12j, 0.15e-3, 0.1),
    "glass": RadarSurface(6.31 - 0.26j, 0.01e-3, 0.01, 0.4),
    "metal": METAL,
    "car paint": METAL,
    "rubber": RadarSurface(3.0 - 0.5j, 0.3e-3, 0.3),
    "skin": RadarSurface(8.0 - 10.9j, 0.3e-3, 0.3),
    # waves pass through to the skin
    "cloth": RadarSurface(7.0 - 9.0j, 0.4e-3, 0.4),
    "hair": RadarSurface(3.0 - 1.0j, 1e-3, 0.7),
    "cardboard": RadarSurface(1.9 - 0.1j, 0.2e-3, 0.2, 0.5),
    "rock": RadarSurface(6.0 - 0.3j, 3e-3, 0.7),
    "paint": RadarSurface(3.5 - 0.2j, 0.2e-3, 0.2),
    "picture": RadarSurface(2.73 - 0.12j, 0.15e-3, 0.1),
    "snow": RadarSurface(1.6 - 0.01j, 3e-3, 0.9, 0.2),
}
PERMITTIVITY: Final = np.array([RADAR_SURFACES[material.name].permittivity for material in MATERIALS])
ROUGHNESS: Final = np.array([RADAR_SURFACES[material.name].roughness for material in MATERIALS])
DIFFUSE: Final = np.array([RADAR_SURFACES[material.name].diffuse for material in MATERIALS])
TRANSPARENCY: Final = np.array([RADAR_SURFACES[material.name].transparency for material in MATERIALS])


def reflected_share() -> Array:
    """(materials,) of the power at normal incidence."""
    index = np.sqrt(PERMITTIVITY)
    return np.asarray(np.abs((1.0 - index) / (1.0 + index)) ** 2)


def mirror_amplitudes(wavelength: float) -> Array:
    """(materials,) of the field that a smooth patch reflects, after Ament's loss by roughness."""
    coherent = np.exp(-((4.0 * np.pi * ROUGHNESS / wavelength) ** 2))
    return np.asarray(np.sqrt(reflected_share() * (1.0 - DIFFUSE) * coherent))


def scattered_shares(wavelength: float) -> Array:
    """(materials,) of the incident power that is scattered in all directions, as from a matt surface."""
    return np.asarray(reflected_share() - mirror_amplitudes(wavelength) ** 2)


def grazing_reflection(material: int, sine: Array, wavelength: float) -> Array:
    """Amplitude and sign of a reflection off a flat surface, for waves parallel to it; sine of the grazing angle."""
    sine = np.asarray(sine, np.float64)
    under = np.sqrt(PERMITTIVITY[material] - (1.0 - sine**2))
    loss = np.exp(-0.5 * (4.0 * np.pi * ROUGHNESS[material] * sine / wavelength) ** 2) * np.sqrt(
        1.0 - DIFFUSE[material]
    )
    return np.asarray((sine - under) / (sine + under) * loss)
