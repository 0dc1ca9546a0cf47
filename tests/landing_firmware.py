"""The landing board's firmware, built once for all tests, where compiler and emulator are installed."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "plugins" / "skyloop-landing" / "firmware"
needs_board = pytest.mark.needs("arm-none-eabi-gcc", "qemu-system-arm", "make")


@cache
def firmware(folder: Path) -> Path:
    subprocess.run(["make", "-s", "-C", str(SOURCES), f"BUILD={folder}"], check=True, stdout=subprocess.DEVNULL)
    return folder / "landing.elf"
