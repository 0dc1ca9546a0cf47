"""The claims of synchronised-hil, tested on pairs of runs and corrected by Holm: each holds, or is not shown."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skyloop_papers.experiment import Cell
from skyloop_papers.paired_tests import equal, holm, larger
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
