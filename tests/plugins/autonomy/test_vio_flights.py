"""The flights for localisation: free ways chosen by the seed, and a dry flight that finds collisions."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from skyloop.sim.scenario import load_scenario
from skyloop.world.free_space import FreeSpace, way_length
from skyloop.world.mesh import box
from skyloop.world.model import Model, Shape
from skyloop.world.worlds.room import BOXES, WALLS
from skyloop_autonomy.evaluation.vio_flights import FLIGHTS, checked_flight, corners_of, dry_flight, flight_scenario
from skyloop_client.errors import DatasetError, ScenarioError, UnknownNameError

pytestmark = pytest.mark.flights

SHORT = FLIGHTS["room"].changed(length=8.0)


def gap_to_furniture(point: np.ndarray) -> float:
    """m from a point of the room to the nearest wall or box, from their positions in the world's file."""
    things = [(x, y, yaw, length, width) for length, width, x, y, yaw, _, _ in WALLS]
    things += [(x, y, 0.0, 1.0, 1.0) for x, y in BOXES]
    gaps = []
    for x, y, yaw, length, width in things:
        dx, dy = point[0] - x, point[1] - y
        along = abs(dx * math.cos(yaw) + dy * math.sin(yaw)) - 0.5 * length
        across = abs(dy * math.cos(yaw) - dx * math.sin(yaw)) - 0.5 * width
        gaps.append(math.hypot(max(along, 0.0), max(across, 0.0)))
    return min(gaps)


@pytest.mark.parametrize("seed", [1, 2, 7])
def test_a_way_through_the_room_keeps_away_from_walls_and_boxes(seed: int) -> None:
    corners = corners_of(flight_scenario("room", seed))
    assert way_length(corners) == pytest.approx(82.0, rel=0.04)
    np.testing.assert_array_equal(corners[0], corners[-1])
    for start, end in pairwise(corners):
        for share in np.linspace(0.0, 1.0, 40):
            assert gap_to_furniture(start + share * (end - start)) > 0.69
    assert np.ptp(corners[:, 0]) > 8.0 and np.ptp(corners[:, 1]) > 8.0, "it sees most of the room"


def test_the_seed_chooses_the_way_and_the_first_one_is_shipped() -> None:
    first, again, other = (corners_of(flight_scenario("room", seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert first.shape != other.shape or np.abs(first - other).max() > 1.0
    np.testing.assert_array_equal(first, corners_of(load_scenario("room-vio")))
    with pytest.raises(UnknownNameError, match="room"):
        flight_scenario("rom", 1)


def test_ways_go_around_a_wall_and_not_where_none_leads() -> None:
    model = Model()
    wall = box((0.2, 8.0, 3.0), centre=(0.0, 0.0, 1.5))
    model.place(Shape("wall", (wall,)), (0.0, -1.0, 0.0), is_a="wall", name="wall")
    model.freeze()
    space = FreeSpace(model, ((-5.0, -5.0), (5.0, 5.0)), (0.5, 2.0), 0.5)
    start, goal = np.array([-3.0, -2.0]), np.array([3.0, -2.0])
    way = space.ways_from(start).to(goal)
    assert len(way) >= 3
    assert way[:, 1].max() > 3.4, "around the wall's northern end, 3 m north"
    assert min(space.clearance_along(a, b) for a, b in pairwise(way)) >= 0.5
    with pytest.raises(ScenarioError, match=r"0\.5 m are asked for"):
        space.ways_from(np.array([0.1, 0.0]))
    with pytest.raises(ScenarioError, match="no path leads"):
        space.ways_from(start).to(np.array([0.1, 0.0]))


def test_a_dry_flight_lands_where_it_took_off() -> None:
    scenario, flown = checked_flight(SHORT, 1)
    assert flown.trouble == ""
    assert flown.fastest < 1.1
    # up, around and down
    assert flown.length == pytest.approx(way_length(corners_of(scenario)) + 3.0, abs=1.0)
    assert flown.off_start < 0.1


def test_a_way_through_a_box_is_found_out() -> None:
    data = flight_scenario(SHORT, 1).model_dump(mode="json")
    x, y = BOXES[4]
    points = [[0, 0, 1.5], [x, y, 1.5], [0, 0, 1.5]]
    data["vehicles"][0]["pilot"]["trajectory"] = {"kind": "legs", "speed": 1.0, "points": points}
    data["duration"] = 20.0
    assert "box" in dry_flight(type(load_scenario("room-vio"))(**data)).trouble


def test_a_world_without_room_is_refused() -> None:
    narrow = SHORT.changed(**{"space.clearance": 2.5})
    with pytest.raises((ScenarioError, DatasetError), match="around it"):
        checked_flight(narrow, 1)
