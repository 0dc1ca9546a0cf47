"""The park holds what it should, where it should, within its budgets."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from embree_probe import visible_triangles
from model_rows import all_triangles, class_of, name_of, positions_of, rows_of, vertices

from skyloop.world.generation import generator
from skyloop.world.worlds.park import Park
from skyloop.world.worlds.park_layout import PARK, STREET, ParkPlan

SPECIES = ("oak", "birch", "spruce", "poplar", "willow", "cherry")
STANDS = ("tree", "bush", "hedge", "bench", "lamp", "bin", "rock", "undergrowth", "building")


@pytest.fixture(scope="module")
def park() -> Park:
    world = Park(1)
    world.model.freeze()
    return world


@pytest.fixture(scope="module")
def plan() -> ParkPlan:
    return ParkPlan(1)


def test_counts(park: Park) -> None:
    model = park.model
    kinds = Counter(name_of(model, row).split()[0] for row in rows_of(model, "tree"))
    assert sum(kinds.values()) == 90
    assert set(kinds) == set(SPECIES)
    assert min(kinds.values()) >= 4
    standing, walking = len(rows_of(model, "person")), len(model.movers)
    assert standing >= 6
    assert walking >= 8
    found = Counter(class_of(model, row) for row in range(len(model.part_shape)))
    assert found["bench"] >= 12
    assert found["lamp"] >= 12
    assert found["building"] >= 16
    assert {"path", "road", "pavement", "water", "bin", "hedge", "bush", "rock", "undergrowth"} <= set(found)


def test_every_thing_is_named_and_numbered(park: Park) -> None:
    names = [instance.name for instance in park.model.objects[1:] if instance.name not in ("terrain", "far terrain")]
    assert all(names)
    single = [name for name in names if name.split()[0] in (*SPECIES, "bench", "lamp", "house", "hedge", "bush")]
    assert len(single) == len(set(single))


def test_the_middle_is_free(park: Park) -> None:
    for row in range(park.model.n_standing):
        kind = class_of(park.model, row)
        if kind == "by material":
            continue
        p = vertices(park.model, row)
        if kind not in ("road", "pavement"):  # their corners are far, their faces are around the park
            assert np.hypot(p[:, 0], p[:, 1]).min() > 3.0, name_of(park.model, row)
        in_the_way = (np.abs(p[:, :2]).max(axis=1) < 13.0) & (p[:, 2] > 3.0) & (p[:, 2] < 8.0)
        assert not in_the_way.any(), name_of(park.model, row)
    for t in range(0, 400, 31):
        where = park.model.motion(t * 10**9).poses[:, :2, 3]
        assert np.linalg.norm(where, axis=1).min() > 4.0


def test_trees_stand_apart_and_off_paths_pond_and_houses(park: Park, plan: ParkPlan) -> None:
    trees = positions_of(park.model, "tree")
    apart = np.linalg.norm(trees[:, None, :2] - trees[:, :2], axis=2) + 100.0 * np.eye(len(trees))
    assert apart.min() > 2.5
    assert plan.off_path(*trees[:, :2].T).min() > 0.9
    assert plan.pond(*trees[:, :2].T).min() > 1.3
    assert np.abs(trees[:, :2]).max() < PARK - 2.0


def test_nothing_stands_in_a_house_or_on_a_path(park: Park, plan: ParkPlan) -> None:
    boxes = []
    for row in rows_of(park.model, "building"):
        p = vertices(park.model, row)
        boxes.append((p.min(axis=0)[:2], p.max(axis=0)[:2]))
        assert np.abs(park.model.standing_poses[row][:2, 3]).max() > STREET[3]
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:i]:
            assert ((other_low > high - 0.8) | (other_high < low + 0.8)).any()
    others = positions_of(park.model, "tree", "bush", "hedge", "bench", "lamp", "bin", "undergrowth", "person")
    assert np.abs(others[:, :2]).max() < STREET[0]
    assert plan.off_path(*others[:, :2].T).min() > 0.2


def test_furniture_and_trees_keep_off_each_other(park: Park) -> None:
    furniture, trees = positions_of(park.model, "bench", "lamp", "bin"), positions_of(park.model, "tree")
    assert np.linalg.norm(furniture[:, None, :2] - trees[:, :2], axis=2).min() > 1.5
    lamps = positions_of(park.model, "lamp")[:, :2]
    for row in rows_of(park.model, "tree"):
        p = vertices(park.model, row)
        reach = np.linalg.norm(p[:, :2] - park.model.standing_poses[row][:2, 3], axis=1).max()
        nearest = np.linalg.norm(lamps - park.model.standing_poses[row][:2, 3], axis=1).min()
        assert nearest > 0.9 * reach, f"a lamp in the crown of {name_of(park.model, row)}"


def test_everything_stands_on_the_ground(park: Park, plan: ParkPlan) -> None:
    for x, y, z in positions_of(park.model, *STANDS):
        assert z == pytest.approx(plan.ground.at(x, y)[0], abs=1e-9)
    for t in (0.0, 13.0, 77.0):
        poses = park.model.motion(int(t * 1e9)).poses
        n = len(poses) // len(park.model.movers)
        for person in poses.reshape(-1, n, 3, 4):
            x, y = person[:, :2, 3].mean(axis=0)
            assert 0.0 < person[:, 2, 3].min() - plan.ground.at(x, y)[0] + 0.12 < 0.5


def test_walkers_stay_on_the_paths(park: Park, plan: ParkPlan) -> None:
    for t in range(0, 300, 23):
        poses = park.model.motion(t * 10**9).poses
        n = len(poses) // len(park.model.movers)
        middles = poses[:, :2, 3].reshape(-1, n, 2).mean(axis=1)
        assert plan.off_path(*middles.T).max() < 0.0
        apart = np.linalg.norm(middles[:, None] - middles, axis=2) + 9.0 * np.eye(len(middles))
        assert apart.min() > 0.6


def test_paths_lie_on_the_ground_and_over_the_lawn(park: Park, plan: ParkPlan) -> None:
    for row in rows_of(park.model, "path"):
        mesh, pose = park.model.shapes[park.model.part_shape[row]].lods[0], park.model.standing_poses[row]
        p = (mesh.positions @ pose[:, :3].T + pose[:, 3])[mesh.faces]
        middles = p.mean(axis=1)
        across = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
        level = across[:, 2] > 0.95 * np.linalg.norm(across, axis=1)  # not the slanting edges
        assert 0.45 < level.mean() < 0.55
        for x, y, z in middles[level]:
            assert -0.01 < z - plan.ground.at(x, y)[0] < 0.05
            assert z - park.ground.at(x, y)[0] > 0.03, name_of(park.model, row)


def test_the_pond_lies_below_its_banks(park: Park, plan: ParkPlan) -> None:
    for x, y in plan.shore(60, 1.15):
        assert park.ground.at(x, y)[0] > plan.water_level + 0.05
    for x, y in plan.shore(60, 0.85):
        assert park.ground.at(x, y)[0] < plan.water_level - 0.05
    [water] = rows_of(park.model, "water")
    assert vertices(park.model, water)[:, 2] == pytest.approx(plan.water_level)


def test_triangles(park: Park) -> None:
    model = park.model
    assert all_triangles(model) <= 500_000
    for yaw in np.arange(4) * np.pi / 2:
        for eye in ((0.0, 0.0, 5.0), (10.0, 10.0, 5.0)):
            assert visible_triangles(model, eye, yaw) <= 60_000


def test_randomised_people_colours_and_textures() -> None:
    seed = next(s for s in range(20) if generator(s, "park/season").random() < 0.4)
    world = Park(seed, people=4, trees=12, randomise=frozenset({"people", "colours", "textures"}))
    model = world.model
    model.freeze()
    people = len(rows_of(model, "person")) + len(model.movers)
    assert people == generator(seed, "park/how many people").integers(0, 9)
    oak = next(row for row in rows_of(model, "tree") if name_of(model, row).startswith("oak"))
    red, green, _ = (int(v) for v in model.palettes[model.part_palette[oak]][1])
    assert red > green, "autumn"
    usual, any_stuff = ParkPlan(seed), ParkPlan(seed, any_material=True)
    assert [way.material for way in usual.ways] != [way.material for way in any_stuff.ways]


@pytest.mark.parametrize("seed", range(10))
def test_plans_of_ten_seeds(seed: int) -> None:
    plan = ParkPlan(seed)
    assert plan.off_path(*plan.shore(80, 1.12).T).min() > 1.5
    assert min(plan.ground.at(x, y)[0] for x, y in plan.shore(80, 1.15)) > plan.water_level + 0.05
    assert min(plan.ground.at(x, y)[0] for way in plan.ways for x, y in way.line if plan.pond(x, y) < 3.0) > (
        plan.water_level + 0.2
    )
    assert plan.off_path(0.0, 0.0)[0] > 12.0
    around = 3.0 * np.stack([np.cos(np.arange(12)), np.sin(np.arange(12))], axis=1)
    assert max(abs(plan.ground.at(x, y)[0]) for x, y in around) < 0.01
    edge = np.concatenate([plan.ground.heights[[0, -1]].ravel(), plan.ground.heights[:, [0, -1]].ravel()])
    assert np.abs(edge).max() == 0.0
    assert 1.0 < np.ptp(plan.ground.heights) < 8.0
    for way in plan.ways:
        heights = np.array([plan.ground.at(x, y)[0] for x, y in way.line])
        assert np.abs(np.diff(heights) / np.linalg.norm(np.diff(way.line, axis=0), axis=1)).max() < 0.22


@pytest.mark.slow("ten crowded parks")
@pytest.mark.parametrize("seed", range(10))
def test_ten_seeds_are_whole(seed: int) -> None:
    world = Park(seed, trees=200, people=60)
    world.model.freeze()
    assert len(rows_of(world.model, "tree")) == 200
    assert len(rows_of(world.model, "person")) + len(world.model.movers) == 60
