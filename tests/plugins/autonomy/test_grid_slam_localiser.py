"""The localiser around the particle filter: pauses of the LiDAR, and sweeps that contradict the inertial filter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from skyloop.sim.assembly import build
from skyloop.sim.estimator_assembly import UserEstimatorPart
from skyloop.sim.scenario import load_scenario
from skyloop.sim.simulation import Simulation
from skyloop_autonomy.grid_slam.localiser import GridLocaliser
from skyloop_client.messages import Estimate


def localiser_of(simulation: Simulation) -> GridLocaliser:
    (part,) = simulation.parts_of(UserEstimatorPart)
    assert isinstance(part._own, GridLocaliser)
    return part._own


@pytest.mark.parametrize("kind", ["grid-slam", "kiss-icp"])
def test_after_a_pause_of_the_lidar_the_way_since_the_last_sweep_is_that_of_all_estimates(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The vehicle flies 1 s to the east and 1 s to the north, and stands at both ends: two velocities show no way."""
    slam = {"kind": kind, "inputs": ["imu", "barometer", "below", "lidar"]}
    with build(load_scenario("unknown-city", {"vehicles.0.estimators.slam": slam})) as simulation:
        simulation.run_until(1.0)
        own = localiser_of(simulation)
        before = own._memory.estimates[-1]
        own._memory.swept, own._memory.travel = before, np.zeros(3)
        reports: list[Estimate] = []
        monkeypatch.setattr(own._inertial, "on_message", lambda message: reports[-1])
        message: Any = simulation.bus.newest("drone/imu")
        for k in range(1, 401):
            velocity = np.array([3.0, 0.0, 0.0]) if k <= 200 else np.array([0.0, 2.0, 0.0]) * (k < 400)
            reports.append(replace(before, t_ns=before.t_ns + k * 5_000_000, velocity_world=velocity))
            own.on_message(message)
        np.testing.assert_allclose(own._moved(before, reports[-1]), [3.0, 1.99, 0.0], atol=1e-9)
        # from one sweep to the next the mean of two velocities is enough
        np.testing.assert_allclose(own._moved(reports[189], reports[209]), [0.15, 0.1, 0.0], atol=1e-9)


@pytest.mark.slow("a flight on LiDAR")
def test_estimates_are_not_valid_while_the_sweeps_say_another_place(monkeypatch: pytest.MonkeyPatch) -> None:
    with build(load_scenario("unknown-city", {"vehicles.0.pilot": None})) as simulation:
        simulation.run_until(1.5)
        own = localiser_of(simulation)
        newest = lambda: simulation.bus.newest("drone/slam").data  # noqa: E731
        assert newest().valid
        monkeypatch.setattr(own._inertial, "correct_place", lambda *_: False)
        simulation.run_until(2.3)
        assert newest().valid, "a few sweeps may be refused"
        simulation.run_until(2.7)
        assert not newest().valid and newest().reason == "the sweeps say another place than the inertial filter"
        monkeypatch.undo()
        simulation.run_until(3.0)
        assert newest().valid
