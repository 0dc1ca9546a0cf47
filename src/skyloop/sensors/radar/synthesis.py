"""The IF signal of many echoes: a fast sum of eq. (4) of "airloop".

With u_n the frequency sent at sample n and T_mn its time from the middle of the burst, the phase of an echo is

    4π/c · u_n · (R + v·T_mn) − 4π·S·R²/c²

with R half the path from transmitter to receiver and v its rate. It is linear in (R, v), so a sum over echoes is a
Fourier transform from scattered points, done in three steps. Each echo is spread with a Kaiser-Bessel window onto a
small grid of R and v. The u_n are evenly spaced, so an FFT turns R into n (R is periodic in N·c/2B, so far echoes fold
by themselves). T_mn·u_n is not evenly spaced, so one matrix for each n turns v into m. A division by the window's
transform undoes the spreading. Range migration and range-Doppler coupling are exact; the error is 1e-4, see the tests.

The spreading works on several numbers at once. Where echoes are is found in loops over many of them, which LLVM
turns into vector instructions by itself. It does not see that the grid and what is added to it are apart, so that sum
is written in LLVM's own vectors. No number is rounded otherwise than by the plain sum, echo after echo.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import complex64, float32, float64, int64, types, void
from numba.extending import intrinsic
from numpy.typing import NDArray

from skyloop.core.jit import inlined, kernel, readonly, record_type
from skyloop.core.radar_waveform import LIGHT_SPEED, Waveform
from skyloop_client.messages import Array

WIDTH = 5
"""Grid cells an echo is spread over, in R and in v."""
OVERSAMPLING = 2
"""Grid points per half wave of the highest frequency."""
CENTRE = WIDTH // 2 - 0.5
"""Cells from the echo to the first row it is spread to, plus the half cell by which the window's table is shifted."""
STEPS = 256
"""Entries of the window's table per cell, interpolated linearly."""
LANES = 8
"""Numbers of the grid that one instruction adds: real and imaginary parts of four rates."""
BLOCK = 64
"""Echoes that are prepared before they are added, few enough to stay in the fastest cache."""
# the best shape for this width and oversampling (Beatty, Nishimura and Pauly 2005)
SHAPE = math.pi * math.sqrt((WIDTH / OVERSAMPLING * (OVERSAMPLING - 0.5)) ** 2 - 0.8)


def _window_table() -> NDArray[np.float32]:
    """(entries, WIDTH): row k holds the window's values at the cells around an echo at k/STEPS in its cell."""
    at = np.arange(STEPS + 2) / STEPS
    # an echo at 0 lies on cell WIDTH // 2
    away = (np.arange(WIDTH) - WIDTH // 2 - (at[:, None] - 0.5)) * 2.0 / WIDTH
    return np.i0(SHAPE * np.sqrt(np.maximum(1.0 - away**2, 0.0))).astype(np.float32)


def _lanes_table() -> NDArray[np.float32]:
    """For each entry but the last, LANES values and LANES slopes to the next entry, both filled with zeros."""
    table = _window_table()
    both = np.stack([table[:-1], np.diff(table, axis=0)], 1)
    return np.pad(both, ((0, 0), (0, 0), (0, LANES - WIDTH))).ravel()


TABLE = _lanes_table()
_INT = ir.IntType(32)


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


def _lanes(context, builder, array, kind, at):
    """The address of LANES numbers of an array as one vector."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), ir.VectorType(ir.FloatType(), LANES).as_pointer())


def _in_every_lane(builder, number):
    nothing = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
    one = builder.insert_element(nothing, number, ir.Constant(_INT, 0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(_INT, LANES), [0] * LANES))


@intrinsic
def _add(typing_context, out, at, factor, values, start):
    """out[at : at + LANES] += factor * values[start : start + LANES]."""

    def generate(context, builder, signature, arguments):
        out, at, factor, values, start = arguments
        to = _lanes(context, builder, out, signature.args[0], at)
        of = _lanes(context, builder, values, signature.args[3], start)
        product = builder.fmul(_in_every_lane(builder, factor), builder.load(of, align=4))
        builder.store(builder.fadd(builder.load(to, align=4), product), to, align=4)
        return context.get_dummy_value()

    return void(out, int64, float32, values, int64), generate


@intrinsic
def _write_window(typing_context, out, at, table, start, rest, factors):
    """Writes the window, `rest` of the way to the next entry, to 2 · LANES numbers, times both factors by turns."""

    def generate(context, builder, signature, arguments):
        out, at, table, start, rest, factors = arguments
        start_of_slopes = builder.add(start, ir.Constant(start.type, LANES))
        low, slope = (
            builder.load(_lanes(context, builder, table, signature.args[2], place), align=4)
            for place in (start, start_of_slopes)
        )
        value = builder.fadd(low, builder.fmul(_in_every_lane(builder, rest), slope))
        both = [builder.fmul(_in_every_lane(builder, builder.extract_value(factors, k)), value) for k in (0, 1)]
        for half in (0, LANES // 2):
            order = [lane + part for lane in range(half, half + LANES // 2) for part in (0, LANES)]
            mixed = builder.shuffle_vector(*both, ir.Constant(ir.VectorType(_INT, LANES), order))
            to = _lanes(context, builder, out, signature.args[0], builder.add(at, ir.Constant(at.type, 2 * half)))
            builder.store(mixed, to, align=4)
        return context.get_dummy_value()

    return void(out, int64, table, int64, float32, types.UniTuple(float32, 2)), generate


_A2, _C1 = readonly(float64, 2), readonly(complex64, 1)


class EchoGrid(NamedTuple):
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


_CELLS = record_type(
    EchoGrid, turns_per_m=float64, bend=float64, range_cell=float64, rate_cell=float64, first_rate=int64
)


@inlined
def _places(half_paths, rates, cells, period, out):
    """Where echoes are on the grid, the position of each in its cell, and its turn of the phase.

    Loops without branches over many echoes, which the compiler turns into vector instructions.
    """
    turns_per_m, bend, range_cell, rate_cell, first_rate = cells
    per_range, per_rate, per_period = 1.0 / range_cell, 1.0 / rate_cell, 1.0 / period
    rows, columns, along, across, cosines, sines = out
    for q in range(half_paths.shape[0]):
        path = half_paths[q]
        cell, rate = np.floor(path * per_range), np.floor(rates[q] * per_rate)
        rows[q] = int64(cell - period * np.floor(cell * per_period))
        columns[q] = 2 * (int64(rate) - first_rate - WIDTH // 2)
        along[q], across[q] = (path * per_range - cell) * STEPS, (rates[q] * per_rate - rate) * STEPS
    for q in range(half_paths.shape[0]):
        path = half_paths[q]
        cosines[q], sines[q] = cos_sin(turns_per_m * path - bend * path * path)


@inlined
def _windows(places, strengths, n_rx, factors, values):
    """Writes for each echo the factors of the grid's rows, every second of 2 · LANES numbers, and what they multiply:
    the first 2 · LANES of 3 · LANES numbers, shifted to where the grid's lanes begin, with zeros around."""
    _, columns, along, across, cosines, sines = places
    unturned = (float32(1.0), float32(0.0))
    for s in range(strengths.shape[0]):
        strength = strengths[s]
        for q in range(s * n_rx, (s + 1) * n_rx):
            re = strength.real * cosines[q] - strength.imag * sines[q]
            im = strength.real * sines[q] + strength.imag * cosines[q]
            k = np.uint32(along[q])
            _write_window(factors, 2 * LANES * q, TABLE, 2 * LANES * int64(k), float32(along[q] - k), unturned)
            k = np.uint32(across[q])
            first = 3 * LANES * q
            for j in range(LANES):
                values[first + j] = 0.0
            first += columns[q] & (LANES - 1)
            _write_window(values, first, TABLE, 2 * LANES * int64(k), float32(across[q] - k), (re, im))


@kernel(void(types.Tuple((_A2, _A2, _C1)), _CELLS, float32[:, :, ::1]))
def spread(echoes, cells, grid):
    """Spreads echoes onto `grid` (n_rx, range cells + WIDTH, 2 · rate cells), real and imaginary parts interleaved.

    echoes: half paths, rates and strengths. Rows beyond the period must be added to the first ones. The last axis of
    the grid is a multiple of LANES long: an echo is added to whole lanes, with zeros around it, because a processor
    waits if it reads what it has just written with other bounds. The zeros change nothing, as no sum is ever -0.
    """
    half_paths, rates, strengths = echoes[0].reshape(echoes[0].size), echoes[1].reshape(echoes[1].size), echoes[2]
    n_rx, n_rows, n_columns = grid.shape
    flat, block = grid.reshape(grid.size), BLOCK * n_rx
    rows, columns, along, across = (
        np.empty(block, np.int64),
        np.empty(block, np.int64),
        np.empty(block),
        np.empty(block),
    )
    places = (rows, columns, along, across, np.empty(block, np.float32), np.empty(block, np.float32))
    factors, values = np.empty(2 * LANES * block, np.float32), np.empty(3 * LANES * block, np.float32)
    for begin in range(0, strengths.shape[0], BLOCK):
        end = min(begin + BLOCK, strengths.shape[0])
        these = slice(begin * n_rx, end * n_rx)
        _places(half_paths[these], rates[these], cells, n_rows - WIDTH, places)
        _windows(places, strengths[begin:end], n_rx, factors, values)
        for q in range((end - begin) * n_rx):
            at, of = (q % n_rx * n_rows + rows[q]) * n_columns + (columns[q] & -LANES), 3 * LANES * q
            for i in range(WIDTH):
                factor = factors[2 * LANES * q + 2 * i]
                _add(flat, at, factor, values, of)
                _add(flat, at + LANES, factor, values, of + LANES)
                at += n_columns


def window_transform(cycles_per_cell: Array) -> Array:
    """The transform of the Kaiser-Bessel window."""
    z = np.sqrt(SHAPE**2 - (math.pi * WIDTH * cycles_per_cell) ** 2 + 0j)
    return np.real(WIDTH * np.sinh(z) / z)


class CpuSum:
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
        cells = EchoGrid(self._turns_per_m, self._bend, self._range_cell, self._rate_cell, first)
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
