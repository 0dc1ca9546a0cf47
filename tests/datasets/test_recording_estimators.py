"""A recording in which an estimator runs and publishes: one worker or two, cut off and resumed, the same bytes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from test_recording_run import assert_same

from in_process import record_here
from skyloop.datasets.checking import check
from skyloop.datasets.export import export
from skyloop.datasets.recording_run import plan_recording, record
from skyloop.recording.recording import open_recording
from skyloop.sim.scenario import make_scenario
from skyloop_client.errors import ScenarioError

pytestmark = pytest.mark.flights

THINGS = str(Path(__file__).parents[1] / "published_things.py")
FRAMES = 25
SCENARIO: dict[str, Any] = {
    "name": "estimating",
    "truth_rate_hz": 100,
    "vehicles": [
        {
            "name": "drone",
            "sensors": {
                "imu": {"kind": "imu", "rate_hz": 100},
                "lidar": {"kind": "lidar", "rate_hz": 20, "channels": 4, "points_per_second": 7200},
            },
            "estimators": {"listener": {"kind": f"{THINGS}:Listener", "options": {"more": True}}},
            "pilot": {"kind": "hover", "altitude": 1.0},
        }
    ],
}


def planned(folder: Path) -> Path:
    plan_recording(make_scenario(SCENARIO), folder, frames=FRAMES, rate_hz=20.0, formats=("asl", "mcap"))
    return folder


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = planned(tmp_path_factory.mktemp("estimating") / "dataset")
    record_here(folder)
    return folder


def test_streams_that_appear_in_flight_are_recorded(undisturbed: Path) -> None:
    assert check(undisturbed) == []
    recording = open_recording(undisturbed)
    counts: dict[str, int] = {}
    for message in recording.messages():
        counts[message.stream] = counts.get(message.stream, 0) + 1
    assert recording.infos["drone/grid"].message == "GridMap"
    assert counts["drone/grid"] == counts["drone/markers"] == 5
    # the estimator hears every scan, also in groups that another worker writes
    last = list(recording.messages({"drone/heard"}))[-1]
    assert last.data.value == last.index + 1
    assert counts["drone/listener"] == counts["drone/imu"] + counts["drone/lidar"]
    bag = (undisturbed / "ros2" / "metadata.yaml").read_text()
    assert "nav_msgs/msg/OccupancyGrid" in bag and "visualization_msgs/msg/MarkerArray" in bag


@pytest.mark.slow("three processes; test_flying_once has an estimator and two workers, too")
def test_two_workers_write_the_same_bytes(undisturbed: Path, tmp_path: Path) -> None:
    record(planned(tmp_path / "dataset"), 2)
    assert_same(undisturbed, tmp_path / "dataset")


def test_one_that_resumes_writes_the_same_bytes(undisturbed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dataset"
    shutil.copytree(undisturbed, folder)
    (folder / "journal" / "group-000000.bin").unlink()
    assert record_here(folder)["frames_flown_now"] == 10
    export(folder, ("asl", "mcap"))
    assert_same(undisturbed, folder)


def test_an_estimator_of_a_link_cannot_be_recorded(tmp_path: Path) -> None:
    scenario = make_scenario(SCENARIO, {"vehicles.drone.estimators": {"vio": {"kind": "link"}}})
    with pytest.raises(ScenarioError, match="is of kind link"):
        plan_recording(scenario, tmp_path / "dataset", frames=5, rate_hz=20.0, formats=())
    assert not (tmp_path / "dataset").exists()
