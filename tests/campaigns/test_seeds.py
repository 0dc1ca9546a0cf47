"""Many seeds of one scenario: a folder each, the same as flown alone, and a table of all."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from skyloop import cli
from skyloop.campaigns.seeds import seeds_from
from skyloop.run import run_scenario
from skyloop.sim.scenario import load_scenario
from skyloop_client.errors import ScenarioError

WINDY = """
name: windy
duration: 3
wind: {kind: dryden, w20_kt: 20}
vehicles: [{name: drone, pilot: {kind: hover, altitude: 1.0, duration: 1.0}}]
"""


def test_what_seeds_may_be() -> None:
    assert seeds_from("1..4") == [1, 2, 3, 4]
    assert seeds_from("7,3, 10..12") == [7, 3, 10, 11, 12]
    assert seeds_from("-2..0") == [-2, -1, 0]
    for text in ("", "4..1", "1,1", "one", "1..x", "1..1000000000"):
        with pytest.raises(ScenarioError, match="--seeds"):
            seeds_from(text)


@pytest.mark.processes
def test_each_seed_is_flown_as_if_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "windy.yaml").write_text(WINDY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["skyloop", "run", "windy.yaml", "--seeds", "3..4", "--json"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["seed"] for line in lines] == [3, 4]
    assert [line["folder"] for line in lines] == [f"runs/windy-seeds-001/seed-{k}" for k in (3, 4)]
    flown = [line["vehicles"]["drone"]["flown_m"] for line in lines]
    assert len(set(flown)) == 2
    rows = list(csv.DictReader((tmp_path / "runs/windy-seeds-001/seeds.csv").read_text().splitlines()))
    assert [(row["seed"], float(row["flown_m"])) for row in rows] == [("3", flown[0]), ("4", flown[1])]
    assert [(row["success"], row["cause"]) for row in rows] == 2 * [("False", "not landed at the end, in mode land")]
    alone = load_scenario("windy.yaml", {"seed": 4})
    run_scenario(alone, tmp_path / "alone")
    for stream in ("truth/drone.csv", "drone/setpoint.csv"):
        both = [folder / "streams" / stream for folder in (tmp_path / "alone", tmp_path / lines[1]["folder"])]
        assert both[0].read_bytes() == both[1].read_bytes()


@pytest.mark.slow("three flights by the command")
@pytest.mark.processes
def test_trouble_with_one_seed_does_not_end_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pilot = WINDY[WINDY.index("{kind: hover") : WINDY.index("}]")]
    (tmp_path / "windy.yaml").write_text(WINDY.replace(pilot, "'mine.py:pilot'").replace("duration: 3", "duration: 1"))
    # the first flight to make a folder has the trouble of this name
    (tmp_path / "mine.py").write_text(
        "import os\n"
        "def is_first(name):\n"
        "    try:\n"
        "        os.mkdir(name)\n"
        "    except FileExistsError:\n"
        "        return False\n"
        "    return True\n"
        "def pilot(bundle):\n"
        "    if is_first('error'):\n"
        "        1 / 0\n"
        "    if is_first('kill'):\n"
        "        os.kill(os.getpid(), 9)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["skyloop", "run", "windy.yaml", "--seeds", "1..3", "--out", "all"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 1
    said = capsys.readouterr().out
    lines = [line for line in said.splitlines() if line.startswith("seed ")]
    assert sorted(line.split(":")[0] for line in lines) == ["seed 1", "seed 2", "seed 3"]
    for told in ("ZeroDivisionError", "the process ended: signal SIGKILL", "; drone flew"):
        assert sum(told in line for line in lines) == 1, said
    assert "1 of 3 succeeded, 2 ended with a problem" in said
