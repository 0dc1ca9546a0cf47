"""What the GPU's kernels that find echoes (`gpu_echoes`, `gpu_mirrors`) share: their arguments, and a wave's path. The
formulas are those of `echoes`, in the same order.

`GpuSum` is the sum of `synthesis`, without approximation. The phase of an echo advances evenly from chirp to chirp, so
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

from skyloop.core.radar_waveform import LIGHT_SPEED, Waveform
from skyloop.sensors.radar.echoes import ALL, GRAIN
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


MATERIALS = 256

FIXED = {
    "LENS": 4, "CAMERA": 9, "POSITION": 3, "TURN": 9, "TX": 3, "TX_VELOCITY": 3, "RX_VELOCITY": 3, "SCALE": 1,
    "BEAT_PER_M": 1, "BEAT_PER_M_S": 1, "CORNER_HZ": 1, "MAX_RANGE": 1, "MAX_SPEED": 1, "LOWEST": 1, "WAVELENGTH": 1,
}  # fmt: skip
"""Numbers that are sent with every burst, in this order. After them come those of antennas and of objects that move."""

ARGUMENTS = (
    "height", "width", "n_rx", "n_standing", "n_moving", "order", "table", "mirror", "by_pixel", "tx_mirrored",
    "rx_mirrored", "surface_at", "through_at", "numbers_at", "mirror_at", "first_patch", "first_mirror",
)  # fmt: skip
"""Whole numbers that are sent with every picture and way."""

PLACES = {name: sum(list(FIXED.values())[:k]) for k, name in enumerate(FIXED)}
DEFINES = "".join(f"#define {name} {place}\n" for name, place in PLACES.items())
DEFINES += f"#define REST {sum(FIXED.values())}\n#define GRAIN {GRAIN!r}\n#define MATERIALS {MATERIALS}\n"

SHARED = (
    DEFINES
    + r"""
#define INLINE __device__ inline
#define KERNEL extern "C" __global__ void
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
struct Complex { double re, im; };

// the arguments for one picture and one way of the wave; `..._at` are bytes from the start of what was sent
struct Arguments {
    int ARGUMENTS;
};

INLINE Complex times(Complex a, Complex b)
{
    Complex c = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    return c;
}

// of a packed surface word, world axes; see world.views
INLINE void normal_of(u32 packed, double* n)
{
    double x = ((packed >> 8) & 0xFFF) / 2047.0 - 1.0, y = ((packed >> 20) & 0xFFF) / 2047.0 - 1.0;
    const double z = 1.0 - fabs(x) - fabs(y);
    if (z < 0.0) {
        const double folded = (1.0 - fabs(y)) * (x >= 0.0 ? 1.0 : -1.0);
        y = (1.0 - fabs(x)) * (y >= 0.0 ? 1.0 : -1.0);
        x = folded;
    }
    const double size = 1.0 / sqrt(x * x + y * y + z * z);
    n[0] = x * size;
    n[1] = y * size;
    n[2] = z * size;
}

// whether the class of a row, or else of its material, is shown; `seen` is that of part_visibility
INLINE bool is_seen(const signed char* seen, const Arguments& n, int row, int material)
{
    return (seen[row] == 2 ? seen[n.n_standing + n.n_moving + material] : seen[row]) != 0;
}

INLINE Complex turned_by(double turns)
{
    const double quarter = floor(4.0 * turns + 0.5);
    const float x = (float)(2.0 * 3.141592653589793 * (turns - 0.25 * quarter)), y = x * x;
    const float eighth = (float)(1.0 / 720) - y * (float)(1.0 / 40320);
    const float c = 1.0f - y * ((float)(1.0 / 2) - y * ((float)(1.0 / 24) - y * eighth));
    const float s = x * (1.0f - y * ((float)(1.0 / 6) - y * ((float)(1.0 / 120) - y * (float)(1.0 / 5040))));
    const int which = (int)((i64)quarter & 3);
    const float odd = (float)(which & 1), sign = (float)(1 - (which & 2));
    Complex out = {sign * (c - odd * (c + s)), sign * (s + odd * (c - s))};
    return out;
}

INLINE double surface_phase(u64 row, double x, double y, double z)
{
    u64 h = (u64)(i64)floor(x / GRAIN) * 0x9E3779B97F4A7C15ull;
    h = (h ^ (h >> 29)) + (u64)(i64)floor(y / GRAIN);
    h *= 0xBF58476D1CE4E5B9ull;
    h = (h ^ (h >> 32)) + (u64)(i64)floor(z / GRAIN);
    h *= 0x94D049BB133111EBull;
    h = (h ^ (h >> 29)) + row;
    h *= 0x9E3779B97F4A7C15ull;
    return (double)((h ^ (h >> 32)) >> 40) / 16777216.0;
}

INLINE double antenna(const float* table, int size, double left, double up)
{
    const int last = size - 1;
    const double a = 0.5 * (left + 1.0) * last, b = 0.5 * (up + 1.0) * last;
    int i = (int)a, j = (int)b;
    i = i < 0 ? 0 : i > last - 1 ? last - 1 : i;
    j = j < 0 ? 0 : j > last - 1 ? last - 1 : j;
    const double p = a - i, q = b - j;
    const float* at = table + i * size + j;
    const double low = (1.0 - p) * at[0] + p * at[size];
    return (1.0 - q) * low + q * ((1.0 - p) * at[1] + p * at[size + 1]);
}

INLINE Complex towards(const double* u, const float* table, int size, const double* s, const float* mirror, int n,
                       int mirrored)
{
    Complex kept = {1.0, 0.0};
    double z = u[2];
    if (mirrored) {
        const double sine = z < 0.0 ? 0.0 : z > 1.0 ? 1.0 : z;
        const int k = (int)(sine * (n - 1) + 0.5);
        kept.re = mirror[2 * k];
        kept.im = mirror[2 * k + 1];
        z = -z;
    }
    const double left = s[3] * u[0] + s[4] * u[1] + s[5] * z, up = s[6] * u[0] + s[7] * u[1] + s[8] * z;
    const double gain = antenna(table, size, left, up);
    kept.re *= gain;
    kept.im *= gain;
    return kept;
}

INLINE double leg(const double* point, const double* v, const double* end, const double* w, double* rate, double* u)
{
    const double x = point[0] - end[0], y = point[1] - end[1], z = point[2] - end[2];
    const double length = sqrt(x * x + y * y + z * z);
    u[0] = x / length;
    u[1] = y / length;
    u[2] = z / length;
    *rate = u[0] * (v[0] - w[0]) + u[1] * (v[1] - w[1]) + u[2] * (v[2] - w[2]);
    return length;
}

// the phase, in turns, and the velocity of a point on a row of the model
INLINE double on_the_thing(int row, const double* point, const double* standing, const double* g, const Arguments& n,
                           double* velocity)
{
    const double* moving = g + REST + 3 * n.n_rx;
    const int k = row - n.n_standing;
    const double* pose = k < 0 ? standing + 12 * row : moving + 12 * k;
    const double x = point[0] + g[POSITION] - pose[3], y = point[1] + g[POSITION + 1] - pose[7];
    const double z = point[2] + g[POSITION + 2] - pose[11];
    velocity[0] = velocity[1] = velocity[2] = 0.0;
    if (k >= 0) {
        const double* v = moving + 12 * n.n_moving + 3 * k;
        const double* t = moving + 15 * n.n_moving + 3 * k;
        velocity[0] = v[0] + t[1] * z - t[2] * y;
        velocity[1] = v[1] + t[2] * x - t[0] * z;
        velocity[2] = v[2] + t[0] * y - t[1] * x;
    }
    return surface_phase((u64)row, pose[0] * x + pose[4] * y + pose[8] * z, pose[1] * x + pose[5] * y + pose[9] * z,
                         pose[2] * x + pose[6] * y + pose[10] * z);
}

// where the echoes of all pictures and ways are written
struct Out {
    double *paths, *rates;
    float2* strengths;
    double* energies;
};

INLINE void write_nothing(const Out& out, i64 at, int n_rx)
{
    for (int k = 0; k < n_rx; ++k) out.paths[at * n_rx + k] = out.rates[at * n_rx + k] = 0.0;
    out.strengths[at] = make_float2(0.0f, 0.0f);
    out.energies[2 * at] = out.energies[2 * at + 1] = 0.0;
}

// the echo of a point with the root of its cross section: a phase and a real factor, which holds the radar's scale
INLINE void write_echo(const Out& out, i64 at, const double* point, const double* velocity, Complex turned,
                       double field, const double* g, const Arguments& n, const float* pattern, const float* mirror)
{
    double* half = out.paths + at * n.n_rx;
    double* rate = out.rates + at * n.n_rx;
    double u[3], sent_rate, back_rate, back = 0.0;
    const double sent = leg(point, velocity, g + TX, g + TX_VELOCITY, &sent_rate, u);
    Complex gain = towards(u, pattern, n.table, g + TURN, mirror, n.mirror, n.tx_mirrored);
    gain.re /= sent;
    gain.im /= sent;
    turned = times(turned, gain);
    for (int k = 0; k < n.n_rx; ++k) {
        back = leg(point, velocity, g + REST + 3 * k, g + RX_VELOCITY, &back_rate, u);
        half[k] = 0.5 * (sent + back);
        rate[k] = 0.5 * (sent_rate + back_rate);
    }
    gain = towards(u, pattern, n.table, g + TURN, mirror, n.mirror, n.rx_mirrored);
    gain.re /= back;
    gain.im /= back;
    turned = times(turned, gain);
    const double beat = (g[BEAT_PER_M] * half[0] + g[BEAT_PER_M_S] * rate[0]) / g[CORNER_HZ];
    double steep = 1.0;
    for (int k = 0; k < n.order; ++k) steep *= beat * beat;
    field /= sqrt(1.0 + steep);
    turned.re *= field;
    turned.im *= field;
    out.strengths[at] = make_float2((float)turned.re, (float)turned.im);
    const double energy = turned.re * turned.re + turned.im * turned.im;
    const bool folds = half[0] > g[MAX_RANGE] || fabs(rate[0]) > g[MAX_SPEED];
    out.energies[2 * at + ALL_ENERGY] = energy;
    out.energies[2 * at + 1 - ALL_ENERGY] = folds ? energy : 0.0;
}
""".replace("ALL_ENERGY", str(ALL)).replace("ARGUMENTS;", ", ".join(ARGUMENTS) + ";")
)
