"""Numbers no vehicle, world or machine can have: one line and exit code 1, at once or when the flight goes wrong."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from page_runs import make_commands_once, plot_nothing
from skyloop import cli
from skyloop.datasets import recording_run
from skyloop.world.ground import Ground
from skyloop.world.world import WorldConfig, build_world
from skyloop_client.errors import ScenarioError


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make_commands_once(monkeypatch)


WRENCH = "vehicles.0.wrenches=[{{start: 1, end: 2, {what}: [1e9, 0, 0]}}]"
RUN_AWAY = {
    "force": (WRENCH.format(what="force"), "1.0"),
    "torque": (WRENCH.format(what="torque"), "1.0"),
}


@pytest.mark.parametrize(("case", "scenario"), [(case, "hover") for case in RUN_AWAY] + [("force", "first-flight")])
def test_a_state_that_runs_away_ends_the_run(
    case: str, scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, complaint: Callable[..., str]
) -> None:
    plot_nothing(monkeypatch)
    change, when = RUN_AWAY[case]
    line = complaint("run", scenario, "--set", change, "--out", "run")
    assert "'drone' at " + when in line
    assert "its motion has run away" in line
    if (tmp_path / "run").exists():
        # what was flown until then is whole, and every number in it is one
        summary = json.loads((tmp_path / "run" / "summary.json").read_text(), parse_constant=pytest.fail)
        assert "has run away" in summary["ended_by"]
        assert summary["vehicles"]["drone"]["flown_m"] < 1e7
        for file in (tmp_path / "run" / "streams").rglob("*.csv"):
            # in a setpoint, NaN says that a quantity is not tracked
            assert file.name == "setpoint.csv" or "nan" not in file.read_text(), file


@pytest.mark.parametrize("duration", ["1e300", ".inf", "1e12"])
def test_a_flight_longer_than_time(duration: str, tmp_path: Path, complaint: Callable[..., str]) -> None:
    assert "duration" in complaint("run", "hover", "--set", f"duration={duration}")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("world", "option", "value"),
    [
        ("hills", "extent", 1e9), ("hills", "extent", 1e300), ("hills", "amplitude", 1e300),
        ("hills", "wavelength", 0.0), ("urban", "people", 10**9), ("urban", "cars", 10**9),
        ("warehouse", "people", 10**9),
    ],
)  # fmt: skip
def test_worlds_that_no_memory_holds(world: str, option: str, value: float) -> None:
    with pytest.raises(ScenarioError, match=rf"'{world}': {option} is .*; give "):
        build_world(WorldConfig(name=world, options={option: value}), 1, None)


def test_a_ground_of_too_many_points() -> None:
    with pytest.raises(ScenarioError, match="more than 2e\\+07 points"):
        Ground.from_function(lambda x, y: 0.0 * x, (-1e9, -1e9, 1e9, 1e9), 1.0)


def test_a_scenario_of_a_million_waypoints_is_refused_at_once(tmp_path: Path, complaint: Callable[..., str]) -> None:
    rows = "".join(f"    - [{k * 0.1:.1f}, 0.0, 5.0]\n" for k in range(900_000))
    (tmp_path / "long.yaml").write_text(f"vehicles:\n- pilot:\n    kind: waypoints\n    waypoints:\n{rows}")
    line = complaint("run", "long.yaml")
    assert "long.yaml" in line and "MB" in line


RECORD = ("record", "--world", "flat", "--sensors", "imu", "--out", "data")


def test_fewer_workers_than_none(tmp_path: Path, complaint: Callable[..., str]) -> None:
    assert "--workers -3" in complaint(*RECORD, "--workers", "-3")
    assert not (tmp_path / "data").exists()


@pytest.mark.slow("records with worker processes")
@pytest.mark.processes
def test_more_workers_than_groups_of_frames(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only as many are started as have something to do."""
    started = []
    jobs = recording_run._jobs

    def counted(folder: Path, count: int) -> Any:
        started.append(count)
        return jobs(folder, count)

    monkeypatch.setattr(recording_run, "_jobs", counted)
    monkeypatch.setattr(sys, "argv", ["skyloop", *RECORD, "--workers", "40", "--frames", "3", "--no-report"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert not stop.value.code
    assert "3 frames" in capsys.readouterr().out
    assert started == [1]


@pytest.mark.parametrize("verb", ["size", "loop"])
def test_a_task_that_is_not_there(verb: str, tmp_path: Path, complaint: Callable[..., str]) -> None:
    line = complaint(verb, "face-anchor", "--task", "nope")
    assert "no task named 'nope'" in line and "face-anchor" in line
    assert not (tmp_path / "runs").exists()


COMMANDS = [
    ["--help"], ["run", "--help"], ["record", "--help"], ["size", "--help"], ["list"], ["show", "hover"],
    ["doctor"], ["run", "tiny.yaml", "--out", "möwe"],
    ["run", "tiny.yaml", "--set", "vehicles.0.pilot=hövr"],
]  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words))
def test_a_terminal_that_knows_ascii_only(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plot_nothing(monkeypatch)
    monkeypatch.setattr("skyloop.cli.doctor.output_of", lambda command: '["llvmpipe", "4.5"]')
    monkeypatch.setattr("skyloop.cli.doctor.gpu_name", lambda: None)
    (tmp_path / "tiny.yaml").write_text("name: tiny\nduration: 0.1\n")
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors=how) for how in ("strict", "backslashreplace")]
    monkeypatch.setattr(sys, "argv", ["skyloop", *words])
    monkeypatch.setattr(sys, "stdout", streams[0])
    monkeypatch.setattr(sys, "stderr", streams[1])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    for stream in streams:
        stream.flush()
        stream.seek(0)
    said = [stream.read() for stream in streams]
    refused = "hövr" in " ".join(words)
    assert stop.value.code == (1 if refused else 0), said
    assert said[1 if refused else 0]
    assert "möwe" not in words or "run folder: m?we" in said[0]
