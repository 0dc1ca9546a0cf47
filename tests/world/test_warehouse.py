import numpy as np
import pytest
from embree_probe import Probe, disc, visible_triangles
from model_rows import all_triangles, class_of, count

from skyloop.world.scenery.warehouse_equipment import (
    FORK_TIP,
    HALF_WIDTH,
    LEVELS,
    PALLET,
    SLOTS,
    TAIL,
    forklift_shape,
    pallet_loads,
    pallet_shape,
    rack_bay_shape,
)
from skyloop.world.worlds.warehouse import HALF_X, HALF_Y, HEIGHT, ROWS, RUNS, STANDING, Warehouse

WANTED = ("floor", "wall", "ceiling", "door", "lamp", "shelf", "pallet", "box", "barrel", "forklift")
PLACES = 2 * len(ROWS) * sum(bays for _, bays in RUNS) * len(LEVELS) * len(SLOTS)


@pytest.fixture(scope="module")
def store() -> Warehouse:
    world = Warehouse(1)
    world.model.freeze()
    return world


@pytest.fixture(scope="module")
def probe(store: Warehouse) -> Probe:
    return Probe.of_model(store.model)


def test_take_off_place_is_free_up_to_the_lamps(store: Warehouse, probe: Probe) -> None:
    places = disc(3.0)
    up, _ = probe.cast(np.column_stack([places, np.full(len(places), 0.05)]), [[0.0, 0.0, 1.0]])
    assert up.min() > 7.0
    for t in np.arange(0.0, 120.0, 1.7):
        assert np.linalg.norm(store.model.motion(int(t * 1e9)).poses[:, :2, 3], axis=1).min() > 3.3
    assert store.ground.at(0.0, 0.0)[0] == 0.0


def test_hall_is_closed_and_of_its_size(probe: Probe) -> None:
    directions = np.random.default_rng(0).normal(size=(3000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    distance, _ = probe.cast([[0.0, 0.0, 4.0]], directions)
    ends = np.array([0.0, 0.0, 4.0]) + distance[:, None] * directions
    assert (np.abs(ends) <= (HALF_X + 1e-3, HALF_Y + 1e-3, HEIGHT + 1e-3)).all()
    assert ends[:, 2].min() > -1e-3


def test_pallets_rest_on_the_floor_or_the_beams(store: Warehouse) -> None:
    model = store.model
    bay = rack_bay_shape().lods[0].positions
    for level in LEVELS[1:]:
        assert np.isclose(bay[:, 2], level, atol=1e-5).any(), "no beam carries this level"
    heights: dict[str, list[float]] = {"pallet": [], "box": [], "barrel": []}
    for row, pose in enumerate(model.standing_poses):
        is_a = class_of(model, row)
        if is_a in heights and abs(pose[0, 3]) < 24.0:
            heights[is_a].append(pose[2, 3])
    assert set(np.round(heights["pallet"], 6)) == set(LEVELS)
    on_pallets = {round(level + PALLET[2], 6) for level in LEVELS}
    assert set(np.round(heights["box"], 6)) == on_pallets
    assert set(np.round(heights["barrel"], 6)) <= on_pallets


def test_loads_stand_on_their_pallet_and_fit_below_the_next_beam() -> None:
    pallet = pallet_shape().lods[0].positions
    np.testing.assert_allclose(pallet.max(axis=0) - pallet.min(axis=0), PALLET, atol=1e-6)
    for load in pallet_loads(np.random.default_rng(0)):
        for mesh in load.shape.lods:
            low, high = mesh.positions.min(axis=0), mesh.positions.max(axis=0)
            assert low[2] == pytest.approx(0.0, abs=1e-6), load.shape.name
            assert (np.abs([*low[:2], *high[:2]]) <= [0.4, 0.6, 0.4, 0.6]).all(), load.shape.name
            assert high[2] + PALLET[2] < LEVELS[1] - 0.14


def test_fill_decides_how_many_places_are_taken() -> None:
    empty, full = Warehouse(3, fill=0.0, people=0), Warehouse(3, fill=1.0, people=0)
    on_floor = count(empty.model, "pallet")
    assert on_floor < 20
    assert count(full.model, "pallet") - on_floor == pytest.approx(PLACES, abs=8)
    assert count(full.model, "box") > 0.7 * PLACES


def test_the_forklift_drives_clear_of_everything(store: Warehouse) -> None:
    model = store.model
    row = next(instance.rows[0] for instance in model.objects if instance.name == "forklift 3") - model.n_standing
    shell = ("wall", "ceiling", "lamp", "door", "by material", "floor")
    solid = [k for k in range(model.n_standing) if class_of(model, k) not in shell]
    places = model.standing_poses[solid][:, :2, 3]
    on_floor = places[model.standing_poses[solid][:, 2, 3] < 0.3]
    started = model.motion(0).poses[row, :2, 3]
    farthest = 0.0
    for t in np.arange(0.0, 35.0, 0.5):
        pose = model.motion(int(t * 1e9)).poses[row]
        local = (on_floor - pose[:2, 3]) @ pose[:2, :2]
        # a shelf's or a load's middle is at least 0.4 m within it
        ahead, left = local[:, 0], np.abs(local[:, 1])
        beside = (ahead > -TAIL - 0.3) & (ahead < FORK_TIP + 0.3) & (left < HALF_WIDTH + 0.35)
        assert not beside.any()
        farthest = max(farthest, float(np.linalg.norm(pose[:2, 3] - started)))
        assert pose[2, 3] == 0.0
    assert farthest > 15.0


def test_people_are_where_they_should_be() -> None:
    world = Warehouse(4, people=20, fill=0.0)
    assert count(world.model, "person") == 1 + len(STANDING)
    assert count(Warehouse(4, people=0, fill=0.0).model, "person") == 0


def test_forklift_looks_like_one_at_every_level_of_detail() -> None:
    lods = forklift_shape().lods
    assert len(lods[0].faces) > len(lods[1].faces) > len(lods[2].faces)
    for mesh in lods:
        assert mesh.positions[:, 0].max() == pytest.approx(FORK_TIP)
        assert mesh.positions[:, 0].min() == pytest.approx(-TAIL, abs=0.07)
        assert -1e-6 <= mesh.positions[:, 2].min() < 0.1
        assert 2.0 < mesh.positions[:, 2].max() < 2.3


def test_budgets_classes_and_names(store: Warehouse) -> None:
    model = store.model
    assert all_triangles(model) < 500_000
    assert visible_triangles(model, (0.0, 0.0, 2.0), 0.0) < 60_000
    for is_a in WANTED:
        assert count(store.model, is_a) >= 1, is_a
    assert count(store.model, "forklift") == 3
    names = [instance.name for instance in model.objects]
    assert len(set(names)) == len(names)
