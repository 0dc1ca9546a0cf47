"""The tree species: sizes of an average tree, how it branches, and its colours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from skyloop.world.mesh import Colour


@dataclass(frozen=True, slots=True)
class Species:
    name: str
    height: float
    """m."""
    crown_radius: float
    """m."""
    crown_base: float
    """The share of the height that is below the foliage."""
    trunk_radius: float
    """m, at chest height."""
    form: str
    """lobed: round masses at the ends of boughs; conical: whorls of boughs; weeping: lobed, with strands."""
    lobes: int
    lobe_size: float
    """The radius of a lobe as a share of the crown's."""
    sprays: int
    """Kites of foliage at full detail."""
    spray: tuple[float, float]
    """m, length and width of one."""
    summer: tuple[Colour, ...]
    """Hues of the foliage, one per tree."""
    autumn: tuple[Colour, ...] = ()
    """The same in autumn; None for evergreens."""
    bark: Colour = (150, 125, 100)
    bark_material: str = "bark"
    leaf_material: str = "leaves"
    """Green by itself; "plain" for blossom."""
    variant: int = 0
    """The variant of the bark and leaf textures: 0 oak bark, broad leaves; 1 small leaves; 2 pale bark, needles."""
    droop: float = 0.0
    """How far sprays hang down, as a share of their length."""


GREENS: Final[tuple[Colour, ...]] = ((255, 255, 235), (240, 255, 215), (255, 245, 205), (230, 245, 225))
REDS: Final[tuple[Colour, ...]] = ((222, 140, 44), (196, 92, 38), (226, 178, 62), (160, 62, 38), (148, 140, 62))

OAK: Final = Species("oak", 11.5, 4.9, 0.22, 0.36, "lobed", 13, 0.46, 660, (0.85, 0.52), GREENS, REDS)
BEECH: Final = Species(
    "beech", 17.0, 3.6, 0.38, 0.28, "lobed", 11, 0.46, 560, (0.78, 0.46), GREENS, REDS, (235, 230, 220)
)
BIRCH: Final = Species(
    "birch", 12.5, 2.2, 0.28, 0.15, "lobed", 12, 0.50, 620, (0.52, 0.30),
    ((255, 255, 190), (240, 255, 175), (255, 250, 205)), ((236, 196, 62), (224, 176, 50), (214, 188, 88)),
    (232, 230, 222), "plain", variant=1, droop=0.55,
)  # fmt: skip
POPLAR: Final = Species(
    "poplar", 16.0, 1.75, 0.03, 0.24, "lobed", 15, 0.66, 600, (0.78, 0.42),
    ((225, 250, 200), (240, 255, 210)), ((230, 188, 60), (214, 166, 54)), variant=1, droop=-0.5,
)  # fmt: skip
CHERRY: Final = Species(
    "cherry", 5.2, 2.5, 0.30, 0.15, "lobed", 10, 0.47, 780, (0.38, 0.27),
    ((255, 196, 212), (255, 214, 226), (250, 178, 200)), ((196, 72, 44), (214, 106, 48)),
    (190, 165, 160), leaf_material="plain",
)  # fmt: skip
PINE: Final = Species(
    "pine", 17.0, 2.7, 0.62, 0.24, "lobed", 9, 0.48, 560, (0.62, 0.36),
    ((225, 250, 225), (235, 255, 205)), (), (165, 112, 82), variant=2,
)  # fmt: skip
SPRUCE: Final = Species(
    "spruce", 14.0, 2.7, 0.10, 0.22, "conical", 14, 0.0, 640, (1.0, 0.62),
    ((230, 255, 235), (210, 250, 245), (240, 255, 215)), (), (112, 92, 76), variant=2, droop=0.3,
)  # fmt: skip
WILLOW: Final = Species(
    "willow", 8.5, 3.8, 0.30, 0.34, "weeping", 10, 0.42, 640, (0.70, 0.34),
    ((255, 255, 165), (240, 255, 160)), ((226, 200, 84), (210, 204, 112)), variant=1, droop=0.7,
)  # fmt: skip

SPECIES: Final = {s.name: s for s in (OAK, BEECH, BIRCH, POPLAR, CHERRY, PINE, SPRUCE, WILLOW)}


def in_autumn(species: Species) -> Species:
    """The same tree with autumn leaves; evergreens do not change."""
    return replace(species, summer=species.autumn, leaf_material="plain") if species.autumn else species
