"""A program's use of its computer: the time of each cycle, and energy."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

STEP = math.log(1.01)
"""Times within one percent share a bin, so that a long flight needs no more memory."""
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}


@dataclass(slots=True)
class CycleTimes:
    """Computation between an answer and the next question, ET, of all cycles."""

    count: int = 0
    longest_ns: int = 0
    _counts: Counter[int] = field(default_factory=Counter)

    def add(self, ns: int) -> None:
        self.count += 1
        self.longest_ns = max(self.longest_ns, ns)
        self._counts[round(math.log(max(ns, 1)) / STEP)] += 1

    def quantile(self, share: float) -> float:
        """s, within one percent: the quantile of the cycle times."""
        passed = 0
        for bin_ in sorted(self._counts):
            passed += self._counts[bin_]
            if passed >= share * self.count:
                return min(math.exp(bin_ * STEP), self.longest_ns) / 1e9
        return 0.0

    def plain(self) -> dict[str, float]:
        found = {name: self.quantile(share) for name, share in QUANTILES.items()}
        return {"count": self.count, **found, "max": self.longest_ns / 1e9}


@dataclass(slots=True)
class EnergyMeter:
    """Energy of one computer over simulated time."""

    watts: float = 0.0
    """W, the current power."""
    _joules: float = 0.0
    _since_ns: int = 0

    def turn_to(self, watts: float, t_ns: int) -> None:
        self._joules, self._since_ns, self.watts = self.joules(t_ns), t_ns, watts

    def joules(self, t_ns: int) -> float:
        """J used so far."""
        return self._joules + self.watts * (t_ns - self._since_ns) / 1e9
