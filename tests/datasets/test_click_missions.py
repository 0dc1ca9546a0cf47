"""Goals of click-and-fly missions: free, apart, and chosen by the seed alone."""

from __future__ import annotations

import numpy as np
import pytest

from skyloop.datasets.click_missions import FARTHEST, GOAL_CLEARANCE, GOALS, mission_goals, mission_scenario
from skyloop.sim.scenario import load_scenario
from skyloop.world.occupancy import occupancy
from skyloop.world.world import build_world
from skyloop_client.errors import ScenarioError, UnknownNameError


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_goals_are_free_and_apart(seed: int) -> None:
    scenario = load_scenario("room-nav", {"seed": seed})
    goals, length = mission_goals(scenario, "room", seed)
    assert len(goals) == GOALS
    model = build_world(scenario.world, seed, None).model
    model.freeze()
    for x, y in goals:
        room = 0.6 * GOAL_CLEARANCE  # a square that is surely inside the circle
        low, high = [x - room, y - room, 1.2], [x + room, y + room, 1.8]
        assert not occupancy(model, None, low, high, 0.1).any(), (x, y)
    steps = np.linalg.norm(np.diff([(0.0, 0.0), *goals], axis=0), axis=1)
    assert steps.sum() <= length <= GOALS * FARTHEST
    assert mission_goals(scenario, "room", seed) == (goals, length)


def test_the_seed_chooses_and_truth_needs_no_odometry() -> None:
    one, other = mission_scenario("room", 1), mission_scenario("room", 2, on="truth")
    assert one.vehicles[0].pilot.goals != other.vehicles[0].pilot.goals
    assert (one.vehicles[0].state, other.vehicles[0].state) == ("vio", "truth")
    assert {"depth"} == set(other.vehicles[0].sensors) < set(one.vehicles[0].sensors)
    assert "vio" in one.vehicles[0].estimators and "vio" not in other.vehicles[0].estimators


def test_what_there_is_not_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="park"):
        mission_scenario("park", 1)
    with pytest.raises(ScenarioError, match="not on 'ekf'"):
        mission_scenario("room", 1, on="ekf")
