"""The head of a Ray cluster is killed: the campaign says what is kept, and soon, and the same command goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from campaign_rig import HERE

from free_ports import free_port
from skyloop.datasets.worker_processes import descendants

pytestmark = [pytest.mark.slow("starts Ray twice"), pytest.mark.processes]
RAY = "import sys; from ray.scripts.scripts import main; sys.argv[0] = 'ray'; main()"
ENVIRONMENT = {
    **os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"
}  # fmt: skip
SKYLOOP = "import sys; from skyloop.cli import main; sys.exit(main())"
PATIENCE_S = 120.0
SOON_S = 30.0
"""Of wall time; Ray itself waits a minute, and then ends the process."""


def killed(process: subprocess.Popen[str]) -> None:
    for pid in [process.pid, *(pid for pid, _ in descendants(process.pid))]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()


def test_a_head_that_is_killed(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    log, port = tmp_path / "log", free_port()
    log.mkdir()
    (tmp_path / "plan.yaml").write_text(
        f"task: {HERE}/tasks.py:announced\nspace: {{x: {list(range(200))}}}\nsettings: {{log: {log}}}\n"
    )
    # sockets have short names
    short = tmp_path_factory.mktemp("r")
    start = ["start", "--head", f"--port={port}", "--node-ip-address=127.0.0.1", "--num-cpus=1", "--block",
             "--include-dashboard=false", "--object-store-memory=100000000", f"--temp-dir={short}"]  # fmt: skip
    head = subprocess.Popen(
        [sys.executable, "-c", RAY, *start], env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        text=True,
    )  # fmt: skip
    words = [sys.executable, "-c", SKYLOOP, "campaign", "plan.yaml", "--out", "made", "--address", f"127.0.0.1:{port}"]
    made = None
    try:
        end = time.monotonic() + PATIENCE_S
        while not list(log.iterdir()):
            assert time.monotonic() < end, "no run was begun"
            if made is None or made.poll() is not None:
                # the head is not there yet
                made = subprocess.Popen(words, cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
            time.sleep(0.5)
        assert made is not None
        while len(list(log.iterdir())) < 5:
            time.sleep(0.1)
        killed(head)
        _, said = made.communicate(timeout=SOON_S)
    finally:
        killed(head)
        if made is not None:
            made.kill()
            made.wait()
    lines = said.splitlines()
    assert made.returncode == 1 and len(lines) == 1, said
    assert "the head of Ray at 127.0.0.1" in lines[0] and "runs are kept in made, and the same command goes" in lines[0]
    kept = len((tmp_path / "made" / "runs.jsonl").read_text().splitlines()) - 1
    assert kept >= 3 and f"; {kept} runs are kept" in lines[0]
