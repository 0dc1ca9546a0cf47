"""The landing board's firmware, built once for all tests, where compiler and emulator are installed."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "boards" / "landing" / "firmware"
PACKAGES = {"arm-none-eabi-gcc": "gcc-arm-none-eabi", "qemu-system-arm": "qemu-system-arm", "make": "make"}
MISSING = [package for program, package in PACKAGES.items() if shutil.which(program) is None]
needs_board = pytest.mark.skipif(
    bool(MISSING), reason=f"the emulated landing board is not tested here; missing Debian packages: {' '.join(MISSING)}"
)


@cache
def firmware(folder: Path) -> Path:
    subprocess.run(["make", "-s", "-C", str(SOURCES), f"BUILD={folder}"], check=True, stdout=subprocess.DEVNULL)
    return folder / "landing.elf"
