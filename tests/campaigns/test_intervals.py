"""Intervals of success rates against published ones; and the rule by which a campaign stops."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from skyloop.campaigns.intervals import Stop, StoppingPoint, clopper_pearson, difference, wilson

NEWCOMBE = {
    (81, 263): ((0.2553, 0.3662), (0.2527, 0.3676)),
    (15, 148): ((0.0624, 0.1605), (0.0578, 0.1617)),
    (0, 20): ((0.0000, 0.1611), (0.0000, 0.1684)),
    (1, 29): ((0.0061, 0.1718), (0.0009, 0.1776)),
}
"""Newcombe, Statistics in Medicine 17 (1998), Table I: methods 3 (Wilson) and 5 (Clopper and Pearson)."""


def test_intervals_are_the_published_ones() -> None:
    for (successes, n), (by_wilson, exact) in NEWCOMBE.items():
        assert wilson(successes, n) == pytest.approx(by_wilson, abs=5e-5)
        assert clopper_pearson(successes, n) == pytest.approx(exact, abs=5e-5)
    assert wilson(0, 0) == clopper_pearson(0, 0) == (0.0, 1.0)


def test_a_difference_is_newcombe_s() -> None:
    """Newcombe 1998, Table II, method 10: 56/70 against 48/80 is 0.2000, 0.0524 to 0.3339."""
    change, (low, high) = difference((48, 80), (56, 70))
    assert (change, low, high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


def stops_after(verdicts: list[bool | None], stop: Stop) -> int | None:
    point = StoppingPoint(stop)
    for verdict in verdicts:
        point.add(verdict)
        if point.reached:
            return point.runs
    return None


def test_it_stops_at_the_first_run_after_which_the_rate_is_known() -> None:
    chance = np.random.default_rng(5)
    verdicts: list[bool | None] = [bool(x) for x in chance.random(2000) < 0.7]
    stop = Stop(half_width=0.05)
    last = stops_after(verdicts, stop)
    assert last is not None and 250 < last < 400
    widths = [np.ptp(wilson(sum(map(bool, verdicts[:n])), n)) / 2 for n in (last - 1, last)]
    assert widths[0] > 0.05 >= widths[1]
    assert stops_after(verdicts[: last - 1], stop) is None
    exact = stops_after(verdicts, Stop(half_width=0.05, interval="clopper-pearson"))
    assert exact is not None and exact > last


def test_the_least_number_of_runs_and_lost_ones() -> None:
    assert stops_after([True] * 100, Stop(half_width=0.2, at_least=30)) == 30
    # a lost run is no verdict
    mixed: list[bool | None] = list(itertools.chain.from_iterable((True, None) for _ in range(100)))
    plain = stops_after([True] * 100, Stop(half_width=0.05, at_least=1))
    assert stops_after(mixed, Stop(half_width=0.05, at_least=1)) == 2 * plain - 1  # type: ignore[operator]
