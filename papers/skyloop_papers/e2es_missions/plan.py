"""The flights of `skyloop reproduce e2es-missions` and their evaluation, fixed before the flights; see the page.

Nothing here may change once flights that count have begun. A results folder holds a copy, and a different plan is
refused."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from skyloop_autonomy.evaluation.navigation_troubles import FARTHEST, GOAL_CLEARANCE, GOALS, NEAREST, WORLDS
from skyloop_autonomy.mapping import MapperSettings
from skyloop_autonomy.planning.replanning import NavigatorConfig
from skyloop_papers.experiment import ExperimentPlan

SEEDS = tuple(range(81, 91))
"""Of each world. Lower seeds were looked at while the navigation was made."""
WITH_WALKERS = tuple((("room", "house", "corridor")[seed % 3], seed) for seed in range(91, 101))
"""World and seed of the missions among walking people. Not in the warehouse, where the vehicle flies above them."""
WALKERS = 5
EXPLORED = (("room", 81), ("corridor", 81))
"""World and seed of the flights by hand in the paper, Figs 11 to 14."""
GOAL_WITHIN, TOP_SPEED = 0.5, 1.0
"""m from each goal, and m/s."""
AIM_IOU_TRUTH, AIM_IOU_VIO, AIM_FACTOR = 0.90, 0.80, 3.0
PUBLISHED_FACTOR = (0.6, 0.92)
"""Simulated per real time, on five computers, Table 1."""


@dataclass(frozen=True, slots=True)
class MissionsPlan(ExperimentPlan):
    """What is flown. The quick form is one mission with one goal."""

    worlds: tuple[str, ...] = WORLDS
    seeds: tuple[int, ...] = SEEDS
    with_walkers: tuple[tuple[str, int], ...] = WITH_WALKERS
    walkers: int = WALKERS
    explored: tuple[tuple[str, int], ...] = EXPLORED
    goals: int = GOALS

    def plain(self) -> dict[str, Any]:
        fixed = {"goal_within": GOAL_WITHIN, "top_speed": TOP_SPEED, "goal_clearance": GOAL_CLEARANCE}
        settings = {
            "navigator": NavigatorConfig().model_dump(mode="json"),
            "maps": MapperSettings().model_dump(mode="json"),
        }
        return {**asdict(self), **fixed, "nearest": NEAREST, "farthest": FARTHEST, **settings}


QUICK = MissionsPlan(("room",), (1,), (), 0, (), 1)
