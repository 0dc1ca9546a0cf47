"""The echoes of matt surfaces (`echoes`) found on a GPU: a thread per pixel, the same formulas in the same order.

Needs CuPy. The source below is C that a C++ compiler takes as well, so that it is tested where there is no GPU.
A pixel without an echo keeps its place and has no strength.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.sensors.radar.echoes import (
    ALL,
    GRAIN,
    Antennas,
    Echoes,
    Labels,
    Picture,
    Receiver,
    Things,
    row_visibility,
)
from skyloop_client.messages import Array

MATERIALS = 256
THREADS = 128

FIXED = {
    "LENS": 4, "CAMERA": 9, "POSITION": 3, "TURN": 9, "TX": 3, "TX_VELOCITY": 3, "RX_VELOCITY": 3, "SHARES": MATERIALS,
    "SCALE": 1, "BEAT_PER_M": 1, "BEAT_PER_M_S": 1, "CORNER_HZ": 1, "MAX_RANGE": 1, "MAX_SPEED": 1, "LOWEST": 1,
}  # fmt: skip
"""Numbers that are sent with every picture, in this order. After them come those of antennas and of things."""

PLACES = {name: sum(list(FIXED.values())[:k]) for k, name in enumerate(FIXED)}
DEFINES = "".join(f"#define {name} {place}\n" for name, place in PLACES.items())
DEFINES += f"#define REST {sum(FIXED.values())}\n#define GRAIN {GRAIN!r}\n"

SOURCE = (
    DEFINES
    + r"""
#ifdef __CUDACC__
#define INLINE __device__ inline
#else
#include <cmath>
#include <cstring>
using std::sqrt; using std::floor; using std::fabs;
#define INLINE static inline
#endif
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
struct Complex { double re, im; };
struct Sizes {
    int height, width, n_rx, n_standing, n_moving, order, table, mirror, by_pixel, tx_mirrored, rx_mirrored;
};

INLINE Complex times(Complex a, Complex b)
{
    Complex c = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    return c;
}

INLINE double depth_of(u32 word)
{
#ifdef __CUDACC__
    return (double)__uint_as_float(word);
#else
    float value;
    std::memcpy(&value, &word, 4);
    return (double)value;
#endif
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

INLINE double on_the_thing(int row, const double* point, const double* g, const Sizes& n, double* velocity)
{
    const double* standing = g + REST + 3 * n.n_rx;
    const double* moving = standing + 12 * n.n_standing;
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

// writes the echo of one pixel; `seen` is that of row_visibility
INLINE void echo_of(int pixel, const u32* surface, const float* through, const double* g, const signed char* seen,
                    const float* pattern, const float* mirror, const Sizes& n, double* paths, double* rates,
                    float* strengths, double* energies)
{
    const int i = pixel / n.width, j = pixel % n.width;
    double* half = paths + (i64)pixel * n.n_rx;
    double* rate = rates + (i64)pixel * n.n_rx;
    for (int k = 0; k < n.n_rx; ++k) half[k] = rate[k] = 0.0;
    strengths[2 * pixel] = strengths[2 * pixel + 1] = 0.0f;
    energies[2 * pixel] = energies[2 * pixel + 1] = 0.0;
    const u32* word = surface + 4 * (i64)pixel;
    if (word[1] == 0) return;
    const int row = (int)word[1] - 1, material = (int)(word[2] & 0xFF), rows = n.n_standing + n.n_moving;
    const double share = g[SHARES + material];
    if (share <= 0.0 || (seen[row] == 2 ? seen[rows + material] : seen[row]) == 0) return;
    const double* m = g + CAMERA;
    const double x = (j - g[LENS + 2]) / g[LENS], y = (i - g[LENS + 3]) / g[LENS + 1], depth = depth_of(word[0]);
    const double dx = m[0] * x + m[1] * y + m[2], dy = m[3] * x + m[4] * y + m[5], dz = m[6] * x + m[7] * y + m[8];
    double nx = ((word[2] >> 8) & 0xFFF) / 2047.0 - 1.0, ny = ((word[2] >> 20) & 0xFFF) / 2047.0 - 1.0;
    const double nz = 1.0 - fabs(nx) - fabs(ny);
    if (nz < 0.0) {
        const double folded = (1.0 - fabs(ny)) * (nx >= 0.0 ? 1.0 : -1.0);
        ny = (1.0 - fabs(nx)) * (ny >= 0.0 ? 1.0 : -1.0);
        nx = folded;
    }
    const double size = 1.0 / sqrt(nx * nx + ny * ny + nz * nz), slant = sqrt(x * x + y * y + 1.0);
    const double cosine = -(nx * size * dx + ny * size * dy + nz * size * dz) / slant;
    const double point[3] = {dx * depth, dy * depth, dz * depth};
    if (cosine <= 0.0 || point[2] < g[LOWEST]) return;
    double velocity[3], u[3], sent_rate, back_rate, back = 0.0;
    Complex turned = turned_by(on_the_thing(row, point, g, n, velocity));
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
    double field = g[SCALE] * sqrt(4.0 / (g[LENS] * g[LENS + 1])) * depth * sqrt(share * cosine / slant);
    field *= through[n.by_pixel * pixel];
    const double beat = (g[BEAT_PER_M] * half[0] + g[BEAT_PER_M_S] * rate[0]) / g[CORNER_HZ];
    double steep = 1.0;
    for (int k = 0; k < n.order; ++k) steep *= beat * beat;
    field /= sqrt(1.0 + steep);
    turned.re *= field;
    turned.im *= field;
    strengths[2 * pixel] = (float)turned.re;
    strengths[2 * pixel + 1] = (float)turned.im;
    const double energy = turned.re * turned.re + turned.im * turned.im;
    const bool folds = half[0] > g[MAX_RANGE] || fabs(rate[0]) > g[MAX_SPEED];
    energies[2 * pixel + ALL_ENERGY] = energy;
    energies[2 * pixel + 1 - ALL_ENERGY] = folds ? energy : 0.0;
}

#ifdef __CUDACC__
extern "C" __global__ void find_echoes(
    const u32* surface, const float* through, const double* numbers, const signed char* seen, const float* pattern,
    const float* mirror, const int* sizes, double* paths, double* rates, float* strengths, double* energies)
{
    const Sizes n = *(const Sizes*)sizes;
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel < n.height * n.width)
        echo_of(pixel, surface, through, numbers, seen, pattern, mirror, n, paths, rates, strengths, energies);
}
#else
extern "C" void find_echoes(
    const u32* surface, const float* through, const double* numbers, const signed char* seen, const float* pattern,
    const float* mirror, const int* sizes, double* paths, double* rates, float* strengths, double* energies)
{
    const Sizes n = *(const Sizes*)sizes;
    for (int pixel = 0; pixel < n.height * n.width; ++pixel)
        echo_of(pixel, surface, through, numbers, seen, pattern, mirror, n, paths, rates, strengths, energies);
}
#endif
""".replace("ALL_ENERGY", str(ALL))
)


class GpuPatches:
    """As `CpuPatches`, for one radar, with arrays that stay on the GPU; `cupy` is the module CuPy."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        # without contraction a phase is that of the CPU: a point beside the edge of a grain must not fall into another
        self._kernel = cupy.RawKernel(SOURCE, "find_echoes", options=("--fmad=false",))
        self._pattern: Any = None

    def found(
        self, picture: Picture, things: Things, labels: Labels, antennas: Antennas, receiver: Receiver, energies: Array
    ) -> Echoes:
        cupy = self._cupy
        n_pixels, n_rx = picture.surface.shape[0] * picture.surface.shape[1], len(antennas.rx)
        half_paths, rates = cupy.empty((n_pixels, n_rx)), cupy.empty((n_pixels, n_rx))
        strengths, by_pixel = cupy.empty(n_pixels, cupy.complex64), cupy.empty((n_pixels, 2))
        if self._pattern is None:
            # that of a radar never changes
            self._pattern = cupy.asarray(antennas.pattern)
        sent = (
            picture.surface, picture.through, numbers(picture, things, antennas, receiver), row_visibility(labels),
            self._pattern, antennas.mirror, sizes(picture, things, antennas, receiver),
        )  # fmt: skip
        arrays = [cupy.asarray(array) for array in sent]
        blocks = -(-n_pixels // THREADS)
        self._kernel((blocks,), (THREADS,), (*arrays, half_paths, rates, strengths, by_pixel))
        energies += cupy.asnumpy(by_pixel.sum(axis=0))
        return Echoes(half_paths, rates, strengths)

    def joined(self, parts: list[Echoes]) -> Echoes:
        cupy = self._cupy
        if len(parts) == 1:
            return parts[0]
        fields = ("half_paths", "rates", "strengths")
        return Echoes(*(cupy.concatenate([cupy.asarray(getattr(part, name)) for part in parts]) for name in fields))


def numbers(picture: Picture, things: Things, antennas: Antennas, receiver: Receiver) -> Array:
    """What the source reads at its places."""
    shares = np.zeros(MATERIALS)
    shares[: len(receiver.shares)] = receiver.shares
    fixed = {
        "LENS": picture.lens, "CAMERA": picture.world_from_camera, "POSITION": picture.position,
        "TURN": antennas.sensor_from_world, "TX": antennas.tx, "TX_VELOCITY": antennas.tx_velocity,
        "RX_VELOCITY": antennas.rx_velocity, "SHARES": shares,
    }  # fmt: skip
    fixed |= {name: getattr(receiver, name.lower()) for name in FIXED if name not in fixed}
    rest = (antennas.rx, things.standing, things.poses, things.velocities, things.turns)
    return np.concatenate([np.ravel(part) for part in (*(fixed[name] for name in FIXED), *rest)])


def sizes(picture: Picture, things: Things, antennas: Antennas, receiver: Receiver) -> NDArray[np.int32]:
    """As the source's struct has them."""
    height, width = picture.surface.shape[:2]
    by_pixel = picture.through.shape == (height, width)
    told = (
        height, width, len(antennas.rx), things.n_standing, len(things.poses), receiver.order, len(antennas.pattern),
        len(antennas.mirror), by_pixel, antennas.tx_mirrored, antennas.rx_mirrored,
    )  # fmt: skip
    return np.array(told, np.int32)
