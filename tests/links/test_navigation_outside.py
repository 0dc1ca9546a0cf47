"""Flights to goals with the pilot, the maps or both at the other end of the link, also on slow computers."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from goal_flights import scenario
from link_rig import Computer, flying
from skyloop.cli import main
from skyloop.sim.outside_programs import pilot_outside
from skyloop.sim.scenario import load_scenario
from skyloop_autonomy.pilots.navigate import NavigatePilot
from skyloop_client.__main__ import main as client
from skyloop_client.bundle import Bundle
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Goal, GoalStatus, VehicleState
from skyloop_client.session import fly
from skyloop_client.user_code import load_chosen

MS = 1_000_000
NEAR = np.array([3.5, 2.0, 1.62])


SENSORS = {"imu": {"kind": "imu", "rate_hz": 100}, "gnss": {"kind": "gnss", "rate_hz": 100}}


def test_the_scenarios_pilot_is_made_again_from_its_options() -> None:
    reported = scenario([[4.0, 2.0], [2.0, 5.0, 2.0]], give_up_after=4.0)
    kind, arguments = pilot_outside(reported)
    assert arguments[:4] == ["--rate", "50.0", "--vehicle", "drone"] and arguments[4] == "--options"
    pilot = load_chosen(kind)(**json.loads(arguments[5]))
    assert isinstance(pilot, NavigatePilot)
    assert pilot._config == reported.vehicles[0].pilot
    kind, arguments = pilot_outside(load_scenario("unknown-city"))
    assert kind == "skyloop_autonomy.pilots.unknown_city:CityPilot" and json.loads(arguments[-1])["goal"] == [70, 60]
    with pytest.raises(ScenarioError, match="has 0 pilots; it must have exactly one"):
        pilot_outside(
            reported.model_copy(update={"vehicles": [reported.vehicles[0].model_copy(update={"pilot": None})]})
        )


class Reader:
    """Wants one of two sensors, and a stream that does not exist yet."""

    streams = ("imu", "goal")

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.calls = 0

    @property
    def done(self) -> bool:
        return self.calls >= 5

    def __call__(self, bundle: Bundle) -> None:
        self.calls += 1
        self.seen |= set(bundle.latest)
        assert bundle.get("goal", None) is None


def test_a_pilot_gets_the_streams_that_it_names_and_no_others() -> None:
    with flying({"vehicles": [{"name": "drone", "sensors": SENSORS}]}) as rig, rig.connect(clock=Computer()) as session:
        pilot = Reader()
        fly(session, pilot, 50)
    assert pilot.seen == {"drone/imu"}


def test_options_that_are_no_object_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert client(["pilot", "skyloop.vehicle.pilots.pilots:pilot_from", "--options", "[1]"]) == 1
    assert "--options [1]: give a JSON object" in capsys.readouterr().err


def run_cli(*reported: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["skyloop", *reported])
        with suppress(SystemExit):
            main()


@pytest.fixture
def goals_yaml(tmp_path: Path) -> str:
    """A flight to one goal on known maps, so that no renderer is needed."""
    path = tmp_path / "goals.yaml"
    data = scenario([[4.0, 2.0]], duration=25.0).model_dump(mode="json")
    path.write_text(yaml.safe_dump(data))
    return str(path)


@pytest.mark.slow("a flight to goals with a depth camera")
def test_maps_and_planner_run_outside_and_reach_the_goal(goals_yaml: str, tmp_path: Path, capsys: Any) -> None:
    outside = ["--estimator", "maps", "--pilot", "scenario"]
    run_cli("loop", goals_yaml, *outside, "--speed", "3", "--out", str(tmp_path / "run"), "--json")
    summary = json.loads(capsys.readouterr().out)
    assert summary["vehicles"]["drone"]["navigation"]["goals_reached"] == 1
    assert summary["links"]["loop"]["violations"] == 0
    computed = {pilot["role"]: pilot["computed_s"] for pilot in summary["links"]["loop"]["pilots"]}
    assert set(computed) == {"pilot", "estimator"} and min(computed.values()) > 0.01
    lines = (tmp_path / "run" / "streams" / "drone" / "maps" / "ground.csv").read_text(encoding="utf-8").splitlines()
    late = np.array([int(line.split(",")[1]) - int(line.split(",")[2]) for line in lines[1:]])
    assert len(late) > 50 and (late > 0).all(), "the time that maps take is counted"


@pytest.mark.slow("a flight to goals with a depth camera")
def test_size_finds_a_computer_that_is_too_slow_to_navigate(goals_yaml: str, tmp_path: Path, capsys: Any) -> None:
    outside = ["--estimator", "maps", "--pilot", "scenario", "--judge", "goals<0.5"]
    run_cli(
        "size", goals_yaml, *outside, "--speed", "3,0.003", "--runs", "1", "--out", str(tmp_path / "size"), "--json"
    )
    reported = json.loads(capsys.readouterr().out)
    assert reported["slowest_good"] == 3.0
    good, bad = reported["flights"]
    assert good["success"] and good["error"] < 0.5
    assert not bad["success"] and "error, not goals<0.5" in bad["trouble"]


def plain(**changes: Any) -> dict[str, Any]:
    return dict(scenario(**changes).model_dump(mode="json"))


def test_a_program_on_the_link_sends_goals_to_the_pilot_inside() -> None:
    """The second goal comes while it flies to the first one, and is flown to instead."""
    inside = flying(plain(goals=[], wait=60.0), pilots_inside=True)
    with inside as rig, rig.connect(role="companion", clock=Computer()) as session:
        session.publish("goal", Goal(np.array([2.0, 9.0, 1.62])))
        assert session.sleep_until(4000 * MS).refused == ()
        session.publish("goal", Goal(NEAR))
        assert session.sleep_until(4100 * MS).refused == ()
        bundle = session.ask(want=None, until_ns=14_000 * MS)
    status, state = bundle.get("navigation/status"), bundle.state
    assert isinstance(status, GoalStatus) and (status.state, status.number) == ("waiting", 2)
    assert isinstance(state, VehicleState) and np.linalg.norm(state.position - NEAR) < 0.3


def test_the_pilot_flies_the_same_at_the_other_end_of_the_link() -> None:
    reported = plain(goals=[NEAR.tolist()])
    reported["vehicles"][0]["pilot"] = None
    with flying(reported) as rig:
        pilot = NavigatePilot(goals=[NEAR.tolist()])
        with rig.connect(clock=Computer()) as session:
            fly(session, pilot)
        assert [outcome.state for outcome in pilot.outcomes] == ["reached"] and pilot.done
        outside = pilot.outcomes[0].t_ns
    assert 3.0 < outside * 1e-9 < 12.0
