"""The lines about a flight on the terminal: errors, events and deadlines."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from skyloop.cli.console import print_summary
from skyloop.cli.loop import _print as loop_lines
from skyloop.cli.loop import shortened

FIGURES = {
    "flown_m": 12.0, "highest_m": 3.0, "fastest_m_s": 2.0, "battery_left": 0.9, "energy_j": 10.0, "mode": "disarmed",
    "crashed": False, "events": [],
}  # fmt: skip


def summary_of(**vehicles: dict[str, Any]) -> dict[str, Any]:
    vehicles = {name: {**FIGURES, **figures} for name, figures in vehicles.items()}
    about = {
        "scenario": "test",
        "seed": 1,
        "simulated_s": 10.0,
        "wall_s": 1.0,
        "real_time_factor": 10.0,
        "success": True,
    }
    return {**about, "messages": {}, "vehicles": vehicles}


def printed(summary: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> str:
    print_summary(summary, Path("runs/none"))
    return capsys.readouterr().out


def test_one_flight_tells_its_tracking_error(capsys: pytest.CaptureFixture[str]) -> None:
    told = printed(summary_of(drone={"tracking_error_rms_m": 0.234}), capsys)
    assert "tracking error 0.23 m RMS" in told
    assert "setpoints" not in printed(summary_of(drone={}), capsys)


@pytest.mark.parametrize(("count", "lines"), [(8, 24), (64, 0)])
def test_events_of_a_fleet_are_counted(count: int, lines: int, capsys: pytest.CaptureFixture[str]) -> None:
    events = ["0.00 s armed: motors idle", "2.50 s took off: 2 m", "9.00 s landed: touched down"]
    fleet = {f"d{k}": {"events": events if k else [*events, "9.50 s crash: hits d3"]} for k in range(count)}
    told = printed(summary_of(**fleet), capsys)
    assert len(re.findall(r"^    [\d.]+ s (?!crash)", told, flags=re.MULTILINE)) == lines
    counted = "events of all vehicles: armed ×64, took off ×64, landed ×64, crash ×1"
    assert (counted in told) == (count == 64)


LATE = [f"{k}.000 s drone deadline missed: question {k}: period 60.0 ms, 50.0 declared" for k in range(200)]


def test_many_missed_deadlines_are_a_few_lines() -> None:
    told = shortened(["0.000 s drone connected: pilot", *LATE, "9.000 s drone left: pilot"], 1234)
    assert told == [
        "0.000 s drone connected: pilot", *LATE[:3],
        "and 1231 further missed deadlines, in streams/link of the run folder", "9.000 s drone left: pilot",
    ]  # fmt: skip
    assert shortened(LATE[:3], 3) == LATE[:3]


@pytest.mark.parametrize("declared", [True, False])
def test_misses_are_only_told_of_declared_deadlines(declared: bool, capsys: pytest.CaptureFixture[str]) -> None:
    cycle = {"count": 1, "p50": 0.0, "p90": 0.0, "p99": 0.0, "max": 0.0}
    pilot = {"role": "pilot", "vehicle": "drone", "computed_s": 1.0, "computer_energy_j": 2.0, "cycle_s": cycle}
    pilot |= {"deadlines_missed": 0, "deadlines_declared": declared}
    link = {"mode": "sync", "interactions": 1, "violations": 0, "news": [], "pilots": [pilot], "vehicles": {}}
    loop_lines({**summary_of(drone={}), "links": {"loop": link}}, Path("runs/none"))
    assert ("0 deadlines missed" in capsys.readouterr().out) == declared
