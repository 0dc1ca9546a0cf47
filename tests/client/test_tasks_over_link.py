"""The same tasks in a process of their own, over a link."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import skyloop
from skyloop.links.loop.loop_link import LoopConfig
from skyloop.links.loop.targets import LocalProcess
from skyloop.run import run_scenario
from skyloop_client.tasks.__main__ import main, option_from

CAMERA = "vehicles.drone.sensors.front."


@pytest.mark.slow("the same flight with and without the link")
@pytest.mark.renders
def test_face_anchor_over_the_link_is_face_anchor(tmp_path: Path) -> None:
    scenario = skyloop.load_scenario("face-anchor", {CAMERA + "width": 160, CAMERA + "height": 120})
    record = tmp_path / "record.json"
    command = [sys.executable, "-m", "skyloop_client.tasks", "face-anchor", "precision=0.03", "--record", str(record)]
    folder = tmp_path / "run"
    summary = run_scenario(scenario, folder, links=[LoopConfig(target=LocalProcess(command))])
    reported = json.loads((folder / "sut.txt").read_text().splitlines()[-1])
    assert reported["success"]
    assert abs(reported["angle"]) <= 0.03
    assert summary["links"]["loop"]["violations"] == 0
    # 36° at 0.3 rad/s, and some time to think
    assert 1.5 < reported["time_s"] < 20.0
    written = json.loads(record.read_text())
    assert written["options"] == {"precision": 0.03}
    assert written["loops"] == reported["loops"] == len(written["children"]) - 1


def test_values_are_json_or_words() -> None:
    assert option_from("precision=0.02") == ("precision", 0.02)
    assert option_from("stream=range") == ("stream", "range")
    assert option_from('anchor={"height": 1}') == ("anchor", {"height": 1})


def test_trouble_is_told_in_the_last_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["face-anchor", "--connect", "127.0.0.1:1"]) == 1
    reported = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert not reported["success"]
    assert "cannot reach" in reported["trouble"]
