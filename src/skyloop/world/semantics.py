"""The semantic classes of every world, by number and name.; and class and material from the name of an
object in a file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Final

from skyloop.world.materials import MATERIAL_ID
from skyloop_client.errors import ScenarioError, nearest_name

CLASSES: Final = (
    "sky",  # 0: nothing was hit
    "ground",
    "grass",
    "path",
    "road",
    "pavement",
    "water",
    "building",
    "wall",
    "floor",
    "ceiling",
    "roof",
    "window",
    "door",
    "tree",
    "bush",
    "hedge",
    "undergrowth",
    "rock",
    "bench",
    "lamp",
    "sign",
    "bin",
    "fence",
    "furniture",
    "block",
    "person",
    "car",
    "vehicle",  # another drone
    "shelf",
    "pallet",
    "box",
    "forklift",
    "marker",
    "target",
    "object",  # an object of an imported file whose name says no more
    "traffic light",
    "barrel",
)
"""The classes of labels by number."""

CLASS_ID: Final = {name: number for number, name in enumerate(CLASSES)}
"""The numbers of classes by name."""


CLASS_WORDS: dict[str, str] = {
    **{name: name for name in CLASS_ID if name != "sky"},
    **dict.fromkeys(("terrain", "landscape", "soil", "plain"), "ground"),
    **dict.fromkeys(("lawn", "meadow"), "grass"),
    **dict.fromkeys(("street", "asphalt"), "road"),
    **dict.fromkeys(("sidewalk", "kerb", "curb"), "pavement"),
    **dict.fromkeys(("pond", "lake", "river", "pool"), "water"),
    **dict.fromkeys(("house", "tower", "shed", "garage"), "building"),
    **dict.fromkeys(("facade", "pillar", "column"), "wall"),
    **dict.fromkeys(("glass", "pane"), "window"),
    **dict.fromkeys(("gate",), "door"),
    **dict.fromkeys(("oak", "pine", "birch", "spruce", "palm"), "tree"),
    **dict.fromkeys(("shrub", "plant"), "bush"),
    **dict.fromkeys(("stone", "boulder"), "rock"),
    **dict.fromkeys(("streetlight", "lantern"), "lamp"),
    **dict.fromkeys(("chair", "table", "sofa", "couch", "bed", "desk", "cupboard", "wardrobe", "stool"), "furniture"),
    **dict.fromkeys(("human", "man", "woman", "people", "pedestrian", "child"), "person"),
    **dict.fromkeys(("truck", "van", "bus"), "car"),
    **dict.fromkeys(("drone", "uav", "quadcopter"), "vehicle"),
    **dict.fromkeys(("crate", "carton"), "box"),
    **dict.fromkeys(("railing", "handrail"), "fence"),
}
MATERIAL_WORDS: dict[str, str] = {
    **{name: name for name in MATERIAL_ID if " " not in name and name not in ("plain", "paint")},
    **dict.fromkeys(("lawn", "turf"), "grass"),
    **dict.fromkeys(("dirt", "earth", "mud"), "soil"),
    **dict.fromkeys(("tarmac", "road"), "asphalt"),
    **dict.fromkeys(("cobble", "pavement", "paver"), "paving"),
    **dict.fromkeys(("stucco", "render"), "plaster"),
    **dict.fromkeys(("concrete",), "cement"),
    **dict.fromkeys(("leaf", "foliage"), "leaves"),
    **dict.fromkeys(("trunk",), "bark"),
    **dict.fromkeys(("timber", "plank", "parquet", "oak", "wooden"), "wood"),
    **dict.fromkeys(("tile", "ceramic"), "tiles"),
    **dict.fromkeys(("roof", "rooftile", "shingle"), "roof tiles"),
    **dict.fromkeys(("steel", "iron", "aluminium", "aluminum", "chrome"), "metal"),
    **dict.fromkeys(("carpaint",), "car paint"),
    **dict.fromkeys(("tyre", "tire"), "rubber"),
    **dict.fromkeys(("fabric", "carpet", "textile"), "cloth"),
    **dict.fromkeys(("stone",), "rock"),
}


def words_of(name: str) -> list[str]:
    """ "RedBrick_wall.001" → red, brick, wall."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word.lower() for word in re.findall(r"[A-Za-z]+", apart)]


def _word(words: list[str], known: Mapping[str, str]) -> str | None:
    """The meaning of the last known word or its plural: a wall lamp is a lamp."""
    for word in reversed(words):
        for form in (word, word.removesuffix("s"), word.removesuffix("es")):
            if form in known:
                return known[form]
    return None


def meaning_of(names: tuple[str, ...], wanted: Mapping[str, str], known: Mapping[str, str], otherwise: str) -> str:
    """The meaning of the first pattern of `wanted` that fits one of the names, else that of the words in the names."""
    for pattern, meaning in wanted.items():
        if any(fnmatchcase(name.lower(), pattern.lower()) for name in names):
            return meaning
    for name in names:
        found = _word(words_of(name), known)
        if found is not None:
            return found
    return otherwise


def check_meanings(what: str, wanted: Mapping[str, str], known: Mapping[str, int]) -> None:
    """what: "classes" or "materials", the name of the option."""
    if not isinstance(wanted, Mapping):
        raise ScenarioError(f"imported world: {what} are {wanted!r}; give patterns and meanings, {{'Pine*': tree}}")
    for pattern, meaning in wanted.items():
        if not isinstance(pattern, str) or meaning not in known:
            hint = nearest_name(str(meaning), known)
            raise ScenarioError(f"imported world: {what} has no '{meaning}' for pattern '{pattern}'; {hint}")
