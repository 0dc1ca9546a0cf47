"""The marker is found at every height and heading where it can be, and what is not the marker is refused."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from marker_pictures import FOCAL_PX, Incomplete, as_pixels, detect, draw, ground_picture, picture, scaled
from skyloop.world.scenery.landing_marker import LandingMarker
from skyloop_landing.vision.detector import LandingDetector
from skyloop_landing.vision.figures import (
    PRIOR_IMAGES,
    RECTANGLE,
    RING,
    SQUARE,
    SeenMarker,
    expected_sizes,
    heading_of,
    min_area,
)

MARKER = LandingMarker()


def off_px(marker: SeenMarker | None, at_px: tuple[float, float]) -> float:
    assert marker is not None
    return math.hypot(marker.x / 16.0 - 639.5 - at_px[0], marker.y / 16.0 - 359.5 - at_px[1])


def degrees(marker: SeenMarker | None) -> float:
    assert marker is not None
    return marker.heading * 360.0 / 65536.0


@pytest.mark.parametrize("altitude", [20.0, 10.0, 7.0, 4.0, 3.0, 2.0, 1.6])
def test_the_touchdown_rules_find_it_at_every_heading(altitude: float) -> None:
    random = np.random.default_rng(int(10.0 * altitude))
    for yaw_deg in (0, 20, 45, 200):
        dx, dy = random.uniform(-10.0, 10.0, 2).tolist()
        image = picture(MARKER, altitude, math.radians(yaw_deg), (dx, dy), ground=float(random.uniform(60.0, 190.0)))
        found = detect(image, altitude)
        assert found.refusal == ""
        assert off_px(found.marker, (dx, dy)) < 0.5
        assert math.remainder(degrees(found.marker) + yaw_deg, 360.0) == pytest.approx(0.0, abs=1.5)
        assert found.marker is not None and found.marker.ring >= 0
        for kind in (SQUARE, RECTANGLE):
            assert found.kinds.count(kind) >= 1


@pytest.mark.parametrize("error", [0.82, 1.2])
def test_an_altitude_that_is_wrong_by_a_fifth_does_no_harm(error: float) -> None:
    for altitude in (10.0, 2.0):
        assert off_px(detect(picture(MARKER, altitude, 0.5), error * altitude).marker, (0.0, 0.0)) < 0.5


def test_over_the_marker_it_is_tracked_down_to_eight_tenths_of_a_metre() -> None:
    """The camera sits 0.5 m ahead: the ring leaves the image at 2.4 m, the rectangle at 1.7 m, the square at 0.75 m."""
    prior, seen = None, {}
    altitude = 3.0
    while altitude > 0.8:
        at = (0.0, 0.5 * FOCAL_PX / altitude)
        found = detect(picture(MARKER, altitude, math.radians(2.0), at), altitude, prior=prior)
        assert found.marker is not None, f"{found.refusal} at {altitude:.2f} m"
        assert off_px(found.marker, at) * altitude / FOCAL_PX < 0.006  # m
        assert degrees(found.marker) == pytest.approx(-2.0, abs=0.3)
        prior = found.marker
        seen[altitude] = (prior.ring >= 0, prior.rectangle >= 0)
        altitude *= 0.87
    assert {seen[3.0], *seen.values()} == {(True, True), (False, True), (False, False)}
    assert all(parts == (False, False) for h, parts in seen.items() if h < 1.65)


def test_a_square_alone_counts_only_where_the_marker_was() -> None:
    altitude, at = 1.2, (0.0, 0.5 * FOCAL_PX / 1.2)
    image = picture(MARKER, altitude, 0.0, at)
    assert detect(image, altitude).refusal == "no square with a rectangle"
    near = detect(picture(MARKER, 1.8, 0.0, (0.0, 0.5 * FOCAL_PX / 1.8)), 1.8).marker
    assert near is not None
    moved = replace(near.square, x=near.square.x + 16 * 400, area=30_000)
    here = replace(near.square, y=near.square.y + 16 * 30, area=30_000)
    assert detect(image, altitude, prior=replace(near, square=here)).marker is not None
    assert detect(image, altitude, prior=replace(near, square=moved)).marker is None
    # the rectangle would be in the image, so this is another square
    middle = picture(Incomplete(rectangle=False, ring=False), altitude)
    there = replace(near.square, x=16 * 640, y=16 * 220, area=30_000)
    assert detect(middle, altitude, prior=replace(near, square=there)).marker is None


def test_wrong_markers_are_refused() -> None:
    for altitude in (8.0, 2.0):
        for missing in ({"square": False}, {"rectangle": False}):
            found = detect(picture(Incomplete(**missing), altitude, 0.3), altitude)
            assert (found.marker, found.refusal) == (None, "no square with a rectangle")
            assert RING in found.kinds
        found = detect(picture(Incomplete(ring=False), altitude, 0.3), altitude)
        assert (found.marker, found.refusal) == (None, "square and rectangle without a ring")
        for factor in (0.72, 1.35):
            assert detect(picture(scaled(factor), altitude, 0.3), altitude).marker is None


def test_two_markers_are_refused() -> None:
    image = ground_picture()
    draw(image, MARKER, 10.0, 0.4, (-200.0, 20.0))
    assert detect(image, 10.0).marker is not None
    draw(image, MARKER, 10.0, 2.0, (200.0, -50.0))
    found = detect(image, 10.0)
    assert (found.marker, found.refusal) == (None, "more than one marker")
    assert detect(image, 10.0, "published").marker is not None  # the published one takes the first


def test_a_mirrored_marker_is_the_marker_at_the_mirrored_heading() -> None:
    """Ring, square and rectangle are symmetrical about its axis, so no detector can refuse its mirror image."""
    x, y = np.meshgrid(np.linspace(-1.2, 1.2, 97), np.linspace(-1.2, 1.2, 97))
    np.testing.assert_array_equal(MARKER.is_dark(x, y), MARKER.is_dark(x, -y))
    found = detect(picture(MARKER, 6.0, 0.6, (30.0, 10.0))[:, ::-1], 6.0)
    assert off_px(found.marker, (-30.0, 10.0)) < 0.5
    assert degrees(found.marker) == pytest.approx(math.degrees(0.6), abs=0.5)


def test_what_the_edge_cuts_is_no_figure() -> None:
    """A cut rectangle has its centroid elsewhere, and would turn the marker."""
    for altitude in (1.5, 1.6):
        at = (0.0, 0.5 * FOCAL_PX / altitude)
        assert detect(picture(MARKER, altitude, 0.0, at), altitude).marker is None


def test_the_published_rules_end_where_the_page_says() -> None:
    assert expected_sizes(400) == expected_sizes(100) == (274, 55)
    assert expected_sizes(1000) == (110, 22)
    found = [h for h in (3.1, 2.8, 2.0) if detect(picture(MARKER, h), h, "published").marker is not None]
    assert found == [3.1]
    assert detect(picture(MARKER, 3.6, math.radians(45.0)), 3.6, "published").marker is None


def test_heading_is_the_arctangent() -> None:
    random = np.random.default_rng(5)
    for dx, dy in [(0, -900), (700, 0), (0, 400), (-300, 0), *random.integers(-9000, 9000, (300, 2)).tolist()]:
        expected = math.degrees(math.atan2(dx, -dy))
        assert math.remainder(heading_of(dx, dy) * 360.0 / 65536.0 - expected, 360.0) == pytest.approx(0.0, abs=0.004)
    assert heading_of(0, 0) == 0


def test_the_least_area_follows_the_altitude() -> None:
    """Half of the square; grain of the ground would fill the list before the marker's turn."""
    assert [min_area(h) for h in (2000, 1000, 100)] == [60, 240, 24_094]
    assert [min_area(h, "published") for h in (2000, 100)] == [32, 32]


def test_the_detector_remembers_the_marker_for_eight_images() -> None:
    altitude = 1.2
    pair = as_pixels(picture(MARKER, 1.8, 0.0, (0.0, 0.5 * FOCAL_PX / 1.8)))
    alone = as_pixels(picture(MARKER, 1.7, 0.0, (0.0, 0.5 * FOCAL_PX / 1.7 + 20.0)))
    nothing = as_pixels(ground_picture())
    for blank, is_found in ((PRIOR_IMAGES - 2, True), (PRIOR_IMAGES, False)):
        detector = LandingDetector()
        for _ in range(2):
            assert detector.look(pair, 1.8).refusal in ("", "no square with a rectangle")
        for _ in range(blank):
            detector.look(nothing, altitude)
        assert (detector.look(alone, 1.7).marker is not None) is is_found
