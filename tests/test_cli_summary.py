"""The lines about a flight on the terminal: errors, events and deadlines."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from skyloop.cli.console import print_summary

RECIPES = Path(__file__).parents[1] / "docs" / "how-to" / "recipes.md"
FIGURES = {
    "flown_m": 12.0, "highest_m": 3.0, "fastest_m_s": 2.0, "battery_left": 0.9, "energy_j": 10.0, "mode": "disarmed",
    "crashed": False, "events": [],
}  # fmt: skip


def summary_of(**vehicles: dict[str, Any]) -> dict[str, Any]:
    vehicles = {name: {**FIGURES, **figures} for name, figures in vehicles.items()}
    about = {"scenario": "test", "seed": 1, "simulated_s": 10.0, "wall_s": 1.0, "real_time_factor": 10.0}
    return {**about, "messages": {}, "vehicles": vehicles}


def printed(summary: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> str:
    print_summary(summary, Path("runs/none"))
    return capsys.readouterr().out


def test_one_flight_tells_its_tracking_error(capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(summary_of(drone={"tracking_error_rms_m": 0.234}), capsys)
    assert "off its setpoints by 0.23 m rms" in told
    assert "setpoints" not in printed(summary_of(drone={}), capsys)


def test_a_page_defines_the_tracking_error() -> None:
    rows = re.findall(r"^\| `(\w+)`(?:, `(\w+)`)? \| (.+) \|$", RECIPES.read_text(), flags=re.MULTILINE)
    defined = {name: text for *names, text in rows for name in names if name}
    assert {"tracking_error_rms_m", "tracking_error_max_m", "estimate_error_rms_m"} <= set(defined)
    assert "take-off" in defined["tracking_error_rms_m"]
