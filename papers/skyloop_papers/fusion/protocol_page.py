"""The table of the protocol's page on fusion, made from the protocol itself."""

from __future__ import annotations

from collections.abc import Sequence

from skyloop.core.results import Result
from skyloop_papers.fusion.protocol import CONDITIONS, SENSORS, Protocol
from skyloop_papers.pages import table

WITHOUT_RESULTS = True
"""The page exists before the flights."""


def blocks(results: Sequence[Result]) -> dict[str, str]:
    p = Protocol()
    rows = []
    for name in p.conditions:
        changed = ", ".join(f"`{path}: {value:g}`" for path, value in CONDITIONS[name].items()) or "as shipped"
        rows.append([name, changed, ", ".join(SENSORS), f"{p.seeds[0]} to {p.seeds[-1]}", str(len(p.seeds))])
    return {"flown": table(["condition", "the scenario", "trackers in each flight", "seeds", "flights"], rows)}
