"""Bytes damaged as lines, disks and enemies damage them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from random import Random

Mutation = Callable[[bytes, Random], bytes]
HUGE = (2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 0x7FFF_FFFF_FFFF_FFFF, 2**64 - 1)


def _cut(data: bytes, chance: Random) -> bytes:
    return data[: chance.randrange(len(data))]


def _flipped(data: bytes, chance: Random) -> bytes:
    out = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 8, 64))):
        out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
    return bytes(out)


def _huge_count(data: bytes, chance: Random) -> bytes:
    """A large number in place of some bytes: a count, a length, an offset."""
    value = chance.choice(HUGE)
    size = chance.choice((2, 4, 4, 8))
    number = (value & ((1 << 8 * size) - 1)).to_bytes(size, chance.choice(("little", "big")))
    place = chance.randrange(max(1, len(data) - size))
    return data[:place] + number + data[place + size :]


def _digits(data: bytes, chance: Random) -> bytes:
    """A long number in place of one digit."""
    places = [place for place in range(min(len(data), 100_000)) if data[place : place + 1].isdigit()]
    if not places:
        return _flipped(data, chance)
    place = chance.choice(places)
    number = chance.choice((b"99999999999999", b"-1", b"1e999", b"NaN", b"0", b"4294967295"))
    return data[:place] + number + data[place + 1 :]


def _float(data: bytes, chance: Random) -> bytes:
    place = chance.randrange(max(1, len(data) - 4))
    value = struct.pack("<f", chance.choice((float("nan"), float("inf"), -1e38, 1e-40)))
    return data[:place] + value + data[place + 4 :]


def _repeated(data: bytes, chance: Random) -> bytes:
    begin = chance.randrange(len(data))
    piece = data[begin : begin + chance.randrange(1, 200)]
    return data[:begin] + piece * chance.choice((2, 3, 50)) + data[begin:]


def _dropped(data: bytes, chance: Random) -> bytes:
    begin = chance.randrange(len(data))
    return data[:begin] + data[begin + chance.randrange(1, 100) :]


def _zeros(data: bytes, chance: Random) -> bytes:
    begin = chance.randrange(len(data))
    end = min(len(data), begin + chance.randrange(1, 500))
    return data[:begin] + bytes(end - begin) + data[end:]


def _garbage(data: bytes, chance: Random) -> bytes:
    return chance.randbytes(chance.choice((0, 1, 7, 64, 1000, 5000)))


def _garbage_behind(data: bytes, chance: Random) -> bytes:
    return data[: chance.randrange(len(data))] + chance.randbytes(chance.randrange(1, 300))


MUTATIONS: Sequence[Mutation] = (
    _cut, _flipped, _flipped, _huge_count, _huge_count, _digits, _float, _repeated, _dropped, _zeros, _garbage,
    _garbage_behind,
)  # fmt: skip


def damaged(data: bytes, chance: Random) -> tuple[bytes, str]:
    """Damaged once or twice, and how."""
    names = []
    for _ in range(chance.choice((1, 1, 2))):
        mutation = chance.choice(MUTATIONS)
        data = mutation(data or b"\0", chance)
        names.append(mutation.__name__.strip("_"))
    return data, "+".join(names)
