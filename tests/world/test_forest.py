"""The forest is as dense as asked, stands on its ground and leaves room to take off."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from model_rows import all_triangles, positions_of, rows_of

from skyloop.world.generation import generator
from skyloop.world.materials import MATERIAL_ID
from skyloop.world.scenery.foliage import LEAF_SLOT
from skyloop.world.semantics import CLASSES
from skyloop.world.worlds.forest import Forest


@pytest.fixture(scope="module")
def forest() -> Forest:
    world = Forest(1)
    world.model.freeze()
    return world


def test_trees_are_as_many_as_asked_and_apart(forest: Forest) -> None:
    trees = positions_of(forest.model, "tree")
    assert len(trees) == 500 * 120 * 120 // 10_000
    apart = np.linalg.norm(trees[:, None, :2] - trees[:, :2], axis=2) + 100.0 * np.eye(len(trees))
    # discs that cover 0.3 of the ground: 2 sqrt(0.3 · 20 m² / π)
    assert apart.min() >= 2.0 * np.sqrt(0.3 * 20.0 / np.pi)


def test_all_four_kinds_stand_in_groves(forest: Forest) -> None:
    rows = rows_of(forest.model, "tree")
    kinds = np.array([forest.model.objects[forest.model.part_object[row]].name.split()[0] for row in rows])
    count = Counter(kinds)
    assert set(count) == {"spruce", "pine", "beech", "birch"}
    assert min(count.values()) > 40
    at = forest.model.standing_poses[rows][:, :2, 3]
    nearest = np.argsort(np.linalg.norm(at[:, None] - at, axis=2), axis=1)[:, 1]
    by_chance = sum((n / len(kinds)) ** 2 for n in count.values())
    assert (kinds == kinds[nearest]).mean() > 1.2 * by_chance


def test_the_middle_is_free_up_to_the_sky(forest: Forest) -> None:
    model = forest.model
    for row in range(model.n_standing):
        if model.objects[model.part_object[row]].name in ("terrain", "far terrain"):
            continue
        pose = model.standing_poses[row]
        p = model.shapes[model.part_shape[row]].lods[0].positions @ pose[:, :3].T + pose[:, 3]
        assert np.hypot(p[:, 0], p[:, 1]).min() > 3.0, model.objects[model.part_object[row]].name


def test_everything_stands_on_hilly_ground(forest: Forest) -> None:
    assert 3.0 < np.ptp(forest.ground.heights) < 25.0
    assert abs(forest.ground.at(0.0, 0.0)[0]) < 1e-9
    for kind in ("tree", "bush", "rock"):
        for x, y, z in positions_of(forest.model, kind):
            assert z == pytest.approx(forest.ground.at(x, y)[0], abs=1e-9)
            assert max(abs(x), abs(y)) < 60.0


def test_fallen_trunks_lie_on_the_ground_between_the_trees(forest: Forest) -> None:
    model, trees = forest.model, positions_of(forest.model, "tree")[:, :2]
    fallen = [row for row in rows_of(model, "undergrowth") if "trunk" in model.objects[model.part_object[row]].name]
    assert len(fallen) >= 15
    for row in fallen:
        pose, mesh = model.standing_poses[row], model.shapes[model.part_shape[row]].lods[1]
        np.testing.assert_allclose(pose[:, :3].T @ pose[:, :3], np.eye(3), atol=1e-9)
        p = mesh.positions @ pose[:, :3].T + pose[:, 3]
        over = np.array([z - forest.ground.at(x, y)[0] for x, y, z in p])
        assert over.min() < 0.15
        assert over.max() < 1.6
        along = pose[:2, 3] + np.linspace(-2.0, 2.0, 9)[:, None] * pose[:2, 0]
        assert np.linalg.norm(along[:, None] - trees, axis=2).min() > 0.6


def test_undergrowth_and_classes(forest: Forest) -> None:
    model = forest.model
    names = Counter(model.objects[instance].name.rsplit(" ", 1)[0] for instance in model.part_object)
    assert names["fern"] >= 600
    assert names["grass tuft"] >= 300
    assert names["rock"] >= 40
    assert names["bush"] >= 60
    found = {CLASSES[n] for n in np.unique(model.object_class) if n < len(CLASSES)}
    assert found == {"sky", "tree", "bush", "rock", "undergrowth"}


def test_triangles(forest: Forest) -> None:
    assert all_triangles(forest.model) <= 520_000


def test_denser_forests_have_more_and_simpler_trees() -> None:
    per_tree = []
    for density in (50.0, 2000.0):
        model = Forest(2, density=density, size=60.0).model
        model.freeze()
        rows = rows_of(model, "tree")
        assert len(rows) == round(density * 0.36)
        per_tree.append(np.mean([len(model.shapes[n].lods[0].faces) for n in model.part_shape[rows]]))
    assert per_tree[0] > 3.0 * per_tree[1]


def test_colours_may_turn(forest: Forest) -> None:
    seed = next(s for s in range(2, 20) if generator(s, "forest/season").random() < 0.4)
    turned = Forest(seed, density=100.0, size=60.0, randomise=frozenset({"colours"}))
    turned.model.freeze()
    assert turned.ground.heights[5, 5] != forest.ground.heights[5, 5]
    for model, leaves in ((forest.model, "leaves"), (turned.model, "plain")):
        [beech, *_] = (shape for shape in model.shapes if shape.name.startswith("beech"))
        mesh = beech.lods[0]
        assert set(mesh.materials[mesh.colours[:, 3] == LEAF_SLOT]) == {MATERIAL_ID[leaves]}
    hues = [{tuple(palette[1]) for palette in world.model.palettes} for world in (forest, turned)]
    assert not (hues[0] & hues[1]) - {(255, 255, 255)}
