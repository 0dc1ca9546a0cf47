"""The front end on painted pictures: corners are found, followed, matched, and lost when they must be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from painted_flights import blobs
from vio_flights import BASELINE, FOCAL, calibration

from skyloop_autonomy.vio import VioSettings
from skyloop_autonomy.vio.lens import cv2
from skyloop_autonomy.vio.measurement_kernels import LEFT_ONLY, STEREO
from skyloop_autonomy.vio.tracking import StereoTracker, Work

SETTINGS = VioSettings(features=80)
STILL = np.eye(3), np.zeros(3)


@pytest.fixture(scope="module")
def wall() -> np.ndarray:
    """Blobs of all sizes, larger than an image, so that it can be shifted."""
    return blobs(2, 500, 900)


def shown(wall: np.ndarray, dx: float, dy: float = 0.0) -> np.ndarray:
    """The wall shifted by some px to the right and down."""
    move = np.array([[1.0, 0.0, dx - 100.0], [0.0, 1.0, dy - 60.0]])
    return cv2.warpAffine(wall, move, (640, 360), flags=cv2.INTER_CUBIC)


def pair(wall: np.ndarray, depth: float, dx: float = 0.0, dy: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    return shown(wall, dx, dy), shown(wall, dx - FOCAL * BASELINE / depth, dy)


def follow(tracker: StereoTracker, images: tuple[Any, Any], *motion: Any, seek: bool = True) -> np.ndarray:
    turn, shift = motion or STILL
    work = Work.MEASURE | Work.SEEK if seek else Work.MEASURE
    return tracker.follow(images[0], images[1], None, turn, shift, work)


def test_corners_are_spread_and_their_depth_is_seen_at_once(wall: np.ndarray) -> None:
    tracker = StereoTracker(calibration(), SETTINGS)
    follow(tracker, pair(wall, 3.0))
    tracks = tracker.tracks
    assert 50 <= len(tracks) <= 100
    cells = {(int(x // 160), int(y // 120)) for x, y in tracks.pixels}
    assert len(cells) == 12, "every part of the image has corners"
    good = tracks.known == STEREO
    assert good.mean() > 0.9
    assert BASELINE / np.median(tracks.rows[good, 2]) == pytest.approx(3.0, rel=0.02)
    assert tracks.rows[:, 0] == pytest.approx((tracks.pixels[:, 0] - 319.5) / FOCAL, abs=1e-6)


def test_they_are_followed_by_fractions_of_a_pixel(wall: np.ndarray) -> None:
    tracker = StereoTracker(calibration(), SETTINGS)
    follow(tracker, pair(wall, 3.0))
    before = {int(i): p.copy() for i, p in zip(tracker.tracks.ids, tracker.tracks.pixels, strict=True)}
    for step in range(1, 5):
        follow(tracker, pair(wall, 3.0, 1.3 * step, -0.7 * step), seek=False)
    moved = np.array([p - before[int(i)] for i, p in zip(tracker.tracks.ids, tracker.tracks.pixels, strict=True)])
    assert len(moved) > 0.8 * len(before)
    # the shifted pictures themselves are wrong by up to 0.05 px between whole pixels
    assert np.median(moved, axis=0) == pytest.approx([5.2, -2.8], abs=0.07)
    assert np.abs(moved - [5.2, -2.8]).max() < 0.5
    assert (tracker.tracks.ages == 4).all()


def test_a_fast_turn_is_found_where_the_imu_predicts_it(wall: np.ndarray) -> None:
    """60 px between two images: without the prediction the search fails."""
    turn = np.arctan(60.0 / FOCAL)
    c, s = np.cos(turn), np.sin(turn)
    about_down = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    found = {}
    for name, motion in {"blind": STILL, "predicted": (about_down, np.zeros(3))}.items():
        tracker = StereoTracker(calibration(), SETTINGS)
        follow(tracker, pair(wall, 3.0))
        count = len(tracker.tracks)
        # near the middle a turn is a shift
        tracker.tracks = tracker.tracks.kept(np.abs(tracker.tracks.pixels[:, 0] - 290) < 90)
        count = len(tracker.tracks)
        follow(tracker, pair(wall, 3.0, 60.0), *motion, seek=False)
        found[name] = len(tracker.tracks) / count
    assert found["predicted"] > 0.8 > found["blind"] + 0.3


def test_lost_corners_are_named_and_new_ones_get_new_numbers(wall: np.ndarray) -> None:
    tracker = StereoTracker(calibration(), SETTINGS)
    follow(tracker, pair(wall, 3.0))
    ids = set(tracker.tracks.ids.tolist())
    left, right = (image.copy() for image in pair(wall, 3.0))
    left[:, :320] = right[:, :320] = 128
    lost = set(follow(tracker, (left, right)).tolist())
    assert lost and lost <= ids and not lost & set(tracker.tracks.ids.tolist())
    assert all(x > 300 for x, _ in tracker.tracks.pixels), "a plain wall has no corners"
    follow(tracker, pair(wall, 3.0))
    assert min(set(tracker.tracks.ids.tolist()) - ids) > max(ids)


def test_dark_images_leave_no_corner_and_no_error(wall: np.ndarray) -> None:
    tracker = StereoTracker(calibration(), SETTINGS)
    black = np.zeros((360, 640), np.uint8)
    follow(tracker, (black, black))
    assert len(tracker.tracks) == 0
    follow(tracker, pair(wall, 3.0))
    seen = len(tracker.tracks)
    follow(tracker, (black, black))
    assert seen > 50 and len(tracker.tracks) == 0


def test_without_a_right_image_only_the_left_counts_and_with_depth_it_is_as_good(wall: np.ndarray) -> None:
    tracker = StereoTracker(calibration(), SETTINGS)
    follow(tracker, (pair(wall, 3.0)[0], None))
    assert (tracker.tracks.known == LEFT_ONLY).all() and len(tracker.tracks) > 50
    depth = np.full((360, 640), 4.0, np.float32)
    depth[:, :320] = 0.0
    tracker.follow(pair(wall, 3.0)[0], None, depth, *STILL, Work.MEASURE)
    right = tracker.tracks.pixels[:, 0] > 320
    assert (tracker.tracks.known[right] == STEREO).all() and (tracker.tracks.known[~right] == LEFT_ONLY).all()
    assert tracker.tracks.rows[right, 2] == pytest.approx(BASELINE / 4.0)


def test_the_same_images_give_the_same_bytes(wall: np.ndarray) -> None:
    runs = []
    for _ in range(2):
        tracker = StereoTracker(calibration(), SETTINGS)
        for step in range(3):
            follow(tracker, pair(wall, 3.0, 2.0 * step))
        runs.append(tracker.tracks.rows.tobytes() + tracker.tracks.pixels.tobytes() + tracker.tracks.ids.tobytes())
    assert runs[0] == runs[1]
