"""Images and IMU that disagree are noticed: the estimate says so within a second, and takes it back when they agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from disagreements import CASES, honesty, localised_with, wrong_and_valid
from vio_flights import IMU_HZ, PAIRS_HZ, TRUE_NOISE, Corners, TrackDrivenOdometry, calibration, flight, give

from skyloop import load_scenario
from skyloop.run import run_scenario
from skyloop_autonomy.evaluation.localising import MessageSource, open_source
from skyloop_autonomy.evaluation.vio_flights import FLIGHTS, record_flight
from skyloop_autonomy.vio import VioSettings
from skyloop_autonomy.vio.agreement import CONTRADICTION
from skyloop_autonomy.vio.imu_kernels import N_IMU
from skyloop_autonomy.vio.tracking import CornerTracks
from skyloop_autonomy.vio.window_filter import surprise

BEGIN_S = 3.0


@pytest.mark.parametrize("told", [3, 9, N_IMU])
def test_the_surprise_of_a_correction_is_chi_square_if_the_covariance_is_right(told: int) -> None:
    """Linear measurements of states drawn from their covariance; the mean of χ² is its degrees of freedom, the variance
    twice that."""
    rng = np.random.default_rng(5)
    mixed = rng.normal(size=(N_IMU, N_IMU)) * np.logspace(-4, 0, N_IMU)[:, None]
    before = mixed @ mixed.T
    rows = rng.normal(size=(told, N_IMU)) / np.sqrt(before.diagonal())
    gain = before @ rows.T @ np.linalg.inv(rows @ before @ rows.T + np.eye(told))
    after = before - gain @ rows @ before
    found = []
    for _ in range(2000):
        measured = rows @ (mixed @ rng.normal(size=N_IMU)) + rng.normal(size=told)
        found.append(surprise(before, after, gain @ measured))
    sizes, freedom = np.array(found).T
    assert (freedom == told).all()
    assert sizes.mean() == pytest.approx(told, rel=0.1) and sizes.var() == pytest.approx(2 * told, rel=0.25)


class Standing(Corners):
    """From some instant on the corners move with the camera, as in a train."""

    k, seen = 0, CornerTracks()

    def tracks(self, rotation: np.ndarray, position: np.ndarray, most: int = 120) -> CornerTracks:
        self.k += 1
        if not BEGIN_S < self.k / PAIRS_HZ < BEGIN_S + 1.5:
            self.seen = super().tracks(rotation, position, most)
        return self.seen


@pytest.mark.flights
@pytest.mark.parametrize("what", ["accelerometer", pytest.param("scene", marks=pytest.mark.slow("a second flight"))])
def test_a_disagreement_is_told_within_a_second_and_taken_back_when_it_is_over(what: str) -> None:
    rig = calibration()
    flown, seen = flight(11, 8.5, rig.imu), Standing(11) if what == "scene" else Corners(11)
    if what == "accelerometer":
        flown.imu[round(BEGIN_S * IMU_HZ) :, 3] += 1.0
    odometry = TrackDrivenOdometry(rig, VioSettings(**TRUE_NOISE))
    told: dict[str, float] = {}
    sd = 0.0
    for k, at in enumerate(flown.times.tolist()):
        give(odometry, flown, k, seen)
        e = odometry.estimate
        if at < BEGIN_S:
            assert e.valid or at < 1.5
            sd = float(np.linalg.norm(e.position_sd))
        elif not e.valid and e.reason == CONTRADICTION:
            told.setdefault("lost", at)
        elif e.valid and "lost" in told:
            told.setdefault("back", at)
    assert 0.0 < told["lost"] - BEGIN_S <= 1.0, told
    assert told["back"] - told["lost"] > odometry.settings.blind_time - 0.1
    off = np.abs(flown.positions[-1] - odometry.estimate.position)
    assert odometry.estimate.valid and (off < 3.0 * odometry.estimate.position_sd).all()
    assert np.linalg.norm(odometry.estimate.position_sd) > 10.0 * sd, "it may have flown anywhere meanwhile"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> MessageSource:
    folder = tmp_path_factory.mktemp("disagreements") / "recording"
    record_flight(FLIGHTS["house"].changed(length=14.0), 7301, folder)
    return open_source(folder)


@pytest.mark.renders
@pytest.mark.processes
@pytest.mark.slow("localises a recorded flight once for each case")
@pytest.mark.parametrize("name", CASES)
def test_on_a_recorded_flight_it_is_never_wrong_and_valid_for_longer_than_a_second(
    name: str, source: MessageSource
) -> None:
    localised = localised_with(name, source, source.messages())
    found = honesty(localised)
    assert found.dishonest_s <= 1.0, (found, localised.changes)
    if name == "nothing":
        assert found.told_s is None and localised.estimates.valid[-1]


@pytest.mark.renders
@pytest.mark.processes
@pytest.mark.slow("a whole flight with pictures")
def test_a_vehicle_pressed_against_a_wall_loses_its_estimate_and_is_told(tmp_path: Path) -> None:
    into_the_wall = {"kind": "legs", "speed": 1.5, "acceleration": 1.5, "turn_rate": 0.5,
                     "points": [[0.0, 0.0, 1.5], [0.0, -3.0, 1.5], [0.0, -13.0, 1.5]]}  # fmt: skip
    changes = {"seed": 7311, "duration": 28.0, "vehicles.drone.pilot.trajectory": into_the_wall}
    drone = run_scenario(load_scenario("room-vio", changes), tmp_path / "run")["vehicles"]["drone"]
    assert drone["contacts"] > 0
    assert any(f"estimate lost: descending level ({CONTRADICTION})" in event for event in drone["events"])
    assert wrong_and_valid(tmp_path / "run") <= 1.0
