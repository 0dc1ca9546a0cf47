"""Radar data as pictures: the form in which "airloop" compares bursts, and a spectrogram."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from skyloop.core.radar_waveform import Waveform
from skyloop.sensors.radar.processing.spectra import (
    beat_ranges,
    mean_power,
    range_doppler,
    range_spectrum,
    speeds,
    without_mean,
)
from skyloop.sensors.radar.processing.windows import WindowName, window
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array, RadarScan
from skyloop_client.streams import NS_PER_S

PAPER_ROWS = 36
"""From "airloop" V-D: with the samples padded to twice their number, these rows cover 0 to 6.75 m."""


def paper_image(
    scan: RadarScan, waveform: Waveform, *, rows: int = PAPER_ROWS, window_name: WindowName = "hann", mti: bool = False
) -> Array:
    """(rows, n_chirps) amplitudes from 0 to 1, nearest range in row 0, speeds rising; all 0 if nothing was received."""
    volts = without_mean(scan.volts, window_name) if mti else scan.volts
    amplitude = np.sqrt(mean_power(range_doppler(volts, waveform, window_name)))
    if rows > len(amplitude):
        raise ScenarioError(
            f"a picture of {rows} ranges is asked for, the waveform gives {len(amplitude)}; ask for less"
        )
    cut = amplitude[:rows]
    span = float(np.ptp(cut))
    return np.asarray((cut - cut.min()) / span) if span > 0.0 else np.zeros_like(cut)


def normalised_cross_correlation(image: ArrayLike, other: ArrayLike) -> float:
    """Similarity of two images of one shape, -1 to 1: eq. (8) of "airloop"; 0 where one of them is constant."""
    x, y = np.asarray(image, np.float64), np.asarray(other, np.float64)
    if x.shape != y.shape:
        raise ScenarioError(f"images of shapes {x.shape} and {y.shape} cannot be compared; give two of one shape")
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.sqrt(np.sum(x * x) * np.sum(y * y)))
    return float(np.sum(x * y)) / scale if scale > 0.0 else 0.0


def spectrogram(
    scans: Sequence[RadarScan],
    waveform: Waveform,
    near: float,
    far: float,
    *,
    chirps: int = 32,
    hop: int = 8,
    window_name: WindowName = "hann",
    mti: bool = True,
) -> tuple[Array, Array, Array]:
    """Micro-Doppler: speeds (n,) m/s, times (t,) s and (n, t) dB over 1 V² of the echoes from `near` to `far` m.

    It uses short transforms of `chirps` chirps, `hop` apart. None of them spans the gap between two bursts. There are
    as many speeds as a burst has chirps. Ranges follow from the beat alone. With `mti` the mean over all bursts is
    removed.
    """
    if not scans:
        raise ScenarioError("a spectrogram of no scans; give at least one")
    if not 1 <= chirps <= waveform.n_chirps or hop < 1:
        raise ScenarioError(f"a spectrogram of {chirps} chirps every {hop}; a burst has {waveform.n_chirps}")
    ranges = beat_ranges(waveform, 2)
    inside = (ranges >= near) & (ranges <= far)
    if not inside.any():
        raise ScenarioError(f"no range between {near} and {far} m; the waveform sees 0 to {ranges[-1]:.2f} m")
    spectra = np.stack([range_spectrum(s.volts, waveform, window_name)[:, :, inside] for s in scans])
    if mti:
        spectra = spectra - spectra.mean(axis=(0, 2), keepdims=True)
    firsts = np.arange(0, waveform.n_chirps - chirps + 1, hop)
    taper = window(window_name, chirps)
    parts = np.stack([spectra[:, :, i : i + chirps] for i in firsts], axis=1) * (taper / taper.sum())[:, None]
    lines = np.fft.fftshift(np.fft.fft(parts, waveform.n_chirps, axis=3), axes=3)
    # The sum over the ranges from near to far, and the mean over the antennas.
    power = np.sum(np.mean(np.abs(lines) ** 2, axis=2), axis=3).reshape(-1, waveform.n_chirps).T
    middles = (firsts + 0.5 * (chirps - 1) - 0.5 * (waveform.n_chirps - 1)) * waveform.chirp_repetition
    times = np.asarray(np.concatenate([s.t_ns / NS_PER_S + middles for s in scans]))
    return speeds(waveform), times, np.asarray(10.0 * np.log10(np.maximum(power, 1e-30)))
