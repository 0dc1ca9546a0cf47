"""Environments of real clients, made once in the cache and shared by all test processes."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable
from pathlib import Path

PATIENCE_S = 600.0


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """The folder of an environment; `make` fills it if no process has."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "skyloop" / "test-clients"
    folder = cache / f"{name}-{sys.version_info[0]}.{sys.version_info[1]}"
    cache.mkdir(parents=True, exist_ok=True)
    ready = folder / "ready"
    # two workers may want it at once: one makes it; the lock of a process that was killed is free again
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            make(folder)
            ready.touch()
    return folder
