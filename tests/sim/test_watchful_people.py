"""People who wait for vehicles: they stop before one, walk on when it is gone, and snapshots hold what they did."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop.world.scenery.actors.indoor_walks import WatchfulWalker


def scene(**vehicle: Any) -> Any:
    told = {"position": [0.0, 0.0], **vehicle}
    return make_scenario(
        {"seed": 2, "duration": 30.0, "world": {"name": "room", "options": {"walkers": 1}}, "vehicles": [told]}
    )


def walker_of(simulation: Any) -> WatchfulWalker:
    (walker,) = [m for m in simulation.fleet.solids.model.movers if isinstance(m, WatchfulWalker)]
    return walker


@cache
def ahead_of_the_walker(seconds: float) -> list[float]:
    """Where the only person of the room would be after so many seconds."""
    with build(scene()) as simulation:
        x, y = walker_of(simulation).poses(seconds)[0, :2, 3]
    return [float(x), float(y)]


def test_a_person_stops_before_a_vehicle_and_never_touches_it() -> None:
    place = ahead_of_the_walker(4.0)
    with build(scene(position=place)) as simulation:
        walker = walker_of(simulation)
        events: list[Any] = []
        simulation.bus.on("drone/events", lambda message: events.append(message.data))
        simulation.run_until(7.0)
        stands = walker.poses(7.0)[0, :2, 3]
        assert np.linalg.norm(walker.poses(6.5)[0, :2, 3] - stands) < 1e-6
        away = [np.linalg.norm(walker.poses(t)[0, :2, 3] - place) for t in np.arange(0.0, 7.0, 0.1)]
        assert 0.8 < min(away) < 1.5
        assert [event.kind for event in events if "person" in event.text] == []


def test_what_was_asked_for_never_changes_and_motion_is_smooth() -> None:
    place = ahead_of_the_walker(4.0)
    with build(scene(position=place)) as simulation:
        walker = walker_of(simulation)
        seen = []
        for t in np.arange(0.1, 6.0, 0.1):
            simulation.run_until(t)
            # the physics asks for poses up to one step ahead
            seen.append((t + 0.004, walker.poses(t + 0.004)))
        for t, poses in seen:
            np.testing.assert_array_equal(walker.poses(t), poses)
    paces = np.array(walker.paces)
    assert paces.min() == 0.0 and np.abs(np.diff(paces)).max() <= 0.2 + 1e-9


def test_a_person_walks_as_before_where_no_vehicle_is_in_front() -> None:
    with build(scene()) as simulation:
        walker = walker_of(simulation)
        before = walker.poses(9.0)
        simulation.run_until(9.0)
        np.testing.assert_allclose(walker.poses(9.0), before, atol=1e-9)


def test_a_restored_snapshot_brings_back_who_waited() -> None:
    place = ahead_of_the_walker(4.0)
    with build(scene(position=place)) as simulation:
        walker = walker_of(simulation)
        simulation.run_until(3.0)
        saved = simulation.snapshot()
        simulation.run_until(6.0)
        first = walker.poses(6.0)
        simulation.restore(saved)
        assert len(walker.paces) < 40
        simulation.run_until(6.0)
        np.testing.assert_array_equal(walker.poses(6.0), first)


@pytest.mark.parametrize("high", [False, True])
def test_a_vehicle_overhead_is_in_nobodys_way(high: bool) -> None:
    place = ahead_of_the_walker(4.0)
    with build(scene()) as simulation:
        walker = walker_of(simulation)
        vehicle = np.array([[*place, 3.0 if high else 1.5]])
        for k in range(60):
            walker.look(0.1 * k, vehicle)
    assert (min(walker.paces) == 1.0) is high
