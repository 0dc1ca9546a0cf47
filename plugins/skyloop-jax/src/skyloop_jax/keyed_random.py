"""The random numbers of `core/keyed_random.py` in 32-bit arithmetic, which JAX has without its 64-bit mode."""

# mypy: allow-untyped-defs

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
WEYL = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)
ROUNDS = 10


def _product(constant, b):
    """High and low word of constant · b."""
    high, low, mask = np.uint32(constant >> 16), np.uint32(constant & 0xFFFF), np.uint32(0xFFFF)
    b_high, b_low = b >> 16, b & mask
    first = high * b_low + ((low * b_low) >> 16)
    second = low * b_high + (first & mask)
    return high * b_high + (first >> 16) + (second >> 16), np.uint32(constant) * b


def philox(key_low, key_high, index, block):
    """Four 32-bit words for counter (index, block), both below 2³², under a 64-bit key; as `keyed_random.philox`."""
    shape = jnp.broadcast_shapes(jnp.shape(key_low), jnp.shape(index), jnp.shape(block))
    words = [jnp.broadcast_to(jnp.asarray(a, jnp.uint32), shape) for a in (index, 0, block, 0, key_low, key_high)]

    def one_round(_, words):
        c0, c1, c2, c3, k0, k1 = words
        high_0, low_0 = _product(MULTIPLIERS[0], c0)
        high_1, low_1 = _product(MULTIPLIERS[1], c2)
        return high_1 ^ c1 ^ k0, low_1, high_0 ^ c3 ^ k1, low_0, k0 + WEYL[0], k1 + WEYL[1]

    # a loop, because ten rounds written out take the compiler several times as long
    return jax.lax.fori_loop(0, ROUNDS, one_round, tuple(words))[:4]


def drawn(key_low, key_high, index, block, dtype):
    """Four numbers in (-1, 1), as an episode draws them."""
    scale = 2.0 / 4294967296.0
    return tuple((word.astype(dtype) + 0.5) * scale - 1.0 for word in philox(key_low, key_high, index, block))
