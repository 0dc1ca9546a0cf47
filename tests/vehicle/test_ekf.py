"""The EKF against exact trajectories: errors, consistency, and sensors that lie or fall silent."""

from __future__ import annotations

import numpy as np
import pytest
from ekf_flights import COARSE, FIELD, GRAVITY, HOME, Sensors, Trajectory, circle, fly, hover, rms, rotation
from scipy.spatial.transform import Rotation

from skyloop.vehicle.estimation.ekf import EkfConfig
from skyloop.vehicle.estimation.ekf_kernels import N_ERROR, N_NOMINAL, predict
from skyloop.vehicle.estimation.ekf_updates import update
from skyloop.vehicle.estimation.localisation import EkfLocaliser
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array, Message
from skyloop_client.streams import Mount

pytestmark = pytest.mark.flights

# ---- the arithmetic


def test_predict_follows_its_own_linear_model() -> None:
    """Propagated covariance of a small error equals the spread of perturbed nominal states."""
    noise = np.array([0.0, 0.0, 0.0, 0.0, 0.0, GRAVITY, 0.1, 0.5, 2.0])
    gyro, accel = np.array([0.3, -0.5, 0.8]), np.array([0.7, -1.1, 10.2])
    start = np.zeros(N_NOMINAL)
    start[3:6] = 1.0, 2.0, -0.5
    start[6:10] = Rotation.from_euler("ZYX", [0.9, 0.3, -0.4]).as_quat(scalar_first=True)
    start[10:16] = 0.01, -0.02, 0.03, 0.1, -0.2, 0.3

    def propagate(nominal: Array, covariance: Array) -> Array:
        nominal = nominal.copy()
        for _ in range(200):
            predict(nominal, covariance, gyro, accel, 0.0004, noise)
        return nominal

    reference = propagate(start, np.zeros((N_ERROR, N_ERROR)))
    columns = []
    for i in range(N_ERROR):
        moved, step = start.copy(), 1e-6
        if 6 <= i < 9:
            turn = Rotation.from_rotvec(step * np.eye(3)[i - 6])
            moved[6:10] = (turn * rotation(start[6:10])).as_quat(scalar_first=True)
        else:
            moved[i if i < 6 else i + 1] += step
        end = propagate(moved, np.zeros((N_ERROR, N_ERROR)))
        turned = (rotation(end[6:10]) * rotation(reference[6:10]).inv()).as_rotvec()
        columns.append(np.concatenate([end[:6] - reference[:6], turned, end[10:] - reference[10:]]) / step)
    transition = np.array(columns).T
    spread = np.random.default_rng(5).normal(size=(N_ERROR, N_ERROR))
    covariance = spread @ spread.T
    expected = transition @ covariance @ transition.T
    propagate(start, covariance)
    np.testing.assert_allclose(covariance, expected, rtol=5e-3, atol=5e-3)


def test_sequential_update_equals_the_batch_formula() -> None:
    rng = np.random.default_rng(7)
    spread = rng.normal(size=(N_ERROR, N_ERROR))
    prior = spread @ spread.T + np.eye(N_ERROR)
    h, innovation, variance = (rng.normal(size=(3, N_ERROR)), 1e-3 * rng.normal(size=3), np.array([0.5, 1.0, 2.0]))
    gain = prior @ h.T @ np.linalg.inv(h @ prior @ h.T + np.diag(variance))
    nominal, covariance = np.zeros(N_NOMINAL), prior.copy()
    nominal[6] = 1.0
    ring, ring_t = np.zeros((2, 6)), np.array([0, 100_000_000])
    measurement, past = (innovation, h, variance), (ring, ring_t, 100_000_000)
    update(nominal, covariance, measurement, np.ones(N_ERROR), 5.0, past)
    correction = gain @ innovation
    np.testing.assert_allclose(covariance, prior - gain @ h @ prior, atol=1e-10)
    np.testing.assert_allclose(nominal[:6], correction[:6], atol=1e-12)
    np.testing.assert_allclose(rotation(nominal[6:10]).as_rotvec(), correction[6:9], atol=1e-12)
    np.testing.assert_allclose(nominal[10:], correction[9:], atol=1e-12)
    np.testing.assert_allclose(ring[0, :3], correction[:3] - 0.1 * correction[3:6], atol=1e-12)


# ---- flights


@pytest.mark.parametrize("trajectory", [hover, circle])
def test_errors_are_small_and_as_large_as_the_filter_says(trajectory: Trajectory) -> None:
    """Position errs by the GNSS's own slow error (1, 1, 1.5 m: 2.06 m rms) and hardly more."""
    flights = [fly(Sensors(trajectory, 20.0, seed)).after(10.0) for seed in range(3)]
    for flight in flights:
        assert flight.valid.all()
        assert np.abs(flight.position).max() < 5.0
        assert rms(flight.velocity) < 0.08
        assert np.degrees(rms(flight.attitude)) < 0.6
        assert rms(flight.rates) < 4e-3
    assert np.mean([rms(flight.position) ** 2 for flight in flights]) ** 0.5 < 2.5
    position, velocity, attitude_ = np.mean([flight.nees() for flight in flights], axis=0)
    assert 0.4 < position < 2.0
    assert 0.5 < velocity < 2.0
    assert 0.05 < attitude_ < 2.0  # the magnetic heading is trusted less than this clean one deserves


def test_turn_on_biases_converge() -> None:
    sensors = Sensors(circle, 35.0, 0, details=COARSE)
    flight = fly(sensors)
    nominal = flight.localiser.state.filter.nominal
    assert np.abs(nominal[10:13] - sensors.gyro_bias[-1]).max() < 6e-4
    assert np.abs(nominal[13:16] - sensors.accel_bias[-1]).max() < 0.03
    assert np.abs(flight.after(10.0).velocity).max() < 0.3
    assert np.degrees(np.abs(flight.after(25.0).attitude).max()) < 1.0


def test_mounts_are_undone() -> None:
    """An IMU and a magnetometer turned unequally about all axes, and lever arms longer than any real one."""
    sensors = Sensors(
        circle,
        20.0,
        3,
        imu_mount=Mount(
            np.array([0.4, -0.3, 0.2]), Rotation.from_euler("ZYX", [1.9, -0.4, 2.6]).as_quat(scalar_first=True)
        ),
        antenna=np.array([-0.8, 0.5, 0.6]),
        magnetometer_mount=Mount(np.zeros(3), Rotation.from_euler("ZYX", [-2.2, 0.7, 0.3]).as_quat(scalar_first=True)),
    )
    plain = fly(Sensors(circle, 20.0, 3)).after(10.0)
    turned = fly(sensors).after(10.0)
    assert rms(turned.velocity) < 0.08
    assert np.degrees(rms(turned.attitude)) < 0.6
    assert rms(turned.position) < 1.1 * rms(plain.position)


def test_outage_of_ten_seconds_in_a_circle() -> None:
    """Bound: 3 m of additional drift, and the reported sd grows to cover it."""
    whole = fly(Sensors(circle, 30.0, 0)).after(17.0, 27.0)
    sensors = Sensors(circle, 30.0, 0)
    sensors.fix_type[(sensors.gnss_t >= 17.0) & (sensors.gnss_t < 27.0)] = 0
    flight = fly(sensors)
    outage = flight.after(17.0, 27.0)
    assert np.linalg.norm(outage.position - whole.position, axis=1).max() < 3.0
    assert outage.valid.all()
    assert outage.sd[-1, 0] > outage.sd[0, 0]
    assert np.linalg.norm(outage.position[-1] / outage.sd[-1, :3]) < 4.0
    assert rms(flight.after(28.5).velocity) < 0.15


def test_spike_is_refused() -> None:
    clean, spiked = Sensors(hover, 14.0, 1), Sensors(hover, 14.0, 1)
    spiked.gnss_position[100] += [50.0, -20.0, 10.0]
    difference = fly(spiked).position - fly(clean).position
    assert np.abs(difference).max() < 0.1


def test_lasting_jump_is_followed_after_recovery_time() -> None:
    """A filter that refuses its GNSS for ever is lost; after 5 s it gives in."""
    sensors = Sensors(hover, 19.0, 1)
    sensors.gnss_position[sensors.gnss_t >= 10.0] += [60.0, 0.0, 0.0]
    flight = fly(sensors)
    assert np.abs(flight.after(10.0, 15.0).position[:, 0]).max() < 5.0
    assert np.abs(flight.after(16.0).position[:, 0] - 60.0).max() < 5.0
    assert rms(flight.after(17.5).velocity) < 0.2


def test_stuck_barometer_cannot_hold_the_height_down() -> None:
    """Stuck on the ground while the vehicle climbs 8 m: GNSS wins."""
    sensors = Sensors(circle, 18.0, 2)
    sensors.baro[sensors.baro_t > 2.5] = sensors.baro[60]
    flight, healthy = fly(sensors), fly(Sensors(circle, 18.0, 2))
    assert np.abs(flight.position[:, 2] - healthy.position[:, 2])[flight.t > 1.0].max() < 3.0
    assert np.abs(flight.after(14.0).position[:, 2]).max() < 4.0


def test_disturbed_compass_does_not_tilt_the_vehicle() -> None:
    sensors = Sensors(hover, 18.0, 4)
    sensors.mag[sensors.mag_t > 12.0] += [3e-6, -2e-6, 1e-6]
    disturbed = fly(sensors).after(12.0)
    assert np.degrees(np.abs(disturbed.attitude[:, :2]).max()) < 0.5
    assert np.degrees(np.abs(disturbed.attitude[:, 2]).max()) < 8.0


def test_long_outage_is_declared_lost_and_ends_with_the_fixes() -> None:
    sensors = Sensors(circle, 80.0, 0)
    sensors.fix_type[(sensors.gnss_t >= 15.0) & (sensors.gnss_t < 75.0)] = 0
    flight = fly(sensors)
    assert flight.after(10.0, 15.0).valid.all()
    assert not flight.after(74.0, 75.0).valid.any()
    assert flight.after(76.0).valid.all()
    assert np.abs(flight.after(76.0).position).max() < 6.0


@pytest.mark.parametrize("gap", [0.08, 0.4])
def test_imu_dropout(gap: float) -> None:
    sensors = Sensors(circle, 20.0, 1)
    sensors.imu_lost = (sensors.t > 14.001) & (sensors.t < 13.999 + gap)
    flight = fly(sensors)
    before, after = flight.after(13.9, 14.001), flight.after(13.999 + gap)
    assert np.abs(after.velocity).max() < 0.5
    assert np.degrees(np.abs(after.attitude).max()) < 6.0
    assert np.abs(after.attitude / after.sd[:, 6:]).max() < 4.0
    assert (after.sd[0, 6] > 3.0 * before.sd[-1, 6]) == (gap > 0.1)
    assert rms(after.after(17.0).velocity) < 0.1


def test_nothing_is_valid_before_alignment_and_position() -> None:
    sensors = Sensors(hover, 4.0, 0)
    sensors.fix_type[sensors.gnss_t < 2.0] = 0
    flight = fly(sensors)
    assert not flight.after(0.0, 2.1).valid.any()
    assert flight.after(2.2).valid.all()
    assert len(flight.t) == len(sensors.t)


def test_motion_postpones_alignment() -> None:
    sensors = Sensors(hover, 3.0, 0)
    shaken = sensors.t < 1.2
    sensors.gyro[shaken] += 0.3 * np.sin(40.0 * sensors.t[shaken])[:, None]
    flight = fly(sensors)
    assert flight.t[flight.valid.argmax()] > 1.5
    assert np.degrees(np.abs(flight.after(2.5).attitude).max()) < 1.0


def test_no_magnetometer_leaves_heading_to_the_motion() -> None:
    sensors = Sensors(circle, 25.0, 0)
    infos = {name: info for name, info in sensors.infos().items() if name != "a/magnetometer"}
    flight = fly(sensors, EkfLocaliser(EkfConfig(), infos, HOME, FIELD))
    assert not flight.after(1.0, 2.0).valid.any()
    assert flight.after(22.0).valid.all()
    assert np.degrees(np.abs(flight.after(22.0).attitude).max()) < 2.0


def test_nan_samples_change_nothing() -> None:
    sensors = Sensors(hover, 10.0, 0)
    sensors.gnss_position[80] = np.nan
    sensors.baro[200] = np.nan
    sensors.mag[160:170] = np.nan
    sensors.gyro[1600] = np.nan
    flight = fly(sensors)
    assert np.isfinite(flight.position).all()
    assert np.isfinite(flight.localiser.state.filter.covariance).all()


def test_covariance_stays_symmetric_and_positive() -> None:
    covariance = fly(Sensors(circle, 30.0, 2, details=COARSE)).localiser.state.filter.covariance
    np.testing.assert_array_equal(covariance, covariance.T)
    sd = np.sqrt(np.diag(covariance))
    assert np.linalg.eigvalsh(covariance / np.outer(sd, sd)).min() > 0.0


def test_restored_snapshot_continues_with_the_same_bits() -> None:
    sensors = Sensors(circle, 10.0, 6)
    messages = list(sensors.messages())
    localiser = EkfLocaliser(EkfConfig(), sensors.infos(), HOME, FIELD)
    for cut in (60, 1200):  # while aligning, and in flight
        for message in messages[:cut]:
            localiser.on_message(message)
        saved = localiser.snapshot()
        runs = []
        for _ in range(2):
            localiser.restore(saved)
            estimates = [localiser.on_message(message) for message in messages[cut:]]
            runs.append(np.array([np.r_[e.position, e.quat_wxyz, e.position_sd] for e in estimates if e]))
        np.testing.assert_array_equal(runs[0], runs[1])
        localiser = EkfLocaliser(EkfConfig(), sensors.infos(), HOME, FIELD)


def test_no_imu_is_an_error_and_strangers_are_ignored() -> None:
    infos = Sensors(hover, 1.0, 0).infos()
    with pytest.raises(ScenarioError, match="needs an IMU"):
        EkfLocaliser(EkfConfig(), {"a/gnss": infos["a/gnss"]}, HOME, FIELD)
    localiser = EkfLocaliser(EkfConfig(), infos, HOME, FIELD)
    assert localiser.on_message(Message("b/imu", 0, 0, 0, None)) is None
