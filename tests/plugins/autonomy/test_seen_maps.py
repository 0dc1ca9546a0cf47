"""From the records of a mapper to what the planners take."""

from __future__ import annotations

import numpy as np

from skyloop_autonomy.planning.grid import inflated
from skyloop_autonomy.planning.seen_maps import FARTHEST, MARGIN, SeenMaps
from skyloop_client.messages import GridMap, Movers, PointCloud


def ground(t_ns: int = 0) -> GridMap:
    """6 by 4 m from (-1, 2), with one occupied cell at (3.1, 2.7) and unknown ones in the west."""
    cells = np.zeros((20, 30), np.int8)
    cells[:, :5] = -1
    cells[3, 20] = 100
    return GridMap(t_ns, cells, 0.2, np.array([-1.0, 2.0, 1.5]))


def near(t_ns: int = 0) -> PointCloud:
    return PointCloud(t_ns, np.array([[1.0, 2.0, 1.5]], np.float32))


def test_the_map_is_turned_to_x_first_and_grows_around_vehicle_and_goal() -> None:
    maps = SeenMaps()
    assert not maps.are_there and maps.age(10) == 0.0
    maps.take(ground(), near())
    vehicle, goal = np.array([0.0, 3.0, 1.5]), np.array([9.0, -4.0, 1.5])
    seen = maps.surroundings(np.array([vehicle, goal]), 0)
    grid = inflated(seen.cells, seen.origin, seen.cell, 0.01)
    assert not grid.is_free(np.array([3.1, 2.7, 1.5])) and grid.blocked.sum() == 1
    for position in (vehicle, goal, goal + np.array([0.9 * MARGIN, -0.9 * MARGIN, 0.0]), np.array([-0.9, 2.1, 1.5])):
        assert grid.is_free(position), "unknown and never seen places count as free"
    assert np.allclose(seen.cloud, [[1.0, 2.0, 1.5]]) and seen.cloud.dtype == np.float64


def test_the_grown_map_is_kept_until_a_new_map_or_a_goal_outside_comes() -> None:
    maps = SeenMaps()
    maps.take(ground(), near())
    positions = np.array([[0.0, 3.0, 1.5], [4.0, 4.0, 1.5]])
    first = maps.surroundings(positions, 0)
    assert maps.surroundings(positions + 0.3, 0).cells is first.cells
    assert maps.surroundings(np.vstack([positions, [[20.0, 4.0, 1.5]]]), 0).cells is not first.cells
    maps.take(ground(5), near(5))
    assert maps.surroundings(positions, 0).cells is not first.cells


def test_a_goal_beyond_all_reason_does_not_make_the_map_huge() -> None:
    maps = SeenMaps()
    maps.take(ground(), near())
    seen = maps.surroundings(np.array([[0.0, 3.0, 1.5], [2.0 * FARTHEST, 3.0, 1.5]]), 0)
    assert seen.cells.size < 10_000


def test_the_older_one_of_both_maps_says_how_old_the_sight_is() -> None:
    maps = SeenMaps()
    maps.take(ground(4_000_000_000), near(1_000_000_000))
    assert maps.age(5_000_000_000) == 4.0


def test_movers_are_where_they_will_be_now_and_old_ones_do_not_count() -> None:
    maps = SeenMaps()
    found = Movers(
        1_000_000_000,
        np.array([[1.0, 2.0, 0.9]]),
        np.array([[0.5, -1.0, 0.0]]),
        np.array([[0.3, 1.8]]),
        np.array([4]),
    )
    maps.take(ground(), near(), found)
    assert maps.movers(1_200_000_000).tolist() == [[1.1, 1.8, 0.9, 0.5, -1.0, 0.0, 0.3, 0.9]]
    positions = np.array([[0.0, 3.0, 1.5]])
    assert len(maps.surroundings(positions, 1_200_000_000).movers) == 1
    assert len(maps.surroundings(positions, 2_500_000_000).movers) == 0
    maps.take(ground(), near(), None)
    assert len(maps.movers(1_200_000_000)) == 0
