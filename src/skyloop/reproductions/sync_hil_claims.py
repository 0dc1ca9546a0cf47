"""The qualitative claims of synchronised-hil, tested on the runs: held or not, with the statistics."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from skyloop.core.results import Result

Samples = dict[str, dict[str, list[dict[str, float]]]]
"""By table, where the SUT ran, and run: the measures."""
LEVEL = 0.05
"""Of significance, one-sided Mann-Whitney."""


@dataclass(frozen=True, slots=True)
class Verdict:
    claim: str
    held: bool
    p: float
    text: str

    def result(self, paper: str) -> Result:
        """1 when it held, 0 when not."""
        conditions = {"p": round(self.p, 5), "seen": self.text}
        return Result(paper, "claims", self.claim, 1.0, float(self.held), "held", conditions=conditions)


def claims(samples: Samples) -> list[Verdict]:
    """Those whose tables were flown."""
    out = []
    if "Table III" in samples:
        host, target, free = (_values(samples, "Table III", where, "oscillations") for where in _WHERE)
        slow, quick = (_values(samples, "Table III", where, "time (s)") for where in ("target", "target, no sync"))
        out.append(_more("a slow target oscillates more than the host", target, host))
        out.append(_more("without synchronisation those oscillations are hidden", target, free))
        out.append(_more("without synchronisation the target seems quicker", slow, quick))
    if "Table IV" in samples:
        host, target, free = (_values(samples, "Table IV", where, "position error (m)") for where in _WHERE)
        out.append(_more("moving forward, a slow target is less precise than the host", target, host))
        out.append(_more("without synchronisation it seems more precise than it is", target, free))
        slow, quick = (_values(samples, "Table IV", where, "time (s)") for where in ("target", "target, no sync"))
        out.append(_more("without synchronisation it seems quicker, moving forward, too", slow, quick))
    if "Table V" in samples:
        host, target, _ = (_values(samples, "Table V", where, "position error (m)") for where in _WHERE)
        out.append(_alike("the closed path does not depend on the target's speed", target, host))
    return out


_WHERE = ("host", "target", "target, no sync")


def _values(samples: Samples, table: str, where: str, what: str) -> list[float]:
    return [row[what] for row in samples[table][where]]


def _more(claim: str, larger: Sequence[float], smaller: Sequence[float]) -> Verdict:
    p = _mann_whitney(larger, smaller, "greater")
    return Verdict(claim, p < LEVEL, p, f"{_told(larger)} against {_told(smaller)}")


def _alike(claim: str, one: Sequence[float], other: Sequence[float]) -> Verdict:
    """Not told apart, and the means differ by less than the runs do."""
    p = _mann_whitney(one, other, "two-sided")
    spread = max(statistics.pstdev(one), statistics.pstdev(other))
    apart = abs(statistics.mean(one) - statistics.mean(other))
    return Verdict(claim, p >= LEVEL and apart <= spread, p, f"{_told(one)} against {_told(other)}")


def _told(values: Sequence[float]) -> str:
    return f"{statistics.mean(values):.3g} ± {statistics.pstdev(values):.2g} (n = {len(values)})"


def _mann_whitney(one: Sequence[float], other: Sequence[float], alternative: str) -> float:
    if len({*one, *other}) == 1:
        return 1.0
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(one, other, alternative=alternative).pvalue)


def claims_text(verdicts: Sequence[Verdict]) -> str:
    lines = ["| claim | held | p | seen |", "|---|---|---|---|"]
    lines += [f"| {v.claim} | {'yes' if v.held else 'no'} | {v.p:.4f} | {v.text} |" for v in verdicts]
    return "\n".join(lines) + "\n"
