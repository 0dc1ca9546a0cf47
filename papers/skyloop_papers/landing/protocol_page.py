"""The table of the protocol's page on landings, made from the protocol itself."""

from __future__ import annotations

from collections.abc import Sequence

from skyloop.core.results import Result
from skyloop_papers.landing.protocol import Protocol
from skyloop_papers.pages import table

WITHOUT_RESULTS = True
"""The page exists before the flights."""


def blocks(results: Sequence[Result]) -> dict[str, str]:
    p = Protocol()
    groups = {
        "the paper's test": (p.boards, p.starts),
        "conditions": (p.conditions, p.condition_starts),
        "ablation": (p.ablation, p.ablation_starts),
        "clock": ([f"{clock:g} MHz" for clock in p.clocks_mhz], p.clock_starts),
    }
    rows = [
        [name, ", ".join(each), f"{seeds[0]} to {seeds[-1]}", str(len(each) * len(seeds))]
        for name, (each, seeds) in groups.items()
    ]
    return {"flown": table(["", "each of", "seeds", "landings"], rows)}
