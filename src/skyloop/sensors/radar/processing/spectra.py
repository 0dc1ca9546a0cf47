"""Spectra: turns the voltages of a burst into range and speed."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skyloop.core.radar_waveform import LIGHT_SPEED, Waveform
from skyloop.sensors.radar.processing.windows import WindowName, window
from skyloop_client.messages import Array, RadarScan, RangeDopplerImage

Complex: TypeAlias = NDArray[np.complex128]
Volts: TypeAlias = NDArray[Any]
"""(n_rx, n_chirps, n_samples) V, real or complex as the waveform says."""


def beat_ranges(waveform: Waveform, padding: int = 1) -> Array:
    """(n_ranges,) m of each row, with the coupling to speed not removed; real samples give the positive beats only."""
    length = waveform.n_samples * padding
    rows = length if waveform.iq else length // 2 + 1
    return np.asarray(np.arange(rows) * (waveform.range_resolution / padding))


def speed_cell(waveform: Waveform) -> float:
    """m/s between columns of an unpadded spectrum, at the centre frequency; others would bias speeds by B / (2 f)."""
    return LIGHT_SPEED / (2.0 * waveform.centre_frequency * waveform.chirp_repetition * waveform.n_chirps)


def speeds(waveform: Waveform, padding: int = 1) -> Array:
    """(n_speeds,) m/s of each column, rising; a positive speed is away from the radar."""
    length = waveform.n_chirps * padding
    return np.asarray((np.arange(length) - length // 2) * (speed_cell(waveform) / padding))


def folded_speed(waveform: Waveform, speed: Array) -> Array:
    """m/s as the chirps measure it, after folding."""
    span = speed_cell(waveform) * waveform.n_chirps
    return (speed + 0.5 * span) % span - 0.5 * span


def without_mean(volts: Volts, name: WindowName = "hann") -> Volts:
    """Moving-target indication within a burst.

    The mean over chirps is weighted with the window: a plain mean would remove a share of every moving target too.
    """
    taper = window(name, volts.shape[1])
    return np.asarray(volts - np.einsum("kmn,m->kn", volts, taper / taper.sum())[:, None, :])


def running_clutter(average: Volts | None, volts: Volts, bursts: float) -> Volts:
    """(n_rx, n_samples) V of echoes that stand still, averaged over about this many bursts; None: this is the first."""
    mean = np.asarray(np.mean(volts, axis=1, dtype=np.complex128 if np.iscomplexobj(volts) else np.float64))
    return mean if average is None else average + (mean - average) / bursts


def range_spectrum(volts: Volts, waveform: Waveform, name: WindowName = "hann", padding: int = 2) -> Complex:
    """(n_rx, n_chirps, n_ranges) V; a tone of amplitude A gives A."""
    taper = window(name, waveform.n_samples)
    length = waveform.n_samples * padding
    if waveform.iq:
        return np.asarray(np.fft.fft(volts * (taper / taper.sum()), length))
    return np.asarray(np.fft.rfft(volts * (2.0 * taper / taper.sum()), length))


def range_doppler(
    volts: Volts, waveform: Waveform, name: WindowName = "hann", range_padding: int = 2, speed_padding: int = 1
) -> Complex:
    """(n_rx, n_ranges, n_speeds) V, with the axes of `beat_ranges` and `speeds`."""
    taper = window(name, waveform.n_chirps)
    slow = range_spectrum(volts, waveform, name, range_padding).transpose(0, 2, 1) * (taper / taper.sum())
    return np.asarray(np.fft.fftshift(np.fft.fft(slow, waveform.n_chirps * speed_padding), axes=2))


def mean_power(cube: Complex) -> Array:
    """(n_ranges, n_speeds) V², the squared amplitude of a tone, mean over the antennas."""
    return np.asarray(np.mean(cube.real**2 + cube.imag**2, axis=0))


def range_doppler_image(
    scan: RadarScan, waveform: Waveform, name: WindowName = "hann", range_padding: int = 2, speed_padding: int = 1
) -> RangeDopplerImage:
    """The image of one burst, without clutter removal."""
    cube = range_doppler(scan.volts, waveform, name, range_padding, speed_padding)
    return RangeDopplerImage(
        scan.t_ns,
        mean_power(cube).astype(np.float32),
        beat_ranges(waveform, range_padding),
        speeds(waveform, speed_padding),
    )
