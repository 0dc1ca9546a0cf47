"""Flights to goals: the real vehicle, pilot and planners, with known maps in place of a depth camera."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from goal_flights import SHUT, WALL, Flown, scenario
from skyloop.run import run_scenario
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Goal
from skyloop_papers.benchmarks.plan import BoxWorld

pytestmark = pytest.mark.flights


def test_it_flies_to_its_goals_around_a_wall_and_lands() -> None:
    flown = Flown(scenario([[2.0, 8.0], [12.0, 3.0, 2.0]], {"boxes": WALL}, duration=90.0))
    assert [end.state for end in flown.ends] == ["reached", "reached"]
    for end in flown.ends:
        assert np.linalg.norm(flown.place(end.t_ns * 1e-9) - end.goal) < 0.5
    world = BoxWorld(16.0, np.array(WALL))
    assert min(world.clearance(position) for position in flown.rows[:, 1:4]) > 0.38
    assert flown.fastest <= 1.0
    assert "landed" in [event.kind for event in flown.events] and flown.rows[-1, 3] < 0.3
    assert any(len(path.positions) > 2 for path in flown.paths), "the way around the wall was published"
    assert {"fly", "turn"} <= {status.mode for status in flown.statuses}


def test_a_goal_in_an_obstacle_is_moved_and_one_deep_inside_is_refused() -> None:
    boxes = ((5.0, 1.0, 6.0, 3.0), (8.0, 8.0, 13.0, 13.0))
    flown = Flown(scenario([[5.2, 2.0], [10.5, 10.5], [2.0, 5.0]], {"boxes": boxes}, give_up_after=2.0))
    assert [end.state for end in flown.ends] == ["reached", "refused", "reached"]
    snapped, refused, last = flown.ends
    assert snapped.reason == "moved to the nearest free place"
    assert 0.5 < np.linalg.norm(flown.place(snapped.t_ns * 1e-9) - snapped.goal) < 1.0
    assert refused.reason.startswith("the goal (10.5, 10.5") and "inside an obstacle" in refused.reason
    assert np.linalg.norm(flown.place(last.t_ns * 1e-9) - last.goal) < 0.5
    hovering = [status.t_ns * 1e-9 for status in flown.statuses if "inside an obstacle" in status.reason]
    moved = flown.place(hovering[-1]) - flown.place(hovering[0])
    assert np.linalg.norm(moved) < 0.2, "it hovers while it says so"


def test_a_door_that_closes_makes_it_stop_say_so_and_land() -> None:
    changed = scenario([[12.0, 3.0]], {"boxes": WALL, "more_boxes": SHUT, "more_at": 10.0}, give_up_after=3.0)
    flown = Flown(changed)
    (end,) = flown.ends
    assert end.state == "refused" and end.reason.startswith("no path from")
    shut = BoxWorld(16.0, np.array([*WALL, *SHUT]))
    assert min(shut.clearance(position) for t, *position in flown.rows[:, :4].tolist() if t > 10.0) > 0.38
    assert "landed" in [event.kind for event in flown.events]


def test_a_dead_camera_stops_it_and_then_it_lands() -> None:
    flown = Flown(scenario([[12.0, 2.0]], {"dead_at": 8.0}, blind_land_after=4.0))
    assert flown.speed(8.0) > 0.4 and flown.speed(10.5) < 0.1
    assert np.linalg.norm(flown.place(11.5) - flown.place(8.0)) < 1.2
    (end,) = flown.ends
    why = "no new map since 7.9 s; check the depth camera and whether the maps keep up"
    assert (end.state, end.reason) == ("given up", why)
    assert "landed" in [event.kind for event in flown.events]


def test_a_vehicle_that_moves_without_getting_anywhere_gives_up() -> None:
    """In a cage of 0.7 m it can bob up and down for ever; the map from above shows a way."""
    flown = Flown(scenario([[5.0, 2.0]], {"cage": 0.7}, give_up_after=4.0, duration=25.0))
    (end,) = flown.ends
    assert end.state == "given up" and end.t_ns * 1e-9 < 15.0
    assert np.linalg.norm(flown.rows[:, 1:3] - 2.0, axis=1).max() < 0.3
    assert "landed" in [event.kind for event in flown.events]


BESIDE_A_GATE = {"boxes": [[7.0, 0.0, 7.4, 1.4], [7.0, 2.6, 7.4, 9.0]], "hidden": [[7.0, 1.4, 7.4, 2.6]]}
"""The wall with a second opening, straight ahead, that is shut although the map from above shows it open."""


@pytest.mark.slow("it tries for long before it flies around")
def test_a_gate_that_does_not_let_it_through_makes_it_fly_around() -> None:
    flown = Flown(scenario([[12.0, 2.0]], BESIDE_A_GATE, duration=90.0, land=False))
    assert [end.state for end in flown.ends] == ["reached"]
    assert flown.rows[:, 2].max() > 9.0, "it went through the gap in the north"
    world = BoxWorld(16.0, np.array([*BESIDE_A_GATE["boxes"], *BESIDE_A_GATE["hidden"]]))
    assert min(world.clearance(position) for position in flown.rows[:, 1:4]) > 0.38


def test_a_camera_that_comes_back_lets_it_fly_on() -> None:
    flown = Flown(scenario([[12.0, 2.0]], {"dead_at": 8.0, "dead_until": 11.0}))
    assert flown.speed(10.8) < 0.1
    assert [end.state for end in flown.ends] == ["reached"]


def test_an_estimate_that_is_lost_for_three_seconds_neither_moves_it_away_nor_ends_the_flight() -> None:
    flown = Flown(scenario([[10.0, 2.0]], lost_at=8.0))
    assert flown.speed(7.9) > 0.4
    away = flown.place(10.9) - flown.place(8.0)
    assert np.linalg.norm(away[:2]) < 1.5, "it descends level"
    assert "failsafe over" in [event.kind for event in flown.events]
    assert [end.state for end in flown.ends] == ["reached"]
    assert np.linalg.norm(flown.place(flown.ends[0].t_ns * 1e-9) - flown.ends[0].goal) < 0.5


def test_goals_from_anybody_replace_those_that_are_left() -> None:
    first, second = Goal(np.array([9.0, 2.0, 1.6])), Goal(np.array([3.0, 6.0, 1.6]))
    at = {5.0: ("a click", first), 9.0: ("a script", second)}
    flown = Flown(scenario([[2.0, 12.0], [12.0, 12.0]], wait=1.0), at)
    assert [end.state for end in flown.ends] == ["given up", "given up", "reached"]
    assert [end.reason for end in flown.ends[:2]] == ["another goal came"] * 2
    assert np.allclose(flown.ends[-1].goal, second.position) and len(flown.goals) == 2
    assert np.linalg.norm(flown.place(flown.ends[-1].t_ns * 1e-9) - second.position) < 0.5


@pytest.mark.slow("a flight to two goals")
def test_a_run_tells_what_became_of_its_goals(tmp_path: Path) -> None:
    changed = scenario([[4.0, 2.0]], duration=20.0)
    summary = run_scenario(changed, tmp_path / "run")
    done = summary["vehicles"]["drone"]["navigation"]
    assert (done["goals_reached"], done["goals_not_reached"], done["collisions"]) == (1, 0, 0)
    assert done["farthest_from_goal_m"] < 0.2 and 0.5 < done["fastest_m_s"] <= 1.0
    assert done["goals"][0]["goal"][:2] == [4.0, 2.0]
    assert (tmp_path / "run" / "navigation-drone.png").stat().st_size > 10_000
    rows = (tmp_path / "run" / "streams" / "drone" / "navigation" / "status.csv").read_text().splitlines()
    assert any('"reached"' in row for row in rows)


def test_without_goals_and_without_waiting_there_is_nothing_to_do() -> None:
    with pytest.raises(ScenarioError, match="there are no goals; give goals"):
        scenario([])


def least_gap(flown: Flown, walkers: list[list[float]]) -> float:
    """m between the middle of the vehicle in flight and the sides of people, 1.8 m high."""
    gaps = []
    for t, x, y, z in flown.rows[flown.rows[:, 3] > 1.0, :4].tolist():
        for at, px, py, vx, vy in walkers:
            beside = float(np.hypot(x - px - (t - at) * vx, y - py - (t - at) * vy)) - 0.25
            gaps.append(max(beside, z - 1.8))
    return min(gaps)


@pytest.mark.parametrize(
    "direction", [2.2, *(pytest.param(way, marks=pytest.mark.slow("other directions")) for way in (0.0, 4.0))]
)
def test_a_vehicle_that_hovers_gets_out_of_the_way_of_a_person(direction: float) -> None:
    """From ahead, from the side and from behind: the planner knows of all of them."""
    vx, vy = 0.9 * np.cos(direction), 0.9 * np.sin(direction)
    walkers = [[12.0, 6.0, 6.0, float(vx), float(vy)]]
    changed = scenario([[6.0, 6.0]], {"walkers": walkers}, position=[6.0, 3.0], land=False, wait=12.0, duration=18.0)
    flown = Flown(changed)
    assert [end.state for end in flown.ends] == ["reached"]
    assert np.linalg.norm(flown.place(8.5)[:2] - 6.0) < 0.6, "at first it hovers where the person will be"
    assert least_gap(flown, walkers) > 0.4
    assert flown.fastest <= 1.0


@pytest.mark.slow("a flight of half a minute")
def test_a_person_who_crosses_the_way_is_let_pass_and_the_goal_is_reached() -> None:
    walkers = [[9.0, 6.0, 2.0, 0.0, 0.8], [12.0, 9.0, 2.2, -0.7, 0.0]]
    flown = Flown(scenario([[12.0, 2.0]], {"walkers": walkers}))
    assert [end.state for end in flown.ends] == ["reached"]
    assert least_gap(flown, walkers) > 0.4


def test_people_walk_over_the_place_unnoticed_if_nothing_tells_of_them() -> None:
    """What the camera cannot have seen, the vehicle cannot know."""
    walkers = [[12.0, 6.0, 6.0, 0.9, 0.0]]
    maps, still = {"walkers": walkers}, {"position": [6.0, 3.0], "land": False, "wait": 12.0, "duration": 18.0}
    flown = Flown(scenario([[6.0, 6.0]], maps, movers="maps/none", **still))
    assert least_gap(flown, walkers) < 0.2
