"""Scheduling of a thread: the renderer must give way at once when the simulation has work to do."""

from __future__ import annotations

import ctypes
import os
import platform
import struct

_SET_ATTRIBUTES = {"x86_64": 314, "aarch64": 274}
"""Number of the system call sched_setattr."""
_ATTRIBUTES = struct.Struct("IIQiIQQQII")


def take_short_turns(niceness: int = 0, turn_ns: int = 100_000) -> bool:
    """Makes this thread and those it starts run `turn_ns` at a time; False if the system does not support it.

    Linux (6.12 and newer) lets a thread run 3 ms before another that wakes up gets its turn, at any niceness.
    """
    # added to that of the process: a renderer of a nice process is nicer still
    niceness = os.nice(niceness)
    number = _SET_ATTRIBUTES.get(platform.machine())
    if platform.system() != "Linux" or number is None:
        return False
    attributes = _ATTRIBUTES.pack(_ATTRIBUTES.size, 0, 0, niceness, 0, turn_ns, 0, 0, 0, 0)
    return bool(ctypes.CDLL(None).syscall(number, 0, attributes, 0) == 0)
