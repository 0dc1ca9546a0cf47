"""`skyloop reproduce e2es-missions`: what makes a mission fail, what a failed one leaves, and one short one flown."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from throws import by_name, keep_runs

from skyloop_client.messages import Event, EventKind, VoxelMap
from skyloop_papers.e2es_missions import experiment as e2es_missions
from skyloop_papers.e2es_missions import flight as e2es_mission_flight
from skyloop_papers.e2es_missions.flight import MissionsPlan, cause_of, draw_map, fly_mission
from skyloop_papers.experiment import SPEED
from skyloop_papers.runner import reproduce

REACHED = {"state": "reached", "goal": [1.0, 2.0, 1.5], "t": 20.0, "reason": ""}
GOOD: dict[str, Any] = {
    "goals": [REACHED, REACHED], "goals_reached": 2, "farthest_from_goal_m": 0.1, "fastest_m_s": 0.9,
}  # fmt: skip
SMALL = MissionsPlan(("room", "house"), (1, 2), (("room", 3),), 2, (("room", 1),), 6)
MAP = {"iou": 0.9, "seen": 100, "false_occupied": 3, "missed": 2, "distance_error": 0.03, "within_one_voxel": 0.99}
MISSION: dict[str, Any] = {
    "world": "room", "seed": 1, "walkers": 0, "way_m": 60.0, "estimate_error_m": 0.02, "goals_reached": 6,
    "farthest_from_goal_m": 0.06, "fastest_m_s": 0.9, "least_clearance_m": 0.5, "map_on_vio": MAP,
    "map_on_truth": {**MAP, "iou": 0.92}, "simulated_s": 100.0, "processor_s": 50.0, "factor": 2.0,
    "real_time_factor": 1.0, "stages": {"rendering": 0.6, "odometry": 0.3, "maps": 0.06, "planning": 0.04},
}  # fmt: skip


def write_runs(folder: Path, **changed: dict[str, Any]) -> None:
    jobs = e2es_missions.EXPERIMENT.jobs(SMALL, folder)
    keep_runs(folder, SMALL, jobs, lambda job: changed.get(job.name.replace("-", "_"), MISSION))


def test_missions_are_counted_by_world_and_failures_are_named(tmp_path: Path) -> None:
    hit = {**MISSION, "seed": 2, "failed": "contact with wall at 3.0 s", "again": "skyloop run here/scenario.yaml"}
    write_runs(tmp_path, mission_room_2=hit)
    lines: list[str] = []
    results = reproduce(e2es_missions.EXPERIMENT, folder=tmp_path, plan=SMALL, progress=lines.append)
    assert lines == [], "nothing is flown again"
    found = by_name(results)
    assert (found["room: all goals reached"].ours, found["room: all goals reached"].n) == (1, 2)
    assert (found["room: collisions"].ours, found["house: collisions"].ours) == (1, 0)
    assert found["with walkers: all goals reached"].ours == 1
    assert found["house: IoU on true poses"].conditions["met"] == 2
    assert found["room, explored: IoU on odometry"].ours == 0.9
    assert found["time factor: simulated per processor second"].ours == 2.0
    # 60 ms of 1 s of processor time are 30 ms of a second of flight, in which there are 15 images
    assert found["maps: per depth image"].ours == pytest.approx(2.0)
    assert {each.verdict for each in results if each.table == "Table 1"} == {SPEED}
    shown = e2es_missions.EXPERIMENT.page(results)
    assert "| room | 1 of 2 | 1 | 0.06 |" in shown["missions"]
    assert "| room 2 | contact with wall at 3.0 s |" in shown["failed"]
    assert "| house | 0.920 (worst 0.920) | 2 of 2 ≥ 0.9 | 0.030 |" in shown["maps"]
    assert "| rendering | 60 % |" in shown["times"]
    assert "| 26 + 4 + 70 ms | 18 + 4 + 64 ms | 2 ms |" in shown["table-1"]


def observer(*events: Event, landed: bool = True) -> Any:
    return SimpleNamespace(events=events, is_on_the_ground=landed)


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        ({"goals": [{**REACHED, "state": "refused", "reason": "no way leads there"}]}, "refused at 20 s: no way"),
        ({"goals": [REACHED], "goals_reached": 1}, "1 of 2 goals within the time"),
        ({"farthest_from_goal_m": 0.6}, "0.60 m from a goal"),
        ({"fastest_m_s": 1.1}, "flew at 1.10 m/s"),
    ],
)
def test_what_makes_a_mission_fail(changed: dict[str, Any], cause: str) -> None:
    assert cause in cause_of(observer(), {**GOOD, **changed}, 2)


def test_a_collision_and_a_flight_without_landing_fail() -> None:
    assert cause_of(observer(), GOOD, 2) == ""
    hit = Event(3_000_000_000, EventKind.CRASH, "into a wall")
    assert cause_of(observer(hit), GOOD, 2) == "crash into a wall at 3.0 s"
    assert cause_of(observer(landed=False), GOOD, 2) == "not on the ground at the end"


def test_a_map_is_drawn_beside_its_world(tmp_path: Path) -> None:
    voxels = np.full((12, 8, 5), -1, np.int8)
    voxels[2:10, 2:6] = 0
    voxels[4, 3, :2] = 100
    truth = voxels == 100
    draw_map(tmp_path / "map.png", "test", VoxelMap(0, voxels, 0.2, np.zeros(3)), truth)
    assert (tmp_path / "map.png").stat().st_size > 10_000


@pytest.mark.renders
@pytest.mark.slow("a mission with cameras")
def test_a_short_mission_is_flown_scored_and_tidied_up(tmp_path: Path) -> None:
    scored = fly_mission("room", 1, 0, 1, str(tmp_path / "good"))
    assert "failed" not in scored and scored["goals_reached"] == 1
    assert scored["map_on_truth"]["iou"] > 0.8 and scored["map_on_vio"]["iou"] > 0.7
    assert sum(scored["stages"].values()) == pytest.approx(1.0)
    left = {path.name for path in (tmp_path / "good").iterdir()}
    assert "streams" not in left and {"map.png", "navigation-drone.png", "summary.json"} <= left


@pytest.mark.renders
@pytest.mark.slow("a mission with cameras")
def test_a_failed_mission_leaves_replay_picture_and_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e2es_mission_flight, "TOP_SPEED", 0.1)
    scored = fly_mission("room", 1, 0, 1, str(tmp_path / "bad"))
    assert scored["failed"].startswith("flew at")
    left = {path.name for path in (tmp_path / "bad").iterdir()}
    assert {"streams", "scenario.yaml", "navigation-drone.png"} <= left
    assert scored["again"] == f"skyloop run {tmp_path / 'bad' / 'scenario.yaml'}"
