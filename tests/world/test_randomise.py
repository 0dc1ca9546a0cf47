"""What `world.randomise` varies with the seed, that without it stays; and nothing else."""

from __future__ import annotations

import hashlib
import inspect
from functools import cache
from typing import Any, get_args

import numpy as np
import pytest

import skyloop
from skyloop.sim.scenario import make_scenario
from skyloop.world.model import Model
from skyloop.world.semantics import CLASS_ID
from skyloop.world.weather import WeatherConfig, randomised
from skyloop.world.world import WORLDS, Randomised, WorldConfig, build_world
from skyloop_client.errors import RendererError

SUN = ("time_of_day", "day_of_year")
AIR = ("clouds", "visibility", "rain", "snow", "dust")
NEVER_DRAWN = ("wetness", "leaves")
SMALL: dict[str, dict[str, Any]] = {
    "park": {"people": 3, "trees": 6},
    "forest": {"size": 40.0},
    "urban": {"people": 3, "cars": 2},
    "blocks": {"count": 10},
    "warehouse": {"fill": 0.05},
}
"""Options that make a world quick to build."""
VARIED: dict[str, set[str]] = {
    "blocks": {"textures", "colours"},
    "room": {"textures", "colours"},
    "corridor": {"textures", "colours"},
    "house": {"textures", "colours"},
    "landing": {"colours"},
    "radar-lab": {"colours", "people"},
    "park": {"textures", "colours", "people"},
    "forest": {"colours"},
    "urban": {"textures", "colours", "people"},
    "urban-walls": {"textures", "colours"},
    "warehouse": {"textures", "colours", "people"},
}
"""What each world varies in itself; all others show other textures where "textures" is given."""


def drawn(seed: int, *topics: str) -> dict[str, Any]:
    return randomised(WeatherConfig(), seed, topics).model_dump()


@pytest.mark.parametrize(("topic", "own"), [("sun", SUN), ("weather", AIR)])
def test_sun_and_weather_follow_the_seed_where_asked_for(topic: str, own: tuple[str, ...]) -> None:
    usual = WeatherConfig().model_dump()
    assert set(usual) == {*SUN, *AIR, *NEVER_DRAWN}
    assert drawn(1) == drawn(2) == usual
    many = [drawn(seed, topic) for seed in range(40)]
    assert many[3] == drawn(3, topic)
    for name in usual:
        found = {draw[name] for draw in many}
        assert len(found) >= 3 if name in own else found == {usual[name]}, name
    for draw in many:
        WeatherConfig(**draw)


@pytest.mark.parametrize("topic", ["sun", "weather"])
def test_sensors_meet_the_weather_that_was_drawn(topic: str) -> None:
    skies = []
    for seed in (5, 6):
        scenario = make_scenario(
            {
                "seed": seed,
                "world": {"name": "flat", "randomise": [topic]},
                "vehicles": [{"sensors": {"sky": {"kind": f"{__file__}:SkyWatch", "rate_hz": 10}}}],
            }
        )
        with skyloop.build(scenario) as simulation:
            simulation.run_until(0.05)
            told = simulation.latest("drone/sky")
        assert told.weather.model_dump() == drawn(seed, topic)
        skies.append(told.weather)
    assert skies[0] != skies[1]


class SkyWatch:
    """A sensor that publishes the weather."""

    message = "Sky"

    def initial_state(self, rng: Any) -> None:
        return None

    def measure(self, kinematics: Any, scene: Any, state: None, rng: Any) -> tuple[Any, None]:
        from dataclasses import make_dataclass

        return make_dataclass("Sky", ["t_ns", "weather"])(kinematics.t_ns, scene.weather.config), None


# ---- what worlds vary themselves


def built(name: str, seed: int, *topics: Any) -> Model:
    config = WorldConfig(name=name, options=SMALL.get(name, {}), randomise=topics)
    model = build_world(config, seed, None).model
    model.freeze()
    return model


def people_rows(model: Model) -> list[int]:
    return [row for row, instance in enumerate(model.part_object) if model.object_class[instance] == CLASS_ID["person"]]


def digest(*arrays: Any) -> str:
    return hashlib.blake2b(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()


@cache
def aspects(name: str, *topics: Any) -> dict[str, str]:
    """Digests of where everything stands, of its colours and of its textures, people apart."""
    model = built(name, 1, *topics)
    people = set(people_rows(model))
    rows = [row for row in range(model.n_standing) if row not in people]
    meshes = [model.shapes[model.part_shape[row]].lods[0] for row in rows]
    paint = [model.palettes[model.part_palette[row]] for row in rows]
    return {
        "places": digest(model.standing_poses[rows], *(mesh.positions for mesh in meshes)),
        "colours": digest(*(mesh.colours for mesh in meshes), *paint),
        "textures": digest(*(mesh.materials for mesh in meshes), model.part_variant[rows]),
        "people": digest(*(model.palettes[model.part_palette[row]] for row in sorted(people))),
    }


def test_every_world_that_can_vary_is_here() -> None:
    assert set(VARIED) == {name for name in WORLDS if "randomise" in inspect.signature(WORLDS[name]).parameters}


@pytest.mark.parametrize("name", VARIED)
def test_a_world_varies_what_it_is_asked_to_and_moves_nothing(name: str) -> None:
    usual, changed = aspects(name), aspects(name, "textures", "colours", "people")
    different = {aspect for aspect in usual if changed[aspect] != usual[aspect]}
    # clothes have colours, and other boards and bricks have other ones
    assert different - {"colours"} == VARIED[name] - {"colours"}
    assert "colours" in different or name == "radar-lab"


@pytest.mark.parametrize("name", ["blocks", "room", "urban-walls", "radar-lab"])
@pytest.mark.parametrize("topic", ["textures", "colours", "people"])
def test_one_topic_leaves_the_others_alone(name: str, topic: str) -> None:
    usual, changed = aspects(name), aspects(name, topic)
    different = {aspect for aspect in usual if changed[aspect] != usual[aspect]}
    if topic not in VARIED[name]:
        assert different == set()
    elif name == "radar-lab":
        assert different == {"people"}, "there is nothing else"
    else:
        assert topic in different
        assert different <= {"textures": {"textures", "colours"}, "colours": {"colours"}}[topic]


def colours_of(model: Model, is_a: str) -> set[tuple[int, ...]]:
    found: set[tuple[int, ...]] = set()
    for row in range(model.n_standing):
        if model.object_class[model.part_object[row]] == CLASS_ID[is_a]:
            found |= {tuple(c) for c in model.shapes[model.part_shape[row]].lods[0].colours[:, :3].tolist()}
    return found


def test_colours_leave_the_usual_ones_and_differ_between_seeds() -> None:
    usual = set.union(*(colours_of(built("blocks", seed), "block") for seed in range(6)))
    first, second = (colours_of(built("blocks", seed, "colours"), "block") for seed in (1, 2))
    assert len(usual) <= 12
    assert len(first) >= 8 and not first & usual and not second & usual
    assert not first & second


def test_the_number_of_people_follows_the_seed_where_asked_for() -> None:
    def count(seed: int, *topics: str) -> int:
        model = built("warehouse", seed, *topics)
        return sum(instance.class_id == CLASS_ID["person"] for instance in model.objects)

    assert {count(seed) for seed in range(2)} == {3}
    assert len({count(seed, "people") for seed in range(4)}) >= 3


# ---- what the renderer varies


def seen(seed: int, *topics: Any) -> np.ndarray:
    """The ground of `flat`, which has nothing else to vary."""
    down = {"kind": "camera", "width": 64, "height": 48, "mount": {"rotation_deg": [0, 60, 0]}}
    vehicle = {"position": [0.0, 0.0, 3.0], "sensors": {"eye": down}}
    data = {"seed": seed, "world": {"name": "flat", "randomise": list(topics)}, "vehicles": [vehicle]}
    with skyloop.build(make_scenario(data)) as simulation:
        simulation.run_until(0.01)
        return np.asarray(simulation.latest("drone/eye").colour, np.float64)


@pytest.mark.renders
def test_textures_follow_the_seed_where_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """tests/rendering/test_textures.py has the textures of many seeds."""
    assert set(get_args(Randomised)) == {"sun", "weather", "textures", "colours", "people"}
    assert np.abs(seen(1, "textures") - seen(1)).mean() > 2.0
    asked: list[int] = []

    def note(model: Model, *, texture_seed: int) -> Any:
        asked.append(texture_seed)
        raise RendererError("seen enough")

    monkeypatch.setattr("skyloop.sim.assembly.Renderer", note)
    for seed, topics in ((1, ()), (2, ()), (1, ("textures",)), (2, ("textures",))):
        with pytest.raises(RendererError, match="seen enough"):
            seen(seed, *topics)
    assert asked[0] == asked[1]
    assert len(set(asked)) == 3
