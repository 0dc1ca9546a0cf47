"""The plan of the park: hills, pond and paths, each a function of the seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter
from scipy.spatial import cKDTree

from skyloop.world.generation import generator
from skyloop.world.ground import Ground
from skyloop.world.mesh import Mesh, about_up, merged, mesh_of, quad
from skyloop.world.model import Model, Placing, Shape
from skyloop.world.scenery.foliage import Spots
from skyloop_client.messages import Array

HALF = 80.0
"""m from the middle to the ground's edges; beyond, the ground is level."""
PARK = 61.0
"""m from the middle to the hedge around the park."""
BED = 0.05
"""m by which the lawn is lower under a path, so that the path's top is at the height of the ground."""


@dataclass(frozen=True, slots=True, eq=False)
class FootPath:
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


class ParkPlan:
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
        self._trees: dict[int, tuple[cKDTree, Array]] = {}
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

    def off_path(self, x: ArrayLike, y: ArrayLike, but: int = -1) -> Array:
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

    def pond(self, x: ArrayLike, y: ArrayLike) -> Array:
        """0 in the pond's middle, 1 at the water's edge, more outside."""
        c, s = np.cos(self._pond_turn), np.sin(self._pond_turn)
        dx, dy = np.asarray(x) - self.pond_centre[0], np.asarray(y) - self.pond_centre[1]
        u, v = (c * dx + s * dy) / self._pond_size[0], (c * dy - s * dx) / self._pond_size[1]
        return np.asarray(np.hypot(u, v) / self._pond_outline(np.arctan2(v, u)))

    def _pond_outline(self, angle: Array) -> Array:
        a, b = self._pond_phase
        return np.asarray(1.0 + 0.10 * np.sin(2.0 * angle + a) + 0.06 * np.sin(3.0 * angle + b))

    def _hills(self, x: Array, y: Array) -> Array:
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

    def __init__(self, seed: int, plan: ParkPlan, model: Model, any_colours: bool) -> None:
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

    def take(self, position: Array, radius: float) -> None:
        """Keeps other objects out of a circle of `radius` around (x, y)."""
        self.spots.add(float(position[0]), float(position[1]), radius)

    def stand(self, shape: Shape, position: ArrayLike, **how: Unpack[Placing]) -> None:
        """Places a shape on the ground at (x, y)."""
        x, y = np.asarray(position, float)
        self.model.place(shape, (x, y, self.ground.at(x, y)[0]), **how)


def _grid_of(ground: Ground) -> tuple[Array, Array]:
    nx, ny = ground.heights.shape
    x, y = np.meshgrid(np.arange(nx) * ground.cell, np.arange(ny) * ground.cell, indexing="ij")
    return x + ground.origin_xy[0], y + ground.origin_xy[1]


def _ramp(x: Array, low: float, high: float) -> Array:
    """0 below low, 1 above high, smooth between."""
    t = np.clip((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def _ways(chance: np.random.Generator) -> list[FootPath]:
    """A ring around the middle lawn, a wide loop, and four paths from the gates to the ring."""
    ring = _wavy_ring(chance, 19.0, 1.1, 120)
    loop = _wavy_ring(chance, 47.0, 2.4, 280)
    ways = [FootPath("loop path", loop, 1.25, True, "gravel")]
    for k in range(4):
        turn = 0.5 * np.pi * k
        c, s = np.cos(turn), np.sin(turn)
        gate, aside = chance.uniform(-13.0, 13.0), chance.uniform(-6.0, 6.0)
        nodes = np.array([[PARK + 1.6, gate], [PARK - 6.0, gate], [40.0, 0.4 * gate + aside], [17.0, 0.0]])
        line = _through(nodes) @ np.array([[c, s], [-s, c]])
        # it ends at the middle of the ring path
        first = int(np.argmin(np.min(np.linalg.norm(line[:, None] - ring[None], axis=2), axis=1)))
        ways.append(FootPath(f"path {k + 1}", line[: first + 1], 1.0, False, "gravel"))
    return [*ways, FootPath("ring path", ring, 1.3, True, "paving")]


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


PIECE = 24
"""Points of one piece of path; each piece is drawn and culled separately."""
EDGE = 0.14
"""m, the width of the slanting edge at each side of a path."""
LIFTS = {"loop path": 0.005, "ring path": 0.035}
"""m above the ground, so that crossing paths do not flicker."""
OTHER_LIFT = 0.02
FAR, FAR_LIFT = 60.0, 0.09
"""m; farther away the terrain is coarser, and the paths are lifted above it."""
STREET = (PARK + 1.4, PARK + 4.0, PARK + 10.5, PARK + 13.0)
"""m from the middle: the start of the inner pavement, of the road and of the outer pavement, and the end of that."""


def place_paths(model: Model, plan: ParkPlan) -> None:
    for way in plan.ways:
        n = len(way.line)
        lift = LIFTS.get(way.name, OTHER_LIFT)
        last = n if way.closed else n - 1
        for start in range(0, last, PIECE):
            picked = np.arange(start, min(start + PIECE, last) + 1) % n
            middle = way.line[picked[len(picked) // 2]]
            origin = np.array([*middle, plan.ground.at(*middle)[0]])
            coarse = np.unique(np.append(np.arange(0, len(picked), 4), len(picked) - 1))
            near = _ribbon(way, picked, plan.ground, lift, EDGE).moved(-origin)
            far = _ribbon(way, picked[coarse], plan.ground, lift + FAR_LIFT, 0.0).moved(-origin)
            shape = Shape(f"{way.name} {start}", (near, far), (FAR,), casts_shadow=False)
            model.place(shape, origin, is_a="path", name=way.name, variant=1)


def _ribbon(way: FootPath, picked: NDArray[np.intp], ground: Ground, lift: float, edge: float) -> Mesh:
    """A ribbon over points `picked` of the path's line; with an edge its sides slant into the ground."""
    middle, left = way.line[picked], way.left[picked]
    offsets = [way.half_width, -way.half_width]
    drops = [lift, lift]
    if edge > 0.0:
        offsets = [way.half_width + edge, way.half_width, 0.0, -way.half_width, -way.half_width - edge]
        drops = [-0.09, lift, lift, lift, -0.09]
    columns = []
    for offset, drop in zip(offsets, drops, strict=True):
        xy = middle + offset * left
        columns.append(np.column_stack([xy, [ground.at(x, y)[0] + drop for x, y in xy]]))
    points = np.stack(columns, axis=1)
    k, m = points.shape[:2]
    index = np.arange(k * m).reshape(k, m)
    a, b, c, d = index[:-1, 1:], index[1:, 1:], index[1:, :-1], index[:-1, :-1]
    faces = np.concatenate([np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)])
    return mesh_of(points.reshape(-1, 3), faces, material=way.material)


def place_water(model: Model, plan: ParkPlan) -> None:
    """The level water of the pond; its rim lies inside the bank."""
    rim = plan.shore(48, 1.12) - plan.pond_centre
    points = np.column_stack([np.vstack([rim, [[0.0, 0.0]]]), np.zeros(49)])
    faces = [[48, k, (k + 1) % 48] for k in range(48)]
    mesh = mesh_of(points, faces, normals=np.tile([0.0, 0.0, 1.0], (49, 1)), material="water")
    shape = Shape("pond", (mesh,), casts_shadow=False)
    model.place(shape, [*plan.pond_centre, plan.water_level], is_a="water", name="pond")


def place_street(model: Model) -> None:
    """A road between two pavements, in a square around the park."""
    inner, road, outer, end = STREET
    model.place(_band("road", road, outer, 0.03, "asphalt"), is_a="road", name="road")
    for name, low, high in (("inner pavement", inner, road), ("outer pavement", outer, end)):
        model.place(_band(name, low, high, 0.12, "paving"), is_a="pavement", name=name)


def _band(name: str, low: float, high: float, height: float, material: str) -> Shape:
    """A square ring with kerbs, from `low` to `high` m from the middle."""
    sides = []
    for k in range(4):
        turn = about_up(0.5 * np.pi * k)
        a, b, e, f = (
            turn @ np.array(p)
            for p in ((low, -low, height), (high, -high, height), (high, high, height), (low, low, height))
        )
        top = mesh_of([a, b, e, f], [[0, 1, 2], [0, 2, 3]], material=material)
        down = np.array([0.0, 0.0, height + 0.2])
        sides += [
            top,
            quad(f - down, a - down, a, f, material=material),
            quad(b - down, e - down, e, b, material=material),
        ]
    return Shape(name, (merged(sides),), casts_shadow=False)


def lane(way: FootPath, offset: float) -> Array:
    """(n, 2) m, a line beside the middle of a path, to its left."""
    return np.asarray(way.line + offset * way.left)[::3]
