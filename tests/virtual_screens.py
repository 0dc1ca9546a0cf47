"""A screen in memory, for what opens a window."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from skyloop.core.system_packages import virtual_screen

needs_screen = pytest.mark.needs("Xvfb")


def said_before_a_screen(code: str, size: str = "1280x720x24") -> str:
    """What a Python program prints that has a screen of this size."""
    with virtual_screen(size) as name:
        environment = {**os.environ, "DISPLAY": name}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
