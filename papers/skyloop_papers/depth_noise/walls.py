"""Three large walls seen squarely, as in section 2.2 of papers/depth-noise-and-rotor-drag."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

import numpy as np

from skyloop.rendering.client import Renderer
from skyloop.world.mesh import quad
from skyloop.world.model import Model, Shape
from skyloop.world.views import View, ViewRequest
from skyloop.world.weather import WeatherConfig, weather_at
from skyloop_client.messages import Array, Kinematics

MATERIAL_NAMES = ("plastic", "cement", "formboard")
"""In the order of Table 1."""
APART = 80.0
"""m between the middles of two walls, so that each is alone in its image."""
HALF_WIDTH, HALF_HEIGHT = 12.0, 8.0
"""m. Larger than a view of 87° by 67° at 8 m."""


class Walls:
    """The walls, lit from behind so that their shade is even, and the renderer for them."""

    def __init__(self) -> None:
        self.model = Model()
        for number, material in enumerate(MATERIAL_NAMES):
            y, z = HALF_WIDTH, HALF_HEIGHT
            mesh = quad((0, y, -z), (0, -y, -z), (0, -y, z), (0, y, z), material=material)
            self.model.place(Shape(f"{material} wall", (mesh,)), (0.0, number * APART, 0.0), is_a="wall")
        self.model.freeze()
        self.weather = weather_at(WeatherConfig(time_of_day=8.0, clouds=1.0), 47.0)
        self._renderer = Renderer(self.model)

    def __enter__(self) -> Walls:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._renderer.close()

    def views(self, requests: Sequence[ViewRequest]) -> list[View]:
        return self._renderer.render(requests, self.weather)


def in_front_of(material: str, distance: float, *, right: float = 0.0) -> Kinematics:
    """At rest, `distance` m from the middle of a wall, facing it squarely, `right` m to the side."""
    position: Array = np.array([-distance, MATERIAL_NAMES.index(material) * APART - right, 0.0])
    still, ahead = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    return Kinematics(0, position, still, ahead, still, still, still)
