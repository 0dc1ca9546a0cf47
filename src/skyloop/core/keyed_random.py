"""Random numbers that are a function of (seed, stream name, sample index, draw), never of what was drawn before.

Philox4x32-10 (Salmon et al., SC 2011): a counter goes in, four independent 32-bit words come out. Adding a sensor,
resuming, sharding or drawing in another order therefore changes no other stream.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import numpy as np
from numba import float64, uint32, uint64, void

from skyloop.core.jit import inlined, kernel
from skyloop.core.random_key import stream_key as stream_key
from skyloop_client.messages import Array

_MULTIPLIER_0 = np.uint64(0xD2511F53)
_MULTIPLIER_1 = np.uint64(0xCD9E8D57)
_WEYL_0 = np.uint32(0x9E3779B9)
_WEYL_1 = np.uint32(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_PER_WORD = 1.0 / 4294967296.0


@inlined
def philox(key, index, block):
    """Four 32-bit words for counter (index, block) under `key`."""
    c0 = uint32(index & _LOW)
    c1 = uint32(index >> _SHIFT)
    c2 = uint32(block & _LOW)
    c3 = uint32(block >> _SHIFT)
    k0 = uint32(key & _LOW)
    k1 = uint32(key >> _SHIFT)
    for _ in range(10):
        product_0 = _MULTIPLIER_0 * uint64(c0)
        product_1 = _MULTIPLIER_1 * uint64(c2)
        n0 = uint32(product_1 >> _SHIFT) ^ c1 ^ k0
        n2 = uint32(product_0 >> _SHIFT) ^ c3 ^ k1
        c1 = uint32(product_1 & _LOW)
        c3 = uint32(product_0 & _LOW)
        c0 = n0
        c2 = n2
        k0 = uint32(k0 + _WEYL_0)
        k1 = uint32(k1 + _WEYL_1)
    return c0, c1, c2, c3


@inlined
def normal_pair(key, index, block):
    """Two independent standard normals (Box-Muller; 64 bits go into the radius and the angle)."""
    a, b, c, d = philox(uint64(key), uint64(index), uint64(block))
    u = (float(a) + (float(b) + 0.5) * _PER_WORD) * _PER_WORD
    v = (float(c) + (float(d) + 0.5) * _PER_WORD) * _PER_WORD
    radius = np.sqrt(-2.0 * np.log(u))
    angle = 2.0 * np.pi * v
    return radius * np.cos(angle), radius * np.sin(angle)


@kernel(void(uint64, uint64, uint64, float64[::1]))
def fill_normal(key, index, first_block, out):
    n = out.shape[0]
    for i in range(0, n, 2):
        x, y = normal_pair(key, index, first_block + uint64(i // 2))
        out[i] = x
        if i + 1 < n:
            out[i + 1] = y


@kernel(void(uint64, uint64, uint64, float64[::1]))
def fill_uniform(key, index, first_block, out):
    n = out.shape[0]
    for i in range(0, n, 2):
        a, b, c, d = philox(key, index, first_block + uint64(i // 2))
        out[i] = (float(a) + (float(b) + 0.5) * _PER_WORD) * _PER_WORD
        if i + 1 < n:
            out[i + 1] = (float(c) + (float(d) + 0.5) * _PER_WORD) * _PER_WORD


class KeyedRandom:
    """The random numbers of one sample of one stream; draws advance within the sample only."""

    __slots__ = ("_block", "index", "key")

    def __init__(self, key: np.uint64, index: int) -> None:
        self.key = key
        self.index = index
        self._block = 0

    @property
    def counter(self) -> tuple[np.uint64, np.uint64]:
        """Key and index as kernels are given them."""
        return self.key, np.uint64(self.index)

    def normal(self, size: int) -> Array:
        out = np.empty(size)
        fill_normal(self.key, np.uint64(self.index), np.uint64(self._block), out)
        self._block += (size + 1) // 2
        return out

    def uniform(self, size: int) -> Array:
        """In (0, 1)."""
        out = np.empty(size)
        fill_uniform(self.key, np.uint64(self.index), np.uint64(self._block), out)
        self._block += (size + 1) // 2
        return out

    def generator(self) -> np.random.Generator:
        """A numpy generator with the same key, for sensors that need other distributions."""
        self._block += 1
        seed = [int(self.key), self.index, self._block]
        return np.random.Generator(np.random.Philox(seed=np.random.SeedSequence(seed)))
