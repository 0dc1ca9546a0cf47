"""The published detector of the landing marker (facts A.6), and pictures of the marker to try it on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import ndimage

from skyloop.world.scenery.landing_marker import LandingMarker

FOCAL_PX = 640.0
TILE = 128
LAW = 1096.67
"""px·m: expected diameter of the ring times altitude, in the authors' look-up table."""


def expected_circle_px(altitude: float) -> float:
    """As the look-up table has it: from 4.00 m up; nearer, its first row is taken."""
    return LAW / max(altitude, 4.0)


def picture(
    marker: LandingMarker, altitude: float, yaw: float, *, size: tuple[int, int] = (640, 512),
    at_px: tuple[float, float] = (0.0, 0.0), ground: float = 95.0, noise: float = 25.0, seed: int = 0,
) -> np.ndarray:  # fmt: skip
    """Grey picture from `altitude` straight above the board, its top the camera's heading.

    The marker is turned left by `yaw` in it, and its middle shifted by `at_px` (right, down) from the picture's.
    Every pixel is the mean of several points.
    """
    width, height = size
    random = np.random.default_rng(seed)
    blades = ndimage.gaussian_filter(random.normal(size=(height, width)), 1.0)
    image = ground + noise * blades / blades.std()
    scale = altitude / FOCAL_PX
    middle_x, middle_y = 0.5 * (width - 1) + at_px[0], 0.5 * (height - 1) + at_px[1]
    reach = int(marker.board_radius / scale) + 2
    columns = np.arange(max(int(middle_x) - reach, 0), min(int(middle_x) + reach + 2, width))
    rows = np.arange(max(int(middle_y) - reach, 0), min(int(middle_y) + reach + 2, height))
    # a marker of many pixels needs fewer points in each
    n = 4 if altitude > 8.0 else 2
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
    return np.asarray(image)


def foreground(grey: np.ndarray) -> np.ndarray:
    """Gaussian 5 by 5 of σ 0.65, then darker than the tile's middle grey, bilinear between the tiles' centres."""
    smooth = ndimage.gaussian_filter(grey, 0.65, radius=2)
    rows, columns = -(-grey.shape[0] // TILE), -(-grey.shape[1] // TILE)
    middle = np.empty((rows, columns))
    for i in range(rows):
        for j in range(columns):
            tile = smooth[i * TILE : (i + 1) * TILE, j * TILE : (j + 1) * TILE]
            middle[i, j] = tile.min() + 0.5 * (tile.max() - tile.min())
    u = (np.arange(grey.shape[0]) + 0.5) / TILE - 0.5
    v = (np.arange(grey.shape[1]) + 0.5) / TILE - 0.5
    threshold = ndimage.map_coordinates(middle, np.meshgrid(u, v, indexing="ij"), order=1, mode="nearest")
    return np.asarray(smooth < threshold)


@dataclass
class Part:
    centroid: np.ndarray
    """(x, y) px."""
    box: tuple[int, int, int, int]
    """left, top, width, height."""
    area: int


@dataclass
class Found:
    circles: list[Part] = field(default_factory=list)
    squares: list[Part] = field(default_factory=list)
    rectangles: list[Part] = field(default_factory=list)


def classified(part: Part, c: float) -> str:
    """The published if … elif … elif chain."""
    s = c / 5.0
    _, _, w, h = part.box
    r, f, m, bbox = max(w, h) / min(w, h), w * h / part.area, 0.5 * (w + h), w * h
    if r < 1.4 and (
        (f > 3.0 and 0.5 * c < m < 1.5 * c)
        or (150 < c < 500 and 1.55 < f < 2.0 and 0.005 * c * c < part.area < 0.04 * c * c and m < 0.65 * s)
        or (c >= 500 and 1.5 < f < 2.0 and 0.01 * c * c < part.area < 0.04 * c * c)
    ):
        return "circle"
    if r < 1.4 and f < 2.25 and 0.4 * s * s < bbox < 2.0 * s * s and 0.3 * s * s < part.area < 1.8 * s * s:
        return "square"
    if 1 <= r < 2.5 and f < 2.3 and 1.1 * s * s < bbox < 10 * s * s and part.area > 0.5 * s * s:
        return "rectangle"
    return ""


def detect(grey: np.ndarray, c: float) -> Found:
    labels, count = ndimage.label(foreground(grey), structure=np.ones((3, 3)))
    flat = labels.ravel()
    areas = np.bincount(flat, minlength=count + 1)
    i, j = np.divmod(np.arange(flat.size), grey.shape[1])
    middles = np.stack([np.bincount(flat, weights=k) / np.maximum(areas, 1) for k in (j, i)], axis=1)
    boxes = ndimage.find_objects(labels)
    found = Found()
    # 20 px are far below the least that any rule accepts from 20 m down
    for number in np.flatnonzero(areas[1:] >= 20) + 1:
        rows, columns = boxes[number - 1]
        box = (columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start)
        part = Part(middles[number], box, int(areas[number]))
        kind = classified(part, c)
        if kind:
            getattr(found, f"{kind}s").append(part)
    return found


def inside(part: Part, circle: Part) -> bool:
    left, top, w, h = circle.box
    return bool(left < part.centroid[0] < left + w and top < part.centroid[1] < top + h)


def landing_place(found: Found) -> list[tuple[np.ndarray, float]]:
    """(x, y) px and orientation in degrees of every circle that holds both a square and a rectangle."""
    places = []
    for circle in found.circles:
        for square in (p for p in found.squares if inside(p, circle)):
            for rectangle in (p for p in found.rectangles if inside(p, circle)):
                dx, dy = square.centroid - rectangle.centroid
                places.append(
                    (0.5 * (square.centroid + rectangle.centroid), float(np.degrees(np.arctan2(dy, dx)) + 90))
                )
    return places
