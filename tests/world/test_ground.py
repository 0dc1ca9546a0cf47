import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator
from scipy.optimize import brentq

from skyloop.errors import ScenarioError
from skyloop.world.ground import Ground


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def unit(vectors):
    vectors = np.asarray(vectors, dtype=float)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


@pytest.fixture(scope="module")
def hills():
    """Rough on purpose: independent heights, a cell that is no power of two, a skew origin, unequal sides."""
    return Ground(np.random.default_rng(5).uniform(-1.0, 2.0, size=(17, 11)), (-5.3, 2.1), 0.7)


def interpolated(ground, x, y):
    nx, ny = ground.heights.shape
    xs = ground.origin_xy[0] + ground.cell * np.arange(nx)
    ys = ground.origin_xy[1] + ground.cell * np.arange(ny)
    inside = np.column_stack([np.clip(x, xs[0], xs[-1]), np.clip(y, ys[0], ys[-1])])
    return RegularGridInterpolator((xs, ys), ground.heights)(inside)


def test_heights_are_bilinear_and_held_beyond_the_edges(hills, rng):
    points = rng.uniform([-8.0, 0.0], [9.0, 12.0], size=(300, 2))
    expected = interpolated(hills, points[:, 0], points[:, 1])
    np.testing.assert_allclose([hills.at(x, y)[0] for x, y in points], expected, atol=1e-12)


def test_normals_match_finite_differences(hills, rng):
    step = 1e-6
    for x, y in rng.uniform([-8.0, 0.0], [9.0, 12.0], size=(100, 2)):
        slope_x = (hills.at(x + step, y)[0] - hills.at(x - step, y)[0]) / (2 * step)
        slope_y = (hills.at(x, y + step)[0] - hills.at(x, y - step)[0]) / (2 * step)
        np.testing.assert_allclose(hills.at(x, y)[1], unit([-slope_x, -slope_y, 1.0]), atol=1e-7)


def test_flat_ground_is_endless(rng):
    ground = Ground.flat(1.5)
    height, normal = ground.at(-1e4, 3e5)
    assert height == 1.5
    np.testing.assert_array_equal(normal, [0.0, 0.0, 1.0])
    directions = unit(np.column_stack([rng.normal(size=(50, 2)), -rng.uniform(0.01, 2.0, 50)]))
    starts = np.column_stack([rng.uniform(-500, 500, (50, 2)), rng.uniform(2.0, 60.0, 50)])
    np.testing.assert_allclose(ground.cast(starts, directions), (starts[:, 2] - 1.5) / -directions[:, 2], rtol=1e-12)


def test_rays_hit_a_tilted_plane_where_algebra_says(rng):
    a, b, c = 0.31, -0.17, 4.0
    ground = Ground.from_function(lambda x, y: a * x + b * y + c, (-300.0, -200.0, 310.0, 250.0), 0.9)
    starts = np.column_stack([rng.uniform(-50, 50, (200, 2)), rng.uniform(30.0, 45.0, 200)])
    directions = unit(rng.normal(size=(200, 3)) - [0.0, 0.0, 1.0])
    closing = directions @ [a, b, -1.0]
    exact = (starts[:, 2] - a * starts[:, 0] - b * starts[:, 1] - c) / np.where(closing > 0, closing, np.nan)
    distances = ground.cast(starts, directions, max_range=150.0)
    hits = exact < 150.0
    assert hits.sum() > 100
    np.testing.assert_allclose(distances[hits], exact[hits], atol=1e-9)
    assert np.isinf(distances[~hits]).all()


def test_rays_over_rough_ground_match_a_dense_search(hills, rng):
    starts = rng.uniform([-7.0, 0.5, 2.01], [8.0, 11.0, 4.0], size=(150, 3))
    directions = unit(rng.normal(size=(150, 3)) * [1.0, 1.0, 0.3] - [0.0, 0.0, 0.3])
    distances = hills.cast(starts, directions, max_range=20.0)
    along = np.linspace(0.0, 20.0, 20_001)
    for start, direction, distance in zip(starts, directions, distances, strict=True):

        def clearance(t, start=start, direction=direction):
            point = start + np.multiply.outer(np.atleast_1d(t), direction)
            return point[:, 2] - interpolated(hills, point[:, 0], point[:, 1])

        below = np.flatnonzero(clearance(along) <= 0.0)
        if len(below) == 0:
            # The search may step over a graze; the kernel's hit must then lie on the ground.
            assert np.isinf(distance) or abs(clearance(distance)[0]) < 1e-9
            continue
        first = below[0]
        exact = brentq(lambda t: clearance(t)[0], along[first - 1], along[first], xtol=1e-13)
        if distance < along[first - 1]:
            assert abs(clearance(distance)[0]) < 1e-9
        else:
            assert distance == pytest.approx(exact, abs=1e-9)


def test_rays_from_outside_come_back_over_the_edge():
    wall = Ground(np.array([[0.0, 0.0], [0.0, 0.0], [5.0, 5.0], [5.0, 5.0]]), (0.0, 0.0), 2.0)
    # Along x at height 1 the ramp from (2, 0) to (4, 5) is met at x = 2.4, from far off the grid.
    np.testing.assert_allclose(wall.cast([-100.0, 37.0, 1.0], [1.0, 0.0, 0.0]), 102.4, atol=1e-12)
    np.testing.assert_allclose(wall.cast([4e3, -1e3, 6.0], [0.0, 0.0, -1.0]), 1.0, atol=1e-12)


def test_ray_limits():
    ground = Ground.flat()
    up, down = [0.0, 0.0, 1.0], [0.0, 0.0, -1.0]
    np.testing.assert_array_equal(ground.cast([[0.3, 0.4, -0.1], [5.0, 5.0, -9.0]], [up, down]), [0.0, 0.0])
    assert np.isinf(ground.cast([0.0, 0.0, 1.0], up)[0])
    assert np.isinf(ground.cast([0.0, 0.0, 1.0], [1.0, 0.0, 0.0])[0])
    assert ground.cast([0.0, 0.0, 3.0], down, max_range=3.0)[0] == 3.0
    assert np.isinf(ground.cast([0.0, 0.0, 3.0], down, max_range=2.999)[0])


def test_nan_is_never_an_index(hills):
    assert np.isfinite(hills.at(3.0, 4.0)[0])
    hills.at(np.nan, np.nan)
    for start in ([np.nan] * 3, [0.0, 3.0, np.nan], [np.nan, 3.0, 9.0]):
        assert np.isinf(hills.cast(start, unit([0.3, 0.4, -0.1]), max_range=50.0)[0])


def test_from_function_covers_its_extent():
    ground = Ground.from_function(lambda x, y: 10.0 * x + y, (0.0, -1.0, 1.0, 2.0), 0.1)
    assert ground.heights.shape == (11, 31)
    assert ground.at(0.55, 1.95)[0] == pytest.approx(7.45)
    constant = Ground.from_function(lambda x, y: 3.0, (0.0, 0.0, 1.0, 1.0), 0.4)
    assert constant.heights.shape == (4, 4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Ground(np.zeros((1, 5))),
        lambda: Ground(np.zeros(5)),
        lambda: Ground(np.full((3, 3), np.nan)),
        lambda: Ground(np.zeros((3, 3)), cell=0.0),
        lambda: Ground.from_function(lambda x, y: x, (0.0, 0.0, -1.0, 1.0), 0.1),
    ],
)
def test_unusable_grounds_are_refused(make):
    with pytest.raises(ScenarioError, match="ground"):
        make()
