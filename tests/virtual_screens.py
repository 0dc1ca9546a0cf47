"""A screen in memory, for what opens a window."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

import pytest

from skyloop.core.virtual_screen import virtual_screen

LACKING = [name for name, there in (("Xvfb (Debian: xvfb)", shutil.which("Xvfb")),
           ("glfw (pip install 'skyloop[video]')", find_spec("glfw"))) if not there]  # fmt: skip
needs_screen = pytest.mark.skipif(bool(LACKING), reason=f"windows are not tested: no {' and no '.join(LACKING)}")


def said_before_a_screen(code: str, size: str = "1280x720x24") -> str:
    """What a Python program prints that has a screen of this size."""
    with virtual_screen(size) as name:
        environment = {**os.environ, "DISPLAY": name}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
