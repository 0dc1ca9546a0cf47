"""Mirror-like echoes (`specular`) found on a GPU: the same points from the same formulas, in four steps.

A thread per pixel looks for a point. Threads of a GPU finish in any order, so the points are put into the order of
their pixels. One thread then unites neighbours' estimates of one point, as the processor does. A thread per point that
is left gives its echo.
"""

from __future__ import annotations

import numpy as np

from skyloop.sensors.radar.specular import COLUMNS, FARTHEST, MOST_MIRRORS, REACH, SHARPEST, TURN, WALK, WIDEST
from skyloop_client.messages import Array

FRESNEL_STEPS = 1024
"""Entries of the table of Fresnel's integrals per unit; with cubic interpolation exact to 1e-7."""
RECORD = COLUMNS + 2
"""Numbers per candidate: the columns of `specular`, of which the edges are not used, the pixel, and a spare one."""
ORDERED = 5
"""Numbers per candidate that are needed to unite them."""

DEFINES = "".join(
    f"#define {name} {value!r}\n"
    for name, value in {
        "WIDEST2": WIDEST**2, "REACH": REACH, "MOST_TURN": TURN, "WALK": WALK, "SHARPEST": SHARPEST, "RECORD": RECORD,
        "ORDERED": ORDERED,        "FARTHEST": FARTHEST, "FRESNEL_STEPS": FRESNEL_STEPS, "MOST_MIRRORS": MOST_MIRRORS,
    }.items()
)  # fmt: skip


def fresnel_table() -> Array:
    """(n, 2) Fresnel's C and S from one step below zero to beyond FARTHEST."""
    from scipy.special import fresnel  # imported here, because it loads slowly and only radars need it

    s, c = fresnel(np.arange(-1, round(FARTHEST * FRESNEL_STEPS) + 3) / FRESNEL_STEPS)
    return np.stack([c, s], 1)


MIRRORS = (
    DEFINES
    + r"""
struct Look { const u32* surface; const double *lens, *m; int height, width; };

INLINE Look look_of(const char* sent, const Arguments& n)
{
    const double* g = (const double*)(sent + n.numbers_at);
    const Look look = {(const u32*)(sent + n.surface_at), g + LENS, g + CAMERA, n.height, n.width};
    return look;
}

INLINE const u32* word_at(const Look& look, int i, int j) { return look.surface + 4 * ((i64)i * look.width + j); }

// g of a pixel along two unit vectors across a line of sight, and the offset of the pixel's own line of sight
INLINE void across(const Look& look, int i, int j, const double* e, const double* f, double* out)
{
    const double *lens = look.lens, *m = look.m;
    const double x = (j - lens[2]) / lens[0], y = (i - lens[3]) / lens[1], size = 1.0 / sqrt(x * x + y * y + 1.0);
    const double dx = x * size, dy = y * size, dz = size;
    double n[3];
    normal_of(word_at(look, i, j)[2], n);
    const double nx = m[0] * n[0] + m[3] * n[1] + m[6] * n[2], ny = m[1] * n[0] + m[4] * n[1] + m[7] * n[2];
    const double nz = m[2] * n[0] + m[5] * n[1] + m[8] * n[2], along = nx * dx + ny * dy + nz * dz;
    const double gx = nx - along * dx, gy = ny - along * dy, gz = nz - along * dz;
    out[0] = gx * e[0] + gy * e[1] + gz * e[2];
    out[1] = gx * f[0] + gy * f[1] + gz * f[2];
    out[2] = dx * e[0] + dy * e[1] + dz * e[2];
    out[3] = dx * f[0] + dy * f[1] + dz * f[2];
}

INLINE void frame_at(const double* lens, int i, int j, double* e, double* f)
{
    const double x = (j - lens[2]) / lens[0], y = (i - lens[3]) / lens[1];
    double size = 1.0 / sqrt(1.0 + x * x);
    e[0] = size;
    e[1] = 0.0;
    e[2] = -x * size;
    const double fx = -y * x * size, fy = (1.0 + x * x) * size, fz = -y * size;
    size = 1.0 / sqrt(fx * fx + fy * fy + fz * fz);
    f[0] = fx * size;
    f[1] = fy * size;
    f[2] = fz * size;
}

INLINE bool inside(const Look& look, int i, int j) { return i >= 0 && j >= 0 && i < look.height && j < look.width; }

INLINE bool same(const Look& look, int i, int j, u32 row_word, u32 material)
{
    if (!inside(look, i, j)) return false;
    const u32* word = word_at(look, i, j);
    return word[1] == row_word && (word[2] & 0xFF) == material;
}

// the pixel that lies `r` steps on, if the surface goes on to it without turning too far
INLINE bool goes_on(const Look& look, int i, int j, int r, const u32* word, const double* e, const double* f,
                    const double* g, double* reached)
{
    double at[4];
    if (!same(look, i, j, word[1], word[2] & 0xFF)) return false;
    across(look, i, j, e, f, at);
    if (r != 1 && !(fabs(at[0] - g[0]) < MOST_TURN && fabs(at[1] - g[1]) < MOST_TURN)) return false;
    for (int k = 0; k < 4; ++k) reached[k] = at[k];
    return true;
}

// dg per pixel and direction per pixel along a step, over as many pixels as the surface allows; returns their number
INLINE int growth(const Look& look, int i, int j, int di, int dj, const double* e, const double* f, const double* g,
                  double* out)
{
    const u32* word = word_at(look, i, j);
    double low[4], high[4];
    for (int k = 0; k < 4; ++k) low[k] = high[k] = g[k];
    int back = 0, ahead = 0;
    while (back < REACH && goes_on(look, i - (back + 1) * di, j - (back + 1) * dj, back + 1, word, e, f, g, low))
        ++back;
    while (ahead < REACH && goes_on(look, i + (ahead + 1) * di, j + (ahead + 1) * dj, ahead + 1, word, e, f, g, high))
        ++ahead;
    const double span = 1.0 / (back + ahead > 1 ? back + ahead : 1);
    for (int k = 0; k < 4; ++k) out[k] = (high[k] - low[k]) * span;
    return back + ahead;
}

INLINE bool faces(const Look& look, int i, int j)
{
    const double *lens = look.lens, *m = look.m;
    const double x = (j - lens[2]) / lens[0], y = (i - lens[3]) / lens[1];
    const double narrow = 2.0 / (lens[0] < lens[1] ? lens[0] : lens[1]);
    const u32 packed = word_at(look, i, j)[2];
    double n[3];
    normal_of(packed, n);
    double along = n[0] * (m[0] * x + m[1] * y + m[2]);
    along += n[1] * (m[3] * x + m[4] * y + m[5]);
    along += n[2] * (m[6] * x + m[7] * y + m[8]);
    const double off = 1.0 - along * along / (1.0 + x * x + y * y);
    const bool flat = packed == word_at(look, i, j + 1)[2] && packed == word_at(look, i + 1, j)[2];
    return along < 0.0 && off < (flat ? narrow * narrow : WIDEST2);
}

KERNEL find_mirrors(const char* sent, int arguments_at, const signed char* seen, const double* materials, int* count,
                    double* candidates)
{
    const Arguments n = *(const Arguments*)(sent + arguments_at);
    const Look look = look_of(sent, n);
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x, i = pixel / n.width, j = pixel % n.width;
    if (i < 1 || j < 1 || i >= n.height - 1 || j >= n.width - 1) return;
    const u32* word = word_at(look, i, j);
    const int row = (int)word[1] - 1, material = (int)(word[2] & 0xFF);
    if (row < 0 || materials[MATERIALS + material] < 1e-3 || !faces(look, i, j)) return;
    if (!is_seen(seen, n, row, material)) return;
    double e[3], f[3], g[4], right[4], down[4];
    frame_at(look.lens, i, j, e, f);
    across(look, i, j, e, f, g);
    const int wide = growth(look, i, j, 0, 1, e, f, g, right), high = growth(look, i, j, 1, 0, e, f, g, down);
    const double det = right[0] * down[1] - right[1] * down[0];
    if (wide == 0 || high == 0 || det == 0.0) return;
    const double off_j = -(down[1] * g[0] - down[0] * g[1]) / det, off_i = -(right[0] * g[1] - right[1] * g[0]) / det;
    // written so that no number is no point, as for the processor
    if (fabs(off_i) > 0.75 || fabs(off_j) > 0.75) return;
    const double x = (j - look.lens[2]) / look.lens[0], y = (i - look.lens[3]) / look.lens[1];
    const double turn_x = off_j * right[2] + off_i * down[2], turn_y = off_j * right[3] + off_i * down[3];
    const double area = right[2] * down[3] - right[3] * down[2];
    double* out = candidates + (i64)RECORD * atomicAdd(count, 1);
    out[0] = i + off_i;
    out[1] = j + off_j;
    out[2] = row;
    out[3] = material;
    out[4] = (double)__uint_as_float(word[0]) * sqrt(1.0 + x * x + y * y);
    out[4] *= 1.0 + 0.5 * (g[0] * turn_x + g[1] * turn_y);
    out[5] = (right[0] * down[3] - down[0] * right[3]) / area;
    out[6] = (down[0] * right[2] - right[0] * down[2]) / area;
    out[7] = (right[1] * down[3] - down[1] * right[3]) / area;
    out[8] = (down[1] * right[2] - right[1] * down[2]) / area;
    out[13] = fabs(off_i) + fabs(off_j);
    out[14] = pixel;
}

// of each, in a row: place, row of the model, distance from its pixel's middle, and which candidate it is
KERNEL order_mirrors(const int* count, const double* candidates, double* ordered)
{
    const int step = gridDim.x * blockDim.x, n = *count;
    for (int c = blockIdx.x * blockDim.x + threadIdx.x; c < n; c += step) {
        const double* mine = candidates + (i64)RECORD * c;
        int rank = 0;
        for (int k = 0; k < n; ++k) rank += candidates[(i64)RECORD * k + 14] < mine[14];
        double* out = ordered + ORDERED * (i64)rank;
        out[0] = mine[0];
        out[1] = mine[1];
        out[2] = mine[2];
        out[3] = mine[13];
        out[4] = c;
    }
}

// chosen: the candidates that are left, and after them, at MOST_MIRRORS, how many
KERNEL unite_mirrors(const int* count, const double* ordered, int* chosen)
{
    __shared__ double found[MOST_MIRRORS][4];
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    const int n = *count;
    int n_found = 0, low = 0;
    for (int c = 0; c < n; ++c) {
        const double* it = ordered + ORDERED * (i64)c;
        // later candidates lie at most a row and a half higher than this one, and can no longer meet those above
        while (low < n_found && found[low][0] < it[0] - 4.0) ++low;
        int k = low;
        while (k < n_found && !(found[k][2] == it[2] && fabs(found[k][0] - it[0]) < 1.6
                                && fabs(found[k][1] - it[1]) < 1.6)) ++k;
        if (k == MOST_MIRRORS || (k < n_found && !(it[3] < found[k][3]))) continue;
        for (int v = 0; v < 4; ++v) found[k][v] = it[v];
        chosen[k] = (int)it[4];
        if (k == n_found) ++n_found;
    }
    chosen[MOST_MIRRORS] = n_found;
}

// px to the edge of the surface along a step
INLINE double extent(const Look& look, int i, int j, int di, int dj)
{
    const u32* word = word_at(look, i, j);
    for (int r = 1; r < WALK; ++r)
        if (!same(look, i + r * di, j + r * dj, word[1], word[2] & 0xFF))
            return inside(look, i + r * di, j + r * dj) ? r - 0.5 : WALK;
    return WALK;
}

INLINE Complex fresnel(const double* table, double x)
{
    const double t = fabs(x) * FRESNEL_STEPS, sign = x < 0.0 ? -1.0 : 1.0;
    Complex out = {0.5, 0.5};
    if (fabs(x) > FARTHEST) return out;
    const int k = (int)t;
    const double p = t - k, *at = table + 2 * k;
    const double a = -p * (p - 1.0) * (p - 2.0) / 6.0, b = 0.5 * (p + 1.0) * (p - 1.0) * (p - 2.0);
    const double c = -0.5 * (p + 1.0) * p * (p - 2.0), d = (p + 1.0) * p * (p - 1.0) / 6.0;
    out.re = sign * (a * at[0] + b * at[2] + c * at[4] + d * at[6]);
    out.im = sign * (a * at[1] + b * at[3] + c * at[5] + d * at[7]);
    return out;
}

INLINE Complex edge_factor(const double* table, double low, double high, double zone)
{
    const Complex a = fresnel(table, low / zone), b = fresnel(table, high / zone);
    const double c = a.re + b.re, s = a.im + b.im;
    const Complex out = {0.5 * (c + s), 0.5 * (s - c)};
    return out;
}

KERNEL echo_mirrors(
    const char* sent, int arguments_at, const double* standing, const double* materials, const float* pattern,
    const double* table, const double* candidates, const int* chosen, double* paths, double* rates,
    float2* strengths, double* energies)
{
    const Arguments n = *(const Arguments*)(sent + arguments_at);
    const Out out = {paths, rates, strengths, energies};
    const int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= MOST_MIRRORS) return;
    const i64 at = (i64)n.first_mirror + k;
    write_nothing(out, at, n.n_rx);
    if (k >= chosen[MOST_MIRRORS]) return;
    const double* it = candidates + (i64)RECORD * chosen[k];
    const double* g = (const double*)(sent + n.numbers_at);
    const Look look = look_of(sent, n);
    const double *lens = look.lens, *m = look.m, distance = it[4], jxx = it[5], jyy = it[8];
    const int i = (int)it[14] / n.width, j = (int)it[14] % n.width, row = (int)it[2], material = (int)it[3];
    const double off_i = it[0] - i, off_j = it[1] - j, x = (it[1] - lens[2]) / lens[0], y = (it[0] - lens[3]) / lens[1];
    const double slant = sqrt(x * x + y * y + 1.0), far = distance / slant;
    const double point[3] = {far * (m[0] * x + m[1] * y + m[2]), far * (m[3] * x + m[4] * y + m[5]),
                             far * (m[6] * x + m[7] * y + m[8])};
    const double det = jxx * jyy - it[6] * it[7];
    const double waves = 0.5 * sqrt(g[WAVELENGTH] * distance);
    const double zone_x = waves / sqrt(fmax(fabs(jxx), SHARPEST)), zone_y = waves / sqrt(fmax(fabs(jyy), SHARPEST));
    // of a pixel, across the line of sight
    const double wide = distance * sqrt(1.0 + y * y) / (lens[0] * slant * slant);
    const double high = distance * sqrt(1.0 + x * x) / (lens[1] * slant * slant);
    const double left = extent(look, i, j, 0, -1) + off_j, right = extent(look, i, j, 0, 1) - off_j;
    const double up = extent(look, i, j, -1, 0) + off_i, down = extent(look, i, j, 1, 0) - off_i;
    const Complex edges = times(edge_factor(table, left * wide, right * wide, zone_x),
                                edge_factor(table, up * high, down * high, zone_y));
    // half a turn for the reflection, and a quarter back for every direction in which it focuses
    const Complex quarters[3] = {{-1.0, 0.0}, {0.0, 1.0}, {1.0, 0.0}};
    const Complex turned = times(edges, quarters[det < 0.0 ? 1 : det > 0.0 && jxx + jyy < 0.0 ? 2 : 0]);
    const float* through = (const float*)(sent + n.through_at);
    const double size = materials[MATERIALS + material] * sqrt(3.141592653589793 / fmax(fabs(det), SHARPEST));
    const int nearest = (int)rint(it[0]) * n.width + (int)rint(it[1]);
    const double field = g[SCALE] * size * distance * through[n.by_pixel * nearest];
    double velocity[3];
    on_the_thing(row, point, standing, g, n, velocity);
    write_echo(out, at, point, velocity, turned, field, g, n, pattern, (const float*)(sent + n.mirror_at));
}
"""
)
