"""It keeps away from what it flies past where there is room, and to the middle where there is not."""

from __future__ import annotations

import numpy as np
import pytest
from test_planning_flights import STEP, fly, seen_in

from skyloop_autonomy.planning.global_planner import find_way, through_the_middle
from skyloop_autonomy.planning.grid import inflated
from skyloop_autonomy.planning.local_planner import LocalPlannerConfig, plan_motion
from skyloop_autonomy.planning.replanning import NavigatorConfig, best_way
from skyloop_papers.benchmarks.plan import CELL, BoxWorld

pytestmark = pytest.mark.flights

CONFIG, MOTION = NavigatorConfig(), LocalPlannerConfig()
SHELF = BoxWorld(12.0, np.array([[4.0, 0.0, 5.0, 6.0]]))
DOOR = BoxWorld(12.0, np.array([[5.0, 0.0, 5.2, 3.0], [5.0, 4.0, 5.2, 12.0]]))
HERE = np.array([[0.0, 0.0, 1.5], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])


def post(x: float, y: float) -> np.ndarray:
    heights = np.arange(0.0, 5.0, 0.1)
    return np.column_stack([np.full_like(heights, x), np.full_like(heights, y), heights])


@pytest.mark.parametrize("goal", [(7.0, 2.0, 1.5), (9.0, 9.0, 1.5)])
def test_the_end_of_a_shelf_with_room_around_it_is_passed_far_off(goal: tuple[float, float, float]) -> None:
    position = np.array(goal)
    track = fly(seen_in(SHELF), np.array([2.0, 2.0, 1.5]), lambda t: position, 40.0)
    assert track.modes[-1] == "arrived", track.aims[-1].why
    assert track.clearance(SHELF) >= 0.6
    assert len(track.speeds) * STEP < 32.0


@pytest.mark.parametrize(
    ("start", "goal"),
    [((2.0, 6.0), (8.0, 6.0)), pytest.param((2.0, 1.2), (8.0, 7.0), marks=pytest.mark.slow("another way"))],
)
def test_a_door_is_passed_in_its_middle(start: tuple[float, float], goal: tuple[float, float]) -> None:
    position = np.array([*goal, 1.5])
    track = fly(seen_in(DOOR), np.array([*start, 1.5]), lambda t: position, 40.0)
    assert track.modes[-1] == "arrived", track.aims[-1].why
    inside = [at[1] for at in track.positions if 5.0 < at[0] < 5.2]
    assert inside and max(abs(y - 3.5) for y in inside) < 0.03


def test_of_two_free_directions_it_takes_the_one_with_room() -> None:
    beside = post(1.5, 0.5)
    manoeuvre = plan_motion(HERE, np.array([3.0, 0.0, 1.5]), beside, MOTION)
    assert manoeuvre is not None and manoeuvre.roomy and manoeuvre.motion.at(99.0)[0][1] < -0.1
    # between two of them there is no more room than this
    both = np.vstack(
        [beside, post(1.5, -0.5), *(post(1.5, y) for y in (*np.arange(0.6, 4, 0.1), *np.arange(-4, -0.6, 0.1)))]
    )
    narrow = plan_motion(HERE, np.array([3.0, 0.0, 1.5]), both, MOTION)
    assert narrow is not None and not narrow.roomy and abs(narrow.motion.at(99.0)[0][1]) < 1e-6


def test_a_goal_with_little_room_is_still_flown_to() -> None:
    goal = np.array([1.2, 0.0, 1.5])
    manoeuvre = plan_motion(HERE, goal, post(1.7, 0.0), MOTION)
    assert manoeuvre is not None and np.allclose(manoeuvre.motion.at(99.0)[0], goal)
    world = BoxWorld(12.0, np.array([[6.0, 4.0, 7.0, 8.0]]))
    beside = np.array([7.55, 7.2, 1.5])
    track = fly(seen_in(world), np.array([3.0, 6.0, 1.5]), lambda t: beside, 40.0)
    assert track.modes[-1] == "arrived" and np.linalg.norm(track.positions[-1] - beside) < 0.3
    past = [world.clearance(at) for at in track.positions if np.linalg.norm(at - beside) > 2.5]
    assert min(past) > 0.55, "only the last metres of the way are narrow"


def test_a_way_turns_at_corners_and_not_beyond_them() -> None:
    """A search over cells goes on at 45° after a corner; pulled from one end alone, the way was 4 % too long."""
    start, goal = np.array([2.0, 2.0, 1.5]), np.array([7.0, 2.0, 1.5])
    way = find_way(inflated(SHELF.occupied(), (0.0, 0.0), CELL, 0.75), start, goal, CONFIG.way)
    assert way.length < 11.9
    _, best = best_way(seen_in(SHELF)(start, 0.0), start, goal, CONFIG.way)
    assert best.points[:, 1].max() > 6.0 + 0.6, "half a turn around the end of a shelf may be roomy"


def test_a_way_beside_the_middle_of_a_door_is_moved_there() -> None:
    cloud = DOOR.cloud()
    way = np.array([[3.5, 3.6, 1.5], [7.0, 3.6, 1.5]])
    middle = through_the_middle(way, np.array([4.2, 3.55, 1.5]), cloud, MOTION.room)
    assert middle is not None
    inside = np.abs(middle[:, 0] - 5.1) < 0.5
    assert inside.sum() > 5 and np.abs(middle[inside, 1] - 3.5).max() < 0.02
    assert abs(middle[0, 0] - 4.2) < 0.06, "what has been flown is left out"
    assert through_the_middle(way, way[0], cloud[:0], MOTION.room) is None
    broad = BoxWorld(12.0, np.array([[5.0, 0.0, 5.2, 2.0], [5.0, 5.0, 5.2, 12.0]])).cloud()
    assert through_the_middle(way, way[0], broad, MOTION.room) is None


def test_an_opening_that_is_too_narrow_for_a_roomy_way_is_not_hugged_either() -> None:
    opening = BoxWorld(12.0, np.array([[5.0, 0.0, 5.2, 3.0], [5.0, 4.6, 5.2, 12.0]]))
    goal = np.array([8.0, 9.0, 1.5])
    track = fly(seen_in(opening), np.array([2.0, 8.0, 1.5]), lambda t: goal, 40.0)
    assert track.modes[-1] == "arrived" and track.clearance(opening) > 0.6


def test_a_thing_on_one_side_before_a_door_is_passed_far_off() -> None:
    leaf = np.array([3.6, 3.1, 1.5])
    way = np.array([[3.3, 3.5, 1.5], [7.0, 3.5, 1.5]])
    middle = through_the_middle(way, way[0], np.vstack([DOOR.cloud(), leaf]), MOTION.room)
    assert middle is not None
    assert np.linalg.norm(middle - leaf, axis=1).min() > 0.6, "the way itself passes it at 0.4 m"
