"""Every option of a flight to goals changes what is flown."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from option_flights import check_change, fields_of

from goal_flights import Flown, scenario
from skyloop_autonomy.pilots.navigate import NavigatePilotConfig
from skyloop_autonomy.planning.global_planner import GlobalPlannerConfig
from skyloop_autonomy.planning.local_planner import LocalPlannerConfig
from skyloop_autonomy.planning.replanning import NavigatorConfig
from skyloop_papers.benchmarks.plan import BoxWorld

Measure = Callable[[Flown], float]
BOX = ((5.0, 0.0, 6.0, 3.0),)
AROUND = {"goals": [[8.5, 2.0]], "maps": {"boxes": BOX}, "duration": 25.0}
"""Around the end of a box to a goal behind it."""
TIGHT = {**AROUND, "navigator": {"way": {"roomy": 0.5}}}
"""As near to the box as it may."""
NARROW = {
    "goals": [[7.7, 2.0]], "position": [4.5, 2.0], "duration": 18.0,
    "maps": {"boxes": ((6.0, 0.0, 6.2, 1.5), (6.0, 2.5, 6.2, 16.0))},
}  # fmt: skip
"""Through a door of 1 m whose sides lie in the middle of cells."""
AHEAD = {"goals": [[5.0, 2.0]], "duration": 14.0}
CLOSE = {**AHEAD, "position": [0.5, 2.0], "duration": 20.0, "navigator": {"way": {"tight": 0.5}}}
"""Nearer to a wall than ways may lead."""
BLIND = {"goals": [[12.0, 2.0]], "maps": {"dead_at": 6.0}, "duration": 14.0}
INSIDE = {"goals": [[8.0, 2.0]], "maps": {"boxes": ((5.0, 0.0, 11.0, 5.0),)}, "duration": 14.0}
APPEARS = {"goals": [[12.0, 2.0]], "maps": {"more_boxes": ((7.5, 0.0, 7.9, 16.0),), "more_at": 6.05}, "duration": 11.0}
NORTH = {"goals": [[2.0, 6.0]], "duration": 16.0}


def north(flown: Flown) -> float:
    return float(flown.rows[:, 2].max())


def east(flown: Flown) -> float:
    return float(flown.rows[:, 1].max())


def highest(flown: Flown) -> float:
    return float(flown.rows[:, 3].max())


def final_height(flown: Flown) -> float:
    return float(flown.rows[-1, 3])


def landed(flown: Flown) -> float:
    return min((event.t_ns * 1e-9 for event in flown.events if event.kind == "landed"), default=99.0)


def took_off(flown: Flown) -> float:
    return min((event.t_ns * 1e-9 for event in flown.events if event.kind == "took off"), default=99.0)


def ended(flown: Flown) -> float:
    return min((status.t_ns * 1e-9 for status in flown.ends), default=99.0)


def reached(flown: Flown) -> float:
    return float(sum(status.state == "reached" for status in flown.ends))


def away(flown: Flown) -> float:
    """s until it is 0.3 m from where it took off."""
    far = np.linalg.norm(flown.rows[:, 1:3] - flown.rows[0, 1:3], axis=1) > 0.3
    return float(flown.rows[np.argmax(far), 0]) if far.any() else 99.0


def ways(flown: Flown) -> float:
    return float(len(flown.paths))


def top_speed(flown: Flown) -> float:
    return float(np.linalg.norm(flown.rows[:, 4:6], axis=1).max())


def clearance(flown: Flown) -> float:
    world = BoxWorld(16.0, np.array(BOX))
    return float(min(world.clearance(place) for place in flown.rows[:, 1:4]))


def setpoint_steps(flown: Flown) -> float:
    """m, the largest step from one setpoint to the next; they come 50 times a second."""
    places = np.array([point.position for point in flown.setpoints if point.mode == "setpoint"])
    return float(np.linalg.norm(np.diff(places, axis=0), axis=1).max())


def told_stuck(flown: Flown) -> float:
    return min((s.t_ns * 1e-9 for s in flown.statuses if s.reason.startswith("stuck")), default=99.0)


def pushed_off(flown: Flown) -> float:
    """m at most between the vehicle and its setpoint."""
    stamps = flown.rows[:, 0]
    points = [point for point in flown.setpoints if point.mode == "setpoint"]
    places = flown.rows[np.searchsorted(stamps, [point.t_ns * 1e-9 - 1e-6 for point in points]), 1:4]
    return float(np.linalg.norm(places - np.array([point.position for point in points]), axis=1).max())


def lowest(flown: Flown) -> float:
    """m, under way."""
    t = flown.rows[:, 0]
    return float(flown.rows[(t > 6.0) & (t < ended(flown)), 3].min())


def gap_to_walker(flown: Flown) -> float:
    """m between the middle of the vehicle and the person of AMONG."""
    t, x, y = flown.rows[flown.rows[:, 3] > 1.0, :3].T
    return float(np.hypot(x - 6.0 - 0.9 * (t - 12.0), y - 6.0).min()) - 0.25


AMONG = {
    "goals": [[6.0, 6.0]], "position": [6.0, 3.0], "maps": {"walkers": [[12.0, 6.0, 6.0, 0.9, 0.0]]},
    "land": False, "wait": 12.0, "duration": 18.0,
}  # fmt: skip
"""Somebody walks over the place where it hovers."""
PUSHED = {
    **AHEAD,
    "goals": [[9.0, 2.0]],
    "duration": 8.0,
    "wrenches": [{"start": 5.0, "end": 5.8, "force": [0.0, 9.0, 0.0]}],
}
CAGED = {**AHEAD, "maps": {"cage": 0.55}, "duration": 6.0}
BESIDE_A_GATE = {
    **AHEAD, "goals": [[12.0, 2.0]], "duration": 80.0,
    "maps": {"boxes": [[7.0, 0.0, 7.4, 1.4], [7.0, 2.6, 7.4, 9.0]], "hidden": [[7.0, 1.4, 7.4, 2.6]]},
}  # fmt: skip
"""A gate that is shut although the map from above shows it open, and a gap farther away."""
Case = tuple[dict[str, Any], Any, Measure, float]
"""What is flown, the changed value, what must change, and by how much."""
PILOT: dict[str, Case] = {
    "rate_hz": (AHEAD, 5.0, setpoint_steps, 0.02),
    "goals": (AHEAD, [[2.0, 6.0]], north, 3.0),
    "wait": (AHEAD, 3.0, landed, 2.5),
    "takeoff_altitude": (AHEAD, 2.5, highest, 0.8),
    "stand": (AHEAD, 2.0, took_off, 1.8),
    "land": (AHEAD, False, final_height, 1.0),
    "ground_map": (AHEAD, "maps/other", east, -2.0),
    "near_map": (AHEAD, "maps/other", east, -2.0),
    "movers": (AMONG, "maps/other", gap_to_walker, -0.3),
    "blind_after": (BLIND, 3.0, east, 1.0),
    "blind_land_after": (BLIND, 2.0, landed, -5.0),
    "detour_after": (BESIDE_A_GATE, 12.0, ended, 4.0),
    "give_up_after": (INSIDE, 2.0, ended, -5.0),
    "navigator": (AHEAD, {"motion": {"max_speed": 0.4}}, top_speed, -0.2),
}
NAVIGATOR: dict[str, Case] = {
    "way": (AROUND, {"look_ahead": 1.0}, ended, 0.5),
    "motion": (AHEAD, {"max_speed": 0.4}, top_speed, -0.2),
    "replan_after": ({**AHEAD, "navigator": {"replan_moved": 9.0}}, 2.0, ways, -5.0),
    "replan_moved": ({**AHEAD, "navigator": {"replan_after": 9.0}}, 2.0, ways, -3.0),
    "motion_every": (APPEARS, 2.0, east, 0.15),
    "arrival_radius": (AHEAD, 4.0, ended, -0.08),
    "lost_track": (PUSHED, 3.0, pushed_off, 0.3),
    "mover_margin": (AMONG, 0.05, gap_to_walker, -0.1),
    "yaw_rate": (NORTH, 0.3, ended, 1.0),
    "turn_first": (NORTH, 3.0, away, -0.3),
    "patience": (CAGED, 1.0, told_stuck, -1.5),
}
WAY: dict[str, Case] = {
    "inflation": (AROUND, 1.0, clearance, 0.1),
    "tight": (NARROW, 0.5, reached, -1.0),
    "roomy": (TIGHT, 0.8, clearance, 0.1),
    "detour": ({**TIGHT, "navigator": {"way": {"roomy": 1.8}}}, 2.0, clearance, 0.2),
    "goal_snap": ({**AHEAD, "goals": [[5.2, 2.0]], "maps": {"boxes": BOX}}, 0.3, reached, -1.0),
    "start_snap": (CLOSE, 0.05, reached, -1.0),
    "look_ahead": (AROUND, 1.0, ended, 0.5),
    "skip_nearer": (AROUND, 0.2, ended, 0.1),
}
MOTION: dict[str, Case] = {
    "radius": (AROUND, 1.0, clearance, 0.1),
    "room": (AROUND, 0.45, clearance, -0.01),
    "max_speed": (AHEAD, 0.4, top_speed, -0.2),
    "max_acceleration": (AHEAD, 0.3, ended, 0.5),
    "max_jerk": (AHEAD, 0.5, ended, 0.5),
    "reach": (AHEAD, 1.0, ended, 0.5),
    "floor": ({**AHEAD, "goals": [[5.0, 2.0, 0.8]]}, 1.3, lowest, 0.3),
    "ceiling": ({**AHEAD, "goals": [[5.0, 2.0, 3.0]]}, 2.0, highest, -0.5),
    "commit": (TIGHT, 1.0, ended, -0.5),
}
GROUPS: dict[str, tuple[Any, dict[str, Case], tuple[str, ...]]] = {
    "pilot": (NavigatePilotConfig, PILOT, ()),
    "navigator": (NavigatorConfig, NAVIGATOR, ("navigator",)),
    "way": (GlobalPlannerConfig, WAY, ("navigator", "way")),
    "motion": (LocalPlannerConfig, MOTION, ("navigator", "motion")),
}


def test_every_option_has_a_case() -> None:
    for config, cases, _ in GROUPS.values():
        assert set(cases) == fields_of(config) - {"kind"}


@functools.lru_cache(maxsize=64)
def flown(told: str) -> Flown:
    return Flown(scenario(**json.loads(told)))


TUNING = pytest.mark.slow("two flights for each number of the planner")
LONG = ("detour_after", "movers")


@pytest.mark.parametrize(
    ("group", "name"),
    [
        pytest.param(group, name, marks=[TUNING] if group != "pilot" or name in LONG else [])
        for group in GROUPS
        for name in GROUPS[group][1]
    ],
)
def test_option(group: str, name: str) -> None:
    _, cases, path = GROUPS[group]
    conditions, value, measure, least = cases[name]
    changed = json.loads(json.dumps(conditions))
    here = changed
    for key in path:
        here = here.setdefault(key, {})
    here[name] = value
    before, after = (measure(flown(json.dumps(told, sort_keys=True))) for told in (conditions, changed))
    check_change(name, before, after, least)
