"""Arrays that a simulator on the same machine lends instead of sending: read where they lie, given back when unused.

The simulator names its memory as a file of its process. Nothing has a name of its own, so nothing is left behind,
however either side ends. Memory that cannot be opened, or that is another one, is not used, and arrays travel in the
messages as to any other machine."""

from __future__ import annotations

import mmap
import os
import stat
import weakref
from collections import deque
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skyloop_client.errors import CodecError

MARK_BYTES = 16
"""The memory begins with a random mark, given in the hello: the same path may lead elsewhere on another machine."""


class Loan(weakref.ref[NDArray[np.generic]]):
    """Notices when one lent block is no longer used. Views of the block's array keep that array alive."""

    __slots__ = ("start",)

    start: int


class LentMemory:
    """The simulator's memory, open for reading."""

    def __init__(self, path: str, size: int, mark: str) -> None:
        """Raises OSError or ValueError if there is no such memory here."""
        found = Path(path).stat()
        if not stat.S_ISREG(found.st_mode) or found.st_size != size:
            raise ValueError(f"'{path}' is no memory of {size} bytes")
        opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            self.map = mmap.mmap(opened, size, prot=mmap.PROT_READ)
        finally:
            os.close(opened)
        if self.map[:MARK_BYTES].hex() != mark:
            raise ValueError(f"'{path}' is the memory of somebody else")
        given_back: deque[int] = deque()
        # not a method, whose reference to this object would keep the memory for longer than its arrays
        self._ended = lambda loan: given_back.append(loan.start)
        self.given_back = given_back
        """Where blocks begin that are no longer used. Any thread may append."""
        self._loans: dict[int, Loan] = {}
        """By the start of the block."""

    def array(self, dtype: np.dtype[np.generic], shape: tuple[int, ...], size: int, start: int) -> object:
        """A block as a read-only array."""
        if start + size > len(self.map):
            raise CodecError(f"an array beyond the end of the lent memory, at {start}")
        block: NDArray[np.generic] = np.ndarray(shape, dtype, self.map, start)
        loan = self._loans[start] = Loan(block, self._ended)
        loan.start = start
        return block

    def unused(self) -> list[int]:
        """Where the blocks begin that are given back with the next question."""
        starts = []
        with suppress(IndexError):
            while True:
                starts.append(self.given_back.popleft())
        return starts


def opened(lent: object) -> LentMemory | None:
    """The memory that a hello describes, or None."""
    match lent:
        case {"path": str(path), "bytes": int(size), "mark": str(mark)}:
            with suppress(ValueError, OSError):
                return LentMemory(path, size, mark)
    return None
