"""The table of the protocol's page on the unknown city, made from the protocol itself."""

from __future__ import annotations

from collections.abc import Sequence

from skyloop.core.results import Result
from skyloop_papers.pages import table
from skyloop_papers.unknown_city.protocol import (
    AIM_DENIED,
    AIM_FACTOR,
    AIM_IOU,
    AIM_REACHED,
    AIM_WAY,
    DENIED,
    KISS,
    SEEDS,
)

WITHOUT_RESULTS = True
"""The page exists before the flights."""


def blocks(results: Sequence[Result]) -> dict[str, str]:
    rows = [
        ["with GNSS: goal reached", "one flight", f"{AIM_REACHED} of {len(SEEDS)}"],
        ["without GNSS: goal reached", "", f"{AIM_DENIED} of {len(DENIED)}"],
        ["kiss-icp, without GNSS: goal reached", "", f"{len(KISS)} flights, to compare"],
        ["collisions", "0", "0"],
        ["way over the shortest on the true map", "", f"≤ {AIM_WAY:g}"],
        ["map IoU", "pictures", f"≥ {AIM_IOU:g}"],
        ["simulated per processor second", "", f"≥ {AIM_FACTOR:g}"],
    ]
    return {"aims": table(["", "paper", "aim"], rows, right=1)}
