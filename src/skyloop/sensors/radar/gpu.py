"""The sum of `synthesis` on a GPU, without approximation. The phase of an echo advances evenly from chirp to chirp, so
each term needs sines and cosines once per echo, antenna and sample, and a few products per chirp.

Chirps are taken in pairs, as far before the middle of their group as after it. With A the echo in the middle and θ the
angle from there, a pair is A·cos θ ± j·A·sin θ. Both products are summed and combined in the end.

Needs CuPy. Partial sums are added in a fixed order: the same echoes give the same bytes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.fmcw import LIGHT_SPEED, Waveform
from skyloop_client.messages import Array

MOST_CHIRPS = 64
"""Chirps that one thread sums, in registers."""
PARTS = 264
"""Parts into which the echoes are divided; with three antennas, as many blocks as an H200 runs at once."""
TILE = 8
"""Neighbouring echoes that go to the same part: their numbers share lines of memory. With more of them, sky and ground
are divided less evenly."""

# one block: one part of the echoes, one antenna, one group of chirps; one thread: one sample
SOURCE = r"""
#define KERNEL extern "C" __global__ void
#define PAIRS (CHIRPS / 2)

KERNEL sum_echoes(
    const double* paths, const double* rates, const float2* strengths, const double* frequencies, const double* starts,
    double turn, double bend, double repetition, int n_echoes, int n_rx, int n_samples, int n_chirps, float2* partial)
{
    const int n = blockIdx.y * blockDim.x + threadIdx.x, rx = blockIdx.z % n_rx, first = blockIdx.z / n_rx * CHIRPS;
    if (n >= n_samples) return;
    float2 even[PAIRS], odd[PAIRS];
#pragma unroll
    for (int m = 0; m < PAIRS; ++m) even[m] = odd[m] = make_float2(0.f, 0.f);
    const double u = turn * frequencies[n], t = starts[n] + (first + 0.5 * (CHIRPS - 1)) * repetition;
    const double half_step = 0.5 * u * repetition;
    for (int tile = blockIdx.x * TILE; tile < n_echoes; tile += gridDim.x * TILE) {
        const int end = tile + TILE < n_echoes ? tile + TILE : n_echoes;
        for (int s = tile; s < end; ++s) {
            const float2 a = strengths[s];
            // all threads of a block have the same echo, so that those of no strength, such as the sky, cost nothing
            if (a.x == 0.f && a.y == 0.f) continue;
            const double r = paths[(long long)s * n_rx + rx], v = rates[(long long)s * n_rx + rx];
            const double phase = u * (r + v * t) - bend * r * r, half = half_step * v;
            float c, d, x, y;
            sincospif((float)(2.0 * (phase - rint(phase))), &d, &c);
            sincospif((float)(2.0 * (half - rint(half))), &y, &x);
            const float re = a.x * c - a.y * d, im = a.x * d + a.y * c;
            const float step_x = 1.f - 2.f * y * y, step_y = 2.f * x * y;
#pragma unroll
            for (int m = 0; m < PAIRS; ++m) {
                even[m].x += re * x;
                even[m].y += im * x;
                odd[m].x += re * y;
                odd[m].y += im * y;
                const float turned = x * step_x - y * step_y;
                y = x * step_y + y * step_x;
                x = turned;
            }
        }
    }
    float2* out = partial + ((long long)blockIdx.x * n_rx + rx) * n_chirps * n_samples + n;
#pragma unroll
    for (int m = 0; m < PAIRS; ++m) {
        const int later = first + PAIRS + m, earlier = first + PAIRS - 1 - m;
        if (later < n_chirps)
            out[later * n_samples] = make_float2(even[m].x - odd[m].y, even[m].y + odd[m].x);
        if (earlier < n_chirps)
            out[earlier * n_samples] = make_float2(even[m].x + odd[m].y, even[m].y - odd[m].x);
    }
}

KERNEL add_parts(const float2* partial, int n_parts, int size, float2* out)
{
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= size) return;
    float2 sum = make_float2(0.f, 0.f);
#pragma unroll 12
    for (int part = 0; part < n_parts; ++part) {
        const float2 a = partial[(long long)part * size + k];
        sum.x += a.x;
        sum.y += a.y;
    }
    out[k] = sum;
}
"""


class GpuSum:
    """Turns echoes into a burst; `cupy` is the module CuPy."""

    def __init__(self, waveform: Waveform, cupy: Any) -> None:
        self._waveform, self._cupy = waveform, cupy
        # an odd number of chirps is summed as if there were one more
        self._chirps = min(MOST_CHIRPS, waveform.n_chirps + waveform.n_chirps % 2)
        module = cupy.RawModule(code=f"#define CHIRPS {self._chirps}\n#define TILE {TILE}\n{SOURCE}")
        self._sum_echoes, self._add_parts = (module.get_function(name) for name in ("sum_echoes", "add_parts"))
        self._partial = cupy.empty(0, np.complex64)
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
        size = n_rx * w.n_chirps * w.n_samples
        if len(self._partial) != PARTS * size:
            self._partial = self._cupy.empty(PARTS * size, np.complex64)
        out = self._cupy.empty((n_rx, w.n_chirps, w.n_samples), np.complex64)
        threads = min(128, w.n_samples)
        self._sum_echoes(
            (PARTS, math.ceil(w.n_samples / threads), n_rx * math.ceil(w.n_chirps / self._chirps)),
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
                *(np.int32(count) for count in (n_echoes, n_rx, w.n_samples, w.n_chirps)),
                self._partial,
            ),
        )
        self._add_parts((math.ceil(size / 64),), (64,), (self._partial, np.int32(PARTS), np.int32(size), out))
        return out
