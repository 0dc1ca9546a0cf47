"""Rays against shapes whose distances are known by formula."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from skyloop.world.ground import Ground, place_terrain
from skyloop.world.materials import MATERIAL_ID
from skyloop.world.mesh import box, ellipsoid, mesh_of, quad
from skyloop.world.model import Model, Shape
from skyloop.world.rays import RayTracer


@dataclass
class Held:
    """A mover whose parts keep the poses given, each moving along `velocity`."""

    at: np.ndarray
    velocity: np.ndarray | tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def n_rows(self) -> int:
        return len(self.at)

    def poses(self, t: float) -> np.ndarray:
        moved = self.at.copy()
        moved[:, :, 3] += t * np.asarray(self.velocity)
        return moved


def pose(rotation: Rotation, position, scale: float = 1.0) -> np.ndarray:
    return np.column_stack([scale * rotation.as_matrix(), position])


def unit(vectors) -> np.ndarray:
    vectors = np.asarray(vectors, float)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def frozen(*shapes, **placed) -> Model:
    model = Model()
    for shape in shapes:
        model.place(shape, is_a="block", **placed)
    model.freeze()
    return model


def shape_of(mesh) -> Shape:
    return Shape("test", (mesh,))


def box_distance(origins, directions, half) -> np.ndarray:
    """To an axes-aligned box around the origin, from outside; inf: missed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (-half - origins) / directions, (half - origins) / directions
    enter, leave = np.minimum(a, b).max(axis=1), np.maximum(a, b).min(axis=1)
    return np.where((enter <= leave) & (leave >= 0.0), enter, np.inf)


def test_a_tilted_plane_is_met_within_a_millimetre_at_100_m() -> None:
    rng = np.random.default_rng(4)
    turn = Rotation.from_euler("ZYX", [0.3, 0.2, -0.4])
    wall = quad((-200, -200, 0), (200, -200, 0), (200, 200, 0), (-200, 200, 0), material="brick")
    model = frozen(shape_of(wall), position=(3.0, -2.0, 1.0), rotation=turn.as_matrix())
    normal = turn.apply([0.0, 0.0, 1.0])
    origins = np.array([3.0, -2.0, 1.0]) + 60.0 * normal + rng.uniform(-20, 20, (4000, 3))
    directions = unit(-normal + rng.normal(0, 0.5, (4000, 3)))
    expected = (np.array([3.0, -2.0, 1.0]) - origins) @ normal / (directions @ normal)
    reached = (expected > 0.0) & (expected < 100.0)
    hits = RayTracer(model).cast(origins[reached], directions[reached], 150.0, None)
    assert reached.sum() > 2000
    assert np.abs(hits.distance - expected[reached]).max() < 1e-3
    assert hits.normal == pytest.approx(np.tile(normal, (reached.sum(), 1)), abs=1e-5)
    assert (hits.material == MATERIAL_ID["brick"]).all() and (hits.row == 0).all()


def test_a_sphere_is_met_within_its_facets_error() -> None:
    rng = np.random.default_rng(4)
    radius, rings = 2.0, 750
    model = frozen(shape_of(ellipsoid(radius, rings=rings, n=300)), position=(0.0, 0.0, 0.0))
    fine = RayTracer(model)
    origins = 100.0 * unit(rng.normal(size=(2000, 3)))
    aims = 0.9 * unit(rng.normal(size=(2000, 3))) * radius
    aims[:, 2] *= 0.5
    directions = unit(aims - origins)
    along = np.einsum("ij,ij->i", -origins, directions)
    beside = np.sqrt(100.0**2 - along**2)
    near = beside < 0.8 * radius
    expected = along - np.sqrt(np.maximum(radius**2 - beside**2, 0.0))
    hits = fine.cast(origins, directions, 200.0, None)
    # 300 facets around: the sagitta is r(1 - cos(π/300)) = 0.11 mm, and rays slope by at most asin 0.8
    assert np.abs(hits.distance - expected)[near].max() < 1e-3
    points = origins + hits.distance[:, None].astype(float) * directions
    assert np.einsum("ij,ij->i", hits.normal, points / radius)[near].min() > 0.999


def test_a_box_from_all_around_and_past_it() -> None:
    rng = np.random.default_rng(4)
    half = np.array([2.0, 3.0, 1.0])
    tracer = RayTracer(frozen(shape_of(box(tuple(2 * half))), position=(0.0, 0.0, 0.0)))
    origins = 90.0 * unit(rng.normal(size=(5000, 3)))
    directions = unit(rng.uniform(-1.3, 1.3, (5000, 3)) * half - origins)
    expected = box_distance(origins, directions, half)
    hits = tracer.cast(origins, directions, 100.0, None)
    met = np.isfinite(expected)
    assert 1000 < met.sum() < 4900
    # a ray within a hair of an edge may fall to either side
    differs = met != np.isfinite(hits.distance)
    assert differs.sum() <= 2
    both = met & ~differs
    assert np.abs(hits.distance[both] - expected[both]).max() < 1e-3
    assert (hits.row[~np.isfinite(hits.distance)] == -1).all()
    assert (hits.normal[~np.isfinite(hits.distance)] == 0.0).all()


def test_the_range_limits_rays_and_nearer_things_hide_farther_ones() -> None:
    model = Model()
    model.place(shape_of(box((1, 1, 1))), (10.0, 0.0, 0.0), is_a="block")
    model.place(shape_of(box((1, 1, 1))), (20.0, 0.0, 0.0), is_a="block")
    model.freeze()
    tracer, ahead = RayTracer(model), np.array([[1.0, 0.0, 0.0]])
    assert tracer.cast(np.zeros((1, 3)), ahead, 9.4, None).row[0] == -1
    hit = tracer.cast(np.zeros((1, 3)), ahead, 50.0, None)
    assert hit.row[0] == 0 and hit.distance[0] == pytest.approx(9.5, abs=1e-5)
    behind = tracer.cast(np.array([[15.0, 0.0, 0.0]]), -ahead, 50.0, None)
    assert behind.row[0] == 0 and behind.normal[0] == pytest.approx([1.0, 0.0, 0.0])


def test_normals_face_the_ray_from_both_sides() -> None:
    sheet = quad((-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0))
    tracer = RayTracer(frozen(shape_of(sheet), position=(0.0, 0.0, 0.0)))
    hits = tracer.cast([[0.1, 0.2, 5.0], [0.1, 0.2, -5.0]], [[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]], 10.0, None)
    assert hits.normal == pytest.approx(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]))


def test_no_ray_slips_between_two_triangles() -> None:
    """Aimed at the very diagonal that both triangles of each cell share."""
    rng = np.random.default_rng(4)
    ground = Ground.from_function(lambda x, y: 0.5 * np.sin(x) * np.cos(0.7 * y), (-20, -20, 20, 20), 1.0)
    model = Model()
    place_terrain(model, ground)
    model.freeze()
    corners = rng.integers(0, 39, (3000, 2))
    share = rng.uniform(0.05, 0.95, 3000)
    low, high = ground.heights[*corners.T], ground.heights[*(corners + 1).T]
    aims = np.column_stack([corners - 20.0 + share[:, None], low + share * (high - low)])
    origin = np.array([0.3, 0.2, 40.0])
    directions = unit(aims - origin)
    hits = RayTracer(model).cast(np.tile(origin, (3000, 1)), directions, 100.0, None)
    assert np.abs(hits.distance - np.linalg.norm(aims - origin, axis=1)).max() < 1e-3


def test_scaled_and_turned_placements_and_their_rows() -> None:
    rng = np.random.default_rng(4)
    model = Model()
    turn = Rotation.from_euler("ZYX", [0.8, -0.2, 0.4])
    half = np.array([0.5, 1.0, 0.25])
    size = np.array([2.0, 3.0, 4.0])
    model.place(shape_of(box((1, 1, 1), material="wood")), (50.0, 0.0, 0.0), is_a="block")
    block = shape_of(box(tuple(2 * half), material="metal"))
    model.place(block, (-40.0, 10.0, 5.0), rotation=turn.as_matrix(), scale=size, is_a="block")
    model.freeze()
    origins = np.array([-40.0, 10.0, 5.0]) + 80.0 * unit(rng.normal(size=(1000, 3)))
    directions = unit(np.array([-40.0, 10.0, 5.0]) + rng.uniform(-1, 1, (1000, 3)) - origins)
    local = turn.inv()
    expected = box_distance(local.apply(origins - [-40.0, 10.0, 5.0]), local.apply(directions), half * size)
    hits = RayTracer(model).cast(origins, directions, 120.0, None)
    mine = hits.row == 1
    assert mine.sum() > 900
    assert np.abs(hits.distance[mine] - expected[mine]).max() < 1e-3
    assert (hits.material[mine] == MATERIAL_ID["metal"]).all()


def with_movers(scale: float = 1.0, velocity=(0.0, 0.0, 0.0)) -> tuple[Model, list[Any], np.ndarray]:
    """A wall at x = 30 and three boxes that move, two of them parts of one object."""
    model = Model()
    half = np.array([0.5, 1.0, 0.25])
    turns = [Rotation.from_euler("ZYX", angles) for angles in ([0.3, 0.4, -0.9], [1.2, -0.3, 0.2], [0.0, 0.9, 0.0])]
    places = np.array([[10.0, 0.0, 0.0], [12.0, 2.5, 0.5], [15.0, -5.0, 1.0]])
    model.place(shape_of(quad((30, 50, -50), (30, -50, -50), (30, -50, 50), (30, 50, 50))), is_a="wall")
    shape = Shape("part", (box(tuple(2 * half), material="cloth").moved((0.2, 0.1, -0.3)),))
    poses = [pose(turn, place, scale) for turn, place in zip(turns, places, strict=True)]
    model.add_mover(Held(np.array(poses[:2]), velocity), [shape, shape], is_a="person")
    model.add_mover(Held(np.array(poses[2:]), velocity), [shape], is_a="car")
    model.freeze()
    return model, list(zip(turns, places, strict=True)), half


@pytest.mark.parametrize("scale", [1.0, 1.7])
def test_moved_and_turned_parts(scale: float) -> None:
    rng = np.random.default_rng(4)
    velocity = np.array([1.0, -0.5, 0.25])
    model, parts, half = with_movers(scale, velocity)
    origins = rng.normal(0, 0.5, (9000, 3)) - [80.0, 0.0, 0.0]
    directions = unit(np.array([12.0, -1.0, 0.5]) + rng.uniform(-6, 6, (9000, 3)) - origins)
    hits = RayTracer(model).cast(origins, directions, 200.0, model.motion(2_000_000_000))
    expected = [(30.0 - origins[:, 0]) / directions[:, 0]]
    for turn, place in parts:
        local = turn.inv()
        centre = np.array([0.2, 0.1, -0.3]) * scale
        starts = local.apply(origins - place - 2.0 * velocity) - centre
        expected.append(box_distance(starts, local.apply(directions), half * scale))
    nearest, row = np.min(expected, axis=0), np.argmin(expected, axis=0)
    same = hits.row == row
    assert (~same).sum() <= 3
    assert all((row == k).sum() > 50 for k in range(4))
    assert np.abs(hits.distance - nearest)[same].max() < 1e-3
    # on a box the normal is one of its axes, facing the ray
    turn, _ = parts[0]
    local = turn.inv().apply(hits.normal[hits.row == 1])
    assert np.abs(local).max(axis=1) == pytest.approx(np.ones(len(local)), abs=1e-5)
    assert np.einsum("ij,ij->i", hits.normal, directions)[hits.row >= 0].max() < 0.0
    assert (hits.material[hits.row > 0] == MATERIAL_ID["cloth"]).all()


def test_hidden_rows_are_looked_through() -> None:
    rng = np.random.default_rng(4)
    model, _, _ = with_movers()
    tracer, motion = RayTracer(model), model.motion(0)
    origins = np.tile([-20.0, 0.0, 0.0], (4000, 1))
    directions = unit(np.array([12.0, -1.0, 0.5]) + rng.uniform(-6, 6, (4000, 3)) - origins)

    def rows(hidden):
        return set(np.unique(tracer.cast(origins, directions, 100.0, motion, hidden).row).tolist())

    assert rows(None) == {0, 1, 2, 3}
    assert rows((1, 3)) == {0, 3}
    assert rows((2, 3)) == {0, 1, 3}
    assert rows((1, 4)) == {0}
    without = tracer.cast(origins, directions, 100.0, None)
    hidden = tracer.cast(origins, directions, 100.0, motion, (1, 4))
    assert np.array_equal(without.distance, hidden.distance)


def test_the_cull_loses_no_hit() -> None:
    """Rays from all sides and from inside the parts' spheres, against one cast per ray with nothing culled."""
    rng = np.random.default_rng(4)
    model, parts, half = with_movers()
    origins = np.array([12.0, 0.0, 0.5]) + rng.normal(0, 4.0, (3000, 3))
    directions = unit(rng.normal(size=(3000, 3)))
    hits = RayTracer(model).cast(origins, directions, 25.0, model.motion(0))
    for number, (turn, place) in enumerate(parts):
        starts = turn.inv().apply(origins - place) - [0.2, 0.1, -0.3]
        expected = box_distance(starts, turn.inv().apply(directions), half)
        outside = (np.abs(starts) > half).any(axis=1)
        first = outside & (expected < np.minimum(hits.distance, 25.0) - 1e-3) & (expected >= 0.0)
        assert first.sum() == 0, f"part {number} was overlooked"


def test_only_movers_out_of_range_are_left_out() -> None:
    model, parts, _ = with_movers()
    tracer, motion = RayTracer(model), model.motion(0)
    turn, place = parts[0]
    ray = (np.zeros((1, 3)), unit([place + turn.apply([0.2, 0.1, -0.3])]))
    full = tracer.cast(*ray, 50.0, motion)
    assert full.row[0] == 1
    assert tracer.cast(*ray, float(full.distance[0]) + 1e-3, motion).row[0] == 1
    assert tracer.cast(*ray, float(full.distance[0]) - 1e-3, motion).row[0] == -1


def test_an_empty_world_and_no_rays() -> None:
    model = Model()
    model.freeze()
    nothing = RayTracer(model).cast(np.zeros((2, 3)), np.eye(3)[:2], 10.0, model.motion(0))
    assert np.isinf(nothing.distance).all() and (nothing.row == -1).all()
    moving, _, _ = with_movers()
    assert len(RayTracer(moving).cast(np.empty((0, 3)), np.empty((0, 3)), 10.0, moving.motion(0)).row) == 0


def test_each_face_has_its_own_material() -> None:
    two = mesh_of([[0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 0, 0], [3, 0, 0], [2, 1, 0]], [[0, 1, 2], [3, 4, 5]])
    two.materials[3:] = MATERIAL_ID["glass"]
    tracer = RayTracer(frozen(shape_of(two), position=(0.0, 0.0, 0.0)))
    hits = tracer.cast([[0.2, 0.2, 1.0], [2.2, 0.2, 1.0]], [[0.0, 0.0, -1.0]] * 2, 5.0, None)
    assert hits.material.tolist() == [MATERIAL_ID["plain"], MATERIAL_ID["glass"]]


def test_many_parts_close_together_that_every_ray_comes_near() -> None:
    """A stack of plates: the nearest is seen, whatever the order of its parts."""
    heights = [0.3, 0.1, 0.5, 0.2, 0.4]
    plate = Shape("plate", (box((2.0, 2.0, 0.02)),))
    model = Model()
    model.add_mover(Held(np.array([pose(Rotation.identity(), (0, 0, z)) for z in heights])), [plate] * 5, is_a="shelf")
    model.freeze()
    origins = np.random.default_rng(4).uniform([-0.9, -0.9, 5.0], [0.9, 0.9, 5.0], (50, 3))
    down = np.tile([0.0, 0.0, -1.0], (50, 1))
    hits = RayTracer(model).cast(origins, down, 10.0, model.motion(0))
    assert (hits.row == 2).all() and np.abs(hits.distance - 4.49).max() < 1e-4
    below = RayTracer(model).cast(origins - [0, 0, 10.0], -down, 10.0, model.motion(0))
    assert (below.row == 1).all() and np.abs(below.distance - 5.09).max() < 1e-4
