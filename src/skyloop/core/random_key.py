"""The key of a stream of random numbers. Apart from `keyed_random`, which loads the compiler of its kernels."""

from __future__ import annotations

import hashlib

import numpy as np


def stream_key(seed: int, name: str) -> np.uint64:
    """64 bits that follow from the seed and the stream's name, and from nothing else."""
    digest = hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))
