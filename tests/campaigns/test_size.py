"""How slow may the computer be: speeds, verdicts, and a real SUT that is too slow on a slow one."""

from __future__ import annotations

import csv
import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from page_runs import plot_nothing
from skyloop.campaigns.size import SizingFlight, board_verdict, size, slowest_good, speeds_from, sut_result, verdict
from skyloop.campaigns.truth_judges import TrueFlight, judge_from
from skyloop.links.loop.targets import LocalProcess, Target
from skyloop.recording.flight_log import VehicleLog
from skyloop.sim.scenario import load_scenario, make_scenario
from skyloop_client.errors import LinkError, PartError, ScenarioError, SkyloopError
from skyloop_client.messages import Message, VehicleState

SUT = """
import json, time
from skyloop_client import connect
with connect() as session:
    session.sleep_until(100_000_000)
    began = time.process_time()
    while time.process_time() - began < 0.02:
        pass
    late = session.now() - 100_000_000
    session.ask()
print("done")
print(json.dumps({"success": late < 500_000_000, "error": late / 1e9, "time_s": session.now() / 1e9}))
"""


def flight(speed: float, success: bool) -> SizingFlight:
    return SizingFlight(speed, 1, success, None, None, None, 1.0, 0.1, 0.1, 0.1, 0.1, 0.1, 1.0, 1.0, 0, 1.0, "")


def test_speeds() -> None:
    assert speeds_from("0.1,1,2") == [0.1, 1.0, 2.0]
    assert speeds_from("0.05..2", 3) == [0.05, 0.316, 2.0]
    assert speeds_from("0.5..0.5", 1) == [0.5, 0.5]
    for bad in ("", "fast", "0..1", "-1", "1..x", "1e9"):
        with pytest.raises(LinkError, match="give LOW"):
            speeds_from(bad)


def test_the_slowest_good_computer_has_no_failure_above_it() -> None:
    flights = [flight(2.0, True), flight(1.0, True), flight(1.0, True), flight(0.5, False), flight(0.1, True)]
    assert slowest_good(flights) == 1.0
    assert slowest_good([flight(1.0, False), flight(0.5, True)]) is None


def test_the_verdict_claims_no_more_than_was_tried() -> None:
    good, bad = [flight(1.0, True), flight(0.01, True)], flight(0.001, False)
    assert verdict(good) == "succeeds at all speeds tried (lowest 0.01; 1 is this machine)"
    assert verdict([*good, bad]) == "succeeds at speed 0.01 and above and fails at 0.001 (1 is this machine)"
    assert verdict([bad]) == "fails at all speeds tried"
    assert verdict([flight(1.0, False), flight(0.5, True)]) == "fails at the highest speed tried"
    said = {speed: board_verdict([*good, bad], speed) for speed in (2.0, 0.01, 0.002, 0.001, 1e-4)}
    assert said[0.01] == "fast enough" and said[0.001] == "too slow"
    assert "faster than what was tried" in said[2.0] and "slower than what was tried" in said[1e-4]
    assert said[0.002].startswith("between 0.001, which fails, and 0.01")
    assert board_verdict(good, 0.001) == "slower than what was tried; try lower speeds"


@pytest.mark.processes
def test_the_truth_judges_and_not_the_softwares_own_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands still and claims to have flown 5 m; another has arrived and says that it has failed."""
    plot_nothing(monkeypatch)
    sut = tmp_path / "sut.py"
    for judge, boast, success in (("goal:5,0,0<1", "true", False), ("start<0.1", "false", True)):
        sut.write_text(SUT.replace("late < 500_000_000", boast.capitalize()))

        def target_of(speed: float) -> Target:
            return LocalProcess([sys.executable, str(sut)])

        scenario = make_scenario({"name": "standing", "duration": 5.0})
        folder = tmp_path / boast
        folder.mkdir()
        (flown,) = size(scenario, target_of, [1.0], folder, runs=1, judge=judge_from(judge))
        assert flown.told_success is (boast == "true") and flown.success is success
        assert flown.error == pytest.approx(0.0 if success else 5.0, abs=0.05)
        assert flown.trouble == ("" if success else f"{flown.error:.3g} m error, not goal:5,0,0<1")
        assert 0.0 < flown.computer_energy < flown.vehicle_energy
    own = tmp_path / "own.py"
    own.write_text("def lost(flight):\n    return None\n")
    summary = json.loads((folder / "speed-1-seed-1" / "summary.json").read_text())
    with pytest.raises(PartError, match=r"--judge own.py:lost<1 at .* s: TypeError"):
        judge_from("own.py:lost<1", tmp_path).error(folder / "speed-1-seed-1", scenario, summary)


def true_flight(yaw: float, end: tuple[float, float, float]) -> TrueFlight:
    scenario = load_scenario("move-forward")
    quat = [math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)]
    positions = np.array([[0.0, 2.0, 0.0], end])
    log, zero = VehicleLog(), np.zeros(3)
    for t_ns, position in enumerate(positions):
        state = VehicleState(t_ns, position, zero, np.array(quat), zero, zero, zero, zero, zero, zero)
        log.on_truth(Message("truth/drone", t_ns, t_ns, t_ns, state))
    anchored = log.off_anchor(np.array(scenario.world.options["anchor"]))
    figures = {"estimate_error_rms_m": 0.25, "off_start_m": log.off_start, **anchored}
    return TrueFlight(scenario, figures, np.array([0.0, 9.0]), positions, np.array([quat, quat]))


def test_judges_measure_what_they_say(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def height(flight):\n    return flight.positions[-1, 2]\n")
    # the anchor is at (8, 4): straight ahead of (8, 2) when the nose points north
    ahead = true_flight(math.pi / 2, (8.0, 2.0, 1.5))
    beyond = true_flight(0.0, (8.3, 2.4, 1.5))
    for text, flown, error in (
        ("anchor<0.05", ahead, 0.0), ("anchor<0.05", true_flight(0.0, (8.0, 2.0, 1.5)), math.pi / 2),
        ("abeam<0.5", beyond, 0.5), ("start<1", true_flight(0.0, (3.0, 6.0, 9.0)), 5.0),
        ("goal:8,2,1<1", ahead, 0.5), ("estimate<1", ahead, 0.25), ("mine.py:height<2", ahead, 1.5),
    ):  # fmt: skip
        assert judge_from(text, tmp_path).measure(flown) == pytest.approx(error, abs=1e-9), text
    with pytest.raises(ScenarioError, match="no setpoints with a place"):
        judge_from("tracking<1").measure(ahead)
    for bad in ("start", "start<far", "start<-1", "goal<1", "goal:1,2<1", "start:3<1", "speed<1", "<1"):
        with pytest.raises(SkyloopError, match="judge"):
            judge_from(bad)


def test_goals_are_judged_by_what_became_of_them() -> None:
    judge, reached = judge_from("goals<0.5"), {"goals_reached": 6, "collisions": 0, "farthest_from_goal_m": 0.3}
    for changes, error in (({}, 0.3), ({"goals_reached": 5}, math.inf), ({"collisions": 1}, math.inf)):
        flown = replace(true_flight(0.0, (0.0, 0.0, 0.0)), scenario=load_scenario("room-nav"))
        flown.vehicle["navigation"] = {**reached, **changes}
        assert judge.measure(flown) == error, changes
    del flown.vehicle["navigation"]
    assert judge.measure(flown) == math.inf, "it never took off"
    with pytest.raises(ScenarioError, match="has no goals"):
        judge.measure(true_flight(0.0, (0.0, 0.0, 0.0)))


def test_results_are_the_last_line_if_it_is_json(tmp_path: Path) -> None:
    said = tmp_path / "sut.txt"
    assert sut_result(said) == {}
    for text, result in (("", {}), ("oops\n", {}), ('hi\n{"a": 1}\n', {"a": 1}), ("[1]\n", {}), ('{"a": 1}\nbye', {})):
        said.write_text(text)
        assert sut_result(said) == result


@pytest.mark.slow("a flight at each speed")
@pytest.mark.processes
def test_a_computer_can_be_too_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plot_nothing(monkeypatch)
    sut = tmp_path / "sut.py"
    sut.write_text(SUT)

    def target_of(speed: float) -> Target:
        return LocalProcess([sys.executable, str(sut)], clock="cpu", speed=speed)

    scenario = make_scenario({"name": "standing", "duration": 20.0})
    flights = size(scenario, target_of, [0.01, 1.0], tmp_path, runs=1)
    assert [(f.speed, f.success) for f in flights] == [(1.0, True), (0.01, False)]
    # 20 ms of processor time, on a computer a hundredth as fast
    assert flights[0].told_error is not None and 0.02 <= flights[0].told_error < 0.5
    assert flights[1].told_error is not None and flights[1].told_error >= 2.0
    assert [(f.error, f.told_success, f.trouble) for f in flights] == [
        (None, True, ""), (None, False, "the software says it failed"),
    ]  # fmt: skip
    assert flights[1].cycle_p50 < 1.0 < 2.0 <= flights[1].cycle_max
    assert flights[1].time > 2.0 > flights[0].time
    assert flights[1].computed > 100 * flights[0].computed * 0.02
    assert slowest_good(flights) == 1.0
    with (tmp_path / "size.csv").open() as file:
        assert [row["success"] for row in csv.DictReader(file)] == ["True", "False"]
    assert (tmp_path / "size.png").stat().st_size > 5000


@pytest.mark.processes
def test_a_sut_that_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    def target_of(speed: float) -> Target:
        return LocalProcess([sys.executable, "-c", "raise SystemExit('no camera here')"])

    scenario = make_scenario({"name": "standing", "duration": 5.0})
    (failed,) = size(scenario, target_of, [1.0], tmp_path, runs=1)
    assert not failed.success and "no camera here" in failed.trouble
