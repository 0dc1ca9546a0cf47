"""Ctrl-C at any moment: a whole run folder, one line, exit code 130, and nothing left running."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from command_waits import until, wait_until_gone
from skyloop.links.link_gate import LinkGate, Onlooker
from skyloop.run import run_scenario
from skyloop.sim.scenario import make_scenario
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import Interrupted
from skyloop_client.messages import Message

SKYLOOP = Path(sys.executable).parent / "skyloop"


def pressed(process: subprocess.Popen[str]) -> list[str]:
    """Ctrl-C as a terminal sends it, to all of them at once; what the command says then."""
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    return [line for line in said.splitlines() if not line.startswith("import time:")]


def started(*arguments: str, folder: Path, python: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    command = [sys.executable, *python, str(SKYLOOP), *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def children_of(pid: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


@pytest.mark.processes
def test_a_run_that_is_interrupted_leaves_a_whole_folder(tmp_path: Path) -> None:
    paced = ("--set", "pacing.mode=realtime", "--set", "pacing.factor=10")
    process = started("run", "hover", "--set", "duration=100000", *paced, "--out", "run", folder=tmp_path)
    # rows come in portions of a simulated second; before the first, nothing may have been flown
    rows = tmp_path / "run" / "streams" / "truth" / "drone.csv"
    until(lambda: rows.exists() and rows.stat().st_size > 0, process)
    assert pressed(process) == ["skyloop: stopped by Ctrl-C; run folder: run"]
    assert process.returncode == 130
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["ended_by"] == "stopped by Ctrl-C"
    assert summary["simulated_s"] > 0.0
    assert (tmp_path / "run" / "flight.png").read_bytes().startswith(b"\x89PNG")
    stamps = []
    for file in (tmp_path / "run" / "streams").rglob("*.csv"):
        text = file.read_text()
        assert text.endswith("\n"), file
        head, *rows_of = csv.reader(text.splitlines())
        assert {len(row) for row in rows_of} == {len(head)}, file
        stamps += [int(rows_of[-1][head.index("t_ns")])] if "events" not in file.name else []
    assert min(stamps) > max(stamps) - 250_000_000


@pytest.mark.parametrize("flown", [False, True])
def test_a_flight_of_no_time_leaves_no_folder_and_says_so(flown: bool, tmp_path: Path) -> None:
    """Ctrl-C at the very first instant, when files of streams are there already, and just after it."""
    folder = tmp_path / "run"
    scenario = make_scenario({"duration": 5.0, "vehicles": [{"name": "drone"}]})

    pressed: list[int] = []

    def press(message: Message) -> None:
        if (message.arrival_ns > 0) == flown and folder.exists() and not pressed:
            pressed.append(message.arrival_ns)
            os.kill(os.getpid(), signal.SIGINT)

    class Presser(Onlooker):
        def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
            port.bus.on_every(press)

    with pytest.raises(Interrupted) as stopped:
        run_scenario(scenario, folder, links=[Presser()])
    assert folder.exists() == (folder / "summary.json").exists() == (folder / "flight.png").exists() == flown
    assert ("there is no run folder" in str(stopped.value)) == (not flown)


@pytest.mark.processes
@pytest.mark.parametrize("module", ["typer", "numba"])
def test_ctrl_c_while_the_program_loads_is_one_line(module: str, tmp_path: Path) -> None:
    process = started("run", "hover", "--out", "run", folder=tmp_path, python=("-X", "importtime"))
    assert process.stderr is not None
    for line in process.stderr:
        name = line.rpartition("|")[2].strip()
        if name == module or name.startswith(f"{module}."):
            break
    assert pressed(process) == ["skyloop: stopped"]
    assert process.returncode == 130
    assert not (tmp_path / "run").exists()


@pytest.mark.slow("starts the command and its renderer")
@pytest.mark.renders
def test_ctrl_c_while_the_renderer_starts(tmp_path: Path) -> None:
    (tmp_path / "seeing.yaml").write_text("vehicles: [{name: drone, sensors: {eye: {kind: camera}}}]\n")
    process = started("run", "seeing.yaml", "--out", "run", folder=tmp_path)
    until(lambda: bool(children_of(process.pid)), process)
    (renderer,) = children_of(process.pid)
    (line,) = pressed(process)
    assert line.startswith("skyloop: stopped")
    assert process.returncode == 130
    wait_until_gone(renderer)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow("compiles kernels")
@pytest.mark.processes
def test_ctrl_c_while_kernels_are_compiled(tmp_path: Path) -> None:
    command = [sys.executable, str(SKYLOOP), "run", "hover", "--out", "run"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    assert process.stderr is not None
    assert "compiling" in process.stderr.readline()
    until(lambda: bool(children_of(process.pid)), process)
    (compiler,) = children_of(process.pid)
    assert pressed(process) == ["skyloop: stopped"]
    assert process.returncode == 130
    wait_until_gone(compiler)
