"""The slots of the memory that renderer and client share: used again when nobody needs them, never before."""

from __future__ import annotations

import gc
import os

import numpy as np
import pytest

from skyloop.rendering.buffers import MOST_LENT, ViewMemory
from skyloop.world.views import without_alpha


def filled(memory: ViewMemory, number: int, words: int = 64) -> np.ndarray:
    """What a request brings: a slot is taken, the process writes into it, the client keeps the pixels and leaves it."""
    slot = memory.take(4 * words)
    os.pwrite(memory.file, np.full(words, number, np.uint32).tobytes(), slot.start)
    kept = memory.kept(slot, slot.start, (words,))
    memory.leave(slot)
    return kept


def test_a_slot_is_used_again_when_its_pixels_are_gone() -> None:
    memory = ViewMemory()
    for number in range(6):
        assert (filled(memory, number) == number).all()
        gc.collect()
    assert memory.size == 4096
    memory.close()


def test_a_part_of_the_pixels_keeps_them() -> None:
    memory = ViewMemory()
    part = filled(memory, 7)[10:20]
    others = [filled(memory, number) for number in range(3)]
    assert (part == 7).all()
    assert [int(other[0]) for other in others] == [0, 1, 2]
    memory.close()
    assert (part == 7).all()


def test_who_keeps_many_gets_copies() -> None:
    memory = ViewMemory()
    kept = [filled(memory, number) for number in range(50)]
    assert all((array == number).all() for number, array in enumerate(kept))
    assert memory.size <= (MOST_LENT + 1) * 4096
    memory.close()


def test_a_larger_slot_beside_one_in_use() -> None:
    memory = ViewMemory()
    small = filled(memory, 1)
    large = filled(memory, 2, 10_000)
    assert (small == 1).all()
    assert (large == 2).all()
    del small, large
    assert (filled(memory, 3, 20_000) == 3).all()
    # those before it were given up, since nobody uses them
    assert memory.size == 20 * 4096
    memory.close()


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 76_800])
def test_alpha_is_dropped(n: int) -> None:
    pixels = np.random.default_rng(n).integers(0, 256, (n, 4), dtype=np.uint8)
    assert np.array_equal(without_alpha(pixels.view(np.uint32).ravel()).reshape(n, 3), pixels[:, :3])
