"""Coloured blocks on a plain: boxes of many sizes and headings, some of them stacked."""

from __future__ import annotations

import math

import numpy as np

from skyloop.world.generation import generator
from skyloop.world.ground import Ground, place_terrain
from skyloop.world.mesh import Colour, box
from skyloop.world.model import Model, Shape, basic_shapes
from skyloop.world.scenery.street_furniture import lamp_shape
from skyloop_client.errors import ScenarioError

COLOURS: tuple[Colour, ...] = (
    (214, 48, 49), (240, 130, 30), (246, 205, 40), (110, 190, 50), (20, 130, 70), (30, 190, 190),
    (40, 120, 220), (50, 55, 160), (130, 60, 180), (225, 80, 160), (245, 245, 240), (120, 72, 42),
)  # fmt: skip
SURFACES = ("plain", "plaster", "cement", "wood", "brick", "metal", "cardboard")
GROUNDS = ("grass", "soil", "gravel", "asphalt", "paving")
FREE_RADIUS = 4.0
"""m around the origin without blocks."""
SMALLEST_CELL = 3.0
BODIES = {shape.name: shape.lods[0] for shape in basic_shapes()}
LANDMARKS = (
    ("OrangeBall", BODIES["Sphere"], 2.0, 2.0, (240, 130, 30)),
    ("Cylinder", BODIES["Cylinder"], 1.6, 4.0, (40, 120, 220)),
    ("Cylinder2", BODIES["Cylinder"], 2.0, 3.0, (110, 190, 50)),
    ("PulsingCone", BODIES["Cone"], 2.2, 2.6, (225, 80, 160)),
    ("Cylinder3", BODIES["Cylinder"], 1.2, 5.0, (246, 205, 40)),
    ("Cone", BODIES["Cone"], 1.8, 3.0, (130, 60, 180)),
    ("Cylinder4", BODIES["Cylinder"], 2.4, 2.0, (214, 48, 49)),
)
"""Name, body, width and height in m, colour."""


class Blocks:
    def __init__(
        self,
        seed: int,
        *,
        count: int = 40,
        size: float = 80.0,
        landmarks: bool = False,
        randomise: frozenset[str] = frozenset(),
    ) -> None:
        """count: The number of blocks.
        size: m, the side of the square they stand in.
        landmarks: Whether a ball, cylinders, cones and a lantern stand among them, named for AirSim's scripts.
        """
        if not (math.isfinite(size) and 20.0 <= size <= 1000.0):
            raise ScenarioError(f"world 'blocks': size is {size} m; give 20 to 1000")
        most = int(0.6 * (size / SMALLEST_CELL) ** 2)
        if not (isinstance(count, int) and 0 <= count <= most):
            raise ScenarioError(f"world 'blocks': {count} blocks; a square of {size:g} m holds 0 to {most}")
        self._random = generator(seed, "blocks")
        # looks have a generator of their own, so that randomising them moves nothing
        self._looks = generator(seed, "blocks/looks")
        self._randomise = randomise
        self._number = 0
        self.ground = Ground(np.zeros((3, 3)), (-2.0 * size, -2.0 * size), 2.0 * size)
        self.model = Model()
        place_terrain(self.model, self.ground, self._looks.choice(GROUNDS) if "textures" in randomise else "grass")
        heights = self._stack_heights(count)
        for (x, y, room), height in zip(self._places(len(heights), size), heights, strict=True):
            self._stack(x, y, room, height)
        if landmarks:
            self._place_landmarks()

    def _place_landmarks(self) -> None:
        """Uses cells without blocks, first those north of the origin, where an AirSim vehicle looks at the start."""
        angle, far = np.arctan2(np.abs(self._free[:, 0]), self._free[:, 1]), np.linalg.norm(self._free, axis=1)
        order = np.lexsort((far, angle > math.radians(40.0)))
        for (name, shape, width, height, colour), cell in zip(LANDMARKS, self._free[order], strict=False):
            mesh = shape.moved(scale=(width, width, height)).painted(colour, material="plain")
            solid = Shape(name, (mesh,))
            self.model.place(solid, (*cell, 0.5 * height), is_a="block", name=name)
        for cell in self._free[order][len(LANDMARKS) :][:1]:
            self.model.place(lamp_shape(self._looks), (*cell, 0.0), is_a="lamp", name="PointLight")

    def _stack_heights(self, count: int) -> list[int]:
        heights = []
        while count:
            heights.append(min(count, int(self._random.choice([1, 2, 3], p=[0.6, 0.28, 0.12]))))
            count -= heights[-1]
        return heights

    def _places(self, n: int, size: float) -> list[tuple[float, float, float]]:
        """n times (x, y, free radius), each in a different cell."""
        cells = max(math.ceil(math.sqrt(2.0 * n)), 4)
        cell = size / cells
        middles = (np.arange(cells) + 0.5) * cell - 0.5 * size
        xy = np.stack(np.meshgrid(middles, middles, indexing="ij"), -1).reshape(-1, 2)
        xy = xy[np.linalg.norm(xy, axis=1) > FREE_RADIUS + 0.5 * cell]
        order = self._random.permutation(len(xy))
        chosen, self._free = order[:n], xy[order[n:]]
        places = []
        for x, y in xy[chosen]:
            radius = 0.5 * cell * self._random.uniform(0.45, 0.9)
            dx, dy = (0.5 * cell - radius) * self._random.uniform(-1.0, 1.0, 2)
            places.append((float(x + dx), float(y + dy), float(radius)))
        return places

    def _stack(self, x: float, y: float, radius: float, height: int) -> None:
        z = 0.0
        for _ in range(height):
            slant = math.atan(self._random.uniform(0.5, 2.0))
            wide, deep = 2.0 * radius * math.cos(slant), 2.0 * radius * math.sin(slant)
            tall = min(wide, deep) * self._random.uniform(0.5, 2.0 if height == 1 else 1.1)
            self._place(x, y, z, (wide, deep, tall))
            z += tall
            # the next block fits on top of the lower one at any heading
            radius = 0.48 * min(wide, deep)

    def _place(self, x: float, y: float, z: float, size: tuple[float, float, float]) -> None:
        self._number += 1
        turned = self._random.random() < 0.6
        yaw = self._random.uniform(0.0, math.pi) if turned else 0.0
        picked = COLOURS[int(self._looks.integers(len(COLOURS)))]
        colour = tuple(self._looks.integers(20, 256, 3).tolist()) if "colours" in self._randomise else picked
        material = self._looks.choice(SURFACES) if "textures" in self._randomise else "plain"
        mesh = box(size, centre=(0.0, 0.0, 0.5 * size[2]), bottom=False, colour=colour, material=material)
        shape = Shape(f"block {self._number}", (mesh,))
        self.model.place(shape, (x, y, z), yaw=yaw, is_a="block", name=shape.name)
