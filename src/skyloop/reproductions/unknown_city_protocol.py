"""The flights of `skyloop reproduce unknown-city` and their evaluation, fixed before the flights; see the page.

Nothing here may change once flights that count have begun. A results folder holds a copy, and a different protocol is
refused."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from skyloop.navigation.grid_slam.localiser import LocaliserSettings

PAPER = "airloop"
SEEDS = tuple(range(101, 121))
"""Lower ones were looked at while the navigation was made."""
DENIED = tuple(range(101, 121))
"""Flown without GNSS."""
GOAL = (70.0, 60.0)
HEIGHT, SPEED, BAND = 10.0, 3.0, 1.5
"""m, m/s, and m around obstacles that the pilot and the optimum keep out of."""
LAND_WITHIN = 2.0
"""m from the goal: the pilot lands once it believes to be within 1 m."""
TOUCHING = 2e-3
"""m. A surface nearer than this to the edge of a cell may lie on either side of it; such a cell is not judged."""
LOOSE = 0.05
"""m, the same for the second, looser score: the noise of the LiDAR's ranges and of the pose together."""
DURATION = 240.0
"""s of simulated time after which a flight has failed."""
AIM_REACHED, AIM_DENIED, AIM_WAY, AIM_IOU, AIM_FACTOR = 20, 18, 1.3, 0.85, 3.0


@dataclass(frozen=True, slots=True)
class Protocol:
    """What is flown."""

    seeds: tuple[int, ...] = SEEDS
    denied: tuple[int, ...] = DENIED
    duration: float = DURATION
    settings: dict[str, Any] = field(default_factory=lambda: LocaliserSettings().model_dump(mode="json"))

    def plain(self) -> dict[str, Any]:
        fixed = {
            "goal": GOAL, "height": HEIGHT, "speed": SPEED, "band": BAND, "land_within": LAND_WITHIN,
            "touching": TOUCHING, "loose": LOOSE,
        }  # fmt: skip
        return {**asdict(self), **fixed}


QUICK = Protocol((1,), ())
