"""Tasks of the tests' campaigns: cheap, and some that crash, hang or fill the disk. Not tests themselves."""

from __future__ import annotations

import errno
import os
import signal
import time
from pathlib import Path
from typing import Any

CALLS: list[int] = []


def squared(x: float, seed: int) -> dict[str, Any]:
    """How often this module was called since it was loaded is told, too."""
    CALLS.append(seed)
    return {"squared": x * x, "odd_seed": seed % 2, "calls": len(CALLS), "success": x < 3.0}


def slow(x: float, log: str) -> dict[str, Any]:
    """Writes down that it was begun."""
    with Path(log).open("a", encoding="utf-8") as file:
        file.write(f"{x:g}\n")
    time.sleep(0.05)
    return {"doubled": 2 * x}


def _first_time(log: str, x: float) -> bool:
    try:
        (Path(log) / f"{x:g}").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def accident_prone(x: float, log: str) -> dict[str, Any]:
    """Some runs are lost the first time, some always, and some raise."""
    first = _first_time(log, x)
    if x == 1 and first:
        os.kill(os.getpid(), signal.SIGKILL)
    if x == 2:
        os._exit(3)
    if x == 3:
        signal.alarm(600)
        signal.pause()
    if x == 4:
        raise OSError(errno.ENOSPC, "No space left on device")
    if x == 5 and first:
        # as a fault in compiled code
        os.kill(os.getpid(), signal.SIGSEGV)
    return {"fine": x}


def announced(x: float, log: str) -> dict[str, Any]:
    """Says which process it runs in, so that a test can kill it."""
    note = Path(log) / f"{x:g}-{os.getpid()}-{os.getppid()}"
    note.touch()
    time.sleep(0.4)
    return {"doubled": 2 * x}


def doomed_once(x: float, log: str, doomed: list[float]) -> dict[str, Any]:
    """Says which process it runs in. A doomed run does not end the first time, so that a test can kill it."""
    first = not list(Path(log).glob(f"{x:g}-*"))
    (Path(log) / f"{x:g}-{os.getpid()}-{os.getppid()}").touch()
    if first and x in doomed:
        signal.alarm(600)
        signal.pause()
    return {"doubled": 2 * x}


def bulky(x: float, folder: Path) -> dict[str, Any]:
    """Fails, and leaves much."""
    (folder / "bulk.bin").write_bytes(os.urandom(300_000))
    return {"x": x, "success": False}
