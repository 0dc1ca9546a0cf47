"""The semantic classes of every world, by number and name."""

from __future__ import annotations

from typing import Final

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
    "object",  # a thing of an imported file whose name says no more
    "traffic light",
    "barrel",
)

CLASS_ID: Final = {name: number for number, name in enumerate(CLASSES)}
