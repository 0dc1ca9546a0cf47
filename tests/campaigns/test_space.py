"""Points of a campaign: every design gives what its name says, and the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from skyloop.campaigns.space import Span, corners, points, run_seed

SPACE = {"wind": Span(least=0.0, most=8.0, steps=3), "mass": Span(least=0.1, most=10.0, scale="log", steps=3)}


def test_a_grid_is_every_combination() -> None:
    made = points("grid", {**SPACE, "state": ["truth", "ekf"]}, 0, 1)
    assert len(made) == 18
    assert {point["wind"] for point in made} == {0.0, 4.0, 8.0}
    assert sorted({point["mass"] for point in made}) == pytest.approx([0.1, 1.0, 10.0])
    assert len({tuple(point.values()) for point in made}) == 18


def test_a_latin_hypercube_has_one_point_in_each_part_of_every_parameter() -> None:
    made = points("latin-hypercube", {**SPACE, "state": ["truth", "ekf"]}, 20, 7)
    wind = np.sort([point["wind"] for point in made])
    assert (np.floor(wind / 8.0 * 20).astype(int) == np.arange(20)).all()
    logs = np.sort(np.log10([point["mass"] for point in made]))
    assert (np.floor((logs + 1.0) / 2.0 * 20).astype(int) == np.arange(20)).all()
    assert [point["state"] for point in made].count("ekf") == 10
    # parameters do not go together
    pairs = np.array([(point["wind"], np.log(point["mass"])) for point in made])
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 0.6


def test_points_by_chance_fill_the_span_and_begin_alike_for_any_count() -> None:
    few, many = (points("random", SPACE, n, 3) for n in (50, 2000))
    assert many[:50] == few and points("random", SPACE, 50, 4) != few
    winds = np.array([point["wind"] for point in many])
    assert winds.mean() == pytest.approx(4.0, abs=0.2) and winds.std() == pytest.approx(8.0 / np.sqrt(12), rel=0.05)


def test_another_parameter_changes_no_other() -> None:
    more = points("random", {"light": Span(least=0, most=1), **SPACE}, 5, 3)
    assert [point["wind"] for point in more] == [point["wind"] for point in points("random", SPACE, 5, 3)]


def test_whole_numbers_are_equally_likely_and_include_both_ends() -> None:
    span = Span(least=1, most=4, whole=True, steps=4)
    made = [point["n"] for point in points("random", {"n": span}, 4000, 1)]
    assert sorted(set(made)) == [1, 2, 3, 4] and all(900 < made.count(k) < 1100 for k in (1, 2, 3, 4))
    assert span.grid() == [1, 2, 3, 4] and all(isinstance(value, int) for value in made)


def test_corners_hold_both_ends_and_every_listed_value() -> None:
    made = corners({**SPACE, "state": ["truth", "ekf", "vio"]})
    assert {point["state"] for point in made} == {"truth", "ekf", "vio"}
    assert {0.0, 8.0} <= {point["wind"] for point in made} and len(made) == 3


def test_seeds_of_runs_differ() -> None:
    assert len({run_seed(1, k) for k in range(2000)} | {run_seed(2, k) for k in range(2000)}) == 4000
    assert all(0 <= run_seed(1, k) < 2**31 for k in range(100))
