"""Mirror-like echoes: where a surface faces the radar, it reflects an image of it.

Such a point is where the surface's normal meets the line of sight. The search runs in the picture: g, the part of the
normal across the line of sight, is a vector field that is zero there. Its slope over the viewing angle, J = dg/dω,
holds the curvatures of surface and wave: J = 1 + R/a along a direction of curvature radius a. Geometrical optics then
gives the cross section

    σ = π·R²·|Γ|² / |det J|

which is π·a² for a sphere far away and the image source π·R² for a plane. A surface that ends within the first Fresnel
zones echoes less or more. Fresnel integrals over its visible part account for that; for small plates they lead to
4π·A²/λ². Nothing is summed over pixels.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import float64, int64, uint32
from numpy.typing import NDArray

from skyloop.core.jit import inlined, kernel
from skyloop.sensors.radar.echoes import A1, A2, SURFACE, Labels, SurfaceView, class_shown, labels_type, unpacked_normal
from skyloop_client.messages import Array

WIDEST = 0.6
"""The sine of the angle between normal and line of sight beyond which a pixel is skipped."""
REACH = 12
"""px to each side over which J is measured, at most."""
TURN = 0.25
"""rad by which g may grow over that reach; a sharper curve is not measured as one surface."""
FARTHEST = 30.0
"""Half Fresnel zones beyond which a surface is taken as endless."""
WALK = 200
"""px to each side within which the edge is searched."""
COLUMNS = 14
"""Columns of `found`, see `mirror_points`."""
MOST_MIRRORS = 512
SHARPEST = 0.02
"""The least |det J|: a hollow that focuses on the radar is at most fifty times as bright as a plane."""


class Mirrors(NamedTuple):
    """What makes surfaces mirrors."""

    amplitudes: Array
    """The share of the field that each material reflects."""
    wavelength: float
    """m."""


@inlined
def _across(surface, i, j, lens, m, e, f):
    """g of a pixel along two unit vectors across a line of sight, and the offset of the pixel's own line of sight."""
    x, y = (j - lens[2]) / lens[0], (i - lens[3]) / lens[1]
    size = 1.0 / np.sqrt(x * x + y * y + 1.0)
    dx, dy, dz = x * size, y * size, size
    a, b, c = unpacked_normal(surface[i, j, 2])
    nx = m[0, 0] * a + m[1, 0] * b + m[2, 0] * c
    ny = m[0, 1] * a + m[1, 1] * b + m[2, 1] * c
    nz = m[0, 2] * a + m[1, 2] * b + m[2, 2] * c
    along = nx * dx + ny * dy + nz * dz
    gx, gy, gz = nx - along * dx, ny - along * dy, nz - along * dz
    return (
        gx * e[0] + gy * e[1] + gz * e[2],
        gx * f[0] + gy * f[1] + gz * f[2],
        dx * e[0] + dy * e[1] + dz * e[2],
        dx * f[0] + dy * f[1] + dz * f[2],
        along,
    )


@inlined
def _frame(i, j, lens, e, f):
    """Unit vectors to the right and downwards across the line of sight at a position of the picture, camera axes."""
    x, y = (j - lens[2]) / lens[0], (i - lens[3]) / lens[1]
    size = 1.0 / np.sqrt(1.0 + x * x)
    e[0], e[1], e[2] = size, 0.0, -x * size
    # the line of sight × e
    fx, fy, fz = -y * x * size, (1.0 + x * x) * size, -y * size
    size = 1.0 / np.sqrt(fx * fx + fy * fy + fz * fz)
    f[0], f[1], f[2] = fx * size, fy * size, fz * size


@inlined
def _same(surface, i, j, word, material):
    if i < 0 or j < 0 or i >= surface.shape[0] or j >= surface.shape[1]:
        return False
    return surface[i, j, 1] == word and (surface[i, j, 2] & uint32(0xFF)) == material


@inlined
def _growth(surface, pixel, step, lens, m, e, f):
    """dg per pixel and direction per pixel along a step, over as many pixels as the surface allows."""
    i, j = pixel
    di, dj = step
    word, material = surface[i, j, 1], surface[i, j, 2] & uint32(0xFF)
    g = _across(surface, i, j, lens, m, e, f)
    low = high = g
    back = ahead = 0
    for r in range(1, REACH + 1):
        if back == r - 1 and _same(surface, i - r * di, j - r * dj, word, material):
            at = _across(surface, i - r * di, j - r * dj, lens, m, e, f)
            if r == 1 or (abs(at[0] - g[0]) < TURN and abs(at[1] - g[1]) < TURN):
                low, back = at, r
        if ahead == r - 1 and _same(surface, i + r * di, j + r * dj, word, material):
            at = _across(surface, i + r * di, j + r * dj, lens, m, e, f)
            if r == 1 or (abs(at[0] - g[0]) < TURN and abs(at[1] - g[1]) < TURN):
                high, ahead = at, r
    span = 1.0 / max(back + ahead, 1)
    return (
        (high[0] - low[0]) * span,
        (high[1] - low[1]) * span,
        (high[2] - low[2]) * span,
        (high[3] - low[3]) * span,
        back + ahead,
    )


@inlined
def _extent(surface, i, j, di, dj):
    """px to the edge of the surface along a step; WALK if there is none within that."""
    word, material = surface[i, j, 1], surface[i, j, 2] & uint32(0xFF)
    for r in range(1, WALK):
        if not _same(surface, i + r * di, j + r * dj, word, material):
            outside = (
                i + r * di < 0 or j + r * dj < 0 or i + r * di >= surface.shape[0] or j + r * dj >= surface.shape[1]
            )
            return float64(WALK) if outside else r - 0.5
    return float64(WALK)


@inlined
def _faces(surface, i, j, lens, m, flat_off):
    """Whether the pixel may hold a point that faces the radar. Most pixels are flat and are rejected fast."""
    x, y = (j - lens[2]) / lens[0], (i - lens[3]) / lens[1]
    a, b, c = unpacked_normal(surface[i, j, 2])
    along = a * (m[0, 0] * x + m[0, 1] * y + m[0, 2])
    along += b * (m[1, 0] * x + m[1, 1] * y + m[1, 2])
    along += c * (m[2, 0] * x + m[2, 1] * y + m[2, 2])
    off = 1.0 - along * along / (1.0 + x * x + y * y)
    packed = surface[i, j, 2]
    flat = packed == surface[i, j + 1, 2] and packed == surface[i + 1, j, 2]
    return along < 0.0 and off < (flat_off if flat else WIDEST**2)


@inlined
def _jacobian(right, down):
    """J = dg/dω, by rows, from the slopes of both along the picture's rows and columns."""
    area = right[2] * down[3] - right[3] * down[2]
    return (
        (right[0] * down[3] - down[0] * right[3]) / area,
        (down[0] * right[2] - right[0] * down[2]) / area,
        (right[1] * down[3] - down[1] * right[3]) / area,
        (down[1] * right[2] - right[1] * down[2]) / area,
    )


@inlined
def _free_place(found, count, row, i, j, off):
    """The index for a point: the end, that of a neighbour's worse estimate of the same point, or none (-1)."""
    for k in range(count):
        if found[k, 2] == row and abs(found[k, 0] - i) < 1.6 and abs(found[k, 1] - j) < 1.6:
            return k if off < found[k, 13] else -1
    return count


@kernel(int64(SURFACE, A1, A2, A1, labels_type, float64[:, ::1]))
def mirror_points(surface, lens, world_from_camera, amplitudes, known, found):
    """Writes the points to `found` and returns their number; points that do not fit are left out. known: as Labels.

    Columns: pixel row and column, model row, material, R, J by rows (4), pixels to the edges left, right, up and down,
    and the distance of the point from the middle of its pixel.
    """
    count, m, labels = 0, world_from_camera, Labels(*known)
    e, f = np.empty(3), np.empty(3)
    flat_off = (2.0 / min(lens[0], lens[1])) ** 2
    for i in range(1, surface.shape[0] - 1):
        for j in range(1, surface.shape[1] - 1):
            word, material = surface[i, j, 1], surface[i, j, 2] & uint32(0xFF)
            if word == 0 or amplitudes[material] < 1e-3 or not _faces(surface, i, j, lens, m, flat_off):
                continue
            row = int64(word) - 1
            if not class_shown(row, material, labels):
                continue
            _frame(i, j, lens, e, f)
            g = _across(surface, i, j, lens, m, e, f)
            right = _growth(surface, (i, j), (0, 1), lens, m, e, f)
            down = _growth(surface, (i, j), (1, 0), lens, m, e, f)
            det = right[0] * down[1] - right[1] * down[0]
            if right[4] == 0 or down[4] == 0 or det == 0.0:
                continue
            # the point in pixels from this one
            off_j = -(down[1] * g[0] - down[0] * g[1]) / det
            off_i = -(right[0] * g[1] - right[1] * g[0]) / det
            if abs(off_i) > 0.75 or abs(off_j) > 0.75:
                continue
            off = abs(off_i) + abs(off_j)
            place = _free_place(found, count, row, i + off_i, j + off_j, off)
            if place < 0 or place == found.shape[0]:
                continue
            count = max(count, place + 1)
            x, y = (j - lens[2]) / lens[0], (i - lens[3]) / lens[1]
            distance = float64(np.uint32(surface[i, j, 0]).view(np.float32)) * np.sqrt(1.0 + x * x + y * y)
            # R at the point: the slope of R over angle is R·g
            turn_x, turn_y = off_j * right[2] + off_i * down[2], off_j * right[3] + off_i * down[3]
            distance *= 1.0 + 0.5 * (g[0] * turn_x + g[1] * turn_y)
            line = found[place]
            line[0], line[1], line[2], line[3], line[4], line[13] = i + off_i, j + off_j, row, material, distance, off
            line[5], line[6], line[7], line[8] = _jacobian(right, down)
            line[9] = _extent(surface, i, j, 0, -1) + off_j
            line[10] = _extent(surface, i, j, 0, 1) - off_j
            line[11] = _extent(surface, i, j, -1, 0) + off_i
            line[12] = _extent(surface, i, j, 1, 0) - off_i
    return count


def mirror_fields(found: Array, picture: SurfaceView, mirrors: Mirrors) -> tuple[Array, NDArray[np.inexact]]:
    """The points of `mirror_points`, m in world axes from the sensor, and complex roots of their cross sections, m."""
    lens, through = picture.lens, picture.through
    row, column, _, materials, distance, jxx, jxy, jyx, jyy = found[:, :9].T
    sight = np.stack([(column - lens[2]) / lens[0], (row - lens[3]) / lens[1], np.ones_like(row)], 1)
    slant = np.linalg.norm(sight, axis=1)
    points = (sight / slant[:, None] * distance[:, None]) @ picture.world_from_camera.T
    det = jxx * jyy - jxy * jyx
    sizes = mirrors.amplitudes[materials.astype(int)] * np.sqrt(np.pi / np.maximum(np.abs(det), SHARPEST)) * distance
    edges: NDArray[np.inexact] | float = 1.0
    for low, high, focal, j, tilt in ((9, 10, lens[0], jxx, 0), (11, 12, lens[1], jyy, 1)):
        # of a pixel, across the line of sight
        metres = distance * np.sqrt(1.0 + sight[:, 1 - tilt] ** 2) / (focal * slant**2)
        zone = 0.5 * np.sqrt(mirrors.wavelength * distance / np.maximum(np.abs(j), SHARPEST))
        edges = edges * edge_factor(found[:, low] * metres, found[:, high] * metres, zone)
    # every reflection turns the phase by half a turn, and every direction in which it focuses by a quarter back
    hollows = (det < 0.0).astype(int) + 2 * ((det > 0.0) & (jxx + jyy < 0.0))
    by_pixel = int(through.shape == picture.surface.shape[:2])
    at = (np.rint(row).astype(int) * by_pixel, np.rint(column).astype(int) * by_pixel)
    return points, -sizes * edges * (-1j) ** hollows * through[at]


def edge_factor(low: Array, high: Array, zone: Array) -> Array:
    """The share of an endless surface's field that a surface reflects if it ends `low` and `high` m from the point.

    zone: m, √(λ·R/|J|) / 2, the unit of Fresnel's integrals.
    """
    from scipy.special import fresnel  # imported here, because it loads slowly and only radars need it

    low, high = (np.where(edge / zone > FARTHEST, 1e9, edge / zone) for edge in (low, high))
    (s_low, c_low), (s_high, c_high) = fresnel(low), fresnel(high)
    return np.asarray(((c_high + c_low) + 1j * (s_high + s_low)) / (1.0 + 1.0j))
