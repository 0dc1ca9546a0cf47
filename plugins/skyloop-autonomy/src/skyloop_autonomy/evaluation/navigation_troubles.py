"""Click-and-fly missions, six goals that the seed chooses anywhere in the free space of a world, and trouble on them.

Each trouble is a scenario; what comes of it is flown by the papers. A door that closes is no part of a scenario,
because the pilot's progress closes it: see `Door`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from skyloop import Scenario, load_scenario, make_scenario
from skyloop.sim.survey import survey_of
from skyloop.vehicle.trajectories.drawn import DrawnGoals
from skyloop.world.free_space import way_length
from skyloop_autonomy.pilots.navigate import NavigatePilotConfig
from skyloop_client.errors import unknown_name
from skyloop_client.messages import Array

WORLDS = ("room", "corridor", "house", "warehouse")
SENSORS_OF_VIO = ("imu0", "cam0", "cam1")


def mission_scenario(world: str, seed: int, *, walkers: int = 0) -> Scenario:
    """The scenario `<world>-nav` with the goals of a seed.

    walkers: the number of people who walk to and fro in the world. The goals are the same with and without them."""
    if world not in WORLDS:
        raise unknown_name("world of missions", world, WORLDS)
    scenario = load_scenario(f"{world}-nav", {"seed": seed})
    goals, _ = mission_goals(scenario)
    data = scenario.model_dump(mode="json")
    vehicle = data["vehicles"][0]
    vehicle["pilot"]["goals"] = goals
    if walkers:
        data["world"]["options"]["walkers"] = walkers
    return make_scenario(data, place=f"{world}-nav, seed {seed}")


def mission_goals(scenario: Scenario) -> tuple[list[tuple[float, float]], float]:
    """Goals (x, y), and m of the shortest way through all of them with the clearance of the scenario."""
    drawn, survey = drawn_goals(scenario), survey_of(scenario, scenario.vehicles[0])
    goals, space = survey.goals(drawn), survey.free_space(drawn.space)
    corners = [np.array(point) for point in (scenario.vehicles[0].position[:2], *goals)]
    return goals, sum(way_length(space.ways_from(here).to(goal)) for here, goal in pairwise(corners))


def drawn_goals(scenario: Scenario) -> DrawnGoals:
    """What the scenario leaves to the seed."""
    pilot = scenario.vehicles[0].pilot
    assert isinstance(pilot, NavigatePilotConfig) and isinstance(pilot.goals, DrawnGoals)
    return pilot.goals


DEPTH = {"kind": "depth_camera", "preset": "d435-kim", "rate_hz": 10, "width": 320, "height": 180}
"""A small image, so that a trouble takes no longer than it must."""
ROOM_GOALS = ((4.5, 4.0), (-4.0, 8.5))
TROUBLE_S = 20.0
"""Simulated s at which sensors begin to fail: on the way to the second goal."""


@dataclass(frozen=True)
class Door:
    """An open door that closes when the first goal is reached."""

    opening: tuple[float, float]
    """m, x and y of the hinge of the closed door."""
    yaw: float
    """rad, of the closed door, from its hinge."""
    width: float = 1.2
    """m."""

    def distance(self, position: Array) -> float:
        """m from the closed door to a position, seen from above."""
        along = np.array([math.cos(self.yaw), math.sin(self.yaw)])
        off = np.asarray(position)[:2] - self.opening
        return float(np.linalg.norm(off - np.clip(off @ along, 0.0, self.width) * along))


@dataclass(frozen=True)
class Trouble:
    """One trouble."""

    about: str
    scenario: str = "room-nav"
    goals: tuple[tuple[float, ...], ...] = ROOM_GOALS
    """Empty: those of the scenario."""
    on: str = "truth"
    """The state it flies on: truth, where the trouble is not about the estimate, or that of the scenario."""
    faults: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """By sensor, as a scenario states them."""
    changes: dict[str, Any] = field(default_factory=dict)
    """Of the scenario."""
    door: Door | None = None
    reached: int = 2
    """Goals that it must reach all the same."""
    lands: bool = True
    """It must stand on the ground at the end."""


def _off(start: float, end: float | None = None) -> list[dict[str, Any]]:
    return [{"kind": "off", "start": start, "end": end}]


_COVERED = [{"kind": "bias", "value": -255.0, "start": TROUBLE_S, "end": TROUBLE_S + 3.0}]
TROUBLES = {
    "nothing": Trouble("no trouble, to compare with"),
    "goal unreachable": Trouble(
        "the second goal is 2 m behind the northern wall", goals=(ROOM_GOALS[0], (4.5, 12.0)), reached=1
    ),
    "door closed behind it": Trouble(
        "the only door of a room closes when it is inside; the second goal is outside",
        scenario="house-nav",
        goals=((9.3, -0.5), (0.0, 0.0)),
        changes={"seed": 16},
        door=Door((6.92, -0.73), 0.5 * math.pi),
        reached=1,
    ),
    "estimate lost": Trouble(
        "no IMU sample for 3 s, so that there is no estimate", on="vio",
        faults={"imu0": _off(TROUBLE_S, TROUBLE_S + 3.0)}, reached=1,
    ),
    "lens covered": Trouble(
        "both cameras of the odometry black for 3 s", on="vio", faults={"cam0": _COVERED, "cam1": _COVERED}
    ),
    "depth camera dead": Trouble(
        "no depth image from 20 s on", faults={"depth": _off(TROUBLE_S)}, reached=1
    ),
    "depth camera interrupted": Trouble("no depth image for 3 s", faults={"depth": _off(TROUBLE_S, TROUBLE_S + 3.0)}),
    "wind": Trouble("5 m/s from the west", changes={"wind": {"kind": "constant", "velocity": [5.0, 0.0, 0.0]}}),
    "LiDAR dropouts": Trouble(
        "30 % of the beams of each sweep are lost, in the unknown city",
        scenario="unknown-city", goals=(), on="slam", changes={"vehicles.drone.sensors.lidar.dropout": 0.3}, reached=1,
    ),
}  # fmt: skip


def trouble_scenario(name: str) -> Scenario:
    """The scenario of a trouble."""
    if name not in TROUBLES:
        raise unknown_name("trouble", name, TROUBLES)
    trouble = TROUBLES[name]
    changes: dict[str, Any] = dict(trouble.changes)
    if trouble.goals:
        changes |= {"vehicles.drone.pilot.goals": [list(goal) for goal in trouble.goals]}
        changes |= {"vehicles.drone.sensors.depth": DEPTH}
    data = load_scenario(trouble.scenario, changes).model_dump(mode="json")
    vehicle = data["vehicles"][0]
    if trouble.on == "truth":
        vehicle["state"] = "truth"
        vehicle["estimators"].pop("vio")
        vehicle["sensors"] = {name: sensor for name, sensor in vehicle["sensors"].items() if name not in SENSORS_OF_VIO}
    for sensor, faults in trouble.faults.items():
        vehicle["sensors"][sensor]["faults"] = faults
    return make_scenario(data, place=f"trouble '{name}'")
