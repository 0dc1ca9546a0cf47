"""The claims of synchronised-hil, tested on pairs of runs and corrected by Holm: each holds, or is not shown."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skyloop.core.results import Result
from skyloop_papers.sync_hil.protocol import Claim
from skyloop_papers.sync_hil.statistics import equal, holm, larger

Samples = dict[str, dict[str, list[dict[str, Any]]]]
"""By table, set-up and run: scores, or why the run is unfinished."""


@dataclass(frozen=True, slots=True)
class Verdict:
    claim: Claim
    p: float
    corrected: float
    """p after Holm's correction."""
    level: float
    seen: str

    @property
    def held(self) -> bool:
        return self.corrected < self.level

    def result(self, paper: str) -> Result:
        """1 if it holds, 0 if it is not shown."""
        conditions = {
            "number": self.claim.number, "test": self.claim.test, "p": float(f"{self.p:.3g}"),
            "p_holm": float(f"{self.corrected:.3g}"), "seen": self.seen,
        }  # fmt: skip
        cell = f"{self.claim.table}: {self.claim.text}"
        return Result(paper, "claims", cell, 1.0, float(self.held), "held", conditions=conditions)


def claims(samples: Samples, family: Sequence[Claim], level: float) -> list[Verdict]:
    """The claims whose tables were flown. The correction is for the whole family, flown or not."""
    judged = [(claim, *_tested(claim, samples)) for claim in family if claim.table in samples]
    missing = [1.0] * (len(family) - len(judged))
    corrected = holm([p for _, p, _ in judged] + missing)
    return [Verdict(claim, p, after, level, seen) for (claim, p, seen), after in zip(judged, corrected, strict=False)]


def _tested(claim: Claim, samples: Samples) -> tuple[float, str]:
    one, other = (_values(samples[claim.table][setup], claim.score) for setup in (claim.one, claim.other))
    pairs = min(len(one), len(other))
    p = larger(one[:pairs], other[:pairs]) if claim.margin is None else equal(one[:pairs], other[:pairs], claim.margin)
    return p, f"{_told(one)} against {_told(other)}, {pairs} pairs"


def _values(rows: Sequence[dict[str, Any]], score: str) -> list[float]:
    """An unfinished run counts as worse than any other."""
    return [math.inf if "unfinished" in row else float(row[score]) for row in rows]


def _told(values: Sequence[float]) -> str:
    whole = [value for value in values if math.isfinite(value)]
    if not whole:
        return f"none of {len(values)} finished"
    spread = f" ± {statistics.stdev(whole):.2g}" if len(whole) > 1 else ""
    lost = f" ({len(values) - len(whole)} of {len(values)} unfinished)" if len(whole) < len(values) else ""
    return f"{statistics.mean(whole):.3g}{spread}{lost}"
