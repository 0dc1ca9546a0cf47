"""Every number by which ways and goals are drawn from the seed changes them. Flown they are as legs and goals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from option_flights import fields_of

from skyloop.sim.scenario import make_scenario
from skyloop.sim.survey import WorldSurvey, survey_of
from skyloop.vehicle.trajectories.drawn import DrawnGoals, FreeSpaceConfig
from skyloop.vehicle.trajectories.trajectories import ExploreConfig, LegsConfig
from skyloop.world.free_space import way_length
from skyloop_client.messages import Array

SPACE: dict[str, Any] = {"area": [[-9.0, -9.0], [9.0, 9.0]], "heights": [0.8, 2.1], "clearance": 0.7, "cell": 0.2}
EXPLORE: dict[str, Any] = {"length": 30.0, "altitude": 1.5, "space": SPACE, "speed": 1.0}
GOALS: dict[str, Any] = {"count": 4, "space": SPACE}


@pytest.fixture(scope="module")
def survey() -> WorldSurvey:
    scenario = make_scenario({"world": "room"})
    found = survey_of(scenario, scenario.vehicles[0])
    model = found._model()
    return WorldSurvey(1, "room", (0.0, 0.0), lambda: model)


def tour(survey: WorldSurvey, **changed: Any) -> LegsConfig:
    return ExploreConfig(**(EXPLORE | changed)).drawn(survey)


def length(legs: LegsConfig) -> float:
    return way_length(np.array(legs.points))


def height(legs: LegsConfig) -> float:
    return legs.points[0][2]


def east(legs: LegsConfig) -> float:
    return max(x for x, _, _ in legs.points)


EXPLORED: dict[str, tuple[Any, Callable[[LegsConfig], float], float]] = {
    "length": (20.0, length, -8.0),
    "altitude": (2.0, height, 0.4),
    "space": ({**SPACE, "area": [[-2.0, -9.0], [9.0, 9.0]]}, east, 0.5),
    "speed": (2.0, lambda legs: legs.speed, 0.9),
    "acceleration": (1.0, lambda legs: legs.acceleration, -1.9),
    "yaw": (0.5, lambda legs: float(legs.yaw == 0.5), 0.9),
    "turn_rate": (0.5, lambda legs: legs.turn_rate, -0.4),
}


def test_every_number_has_a_case() -> None:
    assert set(EXPLORED) == fields_of(ExploreConfig, "kind")
    assert set(SPACES) == fields_of(FreeSpaceConfig)
    assert set(DRAWN) == fields_of(DrawnGoals)


@pytest.mark.parametrize("name", EXPLORED)
def test_explore(survey: WorldSurvey, name: str) -> None:
    value, measure, least = EXPLORED[name]
    change = measure(tour(survey, **{name: value})) - measure(tour(survey))
    assert change * np.sign(least) >= abs(least)


SPACES: dict[str, Any] = {
    "area": [[-9.0, -9.0], [3.0, 9.0]],
    # above all boxes
    "heights": [3.2, 3.6],
    "clearance": 0.4,
    "cell": 0.1,
}


@pytest.mark.parametrize("name", SPACES)
def test_free_space(survey: WorldSurvey, name: str) -> None:
    """More or fewer places are free; smaller cells are more of them."""
    before, after = (
        len(survey.free_space(FreeSpaceConfig(**(SPACE | changed))).ways_from(np.zeros(2)).reachable)
        for changed in ({}, {name: SPACES[name]})
    )
    assert after < 0.9 * before if name == "area" else after > 1.02 * before


def steps(goals: list[tuple[float, float]]) -> Array:
    return np.linalg.norm(np.diff([(0.0, 0.0), *goals], axis=0), axis=1)


DRAWN: dict[str, tuple[Any, Callable[[WorldSurvey, list[tuple[float, float]]], float], float]] = {
    "count": (6, lambda survey, goals: len(goals), 2),
    "apart": ((1.0, 3.0), lambda survey, goals: float(steps(goals).max()), -0.5),
    "room": (1.3, lambda survey, goals: min(room(survey, goal) for goal in goals), 0.1),
    "space": ({**SPACE, "area": [[-9.0, -9.0], [2.0, 9.0]]}, lambda survey, goals: max(x for x, _ in goals), -0.5),
}


def room(survey: WorldSurvey, goal: tuple[float, float]) -> float:
    space = survey.free_space(FreeSpaceConfig(**SPACE))
    return float(space.clearances[space.cell(np.array(goal))])


@pytest.mark.parametrize("name", DRAWN)
def test_drawn_goals(survey: WorldSurvey, name: str) -> None:
    value, measure, least = DRAWN[name]
    before, after = (measure(survey, survey.goals(DrawnGoals(**(GOALS | changed)))) for changed in ({}, {name: value}))
    assert (after - before) * np.sign(least) >= abs(least)


def test_another_seed_draws_another_way() -> None:
    ways = []
    for seed in (1, 2):
        scenario = make_scenario({"world": "room", "seed": seed})
        ways.append(tour(survey_of(scenario, scenario.vehicles[0])).points)
    assert ways[0] != ways[1]
