"""The echoes of matt surfaces (`echoes`) found on a GPU: a thread per pixel, the same formulas in the same order.

A pixel without an echo keeps its place and has no strength.
"""

from __future__ import annotations

PATCHES = r"""
INLINE void patch_of(int pixel, const char* sent, const Told& n, const double* standing, const signed char* seen,
                     const double* materials, const float* pattern, const Out& out)
{
    const i64 at = (i64)n.first_patch + pixel;
    write_nothing(out, at, n.n_rx);
    const double* g = (const double*)(sent + n.numbers_at);
    const float* through = (const float*)(sent + n.through_at);
    const u32* word = (const u32*)(sent + n.surface_at) + 4 * (i64)pixel;
    if (word[1] == 0) return;
    const int i = pixel / n.width, j = pixel % n.width, row = (int)word[1] - 1, material = (int)(word[2] & 0xFF);
    const double share = materials[material];
    if (share <= 0.0 || !is_seen(seen, n, row, material)) return;
    const double* m = g + CAMERA;
    const double x = (j - g[LENS + 2]) / g[LENS], y = (i - g[LENS + 3]) / g[LENS + 1];
    const double depth = (double)__uint_as_float(word[0]);
    const double dx = m[0] * x + m[1] * y + m[2], dy = m[3] * x + m[4] * y + m[5], dz = m[6] * x + m[7] * y + m[8];
    double normal[3], velocity[3];
    normal_of(word[2], normal);
    const double slant = sqrt(x * x + y * y + 1.0);
    const double cosine = -(normal[0] * dx + normal[1] * dy + normal[2] * dz) / slant;
    const double point[3] = {dx * depth, dy * depth, dz * depth};
    if (cosine <= 0.0 || point[2] < g[LOWEST]) return;
    const Complex turned = turned_by(on_the_thing(row, point, standing, g, n, velocity));
    double field = g[SCALE] * sqrt(4.0 / (g[LENS] * g[LENS + 1])) * depth * sqrt(share * cosine / slant);
    field *= through[n.by_pixel * pixel];
    write_echo(out, at, point, velocity, turned, field, g, n, pattern, (const float*)(sent + n.mirror_at));
}

KERNEL find_patches(
    const char* sent, int told_at, const double* standing, const signed char* seen, const double* materials,
    const float* pattern, double* paths, double* rates, float2* strengths, double* energies)
{
    const Told n = *(const Told*)(sent + told_at);
    const Out out = {paths, rates, strengths, energies};
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel < n.height * n.width) patch_of(pixel, sent, n, standing, seen, materials, pattern, out);
}

// one sum per thread, always of the same echoes in the same order
KERNEL add_energies(const double* energies, int n_echoes, double* sums)
{
    const int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    double a = 0.0, b = 0.0;
#pragma unroll 8
    for (int s = first; s < n_echoes; s += step) {
        a += energies[2 * s];
        b += energies[2 * s + 1];
    }
    sums[first] = a;
    sums[step + first] = b;
}
"""
