"""The corridor: 8 by 40 m, closed all round, free along its axis, open above."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from model_rays import cast, triangles

from skyloop.world.semantics import CLASS_ID
from skyloop.world.worlds.corridor import Corridor

SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.slow("more seeds")) for seed in range(2, 10))]


def test_it_is_8_by_40_m_between_its_walls() -> None:
    corners, _ = triangles(Corridor(1).model)
    ways = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]])
    # over everything that hangs or stands at the walls; pillars leave the axis free
    distances, _ = cast(corners, np.tile([0.0, 0.0, 2.5], (4, 1)), ways)
    np.testing.assert_allclose(distances, [36.8, 3.2, 4.0, 4.0], atol=1e-4)


@pytest.mark.parametrize("seed", SEEDS)
def test_it_is_closed_all_round_and_open_above(seed: int) -> None:
    world = Corridor(seed)
    corners, _ = triangles(world.model)
    random = np.random.default_rng(seed)
    heading = random.uniform(0.0, 2.0 * np.pi, 150)
    level = np.stack([np.cos(heading), np.sin(heading), 0.0 * heading], axis=1)
    origins = np.column_stack(
        [random.uniform(-2.5, 2.5, 150), random.uniform(-2.5, 2.5, 150), random.uniform(0.02, 2.75, 150)]
    )
    distances, _ = cast(corners, origins, level)
    ends = origins + distances[:, None] * level
    assert np.isfinite(distances).all()
    assert (np.abs(ends[:, 1]) <= 4.3).all()
    assert (ends[:, 0] <= 37.1).all()
    assert np.isinf(cast(corners, [[0.0, 0.0, 1.0], [30.0, 3.0, 1.6]], [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])[0]).all()
    # where vehicles take off it is free, and doors are there
    risen = corners[corners[..., 2].max(axis=1) > 1e-3]
    assert np.linalg.norm(risen[..., :2].reshape(-1, 2), axis=1).min() > 3.0
    classes = [instance.class_id for instance in world.model.objects if instance.rows]
    assert classes.count(CLASS_ID["door"]) >= 6
    assert classes.count(CLASS_ID["wall"]) >= 12


@pytest.mark.parametrize(
    ("near", "eye", "front"),
    [
        ([8.0, 4.0, 1.6], [8.0, 1.0, 1.6], [8.0, 3.96, 1.6]),
        ([8.0, -3.0, 1.6], [8.0, -1.0, 1.6], [8.0, -3.96, 1.6]),
        ([36.0, 1.0, 1.2], [30.0, 1.0, 1.2], [36.76, 1.0, 1.2]),
        ([-2.5, 0.0, 1.2], [0.0, 0.0, 1.2], [-3.16, 0.0, 1.2]),
    ],
)
@pytest.mark.parametrize("seed", SEEDS[:3])
def test_an_anchor_hangs_on_the_nearest_wall_in_plain_sight(
    seed: int, near: list[float], eye: list[float], front: list[float]
) -> None:
    world = Corridor(seed, anchor=near, pillars=0)
    corners, _ = triangles(world.model)
    # its four corners, a centimetre inside, are seen along the normal
    way = np.sign(np.round(np.subtract(front, eye), 6))
    across = np.array([-way[1], way[0], 0.0])
    places = [a * 0.24 * across + b * np.array([0.0, 0.0, 0.24]) for a in (-1, 1) for b in (-1, 1)]
    distances, _ = cast(corners, np.array(eye) + places, np.tile(way, (4, 1)))
    np.testing.assert_allclose(distances, np.linalg.norm(np.subtract(front, eye)), atol=1e-4)


def test_an_anchor_moves_nothing() -> None:
    """What would hide it is left out; the rest stays as it was."""
    without = {t.name: p for t, p in placed(Corridor(5))}
    with_one = {t.name: p for t, p in placed(Corridor(5, anchor=[8.0, 4.0, 1.6]))}
    for name in set(without) & set(with_one) - {"notice board", "picture", "bench", "carton", "plant"}:
        np.testing.assert_array_equal(without[name], with_one[name])


def placed(world: Corridor) -> list[tuple[Any, np.ndarray]]:
    world.model.freeze()
    return [
        (instance, world.model.standing_poses[instance.rows[0]]) for instance in world.model.objects if instance.rows
    ]
