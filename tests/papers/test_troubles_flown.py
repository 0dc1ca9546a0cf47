"""Trouble on flights to goals, with the real stack: it stops, hovers or lands, and touches nothing."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

from skyloop.core.frames import yaw_from_quat
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop_autonomy.evaluation.navigation_troubles import TROUBLES, Door, trouble_scenario
from skyloop_client.errors import ScenarioError
from skyloop_papers.e2es_missions.navigation_troubles import close, fly_trouble, open_door, troubles_table


@pytest.mark.parametrize("name", TROUBLES)
def test_a_trouble_is_a_scenario(name: str) -> None:
    trouble, scenario = TROUBLES[name], trouble_scenario(name)
    (vehicle,) = scenario.vehicles
    assert vehicle.state == trouble.on
    assert ("cam0" in vehicle.sensors) == (trouble.on == "vio")
    for sensor, faults in trouble.faults.items():
        assert [fault.model_dump(exclude_unset=True)["kind"] for fault in vehicle.sensors[sensor].faults] == [
            fault["kind"] for fault in faults
        ]
    if trouble.goals:
        assert vehicle.sensors["depth"].width == 320
        assert [tuple(goal) for goal in vehicle.pilot.goals] == list(trouble.goals)


def test_a_door_is_found_and_closed() -> None:
    shut = TROUBLES["door closed behind it"].door
    assert shut is not None
    with build(make_scenario({"seed": 16, "world": "house", "vehicles": [{}]})) as simulation:
        editor = simulation.port.editor
        hinge = np.array([*shut.opening, 0.0])
        number = open_door(editor, hinge)
        # across the opening, at the height of a flight: free as long as the door is open
        middle = np.array([shut.opening[0] - 1.0, shut.opening[1] + 0.5 * shut.width, 1.5])
        ray = np.array([[1.0, 0.0, 0.0]])
        assert editor.cast(middle[None], ray, 10.0).distance[0] > 2.0
        close(shut, simulation)
        place, quat, _ = editor.place_of(number)
        assert np.allclose(place, hinge) and math.isclose(yaw_from_quat(quat), shut.yaw, abs_tol=1e-6)
        assert editor.cast(middle[None], ray, 10.0).distance[0] == pytest.approx(1.0, abs=0.1)
        with pytest.raises(ScenarioError, match="no door has its hinge"):
            open_door(editor, np.zeros(3))
    door = Door((1.0, 2.0), 0.5 * math.pi, 1.2)
    assert door.distance(np.array([3.0, 2.6, 1.5])) == pytest.approx(2.0)
    assert door.distance(np.array([1.0, 4.2, 1.5])) == pytest.approx(1.0)


def test_the_table_has_a_line_per_trouble() -> None:
    row = {"about": "no depth image", "did": "landed", "least_clearance_m": 0.625, "collisions": 0}
    assert troubles_table({"dead": row}).splitlines()[2] == "| dead | no depth image | landed | 0.62 | 0 |"


@pytest.mark.renders
@pytest.mark.slow("a mission with cameras for each trouble")
@pytest.mark.parametrize("name", TROUBLES)
def test_it_stops_or_lands_and_touches_nothing(name: str, tmp_path: Path) -> None:
    trouble = TROUBLES[name]
    row = fly_trouble(name, tmp_path)
    # without an IMU it comes down blind: hard on its legs, but on the floor and on nothing else
    blind = name == "estimate lost"
    assert (row["collisions"], row["crashed"]) == (int(blind), False), row["events"]
    contacts = [event for event in row["events"] if "contact" in event]
    assert all(re.search("legs hit (.*floor|terrain)", event) for event in contacts), contacts
    assert blind or row["least_clearance_m"] > 0.4, "farther from everything than its blade tips"
    assert row["goals_reached"] >= trouble.reached, row["goals"]
    assert row["landed"] == trouble.lands, row["events"]
    assert (tmp_path / "map-drone.gif").exists() and (tmp_path / "navigation-drone.png").exists()
