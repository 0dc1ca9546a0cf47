import numpy as np
import pytest
from embree_probe import Probe

from skyloop.world.materials import MATERIAL_ID
from skyloop.world.model import Shape
from skyloop.world.scenery.building_parts import RECESS
from skyloop.world.scenery.buildings import STYLES, house_shape
from skyloop_client.errors import ScenarioError

WIDTH, DEPTH = 10.0, 9.0


def _house(style: str, seed: int = 1, **options: object) -> Shape:
    return house_shape(np.random.default_rng(seed), WIDTH, DEPTH, 3, style, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("style", STYLES)
def test_every_level_of_detail_is_closed_from_inside(style: str) -> None:
    for seed in range(4):
        random = np.random.default_rng(seed)
        inside = random.uniform((-4.0, -4.5, 0.3), (4.0, 4.5, 8.0), (300, 3))
        directions = random.normal(size=(300, 3))
        directions[:100] = (0.0, 0.0, 1.0)
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        for k, mesh in enumerate(_house(style, seed).lods):
            # the far detail has no floor
            rays = directions if k < 2 else directions * np.where(directions[:, 2:] < 0.2, -1.0, 1.0)
            rays = rays[rays[:, 2] > 0.1] if k == 2 else rays
            distance, _ = Probe.of_mesh(mesh).cast(inside[: len(rays)], rays)
            assert np.isfinite(distance).all(), f"detail {k} has a hole"


@pytest.mark.parametrize("style", STYLES)
def test_levels_of_detail_agree_in_outline_and_shrink(style: str) -> None:
    lods = _house(style).lods
    counts = [len(mesh.faces) for mesh in lods]
    assert 800 <= counts[0] <= 3800
    assert counts[1] <= 0.25 * counts[0] and counts[2] <= 80
    near, far = lods[0].positions, lods[2].positions
    assert near[:, 2].min() == far[:, 2].min() == 0.0
    # balconies, awnings and porches stand out; walls and roofs do not differ
    assert np.abs(near.min(axis=0) - far.min(axis=0)).max() < 0.7
    assert near[:, 0].max() - far[:, 0].max() < 2.0
    assert near[:, 2].max() - far[:, 2].max() < 1.4


@pytest.mark.parametrize("style", STYLES)
def test_windows_lie_behind_the_wall_and_glass_is_all_around(style: str) -> None:
    mesh = _house(style).lods[0]
    middles, normals = mesh.positions[mesh.faces].mean(axis=1), mesh.normals[mesh.faces[:, 0]]
    glass = mesh.materials[mesh.faces[:, 0]] == MATERIAL_ID["glass"]
    for axis, half in ((0, 0.5 * DEPTH), (1, 0.5 * WIDTH)):
        for way in (-1.0, 1.0):
            panes = glass & (way * normals[:, axis] > 0.9)
            assert panes.sum() >= 4
            np.testing.assert_allclose(way * middles[panes, axis], half - RECESS, atol=1e-5)


def test_glass_of_the_middle_detail_stands_before_the_wall() -> None:
    mesh = _house("plain").lods[1]
    glass = mesh.materials[mesh.faces[:, 0]] == MATERIAL_ID["glass"]
    front = glass & (mesh.normals[mesh.faces[:, 0], 0] > 0.9)
    assert (mesh.positions[mesh.faces[front], 0] >= 0.5 * DEPTH + 0.029).all()


def test_blind_sides_have_no_windows() -> None:
    mesh = _house("town", blind=("left", "right")).lods[0]
    glass = mesh.materials[mesh.faces[:, 0]] == MATERIAL_ID["glass"]
    assert not (glass & (np.abs(mesh.normals[mesh.faces[:, 0], 1]) > 0.9)).any()
    assert np.abs(mesh.positions[:, 1]).max() <= 0.5 * WIDTH + 1e-6


def test_front_faces_x_with_a_shop_and_blocks_have_balconies() -> None:
    town, block = _house("town").lods[0], _house("block").lods[0]
    assert town.positions[:, 0].max() > 0.5 * DEPTH + 0.3
    assert block.positions[:, 0].max() > 0.5 * DEPTH + 1.1
    assert block.positions[:, 0].min() > -0.5 * DEPTH - 0.2


def test_unknown_style_is_refused() -> None:
    with pytest.raises(ScenarioError, match="palace"):
        _house("palace")
