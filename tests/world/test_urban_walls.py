import numpy as np
import pytest
from embree_probe import Probe
from model_rays import triangles
from scipy import ndimage

from skyloop.world.worlds.urban_walls import GOAL, UrbanWalls

CELL = 0.5
LEAST = -25.0
"""m; the maps below start at (LEAST, LEAST)."""
HEIGHT = 10.0


def _occupied(world: UrbanWalls) -> np.ndarray:
    """True where a ray from above meets something higher than HEIGHT."""
    n = int(130 / CELL)
    along = LEAST + CELL * (np.arange(n) + 0.5)
    x, y = np.meshgrid(along, along, indexing="ij")
    tops, _ = Probe.of_model(world.model).tops(np.column_stack([x.ravel(), y.ravel()]))
    return (tops > HEIGHT).reshape(n, n)


def _cell(xy: tuple[float, float]) -> tuple[int, int]:
    return int((xy[0] - LEAST) / CELL), int((xy[1] - LEAST) / CELL)


def _inflated(occupied: np.ndarray, radius: float) -> np.ndarray:
    return ndimage.distance_transform_edt(~occupied) * CELL <= radius


def _connected(free: np.ndarray, a: tuple[float, float], b: tuple[float, float]) -> bool:
    regions, _ = ndimage.label(free)
    first, last = regions[_cell(a)], regions[_cell(b)]
    return bool(first and first == last)


def _route(free: np.ndarray) -> np.ndarray:
    """(n, 2) m of a shortest way from the start to the goal, by breadth first."""
    start, goal = _cell((0.0, 0.0)), _cell(GOAL)
    steps = np.full(free.shape, -1)
    steps[start] = 0
    front = [start]
    while front and steps[goal] < 0:
        reached = []
        for i, j in front:
            for near in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
                if free[near] and steps[near] < 0:
                    steps[near] = steps[i, j] + 1
                    reached.append(near)
        front = reached
    way = [goal]
    while way[-1] != start:
        i, j = way[-1]
        way.append(next(p for p in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)) if steps[p] == steps[i, j] - 1))
    return LEAST + CELL * (np.array(way[::-1]) + 0.5)


def _blind_places(occupied: np.ndarray, reachable: np.ndarray) -> int:
    """How many separate dead ends: places from which one sees farther than 7 m within one sector of 120° only."""
    cells = np.argwhere(reachable)[::37]
    angles = np.linspace(0.0, 2.0 * np.pi, 72, endpoint=False)
    reach = np.arange(1.0, 7.0, CELL) / CELL
    rays = reach[:, None, None] * np.stack([np.cos(angles), np.sin(angles)], -1)
    seen = cells[:, None, None] + np.rint(rays).astype(int)[None]
    clear = ~occupied[seen[..., 0], seen[..., 1]].any(axis=1)
    # open directions lie together when all of them fit in a third of the circle
    summed = np.cumsum(np.pad(np.concatenate([clear, clear], axis=1), ((0, 0), (1, 0))), axis=1)
    together = (summed[:, 24:96] - summed[:, :72] == clear.sum(axis=1, keepdims=True)).any(axis=1)
    blind = np.zeros_like(occupied)
    places = cells[together & clear.any(axis=1)]
    blind[places[:, 0], places[:, 1]] = True
    _, n = ndimage.label(ndimage.binary_dilation(blind, iterations=8))
    return int(n)


@pytest.fixture(scope="module", params=range(4))
def walls(request: pytest.FixtureRequest) -> tuple[UrbanWalls, np.ndarray]:
    world = UrbanWalls(request.param)
    return world, _occupied(world)


def test_two_routes_lead_to_the_goal_and_the_straight_one_does_not(walls: tuple[UrbanWalls, np.ndarray]) -> None:
    _, occupied = walls
    free = ~_inflated(occupied, 1.5)
    assert _connected(free, (0.0, 0.0), GOAL)
    # corridors of 5 m: a disc of that width also gets through
    assert _connected(~_inflated(occupied, 2.5), (0.0, 0.0), GOAL)
    line = np.linspace((0.0, 0.0), GOAL, 500)
    assert occupied[tuple(np.array([_cell((x, y)) for x, y in line]).T)].any()
    route = _route(free)
    ends = np.array([(0.0, 0.0), GOAL])
    inner = [p for p in route[::6] if np.linalg.norm(p - ends, axis=1).min() > 12.0]
    x, y = (LEAST + CELL * (np.indices(free.shape) + 0.5)).reshape(2, *free.shape)
    for px, py in inner:
        shut = free & ((x - px) ** 2 + (y - py) ** 2 > 6.0**2)
        assert _connected(shut, (0.0, 0.0), GOAL), f"no other route when ({px:.0f}, {py:.0f}) is shut"


def test_dead_ends_tempt_and_the_boundary_holds(walls: tuple[UrbanWalls, np.ndarray]) -> None:
    _, occupied = walls
    regions, _ = ndimage.label(~occupied)
    reachable = regions == regions[_cell((0.0, 0.0))]
    assert _blind_places(occupied, reachable) >= 2
    assert not reachable[[0, -1]].any() and not reachable[:, [0, -1]].any()


def test_start_is_free(walls: tuple[UrbanWalls, np.ndarray]) -> None:
    world, occupied = walls
    away = ndimage.distance_transform_edt(~occupied)[_cell((0.0, 0.0))] * CELL
    assert away > 3.0
    assert world.ground.at(0.0, 0.0)[0] == 0.0


def test_everything_is_taller_than_the_flight_and_named() -> None:
    world = UrbanWalls(3)
    assert len(triangles(world.model)[1]) < 12_000
    names = [instance.name for instance in world.model.objects]
    assert sum(name.startswith("building") for name in names) == 25
    for row in range(world.model.n_standing):
        name = names[world.model.part_object[row]]
        if "terrain" not in name:
            assert world.model.shapes[world.model.part_shape[row]].lods[0].positions[:, 2].max() > 12.0, name
