"""The IF signal of many echoes: a fast sum of eq. (4) of "airloop".

With u_n the frequency sent at sample n and T_mn its time from the middle of the burst, the phase of an echo is

    4π/c · u_n · (R + v·T_mn) − 4π·S·R²/c²

with R half the path from transmitter to receiver and v its rate. It is linear in (R, v), so a sum over echoes is a
Fourier transform from scattered points, done in three steps. Each echo is spread with a Kaiser-Bessel window onto a
small grid of R and v. The u_n are evenly spaced, so an FFT turns R into n (R is periodic in N·c/2B, so far echoes fold
by themselves). T_mn·u_n is not evenly spaced, so one matrix for each n turns v into m. A division by the window's
transform undoes the spreading. Range migration and range-Doppler coupling are exact; the error is 1e-4, see the tests.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from skyloop.core.fmcw import LIGHT_SPEED, Waveform
from skyloop.sensors.radar.spreading import CENTRE, LANES, OVERSAMPLING, SHAPE, WIDTH, Cells, spread
from skyloop_client.messages import Array


def window_transform(cycles_per_cell: Array) -> Array:
    """The transform of the Kaiser-Bessel window."""
    z = np.sqrt(SHAPE**2 - (math.pi * WIDTH * cycles_per_cell) ** 2 + 0j)
    return np.real(WIDTH * np.sinh(z) / z)


class Synthesis:
    """Turns echoes into a burst; holds the matrices of one waveform."""

    def __init__(self, waveform: Waveform) -> None:
        self._waveform = w = waveform
        self._middle = w.n_samples // 2
        frequencies, times = w.frequencies(), w.times()
        self._n_ranges = OVERSAMPLING * w.n_samples
        self._range_cell = w.range_resolution * w.n_samples / self._n_ranges
        self._turns_per_m = 2.0 / LIGHT_SPEED * float(frequencies[self._middle])
        self._bend = 2.0 * w.slope / LIGHT_SPEED**2
        # (n_samples, n_chirps) rad per m/s
        self._turning = np.ascontiguousarray((4.0 * math.pi / LIGHT_SPEED * frequencies * times).T)
        fastest = max(float(np.abs(self._turning).max()), 1e-9)
        self._rate_cell = math.pi / (OVERSAMPLING * fastest)
        # the window's transforms in both directions; cell c of the window stands for the echo at c + 1/2
        n = np.arange(w.n_samples) - self._middle
        cycles = n / self._n_ranges
        by_range = window_transform(cycles) * np.exp(2j * math.pi * cycles * CENTRE)
        slope = (window_transform(cycles + 1e-5) - window_transform(cycles - 1e-5)) / 2e-5
        # m: the window's first moment over its transform
        self._moment = (self._range_cell * slope / (2j * math.pi * window_transform(cycles))).astype(np.complex64)
        by_rate = window_transform(self._turning * self._rate_cell / (2.0 * math.pi)) * np.exp(
            -0.5j * self._turning * self._rate_cell
        )
        self._undo = 1.0 / (by_range[:, None] * by_rate)
        self._matrix = np.empty((w.n_samples, w.n_chirps, 0), np.complex64)
        self._first_rate = 0

    def burst(self, half_paths: Array, rates: Array, strengths: NDArray[np.complex64]) -> NDArray[np.complex64]:
        """(n_rx, n_chirps, n_samples) of echoes with (n, n_rx) half paths, m, their rates, m/s, and (n,) strengths."""
        return self._sums(half_paths, rates, strengths, weighted=False)[0]

    def burst_and_weighted(
        self, half_paths: Array, rates: Array, strengths: NDArray[np.complex64]
    ) -> tuple[NDArray[np.complex64], NDArray[np.complex64]]:
        """As `burst`, and a second sum with each echo multiplied by its half path, m (less whole periods of far
        echoes).

        On the grid, each cell is multiplied by its R. An echo is spread over several cells; their distances from it add
        the first moment of the window, which is subtracted again.
        """
        first, second = self._sums(half_paths, rates, strengths, weighted=True)
        return first, second

    def _sums(
        self, half_paths: Array, rates: Array, strengths: NDArray[np.complex64], *, weighted: bool
    ) -> list[NDArray[np.complex64]]:
        w, n_rx = self._waveform, half_paths.shape[1]
        if not len(half_paths):
            return [np.zeros((n_rx, w.n_chirps, w.n_samples), np.complex64)] * (2 if weighted else 1)
        # as `spread` finds cells, so that none of them is beyond the grid
        first, last = (math.floor(float(end) * (1.0 / self._rate_cell)) for end in (rates.min(), rates.max()))
        first, last = first - WIDTH // 2, last + WIDTH // 2 + 1
        self._reach(first, last)
        columns = -(-2 * (last - first) // LANES) * LANES
        grid = np.zeros((n_rx, self._n_ranges + WIDTH, columns), np.float32)
        cells = Cells(self._turns_per_m, self._bend, self._range_cell, self._rate_cell, first)
        spread((half_paths, rates, strengths), tuple(cells), grid)
        grid = grid[:, :, : 2 * (last - first)]
        part = slice(first - self._first_rate, last - self._first_rate)
        spectra = [self._spectrum(grid)]
        if weighted:
            places = (np.arange(self._n_ranges + WIDTH) - CENTRE) * self._range_cell
            grid *= places[:, None].astype(np.float32)
            spectra.append(self._spectrum(grid) - self._moment[:, None] * spectra[0])
        # (n_samples, n_chirps, rates) · (n_samples, rates, n_rx)
        out = [self._matrix[:, :, part] @ np.ascontiguousarray(spectrum.transpose(1, 2, 0)) for spectrum in spectra]
        return [np.ascontiguousarray(sums.transpose(2, 1, 0), np.complex64) for sums in out]

    def _spectrum(self, grid: NDArray[np.float32]) -> NDArray[np.complex64]:
        """(n_rx, n_samples, rates): the range cells transformed to samples."""
        folded = np.ascontiguousarray(grid[:, : self._n_ranges])
        folded[:, :WIDTH] += grid[:, self._n_ranges :]
        # e^{+j2πng/G} is the inverse FFT's sign
        spectrum = np.fft.ifft(folded.view(np.complex64), axis=1, norm="forward")
        return np.take(spectrum, np.arange(self._waveform.n_samples) - self._middle, axis=1, mode="wrap")

    def _reach(self, first: int, last: int) -> None:
        """Extends the matrix to these cells of rate."""
        held = self._first_rate + self._matrix.shape[2]
        if self._matrix.shape[2] and first >= self._first_rate and last <= held:
            return
        if self._matrix.shape[2]:
            first, last = min(first, self._first_rate), max(last, held)
        speeds = np.arange(first, last) * self._rate_cell
        self._matrix = (self._undo[:, :, None] * np.exp(1j * self._turning[:, :, None] * speeds)).astype(np.complex64)
        self._first_rate = first
