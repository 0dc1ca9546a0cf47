"""The cockpit's list of waypoints: one after the other, until somebody else takes over."""

from __future__ import annotations

import numpy as np
import pytest

import skyloop
from skyloop.cockpit.waypoints import Waypoints
from skyloop.sim.simulation import Simulation
from skyloop_client.messages import Arm, Goal, TakeOff, Velocity

pytestmark = pytest.mark.flights

POINTS = [{"x": 2.0, "y": 0.0, "z": 3.0}, {"x": 2.0, "y": 30.0, "z": 3.0}, {"x": 0.0, "y": 3.0, "z": 3.0}]


def follow(sim: Simulation, points: Waypoints, seconds: float) -> None:
    """As the link to the page does between two events."""
    drone, end = sim.port.vehicle(), sim.now + seconds
    while sim.now < end and points.is_flying:
        point = points.due(drone.situation)
        if point is not None:
            drone.send(Goal(np.array([point[axis] for axis in "xyz"])), by="cockpit")
        sim.run_for(0.02)


def test_they_are_flown_one_after_the_other_until_another_link_takes_over() -> None:
    with skyloop.build(skyloop.make_scenario({"vehicles": [{"airframe": "iris"}]})) as sim:
        drone, points = sim.port.vehicle(), Waypoints("drone", planned=False)
        drone.send(Arm(), TakeOff(3.0), by="cockpit")
        sim.run_for(4.0)
        points.replace(POINTS)
        assert points.start() == POINTS[0]
        drone.send(Goal(np.array([2.0, 0.0, 3.0])), by="cockpit")
        follow(sim, points, 3.0)
        assert points.last_news == "reached" and points.is_flying and points.points == POINTS[1:]
        drone.send(Velocity(np.array([0.0, 0.0, 0.5])), by="mavlink")
        follow(sim, points, 1.0)
        assert not points.is_flying and points.last_news == "given up" and points.points == POINTS[1:]
        assert drone.commander == "mavlink"
