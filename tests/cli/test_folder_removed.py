"""The folder a command writes to is removed while it writes: one line, exit code 1, and it is not made again."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from command_waits import until

pytestmark = pytest.mark.renders

SKYLOOP = Path(sys.executable).parent / "skyloop"


def removed_while(command: list[str], folder: Path, ready: Callable[[], bool]) -> subprocess.CompletedProcess[str]:
    """Start a command, remove its folder when it is ready, and let it come to its end."""
    process = subprocess.Popen([str(SKYLOOP), *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        until(ready, process)
        # a writer may put something there while it is being emptied
        while folder.exists():
            shutil.rmtree(folder, ignore_errors=True)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def test_of_a_run(tmp_path: Path) -> None:
    sensors = "{imu: {kind: imu}, eye: {kind: camera, rate_hz: 1, width: 64, height: 48}}"
    file, folder = tmp_path / "mine.yaml", tmp_path / "run"
    pacing = "{mode: realtime, factor: 20}"
    file.write_text(f"duration: 200\npacing: {pacing}\nvehicles: [{{name: drone, sensors: {sensors}}}]\n")
    rows = folder / "streams" / "truth" / "drone.csv"
    done = removed_while(
        ["run", str(file), "--out", str(folder)], folder, lambda: rows.exists() and rows.stat().st_size > 0
    )
    assert done.returncode == 1
    line = done.stderr.rstrip("\n")
    assert line == f"skyloop: run folder '{folder}' was removed while it was written to"
    assert not folder.exists()


@pytest.mark.slow("records with one and with two workers")
@pytest.mark.parametrize("workers", [1, 2])
def test_of_a_recording(workers: int, tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    options = [
        "--world",
        "flat",
        "--sensors",
        "rgb,imu",
        "--frames",
        "1000",
        "--size",
        "64x48",
        "--workers",
        str(workers),
    ]
    group = folder / "mav0" / ".groups"
    done = removed_while(["record", *options, "--out", str(folder)], folder, group.exists)
    assert done.returncode == 1
    preparing, line = done.stderr.splitlines()
    assert preparing.startswith("skyloop: preparing")
    assert line == f"skyloop: '{folder}' was removed while it was recorded into"
