"""The flights of `skyloop reproduce fusion`, and what is aimed at: written before the flights that count."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from skyloop.run import fly
from skyloop.sim.assembly import build
from skyloop.sim.scenario import Scenario, load_scenario
from skyloop_autonomy.people.config import TrackerConfig
from skyloop_autonomy.people.people_scores import (
    IN_RANGE,
    LEAST_CLIMB,
    LEAST_HEIGHT_PX,
    MOST_HIDDEN,
    REACH,
    box_scores,
    track_scores,
)
from skyloop_autonomy.reports.people_log import PeopleLog
from skyloop_papers.experiment import ExperimentPlan

TRACKER = "skyloop_autonomy.people.people_tracker:PeopleTracker"
SCENARIO = "park-people"
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
class FusionPlan(ExperimentPlan):
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


QUICK = FusionPlan((1,), ("clear day",), duration=15.0)


def stream_of(sensors: str) -> str:
    """The name of the estimator that uses these sensors."""
    return f"by_{sensors.replace(' ', '_')}"


def fusion_scenario(seed: int, condition: str, detector: str, duration: float) -> Scenario:
    """The shipped scenario in other weather, with one tracker for each choice of sensors."""
    shipped = load_scenario(SCENARIO).vehicles[0].estimators["detect"].model_dump(mode="json", exclude={"products"})
    detect = {**shipped, "options": {"detector": detector}}
    if detector == "labels":
        detect |= {"inputs": ["front", "truth/drone/front"], "options": {"detector": detector, "seed": seed}}
    trackers = {stream_of(name): {"kind": TRACKER, "inputs": ["state", *inputs]} for name, inputs in SENSORS.items()}
    changes = {"seed": seed, "duration": duration, "vehicles.drone.estimators": {"detect": detect, **trackers}}
    return load_scenario(SCENARIO, {**changes, **CONDITIONS[condition]})


def track_people(seed: int, condition: str, detector: str, duration: float) -> dict[str, Any]:
    """Scores of the detector and of each tracker."""
    scenario = fusion_scenario(seed, condition, detector, duration)
    with build(scenario) as simulation:
        log = PeopleLog(simulation.bus, {vehicle.name: vehicle.state for vehicle in scenario.vehicles})
        fly(simulation, scenario.duration)
        there = log.vehicles["drone"]
        scores = track_scores(there, simulation.port.editor)
        trackers = {name: scores[f"drone/{stream_of(name)}/tracks"].plain() for name in SENSORS}
        return {"seed": seed, "boxes": box_scores(there).get("drone/detect/boxes"), "trackers": trackers}
