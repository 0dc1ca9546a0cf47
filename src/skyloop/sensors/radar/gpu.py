"""The sum of `synthesis` on a GPU, without approximation. The phase of an echo advances evenly from chirp to chirp, so
each term needs one sine and cosine per echo, antenna and sample, and one complex product per chirp.

Needs CuPy. Partial sums are added in a fixed order: the same echoes give the same bytes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.fmcw import LIGHT_SPEED, Waveform
from skyloop_client.messages import Array

CHIRPS = 32
"""Chirps that one thread sums, in registers."""
BLOCKS = 512
"""Parts into which the echoes are divided."""

# one block: one part of the echoes, one antenna, one group of chirps; one thread: one sample
SOURCE = r"""
extern "C" __global__ void sum_echoes(
    const double* paths, const double* rates, const float2* strengths, const double* frequencies, const double* starts,
    double turn, double bend, double repetition, int n_echoes, int n_rx, int n_samples, int n_chirps, float2* partial)
{
    const int n = blockIdx.y * blockDim.x + threadIdx.x, rx = blockIdx.z % n_rx, first = blockIdx.z / n_rx * CHIRPS;
    if (n >= n_samples) return;
    float2 sum[CHIRPS];
    for (int m = 0; m < CHIRPS; ++m) sum[m] = make_float2(0.f, 0.f);
    const double u = turn * frequencies[n], t = starts[n] + first * repetition;
    for (int s = blockIdx.x; s < n_echoes; s += gridDim.x) {
        const float2 a = strengths[s];
        // all threads of a block have the same echo, so that those of no strength, such as the sky, cost nothing
        if (a.x == 0.f && a.y == 0.f) continue;
        const double r = paths[s * n_rx + rx], v = rates[s * n_rx + rx];
        double phase = u * (r + v * t) - bend * r * r, step = u * v * repetition;
        float c, d, x, y;
        sincospif((float)(2.0 * (phase - rint(phase))), &d, &c);
        sincospif((float)(2.0 * (step - rint(step))), &y, &x);
        float re = a.x * c - a.y * d, im = a.x * d + a.y * c;
        for (int m = 0; m < CHIRPS; ++m) {
            sum[m].x += re;
            sum[m].y += im;
            const float turned = re * x - im * y;
            im = re * y + im * x;
            re = turned;
        }
    }
    for (int m = 0; m < CHIRPS && first + m < n_chirps; ++m)
        partial[((blockIdx.x * n_rx + rx) * n_chirps + first + m) * n_samples + n] = sum[m];
}
"""


class GpuSum:
    """Turns echoes into a burst; `cupy` is the module CuPy."""

    def __init__(self, waveform: Waveform, cupy: Any) -> None:
        self._waveform, self._cupy = waveform, cupy
        self._kernel = cupy.RawKernel(f"#define CHIRPS {CHIRPS}\n{SOURCE}", "sum_echoes")
        self._frequencies = cupy.asarray(waveform.frequencies())
        self._starts = cupy.asarray(waveform.times()[0])

    def burst(self, half_paths: Array, rates: Array, strengths: NDArray[np.complex64]) -> NDArray[np.complex64]:
        """As `Synthesis.burst`; arrays that are on the GPU already are taken as they are."""
        out = self.on_device(
            *map(self._cupy.ascontiguousarray, map(self._cupy.asarray, (half_paths, rates, strengths)))
        )
        return np.asarray(self._cupy.asnumpy(out))

    def burst_and_weighted(
        self, half_paths: Array, rates: Array, strengths: NDArray[np.complex64]
    ) -> tuple[NDArray[np.complex64], NDArray[np.complex64]]:
        """As `burst`, and a second sum with each echo multiplied by its half path, m."""
        weighted = (strengths * half_paths[:, 0]).astype(np.complex64)
        return self.burst(half_paths, rates, strengths), self.burst(half_paths, rates, weighted)

    def on_device(self, half_paths: Any, rates: Any, strengths: Any) -> Any:
        """As `burst`, with arrays that are on the GPU and stay there."""
        w = self._waveform
        n_echoes, n_rx = half_paths.shape
        partial = self._cupy.empty((BLOCKS, n_rx, w.n_chirps, w.n_samples), self._cupy.complex64)
        threads = min(128, w.n_samples)
        self._kernel(
            (BLOCKS, math.ceil(w.n_samples / threads), n_rx * math.ceil(w.n_chirps / CHIRPS)),
            (threads,),
            (
                half_paths,
                rates,
                strengths,
                self._frequencies,
                self._starts,
                2.0 / LIGHT_SPEED,
                2.0 * w.slope / LIGHT_SPEED**2,
                w.chirp_repetition,
                np.int32(n_echoes),
                np.int32(n_rx),
                np.int32(w.n_samples),
                np.int32(w.n_chirps),
                partial,
            ),
        )
        return partial.sum(axis=0)
