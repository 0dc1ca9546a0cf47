"""Click-and-fly missions: six goals that the seed chooses anywhere in the free space of a world."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyloop.sim.scenario import Scenario, load_scenario, make_scenario
from skyloop.world.generation import generator
from skyloop.world.world import build_world
from skyloop_autonomy.evaluation.exploring import way_length
from skyloop_autonomy.evaluation.free_space import FreeSpace
from skyloop_autonomy.evaluation.vio_flights import FLIGHTS
from skyloop_client.errors import ScenarioError, unknown_name
from skyloop_client.messages import Array

WORLDS = ("room", "corridor", "house", "warehouse")
GOALS = 6
GOAL_CLEARANCE = 0.8
"""m around a goal, so that no goal lies where a planner would have to move it."""
NEAREST, FARTHEST = 4.0, 18.0
"""m of way from one goal to the next."""
EYES_OF_VIO = ("imu0", "cam0", "cam1")


def mission_scenario(
    world: str, seed: int, *, on: str = "vio", walkers: int = 0, overrides: dict[str, Any] | None = None
) -> Scenario:
    """The scenario `<world>-nav` with the goals of a seed. on: vio, or truth without odometry and its cameras.

    walkers: the number of people who walk to and fro in the world. The goals are the same with and without them."""
    if world not in WORLDS:
        raise unknown_name("world of missions", world, WORLDS)
    scenario = load_scenario(f"{world}-nav", {"seed": seed, **(overrides or {})})
    goals, _ = mission_goals(scenario, world, seed)
    data = scenario.model_dump(mode="json")
    vehicle = data["vehicles"][0]
    vehicle["pilot"]["goals"] = goals
    if walkers:
        data["world"]["options"]["walkers"] = walkers
    if on == "truth":
        vehicle["state"] = "truth"
        vehicle["estimators"].pop("vio")
        vehicle["sensors"] = {name: told for name, told in vehicle["sensors"].items() if name not in EYES_OF_VIO}
    elif on != "vio":
        raise ScenarioError(f"a mission is flown on vio or on truth, not on '{on}'")
    return make_scenario(data, place=f"{world}-nav, seed {seed}")


def mission_goals(scenario: Scenario, world: str, seed: int) -> tuple[list[list[float]], float]:
    """Goals (x, y), and m of the shortest way through all of them with the clearance of the world's flight."""
    model = build_world(scenario.world, scenario.seed, None).model
    model.freeze()
    flight = FLIGHTS[world]
    space = FreeSpace(model, flight.slab, flight.clearance)
    chance = generator(seed, f"click missions in {world}")
    here: Array = np.array(scenario.vehicles[0].position[:2], float)
    goals, length = [], 0.0
    for _ in range(GOALS):
        ways = space.ways_from(here)
        places = ways.reachable
        roomy = np.array([space.clearances[space.cell(place)] >= GOAL_CLEARANCE for place in places])
        places = places[roomy]
        for _ in range(200):
            goal = places[chance.integers(len(places))]
            way = way_length(ways.to(goal))
            if NEAREST <= way <= FARTHEST:
                break
        else:
            raise ScenarioError(f"{world}, seed {seed}: no goal is {NEAREST:g} to {FARTHEST:g} m from the one before")
        goals.append([round(float(goal[0]), 2), round(float(goal[1]), 2)])
        length, here = length + way, goal
    return goals, length
