"""Draws ways through the free space of a scenario's world, for the configurations of its pilots."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from skyloop.sim.scenario import Scenario, Vehicle
from skyloop.vehicle.trajectories.drawn import DrawnGoals, FreeSpaceConfig, LevelPoint
from skyloop.world.free_space import FreeSpace, draw_goals, draw_tour
from skyloop.world.generation import generator
from skyloop.world.model import Model
from skyloop.world.world import build_world
from skyloop_client.messages import Array


class WorldSurvey:
    """The same scenario and seed give the same ways, wherever they are drawn."""

    def __init__(self, seed: int, world: str, start: tuple[float, ...], model: Callable[[], Model]) -> None:
        """start: m, world; model: asked for the frozen model of the world if anything is drawn."""
        self.seed, self._world, self._start, self._model = seed, world, np.array(start[:2], float), model

    def free_space(self, config: FreeSpaceConfig) -> FreeSpace:
        return FreeSpace(self._model(), config.area, config.heights, config.clearance, config.cell)

    def tour(self, space: FreeSpaceConfig, length: float) -> list[LevelPoint]:
        return _rounded(draw_tour(self.free_space(space), self._start, length, self.seed))

    def goals(self, goals: DrawnGoals) -> list[LevelPoint]:
        chance = generator(self.seed, f"click missions in {self._world}")
        space = self.free_space(goals.space)
        return _rounded(draw_goals(space, self._start, goals.count, goals.apart, goals.room, chance)[0])


def _rounded(points: Array) -> list[LevelPoint]:
    """To cm, so that a point reads well where it is shown."""
    return [(round(float(x), 2), round(float(y), 2)) for x, y in points]


def survey_of(scenario: Scenario, vehicle: Vehicle, model: Model | None = None) -> WorldSurvey:
    """The survey for the random choices of a pilot. Without `model`, the world is built if anything is drawn."""

    def built() -> Model:
        if model is not None:
            return model
        folder = None if scenario.folder is None else Path(scenario.folder)
        made = build_world(scenario.world, scenario.seed, folder).model
        made.freeze()
        return made

    return WorldSurvey(scenario.seed, scenario.world.file or scenario.world.name, vehicle.position, built)
