"""What the simulation and the process that speaks DDS say to each other, and the memory that they share.

Orders go through a pipe, in order; the bytes they are about are in the shared memory. What is heard comes back through
another pipe, with its bytes. Endpoints are known by the numbers in which they were opened."""

from __future__ import annotations

import struct
from collections import deque

ORDER = struct.Struct("<IIQQ8x")
"""What, of which endpoint, and where its bytes are in the shared memory: start and size."""
OPEN_WRITER, OPEN_READER, SEND = 1, 2, 3
"""To open takes a JSON of topic, type and quality."""
EVENT = struct.Struct("<IIQ")
"""What, of which endpoint, and how many bytes follow."""
READY, OPENED, TAKEN, FAILED = 1, 2, 3, 4
"""The participant's identity, an endpoint's identity, a message, and why there is no participant."""
MOST_ENDPOINTS = 8192
COUNTS = 2
DONE, LOST = 0, 1
"""uint64 at the start of the memory: orders that were carried out, and messages for which DDS had no room."""
MATCHED = 64
"""Where the memory has a byte for each endpoint: how many of others it is matched with, 255 at most."""
DATA = 16384
"""Where the bytes of messages begin."""
SIZE = DATA + (64 << 20)
"""Of the memory. Pages that were never used take no room."""
MOST_UNDER_WAY = 512
"""Orders. A simulation that is faster waits for the process, which itself waits for nobody."""


class Ring:
    """Which bytes of the shared memory are free. Orders are carried out in the order in which they were given."""

    def __init__(self, start: int, end: int) -> None:
        self._start, self._end = start, end
        self._under_way: deque[tuple[int, int]] = deque()
        """Start and end of the bytes of orders that are not carried out."""
        self.done = 0

    def take(self, size: int, done: int) -> int | None:
        """Where so many bytes are free. `done`: how many orders were carried out. None: nowhere yet."""
        while self._under_way and self.done < done:
            self._under_way.popleft()
            self.done += 1
        start = self._free(size + -size % 8) if len(self._under_way) < MOST_UNDER_WAY else None
        if start is not None:
            self._under_way.append((start, start + size + -size % 8))
        return start

    def _free(self, size: int) -> int | None:
        """With nothing under way that is the start, so that little memory is used."""
        if not self._under_way:
            return self._start if self._start + size <= self._end else None
        oldest, newest = self._under_way[0][0], self._under_way[-1][1]
        if newest > oldest:
            if newest + size <= self._end:
                return newest
            newest = self._start
        return newest if newest + size < oldest else None
