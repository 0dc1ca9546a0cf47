"""Tables I to V: what is measured of a run, how the claims are judged, and one real run of the C++ SUT."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from skyloop.reproductions.acid import Verdict, acid_test
from skyloop.reproductions.sync_hil import (
    EXPERIMENTS,
    Flown,
    cells,
    closed_path,
    fly_task,
    move_forward,
    run_of,
    setups,
)
from skyloop.reproductions.sync_hil import relative_position as relative
from skyloop.reproductions.sync_hil_claims import Samples, claims, claims_text
from skyloop.sim.scenario import load_scenario


def flown(result: dict[str, float], position: tuple[float, float, float], yaw: float = 0.0) -> Flown:
    return Flown(result, np.zeros(1), np.array([position]), np.array([yaw]), {})


def test_relative_position_is_measured_from_the_camera() -> None:
    scenario = load_scenario("face-anchor")
    # 12 cm ahead of (0, 1, 1.6) and turned by 0.2 rad
    eye = np.array([0.12 * math.cos(0.2), 1.0 + 0.12 * math.sin(0.2), 1.6])
    away = np.array(scenario.world.options["anchor"]) - eye
    angle, distance = math.atan2(away[1], away[0]) - 0.2, float(np.linalg.norm(away))
    said = {"angle": angle + math.radians(0.5), "distance": distance - 0.1, "time_s": 0.6}
    measured = relative(flown(said, (0.0, 1.0, 1.6), 0.2), scenario)
    assert measured == pytest.approx({"angle error (deg)": 0.5, "distance error (m)": 0.1, "time (s)": 0.6})


def test_places_are_measured_from_the_truth() -> None:
    forward = load_scenario("move-forward")
    assert move_forward(flown({"time_s": 9.0}, (7.8, 2.0, 1.5)), forward)["position error (m)"] == pytest.approx(0.2)
    path = load_scenario("closed-path")
    x, y = path.vehicles[0].position[:2]
    measured = closed_path(flown({"time_s": 9.0, "displacement": 0.4}, (x + 0.3, y - 0.4, 1.5)), path)
    assert measured["position error (m)"] == pytest.approx(0.5)
    assert measured["estimate error (m)"] == pytest.approx(0.1)


def samples(host: list[float], target: list[float], free: list[float]) -> Samples:
    table = {"host": host, "target": target, "target, no sync": free}
    return {
        "Table III": {where: [{"oscillations": n, "time (s)": 2.0 + n} for n in runs] for where, runs in table.items()}
    }


def test_claims_are_held_or_not() -> None:
    held = claims(samples([0.0] * 10, [1.0, 2.0] * 5, [0.0] * 10))
    assert [verdict.held for verdict in held] == [True, True, True]
    assert all(verdict.p < 0.01 for verdict in held)
    same = claims(samples([0.0] * 10, [0.0] * 10, [0.0] * 10))
    assert [verdict.held for verdict in same] == [False, False, False]
    assert claims_text(held).count("| yes |") == 3 and claims_text(same).count("| no |") == 3


def test_a_table_has_mean_and_spread_beside_the_published() -> None:
    results = cells(
        EXPERIMENTS[1], {"host": [{"oscillations": 0.0, "time (s)": 2.0}, {"oscillations": 1.0, "time (s)": 3.0}]}
    )
    by_cell = {result.cell: result for result in results}
    time = by_cell["host: time (s)"]
    assert (time.published, time.measured, time.unit, time.n) == (2.48, 2.5, "s", 2)
    assert time.sd == pytest.approx(math.sqrt(0.5))
    assert by_cell["host: oscillations"].measured == 0.5


def test_runs_differ_and_are_the_same_on_every_machine() -> None:
    first, second = (run_of(EXPERIMENTS[1], k) for k in (0, 1))
    assert first.seed != second.seed and first.vehicles[0].yaw_deg != second.vehicles[0].yaw_deg
    assert run_of(EXPERIMENTS[1], 1) == second


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ to compile the C++ SUT with")
def test_the_cpp_sut_faces_the_anchor(tmp_path: Path) -> None:
    experiment = EXPERIMENTS[1]
    scenario = run_of(experiment, 0)
    run = fly_task(setups()["host"], scenario, [experiment.task], tmp_path / "run")
    measured = experiment.measure(run, scenario)
    # paper: 2.48 s without oscillations; ours begins a little nearer
    assert measured["oscillations"] == 0
    assert 1.5 < measured["time (s)"] < 3.0
    assert run.summary["links"]["loop"]["violations"] == 0
    x, y, _ = scenario.world.options["anchor"]
    position = run.positions[-1]
    bearing = math.atan2(y - position[1], x - position[0])
    assert abs(math.remainder(bearing - float(run.yaws[-1]), math.tau)) < 0.06


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ to compile the C++ SUT with")
def test_the_acid_test() -> None:
    """In mode sync a slow simulator changes nothing beyond the noise of the runs; in mode none it does."""
    verdict = acid_test(runs=10)
    print(verdict.text())
    assert verdict.sync_is_the_same and verdict.none_drifts
    forward = acid_test("move-forward", runs=5, slowed=(1, 3), modes=("sync",))
    print(forward.text())
    assert forward.sync_is_the_same


def test_verdicts_of_the_acid_test() -> None:
    runs = [3.0, 3.2, 2.9, 3.1, 3.05]
    same, faster = {1: runs, 3: [*runs[2:], *runs[:2]]}, {1: runs, 3: [time - 1.0 for time in runs]}
    assert Verdict("t", same, faster).sync_is_the_same and Verdict("t", same, faster).none_drifts
    assert not Verdict("t", faster, same).sync_is_the_same and not Verdict("t", faster, same).none_drifts
    assert "drifts" in Verdict("t", same, faster).text()
