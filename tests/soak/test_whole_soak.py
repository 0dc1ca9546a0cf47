"""The soak of `make soak`: one hour of everything that was ever done to skyloop, with a seed of its own each time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow("an hour on two cores")
def test_nothing_breaks_in_an_hour(tmp_path: Path) -> None:
    soak = [sys.executable, str(Path(__file__).with_name("soak.py")), "--out", str(tmp_path / "soak")]
    done = subprocess.run(soak, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2000:]
