"""Tests of paired runs against SciPy, and by trying all signs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from skyloop_papers.paired_tests import equal, holm, larger, power, signed_rank


def test_signed_ranks_are_exact() -> None:
    rng = np.random.default_rng(3)
    for n in (6, 11):
        differences = rng.normal(0.4, 1.0, n)
        expected = stats.wilcoxon(differences, alternative="greater", method="exact").pvalue
        assert signed_rank(differences.tolist()) == pytest.approx(expected)
    # ties and zeros: by trying all signs
    tied = [0.0, 1.0, 1.0, -1.0, 2.0, 3.0, 0.0, 3.0]
    ranks = stats.rankdata(np.abs(tied))[np.abs(tied) > 0]
    seen = sum(rank for rank, d in zip(ranks, [d for d in tied if d], strict=True) if d > 0)
    sums = [
        sum(r for r, s in zip(ranks, signs, strict=True) if s) for signs in itertools.product((0, 1), repeat=len(ranks))
    ]
    assert signed_rank(tied) == pytest.approx(np.mean(np.array(sums) >= seen - 1e-9))
    assert signed_rank([0.0] * 5) == 1.0


def test_equal_needs_both_sides_and_finished_runs() -> None:
    one, other = [1.0 + 0.01 * k for k in range(10)], [1.005 + 0.01 * k for k in range(10)]
    assert equal(one, other, 0.1) == pytest.approx(2**-10)
    assert equal(one, [value + 0.2 for value in other], 0.1) == 1.0
    assert equal([value + 0.2 for value in other], one, 0.1) == 1.0
    slow, quick = [5.0] * 6, [1.0] * 6
    assert larger([math.inf, *slow[1:]], quick) == larger(slow, quick) == 2**-6, "unfinished is worse than any"
    assert larger(slow, [math.inf, *quick[1:]]) > 2**-6 and larger([math.inf] * 6, [math.inf] * 6) == 1.0
    # few runs show nothing, however alike they are
    assert equal(one[:3], other[:3], 0.1) > 0.1
    unfinished = [math.inf, *one[1:]]
    assert equal(unfinished, other, 0.1) > equal(one, other, 0.1)
    assert equal(unfinished, [math.inf, *other[1:]], 0.1) > equal(one, other, 0.1)


def test_holm_and_power() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.026, 0.9, 0.9]) == pytest.approx([0.078, 1.0, 1.0])
    apart = power(larger, lambda r, n: r.normal(9.0, 1.0, n), lambda r, n: r.normal(0.0, 1.0, n), 10, [0.05], 50)
    assert apart == [1.0]
