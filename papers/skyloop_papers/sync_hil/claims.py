"""The claims of synchronised-hil, tested on pairs of runs and corrected by Holm: each holds, or is not shown.

Signed-rank and equivalence tests are exact, and take unfinished runs as infinitely long."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skyloop_client.messages import Array
from skyloop_papers.experiment import Cell
from skyloop_papers.sync_hil.plan import Claim

Samples = dict[str, dict[str, list[dict[str, Any]]]]
"""By table, set-up and run: scores, or why the run is unfinished."""


@dataclass(frozen=True, slots=True)
class TestedClaim:
    claim: Claim
    p: float
    corrected: float
    """p after Holm's correction."""
    level: float
    seen: str

    @property
    def held(self) -> bool:
        return self.corrected < self.level

    def cell(self) -> Cell:
        """1 if it holds, 0 if it is not shown."""
        conditions = {
            "number": self.claim.number, "test": self.claim.test, "p": float(f"{self.p:.3g}"),
            "p_holm": float(f"{self.corrected:.3g}"), "seen": self.seen,
        }  # fmt: skip
        row, column = self.claim.table, self.claim.text
        return Cell("claims", row, column, 1.0, float(self.held), "held", conditions=conditions)


def claims(samples: Samples, family: Sequence[Claim], level: float) -> list[TestedClaim]:
    """The claims whose tables were flown. The correction is for the full family, flown or not."""
    judged = [(claim, *_tested(claim, samples)) for claim in family if claim.table in samples]
    missing = [1.0] * (len(family) - len(judged))
    corrected = holm([p for _, p, _ in judged] + missing)
    return [
        TestedClaim(claim, p, after, level, seen) for (claim, p, seen), after in zip(judged, corrected, strict=False)
    ]


def _tested(claim: Claim, samples: Samples) -> tuple[float, str]:
    one, other = (_values(samples[claim.table][setup], claim.score) for setup in (claim.one, claim.other))
    pairs = min(len(one), len(other))
    p = larger(one[:pairs], other[:pairs]) if claim.margin is None else equal(one[:pairs], other[:pairs], claim.margin)
    return p, f"{_shown(one)} against {_shown(other)}, {pairs} pairs"


def _values(rows: Sequence[dict[str, Any]], score: str) -> list[float]:
    """An unfinished run counts as worse than any other."""
    return [math.inf if "unfinished" in row else float(row[score]) for row in rows]


def _shown(values: Sequence[float]) -> str:
    finished = [value for value in values if math.isfinite(value)]
    if not finished:
        return f"none of {len(values)} finished"
    spread = f" ± {statistics.stdev(finished):.2g}" if len(finished) > 1 else ""
    lost = f" ({len(values) - len(finished)} of {len(values)} unfinished)" if len(finished) < len(values) else ""
    return f"{statistics.mean(finished):.3g}{spread}{lost}"


# ---- tests


def larger(one: Sequence[float], other: Sequence[float]) -> float:
    """p of Wilcoxon's signed-rank test that `one` is not larger than `other`. Infinity means unfinished."""
    return signed_rank([_difference(a, b) for a, b in zip(one, other, strict=True)])


def equal(one: Sequence[float], other: Sequence[float], margin: float) -> float:
    """p of two one-sided tests that they differ by the margin or more. Unfinished pairs are outside in both."""
    pairs = list(zip(one, other, strict=True))
    finished = [math.isfinite(a) and math.isfinite(b) for a, b in pairs]
    above = [margin - (a - b) if ok else -math.inf for (a, b), ok in zip(pairs, finished, strict=True)]
    below = [margin + (a - b) if ok else -math.inf for (a, b), ok in zip(pairs, finished, strict=True)]
    return max(signed_rank(above), signed_rank(below))


def _difference(a: float, b: float) -> float:
    """Two unfinished runs count as equal."""
    return 0.0 if a == b else a - b


def signed_rank(differences: Sequence[float]) -> float:
    """One-sided and exact: the probability of a positive rank sum this large if every sign were random.

    Equal sizes share their ranks. Zeros are ranked and then left out (Pratt)."""
    sizes = np.abs(np.array(differences, float))
    # shared ranks are multiples of one half, so twice the rank is an integer
    doubled = np.array([2 * np.sum(sizes < size) + np.sum(sizes == size) + 1 for size in sizes], int)
    moving = sizes > 0.0
    doubled, signs = doubled[moving], np.sign(differences)[moving]
    if not len(doubled):
        return 1.0
    seen = int(doubled[signs > 0].sum())
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled:
        ways[rank:] += ways[:-rank].copy()
    return float(ways[seen:].sum() / ways.sum())


def holm(ps: Sequence[float]) -> list[float]:
    """Each p with Holm's correction, to be compared with the level of the full family."""
    order = sorted(range(len(ps)), key=lambda k: ps[k])
    corrected, least = [1.0] * len(ps), 0.0
    for rank, k in enumerate(order):
        least = max(least, min(1.0, (len(ps) - rank) * ps[k]))
        corrected[k] = least
    return corrected


def power(
    test: Callable[[Sequence[float], Sequence[float]], float],
    one: Callable[[np.random.Generator, int], Array],
    other: Callable[[np.random.Generator, int], Array],
    pairs: int,
    levels: Sequence[float],
    trials: int = 2000,
) -> list[float]:
    """Share of simulated experiments in which the test passes at each level."""
    rng = np.random.default_rng(1)
    ps = np.array([test(one(rng, pairs).tolist(), other(rng, pairs).tolist()) for _ in range(trials)])
    return [float(np.mean(ps < level)) for level in levels]
