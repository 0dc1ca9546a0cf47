"""One flight of `skyloop reproduce fusion`: all trackers look on, and all are judged."""

from __future__ import annotations

from typing import Any

from skyloop.apps.run import fly
from skyloop.reproductions.fusion_protocol import CONDITIONS, SENSORS
from skyloop.sim.assembly import build
from skyloop.sim.scenario import Scenario, load_scenario
from skyloop_autonomy.people.people_scores import box_scores, track_scores
from skyloop_autonomy.reports.people_log import PeopleLog

TRACKER = "people-tracker"
SCENARIO = "park-people"


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
