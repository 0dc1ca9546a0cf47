"""Memory shared with a session on the same machine: arrays are copied here once and only told of in the message.

It is a file in memory without a name (memfd). A client opens it as a file of this process, which the system allows to
the same user only, and may read it. The system frees it with the last process that has it, also after a kill."""

from __future__ import annotations

import fcntl
import mmap
import os
import secrets
from bisect import bisect
from ipaddress import ip_address
from typing import Any

from skyloop_client.errors import LinkError
from skyloop_client.lent_memory import MARK_BYTES

LENT_BYTES = 64 << 20
"""Of one session. Pages that were never used cost nothing. When all is lent, arrays travel in the messages."""
LEAST_BYTES = 32_768
"""Smaller arrays travel in the message: sending them costs less than lending."""
LINE = 64
"""Blocks begin at multiples of this many bytes, a cache line."""
F_SEAL_FUTURE_WRITE = 0x10
"""Of Linux 5.1; not in Python's `fcntl`."""


class SharedBlocks:
    """The memory of one session, and which of it is lent."""

    def __init__(self, size: int = LENT_BYTES) -> None:
        self._size = size
        self._file = os.memfd_create("skyloop-link", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(self._file, size)
            self._map = mmap.mmap(self._file, size)
            for seals in (F_SEAL_FUTURE_WRITE, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL):
                fcntl.fcntl(self._file, fcntl.F_ADD_SEALS, seals)
        except BaseException:
            os.close(self._file)
            raise
        self._bytes = memoryview(self._map)
        self.mark = secrets.token_bytes(MARK_BYTES)
        self._bytes[:MARK_BYTES] = self.mark
        self._free: list[tuple[int, int]] = [(LINE, size - LINE)]
        """(start, bytes) of what is not lent, in order."""
        self._lent: dict[int, int] = {}
        self.taken = False
        """The client has opened it, and arrays may be lent."""
        self._counted = 0

    @property
    def told(self) -> dict[str, Any]:
        """For the hello."""
        return {"path": f"/proc/{os.getpid()}/fd/{self._file}", "bytes": self._size, "mark": self.mark.hex()}

    def lend(self, raw: memoryview) -> int | None:
        """Copy the bytes of an array. Returns where they begin, or None if the array is to be sent."""
        size = len(raw)
        if size < LEAST_BYTES:
            return None
        needed = -(-size // LINE) * LINE
        # the first that fits: the same few pages are used again and again, and stay in the processor's cache
        for number, (start, room) in enumerate(self._free):
            if room >= needed:
                if room == needed:
                    del self._free[number]
                else:
                    self._free[number] = (start + needed, room - needed)
                self._lent[start] = needed
                self._bytes[start : start + size] = raw
                self._counted += size
                return start
        return None

    def newly_lent(self) -> int:
        """Bytes that were lent since the last call."""
        counted, self._counted = self._counted, 0
        return counted

    def take_back(self, starts: Any) -> None:
        """What the client no longer uses, told with its question."""
        if not self.taken:
            # it has opened the memory, which needs no file any more
            self.taken = True
            os.close(self._file)
        for start in starts:
            room = self._lent.pop(start, None)
            if room is None:
                raise LinkError(f"memory at {start!r} is given back that was not lent")
            self._put_back(start, room)

    def _put_back(self, start: int, room: int) -> None:
        """Joined with its free neighbours."""
        after = bisect(self._free, (start, 0))
        if after < len(self._free) and self._free[after][0] == start + room:
            room += self._free.pop(after)[1]
        if after and sum(self._free[after - 1]) == start:
            start, room = self._free[after - 1][0], room + self._free[after - 1][1]
            self._free[after - 1] = (start, room)
        else:
            self._free.insert(after, (start, room))

    def close(self) -> None:
        """The client's arrays stay valid: its process has the memory, too."""
        self.take_back(())
        self._bytes.release()
        self._map.close()


def shared_with(peer: str) -> SharedBlocks | None:
    """Memory for a peer whose address is of this machine alone, where the system has such memory."""
    try:
        return SharedBlocks() if ip_address(peer.rpartition(":")[0]).is_loopback else None
    except (OSError, ValueError, AttributeError):
        return None
