"""The folder a command writes to is removed while it writes: one line, exit code 1, and it is not made again."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

SKYLOOP = Path(sys.executable).parent / "skyloop"


def removed_while(command: list[str], folder: Path, ready: Callable[[], bool]) -> subprocess.CompletedProcess[str]:
    """Start a command, remove its folder when it is ready, and let it come to its end."""
    process = subprocess.Popen([str(SKYLOOP), *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 180.0
        while not ready():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        # a writer may put something there while it is being emptied
        while folder.exists():
            shutil.rmtree(folder, ignore_errors=True)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@pytest.mark.parametrize("scenario", ["blind", "seeing"])
def test_of_a_run(scenario: str, tmp_path: Path) -> None:
    eye = "{eye: {kind: camera, rate_hz: 5, width: 64, height: 48}}"
    sensors = "{imu: {kind: imu}}" if scenario == "blind" else eye
    file, folder = tmp_path / "mine.yaml", tmp_path / "run"
    pacing = "{mode: realtime, factor: 20}"
    file.write_text(f"duration: 200\npacing: {pacing}\nvehicles: [{{name: drone, sensors: {sensors}}}]\n")
    rows = folder / "streams" / "truth" / "drone.csv"
    done = removed_while(
        ["run", str(file), "--out", str(folder)], folder, lambda: rows.exists() and rows.stat().st_size > 10_000
    )
    assert done.returncode == 1
    line = done.stderr.rstrip("\n")
    assert line == f"skyloop: run folder '{folder}' was removed while it was written to"
    assert not folder.exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_of_a_recording(workers: int, tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    options = ["--world", "flat", "--sensors", "rgb,imu", "--frames", "4000", "--workers", str(workers)]
    group = folder / "mav0" / ".groups"
    done = removed_while(["record", *options, "--out", str(folder)], folder, group.exists)
    assert done.returncode == 1
    preparing, line = done.stderr.splitlines()
    assert preparing.startswith("skyloop: preparing")
    assert line == f"skyloop: '{folder}' was removed while it was recorded into"
