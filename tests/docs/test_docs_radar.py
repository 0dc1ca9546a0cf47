"""docs/explanations/radar.md: its scenario, commands and snippet run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import skyloop
from skyloop.sensors.radar.config import RadarConfig

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "explanations" / "radar.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_the_scenario_is_one() -> None:
    """Much the same is run in test_radar_streams.py."""
    (block,) = blocks("yaml")
    (vehicle,) = skyloop.make_scenario(yaml.safe_load(block)).vehicles
    assert set(vehicle.perception) == set(vehicle.sensors) == {"radar"}


def test_the_commands_are_scenarios() -> None:
    """`skyloop run` itself is tried in test_readme.py."""
    for line in blocks("bash")[0].splitlines():
        words = line.split()
        assert words[:2] == ["skyloop", "run"]
        settings = dict(words[k + 1].split("=", 1) for k, word in enumerate(words) if word == "--set")
        scenario = skyloop.load_scenario(words[2], {key: yaml.safe_load(value) for key, value in settings.items()})
        (radar,) = (sensor for sensor in scenario.vehicles[0].sensors.values() if isinstance(sensor, RadarConfig))
        burst = radar.waveform().n_chirps * radar.waveform().chirp_repetition
        assert radar.rate_hz == 10 or 0.95 < float(radar.rate_hz) * burst <= 1.0, "bursts are back to back, and fit"


@pytest.mark.renders
def test_the_snippet_runs_and_has_the_streams_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(blocks("python")[0], names)
    printed = capsys.readouterr().out
    assert printed.startswith(
        "{'v_max': 3.153, 'v_res': 0.099, 'd_max': 11.992, 'd_res': 0.375}\n(3, 64, 64) V, ranges ["
    )
    told = dict(re.findall(r"^\| `(drone/radar/\w+)` \| `(\w+)` \|", PAGE, flags=re.MULTILINE))
    infos = names["sim"].bus.infos
    assert told == {name: info.message for name, info in infos.items() if name.startswith("drone/radar/")}
