"""The flights of `skyloop reproduce e2es`, first part, and their evaluation, fixed before the flights; see the page.

Nothing here may change once flights that count have begun. A results folder holds a copy, and a different plan is
refused."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from skyloop_autonomy.evaluation.hard_cases import CASES
from skyloop_autonomy.evaluation.vio_flights import FLIGHTS, TRAJECTORY, WAYS
from skyloop_autonomy.vio import VioSettings
from skyloop_papers.experiment import ExperimentPlan

SEEDS = tuple(range(31, 41))
"""Of each world. Lower seeds were looked at while the odometry was made."""
LAND_WITHIN = 0.3
"""m from the place of take-off."""
PUBLISHED_APE_M, PUBLISHED_APE_DEG, PUBLISHED_PAIR_MS = 0.3, 0.9, 22.0
"""Sections 5.1.1 and 5.1.2, and Table 1, computer 2, without loop closure."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What should come out in one world; None: no aim."""

    ape_m: float | None = None
    worst_m: float | None = None
    ape_deg: float | None = None
    closed_m: float | None = None
    closed_deg: float | None = None
    share: float | None = None
    """APE over the way."""


AIMS = {
    "room": Aim(0.10, 0.20, 0.5, 0.05, 0.3),
    "corridor": Aim(0.15, None, 0.5, 0.08, None),
    "house": Aim(share=0.005),
    "warehouse": Aim(share=0.005),
    "park": Aim(share=0.005),
}
PAIR_MS, PAIR_P95_MS = 10.0, 20.0


@dataclass(frozen=True, slots=True)
class LocalisationPlan(ExperimentPlan):
    """What is flown. The quick form has fewer and shorter flights."""

    worlds: tuple[str, ...] = tuple(FLIGHTS)
    seeds: tuple[int, ...] = SEEDS
    cases: tuple[str, ...] = tuple(CASES)
    length: float | None = None
    """m of way in place of each flight's own."""
    settings: dict[str, Any] = field(default_factory=lambda: VioSettings(loops=True).model_dump(mode="json"))

    def plain(self) -> dict[str, Any]:
        flights = {name: {**asdict(FLIGHTS[name]), "aim": asdict(AIMS[name])} for name in self.worlds}
        fixed = {"trajectory": TRAJECTORY, "ways": WAYS, "land_within": LAND_WITHIN}
        return {**asdict(self), "flights": flights, **fixed}


QUICK = LocalisationPlan(("room",), (1,), ("nothing", "lights out"), 10.0)
