"""Errors of range, speed and direction against the signal-to-noise ratio, beside the Cramér-Rao bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.sensors.radar.config import RadarConfig, RadarTarget
from skyloop.sensors.radar.processing import Antennas, ProcessingConfig, cramer_rao, detections
from skyloop.sensors.radar.radar import Radar
from skyloop_client.messages import Array, RadarDetections, RadarScan
from skyloop_papers.radar.setup import RadarSetup

QUANTITIES = ("range", "speed", "azimuth", "elevation")
SNR_DB = np.arange(-30.0, 31.0, 5.0)
"""Of one sample."""
QUICK_SNR_DB = np.array([-10.0, 0.0, 10.0])
TRIALS, QUICK_TRIALS = 200, 12


@dataclass(frozen=True, slots=True, eq=False)
class NoiseCurve:
    snr_db: Array
    rmse: Array
    """(n_snr, 4) m, m/s, rad, rad, of the points found at the target."""
    bound: Array
    """(n_snr, 4)."""
    found: Array
    """(n_snr,) share of bursts in which the strongest point is the target."""
    trials: int

    @property
    def working(self) -> NDArray[np.bool_]:
        """SNRs at which every target is found."""
        return np.asarray(self.found == 1.0)

    def excess(self) -> Array:
        """(4,) RMSE over bound, from mean squares over the SNRs at which the target is always found."""
        ratio = self.rmse[self.working] / self.bound[self.working]
        return np.asarray(np.sqrt(np.mean(ratio**2, axis=0)))

    def slopes(self) -> Array:
        """(4,) decades per 10 dB. A bound has -0.5."""
        lines = np.polyfit(self.snr_db[self.working] / 10.0, np.log10(self.rmse[self.working]), 1)
        return np.asarray(lines[0])


def measure_noise(setup: RadarSetup, snr_db: Array, trials: int) -> NoiseCurve:
    """A point target at 2 to 10 m, up to 2.5 m/s and 5° off the axis, new for every burst, with white noise."""
    walk = next(iter(setup.walks.values()))
    at = setup.radar_at(walk, 0.0)
    plain = _radar_before(None)
    shot = setup.shot(plain, at)
    antennas = Antennas.from_details(plain.details())
    waveform = plain.waveform
    config = ProcessingConfig(mti="none", tracking=None, max_detections=4)
    near = np.array([waveform.range_resolution, 2.0 * waveform.speed_resolution, 0.5, 0.5])
    errors: list[list[Array]] = [[] for _ in snr_db]
    for trial in range(trials):
        rng = KeyedRandom(stream_key(0, "reproduce-radar/noise"), trial)
        target, truth = _target(at.position, rng)
        radar = _radar_before(target)
        volts = shot.measured(radar, at, rng).volts.astype(np.float64)
        for kept, snr in zip(errors, snr_db, strict=True):
            # the mean square of a cosine is half the square of its peak
            spread = np.sqrt(np.mean(volts**2) / 10.0 ** (snr / 10.0))
            noisy = volts + spread * rng.normal(volts.size).reshape(volts.shape)
            found = detections(RadarScan(0, noisy.astype(np.float32), 0.0), waveform, antennas, config)
            error = _reading(found) - truth
            if np.all(np.abs(error) < near):
                kept.append(error)
    rmse = [np.sqrt(np.mean(np.square(kept), axis=0)) if kept else np.full(4, np.nan) for kept in errors]
    share = np.array([len(kept) / trials for kept in errors])
    return NoiseCurve(snr_db, np.array(rmse), cramer_rao(waveform, antennas, snr_db), share, trials)


def _reading(found: RadarDetections) -> Array:
    """Range, speed, azimuth and elevation of the strongest point."""
    if not len(found.snr_db):
        return np.full(4, np.nan)
    k = int(np.argmax(found.snr_db))
    return np.array([found.ranges[k], found.speeds[k], found.azimuths[k], found.elevations[k]])


def _radar_before(target: RadarTarget | None) -> Radar:
    """The world gives no echoes here, so a few pixels of it are enough."""
    targets = () if target is None else (target,)
    config = RadarConfig(width=8, height=8, classes=("shelf",), targets=targets)
    return Radar(config, 1.0)


def _target(radar_at: Array, rng: KeyedRandom) -> tuple[RadarTarget, Array]:
    """A target, with its range, speed, azimuth and elevation."""
    a, b, c, d = rng.uniform(4)
    distance, speed = 2.0 + 8.0 * a, 2.5 * (2.0 * b - 1.0)
    azimuth, elevation = np.radians(5.0) * (2.0 * np.array([c, d]) - 1.0)
    flat = np.cos(elevation)
    along = np.array([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)])
    position, velocity = radar_at + distance * along, speed * along
    target = RadarTarget(position=tuple(position.tolist()), velocity=tuple(velocity.tolist()))
    return target, np.array([distance, speed, azimuth, elevation])
