"""A run that was flown again beside the stored one: every figure, to the last digit."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Figures = dict[str, Any]

LEFT_OUT = {
    "processor_s": "processor time", "factor": "by processor time", "real_time_factor": "by wall time",
    "stages": "shares of the processor time", "again": "names a folder",
}  # fmt: skip
"""By the name of a figure, why it is another one each time."""
NOT_THERE = "(not there)"


@dataclass(slots=True)
class Comparison:
    """Of several runs."""

    figures: int = 0
    """Numbers and words that were compared."""
    differing: list[str] = field(default_factory=list)
    """One line for each figure that is not the same."""
    left_out: dict[str, str] = field(default_factory=dict)
    """By name, figures that were not compared, and why."""

    def add(self, run: str, stored: Figures, flown: Figures) -> None:
        for name in sorted({*stored, *flown}):
            if name in LEFT_OUT:
                self.left_out[name] = LEFT_OUT[name]
            elif name not in stored or name not in flown:
                there = "was not stored" if name in flown else "is stored, but was not given now"
                self.differing.append(f"{run}: {name} {there}")
            else:
                self._compare(run, name, stored[name], flown[name])

    def _compare(self, run: str, name: str, stored: Any, flown: Any) -> None:
        if isinstance(stored, dict) and isinstance(flown, dict):
            for key in sorted({*stored, *flown}):
                self._compare(run, f"{name}.{key}", stored.get(key, NOT_THERE), flown.get(key, NOT_THERE))
            return
        self.figures += sum(1 for _ in _numbers(stored))
        # as text: it has every digit, and NaN is then the same as NaN
        if json.dumps(stored) != json.dumps(flown):
            self.differing.append(f"{run}: {name} {_difference(stored, flown)}")


def _difference(stored: Any, flown: Any) -> str:
    """A track has hundreds of numbers; the first that is another one stands for all."""
    if not (isinstance(stored, list) and isinstance(flown, list)):
        return f"was {json.dumps(stored)}, is {json.dumps(flown)}"
    before, now = list(_numbers(stored)), list(_numbers(flown))
    if len(before) != len(now):
        return f"had {len(before)} numbers, has {len(now)}"
    pairs = [(one, other) for one, other in zip(before, now, strict=True) if json.dumps(one) != json.dumps(other)]
    if not pairs:
        return "has the same numbers in another order of lists"
    return f"was {json.dumps(pairs[0][0])}, is {json.dumps(pairs[0][1])}, the first of {len(pairs)} that differ"


def _numbers(value: Any) -> Iterable[Any]:
    if isinstance(value, list):
        for one in value:
            yield from _numbers(one)
    else:
        yield value
