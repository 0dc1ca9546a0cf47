"""Waiting for commands that run in processes of their own."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Callable

PATIENCE_S = 180.0


def until(ready: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Looks again and again, because nothing tells of files and children of others, as long as the process runs."""
    deadline = time.monotonic() + PATIENCE_S
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise AssertionError(process.communicate())
        time.sleep(0.01)


def wait_until_gone(pid: int) -> None:
    """Ended, though whoever adopted it may not have asked how."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([handle], [], [], 10.0)[0], f"process {pid} is still there"
    finally:
        os.close(handle)
