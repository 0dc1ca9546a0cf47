"""The appearance of people: their build, their clothes and the colours."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass
from typing import Final

import numpy as np

from skyloop.world.mesh import Colour
from skyloop.world.scenery.actors.body import Outfit
from skyloop.world.scenery.actors.body_tables import BMI, STATURE, Build

_SKIN: Final[tuple[Colour, ...]] = (
    (202, 156, 132), (196, 148, 120), (186, 136, 106), (170, 120, 90), (142, 98, 70), (110, 74, 54), (82, 55, 41),
)  # fmt: skip
_HAIR: Final[tuple[Colour, ...]] = (
    (38, 28, 24), (58, 40, 30), (84, 58, 40), (122, 86, 54), (176, 138, 88), (140, 74, 44), (150, 148, 146),
)  # fmt: skip
_TOPS: Final[tuple[Colour, ...]] = (
    (232, 230, 224), (40, 42, 48), (110, 114, 120), (30, 48, 92), (74, 120, 180), (150, 30, 36), (196, 60, 44),
    (44, 92, 60), (112, 124, 80), (206, 166, 60), (120, 62, 110), (196, 172, 140), (96, 70, 52), (170, 196, 210),
)  # fmt: skip
_BOTTOMS: Final[tuple[Colour, ...]] = (
    (40, 52, 84), (58, 78, 118), (96, 118, 152), (36, 36, 40), (74, 76, 82), (148, 132, 104), (92, 78, 60),
    (70, 78, 56), (196, 184, 160),
)  # fmt: skip
_DARK: Final[tuple[Colour, ...]] = ((30, 30, 33), (30, 36, 54), (44, 40, 38))
_SHOES: Final[tuple[Colour, ...]] = ((30, 30, 32), (204, 202, 198), (84, 56, 38), (110, 112, 116), (50, 58, 90))
_HAIR_STYLES: Final = {
    "male": {"short": 0.45, "crop": 0.25, "bald": 0.12, "cap": 0.14, "tail": 0.04},
    "female": {"long": 0.34, "bob": 0.22, "bun": 0.18, "tail": 0.16, "short": 0.05, "cap": 0.05},
}
_TOP_KINDS: Final = {"t-shirt": 0.34, "shirt": 0.20, "jumper": 0.18, "jacket": 0.28}
_BOTTOM_KINDS: Final = {
    "male": {"jeans": 0.45, "trousers": 0.37, "shorts": 0.18},
    "female": {"jeans": 0.44, "trousers": 0.22, "shorts": 0.10, "skirt": 0.24},
}
_PLAIN, _STRIPES, _CHECKS, _DENIM = range(4)
"""Variants of the texture "cloth"."""


@dataclass(frozen=True)
class Person:
    build: Build
    scale: float
    """The person's stature over that of the build."""
    outfit: Outfit
    palette: tuple[Colour, ...]
    """Skin, hair, top, bottom, shoes, accent."""
    weave: int
    """The variant of the cloth's texture."""


def _choice(generator: np.random.Generator, shares: dict[str, float]) -> str:
    return str(generator.choice(list(shares), p=list(shares.values())))


def _colour(generator: np.random.Generator, usual: tuple[Colour, ...], any_colour: bool) -> Colour:
    """One of the usual colours, a little lighter or darker; or any colour."""
    if any_colour:
        red, green, blue = colorsys.hsv_to_rgb(
            generator.uniform(), generator.uniform(0.0, 0.9), generator.uniform(0.1, 0.95)
        )
        return int(255 * red), int(255 * green), int(255 * blue)
    base = np.array(usual[generator.integers(len(usual))]) * generator.uniform(0.88, 1.08)
    red, green, blue = (int(c) for c in np.clip(base, 0, 255))
    return red, green, blue


def draw_person(generator: np.random.Generator, randomise: frozenset[str] = frozenset()) -> Person:
    """A random person. With "people" or "colours" in `randomise`, any colour and any build are equally likely."""
    wide = "people" in randomise
    any_colour = wide or "colours" in randomise
    sex = str(generator.choice(["male", "female"]))
    mean, sd = STATURE[sex]
    stature = mean + sd * float(np.clip(generator.normal(), -2.2, 2.2))
    weights = [0.25] * 4 if wide else [0.16, 0.40, 0.30, 0.14]
    build = Build(sex, float(generator.choice(BMI, p=weights)))
    outfit = Outfit(
        _choice(generator, _TOP_KINDS), _choice(generator, _BOTTOM_KINDS[sex]), _choice(generator, _HAIR_STYLES[sex])
    )
    tone = int(generator.integers(len(_SKIN)))
    # dark skin goes with dark hair
    hair = _HAIR[: 3 if tone > 3 else len(_HAIR)]
    weave = _PLAIN if generator.uniform() < 0.6 else _DENIM
    if outfit.top in ("t-shirt", "shirt") and outfit.bottom != "skirt" and generator.uniform() < 0.35:
        weave = _STRIPES if generator.uniform() < 0.5 else _CHECKS
    # one weave for all clothes of a person: on dark trousers a pattern is not visible
    bottoms = _DARK if weave in (_STRIPES, _CHECKS) else _BOTTOMS
    palette = (
        _SKIN[tone],
        _colour(generator, hair, False),
        _colour(generator, _TOPS, any_colour),
        _colour(generator, bottoms, any_colour and bottoms is not _DARK),
        _colour(generator, _SHOES, any_colour),
        _colour(generator, _TOPS, any_colour),
    )
    return Person(build, stature / build.stature, outfit, palette, weave)
