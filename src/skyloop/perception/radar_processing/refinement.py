"""Where between the cells a peak is: the maximum of the windowed periodogram, by Newton's method on its logarithm.

Range migration and the chirp's curvature in slow time are even about the middle of the burst and the windows are
symmetric, so they move no peak and the two frequencies can be taken apart: each step costs two small products.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skyloop.messages import Array
from skyloop.perception.radar_processing.spectra import Complex, Volts
from skyloop.perception.radar_processing.windows import WindowName, window
from skyloop.waveform import Waveform

STEPS = 6
FARTHEST = 1.0
"""Cells a peak may move from its start."""


@dataclass(frozen=True, slots=True, eq=False)
class Tones:
    """Peaks of a burst in unpadded cells."""

    range_cells: Array
    """(n,) cycles of the beat in one chirp."""
    speed_cells: Array
    """(n,) cycles of the Doppler shift in one burst."""
    amplitudes: Complex
    """(n, n_rx) V at the middle of the burst; the mirror image of real samples is removed."""


def refined(volts: Volts, waveform: Waveform, name: WindowName, range_cells: Array, speed_cells: Array) -> Tones:
    """The peaks nearest to those given."""
    start = np.column_stack([range_cells, speed_cells])
    tapers = (window(name, waveform.n_samples), window(name, waveform.n_chirps))
    tapered = (volts * tapers[0] * tapers[1][:, None] / (tapers[0].sum() * tapers[1].sum())).astype(np.complex128)
    place = start.copy()
    for _ in range(STEPS):
        moments = _moments(tapered, place)
        if not waveform.iq:
            moments, _ = _without_image(moments, tapers, place)
        place += _newton_step(moments)
        place = np.clip(place, start - FARTHEST, start + FARTHEST)
    moments = _moments(tapered, place)
    if waveform.iq:
        return Tones(place[:, 0], place[:, 1], moments[:, :, 0, 0])
    return Tones(place[:, 0], place[:, 1], 2.0 * _without_image(moments, tapers, place)[1])


def _powers(n: int, cells: Array) -> Complex:
    """(len(cells), n, 3) x^p e^{-j x cell}, x = 2π (sample - middle) / n."""
    x = 2.0 * np.pi * (np.arange(n) - 0.5 * (n - 1)) / n
    return np.asarray(np.exp(-1j * cells[:, None] * x)[:, :, None] * x[:, None] ** np.arange(3))


def _moments(tapered: Complex, place: Array) -> Complex:
    """(n, n_rx, 3, 3) sums of volts x^p y^q e^{-j(...)}, p along samples, q along chirps."""
    n_rx, n_chirps, n_samples = tapered.shape
    count = len(place)
    fast = _powers(n_samples, place[:, 0]).transpose(1, 0, 2).reshape(n_samples, count * 3)
    slow = _powers(n_chirps, place[:, 1])
    along = (tapered.reshape(-1, n_samples) @ fast).reshape(n_rx, n_chirps, count, 3)
    stacked = along.transpose(2, 0, 3, 1).reshape(count, n_rx * 3, n_chirps)
    return np.asarray(stacked @ slow).reshape(count, n_rx, 3, 3)


def _without_image(moments: Complex, tapers: tuple[Array, Array], place: Array) -> tuple[Complex, Complex]:
    """Moments with the conjugate tone's share removed, and (n, n_rx) the tone's complex half-amplitude."""
    fast = np.einsum("m,nmp->np", tapers[0] / tapers[0].sum(), _powers(len(tapers[0]), 2.0 * place[:, 0]))
    slow = np.einsum("m,nmp->np", tapers[1] / tapers[1].sum(), _powers(len(tapers[1]), 2.0 * place[:, 1]))
    image = fast[:, :, None] * slow[:, None, :]
    leak = image[:, None, 0, 0]
    seen = moments[:, :, 0, 0]
    # seen = h + conj(h) leak; where tone and image are nearly one (zero range or Nyquist) they cannot be told apart.
    apart = np.abs(leak) < 0.7
    half = np.where(apart, (seen - np.conj(seen) * leak) / np.where(apart, 1.0 - np.abs(leak) ** 2, 1.0), seen)
    share = np.where(apart, np.conj(half), 0.0)
    return moments - share[:, :, None, None] * image[:, None], half


def _newton_step(moments: Complex) -> Array:
    """(n, 2) cells towards the maximum of log Σ|Z|² over the antennas; none where it is not a hill."""
    z, zx, zy = moments[:, :, 0, 0], moments[:, :, 1, 0], moments[:, :, 0, 1]
    zxx, zxy, zyy = moments[:, :, 2, 0], moments[:, :, 1, 1], moments[:, :, 0, 2]

    def total(a: Complex, b: Complex) -> Complex:
        return np.asarray(np.sum(np.conj(a) * b, axis=1))

    power = np.maximum(total(z, z).real, np.finfo(np.float64).tiny)
    gx, gy = 2.0 * total(z, zx).imag / power, 2.0 * total(z, zy).imag / power
    hxx = 2.0 * (total(zx, zx) - total(z, zxx)).real / power - gx * gx
    hyy = 2.0 * (total(zy, zy) - total(z, zyy)).real / power - gy * gy
    hxy = 2.0 * (total(zx, zy) - total(z, zxy)).real / power - gx * gy
    determinant = hxx * hyy - hxy * hxy
    hill = (hxx < 0.0) & (determinant > 0.0)
    safe = np.where(hill, determinant, 1.0)
    step = np.column_stack([hxy * gy - hyy * gx, hxy * gx - hxx * gy]) / safe[:, None]
    return np.where(hill[:, None], np.clip(step, -0.5, 0.5), 0.0)
