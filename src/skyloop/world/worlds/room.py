"""The 20 by 20 m room of E2ES: walls, inner walls and boxes exactly where its world file has them, open above.

The seed chooses which of the 36 wallpapers is where; the geometry is always the same. Where E2ES's walls run into each
other, one of the two is cut at the other's face: the solid is the same, without faces that flicker. Within 2.19 m of
the origin nothing stands (a box of E2ES is nearer than the 3 m that other worlds keep free).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from skyloop.world.generation import generator
from skyloop.world.ground import Ground
from skyloop.world.mesh import Colour, Look, Mesh, box
from skyloop.world.model import Model, Shape
from skyloop.world.scenery.actors.indoor_walks import Area, add_walkers
from skyloop.world.scenery.interiors import place_floor, place_plain, wall
from skyloop_client.errors import ScenarioError

HEIGHT = 2.5
WALLPAPERS = 36
HALF_FLOOR = 10.0
WHITE_WALL_THICKNESS = 0.05

# length, thickness, x, y of the centre, yaw; then m cut off at its start and at its end
WALLS = (
    (20.15, 0.15, 0.02, 9.98, 0.0, 0.0, 0.0),
    (20.15, 0.15, 0.02, -10.02, 0.0, 0.0, 0.0),
    (20.15, 0.15, -9.98, -0.02, 0.5 * math.pi, 0.15, 0.15),
    (20.15, 0.15, 10.02, -0.02, 0.5 * math.pi, 0.15, 0.15),
    (2.0, 0.5, -2.543, 6.600, 0.0, 0.0, 0.0),
    (2.0, 0.5, 8.996, 5.057, math.pi, 0.051, 0.0),
    (2.0, 0.5, 4.440, -4.244, 0.785, 0.0, 0.0),
    (3.0, 0.5, -6.001, -4.440, -0.5 * math.pi, 0.0, 0.0),
)
BOXES = (
    (-7.265, 1.339), (1.457, 5.893), (6.381, 0.920), (-2.475, 2.510), (1.491, 2.455), (-4.490, -0.500),
    (-3.303, -6.628), (-1.208, -3.332), (6.888, -5.736), (1.151, -6.527), (5.667, 6.917), (3.280, -1.309),
    (-6.549, 6.252),
)  # fmt: skip


class Room:
    def __init__(
        self, seed: int, *, white_wall: Sequence[float] = (), walkers: int = 0, randomise: frozenset[str] = frozenset()
    ) -> None:
        """white_wall: m, m, degrees, m: x and y of the middle of a plain white wall, its direction from east and its
        length. It is as high as the others and has no texture. Empty: there is none.
        walkers: The number of people who walk to and fro, 0 to 12.
        """
        self._random = generator(seed, "room")
        self._randomise = randomise
        self._papers = self._random.permutation(WALLPAPERS)
        self.ground = Ground(np.zeros((3, 3)), (-2.0 * HALF_FLOOR, -2.0 * HALF_FLOOR), 2.0 * HALF_FLOOR)
        self.model = Model()
        floor = str(self._random.choice(["wood", "tiles", "paving"])) if "textures" in randomise else "wood"
        area = (-HALF_FLOOR, -HALF_FLOOR, HALF_FLOOR, HALF_FLOOR)
        place_floor(self.model, area, material=floor, variant=int(self._random.integers(WALLPAPERS)))
        place_plain(self.model, area, material="soil")
        for number, (length, thickness, x, y, yaw, start, end) in enumerate(WALLS):
            ends = (start == 0.0, end == 0.0)
            mesh = wall(length - start - end, HEIGHT, thickness, ends=ends, shift=self._shift(), **self._look())
            middle = mesh.moved((start - 0.5 * length, 0.0, 0.0))
            self._place(middle, (x, y, 0.0), yaw, "wall", number)
        for number, (x, y) in enumerate(BOXES):
            mesh = box((1.0, 1.0, HEIGHT), centre=(0.0, 0.0, 0.5 * HEIGHT), bottom=False, **self._look())
            self._place(self._unlike_sides(mesh), (x, y, 0.0), 0.0, "box", number)
        if len(white_wall):
            self._place_white_wall(white_wall)
        add_walkers(self.model, self.ground, walkers, Area(*area), seed=seed, world="room", randomise=randomise)

    def _place_white_wall(self, given: Sequence[float]) -> None:
        """Cameras find no corner on it. It is placed last, so that the room is otherwise the same."""
        numbers = [value for value in given if isinstance(value, int | float) and math.isfinite(value)]
        if len(numbers) != len(given) or len(numbers) != 4 or not 0.0 < numbers[3] <= 2.0 * HALF_FLOOR:
            raise ScenarioError(
                f"world 'room': white_wall is {list(given)}; give x and y in m, the direction in degrees and a length "
                f"of up to {2.0 * HALF_FLOOR:g} m"
            )
        x, y, direction_deg, length = numbers
        mesh = box((length, WHITE_WALL_THICKNESS, HEIGHT), centre=(0.0, 0.0, 0.5 * HEIGHT), bottom=False)
        shape = Shape("white wall", (mesh,))
        self.model.place(shape, (x, y, 0.0), yaw=math.radians(direction_deg), is_a="wall", name="white wall")

    def _place(self, mesh: Mesh, position: tuple[float, float, float], yaw: float, kind: str, number: int) -> None:
        name = f"{kind} {number + 1}"
        paper = int(self._papers[number + (len(WALLS) if kind == "box" else 0)])
        self.model.place(Shape(name, (mesh,)), position, yaw=yaw, is_a=kind, name=name, variant=paper)

    def _shift(self) -> float:
        return float(self._random.uniform(0.0, 2.0))

    def _unlike_sides(self, mesh: Mesh) -> Mesh:
        """Gives each side of a box another part of the wallpaper."""
        shifts = np.repeat([self._shift() for _ in range(5)], 4)
        return replace(mesh, uv=mesh.uv + np.stack([shifts, 0.0 * shifts], axis=1))

    def _look(self) -> Look:
        colour: Colour = (255, 255, 255)
        if "colours" in self._randomise:
            red, green, blue = self._random.integers(150, 256, 3).tolist()
            colour = (red, green, blue)
        return {"material": "wallpaper", "colour": colour}
