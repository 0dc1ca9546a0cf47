"""Environments of real clients, made once in the cache and shared by all test processes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

PATIENCE_S = 600.0


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """The folder of an environment; `make` fills it if no process has. Skips if another one makes it and hangs."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "skyloop" / "test-clients"
    folder = cache / f"{name}-{sys.version_info[0]}.{sys.version_info[1]}"
    cache.mkdir(parents=True, exist_ok=True)
    # two workers may want it at once: one makes it
    lock, ready, began = folder.with_suffix(".lock"), folder / "ready", time.monotonic()
    while not ready.exists():
        try:
            lock.mkdir()
        except FileExistsError:
            if time.monotonic() - began > PATIENCE_S:
                pytest.skip(f"another process makes {folder} and does not end; remove {lock}")
            time.sleep(0.5)
            continue
        try:
            if not ready.exists():
                make(folder)
                ready.touch()
        finally:
            lock.rmdir()
    return folder
