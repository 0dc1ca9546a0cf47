"""The tables of the protocol's page, made from the protocol itself, and the statistical power of its sample sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np

from skyloop.core.results import Result
from skyloop_client.messages import Array
from skyloop_papers.pages import table
from skyloop_papers.sync_hil.protocol import (
    CLAIMS,
    DELAYED,
    FREE,
    HOST,
    LEVEL,
    OSCILLATIONS,
    TABLES,
    TARGET,
    Claim,
)
from skyloop_papers.sync_hil.published import PUBLISHED
from skyloop_papers.sync_hil.statistics import equal, larger, power

WITHOUT_RESULTS = True
"""The page exists before the flights."""
Draw = Callable[[np.random.Generator, int], Array]


def blocks(results: Sequence[Result]) -> dict[str, str]:
    return {"flown": _flown(), "claims": _claims(), "power": _powers()}


def _flown() -> str:
    rows = []
    for one in TABLES:
        runs = ", ".join(f"{setup} {one.runs[setup]}" for setup in (HOST, TARGET, FREE, DELAYED) if setup in one.runs)
        rows.append([one.name, one.about, runs, f"{one.limit:g} s"])
    return table(["table", "task", "runs", "limit"], rows)


def _claims() -> str:
    rows = [[str(c.number), f"{c.table}: {c.text} ({c.one} against {c.other}, {c.score})", c.test] for c in CLAIMS]
    return table(["", "claim", "test"], rows)


@cache
def _powers() -> str:
    """Power with the paper's own means and standard deviations, with independent pairs."""
    rows = []
    levels = [LEVEL / len(CLAIMS), LEVEL]
    by_name = {one.name: one for one in TABLES}
    for claim in CLAIMS:
        pairs = min(by_name[claim.table].runs[setup] for setup in (claim.one, claim.other))
        test = larger if claim.margin is None else partial(equal, margin=claim.margin)
        worst, best = power(test, _drawn(claim, claim.one), _drawn(claim, claim.other), pairs, levels, trials=600)
        rows.append([str(claim.number), claim.table, claim.test, str(pairs), f"{worst:.0%}", f"{best:.0%}"])
    return table(["claim", "table", "test", "pairs", "power at worst", "power at best"], rows, right=3)


def _drawn(claim: Claim, setup: str) -> Draw:
    """Random runs with the published mean and standard deviation: counts, or positive numbers."""
    mean, sd = PUBLISHED[claim.table][setup][claim.score]
    if not mean or not sd:
        return lambda rng, n: np.full(n, mean)
    if claim.score == OSCILLATIONS:
        share = mean / sd**2
        return lambda rng, n: rng.negative_binomial(mean * share / (1.0 - share), share, n).astype(float)
    return lambda rng, n: rng.gamma((mean / sd) ** 2, sd**2 / mean, n)
