"""Detection: turns one burst into points with speed and strength."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skyloop.core.radar_waveform import Waveform
from skyloop.sensors.radar.processing.angles import Antennas, azimuth_elevation, capon, monopulse
from skyloop.sensors.radar.processing.cfar import Indices, averaged_noise, ordered_noise, peaks, unmasked
from skyloop.sensors.radar.processing.config import ProcessingConfig
from skyloop.sensors.radar.processing.refinement import Tones, refined
from skyloop.sensors.radar.processing.spectra import (
    Complex,
    Volts,
    folded_speed,
    mean_power,
    range_doppler,
    speed_cell,
    without_mean,
)
from skyloop.sensors.radar.processing.windows import sidelobes, window
from skyloop_client.messages import Array, RadarDetections, RadarScan

SMALLEST_NOISE = 1e-15
"""A share of a peak's power. It keeps the SNR finite where there is no noise at all."""


def detections(
    scan: RadarScan, waveform: Waveform, antennas: Antennas, config: ProcessingConfig | None = None
) -> RadarDetections:
    """The points of one burst, without memory: mti "running" acts as "mean", and there are no tracks."""
    config = config or ProcessingConfig()
    volts: Volts = scan.volts if config.mti == "none" else without_mean(scan.volts, config.window)
    cube = range_doppler(volts, waveform, config.window, config.range_padding, config.speed_padding)
    return points_of(scan.t_ns, volts, mean_power(cube), waveform, antennas, config)


def points_of(
    t_ns: int, volts: Volts, power: Array, waveform: Waveform, antennas: Antennas, config: ProcessingConfig
) -> RadarDetections:
    """The points of a burst whose clutter is already removed and whose range-Doppler power is known."""
    cells, noise = _peaks_and_noise(power, waveform, len(antennas.rx), config)
    tones = refined(
        volts,
        waveform,
        config.window,
        cells[:, 0] / config.range_padding,
        (cells[:, 1] - power.shape[1] // 2) / config.speed_padding,
    )
    speeds = folded_speed(waveform, tones.speed_cells * speed_cell(waveform))
    half_paths = tones.range_cells * waveform.range_resolution - waveform.range_shift(1.0) * speeds
    half_paths = np.maximum(half_paths, 1e-3)
    if config.angle_method == "capon":
        places = capon(_snapshots(volts, waveform, config, tones), half_paths, antennas, waveform.centre_frequency)
    else:
        places = monopulse(tones.amplitudes, half_paths, antennas, waveform.centre_frequency)
    ranges = np.asarray(np.linalg.norm(places, axis=1))
    azimuths, elevations = azimuth_elevation(places / ranges[:, None])
    strength = np.mean(np.abs(tones.amplitudes) ** 2, axis=1)
    floor = np.maximum(noise, SMALLEST_NOISE * strength + np.finfo(np.float64).tiny)
    snr_db = 10.0 * np.log10(np.maximum(strength, floor) / floor)
    kept = (ranges >= config.min_range) & (ranges <= (config.max_range or np.inf)) & _first_of_twins(tones, strength)
    return RadarDetections(
        t_ns,
        places[kept].astype(np.float32),
        ranges[kept],
        speeds[kept],
        azimuths[kept],
        elevations[kept],
        snr_db[kept],
        np.zeros(0, np.int32),
        np.zeros((0, 3)),
        np.zeros((0, 3)),
    )


def noise_around(power: Array, cells: Indices, config: ProcessingConfig, n_rx: int) -> Array:
    """(n,) V² around (n, 2) cells, estimated by the configured CFAR."""
    padding = (config.range_padding, config.speed_padding)
    # The speed axis wraps. With few chirps, cells farther than half way round would be the target itself again.
    farthest = (power.shape[1] - 1) // 2
    guard = (config.guard[0] * padding[0], min(config.guard[1] * padding[1], farthest))
    training = (config.training[0] * padding[0], min(config.training[1] * padding[1], farthest - guard[1]))
    if config.cfar == "cell_averaging":
        return averaged_noise(power, cells, guard, training)
    return ordered_noise(power, cells, guard, training, config.rank, n_rx)


def _peaks_and_noise(power: Array, waveform: Waveform, n_rx: int, config: ProcessingConfig) -> tuple[Indices, Array]:
    """(n, 2) row and column of the strongest peaks that are not sidelobes of another, and (n,) V² around them."""
    padding = (config.range_padding, config.speed_padding)
    # Some will be dropped below; four times as many as asked for are enough.
    found = peaks(power, config.dynamic_range_db, padding)[: 4 * config.max_detections]
    noise = noise_around(power, found, config, n_rx)
    over = power[tuple(found.T)] > noise * 10.0 ** (config.threshold_db / 10.0)
    own = unmasked(
        found[over],
        power,
        sidelobes(config.window, waveform.n_samples, padding[0]),
        sidelobes(config.window, waveform.n_chirps, padding[1]),
        mirrored=not waveform.iq,
    )
    return found[over][own][: config.max_detections], noise[over][own][: config.max_detections]


def _first_of_twins(tones: Tones, strength: Array) -> NDArray[np.bool_]:
    """The strongest of the peaks that were refined to the same position."""
    near = (np.abs(tones.range_cells[:, None] - tones.range_cells) < 0.5) & (
        np.abs(tones.speed_cells[:, None] - tones.speed_cells) < 0.5
    )
    order = np.arange(len(strength))
    stronger = (strength > strength[:, None]) | ((strength == strength[:, None]) & (order < order[:, None]))
    return np.asarray(~np.any(near & stronger, axis=1))


def _snapshots(volts: Volts, waveform: Waveform, config: ProcessingConfig, tones: Tones) -> Complex:
    """(n, n_snapshots, n_rx) V: each tone in overlapping halves of the burst, so that a covariance can be computed."""
    _, n_chirps, n_samples = volts.shape
    taper = window(config.window, n_samples)
    x = (np.arange(n_samples) - 0.5 * (n_samples - 1)) / n_samples
    fast = (taper / taper.sum()) * np.exp(-2j * np.pi * tones.range_cells[:, None] * x)
    # Not a matrix product, because BLAS would start threads for it.
    along = np.einsum("kmn,dn->dkm", volts, fast)
    y = (np.arange(n_chirps) - 0.5 * (n_chirps - 1)) / n_chirps
    turn = np.exp(-2j * np.pi * tones.speed_cells[:, None] * y)[:, None]
    if not waveform.iq:
        # The tone's mirror image, which the range window lets through near zero range.
        leak = np.sum((taper / taper.sum()) * np.exp(-4j * np.pi * tones.range_cells[:, None] * x), axis=1)
        along = along - 0.5 * (np.conj(tones.amplitudes) * leak[:, None])[:, :, None] * turn
    still = along * turn
    length, hop = max(n_chirps // 2, 1), max(n_chirps // 8, 1)
    slow = window(config.window, length)
    parts = [
        still[:, :, first : first + length] @ (slow / slow.sum()) for first in range(0, n_chirps - length + 1, hop)
    ]
    return np.stack(parts, axis=1)
