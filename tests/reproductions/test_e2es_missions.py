"""Missions of `skyloop reproduce e2es`: what makes one fail, what a failed one leaves, and one short mission flown."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from skyloop.reproductions import e2es_mission_flight
from skyloop.reproductions.e2es_map_plot import draw_map
from skyloop.reproductions.e2es_mission_flight import cause_of, fly_mission
from skyloop_client.messages import Event, EventKind, VoxelMap

REACHED = {"state": "reached", "goal": [1.0, 2.0, 1.5], "t": 20.0, "reason": ""}
GOOD: dict[str, Any] = {
    "goals": [REACHED, REACHED], "goals_reached": 2, "farthest_from_goal_m": 0.1, "fastest_m_s": 0.9,
}  # fmt: skip


def witness(*events: Event, landed: bool = True) -> Any:
    return SimpleNamespace(events=events, is_on_the_ground=landed)


def test_a_good_mission_has_no_cause_of_failure() -> None:
    assert cause_of(witness(), GOOD, 2) == ""


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
    assert cause in cause_of(witness(), {**GOOD, **changed}, 2)


def test_a_collision_and_a_flight_without_landing_fail() -> None:
    hit = Event(3_000_000_000, EventKind.CRASH, "into a wall")
    assert cause_of(witness(hit), GOOD, 2) == "crash into a wall at 3.0 s"
    assert cause_of(witness(landed=False), GOOD, 2) == "not on the ground at the end"


def test_a_map_is_drawn_beside_its_world(tmp_path: Path) -> None:
    voxels = np.full((12, 8, 5), -1, np.int8)
    voxels[2:10, 2:6] = 0
    voxels[4, 3, :2] = 100
    truth = voxels == 100
    draw_map(tmp_path / "map.png", "test", VoxelMap(0, voxels, 0.2, np.zeros(3)), truth)
    assert (tmp_path / "map.png").stat().st_size > 10_000


@pytest.mark.slow
def test_a_short_mission_is_flown_scored_and_tidied_up(tmp_path: Path) -> None:
    scored = fly_mission("room", 1, 0, 1, str(tmp_path / "good"))
    assert "failed" not in scored and scored["goals_reached"] == 1
    assert scored["map_on_truth"]["iou"] > 0.8 and scored["map_on_vio"]["iou"] > 0.7
    assert sum(scored["stages"].values()) == pytest.approx(1.0)
    left = {path.name for path in (tmp_path / "good").iterdir()}
    assert "streams" not in left and {"map.png", "navigation-drone.png", "summary.json"} <= left


@pytest.mark.slow
def test_a_failed_mission_leaves_replay_picture_and_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e2es_mission_flight, "TOP_SPEED", 0.1)
    scored = fly_mission("room", 1, 0, 1, str(tmp_path / "bad"))
    assert scored["failed"].startswith("flew at")
    left = {path.name for path in (tmp_path / "bad").iterdir()}
    assert {"streams", "scenario.yaml", "navigation-drone.png"} <= left
    assert scored["again"] == f"skyloop run {tmp_path / 'bad' / 'scenario.yaml'}"
