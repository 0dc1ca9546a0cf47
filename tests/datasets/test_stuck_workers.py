"""Workers that are stopped (SIGSTOP): found by their standing still, ended, and nothing is left running or broken."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skyloop.datasets.checking import check
from skyloop.datasets.recording_run import plan_recording, record
from skyloop.datasets.rig import RecordOptions, rig_scenario
from skyloop.datasets.worker_processes import descendants

pytestmark = pytest.mark.slow("waits until workers count as stuck")
SKYLOOP = Path(sys.executable).parent / "skyloop"
RECORD = """
import sys
from pathlib import Path
from skyloop.datasets.recording_run import record
from skyloop_client.errors import DatasetError
try:
    record(Path(sys.argv[1]), 2, stuck_after_s=3.0)
except DatasetError as error:
    sys.exit(f"refused: {error}")
"""


def planned(folder: Path, frames: int) -> Path:
    options = RecordOptions(world="flat", frames=frames, rate_hz=20.0, speed=2.0, sensors=("rgb", "imu"))
    plan_recording(rig_scenario(options), folder, frames=frames, rate_hz=20.0, formats=("asl",))
    return folder


def wait_for(ready: Callable[[], bool], process: subprocess.Popen[str], most_s: float = 180.0) -> None:
    deadline = time.monotonic() + most_s
    while not ready():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def still_there(pids: list[int]) -> list[int]:
    """Those that run or are stopped; one that has ended may be listed until its new parent asks how."""
    states = {}
    for pid in pids:
        try:
            states[pid] = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
        except OSError:
            continue
    return [pid for pid, state in states.items() if state not in "ZX"]


@contextmanager
def recording(folder: Path, *command: str) -> Iterator[subprocess.Popen[str]]:
    """Once two workers with their renderers and the process that flies are there, and frames are written."""
    process = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        written = folder / "journal" / "group-000000.bin"
        wait_for(lambda: written.exists() and len(descendants(process.pid)) == 5, process)
        yield process
    finally:
        for pid in (process.pid, *(child for child, _ in descendants(process.pid))):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        process.communicate()


@pytest.mark.parametrize("whom", ["worker", "renderer", "flier"])
def test_one_that_is_stopped_is_found_and_ended(whom: str, tmp_path: Path) -> None:
    folder = planned(tmp_path / "dataset", 120)
    with recording(folder, "-c", RECORD, str(folder)) as process:
        started = [pid for pid, _ in descendants(process.pid)]
        flier = next(pid for pid in started if b"datasets.flier" in Path(f"/proc/{pid}/cmdline").read_bytes())
        worker = next(pid for pid in started if descendants(pid))
        os.kill({"worker": worker, "renderer": descendants(worker)[0][0], "flier": flier}[whom], signal.SIGSTOP)
        _, said = process.communicate(timeout=120)
        (line,) = said.splitlines()
        named = "refused: the process that flies (" if whom == "flier" else "refused: worker "
        assert line.startswith(named) and "has been stopped (SIGSTOP) for 3 s and was ended" in line
        assert still_there(started) == []
    assert {finding.severity for finding in check(folder)} == {"warning"}
    record(folder, 2)
    assert check(folder) == []


def test_ctrl_c_ends_those_that_are_stopped(tmp_path: Path) -> None:
    folder = planned(tmp_path / "dataset", 4000)
    words = (str(SKYLOOP), "record", "--out", str(folder), "--resume", "--workers", "2")
    with recording(folder, *words) as process:
        started = [pid for pid, _ in descendants(process.pid)]
        for pid in started:
            os.kill(pid, signal.SIGSTOP)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
        began, stopped = said.splitlines()
        assert began.startswith("skyloop: preparing the recording of 4000 frames")
        assert stopped == f"skyloop: stopped by Ctrl-C; `skyloop record --resume --out {folder}` continues"
        assert process.returncode == 130
        assert still_there(started) == []
    assert {finding.severity for finding in check(folder)} == {"warning"}
