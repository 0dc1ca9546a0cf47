"""Many seeds of one scenario: a folder each, the same as flown alone, and a table of all."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from skyloop import cli
from skyloop.apps.run import run_scenario
from skyloop.campaigns.seeds import seeds_from
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


def test_each_seed_is_flown_as_if_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "windy.yaml").write_text(WINDY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["skyloop", "run", "windy.yaml", "--seeds", "3..5", "--json"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["seed"] for line in lines] == [3, 4, 5]
    assert [line["folder"] for line in lines] == [f"runs/windy-seeds-001/seed-{k}" for k in (3, 4, 5)]
    flown = [line["vehicles"]["drone"]["flown_m"] for line in lines]
    assert len(set(flown)) == 3
    rows = list(csv.DictReader((tmp_path / "runs/windy-seeds-001/seeds.csv").read_text().splitlines()))
    assert [(row["seed"], float(row["flown_m"])) for row in rows] == [("3", flown[0]), ("4", flown[1]), ("5", flown[2])]
    alone = load_scenario("windy.yaml", {"seed": 4})
    run_scenario(alone, tmp_path / "alone")
    for stream in ("truth/drone.csv", "drone/setpoint.csv"):
        both = [folder / "streams" / stream for folder in (tmp_path / "alone", tmp_path / lines[1]["folder"])]
        assert both[0].read_bytes() == both[1].read_bytes()


@pytest.mark.parametrize(
    ("trouble", "told"),
    [("1 / 0", "ZeroDivisionError"), ("os.kill(os.getpid(), 9)", "the process was ended by SIGKILL")],
)
def test_trouble_with_one_seed_does_not_end_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, trouble: str, told: str
) -> None:
    pilot = WINDY[WINDY.index("{kind: hover") : WINDY.index("}]")]
    (tmp_path / "windy.yaml").write_text(WINDY.replace(pilot, "'mine.py:pilot'"))
    # whichever of the two flights is the first to make the file has the trouble
    (tmp_path / "mine.py").write_text(
        "import os\n"
        "def pilot(bundle):\n"
        "    try:\n"
        "        os.mkdir('had')\n"
        "    except FileExistsError:\n"
        "        return\n"
        f"    {trouble}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["skyloop", "run", "windy.yaml", "--seeds", "1..2", "--out", "both"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 1
    said = capsys.readouterr().out
    had, other = (1, 2) if told in said.split("seed 2:")[0] else (2, 1)
    assert f"seed {had}:" in said and told in said
    assert f"seed {other}: drone flew" in said
    assert "2 flights, 1 ended with a problem" in said
