"""docs/how-to/fusion.md: its commands run, and its streams are there."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import skyloop
from page_runs import plot_nothing
from skyloop.cli import main
from skyloop.sim.scenario import Scenario

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "fusion.md").read_text(encoding="utf-8")
CHEAP = {
    "duration": 3.6,
    # at the lap's beginning, which is free with this seed, people are in view at once
    "vehicles.drone.position": "[15, 0]",
    "vehicles.drone.yaw_deg": 90,
    "vehicles.drone.sensors.front.quality": "low",
    "vehicles.drone.sensors.front.rate_hz": 5,
    "vehicles.drone.sensors.depth.rate_hz": 5,
    "vehicles.drone.sensors.radar.rate_hz": 5,
    "vehicles.drone.sensors.radar.width": 80,
    "vehicles.drone.sensors.radar.height": 60,
}


def typed(patch: pytest.MonkeyPatch, *words: str) -> int:
    patch.setattr(sys, "argv", ["skyloop", *words])
    try:
        main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def commands() -> list[list[str]]:
    (block,) = re.findall(r"^```bash\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    return [line.partition("#")[0].split() for line in block.splitlines()]


def scenario_of(words: list[str]) -> Scenario:
    settings = dict(words[k + 1].split("=", 1) for k, word in enumerate(words) if word == "--set")
    return skyloop.load_scenario(words[2], {key: yaml.safe_load(value) for key, value in settings.items()})


def test_every_command_is_a_scenario_with_a_detector() -> None:
    """The last but one is run below; flights in fog and at night are those of the reproduction."""
    for words in commands():
        assert words[0] == "skyloop" and words[1] in ("run", "loop")
        assert "detect" in scenario_of(words).vehicles[0].estimators


@pytest.mark.slow("a detector in a process of its own beside a flight")
@pytest.mark.renders
def test_the_detector_runs_outside_and_its_boxes_feed_the_tracker_inside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (line,) = (words for words in commands() if words[1] == "loop" and "--speed" not in words)
    plot_nothing(monkeypatch)
    changes = [word for key, value in CHEAP.items() for word in ("--set", f"{key}={value}")]
    assert typed(monkeypatch, *line[1:], *changes, "--out", str(tmp_path / "run"), "--json") == 0
    summary: dict[str, Any] = json.loads(capsys.readouterr().out)
    people = summary["vehicles"]["drone"]["people"]
    boxes = people["boxes"]["drone/detect/boxes"]
    assert boxes["looked_at"] >= boxes["images"] - 1 and boxes["ap50"] > 0.6
    (pilot,) = summary["links"]["loop"]["pilots"]
    assert pilot["role"] == "estimator" and pilot["cycle_s"]["count"] >= boxes["looked_at"]
    # inside, the tracker heard of them, and its streams are those of the page
    told = dict(re.findall(r"^\| `(drone/[\w/]+)` \| `(\w+)` \|", PAGE, flags=re.MULTILINE))
    infos = json.loads((tmp_path / "run" / "streams.json").read_text(encoding="utf-8"))
    kinds = {stream: info["message"] for stream, info in infos.items()} if isinstance(infos, dict) else {}
    assert all(summary["messages"][stream] > 5 for stream in told)
    assert not kinds or told == {stream: kinds[stream] for stream in told}
    assert list((tmp_path / "run" / "pictures" / "drone" / "people" / "boxes").glob("*.png"))


def test_what_the_task_needs_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert typed(monkeypatch, "loop", "hover", "--task", "detect") == 1
    assert "has no estimator named detect; take park-people" in capsys.readouterr().err
    assert typed(monkeypatch, "loop", "park-people", "--task", "detect", "--estimator", "people") == 1
    assert "give one of them" in capsys.readouterr().err
