"""The inner loops of the LiDAR: rays from firings, and returns from what the rays hit."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import float32, float64, int32, int64, uint8, uint16, uint64, void

from skyloop.core.jit import inlined, kernel
from skyloop.core.keyed_random import philox
from skyloop.core.rotations import cross, to_world
from skyloop.sensors.noise import draw_normals
from skyloop.world.materials import MATERIALS
from skyloop.world.model import BY_MATERIAL
from skyloop.world.semantics import CLASS_ID

ECHO_DEPTH = 5.0
"""m over which echoes from the air become e times rarer: farther drops fill too little of the widening beam."""
ECHO_REFLECTANCE = 0.05

FIRST_CHANCE_BLOCK = 1 << 31
"""Of the random numbers for dropouts and echoes; range noise has those before it."""

_REFLECTANCES = np.array([material.reflectance for material in MATERIALS])
_MATERIAL_CLASSES = np.array([CLASS_ID[material.semantic] for material in MATERIALS], np.uint8)
_RAYS, _FLOATS = float32[:, ::1], float32[::1]


@inlined
def _sine_and_versine(x):
    """sin x and 1 - cos x; within half a radian, as in a sweep, by their series to 1e-11: a third of the time."""
    if abs(x) > 0.5:
        return np.sin(x), 1.0 - np.cos(x)
    y = x * x
    sine = x * (1.0 - y * (1 / 6) * (1.0 - y * (1 / 20) * (1.0 - y * (1 / 42) * (1.0 - y * (1 / 72)))))
    versine = 0.5 * y * (1.0 - y * (1 / 12) * (1.0 - y * (1 / 30) * (1.0 - y * (1 / 56) * (1.0 - y * (1 / 90)))))
    return sine, versine


@kernel(void(_RAYS, int64[::1], float64[::1], _RAYS, _RAYS))
def aim(directions, offsets_ns, motion, origins, along):
    """Rays in world axes from sensor axes; `motion` is position, velocity, acceleration, attitude, angular velocity
    at offset 0, the last constant in sensor axes."""
    p, v, a, q, w = motion[:3], motion[3:6], motion[6:9], motion[9:13], motion[13:]
    rate = np.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    scale = 1.0 / rate if rate > 0.0 else 0.0
    nx, ny, nz = scale * w[0], scale * w[1], scale * w[2]
    # Rodrigues: R(t) = R + sin(rate·t) R N + (1 - cos(rate·t)) R N², N the cross product with the axis of turning
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
    """m to the first echo from the air, which come at `rate`·exp(-r / ECHO_DEPTH) per metre; inf: none."""
    expected = rate * ECHO_DEPTH
    nearness = 1.0 + np.log(u) / expected if expected > 0.0 else 0.0
    return -ECHO_DEPTH * np.log(nearness) if nearness > 0.0 else np.inf


@inlined
def _uniform(word):
    return (float64(word) + 0.5) / 4294967296.0


@kernel(void(uint64, uint64, float64[::1]))
def draw_range_noise(key, index, out):
    """Standard normals for the firings of sweep `index`, a multiple of four."""
    draw_normals(key, index, out)


_IN_HITS = (_FLOATS, int32[::1], uint8[::1], _RAYS)
_OUT = (_RAYS, _FLOATS, _FLOATS, uint16[::1], int64[::1], uint8[::1], int32[::1])


@kernel(
    int64(
        int64, int64, *_IN_HITS, _RAYS, _RAYS, uint16[::1], int64[::1], int32[::1], uint8[::1], float64[::1],
        float64[::1], uint64, uint64, *_OUT,
    )
)  # fmt: skip
def keep_returns(
    first, count, distance, row, material, normal, along, directions, rings, offsets_ns, row_thing, thing_class,
    settings, normals, key, index, points, ranges, intensities, out_rings, out_offsets, classes, instances,
):  # fmt: skip
    """The returns of firings `first` on, whose hits are given, written from place `count` on; the new count."""
    min_range, max_range, noise_sd, dropout = settings[0], settings[1], settings[2], settings[3]
    min_signal, extinction, echo_rate, gain = settings[4], settings[5], settings[6], settings[7]
    for i in range(distance.shape[0]):
        k = first + i
        true, thing, kind = float64(distance[i]), 0, 0
        echo = np.inf
        if dropout > 0.0 or echo_rate > 0.0:
            # one block per firing, so that what a beam meets changes no other beam's chance
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
            if extinction > 0.0:
                signal *= np.exp(-2.0 * extinction * true)
            if signal * max_range * max_range < min_signal * true * true:
                continue
            thing = row_thing[row[i]]
            kind = thing_class[thing]
            if kind == BY_MATERIAL:
                kind = _MATERIAL_CLASSES[material[i]]
        measured = true + noise_sd * normals[k]
        if not min_range <= measured <= max_range:
            continue
        for axis in range(3):
            points[count, axis] = directions[k, axis] * measured
        ranges[count], intensities[count] = measured, gain * signal
        out_rings[count], out_offsets[count] = rings[k], offsets_ns[k]
        classes[count], instances[count] = kind, thing
        count += 1
    return count
