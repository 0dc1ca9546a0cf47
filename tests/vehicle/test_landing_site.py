"""Landing looks at what is below and beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from collisions import solids_of

from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop.world.mesh import box
from skyloop_client.messages import Arm, EventKind, Goal, Land, TakeOff


def landed(
    *things: tuple[Any, Any], at: tuple[float, float] = (4.0, 0.0), **failsafes: float
) -> tuple[np.ndarray, list[Any]]:
    """Flies to a place among things, lands there, and says where it stands and what happened."""
    with build(make_scenario({"vehicles": [{"airframe": "iris", "failsafes": failsafes}]})) as simulation:
        simulation.fleet.attach(solids_of(*things))
        events = simulation.subscribe("drone/events")
        simulation.send(Arm(), TakeOff(3.0))
        simulation.run_until(5.0)
        simulation.send(Goal(np.array([*at, 3.0])))
        simulation.run_until(10.0)
        simulation.send(Land())
        simulation.run_until(30.0)
        assert simulation.latest("drone/status").mode == "disarmed"
        return simulation.truth().position, [message.data for message in events]


def touched(events: list[Any]) -> set[str]:
    return {event.contact.name for event in events if event.kind == EventKind.CONTACT}


THIN = (box((0.02, 0.02, 0.3)), (4.1, 0.05, 0.15))
CRATE = (box((0.4, 0.4, 0.4)), (4.3, 0.0, 0.2))


def test_on_level_ground_it_lands_where_it_is() -> None:
    position, events = landed()
    assert np.hypot(*(position[:2] - [4.0, 0.0])) < 0.1
    assert not [event for event in events if event.kind == EventKind.BLOCKED]


@pytest.mark.parametrize("thing", [THIN, CRATE])
def test_it_moves_over_to_the_nearest_clear_place(thing: Any) -> None:
    position, events = landed(thing)
    assert touched(events) == {"ground"}
    assert 0.2 < np.hypot(*(position[:2] - [4.0, 0.0])) < 1.6
    assert any("something is below" in event.text for event in events)


def test_a_wall_is_not_flown_through_on_the_way_there() -> None:
    wall = (box((0.05, 6.0, 6.0)), (4.9, 0.0, 3.0))
    position, events = landed(CRATE, wall)
    assert touched(events) == {"ground"} and position[0] < 4.5


def test_without_a_search_it_lands_on_what_is_there_and_disarms_tilted() -> None:
    kerb = (box((0.3, 3.0, 0.08)), (4.25, 0.0, 0.04))
    _, events = landed(kerb, landing_search=0.0)
    assert "block 0" in touched(events)
    assert any(event.kind == EventKind.LANDED for event in events)
    assert any("no clear place" in event.text for event in events)
