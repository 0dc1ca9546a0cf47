"""Whatever is wrong with what a user gives: exit code 1, one line that says what and where, nothing left behind."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import bad_radar_runs
import bad_runs
from bad_runs import IN_FLIGHT, NAN_THROTTLE, own
from page_runs import make_commands_once, plot_nothing
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario

SKYLOOP = Path(sys.executable).parent / "skyloop"
FILES = {**bad_runs.FILES, **bad_radar_runs.FILES}
RUNS = {**bad_runs.RUNS, **bad_radar_runs.RUNS}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files above, to work in."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "folder.yaml").mkdir()
    monkeypatch.chdir(tmp_path)
    make_commands_once(monkeypatch)
    return tmp_path


@pytest.mark.parametrize("case", RUNS)
def test_a_run_that_cannot_be(case: str, desk: Path, complaint: Callable[..., str]) -> None:
    arguments, fragments = RUNS[case]
    before = sorted(desk.rglob("*"))
    line = complaint("run", *arguments, "--out", "out/deep")
    for fragment in fragments:
        assert fragment in line, line
    assert [path for path in sorted(desk.rglob("*")) if path.suffix != ".pyc" and path.name != "__pycache__"] == before


def test_a_radar_on_a_gpu_that_is_not_there(
    desk: Path, monkeypatch: pytest.MonkeyPatch, complaint: Callable[..., str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    line = complaint("run", *bad_radar_runs.radar("backend: gpu"), "--out", "out")
    assert "radar backend 'gpu': CuPy is not installed; install cupy" in line
    assert not (desk / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (["bench", "phisics"], "did you mean 'physics'"),
        (["reproduce", "drga"], "did you mean 'drag'"),
        (["reproduce", "drag", "--out", "own.yaml"], "own.yaml"),
        (["rnu", "first-flight"], "'rnu'"),
        (["run"], "scenario"),
        (["show", "nothing"], "no scenario named 'nothing'"),
        (["show", "first-flight", "more"], "leave out 'more'"),
        (["list", "--jsn"], "--jsn"),
    ],
)
def test_other_verbs(arguments: list[str], fragment: str, desk: Path, complaint: Callable[..., str]) -> None:
    assert fragment in complaint(*arguments)


def test_a_folder_with_something_in_it_is_left_alone(desk: Path, complaint: Callable[..., str]) -> None:
    (desk / "full").mkdir()
    (desk / "full" / "precious.txt").write_text("mine")
    assert "full" in complaint("run", "own.yaml", "--out", "full")
    assert [path.name for path in (desk / "full").iterdir()] == ["precious.txt"]
    assert (desk / "full" / "precious.txt").read_text() == "mine"


@pytest.mark.parametrize("place", ["own.yaml", "own.yaml/below", "x" * 300, "/proc/nowhere"])
def test_a_folder_that_cannot_be_made(place: str, desk: Path, complaint: Callable[..., str]) -> None:
    assert place in complaint("run", "own.yaml", "--out", place)
    assert (desk / "own.yaml").read_text() == FILES["own.yaml"]


def test_an_empty_folder_of_the_users_stays_when_nothing_was_flown(desk: Path, complaint: Callable[..., str]) -> None:
    (desk / "given").mkdir()
    complaint("run", *own(pilot="my.py:wrong_shape"), "--out", "given")
    assert list((desk / "given").iterdir()) == []


@pytest.mark.parametrize("case", [*IN_FLIGHT.values(), NAN_THROTTLE], ids=[*IN_FLIGHT, "NaN throttle"])
def test_trouble_that_ends_the_flight_leaves_a_whole_folder(
    case: Any, desk: Path, monkeypatch: pytest.MonkeyPatch, complaint: Callable[..., str]
) -> None:
    plotted = case is NAN_THROTTLE
    if not plotted:
        plot_nothing(monkeypatch)
    line = complaint("run", *case[0], "--out", "given")
    assert all(fragment in line for fragment in case[1])
    summary = json.loads((desk / "given" / "summary.json").read_text())
    assert all(fragment in summary["ended_by"] for fragment in case[1])
    rows = (desk / "given" / "streams" / "truth" / "drone.csv").read_text().splitlines()
    assert len(rows) == 1 + int(summary["simulated_s"] * 50) + 1
    assert (desk / "given" / "flight.png").stat().st_size > (10_000 if plotted else -1)


@pytest.mark.parametrize("fault", ["{kind: bias, value: 1}", "{kind: stuck}", "{kind: delay, delay: 0.1}"])
def test_a_sensor_that_says_nothing_may_have_faults(fault: str, desk: Path) -> None:
    sensors = {"a": {"kind": "my.py:Silent", "rate_hz": 10, "faults": [yaml.safe_load(fault)]}}
    simulation = build(make_scenario({"vehicles": [{"name": "drone", "sensors": sensors}]}, folder=desk))
    simulation.run_until(0.5)
    assert simulation.latest("drone/a") is None


def test_an_interruption_goes_through(desk: Path) -> None:
    (desk / "stop.py").write_text("def pilot(bundle):\n    raise KeyboardInterrupt\n")
    simulation = build(make_scenario({"vehicles": [{"pilot": "stop.py:pilot"}]}, folder=desk))
    with pytest.raises(KeyboardInterrupt):
        simulation.step()


@pytest.mark.processes
def test_the_real_command_does_the_same(desk: Path) -> None:
    arguments, fragments = RUNS["misspelt key"]
    done: Any = subprocess.run(
        [SKYLOOP, "run", *arguments, "--out", "out"], cwd=desk, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert all(fragment in done.stderr for fragment in fragments)
    assert not (desk / "out").exists()
