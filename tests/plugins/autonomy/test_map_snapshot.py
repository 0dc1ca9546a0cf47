"""The map from above, and its message."""

from __future__ import annotations

import numpy as np
import pytest

from skyloop.sim.published_records import taken
from skyloop_autonomy.mapping import projected
from skyloop_autonomy.mapping.counting import OCCUPIED
from skyloop_autonomy.mapping.map_snapshot import GroundGrid, MapSnapshot
from skyloop_client.errors import ScenarioError

ORIGIN = np.array([-1.0, 2.0, 0.5])


def voxels() -> np.ndarray:
    states = np.full((3, 4, 5), -1, np.int8)
    states[0, 0] = 0
    states[1, 2, 4] = 100
    states[1, 2, 0] = 0
    return states


def test_any_occupied_voxel_makes_a_cell_occupied_and_then_any_free_one_free() -> None:
    grid = projected(voxels(), ORIGIN, 0.2)
    assert grid.occupied.sum() == 1 and grid.occupied[1, 2]
    assert grid.free.sum() == 1 and grid.free[0, 0]
    assert grid.states[2, 3] == -1 and grid.origin == pytest.approx([-1.0, 2.0]) and grid.cell == 0.2


def test_only_the_layers_between_the_heights_count() -> None:
    low = projected(voxels(), ORIGIN, 0.2, heights=(0.5, 0.9))
    assert not low.occupied.any() and low.free[1, 2] and low.height == pytest.approx(0.7)
    assert projected(voxels(), ORIGIN, 0.2, heights=(1.31, 9.0)).occupied[1, 2]
    with pytest.raises(ScenarioError, match="no voxel between 5 and 6 m"):
        projected(voxels(), ORIGIN, 0.2, heights=(5.0, 6.0))


def test_the_message_has_rows_along_north() -> None:
    message = projected(voxels(), ORIGIN, 0.2).message(9, ORIGIN)
    assert message.cells.shape == (4, 3) and message.cells[2, 1] == 100
    assert message.origin == pytest.approx([-1.0, 2.0, 1.0]) and message.t_ns == 9


def test_a_map_too_large_for_a_record_is_sent_as_the_part_around_the_body() -> None:
    states = np.zeros((400, 300, 60), np.int8)
    states[390, 10, 30] = OCCUPIED
    body = np.array([77.0, 3.0, 6.0])
    ground = GroundGrid(states.max(axis=2), np.zeros(2), 0.2)
    levels = states.astype(np.float32)
    snapshot = MapSnapshot(
        1, body, states, np.zeros(3), 0.2, ground, levels, levels.max(axis=2), body[None].astype(np.float32)
    )
    sent = taken(snapshot.voxels_message(), 2)
    assert sent.voxels.shape == (258, 258, 60)
    index = np.round((np.array([390, 10, 30]) * 0.2 - sent.origin) / 0.2).astype(int)
    assert sent.voxels[tuple(index)] == OCCUPIED
    assert taken(snapshot.ground_message(), 2).cells.shape == (300, 400)
    assert len(taken(snapshot.distance_message(6.0), 2).points) <= 200_000
