"""Paths, the pond's water and the streets around the park, as meshes on the ground."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyloop.world.ground import Ground
from skyloop.world.mesh import Mesh, merged, mesh_of, quad
from skyloop.world.model import Model, Shape
from skyloop.world.worlds.park_layout import PARK, Plan, Way
from skyloop_client.messages import Array

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


def place_paths(model: Model, plan: Plan) -> None:
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


def _ribbon(way: Way, picked: Any, ground: Ground, lift: float, edge: float) -> Mesh:
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


def place_water(model: Model, plan: Plan) -> None:
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
        c, s = np.cos(0.5 * np.pi * k), np.sin(0.5 * np.pi * k)
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
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


def lane(way: Way, offset: float) -> Array:
    """(n, 2) m, a line beside the middle of a path, to its left."""
    return np.asarray(way.line + offset * way.left)[::3]
