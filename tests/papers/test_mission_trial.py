"""The rectangle of airloop V-E1: one flight on the EKF, its error, its picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skyloop_papers import pages
from skyloop_papers.mission.experiment import EXPERIMENT
from skyloop_papers.mission.flight import ACCEPTANCE, distance_to_rectangle
from skyloop_papers.runner import reproduce


def test_distance_to_a_rectangle() -> None:
    corners = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 2.0], [0.0, 2.0]])
    points = np.array([[1.0, -3.0], [2.0, 0.75], [7.0, 6.0], [0.0, 1.0]])
    np.testing.assert_allclose(distance_to_rectangle(points, corners), [3.0, 0.75, 5.0, 0.0])


@pytest.mark.slow("a whole mission of 100 s")
def test_one_flight(tmp_path: Path) -> None:
    flown = reproduce(EXPERIMENT, quick=True, folder=tmp_path)
    assert pages.differing("mission", flown) == []
    results = {result.name: result for result in flown}
    assert results["cross-track error, rms"].ours < 1.5
    assert results["corner passed at"].ours < ACCEPTANCE + 1.5
    assert 0.05 < results["horizontal error of the estimate, rms"].ours < 1.5
    # 200 m at 4 m/s, and up, there, back and down
    assert results["from arming to disarming"].ours == pytest.approx(97.0, abs=15.0)
    assert (tmp_path / "mission.png").stat().st_size > 10_000
