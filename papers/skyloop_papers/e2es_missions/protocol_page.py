"""The table of the protocol's page on missions, made from the protocol itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from skyloop.core.results import Result
from skyloop_papers.e2es_missions.protocol import Protocol
from skyloop_papers.pages import table

WITHOUT_RESULTS = True
"""The page exists before the flights."""


def blocks(results: Sequence[Result]) -> dict[str, str]:
    protocol = Protocol()
    among = Counter(world for world, _ in protocol.with_walkers)
    first, last = protocol.seeds[0], protocol.seeds[-1]
    rows = [[world, f"seeds {first} to {last}", str(among[world])] for world in protocol.worlds]
    return {"flown": table(["world", "missions", f"with {protocol.walkers} walkers"], rows, right=1)}
