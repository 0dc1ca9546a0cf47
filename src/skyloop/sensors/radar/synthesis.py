"""The IF signal of many echoes: a fast sum of eq. (4) of "airloop".

With u_n the frequency sent at sample n and T_mn its time from the middle of the burst, the phase of an echo is

    4π/c · u_n · (R + v·T_mn) − 4π·S·R²/c²

with R half the path from transmitter to receiver and v its rate. It is linear in (R, v), so a sum over echoes is a
Fourier transform from scattered points, done in three steps. Each echo is spread with a Kaiser-Bessel window onto a
small grid of R and v. The u_n are evenly spaced, so an FFT turns R into n (R is periodic in N·c/2B, so far echoes fold
by themselves). T_mn·u_n is not evenly spaced, so one matrix for each n turns v into m. A division by the window's
transform undoes the spreading. Range migration and range-Doppler coupling are exact; the error is 1e-4, see the tests.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import complex64, float32, float64, int64, types, void
from numpy.typing import NDArray

from skyloop.core.fmcw import LIGHT_SPEED, Waveform
from skyloop.core.jit import inlined, kernel, record_type
from skyloop_client.messages import Array

WIDTH = 5
"""Grid cells an echo is spread over, in R and in v."""
OVERSAMPLING = 2
"""Grid points per half wave of the highest frequency."""
CENTRE = WIDTH // 2 - 0.5
"""Cells from the echo to the first row it is spread to, plus the half cell by which the window's table is shifted."""
STEPS = 256
"""Entries of the window's table per cell, interpolated linearly."""
# the best shape for this width and oversampling (Beatty, Nishimura and Pauly 2005)
SHAPE = math.pi * math.sqrt((WIDTH / OVERSAMPLING * (OVERSAMPLING - 0.5)) ** 2 - 0.8)


def _window_table() -> NDArray[np.float32]:
    """(entries, WIDTH): row k holds the window's values at the cells around an echo at k/STEPS in its cell."""
    at = np.arange(STEPS + 2) / STEPS
    # an echo at 0 lies on cell WIDTH // 2
    away = (np.arange(WIDTH) - WIDTH // 2 - (at[:, None] - 0.5)) * 2.0 / WIDTH
    return np.i0(SHAPE * np.sqrt(np.maximum(1.0 - away**2, 0.0))).astype(np.float32)


TABLE = _window_table()


def window_transform(cycles_per_cell: Array) -> Array:
    """The transform of the Kaiser-Bessel window."""
    z = np.sqrt(SHAPE**2 - (math.pi * WIDTH * cycles_per_cell) ** 2 + 0j)
    return np.real(WIDTH * np.sinh(z) / z)


@inlined
def cos_sin(turns):
    """Cosine and sine of an angle in turns: the nearest quarter by swaps, the rest by Taylor, exact to 1e-6."""
    quarter = np.floor(4.0 * turns + 0.5)
    x = float32(2.0 * np.pi * (turns - 0.25 * quarter))
    y = x * x
    c = float32(1.0) - y * (float32(1 / 2) - y * (float32(1 / 24) - y * (float32(1 / 720) - y * float32(1 / 40320))))
    s = x * (float32(1.0) - y * (float32(1 / 6) - y * (float32(1 / 120) - y * float32(1 / 5040))))
    which = int64(quarter) & 3
    # a quarter turns (c, s) into (-s, c); without branches, which are slow here
    odd, sign = float32(which & 1), float32(1 - (which & 2))
    return sign * (c - odd * (c + s)), sign * (s + odd * (c - s))


@inlined
def _window(x, cell, out):
    """Values at the cells around `x`, both in cells."""
    at = (x - cell) * STEPS
    k = np.uint32(at)
    rest = float32(at - k)
    for i in range(WIDTH):
        out[i] = TABLE[k, np.uint32(i)] + rest * (TABLE[k + np.uint32(1), np.uint32(i)] - TABLE[k, np.uint32(i)])


_A2, _C1 = types.Array(float64, 2, "C", readonly=True), types.Array(complex64, 1, "C", readonly=True)


class Cells(NamedTuple):
    """The grid that echoes are spread on, and the phase of an echo there."""

    turns_per_m: float
    """Per m of half path, at the middle of the band."""
    bend: float
    """turns/m² of the −π·S·τ² term."""
    range_cell: float
    """m."""
    rate_cell: float
    """m/s."""
    first_rate: int
    """The index of the first column, in cells."""


_CELLS = record_type(Cells, turns_per_m=float64, bend=float64, range_cell=float64, rate_cell=float64, first_rate=int64)


@kernel(void(types.Tuple((_A2, _A2, _C1)), _CELLS, float32[:, :, ::1]))
def spread(echoes, cells, grid):
    """Spreads echoes onto `grid` (n_rx, range cells + WIDTH, 2 · rate cells), real and imaginary parts interleaved.

    echoes: half paths, rates and strengths. Rows beyond the period must be added to the first ones.
    """
    half_paths, rates, strengths = echoes
    turns_per_m, bend, range_cell, rate_cell, first_rate = cells
    period, n_columns = grid.shape[1] - WIDTH, np.uint64(grid.shape[2])
    flat = grid.reshape(grid.size)
    along, across = np.empty(WIDTH, np.float32), np.empty(WIDTH, np.float32)
    values = np.empty(2 * WIDTH, np.float32)
    per_range, per_rate, per_period = 1.0 / range_cell, 1.0 / rate_cell, 1.0 / period
    for s in range(half_paths.shape[0]):
        for k in range(half_paths.shape[1]):
            path = half_paths[s, k]
            cell, rate = np.floor(path * per_range), np.floor(rates[s, k] * per_rate)
            row = int64(cell - period * np.floor(cell * per_period)) + k * grid.shape[1]
            at = np.uint64(row * grid.shape[2] + 2 * (int64(rate) - first_rate - WIDTH // 2))
            c, d = cos_sin(turns_per_m * path - bend * path * path)
            re = strengths[s].real * c - strengths[s].imag * d
            im = strengths[s].real * d + strengths[s].imag * c
            _window(path * per_range, cell, along)
            _window(rates[s, k] * per_rate, rate, across)
            for j in range(WIDTH):
                values[2 * j] = re * across[j]
                values[2 * j + 1] = im * across[j]
            for i in range(WIDTH):
                for j in range(2 * WIDTH):
                    flat[at + np.uint64(j)] += along[i] * values[j]
                at += n_columns


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
        first, last = (math.floor(float(end) / self._rate_cell) for end in (rates.min(), rates.max()))
        first, last = first - WIDTH // 2, last + WIDTH // 2 + 1
        self._reach(first, last)
        grid = np.zeros((n_rx, self._n_ranges + WIDTH, 2 * (last - first)), np.float32)
        cells = Cells(self._turns_per_m, self._bend, self._range_cell, self._rate_cell, first)
        spread((half_paths, rates, strengths), tuple(cells), grid)
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
