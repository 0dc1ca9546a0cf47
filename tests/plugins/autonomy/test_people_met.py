"""What the summary of a flight tells of people: the smallest distance, and whether the vehicle knew of them."""

from __future__ import annotations

import numpy as np
import pytest

from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop.world.scenery.actors.indoor_walks import WatchfulWalker
from skyloop_autonomy.reports.navigation_log import VehicleNavigation
from skyloop_autonomy.reports.navigation_report import people_met


@pytest.mark.parametrize("known", [False, True])
def test_the_nearest_person_is_told_with_time_and_whether_it_was_known(known: bool) -> None:
    world = {"name": "room", "options": {"walkers": 1}}
    with build(make_scenario({"seed": 2, "world": world, "vehicles": [{"position": [0.0, 0.0]}]})) as simulation:
        (walker,) = [m for m in simulation.fleet.solids.model.movers if isinstance(m, WatchfulWalker)]
        log = VehicleNavigation()
        for t in np.arange(0.0, 8.0, 0.05):
            # 1 m beside the hips at 4 s, farther away before and after
            position = walker.poses(4.0)[0, :, 3] + [0.0, 0.0, 0.3]
            aside = np.array([-1.0, 0.0, 0.0]) * (1.0 + abs(t - 4.0))
            log.track.add(t, *(walker.poses(t)[0, :2, 3] + aside[:2]), position[2], 0.0, 1.0)
        if known:
            log.movers.append((3.0, walker.poses(3.5)[:1, :, 3]))
        found = people_met(simulation.port.editor, log)
    assert 0.6 < found["nearest_person_m"] < 1.0 and abs(found["nearest_person_at_s"] - 4.0) < 0.3
    assert found["nearest_person_known"] is known


def test_without_people_nothing_is_told() -> None:
    with build(make_scenario({"world": "room", "vehicles": [{"position": [0.0, 0.0]}]})) as simulation:
        log = VehicleNavigation()
        log.track.add(1.0, 0.0, 0.0, 1.5, 0.0, 1.0)
        assert people_met(simulation.port.editor, log) == {}
