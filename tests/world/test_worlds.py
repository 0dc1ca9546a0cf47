"""What holds for every world: the seed alone decides, it is not too large, and impossible options are refused."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

from skyloop.world.world import WORLDS, WorldConfig, build_world
from skyloop_client.errors import ScenarioError

SMALL: dict[str, dict[str, Any]] = {
    "park": {"people": 3, "trees": 6},
    "forest": {"size": 40.0},
    "urban": {"people": 3, "cars": 2},
    "warehouse": {"fill": 0.05},
    "room": {"walkers": 2},
}
"""Options that make a world quick to build, and those with people who walk."""


def fingerprint(name: str, seed: int) -> str:
    """Of all that stands and moves, its names and looks, and of the ground."""
    world = build_world(WorldConfig(name=name, options=SMALL.get(name, {})), seed, None)
    model, digest = world.model, hashlib.blake2b(digest_size=16)
    model.freeze()
    tables = (model.part_shape, model.part_object, model.part_palette, model.part_variant, model.object_class)
    poses = (model.standing_poses, model.motion(10**10).poses, world.ground.heights)
    meshes = [mesh for shape in model.shapes for mesh in shape.lods]
    looks = [
        array for mesh in meshes for array in (mesh.positions, mesh.normals, mesh.uv, mesh.colours, mesh.materials)
    ]
    for array in (*tables, *poses, *looks, *model.palettes):
        digest.update(np.ascontiguousarray(array).tobytes())
    digest.update(repr([(instance.name, instance.rows) for instance in model.objects]).encode())
    return digest.hexdigest()


@pytest.mark.parametrize("name", WORLDS)
def test_the_seed_alone_decides(name: str) -> None:
    first, again, other = (fingerprint(name, seed) for seed in (1, 1, 2))
    assert first == again
    assert (first == other) == (name == "flat")


def refused(name: str, **options: Any) -> str:
    with pytest.raises(ScenarioError) as error:
        build_world(WorldConfig(name=name, options=options), 1, None)
    return str(error.value)


NAN = float("nan")
IMPOSSIBLE: list[tuple[str, str, list[Any]]] = [
    ("blocks", "count", [-1, 100_000, 2.5]),
    ("blocks", "size", [0.0, NAN]),
    ("corridor", "anchor", [(8.0, 4.5, 1.6)]),
    ("forest", "density", [49.0, 2001.0, NAN]),
    ("forest", "size", [10.0]),
    ("landing", "marker_xy", [(40.0, 0.0), (NAN, 0.0), 3.0, ("a", 1), (1.0, 2.0, 3.0)]),
    ("landing", "marker_yaw_deg", [float("inf")]),
    ("landing", "screen", [3.0, (1.0,), ("a", 30.0), (0.0, 80.0), (NAN, 30.0)]),
    ("park", "people", [-1, 1000]),
    ("park", "trees", [201]),
    ("radar-lab", "speed", [0.0, -1.0, 10.0, NAN]),
    ("room", "walkers", [-1, 13, True, 2.5]),
    ("room", "white_wall", [(1.0, 2.0), (0.0, 0.0, 0.0, -1.0), (0.0, NAN, 0.0, 2.0), ("x", 0, 0, 1)]),
    ("urban", "people", [-1]),
    ("warehouse", "fill", [1.5]),
]


@pytest.mark.parametrize(("name", "option", "values"), IMPOSSIBLE)
def test_impossible_options_are_refused_in_one_line(name: str, option: str, values: list[Any]) -> None:
    for value in values:
        said = refused(name, **{option: value})
        assert said.startswith(f"world '{name}'") and "\n" not in said


def test_a_forest_of_too_many_trees_is_refused() -> None:
    assert "18000 trees" in refused("forest", size=300.0, density=2000.0)
