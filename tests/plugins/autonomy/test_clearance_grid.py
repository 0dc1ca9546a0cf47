"""ClearanceGrid through grids, the retreat out of the band, and the lines that drop false cells."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from shortest_ways import shortest_length

from skyloop_autonomy.grid_slam.lines import LineSettings, segments, without_false_cells
from skyloop_autonomy.planning.clearance_grid import ClearanceGrid
from skyloop_client.messages import Array

CELL, BAND = 0.25, 1.0
CORNER = np.array([-10.0, -5.0])


def walled(*boxes: tuple[float, float, float, float]) -> NDArray[np.bool_]:
    """30 m by 20 m with boxes in it: x0, y0, x1, y1 in m."""
    grid = np.zeros((120, 80), np.bool_)
    for x0, y0, x1, y1 in boxes:
        low = np.floor((np.array([x0, y0]) - CORNER) / CELL).astype(int)
        high = np.floor((np.array([x1, y1]) - CORNER) / CELL).astype(int)
        grid[low[0] : high[0] + 1, low[1] : high[1] + 1] = True
    return grid


def ways(*boxes: tuple[float, float, float, float]) -> ClearanceGrid:
    return ClearanceGrid(walled(*boxes), CORNER, CELL, BAND)


def length(way: Array) -> float:
    return float(np.hypot(*np.diff(way, axis=0).T).sum())


def test_around_a_wall_the_way_keeps_out_of_the_band_and_is_hardly_longer_than_the_shortest() -> None:
    found = ways((2.0, -5.0, 2.5, 8.0), (9.0, 0.0, 9.5, 15.0))
    start, goal = np.array([-5.0, 0.0]), np.array([15.0, 12.0])
    way = found.way(start, goal)
    assert way is not None
    for a, b in pairwise(way):
        assert found.sees(a, b)
    first, last = (tuple(found.cell_of(point).tolist()) for point in (start, goal))
    assert length(way) < 1.05 * CELL * shortest_length(found.clearances < BAND, first, last)


def test_there_is_no_way_through_a_closed_wall_or_a_gap_that_is_too_narrow() -> None:
    start, goal = np.array([-5.0, 0.0]), np.array([15.0, 5.0])
    closed = ((4.0, -5.0, 4.5, 15.0),)
    narrow = ((4.0, -5.0, 4.5, 2.0), (4.0, 3.5, 4.5, 15.0))
    wide = ((4.0, -5.0, 4.5, 2.0), (4.0, 6.0, 4.5, 15.0))
    assert ways(*closed).way(start, goal) is None
    assert ways(*narrow).way(start, goal) is None
    assert ways(*wide).way(start, goal) is not None


def test_a_goal_in_the_band_moves_out_of_it_and_one_deep_in_a_block_is_refused() -> None:
    found = ways((4.0, 0.0, 14.0, 10.0))
    start = np.array([-5.0, 0.0])
    way = found.way(start, np.array([3.6, 5.0]))
    assert way is not None
    assert found.clearance(way[-1]) >= BAND
    assert abs(way[-1][0] - 3.6) < 1.0
    assert found.way(start, np.array([9.0, 5.0])) is None


@pytest.mark.parametrize(("point", "away"), [((3.4, 5.0), (-1.0, 0.0)), ((9.0, -0.6), (0.0, -1.0))])
def test_inside_of_the_band_it_retreats_perpendicularly_to_the_wall(
    point: tuple[float, float], away: tuple[float, float]
) -> None:
    found = ways((4.0, 0.0, 14.0, 10.0))
    retreat = found.retreat(np.array(point))
    assert retreat is not None
    assert retreat.direction @ np.array(away) > math.cos(math.radians(15.0))
    assert retreat.clearance < BAND
    out = np.array(point) + (BAND + CELL - retreat.clearance + 0.25) * retreat.direction
    assert found.retreat(out) is None


def test_from_a_cell_that_has_become_occupied_it_finds_out() -> None:
    found = ways((4.0, 0.0, 4.6, 10.0))
    retreat = found.retreat(np.array([4.1, 5.0]))
    assert retreat is not None
    assert abs(retreat.direction[0]) > 0.99


def test_the_grid_grows_until_a_far_goal_and_a_way_around_fit() -> None:
    grid = walled((4.0, -5.0, 4.5, 14.9))
    cells = np.where(grid, 100, 0).astype(np.int8)
    found = ClearanceGrid.around(cells, CORNER, CELL, BAND, np.array([[-5.0, 0.0], [60.0, 40.0]]))
    way = found.way(np.array([-5.0, 0.0]), np.array([60.0, 40.0]))
    assert way is not None
    assert np.allclose(way[-1], [60.0, 40.0])
    # what was known is where it was
    assert found.clearance(np.array([4.2, 3.0])) == 0.0
    assert found.clearance(np.array([3.1, 3.0])) == pytest.approx(1.0, abs=2 * CELL)


def test_a_longer_way_that_is_known_to_be_free_is_preferred_to_one_through_the_unknown() -> None:
    """A street of 18 m to the right and then up is known; the straight way of 26 m leads through unknown cells."""
    cells = np.full((120, 80), -1, np.int8)
    street = ClearanceGrid(cells == 100, CORNER, CELL, BAND)
    low, high = street.cell_of(np.array([-8.0, -4.0])), street.cell_of(np.array([17.0, 13.0]))
    cells[low[0] : high[0], low[1] : low[1] + 16] = 0
    cells[high[0] - 16 : high[0], low[1] : high[1]] = 0
    found = ClearanceGrid.around(cells, CORNER, CELL, BAND, np.zeros((1, 2)))
    start, goal = np.array([-6.0, -2.0]), np.array([15.0, 12.0])
    way = found.way(start, goal)
    assert way is not None
    along = np.concatenate([np.linspace(a, b, 50) for a, b in pairwise(way)])
    # a line may cut the corner of a cell between the positions where it was looked at
    assert np.mean([found.unknown[tuple(found.cell_of(point))] for point in along]) < 0.03


def test_walls_are_found_as_lines_in_any_direction() -> None:
    grid = np.zeros((200, 200), np.bool_)
    t = np.linspace(0.0, 1.0, 400)
    wanted = [((20, 30), (20, 120)), ((30, 30), (150, 30)), ((60, 60), (140, 120))]
    for a, b in wanted:
        cells = np.rint(np.array(a) + t[:, None] * (np.array(b) - np.array(a))).astype(int)
        grid[cells[:, 0], cells[:, 1]] = True
    walls, belongs = segments(grid, 0.2, LineSettings())
    assert (belongs & grid).sum() > 0.97 * grid.sum()
    lengths = np.hypot(walls[:, 2] - walls[:, 0], walls[:, 3] - walls[:, 1])
    longest = np.sort(lengths)[-3:]
    assert np.allclose(longest, sorted(math.dist(a, b) for a, b in wanted), atol=8.0)


def test_scattered_false_cells_go_and_walls_corners_and_sure_cells_stay() -> None:
    evidence = np.full((150, 150), -20, np.int8)
    evidence[20, 20:100] = evidence[20:100, 20] = 40
    walls = evidence > 0
    rng = np.random.default_rng(3)
    false = np.unique(rng.integers(30, 140, (40, 2)), axis=0)
    evidence[false[:, 0], false[:, 1]] = 24
    evidence[120, 10] = 100
    kept, found = without_false_cells(evidence, 24, 0.2, LineSettings())
    assert kept[walls].all()
    assert kept[120, 10]
    assert kept[false[:, 0], false[:, 1]].sum() <= 2
    assert len(found) >= 2


def test_an_empty_map_has_no_lines() -> None:
    kept, found = without_false_cells(np.zeros((10, 10), np.int8), 24, 0.2, LineSettings())
    assert not kept.any()
    assert found.shape == (0, 4)
