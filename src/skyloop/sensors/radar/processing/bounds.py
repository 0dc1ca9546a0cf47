"""The Cramér-Rao bound of one point target in white noise: the best accuracy any unbiased estimator can reach."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skyloop.core.radar_waveform import LIGHT_SPEED, Waveform
from skyloop.sensors.radar.processing.angles import Antennas
from skyloop_client.messages import Array


def cramer_rao(waveform: Waveform, antennas: Antennas, snr_db: ArrayLike) -> Array:
    """(..., 4) least standard deviations at boresight: range (m) and speed (m/s) at mid burst, y and z of direction.

    `snr_db` is that of one sample: A² / (2 σ²) for real samples, A² / σ² for complex ones, with σ² in both parts
    together. With g the derivatives of the phase 2π u (2R + 2 v T - y y_k - z z_k) / c by (R, v, y, z) and an unknown
    phase, the Fisher matrix is SNR (real) or 2 SNR (complex) times Σ g gᵀ over antennas and samples. The bound is the
    diagonal of its inverse. For range alone it is sd = d_res / π · sqrt(3 / (η SNR n)), with η = 1 or 2 and n samples
    in all. Components that the array cannot measure are NaN.
    """
    u = np.broadcast_to(waveform.frequencies(), (waveform.n_chirps, waveform.n_samples)) * (2.0 * np.pi / LIGHT_SPEED)
    motion = 2.0 * u * waveform.times()
    rows = np.concatenate(
        [np.stack([2.0 * u, motion, -u * y, -u * z], axis=-1).reshape(-1, 4) for _, y, z in antennas.rx]
    )
    rows -= rows.mean(axis=0)
    scale = np.sqrt(np.mean(rows**2, axis=0))
    # Receivers at one height still measure a trace of z, because u varies. Below this limit it does not count.
    seen = scale > 1e-3 * np.array([0.0, 0.0, 1.0, 1.0])
    seen[2:] &= np.ptp(antennas.rx[:, 1:], axis=0) > 1e-6
    fisher = (rows[:, seen] / scale[seen]).T @ (rows[:, seen] / scale[seen])
    unit = np.full(4, np.nan)
    unit[seen] = np.sqrt(np.diag(np.linalg.inv(fisher))) / scale[seen]
    looks = 2.0 if waveform.iq else 1.0
    snr = looks * 10.0 ** (np.asarray(snr_db, np.float64) / 10.0)
    return np.asarray(unit / np.sqrt(snr)[..., None])
