"""Every option of every world changes what stands in it; and every world can be stood upon."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from option_flights import DRONE, HERE, Flight, Script, check_change, end, fields_of, fly

from skyloop.sim.scenario import make_scenario
from skyloop.world.imported import Imported
from skyloop.world.materials import MATERIAL_ID
from skyloop.world.model import Model
from skyloop.world.scenery.actors.indoor_walks import WatchfulWalker
from skyloop.world.semantics import CLASS_ID
from skyloop.world.world import WORLDS, World, WorldConfig, build_world
from skyloop_client.errors import ScenarioError

REST = Script((), 0.5)
LEGS = 0.119
"""m from the ground to the iris's body origin."""


def made(config: dict[str, Any], folder: Path | None = HERE) -> World:
    """As a scenario has it."""
    world = build_world(make_scenario({"world": config}).world, 1, folder)
    world.model.freeze()
    return world


@cache
def stood_upon(name: str) -> tuple[World, Flight]:
    """A world with a vehicle standing in its middle."""
    found: list[World] = []

    def build(*arguments: Any) -> World:
        found.append(build_world(*arguments))
        return found[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skyloop.sim.assembly.build_world", build)
        flight = fly(REST, {"world": name})
    return found[0], flight


@cache
def changed(name: str) -> World:
    """With all of its options changed; none of them reaches what another is measured by."""
    return made({"name": name, "options": {option: case[0] for option, case in WORLD_OPTIONS[name].items()}})


def number_of(*classes: str) -> Callable[[World], float]:
    wanted = {CLASS_ID[name] for name in classes}
    return lambda world: sum(instance.class_id in wanted for instance in world.model.objects)


def walkers(world: World) -> float:
    return sum(isinstance(mover, WatchfulWalker) for mover in world.model.movers)


def other_people(world: World) -> float:
    return number_of("person")(world) - walkers(world)


def height_at(x: float, y: float) -> Callable[[World], float]:
    return lambda world: float(world.ground.at(x, y)[0])


def pose_of(model: Model, name: str) -> np.ndarray:
    instance = next(instance for instance in model.objects if instance.name == name)
    return np.asarray(model.standing_poses[instance.rows[0]])


def spread(is_a: str) -> Callable[[World], float]:
    """m from the origin to the farthest object of a class."""

    def farthest(world: World) -> float:
        model = world.model
        rows = [row for row in range(model.n_standing) if model.object_class[model.part_object[row]] == CLASS_ID[is_a]]
        return float(np.abs(model.standing_poses[rows, :2, 3]).max())

    return farthest


def walk(world: World) -> float:
    """m that the first mover covers in a second."""
    poses = [world.model.motion(t).poses[0, :2, 3] for t in (0, 1_000_000_000)]
    return float(np.linalg.norm(poses[1] - poses[0]))


def named(start: str) -> Callable[[World], float]:
    return lambda world: sum(instance.name.startswith(start) for instance in world.model.objects)


def trees_per_hectare(world: World) -> float:
    return number_of("tree")(world) / (2.0 * spread("tree")(world)) ** 2 * 1e4


def unevenness(world: World) -> float:
    return float(np.ptp(world.ground.heights))


def steepness(world: World) -> float:
    """Of one cell, against the whole."""
    return float(np.abs(np.diff(world.ground.heights)).mean() / np.ptp(world.ground.heights))


def marker_place(world: World) -> float:
    return float(pose_of(world.model, "landing marker")[1, 3])


def marker_yaw(world: World) -> float:
    pose = pose_of(world.model, "landing marker")
    return float(np.degrees(np.arctan2(pose[1, 0], pose[0, 0])))


WORLD_OPTIONS: dict[str, dict[str, tuple[Any, Callable[[World], float], float]]] = {
    "flat": {"height": (2.0, height_at(0.0, 0.0), 2.0)},
    "hills": {
        "amplitude": (10.0, unevenness, 5.0),
        "wavelength": (25.0, steepness, 0.01),
        "extent": (100.0, lambda world: world.ground.heights.shape[0], -400),
    },
    "blocks": {
        "count": (10, number_of("block"), -20),
        "size": (200.0, spread("block"), 20.0),
        "landmarks": (True, named("OrangeBall"), 1),
    },
    "room": {"white_wall": ((0.0, 4.0, 0.0, 4.6), named("white wall"), 1), "walkers": (2, walkers, 2)},
    "corridor": {
        "anchor": ((8.0, 4.0, 1.6), named("anchor"), 1),
        "pillars": (2, named("pillar"), -3),
        "walkers": (2, walkers, 2),
    },
    "house": {"walkers": (2, walkers, 2)},
    "landing": {
        "marker_xy": ((-5.0, 7.0), marker_place, 7.0),
        "marker_yaw_deg": (90.0, marker_yaw, 89.9),
        "screen": ((90.0, 30.0), named("screen"), 1),
    },
    "radar-lab": {"speed": (2.0, walk, 0.8)},
    "park": {"people": (4, number_of("person"), -10), "trees": (20, number_of("tree"), -70)},
    "forest": {"density": (200.0, trees_per_hectare, -250.0), "size": (60.0, spread("tree"), -25.0)},
    "urban": {"people": (3, number_of("person"), -13), "cars": (1, number_of("car"), -7)},
    "urban-walls": {},
    "warehouse": {"people": (0, other_people, -3), "fill": (0.1, number_of("pallet"), -50), "walkers": (2, walkers, 2)},
}
"""By world and option: its changed value, what it changes, and by how much at least."""


def test_every_option_of_every_world_has_a_case() -> None:
    assert fields_of(WorldConfig) == {"name", "file", "options", "randomise"}
    assert set(WORLD_OPTIONS) == set(WORLDS)
    for name, world in WORLDS.items():
        known = set(inspect.signature(world.__init__).parameters) - {"self", "seed"}
        # tests/world/test_randomise.py has that
        assert set(WORLD_OPTIONS[name]) == known - {"randomise"}


@pytest.mark.parametrize(
    ("name", "option"), [(name, option) for name, options in WORLD_OPTIONS.items() for option in options]
)
def test_world_option(name: str, option: str) -> None:
    _, measure, least = WORLD_OPTIONS[name][option]
    check_change(f"{name}.{option}", measure(stood_upon(name)[0]), measure(changed(name)), least)


# ---- where one stands


@pytest.mark.parametrize("world", [*WORLDS, "option_plugins.py:Plateau"])
def test_every_world_is_stood_upon(world: str) -> None:
    built, flight = stood_upon(world)
    assert np.abs(flight.velocity[-1]).max() < 0.01
    assert flight.tilt.max() < np.radians(2.0)
    ground = 3.0 if world.endswith("Plateau") else 0.0
    assert height_at(0.0, 0.0)(built) == pytest.approx(ground, abs=0.01)
    assert end("position", 2)(flight) == pytest.approx(ground + LEGS, abs=0.01)


def test_hills_follow_the_seed_and_are_stood_upon_elsewhere() -> None:
    far = Script((), 1.0, {"world": {"name": "hills", "options": {"extent": 60.0}}, DRONE + "position": [40.0, 10.0]})
    heights = [end("position", 2)(fly(far, {"seed": seed})) for seed in (1, 2)]
    assert abs(heights[0] - heights[1]) > 0.2
    assert heights[0] == pytest.approx(height_at(40.0, 10.0)(stood_upon("hills")[0]) + LEGS, abs=0.1)


# ---- a file of the user's

OBJ = """\
o Crate_1
v 2 0 -1
v 4 0 -1
v 4 0 1
v 2 0 1
v 3 2 0
f 1 2 5
f 2 3 5
f 3 4 5
f 4 1 5
f 4 3 2 1
"""


def top(world: World) -> float:
    """m, of the file's objects."""
    return float(corners(world)[:, 2].max())


def reach(world: World) -> float:
    return float(corners(world)[:, 0].max())


def corners(world: World) -> np.ndarray:
    model = world.model
    row = next(instance for instance in model.objects if instance.name == "Crate_1").rows[0]
    pose = model.standing_poses[row]
    return np.asarray(model.shapes[model.part_shape[row]].lods[0].positions @ pose[:, :3].T + pose[:, 3])


def material(world: World) -> float:
    model = world.model
    row = next(instance for instance in model.objects if instance.name == "Crate_1").rows[0]
    return float(model.shapes[model.part_shape[row]].lods[0].materials[0])


FILE_OPTIONS: dict[str, tuple[Any, Callable[[World], float], float]] = {
    "scale": (3.0, reach, 12.0),
    "up": ("z", top, 1.0),
    "ground": (-4.0, height_at(0.0, 0.0), -4.0),
    "classes": ({"crate*": "rock"}, number_of("rock"), 1.0),
    "materials": ({"crate*": "brick"}, material, MATERIAL_ID["brick"]),
}
SDF = """\
<sdf version="1.9"><world name="w">
<include><uri>https://fuel.example/models/hut</uri></include>
<model name="m"><link name="l"><visual name="v"><geometry><box/></geometry></visual></link></model>
</world></sdf>
"""
HUT = """\
<sdf version="1.9"><model name="hut"><pose>0 0 -3 0 0 0</pose>
<link name="l"><visual name="v"><geometry><box/></geometry></visual></link></model></sdf>
"""
"""The changed value, what it changes, and what that is then."""


def test_every_option_of_an_imported_world_has_a_case() -> None:
    assert set(FILE_OPTIONS) | {"models"} == set(inspect.signature(Imported.__init__).parameters) - {"self", "path"}


@pytest.mark.parametrize("option", FILE_OPTIONS)
def test_imported_world_option(option: str, tmp_path: Path) -> None:
    (tmp_path / "my.obj").write_text(OBJ)
    value, measure, expected = FILE_OPTIONS[option]
    before = measure(made({"file": "my.obj"}, tmp_path))
    after = measure(made({"file": "my.obj", "options": {option: value}}, tmp_path))
    assert before != pytest.approx(after)
    assert after == pytest.approx(expected)


def test_models_are_found_in_the_folders_given(tmp_path: Path) -> None:
    (tmp_path / "my.sdf").write_text(SDF)
    hut = tmp_path / "mine" / "hut"
    hut.mkdir(parents=True)
    (hut / "model.sdf").write_text(HUT)
    lowest = height_at(0.0, 0.0)
    assert lowest(made({"file": "my.sdf"}, tmp_path)) == pytest.approx(-0.5)
    for folders in ("mine", ["mine"]):
        assert lowest(made({"file": "my.sdf", "options": {"models": folders}}, tmp_path)) == pytest.approx(-3.5)
    with pytest.raises(ScenarioError, match="which is no folder"):
        made({"file": "my.sdf", "options": {"models": "nowhere"}}, tmp_path)


def test_a_file_is_stood_upon_and_met(tmp_path: Path) -> None:
    (tmp_path / "my.obj").write_text(OBJ)
    eye = {"kind": "rangefinder", "preset": "perfect"}
    script = Script((), 0.2, {DRONE + "sensors": {"eye": eye}})
    flight = fly(script, {"world": {"file": str(tmp_path / "my.obj")}})
    assert end("position", 2)(flight) == pytest.approx(LEGS, abs=1e-3)
    # the pyramid's side leans back by half its height
    assert flight.records("eye")[-1].distance == pytest.approx(2.0 + 0.5 * LEGS, abs=2e-3)


def test_a_name_and_a_file_are_one_too_many() -> None:
    with pytest.raises(ScenarioError, match="two worlds; keep one"):
        make_scenario({"world": {"name": "park", "file": "my.obj"}})
