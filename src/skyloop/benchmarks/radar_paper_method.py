"""The burst sum of "airloop": every echo's term of eq. (4), for every antenna, chirp and sample, on all cores.

It uses float64, because a phase of 10⁵ rad has hardly a digit left in float32. So it also measures the error of the
fast sum."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math
import time
from typing import Any

import numba
import numpy as np

from skyloop.core.fmcw import LIGHT_SPEED, Waveform
from skyloop.sensors.radar.echoes import Echoes
from skyloop_client.messages import Array


def _sum(echoes, wavenumbers, times, bend, out):
    half_paths, rates, amplitudes, phases = echoes
    n_chirps, n_samples = times.shape
    for place in numba.prange(out.size):
        rx, m, n = place // (n_chirps * n_samples), place // n_samples % n_chirps, place % n_samples
        total = 0.0
        for s in range(half_paths.shape[0]):
            path = half_paths[s, rx]
            phase = wavenumbers[n] * (path + rates[s, rx] * times[m, n]) - bend * path * path
            total += amplitudes[s] * math.cos(phase + phases[s])
        out[rx, m, n] = total


# not a kernel of `core.jit`: those use one core and are compiled for every user
_compiled: Any = numba.njit(parallel=True, error_model="numpy")(_sum)


def paper_burst(waveform: Waveform, echoes: Echoes) -> Array:
    """(n_rx, n_chirps, n_samples) V, the real part of the result of `Synthesis.burst`."""
    out = np.empty((echoes.half_paths.shape[1], waveform.n_chirps, waveform.n_samples))
    strengths = echoes.strengths.astype(np.complex128)
    wavenumbers = 4.0 * np.pi / LIGHT_SPEED * waveform.frequencies()
    bend = 4.0 * np.pi * waveform.slope / LIGHT_SPEED**2
    arrays = (echoes.half_paths, echoes.rates, np.abs(strengths), np.angle(strengths))
    _compiled(arrays, wavenumbers, waveform.times(), bend, out)
    return out


def threads() -> int:
    """Number of threads that share the outputs."""
    return int(numba.get_num_threads())


def shared_clock() -> float:
    """Seconds of processor time divided by the number of threads.

    On an idle machine this equals wall time. On a busy one all threads wait for the slowest, and wall time would make
    the paper's method look slower than it is."""
    return time.process_time() / threads()
