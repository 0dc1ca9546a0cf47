"""Arrays that a simulator on the same machine lends instead of sending: read where they lie, given back when unused.

The simulator names its memory as a file of its process. Nothing has a name of its own, so nothing is left behind,
however either side ends. Memory that cannot be opened, or that is another one, is not used, and arrays travel in the
messages as to any other machine."""

from __future__ import annotations

import mmap
import os
import stat
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from skyloop_client.errors import CodecError

MARK_BYTES = 16
"""The memory begins with a random mark, told in the hello: the same path may lead elsewhere on another machine."""


class Loan:
    """One lent block. The arrays that look at it keep it alive; when the last is gone, the block may be given back."""

    __slots__ = ("__array_interface__", "_given_back", "_map", "_start")

    def __init__(self, layout: dict[str, Any], start: int, memory: LentMemory) -> None:
        self.__array_interface__ = layout
        self._start = start
        self._given_back = memory.given_back
        self._map = memory.map

    def __del__(self) -> None:
        self._given_back.append(self._start)


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
        self.given_back: deque[int] = deque()
        """Where blocks begin that are no longer used. Any thread may append."""
        self._size = size
        self._address = np.frombuffer(self.map, np.uint8).ctypes.data

    def array(self, dtype: np.dtype[Any], shape: tuple[int, ...], count: int, start: int) -> Any:
        """A block as a read-only array."""
        if start + count * dtype.itemsize > self._size:
            raise CodecError(f"an array beyond the end of the lent memory, at {start}")
        place = (self._address + start, True)
        return np.asarray(Loan({"version": 3, "typestr": dtype.str, "shape": shape, "data": place}, start, self))

    def unused(self) -> list[int]:
        """Where the blocks begin that are given back with the next question."""
        starts = []
        with suppress(IndexError):
            while True:
                starts.append(self.given_back.popleft())
        return starts


def opened(told: Any) -> LentMemory | None:
    """The memory that a hello tells of, or None."""
    try:
        return LentMemory(str(told["path"]), int(told["bytes"]), str(told["mark"]))
    except (KeyError, TypeError, ValueError, OSError):
        return None
