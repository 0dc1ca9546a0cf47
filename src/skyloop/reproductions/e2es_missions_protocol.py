"""The missions and explorations of `skyloop reproduce e2es` and their evaluation, fixed before the flights.

Nothing here may change once flights that count have begun."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from skyloop.datasets.click_missions import FARTHEST, GOAL_CLEARANCE, GOALS, NEAREST, WORLDS
from skyloop.navigation.mapping import MapperSettings
from skyloop.navigation.planning.replanning import NavigatorConfig

SEEDS = tuple(range(41, 51))
"""Of each world. Lower seeds were looked at while the navigation was made."""
WITH_WALKERS = tuple((("room", "house", "corridor")[seed % 3], seed) for seed in range(51, 61))
"""World and seed of the missions among walking people. Not in the warehouse, where the vehicle flies above them."""
WALKERS = 5
EXPLORED = (("room", 41), ("corridor", 41))
"""World and seed of the flights by hand in the paper, Figs 11 to 14."""
GOAL_WITHIN, TOP_SPEED = 0.5, 1.0
"""m from each goal, and m/s."""
AIM_IOU_TRUTH, AIM_IOU_VIO, AIM_FACTOR = 0.90, 0.80, 3.0
PUBLISHED_FACTOR = (0.6, 0.92)
"""Simulated per real time, on five computers, Table 1."""


@dataclass(frozen=True, slots=True)
class Missions:
    """What is flown on goals and maps."""

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


QUICK = Missions(("room",), (1,), (), 0, (), 1)
