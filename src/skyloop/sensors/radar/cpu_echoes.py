"""Echoes of matt surfaces, mirror points and calibration targets, found in one thread of the CPU.

One row of the picture after the other passes through short loops, each of which does one step for all its patches.
Loops without branches, and without a number that depends on another patch, are compiled to vector instructions, which
do up to eight patches at once.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import complex64, float64, int64, types, uint32
from numpy.typing import NDArray

from skyloop.core.jit import inlined, kernel
from skyloop.sensors.radar.echoes import (
    ALL,
    FOLDED,
    Echoes,
    Energies,
    Labels,
    ModelParts,
    Receiver,
    SurfaceView,
    WaveEnds,
    Way,
    antennas_type,
    carried,
    class_shown,
    labels_type,
    leg,
    model_parts_type,
    own_place,
    picture_type,
    receiver_type,
    surface_phase,
    unpacked_normal,
)
from skyloop.sensors.radar.specular import COLUMNS, MOST_MIRRORS, Mirrors, mirror_fields, mirror_points
from skyloop.sensors.radar.synthesis import cos_sin
from skyloop_client.messages import Array


def point_echoes(
    points: Array,
    velocities: Array,
    fields: NDArray[np.inexact],
    antennas: WaveEnds,
    receiver: Receiver,
    energies: Array,
) -> Echoes:
    """Echoes of (n, 3) points in world axes from the sensor, with complex roots of cross sections, m."""
    out, out_rate, sent = _point_legs(points, velocities, antennas.tx, antennas.tx_velocity)
    legs = [_point_legs(points, velocities, rx, antennas.rx_velocity) for rx in antennas.rx]
    half_paths = np.stack([0.5 * (out + back) for back, _, _ in legs], 1)
    rates = np.stack([0.5 * (out_rate + rate) for _, rate, _ in legs], 1)
    for direction, mirrored in ((sent, antennas.tx_mirrored), (legs[-1][2], antennas.rx_mirrored)):
        if mirrored:
            fields = fields * antennas.mirror[np.rint(direction[:, 2] * (len(antennas.mirror) - 1)).astype(int)]
            direction[:, 2] *= -1.0
        fields = fields * _gain(antennas.pattern, direction @ antennas.sensor_from_world.T)
    beat = receiver.beat_per_m * half_paths[:, 0] + receiver.beat_per_m_s * rates[:, 0]
    kept = 1.0 / np.sqrt(1.0 + (beat / receiver.corner_hz) ** (2 * receiver.order))
    strengths = receiver.scale * fields * kept / (out * legs[-1][0])
    energy = np.abs(strengths) ** 2
    folds = (half_paths[:, 0] > receiver.max_range) | (np.abs(rates[:, 0]) > receiver.max_speed)
    energies[ALL] += energy.sum()
    energies[FOLDED] += energy[folds].sum()
    return Echoes(half_paths, rates, strengths.astype(np.complex64))


def _gain(pattern: NDArray[np.float32], directions: Array) -> Array:
    """The gain of one antenna towards unit vectors, sensor axes."""
    last = pattern.shape[0] - 1
    a, b = 0.5 * (directions[:, 1:3].T + 1.0) * last
    i, j = (np.clip(x.astype(int), 0, last - 1) for x in (a, b))
    p, q, t = a - i, b - j, pattern
    near = (1.0 - p) * t[i, j] + p * t[i + 1, j]
    return np.asarray((1.0 - q) * near + q * ((1.0 - p) * t[i, j + 1] + p * t[i + 1, j + 1]))


def _point_legs(points: Array, velocities: Array, end: Array, velocity: Array) -> tuple[Array, Array, Array]:
    """Lengths, their rates, and unit directions from the antenna."""
    apart = points - end
    length = np.linalg.norm(apart, axis=1)
    direction = apart / length[:, None]
    return length, np.einsum("ij,ij->i", direction, velocities - velocity), direction


_OUT = types.Tuple((float64[:, ::1], float64[:, ::1], complex64[::1], float64[::1]))


@inlined
def _shown(line, shares, labels, across, through, found):
    """The pixels of a row of the picture that scatter and are of a class that is seen; returns their number."""
    rows, packed, x, depths, scattered, passed = found
    n, last = 0, through.shape[0] - 1
    for j in range(line.shape[0]):
        # every pixel is written, and the next one over it if it does not count: edges of leaves are hard to predict
        hit = line[j, 1] != 0
        row, material = int64(line[j, 1]) - 1 if hit else 0, line[j, 2] & uint32(0xFF) if hit else uint32(0)
        share = shares[material]
        counts = hit & (share > 0.0) & class_shown(row, material, labels)
        rows[n], packed[n], x[n], scattered[n] = row, line[j, 2], across[j], share
        depths[n], passed[n] = float64(np.uint32(line[j, 0]).view(np.float32)), through[min(j, last)]
        n += int64(counts)
    return n


@inlined
def _fields(n, y, m, scale, found, out):
    """Points, m in world axes from the sensor, cosines of the angle to the normal, and fields without the antennas."""
    _, packed, xs, depths, scattered, passed = found
    px, py, pz, cosines, fields = out
    xx, xy, xz = m[0, 0], m[0, 1], m[0, 2]
    yx, yy, yz = m[1, 0], m[1, 1], m[1, 2]
    zx, zy, zz = m[2, 0], m[2, 1], m[2, 2]
    for q in range(n):
        x, depth = xs[q], depths[q]
        dx, dy, dz = xx * x + xy * y + xz, yx * x + yy * y + yz, zx * x + zy * y + zz
        nx, ny, nz = unpacked_normal(packed[q])
        slant = np.sqrt(x * x + y * y + 1.0)
        cosine = -(nx * dx + ny * dy + nz * dz) / slant
        px[q], py[q], pz[q], cosines[q] = dx * depth, dy * depth, dz * depth, cosine
        # dΩ = 1 / (fx·fy·slant³) of a pixel, and R = depth·slant
        fields[q] = scale * depth * np.sqrt(scattered[q] * cosine / slant) * passed[q]


@inlined
def _on_things(n, rows, position, lowest, objects, points, out):
    """Leaves out what faces away or is too low, finds where on its object the rest is, and returns its number."""
    px, py, pz, cosines, fields = points
    (own_x, own_y, own_z), (vx, vy, vz) = out
    standing, poses, speeds, turns, n_standing = objects
    kept = 0
    for q in range(n):
        if cosines[q] <= 0.0 or pz[q] < lowest:
            continue
        point = (px[q], py[q], pz[q])
        px[kept], py[kept], pz[kept], fields[kept] = point[0], point[1], point[2], fields[q]
        place = (point[0] + position[0], point[1] + position[1], point[2] + position[2])
        row = rows[q]
        rows[kept] = row
        if row < n_standing:
            _, at = own_place(standing, row, place)
            vx[kept] = vy[kept] = vz[kept] = 0.0
        else:
            arm, at = own_place(poses, row - n_standing, place)
            vx[kept], vy[kept], vz[kept] = carried(speeds, turns, row - n_standing, arm)
        own_x[kept], own_y[kept], own_z[kept] = at
        kept += 1
    return kept


@inlined
def _phases(n, rows, own, re, im):
    x, y, z = own
    for q in range(n):
        c, d = cos_sin(surface_phase(rows[q], x[q], y[q], z[q]))
        re[q], im[q] = c, d


@inlined
def _legs(n, points, velocities, end, velocity, out):
    """As `leg` for each patch."""
    px, py, pz = points[0], points[1], points[2]
    vx, vy, vz = velocities
    lengths, rates, ux, uy, uz = out
    ends, speeds = (end[0], end[1], end[2]), (velocity[0], velocity[1], velocity[2])
    for q in range(n):
        point, moves = (px[q], py[q], pz[q]), (vx[q], vy[q], vz[q])
        lengths[q], rates[q], ux[q], uy[q], uz[q] = leg(point, moves, ends, speeds)


@inlined
def _gains(n, table, sensor_from_world, directions, sign):
    """Replaces the first component of directions, world axes, by the amplitude of one antenna towards them.

    The table covers direction cosines from -1 to 1. Its points are read in a loop of their own. sign: on upwards.
    """
    s, size, last = sensor_from_world, table.shape[0], table.shape[0] - 1
    flat, (ux, uy, uz) = table.reshape(table.size), directions
    left_x, left_y, left_z, up_x, up_y, up_z = s[1, 0], s[1, 1], s[1, 2], s[2, 0], s[2, 1], s[2, 2]
    for q in range(n):
        x, y, z = ux[q], uy[q], uz[q] * sign
        a = 0.5 * (left_x * x + left_y * y + left_z * z + 1.0) * last
        b = 0.5 * (up_x * x + up_y * y + up_z * z + 1.0) * last
        i, j = min(max(int64(a), 0), last - 1), min(max(int64(b), 0), last - 1)
        ux[q], uy[q], uz[q] = a - i, b - j, float64(i * size + j)
    next_row, next_column, both = np.uint32(size), np.uint32(1), np.uint32(size + 1)
    for k in range(n):
        p, q, at = ux[k], uy[k], np.uint32(uz[k])
        low = (1.0 - p) * flat[at] + p * flat[at + next_row]
        ux[k] = (1.0 - q) * low + q * ((1.0 - p) * flat[at + next_column] + p * flat[at + both])


@inlined
def _received(n, legs, antennas, mirrored, kept, re, im):
    """Multiplies fields by the antenna's factor, and by that of the bounce if it is mirrored, over the distance.

    The products of complex numbers keep their zero terms, which decide the sign of a zero.
    """
    lengths, _, ux, uy, uz = legs
    kept_re, kept_im = kept
    mirror, sign = antennas.mirror, -1.0 if mirrored else 1.0
    for q in range(n):
        kept_re[q], kept_im[q] = 1.0, 0.0
    if mirrored:
        for q in range(n):
            factor = complex(1.0, 0.0) * mirror[int64(min(max(uz[q], 0.0), 1.0) * (mirror.shape[0] - 1) + 0.5)]
            kept_re[q], kept_im[q] = factor.real, factor.imag
    _gains(n, antennas.pattern, antennas.sensor_from_world, (ux, uy, uz), sign)
    for q in range(n):
        gain = ux[q]
        a, b = kept_re[q] * gain - kept_im[q] * 0.0, kept_re[q] * 0.0 + kept_im[q] * gain
        a, b = (a + b * 0.0) / lengths[q], (b - a * 0.0) / lengths[q]
        re[q], im[q] = re[q] * a - im[q] * b, re[q] * b + im[q] * a


@inlined
def _filtered(n, receiver, path, rate, fields, kept):
    """Multiplies fields by the amplitude factor of a Butterworth low-pass."""
    x, y = kept
    for q in range(n):
        beat = receiver.beat_per_m * path[q] + receiver.beat_per_m_s * rate[q]
        x[q], y[q] = (beat / receiver.corner_hz) ** 2, 1.0
    for _ in range(receiver.order):
        for q in range(n):
            y[q] *= x[q]
    for q in range(n):
        fields[q] *= 1.0 / np.sqrt(1.0 + y[q])


@inlined
def _written(n, count, receiver, ways, turned, out):
    paths, rates = ways
    re, im, fields = turned
    half_paths, out_rates, strengths, energies = out
    max_range, max_speed = receiver.max_range, receiver.max_speed
    for k in range(half_paths.shape[1]):
        path, rate = paths[k], rates[k]
        for q in range(n):
            half_paths[count + q, k], out_rates[count + q, k] = path[q], rate[q]
    path, rate = paths[0], rates[0]
    # in variables, or each sum would wait for the last one to be written
    whole, folded = energies[ALL], energies[FOLDED]
    for q in range(n):
        a, b = re[q] * fields[q] - im[q] * 0.0, re[q] * 0.0 + im[q] * fields[q]
        strengths[count + q] = complex(a, b)
        energy = a**2 + b**2
        whole += energy
        folded += energy if (path[q] > max_range) | (abs(rate[q]) > max_speed) else 0.0
    energies[ALL], energies[FOLDED] = whole, folded


@kernel(int64(picture_type, model_parts_type, labels_type, antennas_type, receiver_type, _OUT))
def patch_echoes(view, model, known, ends, chain, out):
    """Writes half paths, rates, strengths and energies to `out`, and returns the number of echoes."""
    picture, objects, labels = SurfaceView(*view), ModelParts(*model), Labels(*known)
    antennas, receiver = WaveEnds(*ends), Receiver(*chain)
    # arrays are taken out of their record once, because each access counts references
    surface, lens, shares, through = picture.surface, picture.lens, receiver.shares, picture.through
    rows_of = (objects.standing, objects.poses, objects.velocities, objects.turns, objects.n_standing)
    rx, m, width, n_rx = antennas.rx, picture.world_from_camera, surface.shape[1], antennas.rx.shape[0]
    by_row = int64(through.shape[0] == surface.shape[0])
    fx, fy, cx, cy = lens[0], lens[1], lens[2], lens[3]
    scale, position = receiver.scale * np.sqrt(4.0 / (fx * fy)), picture.position
    across = (np.arange(width) - cx) / fx
    room = np.empty((24, width))
    rows, packed = np.empty(width, np.int64), np.empty(width, np.uint32)
    found = (rows, packed, room[0], room[1], room[2], room[23])
    points = (room[3], room[4], room[5], room[6], room[7])
    fields = points[4]
    own, velocities = (room[8], room[9], room[10]), (room[11], room[12], room[13])
    sent, back = (room[14], room[15], room[16], room[17], room[18]), (room[19], room[20], room[16], room[17], room[18])
    re, im, kept = room[21], room[22], (room[0], room[1])
    paths, rates = np.empty((n_rx, width)), np.empty((n_rx, width))
    count = 0
    for i in range(surface.shape[0]):
        y = (i - cy) / fy
        n = _shown(surface[i], shares, labels, across, through[i * by_row], found)
        _fields(n, y, m, scale, found, points)
        n = _on_things(n, rows, position, receiver.lowest, rows_of, points, (own, velocities))
        _phases(n, rows, own, re, im)
        _legs(n, points, velocities, antennas.tx, antennas.tx_velocity, sent)
        _received(n, sent, antennas, antennas.tx_mirrored, kept, re, im)
        for k in range(n_rx):
            _legs(n, points, velocities, rx[k], antennas.rx_velocity, back)
            for q in range(n):
                paths[k, q], rates[k, q] = 0.5 * (sent[0][q] + back[0][q]), 0.5 * (sent[1][q] + back[1][q])
        _received(n, back, antennas, antennas.rx_mirrored, kept, re, im)
        _filtered(n, receiver, paths[0], rates[0], fields, kept)
        _written(n, count, receiver, (paths, rates), (re, im, fields), out)
        count += n
    return count


class CpuEchoes:
    """Finds echoes in the pictures of one burst."""

    def found(
        self,
        pictures: list[SurfaceView],
        objects: ModelParts,
        labels: Labels,
        ways: list[Way],
        mirrors: Mirrors | None,
        energies: Energies,
    ) -> list[Echoes]:
        """Of the patches of each picture by each way, and of mirror points by the first way."""
        sums, n_rx = energies.sums, len(ways[0][0].rx)
        pixels = sum(picture.surface.shape[0] * picture.surface.shape[1] for picture in pictures)
        most = pixels * len(ways) + MOST_MIRRORS * len(pictures)
        # all in the same arrays, one part after the other, so that nothing is copied when they are joined
        half_paths, rates, strengths = np.empty((most, n_rx)), np.empty((most, n_rx)), np.empty(most, np.complex64)
        count = 0
        for picture in pictures:
            for antennas, receiver in ways:
                count += patch_echoes(
                    tuple(picture), tuple(objects), tuple(labels), tuple(antennas), tuple(receiver),
                    (half_paths[count:], rates[count:], strengths[count:], sums),
                )  # fmt: skip
        for picture in pictures:
            if mirrors is None:
                break
            part = _mirrors_in(picture, objects, labels, mirrors, ways[0], sums)
            here = slice(count, count + len(part.strengths))
            half_paths[here], rates[here], strengths[here] = part.half_paths, part.rates, part.strengths
            count = here.stop
        return [Echoes(half_paths[:count], rates[:count], strengths[:count])]

    def joined(self, parts: list[Echoes]) -> Echoes:
        if len(parts) == 1:
            return parts[0]
        return Echoes(
            np.concatenate([part.half_paths for part in parts]),
            np.concatenate([part.rates for part in parts]),
            np.concatenate([part.strengths for part in parts]),
        )


def _mirrors_in(
    picture: SurfaceView, objects: ModelParts, labels: Labels, mirrors: Mirrors, way: Way, energies: Array
) -> Echoes:
    """Echoes of the points at which a surface faces the radar."""
    found = np.empty((MOST_MIRRORS, COLUMNS))
    camera = picture.world_from_camera
    count = mirror_points(picture.surface, picture.lens, camera, mirrors.amplitudes, tuple(labels), found)
    points, fields = mirror_fields(found[:count], picture, mirrors)
    velocities = _surface_velocities(picture, objects, found[:count, 2].astype(int), points)
    return point_echoes(points, velocities, fields, *way, energies)


def _surface_velocities(picture: SurfaceView, objects: ModelParts, rows: NDArray[np.intp], points: Array) -> Array:
    """m/s of points of the model's rows; points in world axes from the sensor."""
    out = np.zeros((len(points), 3))
    k = rows - objects.n_standing
    moves = k >= 0
    k = k[moves]
    arm = points[moves] + picture.position - objects.poses[k, :, 3]
    out[moves] = objects.velocities[k] + np.cross(objects.turns[k], arm)
    return out
