"""Tables I to V: what is scored of a run, how the claims are judged, what is kept, and one real run of the C++ SUT."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from throws import by_name, keep_runs

import skyloop
from skyloop.core.frames import quat_from_rotvec, quat_multiply
from skyloop.links.loop.in_process import InProcess
from skyloop_client.errors import LinkError
from skyloop_client.tasks.sync_hil import Ascend
from skyloop_papers.runner import reproduce
from skyloop_papers.runs import Job
from skyloop_papers.sync_hil.claims import claims
from skyloop_papers.sync_hil.experiment import EXPERIMENT, table_cells
from skyloop_papers.sync_hil.flights import SyncRun, fly, options_for, runs_of
from skyloop_papers.sync_hil.plan import CLAIMS, FREE, HOST, LEVEL, TABLES, TARGET, SyncPlan, run_of
from skyloop_papers.sync_hil.scores import (
    FinishedRun,
    board_front,
    closed_path,
    face_anchor,
    move_forward,
    relative_position,
    sensor_characterisation,
)
from skyloop_papers.sync_hil.slowed_simulator import AcidTest

BY_NAME = {table.name: table for table in TABLES}
NEEDS_COMPILER = pytest.mark.needs("g++")


def level(yaw: float) -> Any:
    return quat_from_rotvec(np.array([0.0, 0.0, yaw]))


def flown(result: dict[str, float], positions: Sequence[Any], quats: Sequence[Any]) -> FinishedRun:
    """One position and attitude per second; the task is all of it."""
    times = np.arange(float(len(positions)))
    return FinishedRun(
        {"start_ns": 0.0, **result}, times, np.array(positions), np.array(quats), 0.0, times[-1], times[-1]
    )


# ---- scores


@pytest.mark.parametrize("yaw_deg", [0.0, 4.0, -4.0])
def test_stopping_abeam_on_the_heading_flown_is_no_error(yaw_deg: float) -> None:
    """The start is turned and the vehicle flies along that: a perfect run must score nothing."""
    scenario = run_of(BY_NAME["Table IV"], 0)
    heading = math.radians(yaw_deg)
    ahead, left = np.array([[math.cos(heading), math.sin(heading), 0], [-math.sin(heading), math.cos(heading), 0]])
    start = np.array([0.0, 2.0, 1.5])
    abeam = start + ((board_front(scenario) - start) @ ahead) * ahead
    perfect = move_forward(flown({}, [start, abeam], [level(heading)] * 2), scenario)
    assert perfect["position error (m)"] == pytest.approx(0.0, abs=1e-9)
    off = move_forward(flown({}, [start, abeam + 0.3 * ahead - 0.4 * left], [level(heading)] * 2), scenario)
    assert off["along (m)"] == pytest.approx(0.3)
    assert off["across (m)"] == pytest.approx(-0.4)
    assert off["position error (m)"] == pytest.approx(0.5)
    assert off["time (s)"] == 1.0


def test_relative_position_is_judged_through_the_true_camera_at_the_images_instant() -> None:
    scenario = run_of(BY_NAME["Table II"], 0)
    tilted = quat_multiply(level(0.2), quat_from_rotvec(np.array([0.1, -0.05, 0.0])))
    body = skyloop.core.frames.matrix_from_quat(tilted)
    place = np.array([0.0, 1.0, 1.6])
    ahead, left, up = body.T @ (board_front(scenario) - place) - np.array([0.12, 0.0, 0.0])
    said = {
        "angle": math.atan2(left, ahead) + math.radians(0.5), "distance": math.hypot(ahead, left, up) - 0.1,
        "image_ns": 1e9,
    }  # fmt: skip
    scored = relative_position(
        flown(said, [place - 1.0, place, place + 1.0], [level(0.0), tilted, level(1.0)]), scenario
    )
    assert scored["angle error (deg)"] == pytest.approx(0.5)
    assert scored["distance error (m)"] == pytest.approx(0.1)


def test_oscillations_are_those_of_the_true_vehicle() -> None:
    """Beyond the precision on the other side; a pass within it is none, whatever the software counts."""
    scenario = run_of(BY_NAME["Table III"], 0)
    place = np.array([0.0, 1.0, 1.5])
    away = board_front(scenario) - place
    bearing = math.atan2(away[1], away[0])
    for off, count in (((0.5, 0.1, 0.01), 0), ((0.5, 0.1, -0.015, 0.0), 0), ((0.5, -0.1, 0.05, -0.03, 0.0), 3)):
        scored = face_anchor(
            flown({"oscillations": 7}, [place] * len(off), [level(bearing - x) for x in off]), scenario
        )
        assert scored["oscillations"] == count


def test_a_closed_path_is_measured_from_its_own_start() -> None:
    scenario = run_of(BY_NAME["Table V"], 3)
    scored = closed_path(flown({"displacement": 0.4}, [[3.1, -1.4, 1.5], [3.4, -1.8, 1.5]], [level(1.5)] * 2), scenario)
    assert scored["position error (m)"] == pytest.approx(0.5)
    assert scored["estimate error (m)"] == pytest.approx(0.1)


def test_answers_without_a_sample_are_not_samples() -> None:
    scenario = run_of(BY_NAME["Table I"], 0)
    run = flown({"got": 100}, [[0.0, 0.0, 0.0]] * 100, [level(0.0)] * 100)
    assert sensor_characterisation(run, scenario) == {"acquiring a sample (s)": 1.0}
    with pytest.raises(LinkError, match="3 of 100 answers held a sample"):
        sensor_characterisation(flown({"got": 3}, [[0.0, 0.0, 0.0]] * 2, [level(0.0)] * 2), scenario)


# ---- claims and tables


def made_up(score: dict[str, list[float]], name: str) -> dict[str, list[dict[str, Any]]]:
    return {
        setup: [{name: v} if math.isfinite(v) else {"unfinished": "x"} for v in runs] for setup, runs in score.items()
    }


def test_claims_are_held_or_not_shown() -> None:
    runs = made_up({HOST: [0.0] * 10, TARGET: [1.0, 2.0] * 5, FREE: [0.0] * 10}, "oscillations")
    for rows in runs.values():
        for row in rows:
            row["time (s)"] = 2.0 + row["oscillations"]
    family = [claim for claim in CLAIMS if claim.table == "Table III"]
    verdicts = claims({"Table III": runs}, CLAIMS, LEVEL)
    assert [verdict.claim for verdict in verdicts] == family
    assert all(verdict.held for verdict in verdicts)
    # ten claims: the smallest p is multiplied by ten although six tables' tests were not flown
    assert min(verdict.corrected for verdict in verdicts) == pytest.approx(10 * 2**-10)
    nothing = {"Table III": {setup: [{"oscillations": 0.0, "time (s)": 2.0}] * 10 for setup in runs}}
    assert not any(verdict.held for verdict in claims(nothing, CLAIMS, LEVEL))


def test_unfinished_runs_count_in_claims_and_tables() -> None:
    rows = made_up({HOST: [0.02] * 12, TARGET: [math.inf] * 12, FREE: [0.02] * 12}, "position error (m)")
    for row in [*rows[HOST], *rows[FREE]]:
        row["time (s)"] = 60.0
    less_precise, seems_better, as_long = claims({"Table IV": rows}, CLAIMS, LEVEL)
    assert less_precise.held and seems_better.held and not as_long.held
    assert "none of 12 finished" in less_precise.seen
    by_cell = by_name(table_cells("Table IV", rows))
    assert by_cell["target: finished"].ours == 0.0
    assert by_cell["host: position error (m)"].published == 0.027
    assert by_cell["host: position error (m)"].conditions["finished"] == 12


def test_a_run_is_its_own_and_the_same_on_every_machine() -> None:
    first, second = (run_of(BY_NAME["Table IV"], k) for k in (0, 1))
    assert first.seed != second.seed
    for k in range(12):
        vehicle = run_of(BY_NAME["Table IV"], k).vehicles[0]
        x, y = vehicle.position[:2]
        assert abs(x) <= 0.1 and abs(y - 2.0) <= 0.1 and abs(vehicle.yaw_deg) <= 4.0
    assert len({run_of(BY_NAME["Table IV"], k).vehicles[0].position for k in range(20)}) == 20
    assert run_of(BY_NAME["Table IV"], 1) == second


def test_the_anchor_is_in_view_at_every_start_of_table_iii() -> None:
    """A vehicle that does not see it stands and waits: one of the first 20 runs did so for 10 s."""
    for k in range(100):
        scenario = run_of(BY_NAME["Table III"], k)
        vehicle = scenario.vehicles[0]
        camera = vehicle.sensors["front"]
        x, y = vehicle.position[:2]
        yaw = math.radians(vehicle.yaw_deg)
        eye = x + camera.mount.position[0] * math.cos(yaw), y + camera.mount.position[0] * math.sin(yaw)
        front = board_front(scenario)
        edges = [math.atan2(front[1] - eye[1], front[0] + side - eye[0]) - yaw for side in (-0.25, 0.25)]
        assert max(map(abs, edges)) < math.radians(camera.horizontal_fov_deg / 2), k


def test_a_cable_takes_wall_time_without_synchronisation() -> None:
    """Then less simulated time passes meanwhile, as the simulator is slow."""
    together, apart = (options_for(setup).delays["CameraImage"] for setup in (TARGET, FREE))
    assert together == 0.251 and apart == pytest.approx(0.0251)
    assert options_for(FREE, pace=0.5).delays["CameraImage"] == pytest.approx(0.1255)
    assert options_for(HOST).delays == {"RangeSample": 0.0441, "CameraImage": 0.0561}


@pytest.mark.renders
def test_the_closed_path_reckons_on_the_autopilots_estimate() -> None:
    scenario = skyloop.load_scenario("closed-path")
    with skyloop.build(scenario, wanted=lambda t_ns: False) as simulation:
        session = InProcess(simulation.port)
        Ascend(1.5).perform(session)
        bundle = session.ask()
        assert type(bundle.state).__name__ == "Estimate"
        assert not np.allclose(bundle.state.quat_wxyz, simulation.truth().quat_wxyz, atol=1e-5)


# ---- what is kept


def fill(folder: Path, plan: SyncPlan) -> None:
    scores = {
        "sensor-characterisation": {"acquiring a sample (s)": 0.05},
        "relative-position": {
            "angle error (deg)": 0.3, "distance error (m)": 0.1, "time (s)": 0.6, "computing (s)": 0.00121320
        },
        "face-anchor": {"oscillations": 1.0},
        "move-forward": {"position error (m)": 0.1, "along (m)": 0.1, "across (m)": 0.0, "time (s)": 60.0},
        "closed-path": {"position error (m)": 0.1, "estimate error (m)": 0.1, "time (s)": 27.0},
    }  # fmt: skip

    def score_of(job: Job) -> dict[str, float]:
        run: Any = job.arguments[0]
        time = {} if run.stream else {"time (s)": 2.0 + run.k}
        return {**time, **scores[run.table.task]}

    keep_runs(folder, plan, [Job.of(folder, run.name, fly, run) for run in runs_of(plan)], score_of)


def test_what_is_flown_is_not_flown_again_and_gives_the_tables(tmp_path: Path) -> None:
    fill(tmp_path, SyncPlan())
    results = reproduce(EXPERIMENT, folder=tmp_path)
    by_cell = {(result.table, result.name): result for result in results}
    assert by_cell["Table III", "target: time (s)"].n == 20
    judged = {table for (table, _), result in by_cell.items() if result.verdict in ("held", "not held", "undecided")}
    assert judged == {"Table II", "Table III", "Table IV", "Table V", "claims"}
    for given in ("Table I", "target: camera: acquiring a sample (s)"), ("Table V", "host: time (s)"):
        assert by_cell[given].verdict == "given as an input", given
    assert sum(result.table == "claims" for result in results) == 10
    held = {result.conditions["number"] for result in results if result.table == "claims" and result.ours}
    assert held == {7, 8, 9, 10}


# ---- real runs


@pytest.mark.slow("a whole flight; tests/clients/test_cpp_sut.py flies it in the fast suite")
@NEEDS_COMPILER
def test_the_cpp_sut_faces_the_anchor() -> None:
    scored = fly(SyncRun(BY_NAME["Table III"], HOST, 100))
    # paper: 2.48 s without oscillations; ours begins a little nearer
    assert scored.get("oscillations") == 0.0, scored
    assert 1.5 < scored["time (s)"] < 3.0


@pytest.mark.slow("a flight with the software in another process")
@pytest.mark.renders
@NEEDS_COMPILER
def test_a_flight_that_does_not_end_in_time_is_unfinished() -> None:
    scored = fly(SyncRun(replace(BY_NAME["Table III"], limit=1.0), HOST, 100))
    assert "1 s" in scored["unfinished"]


def test_verdicts_of_the_acid_test() -> None:
    runs = [3.0, 3.2, 2.9, 3.1, 3.05]
    same, faster = {1: runs, 3: [*runs[2:], *runs[:2]]}, {1: runs, 3: [time - 1.0 for time in runs]}
    assert AcidTest("t", same, faster).sync_is_the_same and AcidTest("t", same, faster).none_drifts
    assert not AcidTest("t", faster, same).sync_is_the_same and not AcidTest("t", faster, same).none_drifts
    assert "drifts" in AcidTest("t", same, faster).text()
