"""Whether a flight succeeded: by default, and by the scenario's own rule."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from page_runs import plot_nothing
from skyloop import cli
from skyloop.recording.flight_log import VehicleLog
from skyloop.recording.verdict import why_failed
from skyloop.run import run_scenario
from skyloop.sim.scenario import make_scenario
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Contact, Event, EventKind

UP, SIDE = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)
ENDED = {"crashed": False, "contacts": 0, "failsafes": 0, "landed": True, "left_in_air": False, "mode": "disarmed"}


def touch(part: str, normal: tuple[float, float, float], speed: float, closing: float) -> Event:
    contact = Contact(part, 3, "pillar 3", np.zeros(3), np.array(normal), speed, closing)
    return Event(25_500_000_000, EventKind.CONTACT, f"{part} hits pillar 3 at {speed:.2f} m/s", contact)


def logged(*events: Event) -> VehicleLog:
    log = VehicleLog()
    for event in events:
        log.on_event(event)
    return log


ARMED, DISARMED = Event(0, EventKind.ARMED, "motors idle"), Event(1, EventKind.DISARMED, "landed")
CLEAN = logged(ARMED)
LOST = Event(9_000_000_000, EventKind.FAILSAFE, "estimate lost: descending level", failsafe="estimate lost")


@pytest.mark.parametrize(
    ("event", "counts"),
    [
        (touch("rotor", UP, 0.5, 0.5), True),
        (touch("body", UP, 0.1, 0.1), True),
        (touch("legs", SIDE, 0.5, 0.5), True),
        (touch("legs", UP, 0.9, 0.7), False),
        (touch("legs", UP, 5.0, 0.7), True),
    ],
)
def test_legs_may_stand_on_what_is_level_and_nothing_else_may_touch(event: Event, counts: bool) -> None:
    assert logged(ARMED, event).contacts == counts
    assert logged(ARMED, DISARMED, event).contacts == 0, "nobody flies it"


def test_by_default_a_flight_is_clean_and_lands_if_it_meant_to() -> None:
    hit = logged(ARMED, LOST, touch("rotor", SIDE, 0.5, 0.5))

    def why(log: VehicleLog = CLEAN, rule: str | None = None, **changes: object) -> str:
        figures = {**ENDED, "crashed": log.crashed, "contacts": log.contacts, "failsafes": log.failsafes, **changes}
        return why_failed(rule, {"vehicles": {"drone": figures}, "simulated_s": 30.0}, {"drone": log})

    assert why() == "" == why(landed=False)
    assert why(landed=False, left_in_air=True, mode="setpoint") == "not landed at the end, in mode setpoint"
    # the first of what happened
    assert why(hit) == "after 9.0 s: estimate lost: descending level"
    assert why(logged(ARMED, touch("rotor", SIDE, 0.5, 0.5))) == "after 25.5 s: rotor hits pillar 3 at 0.50 m/s"
    # a rule says it all
    assert why(hit, "landed and contacts < 2") == ""
    assert why(hit, "not contacts and simulated_s < 20") == (
        "after 25.5 s: rotor hits pillar 3 at 0.50 m/s; simulated_s is 30, not < 20"
    )
    assert why(rule="errors < 1") == "the flight has no errors"


def test_a_rule_is_asked_of_every_vehicle_and_an_error_is_never_a_success() -> None:
    vehicles = {"a": {**ENDED, "flown_m": 5.0}, "b": {**ENDED, "flown_m": 1.0, "left_in_air": True}}
    logs = {"a": logged(), "b": logged()}
    assert why_failed("flown_m > 2", {"vehicles": vehicles}, logs) == "b: flown_m is 1, not > 2"
    assert why_failed(None, {"vehicles": vehicles}, logs) == "b: not landed at the end, in mode disarmed"
    assert why_failed("flown_m > 0", {"vehicles": vehicles, "ended_by": "NaN"}, logs) == "NaN"
    with pytest.raises(ScenarioError, match="success: the rule: cannot read 'landed or not'"):
        make_scenario({"success": "landed or not"})


def test_run_prints_events_then_the_verdict_and_strict_makes_it_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plot_nothing(monkeypatch)
    monkeypatch.chdir(tmp_path)
    pilot = {"kind": "hover", "altitude": 1.0, "duration": 1.0}
    scenario: dict[str, Any] = {"name": "short", "duration": 8.0, "success": "landed and flown_m > 1"}
    Path("short.yaml").write_text(json.dumps({**scenario, "vehicles": [{"pilot": pilot}]}))

    def ran(*arguments: str) -> tuple[int, list[str]]:
        monkeypatch.setattr(sys, "argv", ["skyloop", "run", "short.yaml", *arguments])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        return int(stop.value.code or 0), capsys.readouterr().out.splitlines()

    fault = "vehicles.0.rotor_faults=[{rotor: 0, kind: lost, start: 1, value: 0.95}]"
    code, lines = ran("--strict", "--set", fault, "--out", "flown")
    assert lines[0] == "  0.00 s armed: motors idle" and lines[1] == "  1.00 s fault: rotor 0 lost 5% of its thrust"
    assert "    mission completed" in lines
    assert (code, lines[-1]) == (0, "succeeded")
    code, lines = ran("--strict", "--set", "duration=3", "--out", "cut")
    assert (code, lines[-1]) == (3, "failed: not landed at the end, in mode land")
    assert ran("--set", "duration=3")[0] == 0
    assert json.loads("".join(ran("--set", "duration=1", "--json")[1]))["success"] is False
    summary = json.loads(Path("cut/summary.json").read_text())
    assert not summary["success"] and summary["cause"] == "not landed at the end, in mode land"


def test_a_flight_into_a_wall_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plot_nothing(monkeypatch)
    pilot = {"kind": "waypoints", "waypoints": [[0, 9, 1.5]]}
    scenario = make_scenario({"duration": 12.0, "world": "corridor", "vehicles": [{"pilot": pilot}]})
    summary = run_scenario(scenario, tmp_path / "run")
    assert not summary["success"] and "wall" in summary["cause"] and summary["cause"].startswith("after ")
