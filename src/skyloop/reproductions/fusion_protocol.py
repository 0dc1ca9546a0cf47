"""What is flown by `skyloop reproduce fusion`, and what is aimed at. Written before the flights that count."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from skyloop_autonomy.people.config import TrackerConfig
from skyloop_autonomy.people.people_scores import IN_RANGE, LEAST_CLIMB, LEAST_HEIGHT_PX, MOST_HIDDEN, REACH

PAPER = "airloop"
DURATION = 60.0
"""s of simulated time: take-off and one lap."""
CONDITIONS: dict[str, dict[str, Any]] = {
    "clear day": {},
    "fog": {"weather.visibility": 30.0},
    "night": {"weather.time_of_day": 22.0},
}
"""By name: paths of the scenario and their values. 30 m is where contrast falls to 2 %."""
SENSORS: dict[str, tuple[str, ...]] = {
    "camera": ("front", "detect/boxes"),
    "radar": ("radar/detections",),
    "both": ("front", "detect/boxes", "radar/detections"),
    "camera and depth": ("front", "detect/boxes", "depth"),
}
"""By name: the inputs of a tracker besides the vehicle's state. All of them look on in the same flight."""
ALONE = ("camera", "radar")
FIGURES = {
    "recall": ("1", True),
    "mota": ("1", True),
    "position": ("m", False),
    "velocity": ("m/s", False),
}
"""By name: the unit, and whether more is better."""
AIM_FOG = 0.7
"""Of its recall on a clear day, what the tracker with both sensors keeps in fog."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """What is flown. The quick form is one flight of some seconds."""

    seeds: tuple[int, ...] = tuple(range(101, 111))
    """Of worlds, people and noise; lower ones were looked at while the tracker was made."""
    conditions: tuple[str, ...] = tuple(CONDITIONS)
    detector: str = "network"
    """What finds people in images, as the option `detector` of ImageDetector."""
    duration: float = DURATION

    def plain(self) -> dict[str, Any]:
        judged = {
            "reach": REACH, "least_height_px": LEAST_HEIGHT_PX, "most_hidden": MOST_HIDDEN, "in_range": IN_RANGE,
            "least_climb": LEAST_CLIMB,
        }  # fmt: skip
        changes = {"conditions_with": CONDITIONS, "sensors": SENSORS}
        return {**asdict(self), **judged, **changes, "tracker": TrackerConfig().model_dump(mode="json")}


QUICK = Protocol((1,), ("clear day",), duration=15.0)
