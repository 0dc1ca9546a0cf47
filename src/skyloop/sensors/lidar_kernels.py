"""The inner loops of the LiDAR: rays from firings, and returns from what the rays hit."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import float32, float64, int32, int64, uint8, uint16, uint64, void

from skyloop.compiled import inlined, kernel
from skyloop.keyed_random import philox
from skyloop.rotations import multiply, to_world
from skyloop.world.materials import MATERIALS
from skyloop.world.model import BY_MATERIAL
from skyloop.world.semantics import CLASS_ID

ECHO_DEPTH = 5.0
"""m over which echoes from the air become e times rarer: farther drops fill too little of the widening beam."""
ECHO_REFLECTANCE = 0.05

_REFLECTANCES = np.array([material.reflectance for material in MATERIALS])
_MATERIAL_CLASSES = np.array([CLASS_ID[material.semantic] for material in MATERIALS], np.uint8)
_RAYS, _FLOATS = float32[:, ::1], float32[::1]


@kernel(void(_RAYS, int64[::1], float64[::1], _RAYS, _RAYS))
def aim(directions, offsets_ns, motion, origins, along):
    """Rays in world axes from sensor axes; `motion` is position, velocity, acceleration, attitude, angular velocity
    at offset 0, the last constant in sensor axes."""
    p, v, a, q, w = motion[:3], motion[3:6], motion[6:9], motion[9:13], motion[13:]
    rate = np.sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2])
    scale = 1.0 / rate if rate > 0.0 else 0.0
    place, turn = np.empty(3), np.empty((3, 3))
    for k in range(directions.shape[0]):
        if k == 0 or offsets_ns[k] != offsets_ns[k - 1]:
            t = offsets_ns[k] * 1e-9
            c, s = np.cos(0.5 * rate * t), scale * np.sin(0.5 * rate * t)
            qw, qx, qy, qz = multiply(q[0], q[1], q[2], q[3], c, s * w[0], s * w[1], s * w[2])
            turn[0, 0], turn[1, 0], turn[2, 0] = to_world(qw, qx, qy, qz, 1.0, 0.0, 0.0)
            turn[0, 1], turn[1, 1], turn[2, 1] = to_world(qw, qx, qy, qz, 0.0, 1.0, 0.0)
            turn[0, 2], turn[1, 2], turn[2, 2] = to_world(qw, qx, qy, qz, 0.0, 0.0, 1.0)
            for i in range(3):
                place[i] = p[i] + t * (v[i] + 0.5 * t * a[i])
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


_IN_HITS = (_FLOATS, int32[::1], uint8[::1], _RAYS)
_OUT = (_RAYS, _FLOATS, _FLOATS, uint16[::1], int64[::1], uint8[::1], int32[::1])


@kernel(
    int64(
        int64, int64, *_IN_HITS, _RAYS, _RAYS, uint16[::1], int64[::1], int32[::1], uint8[::1], float64[::1],
        uint64, uint64, *_OUT,
    )
)  # fmt: skip
def keep_returns(
    first, count, distance, row, material, normal, along, directions, rings, offsets_ns, row_thing, thing_class,
    settings, key, index, points, ranges, intensities, out_rings, out_offsets, classes, instances,
):  # fmt: skip
    """The returns of firings `first` on, whose hits are given, written from place `count` on; the new count."""
    min_range, max_range, noise_sd, dropout = settings[0], settings[1], settings[2], settings[3]
    min_signal, extinction, echo_rate, gain = settings[4], settings[5], settings[6], settings[7]
    by_chance = noise_sd > 0.0 or dropout > 0.0 or echo_rate > 0.0
    for i in range(distance.shape[0]):
        k = first + i
        true, thing, kind, noise = float64(distance[i]), 0, 0, 0.0
        if by_chance:
            # one block per firing, so that what a beam meets changes no other beam's chance
            a, b, c, d = philox(key, index, uint64(k))
            if _uniform(c) < dropout:
                continue
            noise = noise_sd * np.sqrt(-2.0 * np.log(_uniform(a))) * np.cos(2.0 * np.pi * _uniform(b))
            echo = _echo(_uniform(d), echo_rate)
        else:
            echo = np.inf
        if min_range <= echo < true:
            true, signal = echo, ECHO_REFLECTANCE
        elif row[i] < 0:
            continue
        else:
            facing = 0.0
            for axis in range(3):
                facing -= normal[i, axis] * along[i, axis]
            signal = _REFLECTANCES[material[i]] * facing * np.exp(-2.0 * extinction * true)
            if signal * max_range * max_range < min_signal * true * true:
                continue
            thing = row_thing[row[i]]
            kind = thing_class[thing]
            if kind == BY_MATERIAL:
                kind = _MATERIAL_CLASSES[material[i]]
        measured = true + noise
        if not min_range <= measured <= max_range:
            continue
        for axis in range(3):
            points[count, axis] = directions[k, axis] * measured
        ranges[count], intensities[count] = measured, gain * signal
        out_rings[count], out_offsets[count] = rings[k], offsets_ns[k]
        classes[count], instances[count] = kind, thing
        count += 1
    return count
