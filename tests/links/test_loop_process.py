"""`skyloop loop` as a process: stopped and killed."""

from __future__ import annotations

import csv
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from link_rig import eventually
from skyloop_client import Session, connect
from skyloop_client.errors import LinkEnded
from skyloop_client.messages import Arm, TakeOff

pytestmark = pytest.mark.processes


@contextmanager
def looping(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and the address at which it waits for a pilot."""
    scenario = folder.parent / "small.yaml"
    scenario.write_text("duration: 3000\nvehicles: [{name: drone}]\n")
    command = [
        sys.executable,
        "-c",
        "from skyloop.cli import main; main()",
        "loop",
        str(scenario),
        "--out",
        str(folder),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        found = None
        while found is None:
            line = process.stderr.readline()
            assert line, "it ended before it listened"
            found = re.search(r"waiting for a pilot at (\S+)", line)
        yield process, found[1]
    finally:
        process.kill()
        process.communicate()


def interrupted(process: subprocess.Popen[str]) -> str:
    """What it says at its end."""
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60.0)
    assert "Traceback" not in said
    assert process.returncode == 130
    return str(said)


def in_flight(address: str) -> Session:
    session = connect(address, timeout=60.0, clock=lambda: 0)
    session.send(Arm(), TakeOff(1.0))
    for k in range(1, 51):
        session.sleep_until(k * 20_000_000)
    return session


@pytest.mark.slow("a whole process; in flight it is interrupted in the quick suite")
def test_ctrl_c_while_nobody_has_come(tmp_path: Path) -> None:
    with looping(tmp_path / "run") as (process, _):
        assert eventually(lambda: (tmp_path / "run" / "timeline.csv").exists(), 60.0)
        assert interrupted(process).splitlines() == [
            "skyloop: stopped by Ctrl-C before anything was flown; there is no run folder"
        ]
    assert not (tmp_path / "run").exists()


@pytest.mark.slow("starts the whole loop in processes")
def test_ctrl_c_in_flight(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with looping(folder) as (process, address):
        session = in_flight(address)
        assert interrupted(process).splitlines() == [f"skyloop: stopped by Ctrl-C; run folder: {folder}"]
        with pytest.raises(LinkEnded, match=r"stopped by Ctrl-C"):
            session.ask()
        session.close()
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["ended_by"] == "stopped by Ctrl-C"
    assert summary["links"]["loop"]["interactions"] == 51
    assert summary["simulated_s"] >= 1.0
    for picture in ("flight.png", "timeline.png"):
        assert (folder / picture).read_bytes().startswith(b"\x89PNG")


def test_killed_in_flight(tmp_path: Path) -> None:
    """Every answered question is a whole row, but perhaps the last: an answer is sent before it is noted."""
    with looping(tmp_path / "run") as (process, address):
        session = in_flight(address)
        process.kill()
        process.wait()
        with pytest.raises(LinkEnded):
            session.ask()
        session.close()
    text = (tmp_path / "run" / "timeline.csv").read_text()
    rows = list(csv.DictReader(text.splitlines()))
    assert text.endswith("\n")
    assert [int(row["number"]) for row in rows] in (list(range(1, 51)), list(range(1, 52)))
    assert int(rows[-1]["st_replied_ns"]) >= 980_000_000
    assert None not in rows[-1].values()
