"""Flies a scenario as a ROS 2 node. Behind `skyloop run --ros2`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from skyloop.apps.run import Progress, Watch, run_scenario
from skyloop.links.link_gate import LinkGate
from skyloop.links.pace import Pace
from skyloop.sim.scenario import Scenario
from skyloop.world.world import WORLDS


def run_with_ros2(
    scenario: Scenario,
    folder: Path,
    *,
    lockstep: str | None = None,
    progress: Progress = lambda t: None,
    watch: Watch = lambda simulation: None,
) -> dict[str, Any]:
    """Fly in real time, or in step with a node. The environment's variables of ROS 2 say who may hear it."""
    from skyloop.links.ros2.link import Ros2Link
    from skyloop.links.ros2.settings import settings_from
    from skyloop.links.ros2.simulation_services import WorldFacts

    link_gate = LinkGate(Pace(None))
    world = WorldFacts(scenario.world.name, tuple((name, _first_line(kind)) for name, kind in WORLDS.items()))
    link = Ros2Link(link_gate.inbox, settings_from(os.environ), lockstep=lockstep, world=world)
    link_gate.links["ros2"] = link
    try:
        return run_scenario(scenario, folder, progress, link_gate, watch)
    finally:
        link.finish("the flight is over")


def _first_line(kind: type) -> str:
    return (kind.__doc__ or "").strip().split("\n")[0]
