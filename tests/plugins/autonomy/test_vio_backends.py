"""The smoother that the filter is measured against gets the same corners, and does its work; no time is asserted."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from vio_flights import TRUE_NOISE, Corners, Flight, TrackDrivenOdometry, WithWalker, calibration, flight, give

from skyloop.core.frames import Transform
from skyloop_autonomy.evaluation.estimate_log import Truths
from skyloop_autonomy.evaluation.trajectory_error import PoseTrajectory
from skyloop_autonomy.vio import VioSettings
from skyloop_autonomy.vio.tracking import CornerTracks
from skyloop_client.errors import MissingExtra, SetupError
from skyloop_papers.benchmarks import smoother_points
from skyloop_papers.benchmarks.fixed_lag_smoother import FixedLagBackend
from skyloop_papers.benchmarks.vio import SmootherBeside, backend_measurements

SECONDS = 4.0


def both_on(seed: int, corners: Corners) -> tuple[SmootherBeside, Flight]:
    rig = calibration()
    odometry = TrackDrivenOdometry(rig, VioSettings(**TRUE_NOISE))
    beside = SmootherBeside(odometry)
    flown = flight(seed, SECONDS, rig.imu)
    for k in range(len(flown.times)):
        give(odometry, flown, k, corners)
    return beside, flown


def truths_of(flown: Flight) -> Truths:
    stamps = np.round(flown.times * 1e9).astype(np.int64)
    quats = Rotation.from_matrix(flown.rotations).as_quat()[:, [3, 0, 1, 2]]
    none = np.zeros((0, 3))
    return Truths(PoseTrajectory(stamps, flown.positions, quats), flown.velocities, np.zeros(0, np.int64), none, none)


def off(beside: SmootherBeside, flown: Flight) -> np.ndarray:
    """m, of every step."""
    at = np.searchsorted(np.round(flown.times * 1e9), [state.t_ns for state in beside.states])
    return np.linalg.norm([s.position for s in beside.states] - flown.positions[at], axis=1)


@pytest.fixture(scope="module")
def usual() -> tuple[SmootherBeside, Flight]:
    return both_on(3, Corners(3))


@pytest.fixture(scope="module")
def found(usual: tuple[SmootherBeside, Flight]) -> dict[str, float]:
    measured = backend_measurements(usual[0], truths_of(usual[1]), 2 * len(usual[0].states), 1.0, "made-up")
    return {each.key: each.value for each in measured}


def test_it_follows_a_flight_to_centimetres(usual: tuple[SmootherBeside, Flight], found: dict[str, float]) -> None:
    beside, flown = usual
    assert len(beside.states) == len(beside.filtered) > 60
    assert off(beside, flown).max() < 0.1
    last = beside.states[-1]
    assert abs(last.gyro_bias - flown.biases[-1, :3]).max() < 2e-3 < abs(flown.biases[-1, :3]).max()
    for name in ("smoother", "filter"):
        assert found[f"made-up_{name}_ape_m"] < 0.03
        # corners with white noise: each covariance is honest; one flight has wide bounds
        assert 1.0 < found[f"made-up_{name}_nees"] < 27.0


def test_corners_are_what_makes_it_exact() -> None:
    class Blind(Corners):
        def tracks(self, rotation: np.ndarray, position: np.ndarray, most: int = 120) -> CornerTracks:
            tracks = super().tracks(rotation, position, most)
            return tracks.kept(np.zeros(len(tracks), bool))

    beside, flown = both_on(3, Blind(3))
    assert off(beside, flown)[-1] > 1.0


def test_corners_on_a_walker_are_refused() -> None:
    beside, flown = both_on(3, WithWalker(3))
    assert off(beside, flown).max() < 0.2


def test_figures_name_both_back_ends(found: dict[str, float]) -> None:
    for name in ("filter", "smoother"):
        for key in ("ape_m", "ape_deg", "pair_ms", "pair_p95_ms", "nees"):
            assert math.isfinite(found[f"made-up_{name}_{key}"])
    assert found["made-up_smoother_covariance_ms"] > 0.0
    ratio = found["made-up_smoother_pair_ms"] / found["made-up_filter_pair_ms"]
    assert found["made-up_vs_smoother"] == pytest.approx(ratio) and ratio > 0.0


def test_without_gtsam_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smoother_points, "gtsam", None)
    with pytest.raises(MissingExtra, match=r"pip install 'skyloop\[bench\]'"):
        FixedLagBackend(calibration(), np.ones(3), np.ones(4))


def test_cameras_that_are_not_parallel_are_refused() -> None:
    rig = calibration()
    turned = Transform(rig.body_from_right.position, Transform.identity().quat_wxyz)
    crooked = type(rig)(rig.left, rig.right, rig.body_from_left, turned, rig.body_from_imu, rig.imu)
    with pytest.raises(SetupError, match="parallel"):
        FixedLagBackend(crooked, np.ones(3), np.ones(4))
