"""Noise: the numbers of one sample from the densities of a data sheet, for one sensor or thousands.

A normal costs a quarter of the time of Box-Muller, so that a batch can sample hundreds of IMU-hours.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import math

import numpy as np
from numba import int64, uint32, uint64

from skyloop.core.jit import inlined
from skyloop.core.keyed_random import KeyedRandom, fill_normal, philox
from skyloop_client.messages import Array

_TURN_ON_BLOCK = 1 << 32


def white_sd(density: float, period_s: float) -> float:
    """Per-sample sigma of white noise whose density is in unit/√Hz."""
    return density / math.sqrt(period_s)


def walk_step(random_walk: float, tau: float, period_s: float) -> tuple[float, float]:
    """(decay, step sigma) of a bias driven by white noise of density `random_walk` in unit·√Hz.

    With infinite `tau` it is a random walk, otherwise Gauss-Markov. Both are the exact discretisation of db/dt = -b/tau
    + random_walk·n, whose stationary variance is random_walk²·tau/2.
    """
    if math.isinf(tau):
        return 1.0, random_walk * math.sqrt(period_s)
    variance = 0.5 * random_walk**2 * tau * -math.expm1(-2.0 * period_s / tau)
    return math.exp(-period_s / tau), math.sqrt(variance)


def markov_step(sd: float, tau: float, period_s: float) -> tuple[float, float]:
    """(decay, step sigma) of a Gauss-Markov error whose stationary sigma is `sd`."""
    return math.exp(-period_s / tau), sd * math.sqrt(-math.expm1(-2.0 * period_s / tau))


def turn_on_normals(rng: KeyedRandom, size: int) -> Array:
    """Standard normals for `Sensor.initial_state`, separate from those of the sample with the same index."""
    out = np.empty(size)
    fill_normal(rng.key, np.uint64(rng.index), np.uint64(_TURN_ON_BLOCK), out)
    return out


@inlined
def quantised(value, lsb):
    """Rounded to the nearest multiple of `lsb`; 0: unchanged."""
    return value if lsb == 0.0 else lsb * np.rint(value / lsb)


@inlined
def saturated(value, limit):
    return min(max(value, -limit), limit)


# Ziggurat (Marsaglia and Tsang 2000) of 256 layers of equal area. Layer and position come from different
# bits of a word (Doornik 2005): 8 bits choose the layer, 24 the position in it.
_LAYERS = 256
_TAIL_START = 3.6541528853610088
_RETRY_SHIFT = np.uint64(40)
_PER_PLACE = 2.0**-23
_PER_WORD = 2.0**-32


def _layer_edges() -> Array:
    """edges[i] is the right edge of layer i; that of layer 0 is its area, tail included, over its height."""
    height = math.exp(-0.5 * _TAIL_START**2)
    area = _TAIL_START * height + math.sqrt(0.5 * math.pi) * math.erfc(_TAIL_START / math.sqrt(2.0))
    edges = [area / height, _TAIL_START]
    while len(edges) < _LAYERS:
        edges.append(math.sqrt(-2.0 * math.log(area / edges[-1] + math.exp(-0.5 * edges[-1] ** 2))))
    return np.array([*edges, 0.0])


_EDGES = _layer_edges()


@inlined
def _place(word):
    """The layer that a word selects, and the position in it."""
    bits = int64(word)
    layer = bits & 255
    return layer, (float(bits >> 8) + 0.5 - 8388608.0) * _PER_PLACE * _EDGES[layer]


@inlined
def _drawn_again(word, key, index, draw):
    """For words outside their layer's rectangle: tail, wedge or a new word, from a separate counter."""
    layer, x = _place(word)
    attempt = 0
    while abs(x) >= _EDGES[layer + 1]:
        attempt += 1
        a, b, _, fresh = philox(key, index, (uint64(attempt) << _RETRY_SHIFT) | draw)
        u, v = (float(a) + 0.5) * _PER_WORD, (float(b) + 0.5) * _PER_WORD
        if layer == 0:
            # Marsaglia's tail: an exponential overshoot, accepted with probability exp(-overshoot²/2)
            overshoot = -np.log(u) / _TAIL_START
            if -2.0 * np.log(v) > overshoot * overshoot:
                return math.copysign(_TAIL_START + overshoot, x)
        else:
            low, high = np.exp(-0.5 * _EDGES[layer] ** 2), np.exp(-0.5 * _EDGES[layer + 1] ** 2)
            if low + u * (high - low) < np.exp(-0.5 * x * x):
                return x
        layer, x = _place(uint32(fresh))
    return x


@inlined
def normal_from_word(word, key, index, draw):
    """A standard normal from 32 random bits; the few that need more bits take them from counter `draw`."""
    layer, x = _place(word)
    if abs(x) < _EDGES[layer + 1]:
        return x
    return _drawn_again(word, key, index, draw)


@inlined
def draw_normals(key, index, out):
    """Fills `out` (its length a multiple of four) with the standard normals of sample `index` under `key`."""
    for block in range(out.shape[0] // 4):
        a, b, c, d = philox(key, index, uint64(block))
        words = (uint32(a), uint32(b), uint32(c), uint32(d))
        for lane in range(4):
            draw = 4 * block + lane
            out[draw] = normal_from_word(words[lane], key, index, uint64(draw))
