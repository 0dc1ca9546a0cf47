"""Single point targets against truth at mid burst; and in noise, against the Cramér-Rao bound."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from radar_reference import RX, TABLE_2, TX, place, reference_volts
from skyloop.core.radar_waveform import Waveform
from skyloop.sensors.radar.processing import Antennas, ProcessingConfig, cramer_rao, detections
from skyloop.sensors.radar.processing.spectra import speed_cell
from skyloop_client.messages import RadarDetections, RadarScan

BGT60 = Antennas(TX, RX)


def seen(
    waveform: Waveform,
    antennas: Antennas,
    point: np.ndarray,
    velocity: np.ndarray,
    config: ProcessingConfig,
    noise: np.ndarray | float = 0.0,
    phase: float = 0.0,
) -> RadarDetections:
    volts = reference_volts(waveform, antennas.tx, antennas.rx, point, velocity, [1.0], phase) + noise
    single: Any = volts.astype(np.complex64 if waveform.iq else np.float32)
    return detections(RadarScan(0, single, 0.0), waveform, antennas, config)


def grid_errors(waveform: Waveform, config: ProcessingConfig, speeds: np.ndarray) -> np.ndarray:
    """(n, 4) range m, speed m/s, azimuth and elevation degrees."""
    corners = [(35, 35), (-35, 35), (35, -35), (-35, -35), (0, 0), (17, -9), (-28, 4)]
    errors = []
    for i, distance in enumerate(np.linspace(1.0, 11.0, 7)):
        for j, speed in enumerate(speeds):
            angles = np.radians(corners[(3 * i + j) % len(corners)])
            point = place(distance, *angles)
            found = seen(waveform, BGT60, point, speed * point / distance, config, phase=0.7 * i + 1.9 * j)
            assert len(found.ranges) == 1, f"{distance} m, {speed} m/s: {found.ranges}, {found.speeds}"
            turn = np.degrees([found.azimuths[0] - angles[0], found.elevations[0] - angles[1]])
            errors.append([found.ranges[0] - distance, found.speeds[0] - speed, *turn])
            np.testing.assert_allclose(found.points[0], point, atol=0.05)
    return np.abs(errors)


@pytest.mark.parametrize("method", ["monopulse", "capon"])
@pytest.mark.parametrize("mti", ["none", "mean"])
@pytest.mark.parametrize("iq", [False, True])
def test_point_targets_are_where_they_are(method: Any, mti: Any, iq: bool) -> None:
    waveform = dataclasses.replace(TABLE_2, iq=iq)
    speeds = np.linspace(-3.0, 3.0, 9)
    if mti == "mean":
        speeds = speeds[np.abs(speeds) > 0.4]
    errors = grid_errors(waveform, ProcessingConfig(mti=mti, angle_method=method), speeds).max(axis=0)
    assert errors[0] < waveform.range_resolution / 100
    assert errors[1] < waveform.speed_resolution / 50
    assert np.all(errors[2:] < 0.1)


@pytest.mark.parametrize("window", ["rectangular", "hann", "blackman", "chebyshev"])
def test_every_window_is_accurate(window: Any) -> None:
    config = ProcessingConfig(mti="none", window=window)
    errors = grid_errors(TABLE_2, config, np.array([-2.9, 0.0, 1.3])).max(axis=0)
    assert errors[0] < TABLE_2.range_resolution / 10
    assert errors[1] < TABLE_2.speed_resolution / 5
    assert np.all(errors[2:] < 0.2)


def test_a_target_that_crosses_the_line_of_sight() -> None:
    point = place(3.0, 0.4, -0.2)
    velocity = np.array([1.5, -1.0, 0.5])
    found = seen(TABLE_2, BGT60, point, velocity, ProcessingConfig())
    np.testing.assert_allclose(found.ranges, [3.0], atol=TABLE_2.range_resolution / 10)
    np.testing.assert_allclose(found.speeds, [velocity @ point / 3.0], atol=TABLE_2.speed_resolution / 5)
    np.testing.assert_allclose(np.degrees([found.azimuths[0] - 0.4, found.elevations[0] + 0.2]), 0.0, atol=0.2)


@pytest.mark.parametrize(
    ("rx", "sees"),
    [
        (np.column_stack([np.zeros(8), 0.0024 * np.arange(8), np.zeros(8)]), (True, False)),
        (np.column_stack([np.zeros(4), np.zeros(4), 0.0024 * np.arange(4)]), (False, True)),
        (np.array([(0.0, y, z) for y in (0.0, 0.0024, 0.0048) for z in (0.0, 0.0024)]), (True, True)),
        (np.zeros((1, 3)), (False, False)),
    ],
)
@pytest.mark.parametrize("method", ["monopulse", "capon"])
def test_arrays_of_any_shape(rx: np.ndarray, sees: tuple[bool, bool], method: Any) -> None:
    """Components of direction the array cannot see are 0."""
    point = place(4.0, 0.5 if sees[0] else 0.0, -0.3 if sees[1] else 0.0)
    config = ProcessingConfig(angle_method=method)
    found = seen(TABLE_2, Antennas(TX, rx), point, 1.5 * point / 4.0, config)
    np.testing.assert_allclose(found.points[0], point, atol=0.01)
    if not all(sees):
        other = place(4.0, 0.5, -0.3)
        unit = seen(TABLE_2, Antennas(TX, rx), other, 1.5 * other / 4.0, config).points[0] / 4.0
        expected = other / 4.0 * np.array([0.0, *sees])
        np.testing.assert_allclose(unit[1:], expected[1:], atol=0.005)


def test_one_long_chirp() -> None:
    """ViRa's default: no speed, and range all the same."""
    waveform = Waveform(57e9, 7e9, 150e-6, 150e-6, 1, 300)
    point = place(1.2, 0.2, 0.1)
    found = seen(waveform, BGT60, point, np.zeros(3), ProcessingConfig(mti="none"))
    np.testing.assert_allclose(found.points, [point], atol=waveform.range_resolution / 10)
    assert found.speeds.tolist() == [0.0]


def test_two_targets_of_one_range_are_told_apart_by_speed() -> None:
    points = [place(5.0, 0.3, 0.1), place(5.0, -0.3, 0.0)]
    volts = reference_volts(TABLE_2, TX, RX, points, [points[0] * 0.2, -points[1] * 0.2], [1.0, 0.1])
    scan = RadarScan(0, volts.astype(np.float32), 0.0)
    found = detections(scan, TABLE_2, BGT60, ProcessingConfig(window="hann"))
    np.testing.assert_allclose(found.speeds, [1.0, -1.0], atol=0.02)
    np.testing.assert_allclose(found.points, points, atol=0.02)


def test_what_is_too_fast_folds_with_its_coupling() -> None:
    """Its Doppler wraps by 2 v_max, its beat does not: the coupling that is removed is of the wrong speed."""
    span = speed_cell(TABLE_2) * TABLE_2.n_chirps
    found = seen(TABLE_2, BGT60, place(4.0, 0.1, 0.0), place(4.5, 0.1, 0.0), ProcessingConfig())
    assert found.speeds[0] == pytest.approx(4.5 - span, abs=0.02)
    assert found.ranges[0] == pytest.approx(4.0 + TABLE_2.range_shift(span), abs=0.04)


def test_what_is_too_far_folds() -> None:
    """Real samples mirror the beat at Nyquist, and the speed with it; complex ones wrap."""
    far, speed = TABLE_2.max_range + 3.0, 1.0
    point = place(far, 0.0, 0.0)
    found = seen(TABLE_2, BGT60, point, speed * point / far, ProcessingConfig())
    beat = 2.0 * TABLE_2.max_range - (far + TABLE_2.range_shift(speed))
    assert found.speeds[0] == pytest.approx(-speed, abs=0.02)
    assert found.ranges[0] == pytest.approx(beat + TABLE_2.range_shift(speed), abs=0.04)
    complex_one = dataclasses.replace(TABLE_2, iq=True)
    found = seen(complex_one, BGT60, point, speed * point / far, ProcessingConfig())
    assert (found.ranges[0], found.speeds[0]) == (pytest.approx(far, abs=0.04), pytest.approx(speed, abs=0.02))


def test_the_bound_has_its_closed_form() -> None:
    """Range for a speed that is known: sd = d_res / π · sqrt(3 / (SNR n)) (n large); speed: v_res likewise."""
    bound = cramer_rao(TABLE_2, BGT60, 0.0)
    n = TABLE_2.n_chirps * TABLE_2.n_samples * len(RX)
    speed = np.sqrt(3.0 / n) / np.pi * speed_cell(TABLE_2)
    known = np.sqrt(3.0 / n) / np.pi * TABLE_2.range_resolution
    assert bound[1] == pytest.approx(speed, rel=0.01)
    assert bound[0] == pytest.approx(np.hypot(known, TABLE_2.range_shift(speed)), rel=0.01)
    assert np.all(np.isfinite(bound))
    assert np.all(np.isnan(cramer_rao(TABLE_2, Antennas(TX, RX[:1]), 0.0)) == [False, False, True, True])
    np.testing.assert_allclose(cramer_rao(TABLE_2, BGT60, [0.0, 20.0])[1], 0.1 * bound)


def test_errors_in_noise_follow_the_bound() -> None:
    rng = np.random.default_rng(5)
    config = ProcessingConfig(mti="none")
    levels = np.array([-10.0, 0.0, 10.0, 20.0])
    ratios = []
    for snr_db in levels:
        sd = np.sqrt(0.5 / 10.0 ** (snr_db / 10.0))
        errors = []
        for _ in range(80):
            distance, speed = rng.uniform(3.0, 9.0), rng.uniform(0.8, 2.5)
            point = place(distance, 0.0, 0.0)
            noise = rng.normal(0.0, sd, (3, 64, 64))
            found = seen(TABLE_2, BGT60, point, speed * point / distance, config, noise, rng.uniform(0.0, 6.0))
            strongest = int(np.argmax(found.snr_db))
            unit = found.points[strongest] / found.ranges[strongest]
            errors.append([found.ranges[strongest] - distance, found.speeds[strongest] - speed, *unit[1:]])
        ratios.append(np.sqrt(np.mean(np.square(errors), axis=0)) / cramer_rao(TABLE_2, BGT60, snr_db))
    # Within twice the bound at every level over 30 dB is the slope 1 / sqrt(SNR); two Hamming windows cost 1.5.
    assert np.all(np.array(ratios) > 0.8), ratios
    assert np.all(np.array(ratios) < 2.0), ratios
    np.testing.assert_allclose(np.mean(ratios, axis=0)[:2], 1.5, rtol=0.15)


def test_snr_is_that_of_the_image() -> None:
    """Half of a real tone's power A²/2 is in its mirror image; two Hann windows widen a cell 1.5 times each."""
    rng = np.random.default_rng(6)
    point = place(5.0, 0.1, 0.1)
    hann = ProcessingConfig(window="hann")
    measured = [
        seen(TABLE_2, BGT60, point, 0.3 * point, hann, rng.normal(0.0, 1.0, (3, 64, 64))).snr_db.max()
        for _ in range(20)
    ]
    assert np.mean(measured) == pytest.approx(10.0 * np.log10(0.25 * 4096 / 2.25), abs=0.7)
