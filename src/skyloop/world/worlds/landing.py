"""A field with the landing marker on it; the seed chooses what the ground is covered with."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skyloop.world.generation import generator
from skyloop.world.ground import Ground, place_terrain
from skyloop.world.materials import MATERIAL_ID
from skyloop.world.mesh import Colour, box, cylinder, merged
from skyloop.world.model import Model, Shape
from skyloop.world.scenery.bushes import BUSH_GREENS, SMALL_LEAVES, bush_shape, rock_shape
from skyloop.world.scenery.landing_marker import LandingMarker
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

COVERS = ("grass", "soil", "gravel", "asphalt", "paving", "snow")
LEVEL_RADIUS, EXTENT, CELL = 45.0, 160.0, 5.0
"""m: the field is level out to the first, and hilly out to the second."""
FENCE, COVERED = 39.0, 40.0
"""m from the origin to each side of the fence, and to the edge between the field's cover and grass."""

SCREEN_HEIGHT, SCREEN_WIDTH = 2.2, 10.0
"""m."""


class Landing:
    def __init__(
        self,
        seed: int,
        *,
        marker_xy: tuple[float, float] = (6.0, 0.0),
        marker_yaw_deg: float = 0.0,
        screen: tuple[float, float] | None = None,
        randomise: frozenset[str] = frozenset(),
    ) -> None:
        """marker_xy: m, the middle of the marker, east and north.
        marker_yaw_deg: The heading of its arrow from rectangle to square, counter-clockwise from east.
        screen: Bearing (degrees, counter-clockwise from east) and height of the sun (degrees) for which a wooden wall
        beside the marker leaves half of it in the shade. Left out, there is no wall.
        """
        position = _position(marker_xy)
        if not math.isfinite(marker_yaw_deg):
            raise ScenarioError(f"world 'landing': marker_yaw_deg is {marker_yaw_deg}; give degrees")
        self.marker = LandingMarker()
        self.marker_xy = position
        self.marker_yaw = math.radians(marker_yaw_deg)
        self._random = generator(seed, "landing")
        looks = generator(seed, "landing/looks")
        self._waves = self._random.uniform(0.0, 2.0 * np.pi, 4)
        self.ground = Ground.from_function(self._height, (-EXTENT, -EXTENT, EXTENT, EXTENT), CELL)
        self.model = Model()
        self.cover = COVERS[int(looks.integers(len(COVERS)))]
        place_terrain(self.model, self.ground, self._cover_at, colour=_tint(looks, "colours" in randomise))
        self.model.place(
            self.marker.shape(), (*position, 0.0), yaw=self.marker_yaw, is_a="marker", name="landing marker"
        )
        self._scatter()
        self._fence()
        self._windsock()
        if screen is not None:
            self._screen(*_sun(screen))

    def _height(self, x: Array, y: Array) -> Array:
        a, b, c, d = self._waves
        rolling = np.sin(x / 17 + a) * np.sin(y / 21 + b) + np.sin(x / 31 + y / 40 + c) + np.sin(y / 27 + d)
        far = np.clip((np.hypot(x, y) - LEVEL_RADIUS) / 60.0, 0.0, 1.0)
        return np.asarray(2.2 * far * far * (rolling + 1.0))

    def _cover_at(self, x: Array, y: Array) -> NDArray[np.integer]:
        field = np.maximum(np.abs(x), np.abs(y)) < COVERED
        around = "snow" if self.cover == "snow" else "grass"
        return np.where(field, MATERIAL_ID[self.cover], MATERIAL_ID[around])

    def _at(self, x: float, y: float) -> tuple[float, float, float]:
        return x, y, self.ground.at(x, y)[0]

    def _scatter(self) -> None:
        """Rocks all over the field, bushes towards its edges."""
        rocks, bushes = ([make(self._random) for _ in range(3)] for make in (rock_shape, bush_shape))
        for number in range(40):
            bush = number % 2 == 1
            while True:
                x, y = self._random.uniform(-36.0, 36.0, 2).tolist()
                beside = math.hypot(x - self.marker_xy[0], y - self.marker_xy[1])
                if math.hypot(x, y) > (18.0 if bush else 5.0) and beside > 5.0:
                    break
            yaw, size = float(self._random.uniform(0.0, 2.0 * np.pi)), float(self._random.uniform(0.3, 1.0))
            which = int(self._random.integers(3))
            if bush:
                self.model.place(
                    bushes[which], self._at(x, y), yaw=yaw, scale=0.6 + size, is_a="bush", name="bush",
                    variant=SMALL_LEAVES, palette=[BUSH_GREENS[which]],
                )  # fmt: skip
            else:
                self.model.place(rocks[which], self._at(x, y), yaw=yaw, scale=size, is_a="rock", name="rock")

    def _fence(self) -> None:
        """Posts and two rails around the field, with a gap for a gate."""
        parts = [box((0.12, 0.12, 1.5), centre=(0.0, 0.0, 0.55), material="wood")]
        parts += [box((3.0, 0.04, 0.12), centre=(1.5, 0.05, z), material="wood") for z in (0.6, 1.05)]
        shape = Shape("fence", (merged(parts),))
        steps = np.arange(-FENCE, FENCE, 3.0)
        for yaw in (0.0, 0.5 * math.pi, math.pi, -0.5 * math.pi):
            along = np.array([math.cos(yaw), math.sin(yaw)])
            side = np.array([math.sin(yaw), -math.cos(yaw)])
            for step in steps:
                if yaw == math.pi and -3.0 <= step < 3.0:
                    continue
                x, y = (along * step + side * FENCE).tolist()
                self.model.place(shape, self._at(x, y), yaw=yaw, is_a="fence", name="fence", variant=2)

    def _screen(self, bearing: float, elevation: float) -> None:
        """A wall across the sun's bearing whose shadow ends at the middle of the marker."""
        away = (SCREEN_HEIGHT - self.marker.thickness) / math.tan(elevation)
        x = self.marker_xy[0] + away * math.cos(bearing)
        y = self.marker_xy[1] + away * math.sin(bearing)
        wall = box((0.1, SCREEN_WIDTH, SCREEN_HEIGHT), centre=(0.05, 0.0, 0.5 * SCREEN_HEIGHT), material="wood")
        self.model.place(Shape("screen", (wall,)), self._at(x, y), yaw=bearing, is_a="wall", name="screen")

    def _windsock(self) -> None:
        pole = cylinder(0.05, 5.0, 10, top=0.035, material="metal", colour=(230, 230, 230))
        parts = [pole.moved((0.0, 0.0, -0.1))]
        lean = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
        for k in range(5):
            start, end = 0.22 - 0.024 * k, 0.22 - 0.024 * (k + 1)
            colour: Colour = (235, 95, 30) if k % 2 == 0 else (245, 245, 245)
            piece = cylinder(start, 0.4, 14, top=end, material="cloth", colour=colour)
            parts.append(piece.moved((0.05 + 0.4 * k, 0.0, 4.75), rotation=lean))
        heading = float(self._random.uniform(0.0, 2.0 * np.pi))
        place = self._at(*(14.0 * np.array([-0.6, 0.8])).tolist())
        self.model.place(Shape("windsock", (merged(parts),)), place, yaw=heading, is_a="sign", name="windsock")


def _position(marker_xy: Sequence[float]) -> tuple[float, float]:
    try:
        x, y = (float(value) for value in marker_xy)
    except (TypeError, ValueError):
        raise ScenarioError(f"world 'landing': marker_xy is {marker_xy!r}; give two numbers, [x, y] in m") from None
    if not math.hypot(x, y) <= 30.0:
        raise ScenarioError(f"world 'landing': marker_xy is [{x:g}, {y:g}]; keep it within 30 m of the origin")
    return x, y


def _sun(screen: Sequence[float]) -> tuple[float, float]:
    """rad: bearing and height."""
    try:
        bearing, elevation = (float(value) for value in screen)
    except (TypeError, ValueError):
        what = f"world 'landing': screen is {screen!r}; give [bearing, height] of the sun in degrees"
        raise ScenarioError(what) from None
    if not (math.isfinite(bearing) and 10.0 <= elevation <= 70.0):
        raise ScenarioError(f"world 'landing': screen is {screen!r}; the sun must be 10 to 70 degrees high")
    return math.radians(bearing), math.radians(elevation)


def _tint(looks: np.random.Generator, wild: bool) -> Colour:
    """A slight change of colour; a strong one when colours are randomised."""
    darkest = 150 if wild else 225
    red, green, blue = looks.integers(darkest, 256, 3).tolist()
    return red, green, blue
