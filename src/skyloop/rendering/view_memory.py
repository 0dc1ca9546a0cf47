"""The memory through which the renderer process gives its pixels to the client, in slots: one for each request.

A surface buffer is read where it lies. Its slot is used again when nothing refers to the buffer any more; views that
somebody keeps are copied, so that they never hold much of the memory.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_LENT = 6
"""Slots in use, with those of requests under way; beyond these, pixels are copied."""


@dataclass(slots=True, eq=False)
class Slot:
    start: int
    size: int
    in_use: int = 1
    """The request that owns the slot, and each array that lies in it."""


class _Loan(weakref.ref[Any]):
    """Notices when an array is no longer used. Views of the array keep it alive."""

    __slots__ = ("slot",)

    slot: Slot


class ViewMemory:
    def __init__(self) -> None:
        self.file = _anonymous_file()
        """Freed with the last process that holds it."""
        self.size = 0
        self._map: Any = b""
        self._slots: list[Slot] = []
        self._loans: dict[int, _Loan] = {}
        self._ended: deque[_Loan] = deque()
        """Of arrays that are gone; any thread may append."""

    def take(self, size: int) -> Slot:
        """A slot of at least this many bytes, for one request."""
        self._reclaim()
        free = [slot for slot in self._slots if not slot.in_use]
        for slot in free:
            if slot.size >= size:
                slot.in_use = 1
                return slot
        # smaller ones at the end are no longer needed
        while self._slots and not self._slots[-1].in_use:
            self._slots.pop()
        start = self._slots[-1].start + self._slots[-1].size if self._slots else 0
        slot = Slot(start, -(-size // mmap.PAGESIZE) * mmap.PAGESIZE)
        self._slots.append(slot)
        if start + slot.size > self.size:
            self.size = start + slot.size
            os.ftruncate(self.file, self.size)
            # the arrays in use keep the map before this one
            self._map = mmap.mmap(self.file, self.size)
        return slot

    def words(self, offset: int, n: int) -> NDArray[np.uint32]:
        """Pixels as they are now; the next request may overwrite them."""
        return np.frombuffer(self._map, np.uint32, n, offset)

    def kept(self, slot: Slot, offset: int, shape: tuple[int, ...]) -> NDArray[np.uint32]:
        """Pixels of a slot that stay as they are."""
        self._reclaim()
        array = np.ndarray(shape, np.uint32, self._map, offset)
        if slot.in_use == 1 and sum(other.in_use > 0 for other in self._slots) > MOST_LENT:
            return array.copy()
        loan = _Loan(array, self._ended.append)
        loan.slot = slot
        self._loans[id(loan)] = loan
        slot.in_use += 1
        return array

    def leave(self, slot: Slot) -> None:
        """The request that took the slot no longer needs it."""
        slot.in_use -= 1

    def close(self) -> None:
        """Arrays in use keep their memory."""
        os.close(self.file)
        self._map = b""

    def _reclaim(self) -> None:
        while self._ended:
            loan = self._ended.popleft()
            del self._loans[id(loan)]
            loan.slot.in_use -= 1


def _anonymous_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("skyloop-views")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
