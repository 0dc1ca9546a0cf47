"""Trees keep their budgets, outlines and colours from level to level; skins are closed; spots stay apart."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from skyloop.world.generation import generator
from skyloop.world.mesh import Mesh
from skyloop.world.model import Shape
from skyloop.world.scenery import bushes
from skyloop.world.scenery.foliage import LEAF_SLOT, Spots, bent, directions, hull, limb, lumps, spread_out, tinted
from skyloop.world.scenery.trees import OAK, PINE, SPECIES, in_autumn, tree_shape

SMALL = {
    "bush": (bushes.bush_shape, 400),
    "hedge": (bushes.hedge_shape, 260),
    "fern": (bushes.fern_shape, 40),
    "grass": (bushes.grass_shape, 40),
    "reeds": (bushes.reeds_shape, 200),
    "flowers": (bushes.flowers_shape, 340),
    "rock": (bushes.rock_shape, 70),
    "fallen trunk": (bushes.fallen_trunk_shape, 160),
}


@pytest.fixture(scope="module")
def trees() -> dict[str, Shape]:
    return {name: tree_shape(species, generator(5, f"test/{name}")) for name, species in SPECIES.items()}


def areas(mesh: Mesh) -> np.ndarray:
    p = mesh.positions[mesh.faces].astype(float)
    return 0.5 * np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1)


def sound(mesh: Mesh) -> None:
    assert np.isfinite(mesh.positions).all()
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=1), 1.0, atol=1e-4)
    assert areas(mesh).min() > 1e-7


@pytest.mark.parametrize("name", SPECIES)
def test_a_tree_keeps_its_budgets(trees: dict[str, Shape], name: str) -> None:
    full, middle, far = (len(mesh.faces) for mesh in trees[name].lods)
    assert 1200 <= full <= 2200
    assert 200 <= middle <= 600
    assert 50 <= far <= 160
    for mesh in trees[name].lods:
        sound(mesh)


@pytest.mark.parametrize("name", SPECIES)
def test_a_tree_has_the_same_outline_at_every_distance(trees: dict[str, Shape], name: str) -> None:
    full, *others = trees[name].lods
    low, high = full.positions.min(axis=0), full.positions.max(axis=0)
    assert high[2] == pytest.approx(SPECIES[name].height, rel=0.06)
    assert low[2] < -0.25, "rooted below the ground, for slopes"
    for mesh in others:
        np.testing.assert_allclose(mesh.positions.min(axis=0)[:2], low[:2], atol=0.25 * (high - low)[:2].max())
        np.testing.assert_allclose(mesh.positions.max(axis=0), high, atol=0.12 * (high - low).max())


@pytest.mark.parametrize("name", SPECIES)
def test_foliage_is_as_bright_from_afar(trees: dict[str, Shape], name: str) -> None:
    brightness = []
    for mesh in trees[name].lods[1:]:
        leaf = mesh.colours[mesh.faces[:, 0], 3] == LEAF_SLOT
        each = mesh.colours[mesh.faces][..., :3].mean(axis=(1, 2))
        brightness.append(np.average(each[leaf], weights=areas(mesh)[leaf]))
    assert brightness[1] == pytest.approx(brightness[0], rel=0.12)


def test_a_tree_is_lighter_on_top_and_dark_within(trees: dict[str, Shape]) -> None:
    mesh = trees["oak"].lods[0]
    leaf = mesh.colours[:, 3] == LEAF_SLOT
    height, light = mesh.positions[leaf, 2], mesh.colours[leaf, 1].astype(float)
    assert light[height > np.quantile(height, 0.8)].mean() > 1.15 * light[height < np.quantile(height, 0.2)].mean()


def test_less_detail_is_fewer_triangles_and_the_same_tree() -> None:
    counts = []
    for detail in (1.0, 0.3, 0.1):
        mesh = tree_shape(OAK, generator(5, "test/detail"), detail=detail).lods[0]
        sound(mesh)
        assert mesh.positions[:, 2].max() == pytest.approx(OAK.height, rel=0.1)
        counts.append(len(mesh.faces))
    assert counts[0] > 2.5 * counts[1] > 2.5 * counts[2] > 0


def test_autumn_turns_leaves_and_spares_needles() -> None:
    assert in_autumn(PINE) is PINE
    assert in_autumn(OAK).summer == OAK.autumn
    assert in_autumn(OAK).leaf_material == "plain"
    assert tinted((200, 100, 250), (0.5, 1.0, 2.0)) == (100, 100, 255)


@pytest.mark.parametrize("name", SMALL)
def test_small_things_keep_their_budgets(name: str) -> None:
    make, most = SMALL[name]
    shape = make(generator(5, f"test/{name}"))
    counts = [len(mesh.faces) for mesh in shape.lods]
    assert counts[0] <= most
    assert counts == sorted(counts, reverse=True)
    for mesh in shape.lods:
        sound(mesh)
        assert mesh.positions[:, 2].min() < 0.06, "it touches the ground"


def test_pieces_of_hedge_stand_end_to_end() -> None:
    core = bushes.hedge_shape(generator(5, "test/hedge")).lods[-1]
    assert np.ptp(core.positions[:, 0]) == pytest.approx(bushes.HEDGE_LENGTH)


def test_a_lump_is_closed_and_has_the_volume_of_its_ellipsoid() -> None:
    mesh = lumps(np.ones(600), (1.0, 2.0, 3.0), (2.0, 1.0, 0.5))
    p = mesh.positions[mesh.faces].astype(float) - [1.0, 2.0, 3.0]
    volume = np.sum(np.einsum("ni,ni->n", p[:, 0], np.cross(p[:, 1], p[:, 2]))) / 6.0
    assert volume == pytest.approx(4.0 / 3.0 * np.pi * 2.0 * 1.0 * 0.5, rel=0.02)
    assert len(mesh.faces) == 2 * 600 - 4
    names = {tuple(np.round(point, 5)): k for k, point in enumerate(np.unique(np.round(mesh.positions, 5), axis=0))}
    corners = np.array([names[tuple(np.round(point, 5))] for point in mesh.positions])[mesh.faces]
    ways = Counter((int(a), int(b)) for face in corners for a, b in zip(face, np.roll(face, -1), strict=True))
    assert all(count == 1 and ways[b, a] == 1 for (a, b), count in ways.items())


def test_a_hull_follows_its_cloud() -> None:
    cloud = directions(4000) * [3.0, 2.0, 1.0] + [5.0, 0.0, 2.0]
    mesh = hull(cloud, 60, 1.0)
    inside = (mesh.positions - [5.0, 0.0, 2.0]) / [3.0, 2.0, 1.0]
    np.testing.assert_allclose(np.linalg.norm(inside, axis=1), 1.0, atol=0.02)


def test_a_limb_has_its_radii() -> None:
    line = bent((0, 0, 0), (0, 0, 4), (0, 0, 0), 5)
    mesh = limb(line, [0.5, 0.4, 0.3, 0.2, 0.1], 8)
    r = np.hypot(mesh.positions[:, 0], mesh.positions[:, 1])
    np.testing.assert_allclose(r, 0.5 - 0.1 * mesh.positions[:, 2], atol=1e-6)
    outward = np.einsum("ni,ni->n", mesh.normals[:, :2], mesh.positions[:, :2])
    assert outward.min() > 0.0


def test_spots_keep_their_distance() -> None:
    chance = generator(5, "test/spots")
    spots = Spots()
    spots.add(0.0, 0.0, 10.0)
    places = spread_out(chance.uniform(-50, 50, (4000, 2)), 150, spots, 1.5)
    assert len(places) == 150
    apart = np.linalg.norm(places[:, None] - places, axis=2) + 100.0 * np.eye(150)
    assert apart.min() >= 3.0
    assert np.linalg.norm(places, axis=1).min() >= 11.5
    assert not spots.free(places[0, 0], places[0, 1], 0.1)
    assert spots.free(500.0, 500.0, 10.0)
