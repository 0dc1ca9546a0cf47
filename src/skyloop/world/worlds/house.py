"""A house of 40 by 40 m: rooms cut out by chance, all joined by doors at least 1 m wide, furnished, open above."""

from __future__ import annotations

import math
from functools import cache
from itertools import cycle, islice

import numpy as np

from skyloop.world.generation import generator
from skyloop.world.ground import Ground
from skyloop.world.mesh import Colour, Look
from skyloop.world.model import Model, Shape
from skyloop.world.scenery.actors.indoor_walks import Area, add_walkers
from skyloop.world.scenery.furniture import CLOTHS, PIECES, VENEER, WOODS, chair, picture, rug
from skyloop.world.scenery.interiors import (
    DOOR_WIDTH,
    Opening,
    Rectangle,
    Segment,
    closed_door,
    door_frame,
    door_leaf,
    make_floor_plan,
    on_wall,
    place_floor,
    place_plain,
    wall,
    window_pane,
    yaw_of,
)
from skyloop_client.messages import Array

HALF, HEIGHT, THICKNESS = 20.0, 2.5, 0.15
FREE, FREE_OF_WALLS = 3.4, 4.4
"""m to each side of the origin without furniture; walls keep away by the length of an open door more."""
FRONT_CLEARANCE, GAP = 0.9, 0.25
SILL, WINDOW_TOP, WINDOW_WIDTH = 0.9, 2.1, 1.4

# the furniture that a kind of room may have, and its floors and walls
KINDS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "living room": (
        ("sofa", "television", "low table", "armchair", "bookshelf", "lamp", "plant", "small sofa", "low bookshelf"),
        ("wood",), ("wallpaper", "plaster")),
    "kitchen": (("counter", "fridge", "counter", "cupboard", "table", "plant"), ("tiles",), ("tiles", "plaster")),
    "bedroom": (("bed", "cupboard", "chest", "armchair", "lamp", "desk", "plant"), ("wood",), ("wallpaper", "plaster")),
    "bathroom": (("bathtub", "chest", "cupboard", "plant"), ("tiles",), ("tiles",)),
    "dining room": (
        ("table", "chest", "table", "plant", "cupboard", "lamp"),
        ("wood", "tiles"), ("wallpaper", "plaster")),
    "study": (
        ("desk", "bookshelf", "bookshelf", "desk", "armchair", "lamp", "low bookshelf"),
        ("wood",), ("plaster", "wallpaper")),
    "nursery": (("single bed", "single bed", "low bookshelf", "chest", "desk"), ("wood",), ("wallpaper",)),
    "store": (
        ("big carton", "carton", "big carton", "carton", "cupboard", "big carton", "carton"),
        ("cement",), ("brick", "cement")),
    "hall": (("bench", "plant", "plant", "chest", "bench", "lamp"), ("tiles", "wood"), ("plaster", "wallpaper")),
}  # fmt: skip
TINTS: tuple[Colour, ...] = (
    (255, 250, 240), (240, 225, 200), (215, 230, 240), (220, 235, 215), (245, 220, 215), (235, 230, 245),
    (250, 240, 200),
)  # fmt: skip


class House:
    def __init__(self, seed: int, *, walkers: int = 0, randomise: frozenset[str] = frozenset()) -> None:
        """walkers: The number of people who walk to and fro in the rooms, 0 to 12."""
        self._random = generator(seed, "house")
        self._looks = generator(seed, "house/looks")
        self._randomise = randomise
        self.ground = Ground(np.zeros((3, 3)), (-100.0, -100.0), 100.0)
        self.model = Model()
        self.plan = make_floor_plan(self._random, HALF, FREE_OF_WALLS)
        self.kinds = self._room_kinds()
        self._finishes = [self._finish(kind) for kind in self.kinds]
        self._papers = [int(k) for k in self._looks.permutation(36)[: len(self.kinds)]]
        place_plain(self.model, (-HALF, -HALF, HALF, HALF), material="grass")
        for room, kind in zip(self.plan.rooms, self.kinds, strict=True):
            floors = KINDS[kind][1] if "textures" not in randomise else ("wood", "tiles", "cement", "paving")
            material = floors[int(self._looks.integers(len(floors)))]
            look: Look = {
                "material": material,
                "colour": self._tint((255, 255, 255) if material == "wood" else (205, 200, 190)),
            }
            place_floor(self.model, room, name=f"{kind} floor", variant=int(self._looks.integers(8)), **look)
        # each entry is a body, and the body with the free space in front, that furniture must not block
        self._taken: list[tuple[Rectangle, Rectangle]] = [((-FREE, -FREE, FREE, FREE),) * 2]
        self._front_door_done = False
        for number, segment in enumerate(self.plan.segments):
            self._wall(segment, number)
        for room, kind in zip(self.plan.rooms, self.kinds, strict=True):
            self._furnish(room, kind)
        inside = Area(-HALF, -HALF, HALF, HALF)
        add_walkers(self.model, self.ground, walkers, inside, seed=seed, world="house", randomise=randomise)

    def _room_kinds(self) -> list[str]:
        """The room of the origin is the hall. For the others, every kind is used before any is used twice."""
        others = [kind for kind in KINDS if kind != "hall"]
        order: list[str] = []
        while len(order) < len(self.plan.rooms):
            order += [others[k] for k in self._random.permutation(len(others))]
        return [
            "hall" if x0 < 0.0 < x1 and y0 < 0.0 < y1 else order[number]
            for number, (x0, y0, x1, y1) in enumerate(self.plan.rooms)
        ]

    def _finish(self, kind: str) -> Look:
        materials = KINDS[kind][2] if "textures" not in self._randomise else ("plaster", "wallpaper", "brick", "wood")
        colour = TINTS[int(self._looks.integers(len(TINTS)))]
        return {"material": materials[int(self._looks.integers(len(materials)))], "colour": self._tint(colour)}

    def _tint(self, colour: Colour) -> Colour:
        drawn = self._looks.integers(130, 256, 3).tolist()
        return tuple(drawn) if "colours" in self._randomise else colour

    def _wall(self, segment: Segment, number: int) -> None:
        line, half = segment.line, 0.5 * THICKNESS
        # a line ends at the face of the wall it meets; the southern and northern outer walls run through
        over = half if line.outer and line.across == 1 else -half
        before = over if segment.start == line.start else 0.0
        after = over if segment.end == line.end else 0.0
        yaw = yaw_of(line)
        start = (line.at, segment.start) if line.across == 0 else (segment.start, line.at)
        holes = [segment.door] if segment.door else []
        if line.outer:
            holes = self._outer_openings(segment)
        shifted = [Opening(h.start + before, h.end + before, h.bottom, h.top) for h in holes]
        # a wall's front is its right-hand side: the larger x, or the smaller y
        front, back = (segment.high, segment.low) if line.across == 0 else (segment.low, segment.high)
        looks: list[Look] = [
            self._finishes[k] if k >= 0 else {"material": "brick", "colour": (255, 255, 255)} for k in (front, back)
        ]
        through = line.outer and line.across == 1
        ends = (through and before > 0.0, through and after > 0.0)
        mesh = wall(
            segment.length + before + after, HEIGHT, THICKNESS, shifted,
            ends=ends, shift=segment.start, back=looks[1], **looks[0],
        )  # fmt: skip
        name, variant = f"wall {number + 1}", self._paper(front, back)
        shape = Shape(name, (mesh.moved((-before, 0.0, 0.0)),))
        self.model.place(shape, (*start, 0.0), yaw=yaw, is_a="wall", name=name, variant=variant)
        for hole in holes:
            self._fill(segment, start, yaw, hole)
        if not holes and segment.length > 3.0:
            self._hang_picture(segment, start, yaw, front, back)

    def _paper(self, front: int, back: int) -> int:
        """The texture variant of a wall: that of its front room, so that a room has one wallpaper, if patterned."""
        patterned = [k for k in (front, back) if k >= 0 and self._finishes[k]["material"] in ("wallpaper", "tiles")]
        return self._papers[patterned[0]] if patterned else 0

    def _outer_openings(self, segment: Segment) -> list[Opening]:
        """The front door once, otherwise windows."""
        middle = 0.5 * segment.length
        if not self._front_door_done and segment.length > 4.0 and segment.line.at < 0.0:
            self._front_door_done = True
            return [Opening(middle - 0.6, middle + 0.6, top=2.1)]
        count = int(segment.length // 4.0)
        return [
            Opening(x - 0.5 * WINDOW_WIDTH, x + 0.5 * WINDOW_WIDTH, SILL, WINDOW_TOP)
            for x in (np.arange(count) + 0.5) * segment.length / max(count, 1)
        ]

    def _fill(self, segment: Segment, start: tuple[float, float], yaw: float, hole: Opening) -> None:
        at, wide = on_wall(start, yaw, hole.start, 0.0, hole.bottom), round(hole.end - hole.start, 6)
        wood = WOODS[int(self._looks.integers(len(WOODS)))]
        if hole.bottom > 0.0:
            self.model.place(
                _window(wide, hole.top - hole.bottom),
                at,
                yaw=yaw,
                is_a="window",
                name="window",
                palette=[(245, 245, 240)],
            )
            return
        self._keep_door_free(on_wall(start, yaw, 0.5 * (hole.start + hole.end)), wide)
        if segment.line.outer:
            shape = Shape("front door", (closed_door(wide, hole.top, THICKNESS),))
            self.model.place(
                shape,
                at,
                yaw=yaw,
                is_a="door",
                name="front door",
                variant=VENEER,
                palette=[(120, 50, 45), (235, 235, 230)],
            )
            return
        shape = Shape("door frame", (door_frame(wide, hole.top, THICKNESS),))
        self.model.place(shape, at, yaw=yaw, is_a="door", name="door frame", variant=VENEER, palette=[wood])
        if wide == DOOR_WIDTH:
            # the leaf stands open, beside the opening and square to the wall
            side = 1.0 if self._random.random() < 0.5 else -1.0
            hinge = on_wall(start, yaw, hole.start - 0.06, side * (0.5 * THICKNESS + 0.05))
            self.model.place(
                _leaf(wide - 0.06),
                hinge,
                yaw=yaw + side * 0.5 * math.pi,
                is_a="door",
                name="door",
                variant=VENEER,
                palette=[wood],
            )

    def _keep_door_free(self, at: Array, wide: float) -> None:
        reach = 0.5 * wide + 0.9
        area = (at[0] - reach, at[1] - reach, at[0] + reach, at[1] + reach)
        self._taken.append((area, area))

    def _hang_picture(self, segment: Segment, start: tuple[float, float], yaw: float, front: int, back: int) -> None:
        seed, wide = int(self._random.integers(12)), float(self._random.uniform(0.7, 1.3))
        wide = round(wide, 1)
        for room, side in ((front, -1.0), (back, 1.0)):
            if room >= 0 and self._random.random() < 0.7:
                at = on_wall(start, yaw, 0.5 * segment.length, side * 0.5 * THICKNESS, 1.6)
                wood = WOODS[int(self._looks.integers(len(WOODS)))]
                turned = yaw if side < 0.0 else yaw + math.pi
                self.model.place(
                    picture(wide, 0.7, seed),
                    at,
                    yaw=turned,
                    is_a="object",
                    name="picture",
                    variant=VENEER,
                    palette=[wood],
                )

    def _furnish(self, room: Rectangle, kind: str) -> None:
        area = (room[2] - room[0]) * (room[3] - room[1])
        if kind in ("living room", "bedroom", "dining room", "nursery"):
            middle = (0.5 * (room[0] + room[2]), 0.5 * (room[1] + room[3]), 0.0)
            cloths = [CLOTHS[k] for k in self._looks.integers(len(CLOTHS), size=2)]
            self.model.place(rug(2.4, 1.7), middle, is_a="furniture", name="rug", palette=cloths)
        pieces = min(max(int(area / 8.0), 5), 16)
        for name in islice(cycle(KINDS[kind][0]), pieces):
            self._place_piece(room, name)

    def _place_piece(self, room: Rectangle, name: str) -> None:
        """Places a piece where it fits, after several attempts; a full room gets fewer pieces."""
        piece = PIECES[name]
        margin = 0.5 * THICKNESS + 0.05
        inside = (room[0] + margin, room[1] + margin, room[2] - margin, room[3] - margin)
        for _ in range(25):
            quarter = int(self._random.integers(4))
            wide, deep = (piece.wide, piece.deep) if quarter % 2 == 0 else (piece.deep, piece.wide)
            x = float(self._random.uniform(inside[0] + wide / 2, inside[2] - wide / 2))
            y = float(self._random.uniform(inside[1] + deep / 2, inside[3] - deep / 2))
            if piece.at_wall:
                # a piece's back is its +y side: towards the north, west, south or east wall
                x = (x, inside[0] + wide / 2, x, inside[2] - wide / 2)[quarter]
                y = (inside[3] - deep / 2, y, inside[1] + deep / 2, y)[quarter]
            around = 0.0 if piece.at_wall else 0.6
            body = (x - wide / 2 - around, y - deep / 2 - around, x + wide / 2 + around, y + deep / 2 + around)
            kept = _with_front(body, quarter) if piece.at_wall else _grown(body, FRONT_CLEARANCE)
            if self._is_free(body, kept) and (piece.at_wall or _holds(inside, _grown(body, 0.5))):
                self._taken.append((body, kept))
                self._put(name, x, y, 0.5 * math.pi * quarter)
                return

    def _is_free(self, body: Rectangle, kept: Rectangle) -> bool:
        grown = _grown(body, GAP)
        return not any(_meet(grown, other_kept) or _meet(kept, other) for other, other_kept in self._taken)

    def _put(self, name: str, x: float, y: float, yaw: float) -> None:
        piece = PIECES[name]
        wood, cloth = WOODS[int(self._looks.integers(len(WOODS)))], CLOTHS[int(self._looks.integers(len(CLOTHS)))]
        soft = name in ("sofa", "small sofa", "armchair", "lamp", "plant")
        palette = [cloth, wood] if soft else [wood, cloth]
        self.model.place(
            piece.make(), (x, y, 0.0), yaw=yaw, is_a=piece.is_a, name=name, variant=VENEER, palette=palette
        )
        if name in ("table", "desk"):
            seats = [(-0.4, -0.62, math.pi), (0.4, -0.62, math.pi), (-0.4, 0.62, 0.0), (0.4, 0.62, 0.0)]
            for along, across, turn in seats if name == "table" else [(0.0, -0.45, math.pi)]:
                at = on_wall((x, y), yaw, along, across)
                self.model.place(
                    chair(), at, yaw=yaw + turn, is_a="furniture", name="chair", variant=VENEER, palette=[wood, cloth]
                )


@cache
def _window(wide: float, tall: float) -> Shape:
    return Shape("window", (window_pane(wide, tall),))


@cache
def _leaf(wide: float) -> Shape:
    return Shape("door", (door_leaf(wide),))


def _meet(a: Rectangle, b: Rectangle) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _holds(a: Rectangle, b: Rectangle) -> bool:
    return a[0] <= b[0] and a[1] <= b[1] and a[2] >= b[2] and a[3] >= b[3]


def _grown(a: Rectangle, by: float) -> Rectangle:
    return a[0] - by, a[1] - by, a[2] + by, a[3] + by


def _with_front(body: Rectangle, quarter: int) -> Rectangle:
    """The piece with the space in front of it, which is on the side away from the wall."""
    grown = list(body)
    side, sign = ((1, -1), (2, 1), (3, 1), (0, -1))[quarter]
    grown[side] += sign * FRONT_CLEARANCE
    return grown[0], grown[1], grown[2], grown[3]
