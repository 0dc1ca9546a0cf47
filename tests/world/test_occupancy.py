"""Occupied voxels against shapes whose overlap with a cube is known by formula."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from skyloop.world.ground import Ground, place_terrain
from skyloop.world.mesh import Mesh, box, cylinder, ellipsoid, merged, mesh_of, quad
from skyloop.world.model import Model, Shape
from skyloop.world.occupancy import BOTTOMLESS, CLOSED, OPEN, closure, occupancy
from skyloop_client.errors import ScenarioError


@dataclass
class Drifting:
    n_rows: int = 1

    def poses(self, t: float) -> np.ndarray:
        return np.column_stack([Rotation.from_euler("z", t).as_matrix(), [t, 0.0, 0.0]])[None]


def model_with(mesh: Mesh, position=(0.0, 0.0, 0.0), **placed) -> Model:
    model = Model()
    model.place(Shape("test", (mesh,)), position, is_a="block", **placed)
    model.freeze()
    return model


def centres(lower, size, voxel: float) -> np.ndarray:
    return np.stack(
        np.meshgrid(*(low + voxel * (np.arange(n) + 0.5) for low, n in zip(lower, size, strict=True)), indexing="ij"),
        -1,
    )


def test_a_box_fills_exactly_the_voxels_it_overlaps() -> None:
    half = np.array([1.03, 0.71, 0.42])
    grid = occupancy(model_with(box(tuple(2 * half))), None, (-2, -2, -1), (2, 2, 1), 0.1)
    assert grid.shape == (40, 40, 20)
    outside = np.maximum(np.abs(centres((-2, -2, -1), grid.shape, 0.1)) - half, 0.0).max(axis=-1)
    assert np.array_equal(grid, outside < 0.05)


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (1.0, -1.0, 1.0)])
def test_a_turned_box_by_separating_axes_of_two_boxes(scale) -> None:
    turn = Rotation.from_euler("ZYX", [0.5, 0.3, -0.7]).as_matrix()
    half, voxel = np.array([0.9, 0.5, 0.3]), 0.1
    model = model_with(box(tuple(2 * half)), (0.1, -0.2, 0.05), rotation=turn, scale=scale)
    grid = occupancy(model, None, (-1.5, -1.5, -1.5), (1.5, 1.5, 1.5), voxel)
    away = centres((-1.5,) * 3, grid.shape, voxel) - [0.1, -0.2, 0.05]
    axes = [*np.eye(3), *turn.T, *(np.cross(a, b) for a in np.eye(3) for b in turn.T)]
    expected = np.ones(grid.shape, bool)
    for axis in axes:
        reach = 0.5 * voxel * np.abs(axis).sum() + np.abs(axis @ turn) @ half
        expected &= np.abs(away @ axis) <= reach
    assert np.array_equal(grid, expected)
    assert 500 < grid.sum() < 4000


def test_a_sphere_is_filled_within_its_facets() -> None:
    radius, voxel = 1.0, 0.05
    grid = occupancy(model_with(ellipsoid(radius, rings=90, n=180)), None, (-1.2,) * 3, (1.2,) * 3, voxel)
    at = np.abs(centres((-1.2,) * 3, grid.shape, voxel))
    nearest = np.linalg.norm(np.maximum(at - 0.5 * voxel, 0.0), axis=-1)
    assert not grid[nearest > radius + 1e-6].any()
    # the facets lie at most r(1 - cos 2°) inside the sphere
    assert grid[nearest < radius * np.cos(np.pi / 90) - 1e-3].all()


def test_a_sheet_takes_the_voxels_it_passes_and_no_others() -> None:
    """A plane's voxels are those whose centre is within half the voxel's reach along its normal."""
    turn = Rotation.from_euler("ZYX", [0.2, 0.6, -0.3]).as_matrix()
    sheet = quad((-9, -9, 0), (9, -9, 0), (9, 9, 0), (-9, 9, 0))
    grid = occupancy(model_with(sheet, (0.013, 0.0, 0.0), rotation=turn), None, (-1, -1, -1), (1, 1, 1), 0.1)
    along = np.abs((centres((-1,) * 3, grid.shape, 0.1) - [0.013, 0.0, 0.0]) @ turn[:, 2])
    assert np.array_equal(grid, along <= 0.05 * np.abs(turn[:, 2]).sum())


def test_a_wall_between_two_voxels_takes_both() -> None:
    wall = quad((0.5, -5, -5), (0.5, 5, -5), (0.5, 5, 5), (0.5, -5, 5))
    grid = occupancy(model_with(wall), None, (0, 0, 0), (1, 1, 1), 0.1)
    assert np.flatnonzero(grid.any(axis=(1, 2))).tolist() == [4, 5]


def test_below_the_terrain_is_taken_and_above_is_free() -> None:
    ground = Ground.from_function(lambda x, y: 1.5 * np.sin(0.4 * x) + 0.3 * y, (-10, -10, 10, 10), 0.5)
    model = Model()
    place_terrain(model, ground)
    model.freeze()
    voxel = 0.25
    grid = occupancy(model, None, (-5, -5, -6), (5, 5, 6), voxel)
    at = centres((-5, -5, -6), grid.shape, voxel)
    height = np.array([[ground.at(*at[i, j, 0, :2])[0] for j in range(grid.shape[1])] for i in range(grid.shape[0])])
    above = at[..., 2] - height[..., None]
    # slopes are at most 0.6 and 0.3, and triangles differ from the bilinear ground by under 1 cm
    reach = 0.5 * voxel * (1.0 + 0.6 + 0.3)
    assert grid[above < -0.01].all()
    assert not grid[above > reach + 0.01].any()
    assert grid[np.abs(above) < 0.5 * voxel - 0.01].all()
    deep = occupancy(model, None, (-5, -5, -50), (5, 5, -40), 1.0)
    assert deep.all()


def test_a_step_in_the_ground_fills_to_its_top_only() -> None:
    """Column centres fall into the very plane of an upright ground face."""
    low, high = (
        quad((-5, -5, 0), (0.25, -5, 0), (0.25, 5, 0), (-5, 5, 0)),
        quad((0.25, -5, 1), (5, -5, 1), (5, 5, 1), (0.25, 5, 1)),
    )
    riser = quad((0.25, 5, 0), (0.25, -5, 0), (0.25, -5, 1), (0.25, 5, 1))
    model = model_with(merged([low, high, riser]), solid=False)
    grid = occupancy(model, None, (-2, -2, -1.9), (2, 2, 3.6), 0.5)
    z = -1.9 + 0.5 * (np.arange(11) + 0.5)
    assert np.array_equal(grid[0, 3], z < 0.25)
    assert np.array_equal(grid[7, 3], z < 1.25)
    assert np.array_equal(grid[4], np.tile(z < 1.25, (8, 1)))


def test_inside_and_not_inside() -> None:
    size, region = (2.0, 2.0, 2.0), ((-2, -2, -2), (2, 2, 2), 0.25)

    def middle(mesh: Mesh, **placed) -> bool:
        return bool(occupancy(model_with(mesh, **placed), None, *region)[8, 8, 8])

    assert closure(box(size)) == CLOSED and middle(box(size))
    assert closure(box(size, bottom=False)) == BOTTOMLESS and middle(box(size, bottom=False))
    # lying on its side it is an open box
    assert not middle(box(size, bottom=False), rotation=Rotation.from_euler("x", 1.57).as_matrix())
    lidless = box(size, bottom=False).moved(rotation=Rotation.from_euler("x", np.pi).as_matrix())
    assert closure(lidless) == OPEN and not middle(lidless)
    # a room is seen from inside
    room = replace(box(size), faces=box(size).faces[:, ::-1])
    assert closure(room) == CLOSED and not middle(room)
    assert middle(cylinder(1.0, 2.0).moved((0, 0, -1)))


def test_a_bottomless_house_is_filled_down_to_its_foot_only() -> None:
    house = box((2.1, 2.1, 2.1), centre=(0, 0, 1.05), bottom=False)
    grid = occupancy(model_with(house, (0.0, 0.0, 0.5)), None, (-2, -2, -2), (2, 2, 4), 0.25)
    inside = grid[8, 8]
    z = -2 + 0.25 * (np.arange(24) + 0.5)
    assert np.array_equal(inside, (z > 0.5) & (z < 2.75))


def test_leaves_do_not_fill_what_is_between_them() -> None:
    """Thousands of loose triangles, up and down: only voxels that one of them touches."""
    rng = np.random.default_rng(2)
    corners = rng.uniform(-2, 2, (300, 1, 3)) + rng.uniform(-0.05, 0.05, (300, 3, 3))
    leaves = mesh_of(corners.reshape(-1, 3), np.arange(900).reshape(-1, 3))
    grid = occupancy(model_with(leaves), None, (-2, -2, -2), (2, 2, 2), 0.1)
    touched = np.zeros_like(grid)
    # every point of a triangle lies within 0.1 m of its corners, so within one voxel of theirs
    for i, j, k in np.clip(np.floor((corners.reshape(-1, 3) + 2) / 0.1).astype(int), 0, 39):
        touched[max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2, max(k - 1, 0) : k + 2] = True
        assert grid[i, j, k] or not (np.abs(corners) < 2).all()
    assert not grid[~touched].any() and 300 < grid.sum() < 3000


def test_movers_are_where_the_motion_says() -> None:
    model = Model()
    model.add_mover(Drifting(), [Shape("test", (box((0.98, 0.48, 0.48)),))], is_a="car")
    model.freeze()
    region = ((-1, -1, -1), (5, 1, 1), 0.1)
    for t in (0.0, 2.0, 3.5):
        grid = occupancy(model, model.motion(round(t * 1e9)), *region)
        at = centres(region[0], grid.shape, 0.1) - [t, 0.0, 0.0]
        local = np.abs(at @ Rotation.from_euler("z", t).as_matrix()) - [0.49, 0.24, 0.24]
        assert grid[(local < 0.0).all(axis=-1)].all()
        assert not grid[(local > 0.0501 * np.sqrt(2.0)).any(axis=-1)].any()
    assert not occupancy(model, None, *region).any()


def test_aligned_boxes_leave_no_streaks() -> None:
    """Column centres fall exactly on edges and diagonals of the faces."""
    grid = occupancy(model_with(box((2.0, 2.0, 2.0))), None, (-2.125, -2.125, -2.125), (2.125, 2.125, 2.125), 0.25)
    z = np.abs(-2.125 + 0.25 * (np.arange(17) + 0.5)) <= 1.0 + 1e-9
    assert np.array_equal(grid, z[:, None, None] & z[None, :, None] & z[None, None, :])


def test_bad_regions_are_refused() -> None:
    model = model_with(box((1, 1, 1)))
    with pytest.raises(ScenarioError, match="give lower < upper"):
        occupancy(model, None, (0, 0, 0), (1, -1, 1), 0.1)
    with pytest.raises(ScenarioError, match="take larger voxels"):
        occupancy(model, None, (0, 0, 0), (1000, 1000, 1000), 0.1)
