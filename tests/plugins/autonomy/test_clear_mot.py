"""CLEAR MOT and AP50 against examples counted by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from skyloop.core.boxes import BoxScore, overlaps
from skyloop_autonomy.people.people_scores import ClearMot


def at(**places: float) -> dict[int, np.ndarray]:
    """_1=0.5: number 1 is at x = 0.5."""
    return {int(name[1:]): np.array([x, 0.0, 0.0]) for name, x in places.items()}


def test_misses_false_tracks_and_switches_are_counted_by_hand() -> None:
    mot = ClearMot(1.0)
    assert mot.add(at(_1=0.0, _2=5.0), at(_7=0.2, _8=5.1)) == {1: 7, 2: 8}
    # object 2 is missed, track 9 is false
    assert mot.add(at(_1=0.0, _2=5.0), at(_7=0.4, _9=9.0)) == {1: 7}
    # object 2 comes back under another number: a switch, although it was lost meanwhile
    assert mot.add(at(_1=0.0, _2=5.0), at(_7=0.0, _9=5.0)) == {1: 7, 2: 9}
    assert (mot.objects, mot.matches, mot.misses, mot.false, mot.switches) == (6, 5, 1, 1, 1)
    assert mot.mota == pytest.approx(1.0 - 3.0 / 6.0)
    assert mot.motp == pytest.approx((0.2 + 0.1 + 0.4 + 0.0 + 0.0) / 5.0)
    assert mot.recall == pytest.approx(5.0 / 6.0) and mot.precision == pytest.approx(5.0 / 6.0)


def test_a_pair_stays_one_while_it_is_within_reach() -> None:
    """Figure 3 of the paper: a nearer track does not take over an object."""
    mot = ClearMot(1.0)
    mot.add(at(_1=0.0), at(_7=0.1))
    assert mot.add(at(_1=0.0), at(_7=0.9, _8=0.1)) == {1: 7}
    assert (mot.switches, mot.false) == (0, 1)
    assert mot.add(at(_1=0.0), at(_7=1.1, _8=0.1)) == {1: 8}
    assert mot.switches == 1


def test_the_assignment_is_the_best_for_all_together() -> None:
    mot = ClearMot(2.0)
    # the nearest first would pair 1 with 8 and leave 2 without a track
    assert mot.add(at(_1=0.0, _2=1.5), at(_7=-1.5, _8=0.6)) == {1: 7, 2: 8}


def test_tracks_of_objects_that_need_not_be_found_are_neither_right_nor_false() -> None:
    mot = ClearMot(1.0)
    mot.add(at(_1=0.0), at(_7=0.0, _8=5.2, _9=8.0), ignored=at(_2=5.0))
    assert (mot.matches, mot.misses, mot.false) == (1, 0, 1)


def test_nothing_to_divide_by_is_no_number() -> None:
    mot = ClearMot(1.0)
    assert all(math.isnan(value) for value in (mot.mota, mot.motp, mot.recall, mot.precision))
    mot.add({}, at(_1=0.0))
    assert math.isnan(mot.mota) and mot.precision == 0.0
    assert math.isnan(BoxScore().ap50)


def test_overlap_is_intersection_over_union() -> None:
    one = np.array([[0.0, 0.0, 4.0, 2.0]])
    other = np.array([[0.0, 0.0, 4.0, 2.0], [2.0, 0.0, 6.0, 2.0], [9.0, 9.0, 9.0, 9.0]])
    assert overlaps(one, other)[0].tolist() == pytest.approx([1.0, 4.0 / 12.0, 0.0])


def test_ap50_is_the_area_under_a_curve_drawn_by_hand() -> None:
    """Three labels. Scores in order: right, false, right; the third label is missed.

    Precision 1, 1/2, 2/3 at recall 1/3, 1/3, 2/3; made falling: 1 up to 1/3, 2/3 up to 2/3."""
    score = BoxScore()
    labels = np.array([[0, 0, 10, 10], [20, 0, 30, 10], [40, 0, 50, 10]], float)
    boxes = np.array([[0, 0, 10, 9], [60, 0, 70, 10], [21, 0, 31, 10]], float)
    score.add(boxes, np.array([0.9, 0.8, 0.7]), labels, np.ones(3, bool))
    assert score.ap50 == pytest.approx(1.0 / 3.0 + (2.0 / 3.0) / 3.0)
    assert score.at(0.75) == pytest.approx((0.5, 1.0 / 3.0))
    assert score.at(0.0) == pytest.approx((2.0 / 3.0, 2.0 / 3.0))


def test_a_second_box_on_a_label_is_false_and_one_on_a_label_that_does_not_count_is_left_out() -> None:
    score = BoxScore()
    label, twice = np.array([[0, 0, 10, 10], [20, 0, 30, 10]], float), np.array([[0, 0, 10, 10]] * 2, float)
    boxes = np.vstack([twice, [[20, 0, 30, 10]]])
    score.add(boxes, np.array([0.9, 0.8, 0.7]), label, np.array([True, False]))
    assert score.labels == 1 and score.at(0.0) == (0.5, 1.0) and score.ap50 == 1.0
