"""Splits images into training, validation and test sets: 60, 20 and 20 %.

Neighbouring images of one flight are nearly the same, so a random split tests on almost the training images. Blocks of
the flight keep neighbours together: only the two images at each border between blocks are in different splits."""

from __future__ import annotations

import hashlib

from skyloop_client.errors import unknown_name

SPLITS = ("train", "val", "test")
FIFTHS = {"train": 3, "val": 1, "test": 1}
METHODS = ("blocks", "random")
ROUNDS = 3
"""Blocks of each split per flight."""
LEAST_IN_ROUND = 20
"""Images. A flight with fewer has only one round."""


def check_method(method: str) -> None:
    if method not in METHODS:
        raise unknown_name("split", method, METHODS)


def split(n: int, method: str = "blocks", seed: int = 0) -> list[str]:
    """The split of each of n images in order of time. `seed` is used only by "random"."""
    check_method(method)
    if method == "blocks":
        return _blocks(n, ROUNDS if n >= ROUNDS * LEAST_IN_ROUND else 1)
    # sorted by a hash, because random numbers may change with numpy's version
    order = sorted(range(n), key=lambda i: hashlib.sha256(f"{seed}/{i}".encode()).digest())
    dealt = dict(zip(order, _blocks(n, 1), strict=True))
    return [dealt[i] for i in range(n)]


def _blocks(n: int, rounds: int) -> list[str]:
    """Each round begins with another split, so that no split always gets the same part of each side of a square."""
    out: list[str] = []
    fifths = 0
    for turn in range(rounds):
        for k in range(len(SPLITS)):
            name = SPLITS[(turn + k) % len(SPLITS)]
            fifths += FIFTHS[name]
            end = -(-fifths * n // (5 * rounds))
            out += [name] * (end - len(out))
    return out
