"""The way over the map: as short as SciPy's graph search finds it, and refused with a reason where there is none."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from shortest_ways import shortest_length

from skyloop_autonomy.planning.global_planner import GlobalPlannerConfig, PlannedWay, bezier, find_way, sub_goal
from skyloop_autonomy.planning.grid import Grid, grid_from_distance, inflated, path_length
from skyloop_autonomy.planning.grid_search import cheapest_way, jump_point_search

CONFIG = GlobalPlannerConfig()


def run_of(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The cells of a straight or diagonal run."""
    n = int(np.abs(b - a).max())
    return a + np.outer(np.arange(n + 1), np.sign(b - a))


@pytest.mark.parametrize("share", [0.1, 0.2, 0.3, 0.35])
def test_jump_point_search_is_as_short_as_dijkstra(share: float) -> None:
    found = 0
    for seed in range(50):
        chance = np.random.default_rng([seed, round(100 * share)])
        blocked = chance.random((int(chance.integers(5, 40)), int(chance.integers(5, 40)))) < share
        start, goal = (0, 0), (blocked.shape[0] - 1, blocked.shape[1] - 1)
        blocked[start] = blocked[goal] = False
        answer, expected = jump_point_search(blocked, start, goal), shortest_length(blocked, start, goal)
        assert (answer is None) == np.isinf(expected), f"seed {seed}"
        if answer is None:
            continue
        found += 1
        cells, length = answer
        assert length == pytest.approx(expected, abs=1e-9), f"seed {seed}"
        runs = [run_of(a, b) for a, b in itertools.pairwise(cells)]
        assert tuple(cells[0]) == start and tuple(cells[-1]) == goal
        assert all((run[-1] == b).all() for run, b in zip(runs, cells[1:], strict=True))
        assert not any(blocked[tuple(run.T)].any() for run in runs)
        assert sum(path_length(run.astype(float)) for run in runs) == pytest.approx(length)
    assert found > 5


def test_a_start_that_is_the_goal_and_a_start_in_a_wall() -> None:
    blocked = np.zeros((5, 5), bool)
    blocked[2, 2] = True
    found = jump_point_search(blocked, (1, 1), (1, 1))
    assert found is not None and found[0].tolist() == [[1, 1]] and found[1] == 0.0
    assert jump_point_search(blocked, (2, 2), (0, 0)) is None
    assert jump_point_search(blocked, (0, 0), (2, 2)) is None


@pytest.mark.parametrize("share", [0.05, 0.2, 0.35])
def test_search_in_space_is_as_short_as_dijkstra(share: float) -> None:
    found = 0
    for seed in range(12):
        chance = np.random.default_rng([seed, round(100 * share)])
        blocked = chance.random(tuple(chance.integers(4, 13, 3))) < share
        start, goal = (0, 0, 0), tuple(n - 1 for n in blocked.shape)
        blocked[start] = blocked[goal] = False
        answer, expected = cheapest_way(blocked, start, goal), shortest_length(blocked, start, goal)
        assert (answer is None) == np.isinf(expected), f"seed {seed}"
        if answer is not None:
            cells, length = answer
            found += 1
            assert length == pytest.approx(expected, abs=1e-9)
            assert np.abs(np.diff(cells, axis=0)).max() == 1 and not blocked[tuple(cells.T)].any()
    assert found > 5


def test_inflation_blocks_what_scipys_distance_says() -> None:
    from scipy.ndimage import distance_transform_edt

    chance = np.random.default_rng(3)
    flat, space = chance.random((40, 30)) < 0.05, chance.random((15, 12, 9)) < 0.02
    for occupied, radius in ((flat, 0.4), (flat, 0.5), (space, 0.5), (flat, 0.1)):
        away = distance_transform_edt(~occupied) * 0.2
        grid = inflated(occupied, (0.0, 0.0), 0.2, radius)
        assert np.array_equal(grid.blocked.reshape(occupied.shape), away <= radius + 1e-9)
        assert grid.flat == (occupied.ndim == 2)
    field = distance_transform_edt(~space) * 0.2
    field[0, 0, 0] = np.nan
    from_field = grid_from_distance(field, (1.0, 2.0, 3.0), 0.2, 0.5)
    assert from_field.blocked[0, 0, 0] and np.array_equal(from_field.blocked, ~(field >= 0.5))
    assert from_field.cell_of(np.array([1.3, 2.1, 3.5])) == (1, 0, 2)


def test_a_line_of_sight_touches_free_cells_only() -> None:
    """Against points sampled densely along the line."""
    chance = np.random.default_rng(5)
    seen = 0
    for _ in range(300):
        grid = Grid(chance.random((12, 12, 4)) < 0.06, np.array([-1.0, 2.0, 0.0]), 0.5, False)
        a, b = (grid.origin + chance.random(3) * np.array([6.0, 6.0, 2.0]) for _ in range(2))
        cells = np.floor((a + np.linspace(0, 1, 4000)[:, None] * (b - a) - grid.origin) / grid.cell).astype(int)
        assert grid.sees(a, b) == (not grid.blocked[tuple(cells.T)].any())
        assert grid.sees(a, b) == grid.sees(b, a)
        seen += grid.sees(a, b)
    assert 50 < seen < 250


def test_a_line_does_not_slip_between_two_cells_that_touch_at_a_corner() -> None:
    blocked = np.zeros((4, 4, 1), bool)
    blocked[1, 2, 0] = blocked[2, 1, 0] = True
    grid = Grid(blocked, np.zeros(3), 1.0, True)
    assert not grid.sees(np.array([0.5, 0.5, 1.0]), np.array([3.5, 3.5, 1.0]))
    assert not grid.sees(np.array([3.5, 3.5, 1.0]), np.array([0.5, 0.5, 1.0]))
    assert not grid.sees(np.array([0.5, 0.5, 1.0]), np.array([7.5, 0.5, 1.0])), "leads out of the grid"


def wall_with_gap() -> np.ndarray:
    occupied = np.zeros((50, 50), bool)
    occupied[25, :] = True
    occupied[25, 40:48] = False
    return occupied


def test_the_way_leads_through_the_gap_and_every_leg_is_free() -> None:
    grid = inflated(wall_with_gap(), (0.0, 0.0), 0.2, CONFIG.inflation)
    start, goal = np.array([1.0, 1.0, 1.0]), np.array([9.0, 1.0, 2.0])
    way = find_way(grid, start, goal, CONFIG)
    assert not way.refusal and not way.snapped
    assert np.array_equal(way.points[0], start) and np.array_equal(way.points[-1], goal)
    assert all(grid.sees(a, b) for a, b in itertools.pairwise(way.points))
    assert 8.4 < way.points[:, 1].max() < 9.2 and len(way.points) <= 5
    assert (np.diff(way.points[:, 2]) > 0.0).all(), "it climbs evenly"
    searched = jump_point_search(grid.blocked[:, :, 0], (5, 5), (45, 5))
    assert searched is not None and way.length < 0.2 * searched[1] + 0.3


def test_a_goal_inside_an_obstacle_snaps_or_is_refused() -> None:
    occupied = np.zeros((50, 50), bool)
    occupied[30:34, 20:24] = True
    grid = inflated(occupied, (0.0, 0.0), 0.2, CONFIG.inflation)
    start = np.array([1.0, 1.0, 1.0])
    way = find_way(grid, start, np.array([6.1, 4.3, 1.0]), CONFIG)
    assert way.snapped and grid.is_free(way.points[-1])
    assert np.linalg.norm(way.points[-1] - [6.1, 4.3, 1.0]) < 1.0
    occupied[20:44, 10:34] = True
    grid = inflated(occupied, (0.0, 0.0), 0.2, CONFIG.inflation)
    way = find_way(grid, start, np.array([6.1, 4.3, 1.0]), CONFIG)
    assert "inside an obstacle" in way.refusal and "(6.1, 4.3, 1.0)" in way.refusal and "\n" not in way.refusal
    assert len(way.points) == 0


def test_no_way_says_so() -> None:
    occupied = wall_with_gap()
    occupied[25, :] = True
    grid = inflated(occupied, (0.0, 0.0), 0.2, CONFIG.inflation)
    way = find_way(grid, np.array([1.0, 1.0, 1.0]), np.array([9.0, 1.0, 1.0]), CONFIG)
    assert way.refusal.startswith("no path from (1.0, 1.0, 1.0) to (9.0, 1.0, 1.0)")
    assert "outside the map" in find_way(grid, np.array([1.0, 1.0, 1.0]), np.array([90.0, 1.0, 1.0]), CONFIG).refusal
    assert "not a number" in find_way(grid, np.array([1.0, 1.0, 1.0]), np.array([np.nan, 1.0, 1.0]), CONFIG).refusal
    full = Grid(np.ones((50, 50, 1), bool), np.zeros(3), 0.2, True)
    full.blocked[45, 5, 0] = False
    assert (
        "fly it into the open" in find_way(full, np.array([1.0, 1.0, 1.0]), np.array([9.1, 1.1, 1.0]), CONFIG).refusal
    )


def test_a_vehicle_too_near_to_a_wall_is_led_away_from_it_first() -> None:
    grid = inflated(wall_with_gap(), (0.0, 0.0), 0.2, CONFIG.inflation)
    start = np.array([4.8, 3.0, 1.0])
    assert not grid.is_free(start)
    way = find_way(grid, start, np.array([1.0, 9.0, 1.0]), CONFIG)
    assert grid.is_free(way.points[1]) and way.points[1][0] < start[0]
    assert np.array_equal(sub_goal(grid, way, start, CONFIG), way.points[1])


def test_the_sub_goal_is_within_the_look_ahead_and_in_sight_where_it_is_far() -> None:
    grid = inflated(wall_with_gap(), (0.0, 0.0), 0.2, CONFIG.inflation)
    for start in ([1.0, 1.0, 1.0], [3.9, 7.0, 1.0], [5.9, 8.6, 1.0], [8.0, 2.0, 1.0]):
        here = np.array(start)
        way = find_way(grid, here, np.array([9.0, 1.0, 1.0]), CONFIG)
        aim = sub_goal(grid, way, here, CONFIG)
        away = np.linalg.norm(aim - here)
        assert 0.8 * CONFIG.skip_nearer < away <= CONFIG.look_ahead
        assert grid.sees(here, aim) or away <= CONFIG.skip_nearer
    near = np.array([8.8, 1.1, 1.0])
    assert np.allclose(sub_goal(grid, find_way(grid, near, way.points[-1], CONFIG), near, CONFIG), way.points[-1])
    assert np.array_equal(sub_goal(grid, PlannedWay(near[None]), near, CONFIG), near)


def test_bezier_begins_and_ends_at_its_control_points() -> None:
    control = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 0.0], [2.0, 0.0, 1.0]])
    points = bezier(control, np.array([0.0, 0.5, 1.0]))
    assert np.allclose(points, [control[0], 0.25 * control[0] + 0.5 * control[1] + 0.25 * control[2], control[2]])


def test_in_space_the_way_goes_over_a_wall_that_has_no_gap() -> None:
    distance_to_wall = np.zeros((30, 30, 15), bool)
    distance_to_wall[15, :, :8] = True
    from scipy.ndimage import distance_transform_edt

    field = distance_transform_edt(~distance_to_wall) * 0.2
    grid = grid_from_distance(field, (0.0, 0.0, 0.0), 0.2, 0.5)
    way = find_way(grid, np.array([1.0, 3.0, 1.0]), np.array([5.0, 3.0, 1.0]), CONFIG)
    assert not way.refusal and way.points[:, 2].max() > 2.0
    assert all(grid.sees(a, b) for a, b in itertools.pairwise(way.points))
    assert way.length < 6.5
