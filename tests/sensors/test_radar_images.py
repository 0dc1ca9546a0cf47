"""Spectra, images, CFAR and recordings."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import fdtri

from radar_reference import DETAILS, RX, TABLE_2, TX, place, reference_volts
from skyloop.sensors.radar.processing import (
    Antennas,
    ProcessingConfig,
    RadarProcessor,
    cfar,
    normalised_cross_correlation,
    paper_image,
    range_angle_image,
    range_doppler_image,
    range_spectrum,
    read_recording,
    spectrogram,
    windows,
)
from skyloop.sensors.radar.processing.detection import noise_around
from skyloop.sensors.radar.processing.spectra import (
    beat_ranges,
    mean_power,
    range_doppler,
    running_clutter,
    speed_cell,
    without_mean,
)
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import RadarScan

BGT60 = Antennas(TX, RX)


def scan_of(points: list[np.ndarray], speeds: list[float], amplitudes: list[float], t_ns: int = 0) -> RadarScan:
    velocities = [s * p / np.linalg.norm(p) for p, s in zip(points, speeds, strict=True)]
    volts = reference_volts(TABLE_2, TX, RX, points, velocities, amplitudes)
    return RadarScan(t_ns, volts.astype(np.float32), 0.0)


def test_windows_are_symmetric_and_as_low_as_their_name_says() -> None:
    highest_sidelobe_db = {"rectangular": -13, "hann": -31, "hamming": -40, "blackman": -57, "chebyshev": -59.9}
    half_width = {"rectangular": 1.01, "hann": 2.01, "hamming": 2.01, "blackman": 3.01, "chebyshev": 2.5}
    for name, limit in highest_sidelobe_db.items():
        w = windows.window(name, 64)
        np.testing.assert_allclose(w, w[::-1], atol=1e-12)
        response = np.abs(np.fft.rfft(w, 6400))[int(100 * half_width[name]) :] / w.sum()
        assert 20.0 * np.log10(response.max()) < limit, name


@pytest.mark.parametrize("iq", [False, True])
def test_a_tone_reads_its_amplitude_at_its_range_and_speed(iq: bool) -> None:
    waveform = dataclasses.replace(TABLE_2, iq=iq)
    speed = 8 * speed_cell(TABLE_2)
    distance = 12 * TABLE_2.range_resolution - TABLE_2.range_shift(speed)
    point = np.array([distance, 0.0, 0.0])
    volts = reference_volts(waveform, np.zeros(3), np.zeros((1, 3)), point, [speed, 0.0, 0.0], [0.3])
    image = range_doppler_image(RadarScan(7, volts, 0.0), waveform)
    row, column = np.unravel_index(np.argmax(image.power), image.power.shape)
    assert image.t_ns == 7
    assert image.ranges[row] == pytest.approx(12 * TABLE_2.range_resolution)
    assert image.speeds[column] == pytest.approx(speed)
    # 1 % is lost to range migration.
    assert np.sqrt(image.power.max()) == pytest.approx(0.3, rel=0.01)
    assert np.all(np.diff(image.speeds) > 0.0)
    assert image.power.shape == ((128 if iq else 65), 64) == (len(image.ranges), len(image.speeds))


@pytest.mark.parametrize("mti", ["mean", "running"])
def test_mti_removes_what_stands_and_keeps_what_moves(mti: str) -> None:
    still, moving = place(2.0, 0.0, 0.0), place(6.0, 0.3, 0.0)
    both = scan_of([still, moving], [0.0, 1.2], [10.0, 0.1]).volts
    alone = scan_of([moving], [1.2], [0.1]).volts
    if mti == "mean":
        left = without_mean(both)
    else:
        clutter = None
        for _ in range(5):
            clutter = running_clutter(clutter, both, 20.0)
        assert clutter is not None
        left = both - clutter[:, None]
    power, wanted = (mean_power(range_doppler(v, TABLE_2)) for v in (left, alone))
    assert power.max() == pytest.approx(wanted.max(), rel=0.01)
    assert np.argmax(power) == np.argmax(wanted)
    assert power[:20, 32].max() < 1e-4 * power.max()


def test_running_clutter_forgets() -> None:
    ones = np.ones((1, 4, 2))
    average = running_clutter(None, ones, 10.0)
    for _ in range(10):
        average = running_clutter(average, 0.0 * ones, 10.0)
    np.testing.assert_allclose(average, 0.9**10)


@pytest.mark.parametrize("kind", ["cell_averaging", "ordered_statistic"])
@pytest.mark.parametrize("n_rx", [1, 3])
def test_false_alarms_come_at_the_rate_of_the_design(kind: Any, n_rx: int) -> None:
    rng = np.random.default_rng(3)
    config = ProcessingConfig(cfar=kind, mti="none", window="hann")
    guard, training = (2 * config.guard[0], config.guard[1]), (2 * config.training[0], config.training[1])
    alike = 2.0 * windows.correlation("hann", 64) ** 2
    independent = cfar.training_cells(guard, training) / alike
    # the ratio of cell to averaged noise follows F(2 n_rx, 2 n_rx cells)
    threshold_db = float(10.0 * np.log10(fdtri(2 * n_rx, 2 * n_rx * independent, 1.0 - 1e-2)))
    expected = cfar.false_alarm_rate(kind, threshold_db, n_rx, independent)
    # Rows near zero beat and Nyquist hold noise and its mirror image.
    cells = np.argwhere(np.ones((57, 64)))[::2] + np.array([4, 0])
    alarms = []
    for _ in range(20):
        power = mean_power(range_doppler(rng.normal(size=(n_rx, 64, 64)), TABLE_2))
        noise = noise_around(power, cells, config, n_rx)
        alarms.append(np.mean(power[tuple(cells.T)] > noise * 10.0 ** (threshold_db / 10.0)))
    assert np.mean(alarms) == pytest.approx(expected, rel=0.25)
    if kind == "cell_averaging":
        assert expected == pytest.approx(1e-2, rel=1e-6)


def test_ordered_statistic_sees_a_target_beside_a_strong_one() -> None:
    power = np.random.default_rng(1).exponential(size=(65, 64))
    power[28:33, 40:43] = 1e4
    cell = np.array([[30, 32]])
    averaged = cfar.averaged_noise(power, cell, (4, 3), (8, 8))
    ordered = cfar.ordered_noise(power, cell, (4, 3), (8, 8), 0.75, 1)
    assert averaged[0] > 100.0
    assert ordered[0] == pytest.approx(1.0, rel=0.2)


@pytest.mark.parametrize("kind", ["cell_averaging", "ordered_statistic"])
def test_noise_wraps_in_speed_and_ends_in_range(kind: Any) -> None:
    """Around every cell of a level image the noise is that level, at the edges too."""
    power = np.full((40, 32), 2.0)
    cells = np.argwhere(power > 0.0)
    if kind == "cell_averaging":
        np.testing.assert_allclose(cfar.averaged_noise(power, cells, (1, 2), (3, 4)), 2.0)
        power[5, 0] = 1e6
        assert cfar.averaged_noise(power, np.array([[5, 28]]), (1, 2), (3, 4))[0] > 1e3
    else:
        level = cfar.ordered_noise(power, cells, (1, 2), (3, 4), 0.5, 1)
        np.testing.assert_allclose(level, 2.0 / np.log(2.0))


@pytest.mark.parametrize("method", ["beam", "capon"])
def test_range_angle_image_peaks_at_the_target(method: Any) -> None:
    azimuths = np.radians(np.arange(-60.0, 60.5, 0.5))
    scan = scan_of([place(5.0, np.radians(20.0), 0.0)], [1.0], [1.0])
    image = range_angle_image(range_spectrum(scan.volts, TABLE_2), BGT60, TABLE_2.centre_frequency, azimuths, method)
    row, column = np.unravel_index(np.argmax(image), image.shape)
    assert beat_ranges(TABLE_2, 2)[row] == pytest.approx(5.0 + TABLE_2.range_shift(1.0), abs=0.1)
    assert np.degrees(azimuths[column]) == pytest.approx(20.0, abs=0.5)
    assert image.max() == pytest.approx(1.0, rel=0.1)
    lobe = np.sum(image[row] > 0.5 * image.max())
    assert lobe < 10 if method == "capon" else lobe > 60


def test_the_papers_picture() -> None:
    scan = scan_of([place(4.0, 0.0, 0.0)], [1.0], [1.0])
    picture = paper_image(scan, TABLE_2)
    assert picture.shape == (36, 64)
    assert (picture.min(), picture.max()) == (0.0, 1.0)
    assert np.argmax(picture) == np.ravel_multi_index((22, 42), (36, 64))
    assert not paper_image(RadarScan(0, np.zeros((3, 64, 64), np.float32), 0.0), TABLE_2).any()
    with pytest.raises(ScenarioError, match="70 ranges"):
        paper_image(scan, TABLE_2, rows=70)


def test_normalised_cross_correlation_is_equation_8() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.random((36, 64)), rng.random((36, 64))
    assert normalised_cross_correlation(x, 3.0 * x + 1.0) == pytest.approx(1.0)
    assert normalised_cross_correlation(x, -x) == pytest.approx(-1.0)
    assert normalised_cross_correlation(x, x + y) == pytest.approx(np.corrcoef(x.ravel(), (x + y).ravel())[0, 1])
    assert normalised_cross_correlation(x, np.ones((36, 64))) == 0.0
    with pytest.raises(ScenarioError, match="one shape"):
        normalised_cross_correlation(x, y[:5])


def test_spectrogram_follows_a_swinging_speed() -> None:
    """A point that swings about 4 m shows its speed at each time."""
    burst_ns = int(TABLE_2.n_chirps * TABLE_2.chirp_repetition * 1e9)
    scans = []
    for i in range(24):
        t = i * burst_ns / 1e9
        point = [4.0 + 0.2 * np.sin(6.0 * t), 0.0, 0.0]
        volts = reference_volts(
            TABLE_2, TX, RX, [point, [4.5, 0.0, 0.0]], [[1.2 * np.cos(6.0 * t), 0.0, 0.0], [0.0] * 3], [1, 5]
        )
        scans.append(RadarScan(i * burst_ns, volts.astype(np.float32), 0.0))
    speeds, times, level = spectrogram(scans, TABLE_2, 3.0, 5.0)
    assert level.shape == (64, 24 * 5) == (len(speeds), len(times))
    assert np.all(np.diff(times) > 0.0)
    true = 1.2 * np.cos(6.0 * times)
    moving = np.abs(true) > 0.4
    assert np.all(np.abs(speeds[np.argmax(level, axis=0)] - true)[moving] < 0.15)
    with pytest.raises(ScenarioError, match="no range"):
        spectrogram(scans, TABLE_2, 30.0, 40.0)


def test_recordings_of_volts_and_of_codes(tmp_path: Path) -> None:
    volts = np.random.default_rng(0).uniform(-0.5, 0.5, (4, 3, 64, 64))
    np.save(tmp_path / "volts.npy", volts)
    scans = read_recording(tmp_path / "volts.npy", TABLE_2, rate_hz=10)
    assert [s.t_ns for s in scans] == [0, 100_000_000, 200_000_000, 300_000_000]
    np.testing.assert_allclose(scans[2].volts, volts[2], atol=1e-7)
    codes = np.round(volts / 1.2 * 4096 + 2048).astype(np.uint16)
    np.save(tmp_path / "codes.npy", codes)
    np.testing.assert_allclose(read_recording(tmp_path / "codes.npy", TABLE_2)[3].volts, volts[3], atol=2e-4)
    with pytest.raises(ScenarioError, match="beyond 8 bits"):
        read_recording(tmp_path / "codes.npy", TABLE_2, adc_bits=8)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (np.zeros((3, 64, 64)), r"has shape \(3, 64, 64\)"),
        (np.zeros((5, 64, 64, 3)), "reorder its axes"),
        (np.zeros((0, 3, 64, 64)), "has shape"),
        (np.zeros((2, 3, 64, 64), np.int32), "holds int32"),
        (np.zeros((2, 3, 64, 64), np.complex64), "holds complex64"),
        (np.full((2, 3, 64, 64), np.nan), "NaN"),
        (np.full((2, 3), None), "cannot read"),
    ],
)
def test_bad_recordings_are_refused_in_one_line(tmp_path: Path, data: np.ndarray, words: str) -> None:
    np.save(tmp_path / "bad.npy", data)
    with pytest.raises(ScenarioError, match=words) as refusal:
        read_recording(tmp_path / "bad.npy", TABLE_2)
    assert "bad.npy" in str(refusal.value) and "\n" not in str(refusal.value)


@pytest.mark.parametrize("content", [b"", b"not an array", b"\x93NUMPY\x01\x00"])
def test_files_that_are_no_arrays(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.npy").write_bytes(content)
    with pytest.raises(ScenarioError, match="cannot read"):
        read_recording(tmp_path / "bad.npy", TABLE_2)
    with pytest.raises(ScenarioError, match="cannot read"):
        read_recording(tmp_path / "none.npy", TABLE_2)


def test_nothing_is_found_where_nothing_moves_and_there_is_no_noise() -> None:
    """What float32 rounds is no target."""
    random = np.random.default_rng(2)
    places = random.uniform((2.0, -2.0, -1.0), (9.0, 2.0, 1.0), (20, 3))
    volts = reference_volts(TABLE_2, TX, RX, places, np.zeros((20, 3)), np.ones(20)).astype(np.float32)
    for mti in ("mean", "running"):
        processor = RadarProcessor(DETAILS, ProcessingConfig(mti=mti))
        for _ in range(3):
            _, found = processor.process(RadarScan(0, volts, 0.0))
        assert len(found.ranges) == 0
