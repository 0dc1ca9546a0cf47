"""Echoes of matt surfaces: every pixel of a view is a patch that scatters in all directions.

A patch has the area dA = R²·dΩ / cos θ and the cross section σ⁰·dA, σ⁰ = 4·share·cos² θ as for a Lambertian surface.
Its field is the root of that, so that the total power does not depend on the number of pixels. Its phase is a hash of
its position in the thing's own axes, so that it stays with a moving thing.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numba import boolean, complex64, float32, float64, int32, int64, types, uint8, uint32, uint64
from numpy.typing import NDArray

from skyloop.core.jit import inlined, kernel, record_type
from skyloop.sensors.radar.spreading import cos_sin
from skyloop.world.model import BY_MATERIAL
from skyloop_client.messages import Array

GRAIN = 1e-3
"""m within which two points of a surface have the same phase: less than a pixel at four times the usual resolution."""
FOLDED, ALL = 0, 1


@dataclass(frozen=True, slots=True, eq=False)
class Echoes:
    """The echoes at each receiver, as if from this many points."""

    half_paths: Array
    """(n, n_rx) m, half the path from transmitter to receiver, at the middle of the burst."""
    rates: Array
    """(n, n_rx) m/s at which the half paths grow."""
    strengths: NDArray[np.complex64]
    """(n,) V, peak, at the converter."""


@dataclass(slots=True, eq=False)
class Energies:
    """V² of a burst's echoes: of those that fold, and of all."""

    sums: Array = field(default_factory=lambda: np.zeros(2))
    late: list[Callable[[], Array]] = field(default_factory=list)
    """Give (n, 2) further terms. Who asks waits for the GPU that works on them."""

    def folded_share(self) -> float:
        sums = self.sums
        for terms in self.late:
            sums = sums + terms().sum(axis=0)
        return float(sums[FOLDED] / sums[ALL]) if sums[ALL] > 0.0 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Start and end of a wave, in world axes from the sensor's origin. With a bounce, one is below the ground."""

    sensor_from_world: Array
    """(3, 3)."""

    tx: Array
    """(3,) m."""
    rx: Array
    """(n_rx, 3) m."""
    tx_velocity: Array
    """(3,) m/s."""
    rx_velocity: Array
    """(3,) m/s."""
    mirror: NDArray[np.complex64] = field(default_factory=lambda: np.ones(1, np.complex64))
    """The factor of a bounce on the wave, by the sine of its grazing angle from 0 to 1."""
    tx_mirrored: bool = False
    rx_mirrored: bool = False
    lowest: float = -np.inf
    """m above the sensor; things below it give no echo."""


@inlined
def unpacked_normal(packed):
    """World normal of a surface word; see world.views."""
    x = ((packed >> 8) & 0xFFF) / 2047.0 - 1.0
    y = ((packed >> 20) & 0xFFF) / 2047.0 - 1.0
    z = 1.0 - abs(x) - abs(y)
    if z < 0.0:
        x, y = (1.0 - abs(y)) * (1.0 if x >= 0.0 else -1.0), (1.0 - abs(x)) * (1.0 if y >= 0.0 else -1.0)
    size = 1.0 / np.sqrt(x * x + y * y + z * z)
    return x * size, y * size, z * size


@inlined
def antenna(table, left, up):
    """One antenna's amplitude towards direction cosines; the table covers -1 to 1."""
    last = table.shape[0] - 1
    a, b = 0.5 * (left + 1.0) * last, 0.5 * (up + 1.0) * last
    i, j = min(max(int64(a), 0), last - 1), min(max(int64(b), 0), last - 1)
    p, q = a - i, b - j
    low = (1.0 - p) * table[i, j] + p * table[i + 1, j]
    return (1.0 - q) * low + q * ((1.0 - p) * table[i, j + 1] + p * table[i + 1, j + 1])


@inlined
def towards(x, y, z, table, sensor_from_world, mirror, mirrored):
    """The factor of an antenna, and of the bounce if it is mirrored, on a wave along a unit vector in world axes."""
    s, kept = sensor_from_world, complex(1.0, 0.0)
    if mirrored:
        kept, z = kept * mirror[int64(min(max(z, 0.0), 1.0) * (mirror.shape[0] - 1) + 0.5)], -z
    return kept * antenna(table, s[1, 0] * x + s[1, 1] * y + s[1, 2] * z, s[2, 0] * x + s[2, 1] * y + s[2, 2] * z)


@inlined
def filtered(beat, corner, order):
    """The amplitude factor of a Butterworth low-pass."""
    x = (beat / corner) ** 2
    y = 1.0
    for _ in range(order):
        y *= x
    return 1.0 / np.sqrt(1.0 + y)


@inlined
def leg(point, point_velocity, end, velocity):
    """Length of the straight path between a point and an antenna, its rate, and its direction seen from the antenna."""
    vx, vy, vz = point_velocity
    x, y, z = point[0] - end[0], point[1] - end[1], point[2] - end[2]
    length = np.sqrt(x * x + y * y + z * z)
    x, y, z = x / length, y / length, z / length
    return length, x * (vx - velocity[0]) + y * (vy - velocity[1]) + z * (vz - velocity[2]), x, y, z


@inlined
def surface_phase(row, x, y, z):
    """Turns, 0 to 1, the phase that belongs to a position in a thing's own axes."""
    h = uint64(int64(np.floor(x / GRAIN))) * uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> uint64(29))) + uint64(int64(np.floor(y / GRAIN)))
    h *= uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> uint64(32))) + uint64(int64(np.floor(z / GRAIN)))
    h *= uint64(0x94D049BB133111EB)
    h = (h ^ (h >> uint64(29))) + uint64(row)
    h *= uint64(0x9E3779B97F4A7C15)
    return float64((h ^ (h >> uint64(32))) >> uint64(40)) / 16777216.0


@inlined
def on_the_thing(row, place, things):
    """Phase in turns and velocity of a point, m, world, on a row of the model."""
    k = row - things.n_standing
    pose = things.standing[row] if k < 0 else things.poses[k]
    x, y, z = place[0] - pose[0, 3], place[1] - pose[1, 3], place[2] - pose[2, 3]
    vx = vy = vz = 0.0
    if k >= 0:
        velocities, turns = things.velocities, things.turns
        vx = velocities[k, 0] + turns[k, 1] * z - turns[k, 2] * y
        vy = velocities[k, 1] + turns[k, 2] * x - turns[k, 0] * z
        vz = velocities[k, 2] + turns[k, 0] * y - turns[k, 1] * x
    phase = surface_phase(
        row,
        pose[0, 0] * x + pose[1, 0] * y + pose[2, 0] * z,
        pose[0, 1] * x + pose[1, 1] * y + pose[2, 1] * z,
        pose[0, 2] * x + pose[1, 2] * y + pose[2, 2] * z,
    )
    return phase, (vx, vy, vz)


class Labels(NamedTuple):
    """The class of each row of the model, and the classes that the radar sees."""

    row_thing: Any
    thing_class: Any
    material_class: Any
    shown: Any
    """(256,) by class."""


@inlined
def class_shown(row, material, labels):
    kind = labels.thing_class[labels.row_thing[row]]
    return labels.shown[labels.material_class[material] if kind == BY_MATERIAL else kind]


def row_visibility(labels: Labels) -> NDArray[np.int8]:
    """What `class_shown` says of each row, 0 or 1, or 2 where it is the material's, and then of each material."""
    kinds = labels.thing_class[labels.row_thing]
    materials = np.zeros(256, np.int8)
    materials[: len(labels.material_class)] = labels.shown[labels.material_class]
    return np.concatenate([np.where(kinds == BY_MATERIAL, 2, labels.shown[kinds]).astype(np.int8), materials])


class Picture(NamedTuple):
    """The view whose pixels are the patches."""

    surface: Any
    lens: Any
    """fx, fy, cx, cy."""
    world_from_camera: Any
    """(3, 3)."""
    position: Any
    """(3,) m, world, of the camera."""
    through: Any
    """The amplitude that passes through what is in front, per pixel or, with shape (1, 1), for all pixels."""


class Things(NamedTuple):
    """Poses and motion of the model's rows; as in Model and Motion."""

    n_standing: int
    standing: Any
    poses: Any
    velocities: Any
    turns: Any


class Antennas(NamedTuple):
    """Start and end of the wave, as in Ends, and the pattern of one antenna."""

    pattern: Any
    sensor_from_world: Any
    tx: Any
    rx: Any
    tx_velocity: Any
    rx_velocity: Any
    mirror: Any
    tx_mirrored: bool
    rx_mirrored: bool


class Receiver(NamedTuple):
    """The numbers that turn a patch into an echo at the converter."""

    shares: Any
    """The share of the power that each material scatters."""
    scale: float
    """V·m² for a cross section of 1 m²."""
    beat_per_m: float
    """Hz per m."""
    beat_per_m_s: float
    """Hz per m/s."""
    corner_hz: float
    """Hz, of the low-pass."""
    order: int
    """The order of the low-pass."""
    max_range: float
    """m; farther echoes fold."""
    max_speed: float
    """m/s; faster echoes fold."""
    lowest: float
    """m above the sensor; things below it give no echo."""


Way = tuple[Antennas, Receiver]
"""One path of a wave to a patch and back."""

SURFACE = types.Array(uint32, 3, "C", readonly=True)
A1, A2, _A3 = (types.Array(float64, n, "C", readonly=True) for n in (1, 2, 3))
_I1, _U1, _B1 = (types.Array(kind, 1, "C", readonly=True) for kind in (int32, uint8, boolean))
_F2, _C1 = types.Array(float32, 2, "C", readonly=True), types.Array(complex64, 1, "C", readonly=True)

labels_type = record_type(Labels, row_thing=_I1, thing_class=_U1, material_class=_U1, shown=_B1)
_PICTURE = record_type(Picture, surface=SURFACE, lens=A1, world_from_camera=A2, position=A1, through=_F2)
_THINGS = record_type(Things, n_standing=int64, standing=_A3, poses=_A3, velocities=A2, turns=A2)
_ANTENNAS = record_type(
    Antennas, pattern=_F2, sensor_from_world=A2, tx=A1, rx=A2, tx_velocity=A1, rx_velocity=A1, mirror=_C1,
    tx_mirrored=boolean, rx_mirrored=boolean,
)  # fmt: skip
_RECEIVER = record_type(
    Receiver, shares=A1, scale=float64, beat_per_m=float64, beat_per_m_s=float64, corner_hz=float64, order=int64,
    max_range=float64, max_speed=float64, lowest=float64,
)  # fmt: skip
_OUT = types.Tuple((float64[:, ::1], float64[:, ::1], complex64[::1], float64[::1]))


@kernel(int64(_PICTURE, _THINGS, labels_type, _ANTENNAS, _RECEIVER, _OUT))
def patch_echoes(view, model, known, ends, chain, out):
    """Writes half paths, rates, strengths and energies to `out`, and returns the number of echoes."""
    picture, things, labels = Picture(*view), Things(*model), Labels(*known)
    antennas, receiver = Antennas(*ends), Receiver(*chain)
    half_paths, rates, strengths, energies = out
    surface, lens, shares, through = picture.surface, picture.lens, receiver.shares, picture.through
    # arrays are taken out of their record once, because each access counts references
    pattern, turn, mirror = antennas.pattern, antennas.sensor_from_world, antennas.mirror
    tx, rx, tx_velocity, rx_velocity = antennas.tx, antennas.rx, antennas.tx_velocity, antennas.rx_velocity
    count, m, by_pixel = 0, picture.world_from_camera, int64(through.shape[0] == surface.shape[0])
    fx, fy, cx, cy = lens[0], lens[1], lens[2], lens[3]
    scale, position = receiver.scale * np.sqrt(4.0 / (fx * fy)), picture.position
    for i in range(surface.shape[0]):
        y = (i - cy) / fy
        for j in range(surface.shape[1]):
            if surface[i, j, 1] == 0:
                continue
            row, material = int64(surface[i, j, 1]) - 1, surface[i, j, 2] & uint32(0xFF)
            if shares[material] <= 0.0 or not class_shown(row, material, labels):
                continue
            x = (j - cx) / fx
            depth = float64(np.uint32(surface[i, j, 0]).view(np.float32))
            dx = m[0, 0] * x + m[0, 1] * y + m[0, 2]
            dy = m[1, 0] * x + m[1, 1] * y + m[1, 2]
            dz = m[2, 0] * x + m[2, 1] * y + m[2, 2]
            nx, ny, nz = unpacked_normal(surface[i, j, 2])
            slant = np.sqrt(x * x + y * y + 1.0)
            cosine = -(nx * dx + ny * dy + nz * dz) / slant
            if cosine <= 0.0:
                continue
            point = (dx * depth, dy * depth, dz * depth)
            if point[2] < receiver.lowest:
                continue
            place = (point[0] + position[0], point[1] + position[1], point[2] + position[2])
            phase, velocity = on_the_thing(row, place, things)
            c, d = cos_sin(phase)
            turned = complex(c, d)
            sent, sent_rate, ux, uy, uz = leg(point, velocity, tx, tx_velocity)
            turned *= towards(ux, uy, uz, pattern, turn, mirror, antennas.tx_mirrored) / sent
            back = 0.0
            for k in range(rx.shape[0]):
                back, back_rate, ux, uy, uz = leg(point, velocity, rx[k], rx_velocity)
                half_paths[count, k], rates[count, k] = 0.5 * (sent + back), 0.5 * (sent_rate + back_rate)
            turned *= towards(ux, uy, uz, pattern, turn, mirror, antennas.rx_mirrored) / back
            path, rate = half_paths[count, 0], rates[count, 0]
            # dΩ = 1 / (fx·fy·slant³) of a pixel, and R = depth·slant
            field = scale * depth * np.sqrt(shares[material] * cosine / slant) * through[i * by_pixel, j * by_pixel]
            beat = receiver.beat_per_m * path + receiver.beat_per_m_s * rate
            field *= filtered(beat, receiver.corner_hz, receiver.order)
            turned *= field
            strengths[count] = turned
            energy = turned.real**2 + turned.imag**2
            energies[ALL] += energy
            folds = path > receiver.max_range or abs(rate) > receiver.max_speed
            energies[FOLDED] += energy if folds else 0.0
            count += 1
    return count
