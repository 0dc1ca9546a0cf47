"""The room stands exactly where E2ES's world file has it (facts B.2, typed here a second time)."""

from __future__ import annotations

import numpy as np
import pytest
from model_rays import cast, triangles

from skyloop.world.materials import MATERIALS
from skyloop.world.semantics import CLASS_ID
from skyloop.world.worlds.room import Room

# length along, width across, x, y, yaw
SOLIDS = np.array(
    [
        [20.15, 0.15, 0.02, 9.98, 0], [20.15, 0.15, 0.02, -10.02, 0],
        [0.15, 20.15, -9.98, -0.02, 0], [0.15, 20.15, 10.02, -0.02, 0],
        [2, 0.5, -2.543, 6.600, 0], [2, 0.5, 8.996, 5.057, np.pi], [2, 0.5, 4.440, -4.244, 0.785],
        [3, 0.5, -6.001, -4.440, -np.pi / 2],
        *([1, 1, x, y, 0] for x, y in (
            (-7.265, 1.339), (1.457, 5.893), (6.381, 0.920), (-2.475, 2.510), (1.491, 2.455), (-4.490, -0.500),
            (-3.303, -6.628), (-1.208, -3.332), (6.888, -5.736), (1.151, -6.527), (5.667, 6.917), (3.280, -1.309),
            (-6.549, 6.252))),
    ]
)  # fmt: skip


def analytic_distance(origin: np.ndarray, direction: np.ndarray) -> float:
    """m to the nearest of the solids or the floor, by slabs."""
    best = -origin[2] / direction[2] if direction[2] < 0 else np.inf
    for long, wide, x, y, yaw in SOLIDS:
        c, s = np.cos(yaw), np.sin(yaw)
        turn = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
        o, d = turn @ (origin - [x, y, 1.25]), turn @ direction
        half = np.array([long / 2, wide / 2, 1.25])
        near = ((-np.sign(d) * half - o) / d).max()
        far = ((np.sign(d) * half - o) / d).min()
        if 0 < near < far:
            best = min(best, near)
    return float(best)


def test_rays_meet_the_solids_of_facts_b2_within_a_tenth_of_a_millimetre() -> None:
    corners, _ = triangles(Room(4).model)
    random = np.random.default_rng(1)
    origins = np.column_stack([random.uniform(-16, 16, (1500, 2)), random.uniform(0.2, 6.0, 1500)])
    free = np.ones(len(origins), bool)
    for long, wide, x, y, yaw in SOLIDS:
        dx, dy = (origins[:, :2] - [x, y]).T
        along, across = dx * np.cos(yaw) + dy * np.sin(yaw), dy * np.cos(yaw) - dx * np.sin(yaw)
        free &= (np.abs(along) > long / 2 + 0.01) | (np.abs(across) > wide / 2 + 0.01)
    origins = origins[free]
    directions = random.normal(size=(len(origins), 3)) * [1, 1, 0.4]
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    found, _ = cast(corners, origins, directions)
    expected = np.array([analytic_distance(o, d) for o, d in zip(origins, directions, strict=True)])
    near = expected < 100.0
    assert near.sum() > 700
    np.testing.assert_allclose(found[near], expected[near], atol=1e-4)


def test_every_wall_and_box_is_a_thing_of_its_class_with_its_own_wallpaper() -> None:
    world = Room(2)
    world.model.freeze()
    objects = [t for t in world.model.objects if t.class_id in (CLASS_ID["wall"], CLASS_ID["box"])]
    assert [t.name for t in objects] == [f"wall {k}" for k in range(1, 9)] + [f"box {k}" for k in range(1, 14)]
    papers = [int(world.model.part_variant[t.rows[0]]) for t in objects]
    assert len(set(papers)) == 21
    assert set(papers) <= set(range(36))
    for instance in objects:
        materials = world.model.shapes[world.model.part_shape[instance.rows[0]]].lods[0].materials
        assert {MATERIALS[m].name for m in materials} == {"wallpaper"}


def test_no_two_faces_share_a_plane_and_a_place() -> None:
    """They would flicker: straight down on the tops, and into the outside of the corners."""
    corners, _ = triangles(Room(1).model)
    random = np.random.default_rng(2)
    for x, y in ((10.02, 9.98), (-9.98, 9.98), (-9.98, -10.02), (10.02, -10.02), (9.97, 5.0)):
        for dx, dy in random.uniform(-0.07, 0.07, (20, 2)):
            at, n = [x + dx, y + dy, 5.0], 0
            rest = corners
            while True:
                distance, hit = cast(rest, at, [0.0, 0.0, -1.0])
                if not abs(distance[0] - 2.5) < 1e-4:
                    break
                n += 1
                rest = np.delete(rest, hit, axis=0)
            assert n <= 1, (at, n)


@pytest.mark.parametrize("seed", range(3))
def test_the_seed_changes_the_papers_and_never_the_geometry(seed: int) -> None:
    looks = frozenset({"colours", "textures"})
    first, again, painted = (triangles(Room(s, randomise=r).model)[0] for s, r in ((0, ()), (seed, ()), (seed, looks)))  # type: ignore[arg-type]
    assert first.tobytes() == again.tobytes() == painted.tobytes()
    variants = []
    for s in (seed, seed, seed + 1):
        model = Room(s).model
        model.freeze()
        variants.append(model.part_variant.tobytes())
    assert variants[0] == variants[1] != variants[2]


def test_the_take_off_place_is_free() -> None:
    corners, _ = triangles(Room(0).model)
    risen = corners[corners[..., 2].max(axis=1) > 0.1]
    angles = np.linspace(0.0, 2.0 * np.pi, 721)
    directions = np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1)
    distances, _ = cast(risen, np.tile([0.0, 0.0, 1.0], (721, 1)), directions)
    # the box at (1.491, 2.455) is the nearest, as in E2ES
    assert distances.min() == pytest.approx(np.hypot(0.991, 1.955), abs=2e-2)


def test_a_white_wall_stands_where_it_is_asked_for_and_changes_nothing_else() -> None:
    plain, with_wall = Room(4), Room(4, white_wall=(3.0, -9.85, 0.0, 4.6))
    origin, south = np.array([[3.0, -5.0, 1.5]]), np.array([[0.0, -1.0, 0.0]])
    for room, expected in ((plain, 4.945), (with_wall, 4.825)):
        found, _ = cast(triangles(room.model)[0], origin, south)
        assert found[0] == pytest.approx(expected, abs=1e-4)
    beside = np.array([[5.5, -5.0, 1.5]])
    a, b = (cast(triangles(room.model)[0], beside, south)[0][0] for room in (plain, with_wall))
    assert a == b
    wall = with_wall.model.objects[-1]
    assert wall.name == "white wall" and wall.class_id == CLASS_ID["wall"]
    assert [instance.name for instance in with_wall.model.objects[:-1]] == [
        instance.name for instance in plain.model.objects
    ]
