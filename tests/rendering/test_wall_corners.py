"""Every wall of `room` gives a corner detector enough to hold on to, from 1 to 5 m."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from photography import corners, looking, weather
from skyloop.rendering.client import Renderer
from skyloop.world.model import Model
from skyloop.world.views import Pinhole, View, ViewRequest
from skyloop.world.worlds.room import BOXES, HEIGHT, WALLS, Room

pytestmark = pytest.mark.renders

LENS = Pinhole.from_fov(640, 360, 1.5)
DISTANCES = (1.0, 3.0, 5.0)
ENOUGH = 300


def faces() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Names, middles and outward normals of all faces that stand in the room, at half height."""
    for number, (_, thickness, x, y, yaw, _, _) in enumerate(WALLS):
        normal = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
        middle = np.array([x, y, 0.5 * HEIGHT])
        # of the outer walls only one side is inside
        sides = [-np.sign(normal @ middle)] if number < 4 else [1.0, -1.0]
        for side in sides:
            yield f"wall {number + 1}", middle + 0.5 * thickness * side * normal, side * normal
    for number, (x, y) in enumerate(BOXES):
        for yaw in (0.0, 0.5 * np.pi, np.pi, 1.5 * np.pi):
            normal = np.array([np.cos(yaw), np.sin(yaw), 0.0])
            yield f"box {number + 1}", np.array([x, y, 0.5 * HEIGHT]) + 0.5 * normal, normal


def requests(chosen: Any, quality: str, distances: Any) -> list[ViewRequest]:
    return [
        ViewRequest(LENS, looking(middle + distance * normal, middle), quality)
        for _, middle, normal in chosen
        for distance in distances
    ]


def counted(view: View) -> int:
    return corners(np.rint(view.colour @ np.array([0.299, 0.587, 0.114])))


@pytest.fixture(scope="module")
def photographed() -> Iterator[tuple[Model, Renderer]]:
    room = Room(0)
    room.model.freeze()
    renderer = Renderer(room.model)
    yield room.model, renderer
    renderer.close()


def with_too_few(renderer: Renderer, asked: list[ViewRequest]) -> list[tuple[Any, int]]:
    """Where, and how many."""
    sparse = []
    for request in asked:
        found = counted(renderer.render([request], weather())[0])
        if found < ENOUGH:
            sparse.append((request.pose.position.tolist(), found))
    return sparse


def test_faces_are_seen_head_on(photographed: tuple[Model, Renderer]) -> None:
    """Or the corners below would be those of something else."""
    model, renderer = photographed
    chosen = list(faces())[:12]
    views = renderer.render(requests(chosen, "low", (1.0,)), weather())
    for (name, _, normal), view in zip(chosen, views, strict=True):
        assert model.objects[view.instances[180, 320]].name == name
        assert view.depth[180, 320] == pytest.approx(1.0, abs=2e-3)
        assert view.normals[180, 320] @ normal > 0.999


@pytest.mark.slow("draws a world in three qualities")
@pytest.mark.parametrize(("quality", "numbers"), [("low", (0, 5, 9)), ("medium", (2, 5, 7))])
def test_walls_have_corners_enough(photographed: tuple[Model, Renderer], quality: str, numbers: tuple[int]) -> None:
    chosen = [face for number, face in enumerate(faces()) if number in numbers]
    assert with_too_few(photographed[1], requests(chosen, quality, DISTANCES)) == []


@pytest.mark.slow("every wall of four rooms")
@pytest.mark.parametrize("seed", range(4))
def test_every_wall_has_corners_enough(seed: int) -> None:
    walls = [face for face in faces() if face[0].startswith("wall")]
    room = Room(seed)
    room.model.freeze()
    renderer = Renderer(room.model)
    try:
        for quality in ("low", "medium"):
            assert with_too_few(renderer, requests(walls, quality, DISTANCES)) == []
    finally:
        renderer.close()
