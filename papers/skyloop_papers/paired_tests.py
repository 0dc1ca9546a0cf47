"""Tests of runs that were made in pairs: larger, equal within a margin, and Holm's correction for several of them.

They are exact, and an unfinished run is given as infinity."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from skyloop_client.messages import Array


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
