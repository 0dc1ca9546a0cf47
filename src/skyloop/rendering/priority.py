"""How a thread shares the processor: the renderer must give way at once when the simulation has something to answer."""

from __future__ import annotations

import ctypes
import os
import platform
import struct

_SET_ATTRIBUTES = {"x86_64": 314, "aarch64": 274}
"""Number of the system call sched_setattr."""
_ATTRIBUTES = struct.Struct("IIQiIQQQII")


def take_short_turns(niceness: int = 0, turn_ns: int = 100_000) -> bool:
    """This thread and those it starts run `turn_ns` at a time; False where the system knows no such thing.

    Linux (6.12 and newer) lets a thread run 3 ms before another that wakes gets its turn, however nice the first is.
    """
    if niceness:
        os.nice(niceness)
    number = _SET_ATTRIBUTES.get(platform.machine())
    if platform.system() != "Linux" or number is None:
        return False
    attributes = _ATTRIBUTES.pack(_ATTRIBUTES.size, 0, 0, niceness, 0, turn_ns, 0, 0, 0, 0)
    return bool(ctypes.CDLL(None).syscall(number, 0, attributes, 0) == 0)
