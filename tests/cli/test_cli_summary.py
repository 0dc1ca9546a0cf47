"""The lines about a flight on the terminal: errors, events and deadlines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skyloop.cli.console import event_lines, print_summary
from skyloop.cli.loop import _print as loop_lines
from skyloop.cli.loop import shortened
from skyloop.sim.scenario import make_scenario
from skyloop_client.messages import Contact, Event, EventKind

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


@pytest.mark.parametrize("count", [8, 64])
def test_events_of_a_fleet_are_counted(count: int, capsys: pytest.CaptureFixture[str]) -> None:
    events = ["0.00 s armed: motors idle", "2.50 s took off: 2 m", "9.00 s landed: touched down"]
    fleet = {f"d{k}": {"events": events if k else [*events, "9.50 s crash: hits d3"]} for k in range(count)}
    told = printed(summary_of(**fleet), capsys)
    counted = "events of all vehicles: armed ×64, took off ×64, landed ×64, crash ×1"
    assert (counted in told) == (count == 64)


@pytest.mark.parametrize(("count", "told"), [(1, 24), (2, 24), (9, 22)])
def test_events_are_printed_as_they_happen(count: int, told: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a larger fleet only what went wrong; and of the contacts of one vehicle the first."""
    tell = event_lines(make_scenario({"vehicles": [{"name": f"d{k}"} for k in range(count)]}), quiet=False)
    touch = Contact("rotor", 3, "pillar 3", np.zeros(3), np.zeros(3), 0.5, 0.5)
    tell("d0", Event(1_000_000_000, EventKind.ARMED, "motors idle"))
    for k in range(100):
        tell("d0", Event(k, EventKind.CONTACT, "rotor hits pillar 3 at 0.50 m/s", touch))
    for kind in (EventKind.FAULT, EventKind.CRASH, EventKind.LANDED):
        tell("d0", Event(2_500_000_000, kind, "so"))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == told
    who = "d0 " if count > 1 else ""
    assert (f"  1.00 s {who}armed: motors idle" in lines) == (count <= 8)
    assert f"  2.50 s {who}fault: so" in lines
    event_lines(make_scenario({}), quiet=True)("drone", Event(0, EventKind.CRASH, "so"))
    assert capsys.readouterr().out == ""


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
