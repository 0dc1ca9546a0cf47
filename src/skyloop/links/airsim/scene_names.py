"""Object names as AirSim clients know them: those of Unreal's Blocks for objects that exist there."""

from __future__ import annotations

import re
from functools import cache

BLOCK = re.compile(r"block (\d+)")
GROUNDS = {"terrain": "Ground", "far terrain": "Ground_2"}
SKY = "SkySphere"


@cache
def shown_name(name: str) -> str:
    """The name that clients see. Unreal's names have no spaces, and the regular expressions of scripts rely on that."""
    if (block := BLOCK.fullmatch(name)) is not None:
        return f"TemplateCube_Rounded_{block[1]}"
    return GROUNDS.get(name, name.replace(" ", "_"))


@cache
def names_of(name: str) -> tuple[str, ...]:
    """All names that an object answers to: the shown one, and the world's own with or without spaces."""
    return tuple(dict.fromkeys((shown_name(name), name, name.replace(" ", "_"))))


def matches(pattern: re.Pattern[str], name: str) -> bool:
    """Whether an expression matches one of the names completely."""
    return any(pattern.fullmatch(known) for known in names_of(name))
