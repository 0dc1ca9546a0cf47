"""The table of the protocol's page on detection, made from the protocol itself."""

from __future__ import annotations

from collections.abc import Sequence

from skyloop.core.results import Result
from skyloop.reproductions.detection_protocol import AIMS, PARTS, WAYS, Protocol
from skyloop.reproductions.pages import table
from skyloop_detect.training_data.people_set import IMAGES, places_of

WITHOUT_RESULTS = True
"""The page exists before the run."""


def blocks(results: Sequence[Result]) -> dict[str, str]:
    p, rows = Protocol(), []
    for name, part in PARTS.items():
        places = [entry for entry in places_of(part, IMAGES) if entry["split"] == "test"][: p.per_part // p.per_place]
        worlds = ", ".join(dict.fromkeys(entry["world"] for entry in places))
        seeds = [entry["seed"] for entry in places]
        rows.append(
            [name, worlds, f"{len(seeds)} from {seeds[0]} to {seeds[-1]}", str(p.per_part), f"≥ {AIMS[name]:.2f}"]
        )
    ways = [[name, model, runtime] for name, (model, runtime) in WAYS.items()]
    return {
        "images": table(["part", "worlds", "world seeds", "images", "aim, AP50"], rows),
        "ways": table(["", "model", "runtime"], ways),
    }
