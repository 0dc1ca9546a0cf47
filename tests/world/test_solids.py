"""Segments against triangles in grids, what is near, and movers within reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyloop.world.mesh import box, ellipsoid, merged, mesh_of, quad
from skyloop.world.model import Model, Shape
from skyloop.world.solid_grids import anything_near, cast_segment
from skyloop.world.solids import Solids
from skyloop_client.messages import Array


def solids_of(*placed: tuple[Any, Any], **options: Any) -> Solids:
    model = Model()
    for mesh, position in placed:
        model.place(Shape("shape", (mesh,)), position, is_a="block", **options)
    model.freeze()
    return Solids(model)


def cast(solids: Solids, a: Any, b: Any, grid: int = 0) -> tuple[float, int]:
    f, triangle = cast_segment(solids.arrays, grid, tuple(map(float, a)), tuple(map(float, b)))
    return f, int(triangle)


def scattered(rng: np.random.Generator, n: int, extent: float, size: float) -> Array:
    """(n, 3, 3) corners."""
    return rng.uniform(-extent, extent, (n, 1, 3)) + rng.normal(0.0, size, (n, 3, 3))


def first_crossing(triangles: Array, a: Array, b: Array) -> tuple[float, int]:
    """Of all triangles, by solving a + f (b - a) = p + u e + v g for each."""
    p, e, g = triangles[:, 0], triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    system = np.stack([np.broadcast_to(a - b, p.shape), e, g], axis=2)
    f, u, v = np.linalg.solve(system, (a - p)[..., None])[..., 0].T
    hit = (f >= 0) & (f <= 1) & (u >= 0) & (v >= 0) & (u + v <= 1)
    return (float(f[hit].min()), int(np.flatnonzero(hit)[f[hit].argmin()])) if hit.any() else (2.0, -1)


def triangles_of(corners: Array) -> Any:
    return mesh_of(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


@pytest.mark.parametrize(("extent", "size"), [(1.0, 0.1), (20.0, 3.0), (8.0, 6.0)])
def test_agrees_with_trying_every_triangle(extent: float, size: float) -> None:
    rng = np.random.default_rng(1)
    corners = scattered(rng, 400, extent, size).astype(np.float32).astype(float)
    solids = solids_of((triangles_of(corners), (0.0, 0.0, 0.0)))
    hits = 0
    for _ in range(500):
        a = rng.uniform(-extent, extent, 3)
        b = a + rng.normal(0.0, size, 3)
        expected = first_crossing(corners, a, b)
        f, triangle = cast(solids, a, b)
        assert triangle == expected[1]
        assert f == pytest.approx(expected[0], abs=1e-6)
        hits += triangle >= 0
    assert hits > 20


def test_both_sides_stop_and_seams_are_closed() -> None:
    ball = solids_of((ellipsoid(1.0, rings=8, n=12), (3.0, 0.0, 0.0)))
    rng = np.random.default_rng(2)
    for direction in rng.normal(size=(200, 3)):
        out = 1.2 * direction / np.linalg.norm(direction)
        assert 0.7 < cast(ball, (3.0, 0.0, 0.0), out + (3.0, 0.0, 0.0))[0] < 1.0  # noqa: RUF005
        assert cast(ball, out + (3.0, 0.0, 0.0), (3.0, 0.0, 0.0))[0] < 0.3  # noqa: RUF005
    # through the corners and edges of a box
    block = solids_of((box((2.0, 2.0, 2.0)), (0.0, 0.0, 0.0)))
    for x in (-1.0, 0.0, 1.0):
        for y in (-1.0, 0.0, 0.3, 1.0):
            assert cast(block, (x, y, 2.0), (x, y, 0.0))[0] == pytest.approx(0.5, abs=1e-6)


@given(st.integers(0, 10_000), st.floats(0.05, 3.0))
@settings(max_examples=60, deadline=None)
def test_whatever_can_be_met_is_near(seed: int, reach: float) -> None:
    rng = np.random.default_rng(seed)
    objects = merged([box((0.3, 0.3, 0.3)).moved(rng.uniform(-12, 12, 3)) for _ in range(4)])
    solids = solids_of((objects, (5.0, 0.0, 2.0)))
    place: Any = rng.uniform(-15, 20, 3)
    corners = objects.positions[objects.faces].reshape(-1, 3) + (5.0, 0.0, 2.0)  # noqa: RUF005
    if np.abs(corners - place).max(axis=1).min() < reach:
        assert anything_near(solids.arrays, place[0], place[1], place[2], reach)
    # a cell of half a metre is as fine as it gets here
    if np.linalg.norm(corners - place, axis=1).min() > np.sqrt(3.0) * (reach + 0.5) + 0.6:
        assert not anything_near(solids.arrays, place[0], place[1], place[2], reach)


def test_rows_scales_and_things_that_are_not_solid() -> None:
    model = Model()
    cube = Shape("cube", (box((1.0, 1.0, 1.0)),))
    model.place(cube, (0.0, 0.0, 0.0), is_a="block", solid=False)
    number = model.place(cube, (5.0, 0.0, 0.0), is_a="rock", name="the rock", scale=(4.0, 1.0, 1.0), yaw=np.pi / 2)
    model.freeze()
    solids = Solids(model)
    assert cast(solids, (-1.0, 0.0, 0.0), (1.0, 0.0, 0.0))[1] == -1
    f, triangle = cast(solids, (5.0, 3.0, 0.0), (5.0, 1.0, 0.0))
    assert f == pytest.approx(0.5)
    assert solids.arrays.rows[triangle] == 1
    assert solids.instance(1, (5.0, 2.0, 0.0)) == (number, "the rock")
    assert solids.instance(-1, (9.0, 9.0, 0.0)) == (0, "ground")


def test_the_ground_is_what_shows_it_there() -> None:
    """Of two levels the nearer; 0 where nothing shows it."""
    model = Model()
    tile = Shape("tile", (quad((0, 0, 0), (4, 0, 0), (4, 4, 0), (0, 4, 0)),))
    low, high = (model.place(tile, (0.0, 0.0, z), is_a="ground", name=f"at {z}", solid=False) for z in (0.0, 1.0))
    beside = model.place(tile, (4.0, 0.0, 0.5), is_a="ground", name="beside", solid=False)
    model.place(tile, (0.0, 0.0, 0.2), is_a="rock")
    model.freeze()
    solids = Solids(model)
    assert [solids.instance(-1, (1.0, 3.0, z))[0] for z in (-0.1, 0.4, 0.6)] == [low, low, high]
    assert solids.instance(-1, (5.0, 1.0, 0.0)) == (beside, "beside")
    assert solids.instance(-1, (5.0, -1.0, 0.0)) == (0, "ground")


def test_nothing_solid_at_all() -> None:
    model = Model()
    model.freeze()
    solids = Solids(model)
    assert not anything_near(solids.arrays, 0.0, 0.0, 0.0, 5.0)
    assert cast(solids, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))[1] == -1
    assert not solids.movers


class Circling:
    """Two parts on a circle of 10 m, a lap in 20 s."""

    n_rows = 2

    def __init__(self) -> None:
        self.asked = 0

    def poses(self, t: float) -> Array:
        self.asked += 1
        angle = 2.0 * np.pi * t / 20.0 + np.array([0.0, 0.05])
        poses = np.zeros((2, 3, 4))
        poses[:, :, :3] = np.eye(3)
        poses[:, 0, 3], poses[:, 1, 3] = 10.0 * np.cos(angle), 10.0 * np.sin(angle)
        return poses


def test_movers_are_asked_for_only_within_reach() -> None:
    model = Model()
    mover = Circling()
    model.add_mover(mover, [Shape("part", (box((0.5, 0.5, 0.5)),))] * 2, is_a="car")
    model.freeze()
    solids = Solids(model)
    period, reach = 0.01, np.array([0.5])
    for interval in range(2000):
        pose = mover.poses(interval * period)
        at_it, away = pose[:1, :, 3] + (0.3, 0.0, 0.0), np.zeros((1, 3))
        assert len(solids.moving(interval, period, at_it, reach)) == 2
        assert len(solids.moving(interval, period, away, reach)) == 0
    mover.asked = 0
    for interval in range(2000):
        solids.moving(interval, period, np.zeros((1, 3)), reach)
    # three looks per half second bound where it is
    assert mover.asked == 3 * 40
    [first, second] = solids.moving(7, period, np.array([[10.0, 0.3, 0.0]]), reach)
    np.testing.assert_array_equal(first["before"], mover.poses(0.07)[0])
    np.testing.assert_array_equal(second["after"], mover.poses(0.08)[1])
    assert first["row"] == 0
    assert second["row"] == 1


def test_a_large_world_stays_small_in_memory() -> None:
    """300 m by 300 m with 60 000 triangles in clumps: most of the space costs nothing."""
    rng = np.random.default_rng(3)
    clump = triangles_of(scattered(rng, 600, 1.5, 0.05) + (0.0, 0.0, 4.0))  # noqa: RUF005
    model, shape = Model(), Shape("clump", (clump,))
    for place in rng.uniform(-150, 150, (100, 2)):
        model.place(shape, (*place, 0.0), is_a="tree")
    model.freeze()
    arrays = Solids(model).arrays
    size = sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))
    assert len(arrays.triangles) == 60_000
    assert size < 12e6
