"""Sensors that look from one place share one picture, which has all that any of them needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from skyloop.world.model import Model
from skyloop.world.scene import Painting, WorldScene
from skyloop.world.views import Pinhole, View, ViewPose, ViewRequest

LENS = Pinhole.from_fov(8, 6, 1.0)
ASKED = ViewRequest(LENS, ViewPose(0, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])))


class CountingPainter:
    """Gives empty or black parts, and keeps the requests."""

    meanwhile, has_room = None, True

    def __init__(self) -> None:
        self.painted: list[ViewRequest] = []
        self.submitted: list[list[View]] = []

    def submit(self, requests: Sequence[ViewRequest], weather: Any) -> None:
        self.submitted.append(self.render(requests, weather))

    def collect(self) -> list[View]:
        return self.submitted.pop(0)

    def render(self, requests: Sequence[ViewRequest], weather: Any) -> list[View]:
        self.painted += requests
        colours = [np.zeros((6, 8, 3) if one.colour else (0, 0, 3), np.uint8) for one in requests]
        surfaces = [np.zeros((6, 8, 4) if one.surface else (0, 0, 4), np.uint32) for one in requests]
        motion: Any = None
        return [
            View(LENS, one.pose, Model(), motion, colour, surface)
            for one, colour, surface in zip(requests, colours, surfaces, strict=True)
        ]


def scene() -> tuple[WorldScene, CountingPainter]:
    painter = CountingPainter()
    earth: Any = SimpleNamespace(gravity=9.81, local_frame=None, magnetic_field_world=None)
    weather: Any = None
    start: Any = lambda model: painter  # noqa: E731
    return WorldScene(Model(), earth, weather, start), painter


def test_two_parts_of_one_view_are_painted_once() -> None:
    made, painter = scene()
    colour, surface = made.views([replace(ASKED, surface=False), replace(ASKED, colour=False)])
    assert colour is surface and len(painter.painted) == 1
    assert painter.painted[0].colour and painter.painted[0].surface


def test_beside_the_flight_they_are_painted_once_too() -> None:
    made, painter = scene()
    elsewhere = replace(ASKED, pose=ViewPose(0, np.ones(3), ASKED.pose.quat_wxyz))
    given: list[View] = []
    asked = [replace(ASKED, surface=False), elsewhere, replace(ASKED, colour=False)]
    made.paint_beside(asked, Painting(given.extend, lambda error: None))
    made.settle()
    colour, other, surface = given
    assert colour is surface and colour is not other and len(painter.painted) == 2
    assert painter.painted[0].colour and painter.painted[0].surface


def test_a_part_that_a_view_lacks_is_painted_later() -> None:
    made, painter = scene()
    made.views([replace(ASKED, surface=False)])
    made.views([replace(ASKED, surface=False)])
    assert len(painter.painted) == 1
    (whole,) = made.views([ASKED])
    assert len(painter.painted) == 2 and whole.colour.size and whole.surface.size


def test_parts_that_are_asked_for_one_after_the_other_are_joined() -> None:
    made, painter = scene()
    made.views([replace(ASKED, surface=False)])
    made.views([replace(ASKED, colour=False)])
    (whole,) = made.views([ASKED])
    assert [(each.colour, each.surface) for each in painter.painted] == [(True, False), (False, True)]
    assert whole.colour.size and whole.surface.size
