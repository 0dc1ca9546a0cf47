"""The places of the people dataset: a world of one seed, with more people and objects in it than it has by itself.

Forest and house have nobody by themselves, and a detector of five classes must see all five against all kinds of
backgrounds. So each place gets groups of people who stand or walk a few steps to and fro, and some cars, forklifts,
benches and landing markers. They stand on the ground where nothing else is within reach.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.world.generation import generator
from skyloop.world.ground import Ground
from skyloop.world.model import Model, MoverStates
from skyloop.world.rays import RayTracer
from skyloop.world.scenery.actors.cars import park_car
from skyloop.world.scenery.actors.paths import MoverPath
from skyloop.world.scenery.actors.people import add_stander, add_walker
from skyloop.world.scenery.landing_marker import LandingMarker
from skyloop.world.scenery.street_furniture import bench_shape
from skyloop.world.scenery.warehouse_equipment import COLOURS, forklift_shape
from skyloop.world.world import Randomised, WorldConfig, build_world
from skyloop_client.messages import Array

TOPICS: tuple[Randomised, ...] = ("sun", "weather", "textures", "colours", "people")
"""Everything that a world can vary by its seed."""
GROUPS, IN_GROUP, WALKING = 6, 5, 0.4
"""Groups of people per place, people per group, and the share of them that walk."""
GROUP_SIZE = 5.0
"""m, one sigma of the places of a group."""
BODY, STEPS = 0.45, 2.3
"""m that a person who stands, and one who walks to and fro, needs around."""
HEAD = 2.2
"""m above the ground that must be free."""
TRIES = 60
"""Spots tried for each that is wanted."""
LEG = 1.4
"""m, the straight part of the steps to and fro."""


@dataclass(frozen=True, slots=True)
class PeopleArea:
    """What is particular to the places of one world."""

    low: tuple[float, float]
    """m, the south-western corner of the part in which people and cameras are."""
    high: tuple[float, float]
    top: float
    """m above the ground, the highest camera."""
    others: dict[str, int]
    """Things that are added, by class: the most of each."""
    open_sky: bool = False
    """Whether nothing may be above a person: a roof would mean that the spot is inside a closed building."""
    options: dict[str, Any] = field(default_factory=dict)
    """Of the world."""


SURROUNDINGS: dict[str, PeopleArea] = {
    "park": PeopleArea((-55.0, -55.0), (55.0, 55.0), 15.0, {"car": 3, "forklift": 2, "bench": 4, "marker": 2}),
    "urban": PeopleArea(
        (-88.0, -88.0), (88.0, 88.0), 15.0, {"forklift": 2, "bench": 6, "marker": 2}, True, {"people": 40, "cars": 12}
    ),
    "forest": PeopleArea(
        (-50.0, -50.0), (50.0, 50.0), 12.0, {"car": 3, "forklift": 2, "bench": 4, "marker": 2},
        options={"density": 250.0},
    ),
    "warehouse": PeopleArea(
        (-29.0, -19.0), (29.0, 19.0), 7.5, {"car": 2, "forklift": 3, "bench": 3, "marker": 2}, options={"people": 5}
    ),
    "house": PeopleArea((-19.5, -19.5), (19.5, 19.5), 7.0, {"bench": 3, "marker": 2}),
    "corridor": PeopleArea((-3.0, -3.8), (36.5, 3.8), 6.0, {"bench": 2, "marker": 1}),
    "blocks": PeopleArea((-38.0, -38.0), (38.0, 38.0), 15.0, {"car": 4, "forklift": 3, "bench": 4, "marker": 2}),
}  # fmt: skip
"""By the name of the world. Corridor and blocks are only tested in."""
NEEDED = {"car": 2.9, "forklift": 1.9, "bench": 1.1, "marker": 1.5}
"""m that an object needs around its middle."""


@dataclass(frozen=True, slots=True, eq=False)
class PopulatedWorld:
    """A world with its people, ready to be looked at."""

    world: str
    seed: int
    model: Model
    ground: Ground
    obstacles: RayTracer
    """The world without the people and objects that were added, to find free views."""
    at_start: MoverStates
    """Of what moves by itself in the world; rays meet it where it is at first."""
    surroundings: PeopleArea

    def blocked(self, origins: Array, directions: Array, reach: float) -> NDArray[np.bool_]:
        """(n,) whether something of the world is within reach along each ray."""
        hits = self.obstacles.cast(origins, directions, reach, self.at_start)
        return np.asarray(np.isfinite(hits.distance))


def make_place(world: str, seed: int) -> PopulatedWorld:
    around = SURROUNDINGS[world]
    built = build_world(WorldConfig(name=world, options=around.options, randomise=TOPICS), seed, None)
    model, ground = built.model, built.ground
    model.freeze()
    spots = _Spots(RayTracer(model), model, ground, around, generator(seed, "people/spots"))
    chance = generator(seed, "people/dressing")
    for kind, most in around.others.items():
        for xy in spots.anywhere(int(chance.integers(0, most + 1)), NEEDED[kind]):
            _add(kind, model, ground, chance, xy)
    looks = frozenset[str](TOPICS) - {"sun", "weather"}
    for _ in range(GROUPS):
        middle = spots.any_point()
        standing, walking = _shares(chance)
        for xy in spots.near(middle, standing, BODY):
            add_stander(model, chance, ground, xy, float(chance.uniform(0.0, 2.0 * np.pi)), randomise=looks)
        for xy in spots.near(middle, walking, STEPS):
            turn = float(chance.uniform(0.0, 2.0 * np.pi))
            leg = 0.5 * LEG * np.array([np.cos(turn), np.sin(turn)])
            path = MoverPath([xy - leg, xy + leg], corner_radius=0.5)
            add_walker(model, chance, ground, path, start=float(chance.uniform(0.0, path.length)), randomise=looks)
    model.freeze()
    return PopulatedWorld(world, seed, model, ground, spots.tracer, spots.motion, around)


def _shares(chance: np.random.Generator) -> tuple[int, int]:
    """How many of a group stand and walk."""
    count = int(chance.integers(1, 2 * IN_GROUP))
    walking = int(chance.binomial(count, WALKING))
    return count - walking, walking


def _add(kind: str, model: Model, ground: Ground, chance: np.random.Generator, xy: Array) -> None:
    yaw = float(chance.uniform(0.0, 2.0 * np.pi))
    if kind == "car":
        park_car(model, chance, ground, xy, yaw)
        return
    at = (*xy, ground.at(*xy)[0])
    if kind == "forklift":
        colour = COLOURS[int(chance.integers(len(COLOURS)))]
        shape = forklift_shape(lift=float(chance.choice([0.12, 0.6])))
        model.place(shape, at, yaw=yaw, is_a=kind, palette=[colour])
    else:
        shape = bench_shape(chance) if kind == "bench" else LandingMarker().shape()
        model.place(shape, at, yaw=yaw, is_a=kind)


class _Spots:
    """Free places on the ground, none of which is given twice."""

    def __init__(
        self, tracer: RayTracer, model: Model, ground: Ground, around: PeopleArea, chance: np.random.Generator
    ) -> None:
        self.tracer = tracer
        self.motion = model.motion(0)
        self._ground, self._around, self._chance = ground, around, chance
        self._taken: list[tuple[Array, float]] = []

    def any_point(self) -> Array:
        return np.asarray(self._chance.uniform(self._around.low, self._around.high))

    def anywhere(self, count: int, reach: float) -> list[Array]:
        """At most `count` spots with nothing within `reach` m."""
        points = self._chance.uniform(self._around.low, self._around.high, (TRIES * count, 2))
        return self._pick(points, count, reach)

    def near(self, middle: Array, count: int, reach: float) -> list[Array]:
        return self._pick(self._chance.normal(middle, GROUP_SIZE, (TRIES * count, 2)), count, reach)

    def _pick(self, points: Array, count: int, reach: float) -> list[Array]:
        inside = ((points > self._around.low) & (points < self._around.high)).all(axis=1)
        picked: list[Array] = []
        points = points[inside]
        for xy, free in zip(points, self._free(points, reach), strict=True):
            if len(picked) == count:
                break
            if free and all(np.hypot(*(xy - other)) > reach + room for other, room in self._taken):
                picked.append(xy)
                self._taken.append((xy, reach))
        return picked

    def _free(self, points: Array, reach: float) -> NDArray[np.bool_]:
        """(n,) whether nothing is in the cylinder around each point, and the ground is the surface below it."""
        if not len(points):
            return np.empty(0, np.bool_)
        heights = np.array([self._ground.at(*xy)[0] for xy in points])
        angles = np.arange(12) * np.pi / 6.0
        level = np.stack([np.cos(angles), np.sin(angles), np.zeros(12)], axis=1)
        feet = np.column_stack([points, heights])
        free = np.ones(len(points), np.bool_)
        for above in (0.3, 0.9, 1.6):
            starts = np.repeat(feet + np.array([0.0, 0.0, above]), 12, axis=0)
            free &= ~self._hits(starts, np.tile(level, (len(points), 1)), reach).reshape(-1, 12).any(axis=1)
        up = np.broadcast_to([0.0, 0.0, 1.0], feet.shape)
        hips = feet + up
        free &= ~self._hits(hips, up, 80.0 if self._around.open_sky else HEAD - 1.0)
        return free & ~self._hits(hips, -up, 0.85) & self._hits(hips, -up, 1.15)

    def _hits(self, starts: Array, directions: Array, reach: float) -> NDArray[np.bool_]:
        return np.asarray(np.isfinite(self.tracer.cast(starts, directions, reach, self.motion).distance))
