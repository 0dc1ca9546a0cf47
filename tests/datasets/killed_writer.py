"""Records a planned share, but is killed in the middle of its n-th write: `killed_writer.py FOLDER N [N ...]`.

One child after another, each killed at its own N: what takes longest, loading the simulator, happens once. Exits with 0
if every child was killed.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from skyloop.core.jit import prepare
from skyloop.datasets.recording_plan import RecordingPlan
from skyloop.datasets.worker import record_alone
from skyloop.recording import journal
from skyloop.sim.assembly import needed_rooms


def record_until(number: int) -> None:
    calls, whole = 0, os.writev

    def half(file: int, parts: Sequence[memoryview]) -> int:
        nonlocal calls
        calls += 1
        if calls == number:
            data = b"".join(parts)
            os.write(file, data[: len(data) // 2 + 1])
            os.kill(os.getpid(), signal.SIGKILL)
        return whole(file, list(parts))

    journal.os.writev = half  # type: ignore[attr-defined]
    record_alone(Path(sys.argv[1]))


prepare(*needed_rooms(RecordingPlan.read(Path(sys.argv[1])).make_scenario()))
for each in map(int, sys.argv[2:]):
    child = os.fork()
    if child == 0:
        record_until(each)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
        sys.exit(f"the child of write {each} ended with {os.waitstatus_to_exitcode(status)}")
