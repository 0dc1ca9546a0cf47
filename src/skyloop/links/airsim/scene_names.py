"""The names of things as AirSim's clients know them: those of Unreal's Blocks where there is such a thing."""

from __future__ import annotations

import re
from functools import cache

BLOCK = re.compile(r"block (\d+)")
GROUNDS = {"terrain": "Ground", "far terrain": "Ground_2"}
SKY = "SkySphere"


@cache
def shown_name(name: str) -> str:
    """Of the world's own name. Unreal's have no spaces, and scripts count on that in their expressions."""
    if (block := BLOCK.fullmatch(name)) is not None:
        return f"TemplateCube_Rounded_{block[1]}"
    return GROUNDS.get(name, name.replace(" ", "_"))


@cache
def names_of(name: str) -> tuple[str, ...]:
    """All a thing answers to: what is shown, and the world's own with or without spaces."""
    return tuple(dict.fromkeys((shown_name(name), name, name.replace(" ", "_"))))


def matches(pattern: re.Pattern[str], name: str) -> bool:
    """Whether one of a thing's names is wholly of an expression."""
    return any(pattern.fullmatch(known) for known in names_of(name))
