"""A corridor of 8 by 40 m with doors, notice boards, benches, plants and pillars; open above, for light.

It runs along +x from -3.2 m to 36.8 m, y from -4 m to 4 m; a wall with a double door closes the far end. An anchor, a
bright blue board as a landmark, can be hung on any wall.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from skyloop.world.generation import generator
from skyloop.world.ground import Ground
from skyloop.world.mesh import Colour, Look, Mesh, box, cylinder
from skyloop.world.model import Model, Shape
from skyloop.world.scenery.actors.indoor_walks import Area, add_walkers
from skyloop.world.scenery.furniture import VENEER, WOODS, bench, carton, notice_board, picture, potted_plant
from skyloop.world.scenery.interiors import Opening, closed_door, on_wall, place_floor, place_plain, wall
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

START, END, HALF_WIDTH, HEIGHT, THICKNESS = -3.2, 36.8, 4.0, 2.8, 0.3
SECTION = 8.0
"""m between the pilasters along the walls."""
DOOR_WIDTH, DOOR_HEIGHT = 1.1, 2.15
FINISHES: tuple[tuple[str, Colour], ...] = (
    ("plaster", (250, 240, 220)), ("plaster", (215, 230, 235)), ("plaster", (235, 215, 195)),
    ("plaster", (215, 230, 205)), ("wallpaper", (255, 255, 255)), ("brick", (255, 255, 255)),
)  # fmt: skip
ANCHOR_SIZE, ANCHOR_COLOUR = 0.5, (0, 0, 255)
CLEAR_OF_ANCHOR = 2.0
"""m around the anchor in which nothing else hangs or stands, so that it is visible from all sides."""
DOORS: tuple[Colour, ...] = ((200, 150, 100), (110, 130, 160), (150, 70, 60), (90, 120, 90), (235, 235, 230))


class Corridor:
    def __init__(
        self,
        seed: int,
        *,
        anchor: Sequence[float] = (),
        pillars: int = 5,
        walkers: int = 0,
        randomise: frozenset[str] = frozenset(),
    ) -> None:
        """anchor: m, [x, y, z] of a vividly blue board, 0.5 m square, that hangs on the nearest wall; empty: no board.
        pillars: The largest number of free-standing pillars, 0 to 5.
        walkers: The number of people who walk to and fro, 0 to 12.
        """
        if pillars not in range(6):
            raise ScenarioError(f"corridor: pillars is {pillars}; give 0 to 5")
        self._anchor, self._anchor_yaw = _on_nearest_wall(anchor)
        self._random = generator(seed, "corridor")
        self._looks = generator(seed, "corridor/looks")
        self._randomise = randomise
        self.ground = Ground(np.zeros((3, 3)), (-50.0, -50.0), 50.0)
        self.model = Model()
        # the floor continues below the door leaves
        rim = THICKNESS - 0.03
        area = (START - rim, -HALF_WIDTH - rim, END + rim, HALF_WIDTH + rim)
        floor = "tiles"
        if "textures" in randomise:
            floor = str(self._looks.choice(["tiles", "wood", "paving", "cement"]))
        place_floor(self.model, area, material=floor, variant=int(self._looks.integers(8)))
        place_plain(self.model, area, material="grass")
        middle = HALF_WIDTH + 0.5 * THICKNESS
        for k in range(round((END - START) / SECTION)):
            self._section((START + k * SECTION, middle), 0.0, k)
            self._section((END - k * SECTION, -middle), math.pi, k)
        self._end_wall((START - 0.5 * THICKNESS, -HALF_WIDTH), 0.5 * math.pi, "near end")
        self._end_wall((END + 0.5 * THICKNESS, HALF_WIDTH), -0.5 * math.pi, "far end")
        self._pillars(pillars)
        if self._anchor is not None:
            board = box((ANCHOR_SIZE, 0.04, ANCHOR_SIZE), centre=(0.0, -0.02, 0.0), colour=ANCHOR_COLOUR)
            self.model.place(Shape("anchor", (board,)), self._anchor, yaw=self._anchor_yaw, is_a="sign", name="anchor")
        inside = Area(START, -HALF_WIDTH, END, HALF_WIDTH)
        add_walkers(self.model, self.ground, walkers, inside, seed=seed, world="corridor", randomise=randomise)

    def _finish(self) -> Look:
        material, colour = FINISHES[int(self._looks.integers(len(FINISHES)))]
        if "textures" in self._randomise:
            material = str(self._looks.choice(["plaster", "wallpaper", "brick", "cement", "formboard"]))
        return {"material": material, "colour": self._tint(colour, 120)}

    def _tint(self, colour: Colour, darkest: int) -> Colour:
        if "colours" not in self._randomise:
            return colour
        red, green, blue = self._looks.integers(darkest, 256, 3).tolist()
        return red, green, blue

    def _hides_anchor(self, position: Array | tuple[float, ...]) -> bool:
        return self._anchor is not None and math.dist(position[:2], self._anchor[:2]) < CLEAR_OF_ANCHOR

    def _wall(self, mesh: Mesh, start: tuple[float, float], yaw: float, name: str) -> None:
        variant = int(self._looks.integers(36))
        self.model.place(Shape(name, (mesh,)), (*start, 0.0), yaw=yaw, is_a="wall", name=name, variant=variant)

    def _section(self, start: tuple[float, float], yaw: float, k: int) -> None:
        """8 m of a side wall; with `start` and yaw its front faces the corridor."""
        side = "north" if yaw == 0.0 else "south"
        last = round((END - START) / SECTION) - 1
        # the first and the last section reach around the end walls
        before, after = (THICKNESS if k == 0 else 0.0), (THICKNESS if k == last else 0.0)
        door = float(self._random.uniform(1.0, 3.0)) if self._random.random() < 0.8 else None
        if door is not None and self._hides_anchor(on_wall(start, yaw, door + 0.5 * DOOR_WIDTH)):
            door = None
        openings = [Opening(before + door, before + door + DOOR_WIDTH, top=DOOR_HEIGHT)] if door is not None else []
        length, ends = SECTION + before + after, (before > 0.0, after > 0.0)
        mesh = wall(length, HEIGHT, THICKNESS, openings, ends=ends, shift=k * SECTION, **self._finish())
        self._wall(mesh.moved((-before, 0.0, 0.0)), start, yaw, f"{side} wall {k + 1}")
        if door is not None:
            self._door(start, yaw, door, f"{side} door {k + 1}", 1)
        front = -0.5 * THICKNESS
        if k > 0:
            size = (0.5, 0.2, HEIGHT + 0.05)
            pilaster = box(size, centre=(0.0, -0.1, 0.5 * size[2]), bottom=False, material="cement")
            position = on_wall(start, yaw, 0.0, front)
            self.model.place(
                Shape("pilaster", (pilaster,)), position, yaw=yaw, is_a="wall", name=f"{side} pilaster {k}"
            )
        self._hang(start, yaw, front, float(self._random.uniform(5.2, 6.2)))
        self._stand(start, yaw, front)

    def _door(self, start: tuple[float, float], yaw: float, along: float, name: str, leaves: int) -> None:
        colour = self._tint(DOORS[int(self._looks.integers(len(DOORS)))], 60)
        mesh = closed_door(DOOR_WIDTH * leaves, DOOR_HEIGHT, THICKNESS, leaves=leaves)
        position = on_wall(start, yaw, along)
        self.model.place(
            Shape("door", (mesh,)),
            position,
            yaw=yaw,
            is_a="door",
            name=name,
            variant=VENEER,
            palette=[colour, (200, 195, 185)],
        )

    def _hang(self, start: tuple[float, float], yaw: float, front: float, along: float) -> None:
        position = on_wall(start, yaw, along, front, 1.5)
        kind = self._random.random()
        seed = int(self._random.integers(8))
        if self._hides_anchor(position):
            return
        if kind < 0.5:
            self.model.place(
                notice_board(seed=seed), position, yaw=yaw, is_a="sign", name="notice board", variant=VENEER
            )
        elif kind < 0.9:
            frame = WOODS[int(self._looks.integers(len(WOODS)))]
            shape = picture(1.2, 0.8, seed)
            self.model.place(shape, position, yaw=yaw, is_a="object", name="picture", variant=VENEER, palette=[frame])

    def _stand(self, start: tuple[float, float], yaw: float, front: float) -> None:
        """A bench, cartons, or a plant at the wall, clear of the door."""
        wood = WOODS[int(self._looks.integers(len(WOODS)))]
        along, kind = float(self._random.uniform(5.9, 6.7)), self._random.random()
        place = on_wall(start, yaw, along, front - 0.5)
        if kind < 0.5:
            self._put(bench(), place, yaw, "bench", "bench", wood)
        elif kind < 0.7:
            self._put(carton(1.0, 0.8, 0.9), place, yaw + 0.2, "box", "carton")
            self._put(carton(0.6, 0.5, 0.45), (place[0], place[1], 0.905), yaw - 0.3, "box", "carton")
        turn, has_plant = float(self._random.uniform(0.0, 6.28)), self._random.random() < 0.7
        if has_plant:
            pot = potted_plant(1.4, int(self._random.integers(3)))
            self._put(pot, on_wall(start, yaw, 4.6, front - 0.6), turn, "bush", "plant", (220, 130, 90))

    def _put(
        self,
        shape: Shape,
        position: Array | tuple[float, ...],
        yaw: float,
        is_a: str,
        name: str,
        colour: Colour = (255, 255, 255),
    ) -> None:
        """Places an object unless it would stand in the way of the take-off or of the anchor."""
        if math.hypot(position[0], position[1]) > 4.0 and not self._hides_anchor(position):
            self.model.place(shape, position, yaw=yaw, is_a=is_a, name=name, palette=[colour], variant=VENEER)

    def _end_wall(self, start: tuple[float, float], yaw: float, name: str) -> None:
        wide = 2.0 * DOOR_WIDTH
        along = HALF_WIDTH - 0.5 * wide
        openings = [Opening(along, along + wide, top=DOOR_HEIGHT)]
        mesh = wall(2.0 * HALF_WIDTH, HEIGHT, THICKNESS, openings, ends=(False, False), **self._finish())
        self._wall(mesh, start, yaw, f"{name} wall")
        self._door(start, yaw, along, f"{name} door", 2)

    def _pillars(self, count: int) -> None:
        """Free-standing pillars on alternate sides of the axis, as obstacles."""
        round_one = cylinder(0.3, HEIGHT, 20, material="plaster")
        square = box((0.6, 0.6, HEIGHT), centre=(0, 0, 0.5 * HEIGHT), bottom=False, material="cement")
        shapes = [Shape("pillar", (round_one,)), Shape("pillar", (square,))]
        side = 1.0 if self._random.random() < 0.5 else -1.0
        for number, x in enumerate((7.0, 13.0, 19.0, 25.0, 31.0)[:count]):
            y = side * float(self._random.uniform(0.6, 2.0))
            side = -side
            shape = shapes[int(self._random.integers(2))]
            position = (x + float(self._random.uniform(-0.8, 0.8)), y, 0.0)
            self.model.place(shape, position, is_a="wall", name=f"pillar {number + 1}")


def _on_nearest_wall(anchor: Sequence[float]) -> tuple[tuple[float, float, float] | None, float]:
    """The middle of the board's back, and the yaw with which its front, -y, faces the corridor."""
    if not anchor:
        return None, 0.0
    half = 0.5 * ANCHOR_SIZE
    lows, highs = (START + half, -HALF_WIDTH, half), (END - half, HALF_WIDTH, HEIGHT - half)
    if len(anchor) != 3 or not all(a <= p <= b for a, p, b in zip(lows, anchor, highs, strict=True)):
        ranges = (f"{name} {a:g} to {b:g}" for name, a, b in zip("xyz", lows, highs, strict=True))
        raise ScenarioError(
            f"world 'corridor': an anchor at {list(anchor)} does not hang on a wall; give {', '.join(ranges)} m"
        )
    x, y, z = (float(number) for number in anchor)
    walls = {
        HALF_WIDTH - y: ((x, HALF_WIDTH, z), 0.0),
        HALF_WIDTH + y: ((x, -HALF_WIDTH, z), math.pi),
        END - x: ((END, y, z), -0.5 * math.pi),
        x - START: ((START, y, z), 0.5 * math.pi),
    }
    return walls[min(walls)]
