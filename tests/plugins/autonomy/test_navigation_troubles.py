"""Goals of click-and-fly missions: free, apart, and chosen by the seed alone."""

from __future__ import annotations

import numpy as np
import pytest

from skyloop.sim.scenario import load_scenario
from skyloop.world.occupancy import occupancy
from skyloop.world.world import build_world
from skyloop_autonomy.evaluation.navigation_troubles import drawn_goals, mission_goals, mission_scenario
from skyloop_client.errors import UnknownNameError

pytestmark = pytest.mark.flights


def test_goals_are_free_and_apart_and_the_seed_alone_chooses_them() -> None:
    scenario = load_scenario("room-nav", {"seed": 1})
    goals, length = mission_goals(scenario)
    drawn = drawn_goals(scenario)
    assert len(goals) == drawn.count == 6
    assert mission_goals(load_scenario("room-nav", {"seed": 2}))[0] != goals
    model = build_world(scenario.world, 1, None).model
    model.freeze()
    for x, y in goals:
        room = 0.6 * drawn.room  # a square that is surely inside the circle
        low, high = [x - room, y - room, 1.2], [x + room, y + room, 1.8]
        assert not occupancy(model, None, low, high, 0.1).any(), (x, y)
    steps = np.linalg.norm(np.diff([(0.0, 0.0), *goals], axis=0), axis=1)
    assert steps.sum() <= length <= drawn.count * drawn.apart[1]


def test_a_world_without_missions_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="park"):
        mission_scenario("park", 1)
