"""Eq. (4) of "airloop" summed term by term in float64, as facts L reads it; and the BGT60TR13C of its Table 2."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skyloop.core.radar_waveform import LIGHT_SPEED, Waveform
from skyloop_client.messages import Array

TABLE_2 = Waveform(60.8e9, 0.4e9, 390.975e-6, 390.975e-6, 64, 64)
TX = np.array([0.0, 0.005, 0.0])
RX = np.array([[0.0, -0.0025, 0.0], [0.0, 0.0, 0.0025], [0.0, 0.0, 0.0]])
DETAILS = {**TABLE_2.details(), "tx_position": TX.tolist(), "rx_positions": RX.tolist()}


def reference_volts(
    waveform: Waveform,
    tx: ArrayLike,
    rx: ArrayLike,
    positions: ArrayLike,
    velocities: ArrayLike,
    amplitudes: ArrayLike,
    phases: ArrayLike = 0.0,
) -> np.ndarray:
    """(n_rx, n_chirps, n_samples) V of points in sensor axes: where they are at mid burst and how they move.

    Each path has its exact length and its exact rate of change at mid burst; amplitudes are (n,) or (n, n_rx).
    """
    tx, rx = np.asarray(tx, float), np.atleast_2d(np.asarray(rx, float))
    positions, velocities = np.atleast_2d(np.asarray(positions, float)), np.atleast_2d(np.asarray(velocities, float))
    count = len(positions)
    amplitudes = np.asarray(amplitudes, float)
    strength = np.broadcast_to(amplitudes if amplitudes.ndim == 2 else amplitudes[..., None], (count, len(rx)))
    turned = np.broadcast_to(np.asarray(phases, float), (count,))
    u, times = waveform.frequencies(), waveform.times()
    volts = np.zeros((len(rx), *times.shape), complex if waveform.iq else float)
    for p, v, strengths, phase in zip(positions, velocities, strength, turned, strict=True):
        out = p - tx
        for k, antenna in enumerate(rx):
            back = p - antenna
            length = np.linalg.norm(out) + np.linalg.norm(back)
            rate = out @ v / np.linalg.norm(out) + back @ v / np.linalg.norm(back)
            tau = (length + rate * times) / LIGHT_SPEED
            angle = 2.0 * np.pi * u * tau - np.pi * waveform.slope * (length / LIGHT_SPEED) ** 2 + phase
            volts[k] += strengths[k] * (np.exp(1j * angle) if waveform.iq else np.cos(angle))
    return volts


def place(distance: float, azimuth: float, elevation: float) -> Array:
    """(3,) m in sensor axes; azimuth positive to the left, elevation upwards."""
    flat = np.cos(elevation)
    return distance * np.array([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)])
