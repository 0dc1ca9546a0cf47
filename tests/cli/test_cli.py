from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import skyloop
from command_waits import until
from page_runs import make_commands_once, plot_nothing
from skyloop import cli
from skyloop.run import run_scenario
from skyloop.sim.scenario import AIRFRAMES, SCENARIOS, load_scenario, make_scenario
from skyloop.world.world import WORLDS

SKYLOOP = Path(sys.executable).parent / "skyloop"
VERBS = ["list", "show", "run", "doctor", "bench", "reproduce"]


def skyloop_prints(capsys: Any, monkeypatch: Any, *arguments: str) -> str:
    """What a successful command prints on stdout."""
    monkeypatch.setattr(sys, "argv", ["skyloop", *arguments])
    monkeypatch.setenv("COLUMNS", "200")
    make_commands_once(monkeypatch)
    try:
        cli.main()
    except SystemExit as stop:
        assert stop.code in (0, None)
    return str(capsys.readouterr().out)


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_each_verb_has_two_examples(verb: str, capsys: Any, monkeypatch: Any) -> None:
    text = " ".join(skyloop_prints(capsys, monkeypatch, verb, "--help").split())
    examples = text.split("Examples:")[1]
    assert len(re.findall(rf"skyloop {verb}\b", examples)) == 2


@pytest.mark.processes
def test_help_names_every_verb_and_needs_no_kernels() -> None:
    """Of `python -m skyloop`, which is the same command."""
    command = [sys.executable, "-X", "importtime", "-m", "skyloop", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "Usage: python -m skyloop" in done.stdout and all(verb in done.stdout for verb in VERBS)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "skyloop.cli" in imported and "numba" not in imported


def test_version_and_bare_command(capsys: Any, monkeypatch: Any) -> None:
    assert skyloop_prints(capsys, monkeypatch, "--version").strip() == skyloop.__version__
    assert "Usage" in skyloop_prints(capsys, monkeypatch)


def test_list_names_everything(capsys: Any, monkeypatch: Any) -> None:
    listed = json.loads(skyloop_prints(capsys, monkeypatch, "list", "--json"))
    assert list(listed["scenarios"]) == list(SCENARIOS)
    assert list(listed["airframes"]) == list(AIRFRAMES)
    assert list(listed["worlds"]) == list(WORLDS)
    assert {"imu", "gnss", "rangefinder", "lidar", "camera", "depth_camera", "optical_flow"} <= set(listed["sensors"])
    assert {"hover", "trajectory", "waypoints"} <= set(listed["pilots"])
    assert "physics" in listed["benches"]
    assert "drag" in listed["reproductions"]
    assert all(text for items in listed.values() for text in items.values())
    table = skyloop_prints(capsys, monkeypatch, "list")
    assert all(name in table for items in listed.values() for name in items)


def test_show_prints_a_scenario_that_resolves_to_the_same(capsys: Any, monkeypatch: Any, tmp_path: Path) -> None:
    arguments = ["--set", "vehicles.drone.charge=0.5", "--seed", "12"]
    shown = skyloop_prints(capsys, monkeypatch, "show", "first-flight", *arguments)
    file = tmp_path / "shown.yaml"
    file.write_text(shown)
    assert skyloop_prints(capsys, monkeypatch, "show", str(file)) == shown
    assert load_scenario(file).vehicles[0].charge == 0.5
    assert load_scenario(file).seed == 12


def test_doctor_tells_of_this_machine(capsys: Any, monkeypatch: Any) -> None:
    # tests/cli/test_doctor.py starts OpenGL
    monkeypatch.setattr("skyloop.cli.doctor.output_of", lambda command: '["llvmpipe", "4.5"]')
    monkeypatch.setattr("skyloop.cli.doctor.gpu_name", lambda: None)
    findings = json.loads(skyloop_prints(capsys, monkeypatch, "doctor", "--json"))
    assert {"numpy", "numba"} <= {finding["name"] for finding in findings}
    assert "numpy" in skyloop_prints(capsys, monkeypatch, "doctor")


def check_run_folder(folder: Path, printed: dict[str, Any]) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    assert printed == {**summary, "folder": str(folder)}
    assert summary["simulated_s"] == pytest.approx(3.0, abs=0.01)
    assert summary["real_time_factor"] > 0
    assert summary["vehicles"]["drone"]["highest_m"] > 0.1
    assert (folder / "flight.png").read_bytes().startswith(b"\x89PNG")
    assert yaml.safe_load((folder / "scenario.yaml").read_text())["seed"] == 3
    assert json.loads((folder / "versions.json").read_text())["skyloop"] == skyloop.__version__


def check_rows(folder: Path, counts: dict[str, int]) -> None:
    for stream, count in counts.items():
        file = folder / "streams" / f"{stream}.csv"
        rows = list(csv.DictReader(file.read_text().splitlines())) if count else []
        assert len(rows) == count
        assert all(None not in row and None not in row.values() for row in rows)
        assert [int(row["t_ns"]) for row in rows] == sorted(int(row["t_ns"]) for row in rows)
        assert [int(row["index"]) for row in rows] == [*range(count)]
        told = json.loads((folder / "streams.json").read_text())[stream]
        late = {int(row["arrival_ns"]) - int(row["t_ns"]) for row in rows}
        assert late <= {told["latency_ns"]} or (told["rate"] is None and min(late) >= 0)
        if stream.endswith("/events"):
            assert "armed" in [row["kind"] for row in rows]
            assert all(isinstance(json.loads(row["contact"]), dict) for row in rows if row["kind"] == "contact")


def test_a_run_leaves_a_folder_that_can_be_flown_again(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    folder, again = tmp_path / "flown", tmp_path / "again"
    arguments = ["first-flight", "--set", "duration=3", "--seed", "3", "--json", "--out", str(folder)]
    printed = json.loads(skyloop_prints(capsys, monkeypatch, "run", *arguments), parse_constant=pytest.fail)
    check_run_folder(folder, printed)
    check_rows(folder, printed["messages"])
    text = skyloop_prints(capsys, monkeypatch, "run", str(folder / "scenario.yaml"), "--out", str(again))
    assert "times real time" in text
    assert str(again) in text
    files = csv_files(folder)
    assert csv_files(again) == files
    assert (again / "streams.json").read_bytes() == (folder / "streams.json").read_bytes()
    for name in files:
        assert (again / "streams" / name).read_bytes() == (folder / "streams" / name).read_bytes(), name
    resolved = yaml.safe_load((folder / "scenario.yaml").read_text())
    assert yaml.safe_load((again / "scenario.yaml").read_text()) == resolved


def test_a_run_without_out_gets_a_numbered_folder(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    plot_nothing(monkeypatch)
    (tmp_path / "tiny.yaml").write_text("name: tiny\nduration: 0.01\n")
    for number in ("001", "002"):
        skyloop_prints(capsys, monkeypatch, "run", "tiny.yaml")
        assert (tmp_path / "runs" / f"tiny-{number}" / "flight.png").is_file()


def csv_files(folder: Path) -> list[Path]:
    root = folder / "streams"
    return sorted(path.relative_to(root) for path in root.rglob("*.csv"))


def test_each_stream_has_its_file_and_its_description(tmp_path: Path) -> None:
    imu = {"kind": "imu", "rate_hz": "1000/3", "latency": 0.002}
    imu["mount"] = {"position": [0.1, 0.0, -0.05], "rotation_deg": [0.0, 0.0, 90.0]}
    names = ["a", "a-truth", "a-imu"]
    vehicles: list[dict[str, Any]] = [{"name": name, "position": [3 * k, 0]} for k, name in enumerate(names)]
    vehicles[0]["sensors"] = {"imu": imu, "range_finder": {"kind": "rangefinder"}}
    summary = run_scenario(make_scenario({"duration": 0.1, "vehicles": vehicles}), tmp_path / "run")
    told = json.loads((tmp_path / "run" / "streams.json").read_text(), parse_constant=pytest.fail)
    published = {Path(f"{name}.csv") for name, count in summary["messages"].items() if count}
    assert set(csv_files(tmp_path / "run")) == published
    assert {Path("truth/a.csv"), Path("truth/a/imu.csv"), Path("a/imu.csv"), Path("a-imu/status.csv")} <= published
    assert set(told) >= set(summary["messages"])
    described = told["a/imu"]
    assert described["message"] == "ImuSample"
    assert described["rate"] == [1000, 3]
    assert described["vehicle"] == "a"
    assert described["latency_ns"] == 2_000_000
    assert described["mount"]["position"] == [0.1, 0.0, -0.05]
    assert described["mount"]["quat_wxyz"] == pytest.approx([0.5**0.5, 0, 0, 0.5**0.5])
    assert described["details"]
    assert told["a/events"]["rate"] is None
    header = (tmp_path / "run" / "streams" / "a" / "imu.csv").read_text().splitlines()[0]
    assert header.startswith("index,arrival_ns,t_ns,angular_velocity_0,")


def start_paced(folder: Path) -> subprocess.Popen[str]:
    """A flight of five minutes at ten times real time, of which two simulated seconds are on disk."""
    command: list[Any] = [SKYLOOP, "run", "first-flight", "--set", "duration=3000", "--set", "pacing.mode=realtime"]
    command += ["--set", "pacing.factor=10", "--set", "vehicles.drone.pilot=null", "--out", folder]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    file = folder / "streams" / "drone" / "battery.csv"
    until(lambda: file.exists() and len(file.read_text().splitlines()) > 101, process)
    return process


def last_stamps(folder: Path) -> list[int]:
    """The last stamp of every periodic stream; the last line may be cut."""
    stamps = []
    for file in (folder / "streams").rglob("*.csv"):
        text = file.read_text()
        rows = list(csv.reader(text[: text.rfind("\n")].splitlines()))
        assert {len(row) for row in rows} == {len(rows[0])}, file
        if "events" not in file.name:
            stamps.append(int(rows[-1][rows[0].index("t_ns")]))
    return stamps


@pytest.mark.processes
def test_killing_a_run_leaves_its_rows_up_to_the_last_second(tmp_path: Path) -> None:
    process = start_paced(tmp_path / "run")
    process.kill()
    process.communicate(timeout=10)
    stamps = last_stamps(tmp_path / "run")
    assert max(stamps) >= 2_000_000_000
    # The kill may come while streams are being written one after another: then some are a second behind.
    assert min(stamps) > max(stamps) - 1_250_000_000
