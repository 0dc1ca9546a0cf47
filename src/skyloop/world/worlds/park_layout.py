"""The plan of the park: hills, pond and paths, each a function of the seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import gaussian_filter
from scipy.spatial import cKDTree

from skyloop.world.generation import generator
from skyloop.world.ground import Ground
from skyloop.world.model import Model, Shape
from skyloop.world.scenery.plants.scatter import Spots
from skyloop_client.messages import Array

HALF = 80.0
"""m from the middle to the ground's edges; beyond, the ground is level."""
PARK = 61.0
"""m from the middle to the hedge around the park."""
BED = 0.05
"""m by which the lawn is lower under a path, so that the path's top is at the height of the ground."""


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """A path for walking."""

    name: str
    line: Array
    """(n, 2) m, its middle line, about one point per metre."""
    half_width: float
    closed: bool
    material: str

    @property
    def along(self) -> Array:
        """(n, 2) unit."""
        if self.closed:
            steps = np.roll(self.line, -1, axis=0) - np.roll(self.line, 1, axis=0)
        else:
            steps = np.gradient(self.line, axis=0)
        return np.asarray(steps / np.linalg.norm(steps, axis=1, keepdims=True))

    @property
    def left(self) -> Array:
        return np.asarray(np.stack([-self.along[:, 1], self.along[:, 0]], axis=1))

    @property
    def finely(self) -> Array:
        """(m, 2) m, about one point per decimetre."""
        whole = np.vstack([self.line, self.line[:1]]) if self.closed else self.line
        at, wanted = np.arange(len(whole)), np.arange(0.0, len(whole) - 1, 0.1)
        return np.stack([np.interp(wanted, at, whole[:, k]) for k in range(2)], axis=1)


class Plan:
    """The paths and the water, and the height of the ground."""

    def __init__(self, seed: int, *, any_material: bool = False) -> None:
        """any_material: whether paths may be of other materials than gravel and paving."""
        chance = generator(seed, "park/plan")
        self.ways = _ways(chance)
        if any_material:
            stuff = generator(seed, "park/stuff").choice(["gravel", "paving", "asphalt", "soil"], len(self.ways))
            self.ways = [replace(way, material=str(name)) for way, name in zip(self.ways, stuff, strict=True)]
        fine = [way.finely for way in self.ways]
        self._points = np.concatenate(fine)
        self._half_widths = np.repeat([way.half_width for way in self.ways], [len(line) for line in fine])
        self._owner = np.repeat(np.arange(len(self.ways)), [len(line) for line in fine])
        self._trees: dict[int, tuple[Any, Array]] = {}
        angle = np.pi / 4.0 + 0.5 * np.pi * chance.integers(4) + chance.uniform(-0.1, 0.1)
        self.pond_centre = chance.uniform(32.2, 33.2) * np.array([np.cos(angle), np.sin(angle)])
        self._pond_turn = angle + 0.5 * np.pi
        self._pond_size = np.array([chance.uniform(9.5, 11.0), chance.uniform(5.4, 6.2)])
        self._pond_phase = chance.uniform(0.0, 2.0 * np.pi, 2)
        heading, phase = chance.uniform(0.0, 2.0 * np.pi, (2, 7))
        self._waves = (heading, 2.0 * np.pi / chance.uniform(36.0, 75.0, 7), phase)
        shore = self.shore(40, 1.25)
        by_pond = self._points[self.pond(*self._points.T) < 3.0]
        around = np.concatenate([self._hills(*shore.T), self._path_level(by_pond)])
        self.water_level = float(around.min()) - 0.35
        self.ground = Ground.from_function(self._height, (-HALF, -HALF, HALF, HALF), 1.0)

    def seen_ground(self) -> Ground:
        """The drawn ground, lower under the paths."""
        x, y = _grid_of(self.ground)
        under = self.off_path(x.ravel(), y.ravel()).reshape(x.shape) < 0.75
        return Ground(self.ground.heights - BED * under, self.ground.origin_xy, self.ground.cell)

    def off_path(self, x: Any, y: Any, but: int = -1) -> Array:
        """m from the nearest path's edge, < 0 on it; `but` is a path that does not count."""
        if but not in self._trees:
            counts = self._owner != but
            self._trees[but] = cKDTree(self._points[counts]), self._half_widths[counts]
        tree, half_widths = self._trees[but]
        distance, nearest = tree.query(np.stack(np.broadcast_arrays(x, y), axis=-1).reshape(-1, 2))
        return np.asarray(distance - half_widths[nearest])

    def shore(self, n: int, share: float = 1.0) -> Array:
        """(n, 2) m around the pond where `pond` equals `share`."""
        angle = 2.0 * np.pi * np.arange(n) / n
        r = share * self._pond_outline(angle)
        flat = np.stack([r * np.cos(angle) * self._pond_size[0], r * np.sin(angle) * self._pond_size[1]], axis=1)
        c, s = np.cos(self._pond_turn), np.sin(self._pond_turn)
        return np.asarray(self.pond_centre + flat @ np.array([[c, s], [-s, c]]))

    def pond(self, x: Any, y: Any) -> Array:
        """0 in the pond's middle, 1 at the water's edge, more outside."""
        c, s = np.cos(self._pond_turn), np.sin(self._pond_turn)
        dx, dy = np.asarray(x) - self.pond_centre[0], np.asarray(y) - self.pond_centre[1]
        u, v = (c * dx + s * dy) / self._pond_size[0], (c * dy - s * dx) / self._pond_size[1]
        return np.asarray(np.hypot(u, v) / self._pond_outline(np.arctan2(v, u)))

    def _pond_outline(self, angle: Any) -> Any:
        a, b = self._pond_phase
        return 1.0 + 0.10 * np.sin(2.0 * angle + a) + 0.06 * np.sin(3.0 * angle + b)

    def _hills(self, x: Any, y: Any) -> Any:
        """Level in the middle, where flights start, and around the park, where the streets are."""
        total = np.zeros_like(x)
        for heading, number, phase in zip(*self._waves, strict=True):
            total = total + np.sin(number * (x * np.cos(heading) + y * np.sin(heading)) + phase)
        outside = np.maximum(np.abs(x), np.abs(y))
        return 0.5 * total * _ramp(np.hypot(x, y), 11.0, 32.0) * (1.0 - _ramp(outside, 36.0, 60.0))

    def _height(self, x: Array, y: Array) -> Array:
        """The height at all points of a grid of 1 m."""
        distance, nearest = cKDTree(self._points).query(np.stack([x.ravel(), y.ravel()], axis=1))
        off_path = (distance - self._half_widths[nearest]).reshape(x.shape)
        level = self._path_level(self._points[nearest]).reshape(x.shape)
        height = level + (self._hills(x, y) - level) * _ramp(off_path, 1.5, 6.0)
        # where two paths meet their levels differ a little
        height = gaussian_filter(height, 1.3, mode="nearest")
        share = self.pond(x, y)
        bank = self.water_level + np.interp(share, [0.0, 0.6, 1.0, 1.25], [-1.4, -1.1, 0.0, 0.35])
        by_water = (1.0 - _ramp(share, 1.2, 1.7)) * _ramp(off_path, 1.5, 3.0)
        return np.asarray(height + (bank - height) * by_water)

    def _path_level(self, points: Array) -> Array:
        """Paths cut through hills and are banked up in hollows."""
        return np.asarray(0.7 * self._hills(*points.T))


class Site:
    """The park while it is being made."""

    def __init__(self, seed: int, plan: Plan, model: Model, any_colours: bool) -> None:
        """any_colours: whether it may be autumn, and greens of any hue."""
        self.seed = seed
        self.plan = plan
        self.ground = plan.ground
        self.model = model
        self.spots = Spots()
        """The ground that is taken."""
        self.lamps: list[Array] = []
        """(x, y) of each."""
        chance = generator(seed, "park/season")
        self.autumn = any_colours and bool(chance.random() < 0.4)
        r, g, b = chance.uniform(0.7, 1.0, 3) if any_colours else np.ones(3)
        self.tint = (float(r), float(g), float(b))

    def take(self, place: Array, radius: float) -> None:
        """Keeps other things out of a circle of `radius` around (x, y)."""
        self.spots.add(float(place[0]), float(place[1]), radius)

    def stand(self, shape: Shape, place: ArrayLike, **how: Any) -> None:
        """Places a shape on the ground at (x, y)."""
        x, y = np.asarray(place, float)
        self.model.place(shape, (x, y, self.ground.at(x, y)[0]), **how)


def _grid_of(ground: Ground) -> tuple[Array, Array]:
    nx, ny = ground.heights.shape
    x, y = np.meshgrid(np.arange(nx) * ground.cell, np.arange(ny) * ground.cell, indexing="ij")
    return x + ground.origin_xy[0], y + ground.origin_xy[1]


def _ramp(x: Any, low: float, high: float) -> Any:
    """0 below low, 1 above high, smooth between."""
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def _ways(chance: np.random.Generator) -> list[Way]:
    """A ring around the middle lawn, a wide loop, and four paths from the gates to the ring."""
    ring = _wavy_ring(chance, 19.0, 1.1, 120)
    loop = _wavy_ring(chance, 47.0, 2.4, 280)
    ways = [Way("loop path", loop, 1.25, True, "gravel")]
    for k in range(4):
        turn = 0.5 * np.pi * k
        c, s = np.cos(turn), np.sin(turn)
        gate, aside = chance.uniform(-13.0, 13.0), chance.uniform(-6.0, 6.0)
        nodes = np.array([[PARK + 1.6, gate], [PARK - 6.0, gate], [40.0, 0.4 * gate + aside], [17.0, 0.0]])
        line = _through(nodes) @ np.array([[c, s], [-s, c]])
        # it ends at the middle of the ring path
        first = int(np.argmin(np.min(np.linalg.norm(line[:, None] - ring[None], axis=2), axis=1)))
        ways.append(Way(f"path {k + 1}", line[: first + 1], 1.0, False, "gravel"))
    return [*ways, Way("ring path", ring, 1.3, True, "paving")]


def _wavy_ring(chance: np.random.Generator, radius: float, swing: float, n: int) -> Array:
    angle = 2.0 * np.pi * np.arange(n) / n
    a, b = chance.uniform(0.0, 2.0 * np.pi, 2)
    r = radius + swing * (0.7 * np.sin(3.0 * angle + a) + 0.5 * np.sin(5.0 * angle + b))
    return np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1)


def _through(nodes: Array) -> Array:
    """A smooth line through the nodes, one point per metre."""
    padded = np.vstack([2.0 * nodes[0] - nodes[1], nodes, 2.0 * nodes[-1] - nodes[-2]])
    pieces = []
    for k in range(len(nodes) - 1):
        p0, p1, p2, p3 = padded[k : k + 4]
        t = np.linspace(0.0, 1.0, max(3, int(np.linalg.norm(p2 - p1))), endpoint=False)[:, None]
        # the cubic of Catmull and Rom
        pieces.append(
            0.5 * (2 * p1 + (p2 - p0) * t + (2 * p0 - 5 * p1 + 4 * p2 - p3) * t**2 + (3 * p1 - p0 - 3 * p2 + p3) * t**3)
        )
    return np.vstack([*pieces, nodes[-1:]])
