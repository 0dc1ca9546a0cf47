"""Refines a peak between the cells: the maximum of the windowed periodogram, by Newton's method on its logarithm.

Range migration and the chirp's curvature in slow time are even about the middle of the burst, and the windows are
symmetric. So neither moves a peak, and the two frequencies can be treated apart: each step costs two small products.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from skyloop.core.radar_waveform import Waveform
from skyloop.sensors.radar.processing.spectra import Complex, Volts
from skyloop.sensors.radar.processing.windows import WindowName, window
from skyloop_client.messages import Array

MOST_STEPS = 8
SMALLEST_STEP = 1e-4
"""Cells. The remaining error is the square of this."""
FARTHEST = 1.0
"""Cells by which a peak may move from its start."""


@dataclass(frozen=True, slots=True, eq=False)
class Tones:
    """Peaks of a burst, in unpadded cells."""

    range_cells: Array
    """(n,) cycles of the beat in one chirp."""
    speed_cells: Array
    """(n,) cycles of the Doppler shift in one burst."""
    amplitudes: Complex
    """(n, n_rx) V at the middle of the burst; the mirror image of real samples is removed."""


def refined(volts: Volts, waveform: Waveform, name: WindowName, range_cells: Array, speed_cells: Array) -> Tones:
    """Refines the given peaks to the nearest maxima."""
    start = np.column_stack([range_cells, speed_cells])
    tapers = tuple(w / w.sum() for w in (window(name, waveform.n_samples), window(name, waveform.n_chirps)))
    tapered = volts * (tapers[0] * tapers[1][:, None])
    place = start.copy()
    moments = np.zeros((len(start), len(volts), 3, 3), np.complex128)
    for _ in range(MOST_STEPS):
        moments = _moments(tapered, tapers, place, waveform.iq)
        step = _newton_step(moments)
        place = np.clip(place + step, start - FARTHEST, start + FARTHEST)
        if not np.any(np.abs(step) > SMALLEST_STEP):
            break
    # Computed before the last step, which is too small to matter.
    peak = moments[:, :, 0, 0]
    return Tones(place[:, 0], place[:, 1], peak if waveform.iq else 2.0 * peak)


@lru_cache(maxsize=16)
def _places(n: int) -> Array:
    return np.asarray(2.0 * np.pi * (np.arange(n) - 0.5 * (n - 1)) / n)


def _powers(n: int, cells: Array) -> Complex:
    """(len(cells), n, 3) x^p e^{-j x cell}, x = 2π (sample - middle) / n."""
    x = _places(n)
    wave = np.exp(-1j * cells[:, None] * x)
    return np.stack([wave, x * wave, x * x * wave], axis=2)


def _moments(tapered: Array | Complex, tapers: tuple[Array, ...], place: Array, iq: bool) -> Complex:
    """(n, n_rx, 3, 3) sums of volts x^p y^q e^{-j(...)}, p along samples, q along chirps, without the mirror image.

    It takes one product per target and antenna, which is so small that BLAS starts no threads for it.
    """
    fast, slow = _powers(len(tapers[0]), place[:, 0]), _powers(len(tapers[1]), place[:, 1])
    if iq:
        return np.asarray((tapered @ fast[:, None]).transpose(0, 1, 3, 2) @ slow[:, None])
    along = (tapered @ fast.view(np.float64)[:, None]).view(np.complex128)
    moments = along.transpose(0, 1, 3, 2) @ slow[:, None]
    twice = tapers[0] @ (fast * fast[:, :, :1]), tapers[1] @ (slow * slow[:, :, :1])
    image = twice[0][:, None, :, None] * twice[1][:, None, None, :]
    # seen = h + conj(h) leak. Where tone and image nearly coincide (zero range or Nyquist) they cannot be separated.
    seen, leak = moments[:, :, 0, 0], image[:, :, 0, 0]
    apart = np.abs(leak) < 0.7
    half = (seen - np.conj(seen) * leak) / np.where(apart, 1.0 - np.abs(leak) ** 2, 1.0)
    share = np.where(apart, np.conj(half), 0.0)
    return np.asarray(moments - share[:, :, None, None] * image)


def _newton_step(moments: Complex) -> Array:
    """(n, 2) cells towards the maximum of log Σ|Z|² over the antennas; zero where the function is not concave."""
    flat = moments.reshape(*moments.shape[:2], 9)
    products = np.conj(flat.transpose(0, 2, 1)) @ flat
    z, y, yy, x, xy, xx = 0, 1, 2, 3, 4, 6
    power = np.maximum(products[:, z, z].real, np.finfo(np.float64).tiny)
    gx, gy = 2.0 * products[:, z, x].imag / power, 2.0 * products[:, z, y].imag / power
    hxx = 2.0 * (products[:, x, x] - products[:, z, xx]).real / power - gx * gx
    hyy = 2.0 * (products[:, y, y] - products[:, z, yy]).real / power - gy * gy
    hxy = 2.0 * (products[:, x, y] - products[:, z, xy]).real / power - gx * gy
    # A burst of one chirp has no slope in speed; this keeps the step in range.
    hyy = hyy - 1e-9
    determinant = hxx * hyy - hxy * hxy
    hill = (hxx < 0.0) & (determinant > 0.0)
    safe = np.where(hill, determinant, 1.0)
    step = np.column_stack([hxy * gy - hyy * gx, hxy * gx - hxx * gy]) / safe[:, None]
    return np.where(hill[:, None], np.clip(step, -0.5, 0.5), 0.0)
