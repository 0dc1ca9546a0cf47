"""People who walk to and fro indoors, each on a way of their own over the free floor.

A way is a long loop: a straight leg, a half circle, the leg back beside it, a half circle. Nothing stands on it, no
other person comes near it, and it does not lead through doors: these are too narrow for a person and a vehicle. These
people wait while a vehicle is close in front of them, and walk on when it is gone. Their own time runs slower while
they wait. It is decided every tenth of a second for the tenth after the next, so what has been asked for never changes
afterwards: poses stay functions of time for all that has happened and a little beyond.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skyloop.world.generation import generator
from skyloop.world.ground import Ground
from skyloop.world.model import Model
from skyloop.world.occupancy import occupancy
from skyloop.world.scenery.actors.gait import Gait
from skyloop.world.scenery.actors.paths import MoverPath
from skyloop.world.scenery.actors.people import Walker, add_walker
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

EVERY = 0.1
"""s between two looks, and until the next tenth, for which a look decides."""
STOPPING = 0.5
"""s in which they come to a stand, and in which they walk again."""
LOOK_AHEAD = 1.5
"""m from a person's middle to a vehicle's at which the person begins to stop. About 1 m is left then."""
LOOK_ASIDE = math.radians(70.0)
"""How far to each side of the way ahead they look."""
OVERHEAD = 2.4
"""m above the floor; what flies higher is in nobody's way."""


class WatchfulWalker(Walker):
    """A person who walks along a path for ever and waits for vehicles in front."""

    def __init__(self, gait: Gait, path: MoverPath, ground: Ground) -> None:
        super().__init__(gait, path, ground)
        self.forget()

    def forget(self) -> None:
        """As before the first look."""
        self.paces, self.times = [1.0, 1.0], [0.0, EVERY]
        """At multiples of EVERY: seconds of its own time in a second, and its own time. Linear in between."""

    def memory(self) -> tuple[list[float], list[float]]:
        return list(self.paces), list(self.times)

    def remember(self, memory: tuple[list[float], list[float]]) -> None:
        self.paces, self.times = list(memory[0]), list(memory[1])

    def own_time(self, t: float) -> float:
        """s: as `t` where it never waited, less by what it has waited."""
        if t <= 0.0:
            return t
        last = len(self.paces) - 1
        knot = min(int(t / EVERY), last)
        since = t - knot * EVERY
        if knot == last:
            return self.times[last] + self.paces[last] * since
        change = (self.paces[knot + 1] - self.paces[knot]) / EVERY
        return self.times[knot] + (self.paces[knot] + 0.5 * change * since) * since

    def poses(self, t: float) -> Array:
        return super().poses(self.own_time(t))

    def look(self, t: float, vehicles: Array) -> None:
        """Decides the pace from t + EVERY to t + 2 EVERY. vehicles: (n, 3) m, world, where they are at t."""
        pace = self.paces[-1]
        wanted = 0.0 if self._is_in_the_way(t, vehicles) else 1.0
        most = EVERY / STOPPING
        after = pace + min(max(wanted - pace, -most), most)
        self.paces.append(after)
        self.times.append(self.times[-1] + 0.5 * (pace + after) * EVERY)

    def _is_in_the_way(self, t: float, vehicles: Array) -> bool:
        walk = self.gait.walk[0]
        (position,), (heading,) = self.path.at([walk["start"] + walk["speed"] * self.own_time(t)])
        floor = self.ground.at(float(position[0]), float(position[1]))[0]
        for x, y, z in vehicles.tolist():
            dx, dy = x - float(position[0]), y - float(position[1])
            aside = abs(math.remainder(math.atan2(dy, dx) - float(heading), math.tau))
            if math.hypot(dx, dy) < LOOK_AHEAD and aside < LOOK_ASIDE and z - floor < OVERHEAD:
                return True
        return False


MOST_WALKERS = 12
SPEEDS = (0.6, 1.1)
"""m/s."""
LEGS = (3.5, 10.0)
"""m, the length of a straight leg."""
LANES = (2.0, 1.6, 1.2)
"""m between the two legs: wide ones are tried first, so that people turn slowly."""
BODY = 0.5
"""m between the middle of a person and anything that stands; arms swing."""
APART = 1.1
"""m between the ways of two people, and between a way and anything else that moves."""
HOME_FREE = 1.8
"""m around the origin, where vehicles take off."""
FEET, HEAD = 0.12, 1.95
"""m above the floor between which objects are in the way of a person; a rug is not."""
CELL = 0.1
TRIES = 600
MOVERS_SEEN = 240.0
"""s of the motion of other objects from which a way keeps away."""


class Area(NamedTuple):
    """m, world: the part of a world in which people walk."""

    west: float
    south: float
    east: float
    north: float


class FreeFloor:
    """How far each place of a floor is from what stands or moves there."""

    def __init__(self, model: Model, area: Area) -> None:
        from scipy.ndimage import distance_transform_edt

        model.freeze()
        self._low = np.array([area.west, area.south])
        taken = occupancy(model, None, (*self._low, FEET), (area.east, area.north, HEAD), CELL).any(axis=2)
        # outside of the area nothing is known
        walled = np.pad(taken, 1, constant_values=True)
        # the object may begin anywhere within its cell, the person be anywhere within another
        self._standing: Array = np.maximum(distance_transform_edt(~walled)[1:-1, 1:-1] - 1.0, 0.0) * CELL
        self._ways: NDArray[np.bool_] = np.zeros(taken.shape, np.bool_)
        self._apart: Array = np.full(taken.shape, np.inf)
        for mover in model.movers:
            self.take(np.concatenate([mover.poses(t)[:, :2, 3] for t in np.arange(0.0, MOVERS_SEEN, 0.5)]))

    def room(self, points: Array) -> float:
        """m from (n, 2) points to the nearest object that stands."""
        return float(self._at(self._standing, points).min())

    def apart(self, points: Array) -> float:
        """m from (n, 2) points to the nearest way that is taken."""
        return float(self._at(self._apart, points).min())

    def take(self, points: Array) -> None:
        """Keeps later ways away from (n, 2) points."""
        from scipy.ndimage import distance_transform_edt

        cells = self._cells(points)
        self._ways[cells[:, 0], cells[:, 1]] = True
        self._apart = distance_transform_edt(~self._ways) * CELL

    def any_place(self, chance: np.random.Generator) -> Array:
        """(2,) m, anywhere in the area."""
        return self._low + CELL * chance.uniform(0.0, self._standing.shape)

    def _cells(self, points: Array) -> NDArray[np.int64]:
        cells = np.floor((points - self._low) / CELL).astype(np.int64)
        return np.asarray(np.clip(cells, 0, np.array(self._standing.shape) - 1), np.int64)

    def _at(self, field: Array, points: Array) -> Array:
        cells = self._cells(points)
        inside = (np.floor((points - self._low) / CELL) == cells).all(axis=1)
        return np.where(inside, field[cells[:, 0], cells[:, 1]], 0.0)


def add_walkers(
    model: Model, ground: Ground, count: int, area: Area, *, seed: int, world: str, randomise: frozenset[str]
) -> None:
    """Adds `count` people who walk to and fro; the seed chooses the ways. To be called when all objects stand."""
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST_WALKERS:
        raise ScenarioError(f"world '{world}': walkers is {count!r}; give 0 to {MOST_WALKERS}")
    if count == 0:
        return
    chance = generator(seed, f"{world}/walkers")
    floor = FreeFloor(model, area)
    for number in range(count):
        path = _way(floor, chance)
        if path is None:
            raise ScenarioError(f"world '{world}' has room for {number} walkers with seed {seed}, not for {count}")
        floor.take(_points(path))
        speed, start = float(chance.uniform(*SPEEDS)), float(chance.uniform(0.0, path.length))
        add_walker(model, chance, ground, path, speed=speed, start=start, randomise=randomise, kind=WatchfulWalker)


def _way(floor: FreeFloor, chance: np.random.Generator) -> MoverPath | None:
    """A loop that is free, with legs as far apart as there is room for; None after many attempts."""
    for attempt in range(TRIES):
        start, direction = floor.any_place(chance), float(chance.uniform(0.0, 2.0 * np.pi))
        # long legs are tried first
        share = float(chance.uniform(0.0, 1.0)) * (1.0 - attempt / TRIES)
        length = LEGS[0] + share * (LEGS[1] - LEGS[0])
        end = start + length * np.array([np.cos(direction), np.sin(direction)])
        line = start + np.linspace(0.0, 1.0, 41)[:, None] * (end - start)
        if floor.room(line) < BODY:
            continue
        path = MoverPath([start, end], corner_radius=LANES[attempt * len(LANES) // TRIES])
        points = _points(path)
        home = float(np.hypot(points[:, 0], points[:, 1]).min())
        if floor.room(points) >= BODY and floor.apart(points) >= APART and home >= HOME_FREE:
            return path
    return None


def _points(path: MoverPath) -> Array:
    """(n, 2) m, along the whole loop."""
    return path.at(np.arange(0.0, path.length, 0.5 * CELL))[0]
