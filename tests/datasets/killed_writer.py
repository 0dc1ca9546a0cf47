"""Records a planned share, but is killed in the middle of its n-th write: `killed_writer.py FOLDER N`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from skyloop.datasets.worker import record_share
from skyloop.recording import journal

calls = 0
whole = os.writev


def half(file: int, parts: Sequence[memoryview]) -> int:
    global calls
    calls += 1
    if calls == int(sys.argv[2]):
        data = b"".join(parts)
        os.write(file, data[: len(data) // 2 + 1])
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(file, list(parts))


journal.os.writev = half  # type: ignore[attr-defined]
record_share(Path(sys.argv[1]), 0, 1)
