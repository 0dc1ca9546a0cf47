"""The flights of `skyloop reproduce unknown-city` and their evaluation, fixed before the flights; see the page."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from skyloop_autonomy.grid_slam.kiss_localiser import KissLocaliserSettings
from skyloop_autonomy.grid_slam.localiser import LocaliserSettings
from skyloop_papers.experiment import ExperimentPlan

SEEDS = tuple(range(101, 121))
"""Lower ones were looked at while the navigation was made."""
DENIED = tuple(range(101, 121))
"""Flown without GNSS."""
KISS = tuple(range(101, 121))
"""Flown without GNSS on the poses of kiss-icp, added after the first two groups were flown."""
GROUPS = {"gnss": "with GNSS", "denied": "without GNSS", "kiss": "kiss-icp, without GNSS"}
"""By the name in a results folder, what the pages call a group of flights."""
GOAL = (70.0, 60.0)
HEIGHT, SPEED, BAND = 10.0, 3.0, 1.5
"""m, m/s, and m around obstacles that the pilot and the optimum keep out of."""


@dataclass(frozen=True, slots=True)
class OnboardComputer:
    """What the stack runs on."""

    linked: bool = True
    """At the other end of the link, in a process of its own."""
    apart: bool = False
    """On another machine: in network namespaces."""
    speed: float = 1.0
    """1 is this machine."""


COMPUTERS = {
    "in the simulator's process": OnboardComputer(linked=False),
    "in another process": OnboardComputer(),
    "on another machine": OnboardComputer(apart=True),
    "in another process, half as fast": OnboardComputer(speed=0.5),
}
TROUBLES: dict[str, dict[str, Any]] = {
    "LiDAR with 30 % dropouts": {"vehicles.0.sensors.lidar.dropout": 0.3},
    "LiDAR silent for 3 s": {"vehicles.0.sensors.lidar.faults": [{"kind": "off", "start": 20.0, "end": 23.0}]},
    "wind of 5 m/s, light turbulence": {"wind": {"kind": "dryden", "mean": [3.0, 4.0, 0.0]}},
    "estimate lost for 3 s": {
        "vehicles.0.estimators.slam.kind": "skyloop_papers.unknown_city.stack:LosingLocaliser",
        "vehicles.0.estimators.slam.options": {"lost": [20.0, 23.0]},
    },
}
"""By name, what is changed in the scenario. All begin in the middle of the flight or last all of it."""
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
class CityPlan(ExperimentPlan):
    """What is flown."""

    seeds: tuple[int, ...] = SEEDS
    denied: tuple[int, ...] = DENIED
    kiss: tuple[int, ...] = KISS
    computers: tuple[int, ...] = (101,)
    """Seeds flown by the stack on each of COMPUTERS."""
    troubles: tuple[int, ...] = (1, 2, 3)
    """Seeds flown with each of TROUBLES. They are not among those that count."""
    duration: float = DURATION
    settings: dict[str, Any] = field(default_factory=lambda: LocaliserSettings().model_dump(mode="json"))

    kiss_settings: dict[str, Any] = field(
        default_factory=lambda: KissLocaliserSettings().model_dump(mode="json", include={"odometry", "position_sd"})
    )

    def flights(self) -> list[tuple[str, int]]:
        """Group and seed of every flight."""
        seeds = zip(GROUPS, (self.seeds, self.denied, self.kiss), strict=True)
        return [(group, seed) for group, chosen in seeds for seed in chosen]

    def plain(self) -> dict[str, Any]:
        fixed = {
            "goal": GOAL, "height": HEIGHT, "speed": SPEED, "band": BAND, "land_within": LAND_WITHIN,
            "touching": TOUCHING, "loose": LOOSE, "on": list(COMPUTERS), "trouble": TROUBLES,
        }  # fmt: skip
        return {**asdict(self), **fixed}


QUICK = CityPlan((1,), (), (), (), ())
