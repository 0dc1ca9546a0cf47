"""Loop closing: places are known again by pictures, the graph spreads the error, and the map frame moves smoothly."""

from __future__ import annotations

import numpy as np
import pytest
from painted_flights import blobs
from vio_flights import BASELINE, FOCAL, calibration

from skyloop_autonomy.vio import VioSettings
from skyloop_autonomy.vio.lens import cv2
from skyloop_autonomy.vio.loop_closing import Edge, LoopCloser, corrected, fitted, step_between
from skyloop_autonomy.vio.places import all_corners, key_picture, recognised
from skyloop_autonomy.vio.tracking import StereoTracker, Work

# looking along x: the camera's right is -y, its down -z
AHEAD = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
DEPTH = 4.0


def wall(seed: int) -> np.ndarray:
    return blobs(seed, 700, 1400)


def pictured(paper: np.ndarray, right_m: float, down_m: float = 0.0) -> tuple[np.ndarray, StereoTracker]:
    """A camera 4 m before a wall, moved to the right and down; and its corners."""

    def shown(shift_px: float) -> np.ndarray:
        x, y = -FOCAL * right_m / DEPTH - 400.0 - shift_px, -FOCAL * down_m / DEPTH - 170.0
        return cv2.warpAffine(paper, np.array([[1.0, 0.0, x], [0.0, 1.0, y]]), (640, 360), flags=cv2.INTER_CUBIC)

    tracker = StereoTracker(calibration(), VioSettings())
    left = shown(0.0)
    tracker.follow(left, shown(FOCAL * BASELINE / DEPTH), None, np.eye(3), np.zeros(3), Work.MEASURE | Work.SEEK)
    return left, tracker


def taken(paper: np.ndarray, right_m: float, down_m: float = 0.0):
    left, tracker = pictured(paper, right_m, down_m)
    return key_picture(0, left, tracker.tracks, BASELINE, (AHEAD, np.zeros(3)), tracker.left_lens)


def test_a_place_is_known_again_with_its_offset_and_another_wall_is_not() -> None:
    paper = wall(1)
    old, new = taken(paper, 0.0), taken(paper, 0.35, -0.1)
    found = recognised(old, new, all_corners(new), 18)
    assert found is not None
    rotation, place, inliers = found
    assert inliers >= 18 and np.degrees(np.arccos(0.5 * (np.trace(rotation) - 1.0))) < 1.0
    assert place == pytest.approx([0.35, -0.1, 0.0], abs=0.04)
    again = recognised(old, new, all_corners(new), 18)
    assert again is not None and again[1].tobytes() == place.tobytes()
    other = taken(wall(2), 0.0)
    assert recognised(old, other, all_corners(other), 18) is None


def test_the_graph_spreads_the_drift_over_the_loop() -> None:
    """A square of 40 m whose odometry turns too far; the end is seen to be the start."""
    truth, drifted = [np.zeros(4)], [np.zeros(4)]
    for k in range(40):
        turn = np.pi / 2 if k % 10 == 9 else 0.0
        for path, error in ((truth, 0.0), (drifted, 0.002)):
            a = path[-1]
            heading = a[3] + turn + error
            path.append(np.array([a[0] + np.cos(a[3]), a[1] + np.sin(a[3]), a[2] + 0.5 * error, heading]))
    nodes = np.array(drifted)
    edges = [Edge(k, k + 1, step_between(nodes[k], nodes[k + 1]), 0.01, 0.002) for k in range(40)]
    edges.append(Edge(0, 40, step_between(truth[0], truth[40]), 0.02, 0.01, recognised=True))
    closed = fitted(nodes, edges)
    before, after = (np.linalg.norm(path[:, :3] - np.array(truth)[:, :3], axis=1) for path in (nodes, closed))
    assert before[-1] > 0.5 and after[-1] < 0.1 and after.mean() < 0.4 * before.mean()
    assert closed[0] == pytest.approx(nodes[0])


def test_the_map_frame_follows_without_a_jump() -> None:
    closer = LoopCloser(VioSettings(loops=True), BASELINE)
    closer.target = np.array([0.3, -0.1, 0.0, 0.05])
    track = np.array([closer.correction(k * 5_000_000).copy() for k in range(3000)])
    steps = np.linalg.norm(np.diff(track[:, :3], axis=0), axis=1)
    assert steps.max() <= 0.05 * 0.005 + 1e-12 and np.abs(np.diff(track[:, 3])).max() <= 0.01 * 0.005 + 1e-12
    assert track[-1] == pytest.approx([0.3, -0.1, 0.0, 0.05])
    position, velocity, rotation = corrected(track[-1], np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0]), np.eye(3))
    assert position == pytest.approx([0.3 + np.cos(0.05), -0.1 + np.sin(0.05), 0.0])
    assert velocity == pytest.approx(rotation[:, 0])


def test_flying_back_to_an_old_place_corrects_the_map() -> None:
    """The odometry of the way back is 0.2 m off; the old pictures tell."""
    paper = wall(3)
    closer = LoopCloser(VioSettings(loops=True, key_distance=0.1, drift_share=0.1), BASELINE)
    drift = np.array([0.0, 0.2, 0.0])
    ways = [*np.arange(0.0, 1.7, 0.12), *np.arange(1.6, -0.01, -0.12)]
    for k, right in enumerate(ways):
        left, tracker = pictured(paper, right)
        place = np.array([0.0, -right, 0.0]) + drift * k / (len(ways) - 1)
        closer.see(k, left, tracker.tracks, (AHEAD, place), tracker.left_lens)
    assert closer.recognitions and closer.recognitions[0].old < 8
    end = corrected(closer.target, place, np.zeros(3), np.eye(3))[0]
    true_end = np.array([0.0, -ways[-1], 0.0])
    assert np.linalg.norm(end - true_end) < 0.06 < np.linalg.norm(place - true_end) - 0.1
