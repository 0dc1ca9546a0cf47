"""Boxes and tracks of a run against a truth written by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from skyloop.campaigns.truth_judges import judge_from
from skyloop.core.bus import Bus
from skyloop.core.detection_scores import BoxScore, overlaps
from skyloop_autonomy.people.people_scores import ClearMot, box_scores, counts, track_scores
from skyloop_autonomy.reports.people_log import PeopleLog
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array, Detections, Estimate, ImageTruth, Label, Message, Movers, VehicleState
from skyloop_client.streams import StreamInfo

STEP = 100_000_000
LEVEL = np.array([1.0, 0.0, 0.0, 0.0])


class OnePerson:
    """Walks east at 1 m/s, 8 m from the vehicle."""

    def middles_near(self, is_a: str, t: float, position: Array, reach: float) -> dict[int, Array]:
        assert is_a == "person"
        return {5: np.array([8.0 + t, 0.0, 0.9]), 6: np.array([0.0, 20.0, 0.9])}


def label(instance: int, box: tuple[int, int, int, int], distance: float, occlusion: float = 0.0) -> Label:
    size = np.array([0.5, 0.5, 1.8])
    return Label(instance, f"p{instance}", "person", box, 100, occlusion, 0.0, np.zeros(3), size, 0.0, distance)


def state(t_ns: int, position: Array) -> VehicleState:
    zero = np.zeros(3)
    return VehicleState(t_ns, position, zero, LEVEL, zero, zero, zero, np.zeros(4), np.zeros(4), zero)


def estimate(t_ns: int, position: Array) -> Estimate:
    zero = np.zeros(3)
    return Estimate(t_ns, position, zero, LEVEL, zero, zero, zero, zero, valid=True)


def flown(off: Array, track_off: Array, boxes: bool = True) -> PeopleLog:
    """Ten images from the air. The vehicle believes to be `off` from where it is."""
    bus = Bus()
    log = PeopleLog(bus, {"drone": "ekf"})
    counters: dict[str, int] = {}
    for name, message in (
        ("truth/drone", "VehicleState"), ("drone/estimate", "Estimate"), ("truth/drone/front", "ImageTruth"),
        ("drone/detect/boxes", "Detections"), ("drone/people/tracks", "Movers"), ("drone/map/movers", "Movers"),
    ):  # fmt: skip
        bus.advertise(StreamInfo(name, message, None, "drone"))
    bus.advertise(StreamInfo("drone/radar/raw", "RadarScan", None, "drone", details={"d_max": 12.0}))

    def tell(stream: str, data: Any) -> None:
        counters[stream] = counters.get(stream, -1) + 1
        bus.publish(Message(stream, counters[stream], data.t_ns, data.t_ns, data))

    for k in range(11):
        t_ns, position = k * STEP, np.array([0.0, 0.0, 0.0 if k == 0 else 3.5])
        tell("truth/drone", state(t_ns, position))
        tell("drone/estimate", estimate(t_ns, position + off))
        if k:
            # a tracker's word of the instant before
            before = OnePerson().middles_near("person", t_ns * 1e-9 - 0.1, position, 9.0)[5]
            position_of_track = np.array([before + off + track_off])
            spread = np.zeros((1, 6, 6))
            ids, sizes = np.array([k // 6]), np.array([[0.25, 1.8]])
            velocity = np.array([[1.0, 0.0, 0.0]])
            tell("drone/people/tracks", Movers(t_ns - STEP, position_of_track, velocity, sizes, ids, spread))
            tell("drone/map/movers", Movers(t_ns - STEP, position_of_track, velocity, sizes, ids))
        labels = (label(5, (100, 80, 109, 119), 9.0), label(6, (200, 80, 203, 89), 20.0))
        tell("truth/drone/front", ImageTruth(t_ns, position, LEVEL, labels=labels))
        if boxes and k % 2:
            found = np.array([[100.0, 80.0, 110.0, 120.0]])
            tell("drone/detect/boxes", Detections(t_ns, found, ("person",), np.array([0.9]), source="front"))
    return log


def test_who_must_be_found() -> None:
    assert counts(label(1, (0, 0, 9, 15), 5.0))
    assert not counts(label(1, (0, 0, 9, 14), 5.0)), "15 px high"
    assert not counts(label(1, (0, 0, 9, 40), 5.0, occlusion=0.6))


def test_tracks_are_judged_without_the_vehicles_own_error() -> None:
    log = flown(off=np.array([5.0, -3.0, 1.0]), track_off=np.array([0.3, 0.0, 0.4])).vehicles["drone"]
    assert log.tracks == ["drone/people/tracks"], "movers of maps have no covariances and are no people"
    score = track_scores(log, OnePerson())["drone/people/tracks"].plain()  # type: ignore[arg-type]
    assert (score["objects"], score["matches"], score["false"]) == (10, 10, 0)
    assert score["position_rms_m"] == pytest.approx(0.5) and score["velocity_rms_m_s"] == pytest.approx(0.0, abs=1e-6)
    assert score["switches"] == 1 and score["mota"] == pytest.approx(0.9)


def test_a_track_beyond_reach_is_a_miss_and_false() -> None:
    log = flown(off=np.zeros(3), track_off=np.array([0.0, 1.6, 0.0])).vehicles["drone"]
    score = track_scores(log, OnePerson())["drone/people/tracks"].plain()  # type: ignore[arg-type]
    assert (score["misses"], score["false"], score["recall"]) == (10, 10, 0.0)
    assert score["mota"] == -1.0 and score["position_rms_m"] is None


def test_boxes_are_judged_where_they_were_looked_at() -> None:
    scores = box_scores(flown(np.zeros(3), np.zeros(3)).vehicles["drone"])["drone/detect/boxes"]
    assert (scores["images"], scores["looked_at"], scores["people"]) == (11, 5, 5)
    assert scores["precision"] == scores["recall"] == scores["ap50"] == 1.0


def test_the_judge_counts_images_that_were_not_looked_at() -> None:
    judge = judge_from("missed<0.3")
    found = {"people": {"boxes": {"drone/detect/boxes": {"recall": 0.9, "looked_at": 50, "images": 100}}}}

    class Flight:
        vehicle = found

    assert judge.measure(Flight()) == pytest.approx(0.55)  # type: ignore[arg-type]
    Flight.vehicle = {}
    with pytest.raises(ScenarioError, match="no boxes and labels"):
        judge.measure(Flight())  # type: ignore[arg-type]


def at(**positions: float) -> dict[int, np.ndarray]:
    """_1=0.5: number 1 is at x = 0.5."""
    return {int(name[1:]): np.array([x, 0.0, 0.0]) for name, x in positions.items()}


def test_misses_false_tracks_and_switches_are_counted_by_hand() -> None:
    mot = ClearMot(1.0)
    assert mot.add(at(_1=0.0, _2=5.0), at(_7=0.2, _8=5.1)) == {1: 7, 2: 8}
    # object 2 is missed, track 9 is false
    assert mot.add(at(_1=0.0, _2=5.0), at(_7=0.4, _9=9.0)) == {1: 7}
    # object 2 comes back under another number: a switch, although it was lost meanwhile
    assert mot.add(at(_1=0.0, _2=5.0), at(_7=0.0, _9=5.0)) == {1: 7, 2: 9}
    assert (mot.objects, mot.matches, mot.misses, mot.false, mot.switches) == (6, 5, 1, 1, 1)
    assert mot.mota == pytest.approx(1.0 - 3.0 / 6.0)
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
    assert all(math.isnan(value) for value in (mot.mota, mot.recall, mot.precision))
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
