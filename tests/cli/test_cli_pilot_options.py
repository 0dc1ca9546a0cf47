"""`--pilot FILE.py:CLASS` together with `--set ...pilot.options`: the options arrive, or an error says why not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from skyloop import cli
from skyloop.cli.console import load_with_pilot

PILOT = """
from pathlib import Path

from skyloop_client.messages import Arm

class Pilot:
    def __init__(self, height=1.0):
        Path(__file__ + ".height").write_text(str(height))

    def __call__(self, bundle):
        return Arm()
"""


def fails(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.setattr(sys, "argv", ["skyloop", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    return " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("vehicle", ["drone", "0"])
def test_options_reach_the_pilot(vehicle: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mine.py"
    file.write_text(PILOT)
    options = f"vehicles.{vehicle}.pilot.options={{height: 7.5}}"
    words = ["--pilot", f"{file}:Pilot", "--set", options, "--set", "duration=0.1", "--out", str(tmp_path / "run")]
    monkeypatch.setattr(sys, "argv", ["skyloop", "run", "hover", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code in (0, None)
    assert Path(f"{file}.height").read_text() == "7.5"


def test_options_of_the_scenario_s_own_pilot_do_not_stay() -> None:
    """`hover` has a pilot with an altitude, which means nothing to another pilot."""
    loaded = load_with_pilot("hover", "mine.py:Pilot", None, None, None)
    assert loaded.vehicles[0].pilot.kind == str(Path("mine.py").resolve()) + ":Pilot"


def test_two_pilots_are_one_clear_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "hover", "--pilot", "mine.py:Pilot", "--set"]
    for vehicle in ("0", "drone"):
        whole = fails([*words, f"vehicles.{vehicle}.pilot={{kind: hover}}"], monkeypatch, capsys)
        assert "--pilot mine.py:Pilot and --set both choose the pilot" in whole
    unknown = fails([*words, "vehicles.drone.pilot.altitude=3"], monkeypatch, capsys)
    assert "altitude" in unknown


def test_loop_refuses_options_that_would_be_lost(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["loop", "hover", "--pilot", "mine.py:Pilot", "--set", "vehicles.drone.pilot.options={height: 3}"]
    assert "has no effect on --pilot mine.py:Pilot of loop" in fails(words, monkeypatch, capsys)
