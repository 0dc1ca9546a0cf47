"""How well a success rate is known: confidence intervals, and the rule by which a campaign may stop."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from skyloop.campaigns.space import STRICT

Interval = tuple[float, float]


def wilson(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Wilson, JASA 22 (1927): near the nominal coverage, also for few runs and for rates near 0 and 1."""
    return _interval(successes, n, confidence, "wilson")


def clopper_pearson(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """Clopper and Pearson, Biometrika 26 (1934): at least the nominal coverage, so wider."""
    return _interval(successes, n, confidence, "exact")


def _interval(successes: int, n: int, confidence: float, method: str) -> Interval:
    from scipy.stats import binomtest

    if n == 0:
        return 0.0, 1.0
    found = binomtest(successes, n).proportion_ci(confidence, method)
    return float(found.low), float(found.high)


INTERVALS: dict[str, Callable[[int, int, float], Interval]] = {"wilson": wilson, "clopper-pearson": clopper_pearson}


def difference(a: tuple[int, int], b: tuple[int, int], confidence: float = 0.95) -> tuple[float, Interval]:
    """The rate of b less that of a, each as (successes, n), with Newcombe's interval (1998, method 10)."""
    (low_a, high_a), (low_b, high_b) = wilson(*a, confidence), wilson(*b, confidence)
    rate_a, rate_b = (one[0] / one[1] if one[1] else math.nan for one in (a, b))
    d = rate_b - rate_a
    return d, (d - math.hypot(rate_b - low_b, high_a - rate_a), d + math.hypot(high_b - rate_b, rate_a - low_a))


class Stop(BaseModel):
    """The campaign may stop when the success rate is known well enough."""

    model_config = STRICT

    half_width: Annotated[float, Field(gt=0.0, lt=0.5)]
    """Half the length of the interval of the success rate: 0.05 is ± 5 percentage points."""
    confidence: Annotated[float, Field(ge=0.5, le=0.9999)] = 0.95
    """How often such an interval holds the true rate."""
    interval: Literal["wilson", "clopper-pearson"] = "wilson"
    """Clopper-Pearson is wider and never holds the true rate less often than promised."""
    at_least: Annotated[int, Field(ge=1)] = 20
    """Runs before the rule is looked at."""

    def holds(self, runs: int, successes: int, judged: int) -> bool:
        """After so many runs, of which some were judged and others lost."""
        low, high = INTERVALS[self.interval](successes, judged, self.confidence)
        return runs >= self.at_least and (high - low) / 2.0 <= self.half_width


class StoppingPoint:
    """Looks at verdicts in the order of the runs' numbers, never in that in which they ended: so a campaign ends after
    the same run, whatever machines made it."""

    def __init__(self, stop: Stop | None) -> None:
        self._stop = stop
        self.runs = self._successes = self._judged = 0
        self.reached = False
        """After `runs` runs."""

    def add(self, success: bool | None) -> None:
        """The verdict of the next run; None if it was lost."""
        self.runs += 1
        self._successes += bool(success)
        self._judged += success is not None
        if self._stop is not None:
            self.reached = self._stop.holds(self.runs, self._successes, self._judged)
