"""Judges: errors of a flight by the simulator's truth, for `skyloop size --judge` and for each shipped task."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from skyloop.recording.run_folder import Summary
from skyloop.sim.scenario import Scenario
from skyloop.vehicle.trajectories.drawn import DrawnGoals
from skyloop_client.errors import ScenarioError, unknown_name
from skyloop_client.messages import Array
from skyloop_client.regular_files import opened_text
from skyloop_client.user_code import call_user_code, is_plugin, load_chosen

COLUMNS = ("t_ns", *(f"position_{k}" for k in range(3)), *(f"quat_wxyz_{k}" for k in range(4)))
TASK_JUDGES = {
    "face-anchor": "anchor<0.05",
    "move-forward": "abeam<0.5",
    "closed-path": "start<2.5",
    "detect": "missed<0.3",
}
"""The judge of each shipped task if there is no --judge."""
NAMES = "anchor, abeam, start, goal:X,Y,Z, goals, tracking, estimate, missed or FILE.py:NAME"


@dataclass(frozen=True, slots=True)
class TrueFlight:
    """The input of a judge: the truth of one vehicle, and its goal."""

    scenario: Scenario
    vehicle: Summary
    """Of the summary."""
    times: Array
    """(n,) s."""
    positions: Array
    """(n, 3) m, world axes."""
    quats: Array
    """(n, 4) world_from_body."""


@dataclass(frozen=True, slots=True)
class Judge:
    """An error measured on the truth, and the largest one that counts as success."""

    text: str
    """The user's text."""
    unit: str
    limit: float
    measure: Callable[[TrueFlight], float]

    def error(self, folder: Path, scenario: Scenario, summary: Summary) -> float:
        """inf if there is no flight to judge."""
        name = scenario.vehicles[0].name
        rows = _truth(folder / "streams" / "truth" / f"{name}.csv")
        if not len(rows):
            return math.inf
        vehicle = summary["vehicles"][name]
        flight = TrueFlight(scenario, vehicle, rows[:, 0] / 1e9, rows[:, 1:4], rows[:, 4:8])
        # may be the user's code
        place, t_ns = f"--judge {self.text}", int(rows[-1, 0])
        return float(call_user_code(place, t_ns, float, call_user_code(place, t_ns, self.measure, flight)))


def judge_from(text: str, folder: Path | None = None) -> Judge:
    """ "anchor<0.05", "goal:8,0,1.5<0.5", "my_judge.py:error<2": the error and its limit."""
    what, _, said = text.rpartition("<")
    try:
        limit = float(said)
    except ValueError:
        limit = math.nan
    if not what or not limit >= 0.0:
        raise ScenarioError(f"--judge {text}: give WHAT<LIMIT, such as start<0.5; WHAT is {NAMES}")
    name, _, place = what.partition(":")
    if is_plugin(what) and name not in JUDGES:
        return Judge(text, "", limit, load_chosen(what, folder or Path.cwd()))
    if name not in JUDGES or bool(place) != (name == "goal"):
        raise unknown_name("judge", what, [*JUDGES, "FILE.py:NAME"])
    unit, measure = JUDGES[name]
    if name == "goal":
        goal = _place(text, place)
        return Judge(text, unit, limit, lambda flight: float(np.linalg.norm(flight.positions[-1] - goal)))
    return Judge(text, unit, limit, measure)


def _place(text: str, place: str) -> Array:
    try:
        goal = np.array([float(part) for part in place.split(",")])
    except ValueError:
        goal = np.zeros(0)
    if goal.shape != (3,):
        raise ScenarioError(f"--judge {text}: give goal:X,Y,Z<LIMIT in m, such as goal:8,0,1.5<0.5")
    return goal


def _truth(path: Path) -> Array:
    if not path.exists():
        return np.zeros((0, len(COLUMNS)))
    with opened_text(path) as file:
        return np.array([[float(row[name]) for name in COLUMNS] for row in csv.DictReader(file)]).reshape(
            -1, len(COLUMNS)
        )


def off_goals(flight: TrueFlight) -> float:
    """m from the goals of the scenario's pilot when they counted as reached, the largest; inf if one was not reached,
    or if anything was touched on the way."""
    done = flight.vehicle.get("navigation")
    goals = dict(flight.scenario.vehicles[0].pilot or ()).get("goals", ())
    wanted = goals.count if isinstance(goals, DrawnGoals) else len(goals)
    if done is None and not wanted:
        raise ScenarioError("the flight has no goals, so it cannot be judged by them; give another --judge")
    if done is None or done["goals_reached"] < max(wanted, 1) or done["collisions"]:
        return math.inf
    return float(done["farthest_from_goal_m"])


def missed_people(flight: TrueFlight) -> float:
    """The share of the people in all images, also in those that were not looked at in time, whom the detector did not
    find."""
    scores = list(flight.vehicle.get("people", {}).get("boxes", {}).values())
    if not scores:
        raise ScenarioError("the flight has no boxes and labels, so it cannot be judged by them; give another --judge")
    first = scores[0]
    return 1.0 - float(first["recall"] or 0.0) * float(first["looked_at"]) / max(int(first["images"]), 1)


def _figure(key: str, what: str) -> Callable[[TrueFlight], float]:
    def measured(flight: TrueFlight) -> float:
        if key not in flight.vehicle:
            raise ScenarioError(f"the flight has no {what}, so it cannot be judged by that; give another --judge")
        return float(flight.vehicle[key])

    return measured


JUDGES: dict[str, tuple[str, Callable[[TrueFlight], float]]] = {
    "anchor": ("rad", _figure("anchor_off_rad", "world with an anchor")),
    "abeam": ("m", _figure("abeam_off_m", "world with an anchor")),
    "start": ("m", _figure("off_start_m", "start")),
    "goal": ("m", _figure("off_start_m", "start")),
    "goals": ("m", off_goals),
    "missed": ("of the people", missed_people),
    "tracking": ("m", _figure("tracking_error_rms_m", "setpoints with a place")),
    "estimate": ("m", _figure("estimate_error_rms_m", "estimates")),
}
"""By name: the unit and the error. `tracking` and `estimate` are rms over the flight."""
