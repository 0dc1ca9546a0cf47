"""An image is placed at the pose of its own stamp, however late it comes."""

from __future__ import annotations

import numpy as np
import pytest

from skyloop.core.frames import quat_from_yaw, yaw_from_quat
from skyloop_autonomy.mapping import PoseHistory

MS = 1_000_000


def flown() -> PoseHistory:
    """1 m/s eastwards, turning by 1 rad/s, a pose every 10 ms for 1 s."""
    history = PoseHistory()
    for number in range(101):
        history.add(10 * MS * number, [0.01 * number, 0.0, 1.5], quat_from_yaw(0.01 * number))
    return history


def test_a_stamp_between_two_poses_is_interpolated() -> None:
    pose = flown().at(347 * MS)
    assert pose is not None
    assert pose.position == pytest.approx([0.347, 0.0, 1.5])
    assert yaw_from_quat(pose.quat_wxyz) == pytest.approx(0.347)
    exact = flown().at(350 * MS)
    assert exact is not None and exact.position[0] == pytest.approx(0.35)


def test_nothing_is_guessed_before_after_or_across_a_gap() -> None:
    history = flown()
    assert history.at(-1) is None and history.at(1001 * MS) is None and PoseHistory().at(0) is None
    history.add(2000 * MS, [2.0, 0.0, 1.5], [1.0, 0.0, 0.0, 0.0])
    assert history.at(1500 * MS) is None and history.newest_ns == 2000 * MS


def test_late_repeated_and_broken_poses() -> None:
    history = PoseHistory()
    level = [1.0, 0.0, 0.0, 0.0]
    assert history.add(20 * MS, [2.0, 0.0, 0.0], level) and history.add(0, [0.0, 0.0, 0.0], level)
    assert not history.add(10 * MS, [np.nan, 0.0, 0.0], level) and not history.add(10 * MS, [0.0] * 3, [0.0] * 4)
    assert history.at(10 * MS).position[0] == pytest.approx(1.0)
    history.add(20 * MS, [4.0, 0.0, 0.0], level)
    assert history.at(10 * MS).position[0] == pytest.approx(2.0)


def test_old_poses_are_forgotten() -> None:
    history = PoseHistory(kept_ns=100 * MS)
    for number in range(50):
        history.add(10 * MS * number, [number, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0])
    assert history.at(300 * MS) is None and history.at(400 * MS) is not None
