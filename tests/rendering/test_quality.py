"""The five quality levels: each looks different, and none moves a surface."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from photography import difference, light_of, looking, number_of, places, shot, weather
from skyloop.rendering.client import Renderer
from skyloop.rendering.quality import QUALITIES
from skyloop.world.model import Model
from skyloop.world.views import Pinhole, View, ViewRequest

pytestmark = pytest.mark.renders

STAGE_X = 200.0
FROM, TO = (STAGE_X - 9.0, -7.0, 4.0), (STAGE_X + 1.0, 3.0, 0.6)
"""Shows the pillar with its shadow, the ball, the floor's edge and grass."""
SCENE: Any = {"size": (240, 160), "exposure": 0.4, "time_of_day": 8.0}


@pytest.fixture(scope="module")
def levels(renderer: Renderer) -> dict[str, View]:
    return {quality: shot(renderer, FROM, TO, quality, **SCENE) for quality in QUALITIES}


def shadow_of_the_pillar(view: View, model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Masks of the stage's floor, well inside the pillar's shadow and well outside of all shadows."""
    points = view.pose.position + places(view)
    sun = weather(time_of_day=8.0).sun_direction
    # where a ray to the sun leaves the pillar's column, and how high it is there
    floor = (view.instances == number_of(model, "stage")) & (view.normals[..., 2] > 0.9)
    along = -(points[..., :2] - [STAGE_X, 0.0]) @ sun[:2] / (sun[:2] @ sun[:2])
    past = points[..., :2] + along[..., None] * sun[:2] - [STAGE_X, 0.0]
    off = np.linalg.norm(past, axis=-1)
    height = points[..., 2] + along * sun[2]
    return floor & (along > 0.8) & (off < 0.3) & (height < 3.6), floor & ((off > 1.1) | (along < -1.0)) & (off < 2.5)


def test_neighbours_look_different_but_alike(renderer: Renderer) -> None:
    """Brick and plaster, sun and shade, an inner corner and outlines."""
    eye, target = (STAGE_X + 1.0, -11.0, 2.0), (STAGE_X + 6.0, -16.0, 0.8)
    views = {quality: shot(renderer, eye, target, quality, time_of_day=14.0) for quality in QUALITIES}
    for lower, higher in pairwise(QUALITIES):
        assert 0.8 < difference(views[lower], views[higher]) < 8.0, (lower, higher)


def test_surfaces_are_those_of_every_level(levels: dict[str, View], model: Model) -> None:
    best = levels["cinematic"]
    simple = ~np.isin(best.instances, [number_of(model, "ball")])
    for view in levels.values():
        assert np.mean(view.instances == best.instances) > 0.995
        both = simple & (view.instances == best.instances)
        np.testing.assert_allclose(view.depth[both], best.depth[both], rtol=1e-5)
        assert (view.normals[both] == best.normals[both]).all(axis=-1).mean() > 0.999


def test_shadows_lie_where_the_sun_puts_them(levels: dict[str, View], model: Model) -> None:
    for quality, view in levels.items():
        inside, outside = shadow_of_the_pillar(view, model)
        assert inside.sum() > 30 and outside.sum() > 100
        dark = light_of(view.colour[inside]).mean() / light_of(view.colour[outside]).mean()
        assert dark == pytest.approx(1.0, abs=0.03) if quality == "low" else dark < 0.7


def test_a_lit_floor_has_no_stripes_of_its_own_shadow(levels: dict[str, View], model: Model) -> None:
    for quality in ("medium", "high", "epic", "cinematic"):
        _, outside = shadow_of_the_pillar(levels[quality], model)
        light = light_of(levels[quality].colour[outside])[:, 1]
        assert light.std() < 0.04 * light.mean(), quality


def test_more_looks_into_the_shadow_map_make_softer_edges(renderer: Renderer) -> None:
    widths = []
    for quality in ("medium", "high", "epic"):
        # straight down on the shadow's edge, a few texels of the map on the image
        view = shot(renderer, (STAGE_X - 2.2, 1.2, 2.2), (STAGE_X - 2.2, 1.21, 0.2), quality, fov=0.9, time_of_day=9.0)
        light = light_of(view.colour)[..., 1]
        low, high = np.percentile(light, [2, 98])
        assert low < 0.7 * high
        share = (light - low) / (high - low)
        widths.append(np.mean((share > 0.15) & (share < 0.85)))
    # epic's map has twice the texels, so that its wider look is no wider in metres than high's
    assert widths[0] < widths[1]
    assert widths[2] > 0.0


def test_inner_corners_are_darker_from_high_on(renderer: Renderer, model: Model) -> None:
    shares = {}
    for quality in QUALITIES:
        view = shot(renderer, (STAGE_X + 4.0, -11.5, 2.0), (STAGE_X + 7.9, -16.0, 1.2), quality, fov=1.2, clouds=1.0)
        wall = view.instances == number_of(model, "corner 1")
        to_corner = np.abs((view.pose.position + places(view))[..., 1] + 16.0)
        light = light_of(view.colour)[..., 1]
        shares[quality] = light[wall & (to_corner < 0.15)].mean() / light[wall & (to_corner > 1.3)].mean()
    assert shares["low"] == pytest.approx(1.0, abs=0.03)
    assert max(shares[quality] for quality in ("high", "epic", "cinematic")) < 0.88


def test_ambient_occlusion_is_even(renderer: Renderer, model: Model) -> None:
    """Neighbours on one wall do not differ by a pattern of the samples."""
    view = shot(
        renderer, (STAGE_X + 4.0, -11.5, 2.0), (STAGE_X + 7.9, -16.0, 1.2), "high", fov=1.2, size=(240, 180), clouds=1.0
    )
    wall = view.instances == number_of(model, "corner 1")
    grey = view.colour.astype(float).mean(axis=-1)
    inside = wall[:, 2:] & wall[:, 1:-1] & wall[:, :-2]
    bend = np.abs(grey[:, 2:] - 2.0 * grey[:, 1:-1] + grey[:, :-2])[inside]
    assert np.percentile(bend, 99) < 4.0


def test_edges_are_stepless_from_epic_on(renderer: Renderer) -> None:
    steps = {}
    for quality in ("medium", "epic"):
        view = shot(renderer, (STAGE_X - 27.0, 0.6, 4.0), (STAGE_X - 20.0, 0.0, 1.5), quality, size=(120, 90), fov=1.3)
        grey = view.colour.astype(float).mean(axis=-1)
        # between the black board and what is behind it
        steps[quality] = np.sort(np.abs(np.diff(grey, axis=0)).ravel())[-60:].mean()
    assert steps["epic"] < 0.85 * steps["medium"]


def test_the_error_of_levels_of_detail(renderer: Renderer, model: Model) -> None:
    """A ball of 6 rings of 12 instead of 32 of 64: chords lie at most r·(1 - cos(π/12)·cos(π/12)) inside."""
    number = number_of(model, "ball")
    lens, pose = Pinhole.from_fov(320, 240, 0.2), looking((STAGE_X - 24.0, 14.0, 3.0), (STAGE_X, 14.0, 3.0))
    low, best = renderer.render([ViewRequest(lens, pose, quality) for quality in ("low", "cinematic")], weather())
    full, coarse = best.instances == number, low.instances == number
    middle = full & coarse & (best.depth < 23.1)
    error = low.depth[middle] - best.depth[middle]
    bound = 1.0 - np.cos(np.pi / 12.0) ** 2
    assert 0.25 * bound < error.max() < 1.3 * bound
    assert error.min() > -0.01
    # the outline shrinks by no more than a chord
    assert coarse.sum() > 0.85 * full.sum()
    assert not (coarse & ~full).sum() > 0.01 * full.sum()


def test_relief_shows_from_high_on(renderer: Renderer) -> None:
    flat, relief = (
        shot(renderer, (-30.0, -30.0, 1.0), (-28.0, -30.0, 0.0), quality, fov=0.8) for quality in ("medium", "high")
    )
    assert difference(flat, relief) > 0.5
    np.testing.assert_array_equal(flat.surface, relief.surface)


@pytest.mark.parametrize("quality", ["low", "medium", "high", "epic", "cinematic"])
def test_a_part_of_a_view_alone_has_the_same_bytes(renderer: Renderer, quality: str) -> None:
    asked = ViewRequest(Pinhole.from_fov(96, 72, 1.4), looking((-9, -7, 4), (10, 5, 1)), quality)
    (whole,) = renderer.render([asked], weather())
    (painted,) = renderer.render([replace(asked, surface=False)], weather())
    (ranged,) = renderer.render([replace(asked, colour=False)], weather())
    assert painted.surface.size == ranged.colour.size == 0
    np.testing.assert_array_equal(painted.colour, whole.colour)
    np.testing.assert_array_equal(ranged.surface, whole.surface)
