"""Rooms without ceilings: walls with openings, floors, doors, windows and the plain around the house.

The renderer has sun and sky as its only lights, so a closed room would be dark. Interiors are therefore open at the
top.

A floor plan divides a square into rooms again and again; walls stand between the rooms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop.world.ground import FAR
from skyloop.world.mesh import Colour, Look, Mesh, box, merged, mesh_of, quad
from skyloop.world.model import Model, Shape
from skyloop_client.messages import Array

Rectangle = tuple[float, float, float, float]
"""m: x_min, y_min, x_max, y_max."""


DOOR_LIP = 0.015
"""m by which a door frame narrows its opening on each side."""


@dataclass(frozen=True, slots=True)
class Opening:
    """A hole through a wall: m along it, and m above the floor."""

    start: float
    end: float
    bottom: float = 0.0
    top: float = 2.1


class _Sides:
    """Collects flat faces of one look."""

    def __init__(self, **look: Unpack[Look]) -> None:
        self.look = look
        self.corners: list[Array] = []
        self.uv: list[Array] = []

    def add(self, corners: ArrayLike, uv: ArrayLike) -> None:
        self.corners.append(np.asarray(corners, float))
        self.uv.append(np.asarray(uv, float))

    def mesh(self) -> Mesh:
        p = np.array(self.corners).reshape(-1, 4, 3)
        normals = np.cross(p[:, 1] - p[:, 0], p[:, 3] - p[:, 0])
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        first = 4 * np.arange(len(p))[:, None]
        faces = first + np.array([0, 1, 2, 0, 2, 3])
        uv = np.array(self.uv).reshape(-1, 2)
        return mesh_of(p.reshape(-1, 3), faces, uv=uv, normals=np.repeat(normals, 4, axis=0), **self.look)


def wall(
    length: float,
    height: float,
    thickness: float,
    openings: Sequence[Opening] = (),
    *,
    ends: tuple[bool, bool] = (True, True),
    shift: float = 0.0,
    back: Look | None = None,
    **look: Unpack[Look],
) -> Mesh:
    """A wall from the origin along +x, around y = 0, standing on z = 0; its front faces -y.

    ends: whether the faces at its start and end are needed; shift: m by which the texture is shifted, so that equal
    walls look different; back: the look of the +y side if it is another.
    """
    xs = np.unique([0.0, length, *(x for o in openings for x in (o.start, o.end))])
    zs = np.unique([0.0, height, *(min(z, height) for o in openings for z in (o.bottom, o.top))])
    x, z = 0.5 * (xs[1:] + xs[:-1]), 0.5 * (zs[1:] + zs[:-1])
    solid = np.ones((len(x), len(z)), bool)
    for o in openings:
        solid &= ~np.outer((x > o.start) & (x < o.end), (z > o.bottom) & (z < o.top))
    front, rear, y = _Sides(**look), _Sides(**(back or look)), 0.5 * thickness
    for i, k in np.argwhere(solid):
        x0, x1, z0, z1 = xs[i], xs[i + 1], zs[k], zs[k + 1]
        s0, s1 = x0 + shift, x1 + shift
        along = [(s0, z0), (s1, z0), (s1, z1), (s0, z1)]
        front.add([(x0, -y, z0), (x1, -y, z0), (x1, -y, z1), (x0, -y, z1)], along)
        # seen from behind, the wall runs the other way
        rear.add([(x1, y, z0), (x0, y, z0), (x0, y, z1), (x1, y, z1)], [(-u, v) for u, v in _swapped(along)])
        _reveals(front, solid, ends, (i, k), (x0, x1, z0, z1), y)
    return merged([front.mesh(), rear.mesh()])


def _swapped(along: list[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    return along[1], along[0], along[3], along[2]


def _reveals(
    sides: _Sides,
    solid: NDArray[np.bool_],
    ends: tuple[bool, bool],
    piece: tuple[int, int],
    box: tuple[float, float, float, float],
    y: float,
) -> None:
    """The faces of one solid piece towards openings, ends and the top; box: from and to in x, then in z."""
    (i, k), (x0, x1, z0, z1) = piece, box
    columns, rows = solid.shape
    across = [(-y, z0), (y, z0), (y, z1), (-y, z1)]
    flat = [(x0, -y), (x1, -y), (x1, y), (x0, y)]
    if ends[1] if i == columns - 1 else not solid[i + 1, k]:
        sides.add([(x1, -y, z0), (x1, y, z0), (x1, y, z1), (x1, -y, z1)], across)
    if ends[0] if i == 0 else not solid[i - 1, k]:
        sides.add([(x0, y, z0), (x0, -y, z0), (x0, -y, z1), (x0, y, z1)], across)
    if k == rows - 1 or not solid[i, k + 1]:
        sides.add([(x0, -y, z1), (x1, -y, z1), (x1, y, z1), (x0, y, z1)], flat)
    if k > 0 and not solid[i, k - 1]:
        sides.add([(x0, y, z0), (x1, y, z0), (x1, -y, z0), (x0, -y, z0)], flat)


def on_wall(start: Sequence[float], yaw: float, along: float, across: float = 0.0, z: float = 0.0) -> Array:
    """World position of a point on a wall that starts at `start` with this yaw."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([start[0] + c * along - s * across, start[1] + s * along + c * across, z])


def place_floor(model: Model, area: Rectangle, *, name: str = "floor", variant: int = 0, **look: Unpack[Look]) -> None:
    """A flat floor at height 0. It is not solid, because the height field is level there and stops vehicles."""
    x0, y0, x1, y1 = area
    mesh = quad((x0, y0, 0), (x1, y0, 0), (x1, y1, 0), (x0, y1, 0), **look)
    model.place(Shape(name, (mesh,), casts_shadow=False), is_a="floor", name=name, variant=variant, solid=False)


def place_plain(
    model: Model,
    hole: Rectangle,
    *,
    material: str,
    colour: Colour = (255, 255, 255),
    height: float = 0.0,
    sunk: float | None = None,
) -> None:
    """Level ground out to the horizon, except in the hole, where floors are; with `sunk` its ground is lower."""
    xs = (hole[0] - FAR, hole[0], hole[2], hole[2] + FAR)
    ys = (hole[1] - FAR, hole[1], hole[3], hole[3] + FAR)
    sides = _Sides(material=material, colour=colour)
    for i in range(3):
        for j in range(3):
            within = (i, j) == (1, 1)
            if within and sunk is None:
                continue
            z = height - (sunk or 0.0) * within
            corners = [(xs[i], ys[j]), (xs[i + 1], ys[j]), (xs[i + 1], ys[j + 1]), (xs[i], ys[j + 1])]
            sides.add([(*corner, z) for corner in corners], corners)
    if sunk:
        (x0, y0, x1, y1), low = hole, height - sunk
        ring = [(x0, y0), (x0, y1), (x1, y1), (x1, y0), (x0, y0)]
        for a, b in pairwise(ring):
            sides.add([(*a, low), (*b, low), (*b, height), (*a, height)], [a, b, b, a])
    shape = Shape("plain", (sides.mesh(),), casts_shadow=False)
    model.place(shape, is_a="by material", name="plain", solid=False)


def door_leaf(width: float, height: float = 2.05, *, material: str = "wood", slot: int = 1) -> Mesh:
    """Hinged at the origin, along +x around y = 0: two panels on each side and a handle."""
    thick = 0.04
    parts = [box((width, thick, height), centre=(width / 2, 0, height / 2), material=material, slot=slot)]
    for side in (-1, 1):
        for low, high in ((0.18, 0.46), (0.54, 0.92)):
            size = (0.64 * width, 0.012, (high - low) * height)
            centre = (width / 2, side * (thick / 2 + 0.006), 0.5 * (low + high) * height)
            parts.append(box(size, centre=centre, material=material, slot=slot, colour=(215, 215, 215)))
        grip = (0.12, 0.02, 0.025)
        parts.append(box(grip, centre=(width - 0.12, side * 0.06, 1.02), material="metal", colour=(190, 190, 195)))
    return merged(parts)


def door_frame(width: float, height: float, thickness: float, *, slot: int = 1) -> Mesh:
    """A frame around an opening from the origin along +x; it stands out from every face of the wall."""
    rim, deep, lip = 0.09, thickness + 0.04, DOOR_LIP
    look: Look = {"material": "wood", "slot": slot}
    top = box((width + 2 * (rim - lip), deep + 0.01, rim), centre=(width / 2, 0, height - lip + rim / 2), **look)
    posts = [
        box((rim, deep, height), centre=(x, 0, height / 2), bottom=False, **look)
        for x in (lip - rim / 2, width - lip + rim / 2)
    ]
    return merged([top, *posts])


def closed_door(width: float, height: float, thickness: float, *, leaves: int = 1) -> Mesh:
    """Frame and leaf for an opening from the origin along +x; seen from the wall's front the leaf is set back."""
    clear = width - 2 * DOOR_LIP
    across = 0.5 * thickness - 0.03
    parts = [door_frame(width, height, thickness, slot=2)]
    leaf = door_leaf(clear / leaves, height - DOOR_LIP)
    for k in range(leaves):
        hinge = (DOOR_LIP + k * clear, across, 0.0)
        # the second of two leaves has its hinges on the other side
        parts.append(leaf.moved(hinge, yaw=np.pi if k else 0.0))
    return merged(parts)


def window_pane(width: float, height: float, *, slot: int = 1) -> Mesh:
    """Glass with a cross of bars, from the origin along +x and up, around y = 0; it fills its opening."""
    bar = 0.06
    look: Look = {"material": "wood", "slot": slot}
    parts = [box((width, 0.02, height), centre=(width / 2, 0, height / 2), material="glass")]
    for x in (bar / 2, width / 2, width - bar / 2):
        parts.append(box((bar, 0.06, height), centre=(x, 0, height / 2), **look))
    for z in (bar / 2, 0.65 * height, height - bar / 2):
        # a little thinner than the uprights it crosses, so that no two faces share a plane
        parts.append(box((width, 0.05, bar), centre=(width / 2, 0, z), **look))
    return merged(parts)


SMALLEST_SIDE = 4.2
LARGEST_ROOM = 210.0
"""m²; a larger room is divided again."""
DOOR_WIDTH, DOOR_MARGIN = 1.2, 0.4


@dataclass(frozen=True, slots=True)
class WallLine:
    """A wall line at coordinate `at` of axis `across` (0: x, 1: y), from `start` to `end` of the other axis."""

    across: int
    at: float
    start: float
    end: float
    outer: bool = False


@dataclass(slots=True)
class Segment:
    """The part of a line between two junctions: one room on each side, or nothing (-1) outside."""

    line: WallLine
    start: float
    end: float
    low: int
    """The room on the side of smaller coordinates."""
    high: int
    door: Opening | None = None
    """The door; its position is in m from the segment's start."""

    @property
    def length(self) -> float:
        return self.end - self.start


@dataclass(slots=True)
class FloorPlan:
    rooms: list[Rectangle]
    segments: list[Segment] = field(default_factory=list)


def make_floor_plan(random: np.random.Generator, half: float, free: float) -> FloorPlan:
    """The plan of a house 2·half square around the origin; no inner wall is nearer to the origin than `free`."""
    lines: list[WallLine] = []
    rooms = _cut((-half, -half, half, half), random, free, lines)
    for across in (0, 1):
        lines += [WallLine(across, at, -half, half, outer=True) for at in (-half, half)]
    plan = FloorPlan(rooms)
    for line in lines:
        segments = _segments(line, rooms)
        plan.segments += segments
        if not line.outer:
            _cut_doors(segments, random)
    return plan


def _cut(room: Rectangle, random: np.random.Generator, free: float, lines: list[WallLine]) -> list[Rectangle]:
    """Divides a room; returns the new rooms and adds the walls between them to `lines`."""
    size = (room[2] - room[0], room[3] - room[1])
    if size[0] * size[1] <= LARGEST_ROOM:
        return [room]
    longer = 0 if size[0] >= size[1] else 1
    for axis in (longer, 1 - longer):
        at = _cut_at(room, axis, random, free)
        if at is not None:
            x0, y0, x1, y1 = room
            low, high = ((x0, y0, at, y1), (at, y0, x1, y1)) if axis == 0 else ((x0, y0, x1, at), (x0, at, x1, y1))
            lines.append(WallLine(axis, at, room[1 - axis], room[3 - axis]))
            return _cut(low, random, free, lines) + _cut(high, random, free, lines)
    return [room]


def _cut_at(room: Rectangle, axis: int, random: np.random.Generator, free: float) -> float | None:
    start, end = room[axis], room[axis + 2]
    fair = max(0.32 * (end - start), SMALLEST_SIDE)
    spans = [(start + fair, end - fair)]
    other = (room[1 - axis], room[3 - axis])
    if other[0] < free and other[1] > -free:
        # no wall in the strip around the origin; beside it the halves may be unequal
        spans = [(start + SMALLEST_SIDE, min(spans[0][1], -free)), (max(spans[0][0], free), end - SMALLEST_SIDE)]
    spans = [(a, b) for a, b in spans if b > a]
    if not spans:
        return None
    a, b = spans[int(random.integers(len(spans)))]
    return round(float(random.uniform(a, b)), 2)


def _segments(line: WallLine, rooms: list[Rectangle]) -> list[Segment]:
    along = 1 - line.across
    sides: list[list[int]] = [[], []]
    for number, room in enumerate(rooms):
        inside = room[along] < line.end and room[along + 2] > line.start
        for side, edge in ((0, room[line.across + 2]), (1, room[line.across])):
            if inside and edge == line.at:
                sides[side].append(number)
    edges = [rooms[k][along + end] for k in sides[0] + sides[1] for end in (0, 2)]
    breaks = sorted({min(max(edge, line.start), line.end) for edge in edges})

    def room_at(side: int, position: float) -> int:
        return next((k for k in sides[side] if rooms[k][along] < position < rooms[k][along + 2]), -1)

    return [Segment(line, a, b, room_at(0, 0.5 * (a + b)), room_at(1, 0.5 * (a + b))) for a, b in pairwise(breaks)]


def _cut_doors(segments: list[Segment], random: np.random.Generator) -> None:
    """Cuts one door through every line, which joins all rooms: the first segment of a line is never shorter than the
    smallest side of a room. Some more doors are random, wide archways among them."""
    fitting = [s for s in segments if s.length >= SMALLEST_SIDE]
    chosen = fitting[int(random.integers(len(fitting)))]
    for segment in segments:
        wide = DOOR_WIDTH if random.random() < 0.65 else float(random.uniform(1.6, 2.2))
        room = segment.length - wide - 2.0 * DOOR_MARGIN
        wanted = segment is chosen or random.random() < 0.35
        start = DOOR_MARGIN + float(random.random()) * max(room, 0.0)
        if wanted and room >= 0.0:
            top = 2.1 if wide == DOOR_WIDTH else 2.3
            segment.door = Opening(start, start + wide, top=top)


def yaw_of(line: WallLine) -> float:
    """The heading of a wall along the line, from smaller to larger coordinates."""
    return 0.5 * math.pi if line.across == 0 else 0.0
