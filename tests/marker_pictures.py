"""Pictures of the landing marker from above, drawn from its numbers, and what must not be taken for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import ndimage

from skyloop.world.scenery.landing_marker import LandingMarker
from skyloop_landing.vision.figures import MarkerDetection, Rules, SeenMarker, find_marker, min_area
from skyloop_landing.vision.object_list import HEIGHT, WIDTH, ObjectFinder

FOCAL_PX = 640.0


@cache
def _grain(width: int, height: int, seed: int) -> np.ndarray:
    blades = ndimage.gaussian_filter(np.random.default_rng(seed).normal(size=(height, width)), 1.0)
    return np.asarray(blades / blades.std())


def ground_picture(
    size: tuple[int, int] = (WIDTH, HEIGHT), *, ground: float = 95.0, noise: float = 12.0, seed: int = 0
) -> np.ndarray:
    return np.asarray(ground + noise * _grain(*size, seed))


def draw(
    image: np.ndarray, marker: LandingMarker, altitude: float, yaw: float = 0.0, at_px: tuple[float, float] = (0.0, 0.0)
) -> None:
    """Draws the marker as seen from `altitude` straight above the board; up is the camera's heading.

    It is turned left by `yaw`, and its middle shifted by `at_px` (right, down) from the picture's.
    Every pixel is the mean of several points.
    """
    height, width = image.shape
    scale = altitude / FOCAL_PX
    middle_x, middle_y = 0.5 * (width - 1) + at_px[0], 0.5 * (height - 1) + at_px[1]
    reach = int(marker.board_radius / scale) + 2
    columns = np.arange(max(int(middle_x) - reach, 0), min(int(middle_x) + reach + 2, width))
    rows = np.arange(max(int(middle_y) - reach, 0), min(int(middle_y) + reach + 2, height))
    # a marker of many pixels needs fewer points in each
    n = 4 if altitude > 8.0 else 2 if altitude > 2.5 else 1
    steps = (np.arange(n) + 0.5) / n - 0.5
    right = ((columns[:, None] + steps).ravel() - middle_x)[None, :] * scale
    forward = -((rows[:, None] + steps).ravel() - middle_y)[:, None] * scale
    c, s = np.cos(yaw), np.sin(yaw)
    x, y = c * forward - s * right, -s * forward - c * right
    on = np.hypot(x, y) <= marker.board_radius
    light = on * np.where(marker.is_dark(x, y), 22.0, 238.0)
    cells = (len(rows), n, len(columns), n)
    share, light = on.reshape(cells).mean(axis=(1, 3)), light.reshape(cells).mean(axis=(1, 3))
    window = np.ix_(rows, columns)
    image[window] = image[window] * (1.0 - share) + light


def picture(
    marker: LandingMarker, altitude: float, yaw: float = 0.0, at_px: tuple[float, float] = (0.0, 0.0), **ground: Any
) -> np.ndarray:
    image = ground_picture(**ground)
    draw(image, marker, altitude, yaw, at_px)
    return image


def as_pixels(image: np.ndarray) -> np.ndarray:
    return np.clip(np.round(image), 0.0, 255.0).astype(np.uint8)


def detect(
    image: np.ndarray, altitude: float, rules: Rules = "touchdown", prior: SeenMarker | None = None
) -> MarkerDetection:
    """In a picture that stands still: the one before it was the same."""
    pixels, altitude_cm = as_pixels(image), round(100.0 * altitude)
    finder = ObjectFinder(image.shape[1], image.shape[0], **({"min_contrast": 0} if rules == "published" else {}))
    finder.find(pixels)
    return find_marker(finder.find(pixels, min_area(altitude_cm, rules)), altitude_cm, prior, rules)


@dataclass(frozen=True, slots=True)
class Incomplete(LandingMarker):
    """A marker without some of its figures."""

    ring: bool = True
    square: bool = True
    rectangle: bool = True

    def is_dark(self, x: Any, y: Any) -> Any:
        r = np.hypot(x, y)
        whole = LandingMarker.is_dark(self, x, y)
        on_ring = r >= self.ring_inner_radius - 0.05
        ahead = np.asarray(x) > 0.0
        shown = np.where(on_ring, self.ring, np.where(ahead, self.square, self.rectangle))
        return whole & shown


def scaled(factor: float) -> LandingMarker:
    """A print of the marker at another size."""
    m = LandingMarker()
    return LandingMarker(
        ring_outer_diameter=factor * m.ring_outer_diameter,
        ring_inner_radius=factor * m.ring_inner_radius,
        square_side=factor * m.square_side,
        rectangle_length=factor * m.rectangle_length,
        rectangle_width=factor * m.rectangle_width,
        offset=factor * m.offset,
        board_radius=factor * m.board_radius,
    )
