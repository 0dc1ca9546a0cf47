"""The filter on corners without pictures: how exact it is, whether its covariance is honest, and what it survives."""

from __future__ import annotations

import numpy as np
import pytest
from vio_flights import TRUE_NOISE, Corners, Errors, TrackDrivenOdometry, WithWalker, calibration, flight, fly, give

from skyloop.core.frames import matrix_from_quat
from skyloop_autonomy.vio import VioSettings, VisualInertialOdometry
from skyloop_autonomy.vio.tracking import CornerTracks

pytestmark = pytest.mark.flights

POSITION, VELOCITY, TURN = (0, 3), (3, 6), (6, 9)


@pytest.fixture(scope="module")
def usual() -> tuple[TrackDrivenOdometry, Errors]:
    return fly(3, 10.0)


def test_a_flight_is_followed_to_centimetres_with_an_honest_covariance(
    usual: tuple[TrackDrivenOdometry, Errors],
) -> None:
    odometry, errors = usual
    assert errors.valid.all()
    assert np.linalg.norm(errors.values[:, :3], axis=1).max() < 0.1
    # at first the accelerometer's bias looks like a tilt; motion tells them apart
    assert (
        np.degrees(np.abs(errors.values[0, 6:9]).max()) > 1.0 > 4.0 * np.degrees(np.abs(errors.values[-1, 6:9]).max())
    )
    # one flight: the bounds are wide
    assert 0.1 < errors.nees(*POSITION).mean() < 3.0 and 0.1 < errors.nees(*VELOCITY).mean() < 3.0
    # the turn-on biases of E2ES's IMU have been found
    assert np.abs(errors.values[-1, 9:12]).max() < 1e-3
    assert np.sqrt(errors.covariances[-1].diagonal()[12:]).max() < 0.1 < 0.196
    assert odometry.backend.filter.n_points == odometry.settings.points


@pytest.mark.slow("ten flights of 40 s")
def test_over_many_flights_the_errors_are_as_large_as_the_covariance_says() -> None:
    flights = [fly(seed, 40.0)[1] for seed in range(20, 30)]
    for name, part in {"position": POSITION, "velocity": VELOCITY, "turn": TURN}.items():
        means = np.mean([flown.nees(*part) for flown in flights], axis=0)
        # the mean of 10 flights of 3 states each has 30 degrees of freedom; 95 % lie between 0.56 and 1.57
        inside = ((means > 0.56) & (means < 1.57)).mean()
        assert 0.6 < means.mean() < 1.4 and inside > 0.7, f"{name}: {means.mean():.2f}, {inside:.0%} inside"


def test_what_cannot_be_observed_stays_unknown(usual: tuple[TrackDrivenOdometry, Errors]) -> None:
    """Heading and position drift; a filter that grew sure of them would have invented the knowledge."""
    _, errors = usual
    sd = np.sqrt(np.diagonal(errors.covariances, axis1=1, axis2=2))
    assert sd[-1, 8] > sd[40, 8] > 1e-3 * 0.99, "heading"
    assert (sd[-1, :2] > 2e-3).all()


@pytest.mark.slow("a flight of its own")
def test_it_starts_in_motion() -> None:
    _, errors = fly(7, 10.0, first=5.0, patience=0.5)
    # heading and position of the start are zero by definition, so only velocity's size and the tilt are compared
    late = errors.times > 8.0
    assert errors.valid[late].all()
    tilt = np.linalg.norm(np.sqrt(np.diagonal(errors.covariances, axis1=1, axis2=2))[:, 6:8], axis=1)
    assert tilt[-1] < 0.2 * tilt[0] < 0.2
    assert tilt[-1] < np.radians(1.5)


def test_a_walker_in_front_is_not_believed() -> None:
    """A third of the corners move together, as on a person; the tests of the filter refuse them."""
    _, errors = fly(3, 6.0, corners=WithWalker(3))
    assert np.linalg.norm(errors.values[:, :3], axis=1).max() < 0.15


@pytest.mark.slow("a flight of its own")
def test_drifting_clouds_do_not_turn_the_heading() -> None:
    """A third of the corners are clouds that drift by 4 mrad/s, which would look like a bias of the gyroscope."""
    clouds = Corners(3, clouds=150)
    odometry, errors = fly(3, 7.0, corners=clouds)
    assert (clouds.numbers[: clouds.clouds] >= 0).sum() > 20
    assert abs(errors.values[-1, 11]) < 5e-4 and abs(errors.values[-1, 8]) < 0.01
    assert (odometry.backend.filter.points[:, 2] > 0.02).all(), "none of them became a point"


def test_biases_decay_as_the_instrument_tells() -> None:
    odometry, _ = fly(3, 1.5)
    f = odometry.backend.filter
    f.bias_taus = (1000.0, 300.0)
    before, sd = f.biases.copy(), np.sqrt(f.covariance[12, 12])
    resting = np.zeros((101, 7))
    resting[:, 0], resting[:, 6] = np.linspace(0.0, 30.0, 101), 9.8
    f.move(f.t_ns + 30_000_000_000, resting)
    assert f.biases[0] == pytest.approx(before[0] * np.exp(-0.03)) and f.biases[1] == pytest.approx(
        before[1] * np.exp(-0.1)
    )
    walked = 1e-4 * np.sqrt(30.0)
    assert np.sqrt(f.covariance[12, 12]) == pytest.approx(np.hypot(sd, walked) * np.exp(-0.1), rel=1e-3)


def test_in_the_dark_it_says_so_and_recovers() -> None:
    class Dark(Corners):
        count = 0

        def tracks(self, rotation: np.ndarray, position: np.ndarray, most: int = 120) -> CornerTracks:
            self.count += 1
            return super().tracks(rotation, position, most) if not 60 < self.count < 130 else CornerTracks()

    odometry, errors = fly(3, 8.0, corners=Dark(3), blind_time=2.0)
    dark = (errors.times > 5.5) & (errors.times < 6.4)
    assert not errors.valid[dark].any() and errors.valid[errors.times > 7.5].all() and errors.valid[:50].all()
    sd = np.sqrt(errors.covariances[:, 0, 0])
    assert sd[errors.times > 6.0][0] > 3.0 * sd[errors.times < 2.8][-1], "the doubt grows while nothing is seen"
    assert np.linalg.norm(errors.values[-1, :3]) < 0.5 and np.isfinite(errors.values).all()
    assert odometry.estimate.reason == ""


def test_a_gap_of_the_imu_raises_the_doubt_and_nothing_breaks() -> None:
    rig = calibration()
    flown = flight(4, 3.0, rig.imu)
    sds = {}
    for gap in (False, True):
        odometry, seen = TrackDrivenOdometry(rig, VioSettings(**TRUE_NOISE)), Corners(4)
        for k in range(550):
            if not gap or not 2.5 < flown.times[k] < 2.7:
                give(odometry, flown, k, seen)
        assert odometry.estimate.valid and np.linalg.norm(odometry.estimate.position - flown.positions[549]) < 0.1
        # without images the filter goes on by the IMU alone
        sds[gap] = float(odometry.estimate.attitude_sd[0])
    assert sds[True] > sds[False]


@pytest.mark.slow("a flight of its own")
def test_a_blow_to_the_imu_is_put_right_by_the_images() -> None:
    """When a vehicle touches down, the samples do not tell when between two of them the blow came."""
    _, struck = fly(3, 5.0, blow=(4.0, 0.3))
    _, naive = fly(3, 5.0, blow=(4.0, 0.3), imu_jump_accel=1e9)
    worst = {}
    for name, errors in {"struck": struck, "naive": naive}.items():
        after = errors.times > 4.3
        assert errors.valid[after].all()
        worst[name] = np.linalg.norm(errors.values[after, 3:6], axis=1).max()
    assert worst["struck"] < 0.03 < 0.2 < worst["naive"]


def test_samples_out_of_order_and_broken_numbers_are_left_out() -> None:
    rig = calibration()
    flown = flight(4, 1.5, rig.imu)
    clean, dirty = (TrackDrivenOdometry(rig, VioSettings(**TRUE_NOISE)) for _ in range(2))
    same = Corners(4), Corners(4)
    for k in range(len(flown.times)):
        t_ns, gyro, accel = round(flown.times[k] * 1e9), flown.imu[k, :3], flown.imu[k, 3:]
        give(clean, flown, k, same[0])
        give(dirty, flown, k, same[1])
        dirty.imu(t_ns, gyro + 1.0, accel)
        dirty.imu(t_ns - 2_000_000, gyro + 1.0, accel)
        dirty.imu(t_ns + 1, np.array([np.nan, 0.0, 0.0]), accel)
    assert clean.estimate.valid and (clean.estimate.position == dirty.estimate.position).all()
    assert (clean.estimate.covariance == dirty.estimate.covariance).all()


def test_at_rest_it_stands_still_and_learns_the_gyro_bias() -> None:
    rig = calibration()
    flown, seen = flight(6, 1.0, rig.imu), Corners(6)
    odometry = TrackDrivenOdometry(
        rig, VioSettings(**TRUE_NOISE), start_position=np.array([1.0, 2.0, 3.0]), start_yaw=0.5
    )
    for k in range(len(flown.times)):
        give(odometry, flown, k, seen)
        if k < 60:
            assert not odometry.estimate.valid and "stands still" in odometry.estimate.reason
    e = odometry.estimate
    assert e.valid and e.position == pytest.approx([1.0, 2.0, 3.0], abs=0.03)
    forward = matrix_from_quat(e.quat_wxyz)[:, 0]
    assert np.arctan2(forward[1], forward[0]) == pytest.approx(0.5, abs=1e-3)
    assert e.gyro_bias == pytest.approx(flown.biases[-1, :3], abs=5e-4)
    # tilt and accelerometer bias cannot be told apart at rest: together they explain gravity
    assert e.attitude_sd[:2] == pytest.approx([0.196 / 9.8] * 2, rel=0.1)
    assert odometry.backend.filter.n_points == 0, "at rest the images add nothing"


def test_the_same_inputs_give_the_same_bytes_and_a_snapshot_goes_on_alike() -> None:
    first, errors = fly(8, 2.0)
    again, _ = fly(8, 2.0)
    assert first.estimate.covariance.tobytes() == again.estimate.covariance.tobytes()
    assert first.estimate.position.tobytes() == again.estimate.position.tobytes()
    saved = first.snapshot()
    flown = flight(8, 2.5, calibration().imu)

    def go_on(odometry: VisualInertialOdometry) -> bytes:
        for k in range(400, 500):
            odometry.imu(round(flown.times[k] * 1e9), flown.imu[k, :3], flown.imu[k, 3:])
        return odometry.estimate.position.tobytes() + odometry.estimate.covariance.tobytes()

    expected = go_on(first)
    first.restore(saved)
    assert go_on(first) == expected and go_on(again) == expected and len(errors.times) > 20
