"""A screen for what opens a window: the one that is there, or one in memory (Xvfb)."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from skyloop.core.system_packages import find_program


def has_screen() -> bool:
    return bool(os.environ.get("DISPLAY")) or shutil.which("Xvfb") is not None


@contextmanager
def screen() -> Iterator[str]:
    """Its name, as DISPLAY has it."""
    if there := os.environ.get("DISPLAY"):
        yield there
        return
    with virtual_screen() as made:
        yield made


@contextmanager
def virtual_screen(size: str = "1280x720x24") -> Iterator[str]:
    """One in memory. size: width, height and bits per pixel."""
    ready, tell = os.pipe()
    made = subprocess.Popen(
        [find_program("Xvfb"), "-displayfd", str(tell), "-screen", "0", size, "-nolisten", "tcp"],
        pass_fds=[tell], stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(tell)
    try:
        yield f":{os.read(ready, 20).decode().strip()}"
    finally:
        os.close(ready)
        made.kill()
        made.wait()
