import numpy as np
import pytest

from skyloop.world.ground import Ground, place_terrain
from skyloop.world.model import Model
from skyloop.world.rays import RayTracer
from skyloop_client.errors import ScenarioError


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


def test_stands_on_the_triangles_that_are_seen(hills, rng):
    """Rays straight down at what `place_terrain` draws find the height and the normal, beyond the edges too."""
    model = Model()
    place_terrain(model, hills)
    model.freeze()
    points = np.column_stack([rng.uniform([-8.0, 0.0], [9.0, 12.0], size=(300, 2)), np.full(300, 5.0)])
    hits = RayTracer(model).cast(points, np.tile([0.0, 0.0, -1.0], (300, 1)), 10.0, None)
    for (x, y, z), distance, normal in zip(points, hits.distance, hits.normal, strict=True):
        height, up = hills.at(x, y)
        assert z - distance == pytest.approx(height, abs=1e-5)
        np.testing.assert_allclose(up, normal, atol=1e-5)


def test_normals_match_finite_differences(hills, rng):
    step = 1e-6
    for x, y in rng.uniform([-8.0, 0.0], [9.0, 12.0], size=(100, 2)):
        slope_x = (hills.at(x + step, y)[0] - hills.at(x - step, y)[0]) / (2 * step)
        slope_y = (hills.at(x, y + step)[0] - hills.at(x, y - step)[0]) / (2 * step)
        np.testing.assert_allclose(hills.at(x, y)[1], unit([-slope_x, -slope_y, 1.0]), atol=1e-7)


def test_flat_ground_is_endless():
    ground = Ground.flat(1.5)
    height, normal = ground.at(-1e4, 3e5)
    assert height == 1.5
    np.testing.assert_array_equal(normal, [0.0, 0.0, 1.0])


def test_nan_is_never_an_index(hills):
    assert np.isfinite(hills.at(3.0, 4.0)[0])
    hills.at(np.nan, np.nan)


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
