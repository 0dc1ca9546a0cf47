"""Floor plans of houses: a square is divided into rooms again and again, and walls stand between the rooms."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from skyloop.world.scenery.interiors import Opening, Rectangle

SMALLEST_SIDE = 4.2
LARGEST_ROOM = 210.0
"""m²; a larger room is divided again."""
DOOR_WIDTH, DOOR_MARGIN = 1.2, 0.4


@dataclass(frozen=True, slots=True)
class Line:
    """A wall line at coordinate `at` of axis `across` (0: x, 1: y), from `start` to `end` of the other axis."""

    across: int
    at: float
    start: float
    end: float
    outer: bool = False


@dataclass(slots=True)
class Segment:
    """The part of a line between two junctions: one room on each side, or nothing (-1) outside."""

    line: Line
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
    lines: list[Line] = []
    rooms = _cut((-half, -half, half, half), random, free, lines)
    for across in (0, 1):
        lines += [Line(across, at, -half, half, outer=True) for at in (-half, half)]
    plan = FloorPlan(rooms)
    for line in lines:
        segments = _segments(line, rooms)
        plan.segments += segments
        if not line.outer:
            _cut_doors(segments, random)
    return plan


def _cut(room: Rectangle, random: np.random.Generator, free: float, lines: list[Line]) -> list[Rectangle]:
    """Divides a room; returns the new rooms and adds the walls between them to `lines`."""
    size = (room[2] - room[0], room[3] - room[1])
    if size[0] * size[1] <= LARGEST_ROOM:
        return [room]
    longer = 0 if size[0] >= size[1] else 1
    for axis in (longer, 1 - longer):
        at = _cut_at(room, axis, random, free)
        if at is not None:
            low, high = list(room), list(room)
            low[axis + 2] = high[axis] = at
            lines.append(Line(axis, at, room[1 - axis], room[3 - axis]))
            a, b = (tuple(part) for part in (low, high))
            return _cut(a, random, free, lines) + _cut(b, random, free, lines)  # type: ignore[arg-type]
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


def _segments(line: Line, rooms: list[Rectangle]) -> list[Segment]:
    along = 1 - line.across
    sides: list[list[int]] = [[], []]
    for number, room in enumerate(rooms):
        inside = room[along] < line.end and room[along + 2] > line.start
        for side, edge in ((0, room[line.across + 2]), (1, room[line.across])):
            if inside and edge == line.at:
                sides[side].append(number)
    edges = [rooms[k][along + end] for k in sides[0] + sides[1] for end in (0, 2)]
    breaks = sorted({min(max(edge, line.start), line.end) for edge in edges})

    def room_at(side: int, place: float) -> int:
        return next((k for k in sides[side] if rooms[k][along] < place < rooms[k][along + 2]), -1)

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


def yaw_of(line: Line) -> float:
    """The heading of a wall along the line, from smaller to larger coordinates."""
    return 0.5 * math.pi if line.across == 0 else 0.0
