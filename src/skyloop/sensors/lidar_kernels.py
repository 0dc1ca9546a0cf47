"""Scan patterns of a LiDAR, and its inner loops: rays from firings, and returns from what the rays hit."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import float32, float64, int32, int64, types, uint8, uint16, uint64, void
from numpy.typing import NDArray

from skyloop.core.jit import inlined, kernel, record_type
from skyloop.core.keyed_random import philox
from skyloop.core.rotations import cross, to_world
from skyloop.sensors.noise import draw_normals
from skyloop.world.materials import MATERIALS
from skyloop.world.model import BY_MATERIAL
from skyloop.world.semantics import CLASS_ID
from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S

# The two prisms of a Livox Mid-40 turn at 7294 and -4664 rpm. The beam swings through the middle at half their sum,
# and the plane in which it swings turns at half their difference.
SWING_HZ = (7294 + 4664) / 2 / 60
TURN_HZ = (7294 - 4664) / 2 / 60


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """The firings of a sweep in order of time."""

    directions: NDArray[np.float32]
    """(n, 3) unit, sensor axes: forward, left, up."""
    rings: NDArray[np.uint16]
    """(n,) channel of each firing, 0 the lowest."""
    offsets_ns: NDArray[np.int64]
    """(n,) from the end of the sweep, negative."""
    turn_hz: float = 0.0
    """Turns per second about forward from one sweep to the next, so that a rosette never repeats."""

    def directions_at(self, t_ns: int) -> NDArray[np.float32]:
        """The directions of the sweep that ends at `t_ns`."""
        if self.turn_hz == 0.0:
            return self.directions
        angle = 2.0 * np.pi * (self.turn_hz * (t_ns / NS_PER_S) % 1.0)
        c, s = np.float32(np.cos(angle)), np.float32(np.sin(angle))
        turned = self.directions.copy()
        left, up = self.directions[:, 1], self.directions[:, 2]
        turned[:, 1], turned[:, 2] = c * left - s * up, s * left + c * up
        return turned


def elevations(channels: int, vertical_fov_deg: tuple[float, float]) -> Array:
    """(channels,) rad, evenly from the lowest to the highest; a single channel is in the middle."""
    lower, upper = np.radians(vertical_fov_deg)
    return np.linspace(lower, upper, channels) if channels > 1 else np.array([0.5 * (lower + upper)])


def spinning(
    channels: int,
    vertical_fov_deg: tuple[float, float],
    horizontal_fov_deg: tuple[float, float],
    points_per_second: float,
    sweep: float,
    staggered: bool,
) -> Pattern:
    """A head that turns once per sweep of `sweep` seconds, counter-clockwise, and fires a column of channels at a time.

    It fires `points_per_second` over the full circle. Firings outside the horizontal field are dropped, not moved into
    it.
    """
    start, end = np.radians(horizontal_fov_deg)
    columns = max(1, round(points_per_second * sweep / channels))
    column = np.repeat(np.arange(columns), channels)
    ring = np.tile(np.arange(channels), columns)
    turned = (column + (ring / channels if staggered else 0.0)) / columns
    kept = 2.0 * np.pi * turned <= end - start + 1e-9
    azimuth, elevation = start + 2.0 * np.pi * turned, elevations(channels, vertical_fov_deg)[ring]
    flat = np.cos(elevation)
    directions = np.stack([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)], 1)[kept]
    offsets = np.rint((turned[kept] - 1.0) * sweep * NS_PER_S)
    return Pattern(directions.astype(np.float32), ring[kept].astype(np.uint16), offsets.astype(np.int64))


def rosette(cone_deg: float, points_per_second: float, sweep: float) -> Pattern:
    """One beam that swings through the middle of a cone of `cone_deg` full width; the plane of its swing turns."""
    n = max(1, round(points_per_second * sweep))
    share = np.arange(n) / n
    # whole swings per sweep, so that the next sweep is this one turned
    swings = max(1, round(SWING_HZ * sweep))
    aside = 0.5 * np.radians(cone_deg) * np.cos(2.0 * np.pi * swings * share)
    # counted back from the end of the sweep, where `directions_at` adds the turn so far
    around = 2.0 * np.pi * TURN_HZ * sweep * (share - 1.0)
    directions = np.stack([np.cos(aside), np.sin(aside) * np.cos(around), np.sin(aside) * np.sin(around)], 1)
    offsets = np.rint((share - 1.0) * sweep * NS_PER_S)
    return Pattern(directions.astype(np.float32), np.zeros(n, np.uint16), offsets.astype(np.int64), TURN_HZ)


ECHO_DEPTH = 5.0
"""m over which echoes from the air become e times rarer: drops farther away fill too little of the widening beam."""
ECHO_REFLECTANCE = 0.05

FIRST_CHANCE_BLOCK = 1 << 31
"""The first block of the random numbers for dropouts and echoes; range noise uses the blocks before it."""

_REFLECTANCES = np.array([material.reflectance for material in MATERIALS])
_MATERIAL_CLASSES = np.array([CLASS_ID[material.semantic] for material in MATERIALS], np.uint8)
_RAYS, _FLOATS = float32[:, ::1], float32[::1]


@inlined
def _sine_and_versine(x):
    """sin x and 1 - cos x. Within half a radian, as in a sweep, a series is exact to 1e-11 and three times as fast."""
    if abs(x) > 0.5:
        return np.sin(x), 1.0 - np.cos(x)
    y = x * x
    sine = x * (1.0 - y * (1 / 6) * (1.0 - y * (1 / 20) * (1.0 - y * (1 / 42) * (1.0 - y * (1 / 72)))))
    versine = 0.5 * y * (1.0 - y * (1 / 12) * (1.0 - y * (1 / 30) * (1.0 - y * (1 / 56) * (1.0 - y * (1 / 90)))))
    return sine, versine


@kernel(void(_RAYS, int64[::1], float64[::1], _RAYS, _RAYS))
def aim(directions, offsets_ns, motion, origins, along):
    """Computes rays in world axes from sensor axes. `motion` is position, velocity, acceleration, attitude and angular
    velocity at offset 0; the angular velocity is constant in sensor axes."""
    p, v, a, q, w = motion[:3], motion[3:6], motion[6:9], motion[9:13], motion[13:]
    rate = np.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    scale = 1.0 / rate if rate > 0.0 else 0.0
    nx, ny, nz = scale * w[0], scale * w[1], scale * w[2]
    # Rodrigues: R(t) = R + sin(rate·t) R N + (1 - cos(rate·t)) R N², N the cross product with the rotation axis
    still, once, twice = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for j in range(3):
        x, y, z = 1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0
        still[0, j], still[1, j], still[2, j] = to_world(q[0], q[1], q[2], q[3], x, y, z)
        x, y, z = cross(nx, ny, nz, x, y, z)
        once[0, j], once[1, j], once[2, j] = to_world(q[0], q[1], q[2], q[3], x, y, z)
        x, y, z = cross(nx, ny, nz, x, y, z)
        twice[0, j], twice[1, j], twice[2, j] = to_world(q[0], q[1], q[2], q[3], x, y, z)
    place, turn = np.empty(3), np.empty((3, 3))
    for k in range(directions.shape[0]):
        if k == 0 or offsets_ns[k] != offsets_ns[k - 1]:
            t = offsets_ns[k] * 1e-9
            s, c = _sine_and_versine(rate * t)
            for i in range(3):
                place[i] = p[i] + t * (v[i] + 0.5 * t * a[i])
                for j in range(3):
                    turn[i, j] = still[i, j] + s * once[i, j] + c * twice[i, j]
        x, y, z = float64(directions[k, 0]), float64(directions[k, 1]), float64(directions[k, 2])
        for i in range(3):
            origins[k, i] = place[i]
            along[k, i] = turn[i, 0] * x + turn[i, 1] * y + turn[i, 2] * z


@inlined
def _echo(u, rate):
    """m to the first echo from the air, inf: none; there are `rate`·exp(-r / ECHO_DEPTH) echoes per metre."""
    expected = rate * ECHO_DEPTH
    nearness = 1.0 + np.log(u) / expected if expected > 0.0 else 0.0
    return -ECHO_DEPTH * np.log(nearness) if nearness > 0.0 else np.inf


@inlined
def _uniform(word):
    return (float64(word) + 0.5) / 4294967296.0


@kernel(void(uint64, uint64, float64[::1]))
def draw_range_noise(key, index, out):
    """Standard normals for the firings of sweep `index`; their number is a multiple of four."""
    draw_normals(key, index, out)


class Sweep(NamedTuple):
    """The data shared by all firings of a sweep, and the data of each firing."""

    directions: NDArray[np.float32]
    """(n, 3) unit, sensor axes."""
    rings: NDArray[np.uint16]
    """(n,) channels."""
    offsets_ns: NDArray[np.int64]
    """(n,) ns."""
    normals: Array
    """At least (n,) standard normals, for the range noise."""
    part_object: NDArray[np.int32]
    object_class: NDArray[np.uint8]
    """Both as in the model."""
    key: np.uint64
    sweep: np.uint64
    """The index of the sweep's random numbers."""


class LaserSettings(NamedTuple):
    """The effects of the laser and the air on a return."""

    min_range: float
    """m."""
    max_range: float
    """m."""
    noise_sd: float
    """m, one sigma."""
    dropout: float
    """The share of firings that are lost."""
    min_signal: float
    """The signal that is just detected at `max_range`."""
    extinction: float
    """1/m, of the air."""
    echo_rate: float
    """1/m, the density of echoes from the air at the sensor."""
    gain: float
    """A factor on the intensities."""


_MET = types.Tuple((_FLOATS, int32[::1], uint8[::1], _RAYS, _RAYS))
_SWEEP = record_type(
    Sweep, directions=_RAYS, rings=uint16[::1], offsets_ns=int64[::1], normals=float64[::1], part_object=int32[::1],
    object_class=uint8[::1], key=uint64, sweep=uint64,
)  # fmt: skip
_SETTINGS = record_type(LaserSettings, **dict.fromkeys(LaserSettings._fields, float64))
_OUT = types.Tuple((_RAYS, _FLOATS, _FLOATS, uint16[::1], int64[::1], uint8[::1], int32[::1]))


@kernel(int64(int64, int64, _MET, _SWEEP, _SETTINGS, _OUT))
def keep_returns(first, count, met, firings, settings, out):
    """Writes the returns of the firings from `first` on to `out`, from index `count` on; returns the new count.

    met: distance, row, material and normal of what each firing hit, and its direction in world axes; out: points,
    ranges, intensities, rings, offsets, classes and instances.
    """
    distance, row, material, normal, along = met
    # arrays are taken out of their record once, because each access counts references
    directions, rings, offsets_ns, normals, part_object, object_class, key, index = firings
    laser = LaserSettings(*settings)
    points, ranges, intensities, out_rings, out_offsets, classes, instances = out
    min_range, max_range, dropout, echo_rate = laser.min_range, laser.max_range, laser.dropout, laser.echo_rate
    for i in range(distance.shape[0]):
        k = first + i
        true, instance, kind = float64(distance[i]), 0, 0
        echo = np.inf
        if dropout > 0.0 or echo_rate > 0.0:
            # one block of random numbers per firing, so that a beam's hit does not change the numbers of other beams
            lost, near, _, _ = philox(key, index, uint64(FIRST_CHANCE_BLOCK + k))
            if _uniform(lost) < dropout:
                continue
            echo = _echo(_uniform(near), echo_rate)
        if min_range <= echo < true:
            true, signal = echo, ECHO_REFLECTANCE
        elif row[i] < 0:
            continue
        else:
            facing = 0.0
            for axis in range(3):
                facing -= normal[i, axis] * along[i, axis]
            signal = _REFLECTANCES[material[i]] * facing
            if laser.extinction > 0.0:
                signal *= np.exp(-2.0 * laser.extinction * true)
            if signal * max_range * max_range < laser.min_signal * true * true:
                continue
            instance = part_object[row[i]]
            kind = object_class[instance]
            if kind == BY_MATERIAL:
                kind = _MATERIAL_CLASSES[material[i]]
        measured = true + laser.noise_sd * normals[k]
        if not min_range <= measured <= max_range:
            continue
        for axis in range(3):
            points[count, axis] = directions[k, axis] * measured
        ranges[count], intensities[count] = measured, laser.gain * signal
        out_rings[count], out_offsets[count] = rings[k], offsets_ns[k]
        classes[count], instances[count] = kind, instance
        count += 1
    return count
