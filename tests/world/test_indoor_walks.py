"""People who walk indoors: over the free floor, away from each other, and only where a scenario asks for them."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

import numpy as np
import pytest

from skyloop.world.model import Model
from skyloop.world.occupancy import occupancy
from skyloop.world.scenery.actors.people import Walker
from skyloop.world.world import WorldConfig, build_world

WORLDS = ("room", "corridor", "house", "warehouse")
SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.slow("more seeds")) for seed in range(2, 11))]


@cache
def built(world: str, seed: int, **options: Any) -> Model:
    """Read only: built once for all tests."""
    model = build_world(WorldConfig(name=world, options=options), seed, None).model
    model.freeze()
    return model


def walkers_of(model: Model, count: int) -> list[Walker]:
    found = [mover for mover in model.movers if isinstance(mover, Walker)]
    return found[-count:]


def fingerprint(model: Model) -> str:
    """Of everything that stands and of its looks."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (model.standing_poses, model.part_shape[: model.n_standing], model.part_variant[: model.n_standing]):
        digest.update(np.ascontiguousarray(array).tobytes())
    for shape in model.shapes[: int(model.part_shape[: model.n_standing].max()) + 1]:
        digest.update(shape.lods[0].positions.tobytes() + shape.name.encode())
    return digest.hexdigest()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("world", WORLDS)
def test_people_walk_where_nothing_stands(world: str, seed: int) -> None:
    model = built(world, seed, walkers=4)
    people = walkers_of(model, 4)
    for person in people:
        lap = person.path.at(np.arange(0.0, person.path.length, 0.1))[0]
        low, high = (*(lap.min(axis=0) - 0.5), 0.12), (*(lap.max(axis=0) + 0.5), 1.9)
        taken = np.argwhere(occupancy(model, None, low, high, 0.05).any(axis=2)) * 0.05 + np.array(low[:2]) + 0.025
        nearest = min((np.hypot(*(taken - place).T).min() for place in lap), default=np.inf) if len(taken) else np.inf
        assert nearest > 0.45, "a body with its arms is 0.35 m wide to each side"
        assert np.hypot(*lap.T).min() > 1.7, "they leave the place of take-off alone"
        speed = np.linalg.norm(person.poses(1.0)[0, :2, 3] - person.poses(0.0)[0, :2, 3])
        assert 0.4 < speed < 1.2


@pytest.mark.parametrize("world", WORLDS)
def test_two_people_never_meet(world: str) -> None:
    model = built(world, 1, walkers=4)
    people = walkers_of(model, 4)
    places = np.array([[person.poses(t)[0, :2, 3] for t in np.arange(0.0, 60.0, 0.5)] for person in people])
    apart = np.linalg.norm(places[:, None] - places[None, :], axis=3)
    assert min(apart[a, b].min() for a in range(4) for b in range(a)) > 0.9


@pytest.mark.parametrize("world", WORLDS)
def test_without_the_option_nobody_is_added_and_with_it_all_else_stays(world: str) -> None:
    bare, peopled = built(world, 1), built(world, 1, walkers=4)
    assert len(peopled.movers) == len(bare.movers) + 4
    assert len(bare.objects) + 4 == len(peopled.objects)
    assert fingerprint(bare) == fingerprint(peopled)
