"""Long reproductions: what was made is kept, and nothing goes on after the process that began it was killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from skyloop.reproductions.missing_runs import Job, all_runs

PARENT = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from reproductions.test_missing_runs import endless
from skyloop.reproductions.missing_runs import Job, make_missing
if __name__ == "__main__":
    folder = Path({folder!r})
    jobs = [Job(str(k), folder / f"{{k}}.json", endless, (str(folder / f"{{k}}.pid"),)) for k in range(2)]
    make_missing(jobs, 2, print, str)
"""
PATIENCE_S = 60.0


def squared(number: int) -> dict[str, int]:
    return {"squared": number * number}


def endless(told: str) -> dict[str, int]:
    path = Path(told)
    path.with_suffix(".new").write_text(str(os.getpid()), encoding="utf-8")
    path.with_suffix(".new").replace(path)
    time.sleep(600.0)
    return {}


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def waited_for(condition: object) -> bool:
    assert callable(condition)
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_only_what_is_missing_is_made(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text(json.dumps({"squared": -1}), encoding="utf-8")
    told: list[str] = []
    jobs = [Job(str(k), tmp_path / f"{k}.json", squared, (k,)) for k in (1, 2)]
    assert all_runs(jobs, 1, told.append, str) == {"1": {"squared": -1}, "2": {"squared": 4}}
    assert told == ["2 (1 of 1): {'squared': 4}"]


def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    tests = str(Path(__file__).parents[1])
    script.write_text(PARENT.format(tests=tests, folder=str(tmp_path)), encoding="utf-8")
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.DEVNULL)
    try:
        assert waited_for(lambda: len(list(tmp_path.glob("*.pid"))) == 2)
        workers = [int(path.read_text(encoding="utf-8")) for path in tmp_path.glob("*.pid")]
        assert all(is_running(pid) for pid in workers)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        assert waited_for(lambda: not any(is_running(pid) for pid in workers))
    finally:
        parent.kill()
        parent.wait()
