"""The house: rooms enough, and every one of them reached from the origin through openings of a metre and more."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from model_rays import cast, triangles
from scipy import ndimage

from skyloop.world.semantics import CLASS_ID
from skyloop.world.worlds.house import House

CELL = 0.1
SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.slow("more seeds")) for seed in range(2, 10))]


@cache
def built(seed: int) -> tuple[House, np.ndarray, np.ndarray]:
    """The house, its triangles and their instance numbers."""
    world = House(seed)
    return world, *triangles(world.model)


def occupied(corners: np.ndarray, heights: tuple[float, ...]) -> np.ndarray:
    """(n, n) cells of 0.1 m over ±21 m that a triangle crosses at one of the heights."""
    grid = np.zeros((420, 420), bool)
    for height in heights:
        above = corners[..., 2] > height
        cut = above.any(axis=1) & ~above.all(axis=1)
        ends = []
        for a, b in ((0, 1), (1, 2), (2, 0)):
            p, q = corners[cut, a], corners[cut, b]
            share = (height - p[:, 2]) / np.where(p[:, 2] == q[:, 2], np.inf, q[:, 2] - p[:, 2])
            crossing = (p[:, 2] > height) != (q[:, 2] > height)
            ends.append(np.where(crossing[:, None], p[:, :2] + share[:, None] * (q - p)[:, :2], np.nan))
        ends_xy = np.array(ends)
        # two of a cut triangle's three sides are crossed
        crossed = np.argsort(np.isnan(ends_xy[..., 0]), axis=0, kind="stable")[:2]
        first, last = ends_xy[crossed, np.arange(ends_xy.shape[1])]
        length = np.linalg.norm(last - first, axis=1)
        for mine, steps in ((length < 1.0, 12), (length >= 1.0, 250)):
            for s in np.linspace(0.0, 1.0, steps):
                at = first[mine] + s * (last - first)[mine]
                index = np.floor((at + 21.0) / CELL).astype(int)
                grid[index[:, 0].clip(0, 419), index[:, 1].clip(0, 419)] = True
    return grid


def reached(blocked: np.ndarray, radius: float) -> np.ndarray:
    """Cells to which a disc of this radius can move from the origin."""
    distance = ndimage.distance_transform_edt(~blocked) * CELL
    labels, _ = ndimage.label(distance > radius)
    return np.asarray(labels == labels[210, 210]) & (labels[210, 210] > 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_room_is_reached_through_openings_of_a_metre(seed: int) -> None:
    world, corners, objects = built(seed)
    classes = np.array([instance.class_id for instance in world.model.objects])[objects]
    assert len(world.plan.rooms) >= 8
    walls = np.isin(classes, [CLASS_ID["wall"], CLASS_ID["door"], CLASS_ID["window"]])
    bare = reached(occupied(corners[walls], (0.3, 1.5)), 0.45)
    furnished = reached(occupied(corners, (0.1, 0.3, 0.7, 1.0, 1.5)), 0.3)
    for (x0, y0, x1, y1), kind in zip(world.plan.rooms, world.kinds, strict=True):
        inside = np.s_[int((x0 + 21) / CELL) : int((x1 + 21) / CELL), int((y0 + 21) / CELL) : int((y1 + 21) / CELL)]
        assert bare[inside].mean() > 0.5, f"{kind} at {x0, y0} is cut off"
        assert furnished[inside].mean() > 0.2, f"{kind} at {x0, y0} is blocked by furniture"
    # and nobody gets out
    assert not bare[:8].any()
    assert not bare[-8:].any()


@pytest.mark.parametrize("seed", SEEDS)
def test_walls_doors_and_size(seed: int) -> None:
    world, corners, objects = built(seed)
    classes = np.array([instance.class_id for instance in world.model.objects])[objects]
    walls = corners[classes == CLASS_ID["wall"]].reshape(-1, 3)
    np.testing.assert_allclose(walls.min(axis=0), [-20.075, -20.075, 0.0], atol=1e-5)
    np.testing.assert_allclose(walls.max(axis=0), [20.075, 20.075, 2.5], atol=1e-5)
    names = [instance.name for instance in world.model.objects]
    assert 24 <= sum(name.startswith("wall ") for name in names) <= 48
    assert names.count("front door") == 1
    risen = corners[corners[..., 2].max(axis=1) > 0.03]
    assert np.linalg.norm(risen[..., :2].reshape(-1, 2), axis=1).min() > 3.0
    for segment in world.plan.segments:
        if segment.door is not None:
            assert segment.door.end - segment.door.start - 2 * 0.015 >= 1.0


def test_a_wall_is_15_cm_thick_and_its_door_goes_through() -> None:
    world, corners, _ = built(3)
    segment = next(s for s in world.plan.segments if s.door and s.line.across == 0)
    assert segment.door is not None
    along = segment.start + 0.5 * (segment.door.start + segment.door.end)
    at = segment.line.at
    through, _ = cast(corners, [[at - 0.5, along, 1.0]], [[1.0, 0.0, 0.0]])
    assert through[0] > 1.0
    over, _ = cast(corners, [[at - 0.5, along, 2.45], [at + 0.5, along, 2.45]], [[1.0, 0, 0], [-1.0, 0, 0]])
    np.testing.assert_allclose(over, 0.5 - 0.075, atol=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_furniture_of_many_kinds_stands_in_it(seed: int) -> None:
    names = {instance.name for instance in built(seed)[0].model.objects}
    assert {"bed", "chair", "table", "cupboard", "bookshelf", "door", "window", "picture"} <= names
