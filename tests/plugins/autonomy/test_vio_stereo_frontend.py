"""One camera falls silent: the other one leads, and the window begins anew with the state of the IMU kept."""

from __future__ import annotations

import numpy as np
import pytest
from painted_flights import SETTINGS, WAYS, Event, Pair, calibration, estimates_of, events, off

from skyloop_autonomy.vio import VisualInertialOdometry
from skyloop_autonomy.vio.stereo_frontend import SILENT_PAIRS

pytestmark = pytest.mark.flights

SECONDS = 3.5
DEATH_NS = 2_000_000_000


def without(side: str, first_ns: int = DEATH_NS, last_ns: int = 10**18) -> list[Event]:
    """The flight without the images of one camera between two instants."""
    out: list[Event] = []
    for event in events(SECONDS)[1]:
        if isinstance(event, Pair) and first_ns < event.t_ns <= last_ns:
            out.append(event._replace(left=None) if side == "left" else event._replace(right=None))
        else:
            out.append(event)
    return out


@pytest.mark.parametrize(("way", "side"), [("odometry", "right"), ("localiser", "left")])
def test_one_camera_is_enough_whichever_it_is(way: str, side: str) -> None:
    flown = events(SECONDS)[0]
    estimates = WAYS[way](without(side))
    flying = [one for one in estimates if one.t_ns > DEATH_NS]
    assert all(one.valid for one in flying)
    assert max(off(flown, one) for one in flying) < 0.03
    # the IMU alone would not know the velocity so well after 1.5 s
    assert flying[-1].velocity_sd.max() < 0.06


def test_the_right_camera_leads_its_corners_count_and_nothing_jumps() -> None:
    odometry = VisualInertialOdometry(calibration(), SETTINGS)
    estimates = estimates_of(odometry, without("left"))
    assert odometry.frontend.swapped
    assert odometry.frontend.calibration.body_from_left.position == pytest.approx([0.12, -0.05, 0.0])
    assert odometry.backend.filter.rig.left_position == pytest.approx([0.12, -0.05, 0.0])
    assert odometry.backend.taken > 10, "points that the right camera alone has seen"
    # between the last pair of the left camera and the first of the right one the IMU's state is kept
    near = [one for one in estimates if DEATH_NS - 10**8 < one.t_ns < DEATH_NS + 6 * 10**8]
    steps = np.linalg.norm(np.diff([one.position for one in near], axis=0), axis=1)
    assert steps.max() < 0.02


def test_a_few_lost_images_change_nothing() -> None:
    lost = SILENT_PAIRS - 1
    odometry = VisualInertialOdometry(calibration(), SETTINGS)
    given = without("left", DEATH_NS, DEATH_NS + lost * 50_000_000)
    estimates_of(odometry, [event for event in given if event.t_ns < DEATH_NS + 5 * 10**8])
    assert not odometry.frontend.swapped and odometry.estimate.valid


def test_when_the_left_one_is_back_the_pair_is_used_again_and_the_parts_may_change_again() -> None:
    flown = events(SECONDS)[0]
    given = without("left", 1_500_000_000, 2_500_000_000)
    odometry = VisualInertialOdometry(calibration(), SETTINGS)
    until = next(k for k, event in enumerate(given) if event.t_ns > 3_200_000_000)
    estimates_of(odometry, given[:until])
    assert odometry.frontend.swapped and (odometry.tracker.tracks.known == 2).mean() > 0.8, "depth by the left one"
    rest = [event._replace(right=None) if isinstance(event, Pair) else event for event in given[until:]]
    estimates_of(odometry, rest)
    assert not odometry.frontend.swapped and odometry.estimate.valid
    assert off(flown, odometry.estimate) < 0.03


def test_a_left_camera_that_never_worked_is_not_needed() -> None:
    flown = events(SECONDS)[0]
    odometry = VisualInertialOdometry(calibration(), SETTINGS)
    estimates = estimates_of(odometry, without("left", -1))
    assert odometry.frontend.swapped and estimates[-1].valid and off(flown, estimates[-1]) < 0.1


def test_a_snapshot_keeps_which_camera_leads() -> None:
    given = without("left")
    half = next(k for k, event in enumerate(given) if event.t_ns > 2_800_000_000)
    first, other = (VisualInertialOdometry(calibration(), SETTINGS) for _ in range(2))
    estimates_of(first, given[:half])
    saved = first.snapshot()
    expected = estimates_of(first, given[half:])[-1]
    other.restore(saved)
    again = estimates_of(other, given[half:])[-1]
    assert other.frontend.swapped
    assert again.position.tobytes() == expected.position.tobytes()
    assert np.array_equal(again.covariance, expected.covariance)  # type: ignore[arg-type]
