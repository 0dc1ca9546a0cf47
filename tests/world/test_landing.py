"""The marker keeps the published detector's rules, and lies where the world says."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from model_rays import cast, triangles

from marker_pictures import FOCAL_PX, detect, picture
from skyloop.world.materials import MATERIALS
from skyloop.world.rays import RayTracer
from skyloop.world.scenery.landing_marker import LandingMarker
from skyloop.world.semantics import CLASS_ID
from skyloop.world.worlds.landing import COVERS, Landing
from skyloop_landing.vision.figures import RECTANGLE, RING, SQUARE

MARKER = LandingMarker()


@cache
def built(seed: int) -> tuple[Landing, np.ndarray, np.ndarray]:
    """The world, its triangles and their instance numbers."""
    world = Landing(seed)
    return world, *triangles(world.model)


def test_sizes_are_the_published_ones_and_the_rectangle_is_in_its_bounds() -> None:
    m = MARKER
    assert m.ring_outer_diameter == pytest.approx(1096.67 / FOCAL_PX, abs=1e-4)
    assert (m.ring_inner_radius, m.square_side) == (0.7, 0.343)
    assert 1.3 <= m.rectangle_length / m.rectangle_width <= 2.2
    assert 2.0 <= m.rectangle_length * m.rectangle_width / m.square_side**2 <= 4.0


def test_no_figure_touches_another() -> None:
    """At 20 m a pixel is 31 mm; four of them lie between any two figures."""
    m, four_px = MARKER, 4.0 * 20.0 / FOCAL_PX
    far_square = np.hypot(m.offset + 0.5 * m.square_side, 0.5 * m.square_side)
    far_rectangle = np.hypot(m.offset + 0.5 * m.rectangle_width, 0.5 * m.rectangle_length)
    assert m.ring_inner_radius - max(far_square, far_rectangle) > four_px
    assert 2.0 * m.offset - 0.5 * (m.square_side + m.rectangle_width) > four_px
    assert m.board_radius > np.sqrt(2.0) * m.ring_outer_radius


@pytest.mark.parametrize("altitude", [4.0, 6.0, 10.0, 15.0])
def test_the_published_detector_finds_it_at_every_heading(altitude: float) -> None:
    """From 20 m it also takes grain of the ground for markers, and the first in the list counts."""
    random = np.random.default_rng(int(altitude))
    for yaw_deg in (0, 20, 45, 135, 200, 315):
        x, y = random.uniform(-50.0, 50.0, 2).tolist()
        ground = {"size": (640, 512), "ground": float(random.uniform(60.0, 190.0)), "seed": yaw_deg}
        found = detect(picture(MARKER, altitude, np.radians(yaw_deg), (x, y), **ground), altitude, "published")
        assert found.marker is not None
        # each figure is itself and nothing else
        parts = (found.marker.ring, found.marker.square.index, found.marker.rectangle)
        assert [found.kinds[k] for k in parts] == [RING, SQUARE, RECTANGLE]
        np.testing.assert_allclose([found.marker.x / 16, found.marker.y / 16], [319.5 + x, 255.5 + y], atol=0.6)
        askew = found.marker.heading * 360.0 / 65536.0 + yaw_deg
        assert (askew + 180.0) % 360.0 - 180.0 == pytest.approx(0.0, abs=2.0)


def test_the_square_ahead_of_the_rectangle_is_up() -> None:
    marker = detect(picture(MARKER, 8.0, noise=5.0), 8.0, "published").marker
    assert marker is not None and marker.heading == pytest.approx(0.0, abs=180)  # 1 degree


def test_a_longer_rectangle_would_break_the_rules() -> None:
    """The detector does judge: at aspect 2.4 the rectangle, turned by 45 degrees, fills too little of its box."""
    longer = LandingMarker(rectangle_length=0.84, rectangle_width=0.35, offset=0.23)
    assert detect(picture(longer, 6.0, np.radians(45.0), noise=5.0), 6.0, "published").marker is None


def test_the_mesh_shows_the_figures_where_the_numbers_have_them() -> None:
    world = Landing(1, marker_xy=(4.0, 7.0), marker_yaw_deg=30.0)
    corners, objects = triangles(world.model)
    model = world.model
    (row,) = next(t for t in model.objects if t.name == "landing marker").rows
    mesh = model.shapes[model.part_shape[row]].lods[0]
    marker_faces = np.flatnonzero(objects == model.part_object[row])
    random = np.random.default_rng(3)
    radius, angle = 1.24 * np.sqrt(random.random(600)), random.uniform(0.0, 2.0 * np.pi, 600)
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    c, s = np.cos(np.radians(30.0)), np.sin(np.radians(30.0))
    origins = np.stack([4.0 + c * x - s * y, 7.0 + s * x + c * y, np.full(600, 3.0)], axis=1)
    distances, hits = cast(corners[marker_faces], origins, np.tile([0.0, 0.0, -1.0], (600, 1)))
    np.testing.assert_allclose(distances, 3.0 - world.marker.thickness, atol=1e-5)
    dark = mesh.colours[mesh.faces[hits, 0], 0] < 100
    # within 2 mm of the round edges the polygon may differ from the circle
    clear = np.min([np.abs(radius - edge) for edge in (0.7, world.marker.ring_outer_radius)], axis=0) > 2e-3
    assert clear.sum() > 580
    assert (dark == world.marker.is_dark(x, y))[clear].all()


@pytest.mark.parametrize("seed", range(4))
def test_take_off_place_and_pad_are_free_level_and_apart(seed: int) -> None:
    world, corners, objects = built(seed)
    risen = corners[corners[..., 2].max(axis=1) > 0.04]
    xy = risen[..., :2].reshape(-1, 2)
    assert np.linalg.norm(xy, axis=1).min() > 3.0
    assert np.linalg.norm(xy - world.marker_xy, axis=1).min() > 2.5
    pad = corners[objects == next(k for k, t in enumerate(world.model.objects) if t.name == "landing marker")]
    assert np.linalg.norm(pad[..., :2].reshape(-1, 2), axis=1).min() > 3.0
    assert pad[..., 2].max() == pytest.approx(0.03)
    for x, y in ((0.0, 0.0), (6.0, 0.0), (30.0, -30.0)):
        assert world.ground.at(x, y)[0] == 0.0
    classes = {instance.class_id for instance in world.model.objects}
    assert {CLASS_ID["marker"], CLASS_ID["rock"], CLASS_ID["fence"]} <= classes


def test_the_seed_chooses_the_cover() -> None:
    worlds = [built(seed)[0] for seed in range(10)]
    assert len({world.cover for world in worlds}) >= 4
    for world in worlds:
        assert world.cover in COVERS
        shown = {MATERIALS[m].name for shape in world.model.shapes for m in np.unique(shape.lods[0].materials)}
        assert world.cover in shown


@pytest.mark.parametrize(("bearing_deg", "elevation_deg"), [(20.0, 35.0), (-130.0, 60.0), (90.0, 15.0)])
def test_half_of_the_marker_is_in_its_shadow(bearing_deg: float, elevation_deg: float) -> None:
    bearing, elevation = np.radians([bearing_deg, elevation_deg])
    world = Landing(1, marker_xy=(6.0, 2.0), screen=(bearing_deg, elevation_deg))
    world.model.freeze()
    sun = np.array([np.cos(elevation) * np.cos(bearing), np.cos(elevation) * np.sin(bearing), np.sin(elevation)])
    towards, aside = np.array([np.cos(bearing), np.sin(bearing)]), np.array([-np.sin(bearing), np.cos(bearing)])
    steps = np.array([(a, b) for a in (-0.8, -0.4, -0.1, 0.1, 0.4, 0.8) for b in (-0.5, 0.0, 0.5)])
    places = np.array([6.0, 2.0]) + steps[:, :1] * towards + steps[:, 1:] * aside
    origins = np.column_stack([places, np.full(len(places), 0.031)])
    hits = RayTracer(world.model).cast(origins, np.tile(sun, (len(origins), 1)), 50.0, None)
    shaded = np.isfinite(hits.distance) & (hits.distance < 50.0)
    assert np.array_equal(shaded, steps[:, 0] > 0.0)
