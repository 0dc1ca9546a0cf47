"""Errors of the built-in controller and estimator on twenty seeds: the table in the README."""

from __future__ import annotations

import numpy as np

from skyloop.benchmarks.flight_quality import FLIGHTS
from skyloop.core.results import Figure

SEEDS = range(1, 21)


def measure() -> list[Figure]:
    """The worst seed of each flight, beside its target."""
    figures = []
    for key, (flight, scale, unit, aim) in FLIGHTS.items():
        errors = [flight(seed) * scale for seed in SEEDS]
        what = (flight.__doc__ or "").strip().splitlines()[0]
        note = f"{what} Worst of {len(SEEDS)} seeds, mean {np.mean(errors):.3g}"
        figures.append(Figure(key, float(max(errors)), unit, aim, note, lower_is_better=True))
    return figures
