"""The part of the landing detector that a chip's processor does: a list of objects in, the marker out.

Whole numbers only, so that firmware in C gives the same ones; docs/explanations/landing-detector.md has the rules.
Places are in 1/16 px, headings in 1/65536 of a turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Literal, TypeAlias

from skyloop_landing.vision.object_list import HEIGHT, MIN_AREA, WIDTH, ObjectList

Rules: TypeAlias = Literal["touchdown", "published"]

NOTHING, RING, SQUARE, RECTANGLE = 0, 1, 2, 4
"""Bits: by our rules an object may be taken for a square and for a rectangle until they are compared."""
KINDS = {RING: "ring", SQUARE: "square", RECTANGLE: "rectangle", SQUARE | RECTANGLE: "square"}
"""Names of the kinds of figures."""

RING_PX_CM = 109_667
"""px cm: diameter of the ring in the image times altitude (facts A.4)."""
SQUARE_PX_CM = 21_952
"""px cm: 0.343 m as a camera with a focal length of 640 px sees it, times altitude."""
PUBLISHED_LOWEST_CM = 400
"""cm: the first row of the authors' look-up table."""
NEAR_CM = 300
"""cm: below it the ring may be out of the image although nothing was seen before."""
LEAST_CM = 25
"""cm: nearer than this counts as this."""
PRIOR_IMAGES = 8
"""Images without a marker after which the last one no longer says where to look."""

# atan(2^-k) in 1/2^32 of a turn
_TURNS = (
    536870912, 316933406, 167458907, 85004756, 42667331, 21354465, 10679838, 5340245, 2670163, 1335087,
    667544, 333772, 166886, 83443, 41722, 20861, 10430, 5215, 2608, 1304,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Figure:
    """An object that may be a part of the marker."""

    index: int
    """In the list of objects."""
    kind: int
    """Bits."""
    area: int
    x: int
    """1/16 px, of its centroid."""
    y: int
    x_min: int
    x_max: int
    y_min: int
    y_max: int


@dataclass(frozen=True, slots=True)
class SeenMarker:
    x: int
    """1/16 px, its middle, from the centre of the first pixel to the right."""
    y: int
    """1/16 px, down."""
    heading: int
    """-32768 to 32767, in 1/65536 turn: the vehicle's heading minus the marker's, counter-clockwise."""
    square: Figure
    dx: int
    """1/16 px from the rectangle's centroid to the square's; of the last image that had both."""
    dy: int
    side: int
    """1/16 px, the square's side in the image that `dx` and `dy` are of."""
    rectangle: int = -1
    """Index of the object; -1 if it is out of the image."""
    ring: int = -1
    """Index of the object; -1 if it is out of the image."""


@dataclass(frozen=True, slots=True)
class MarkerDetection:
    """What was found in a list of objects."""

    marker: SeenMarker | None
    refusal: str
    """Why there is no marker; empty if there is one."""
    kinds: tuple[int, ...]
    """Of each object: NOTHING, or the bits of what it may be."""


def expected_sizes(altitude_cm: int) -> tuple[int, int]:
    """px: the ring's diameter and the square's side as the published look-up table has them, rounded."""
    h = max(altitude_cm, PUBLISHED_LOWEST_CM)
    return (2 * RING_PX_CM + h) // (2 * h), (2 * RING_PX_CM + 5 * h) // (10 * h)


def published_kind(area: int, w: int, h: int, sizes: tuple[int, int]) -> int:
    """The published if ... elif ... elif chain. w, h: px, of the box; sizes: expected ring and square, px."""
    c, s = sizes
    box, longer, shorter = w * h, max(w, h), min(w, h)
    if 10 * longer < 14 * shorter:
        if box > 3 * area and c < w + h < 3 * c:
            return RING
        if 150 < c < 500 and 155 * area < 100 * box < 200 * area and 5 * c * c < 1000 * area < 40 * c * c:
            if 10 * (w + h) < 13 * s:
                return RING
        elif c >= 500 and 150 * area < 100 * box < 200 * area and 10 * c * c < 1000 * area < 40 * c * c:
            return RING
        if 4 * box < 9 * area and 4 * s * s < 10 * box < 20 * s * s and 3 * s * s < 10 * area < 18 * s * s:
            return SQUARE
    if 2 * longer < 5 * shorter and 10 * box < 23 * area and 11 * s * s < 10 * box < 100 * s * s and 2 * area > s * s:
        return RECTANGLE
    return NOTHING


def touchdown_kind(area: int, w: int, h: int, square_area: int) -> int:
    """Our rules, which hold at every height. square_area: px², expected of the square."""
    box, longer, shorter = w * h, max(w, h), min(w, h)
    kind = NOTHING
    if 10 * longer < 14 * shorter:
        if 28 * area < 10 * box < 55 * area:
            return RING
        if 10 * box < 23 * area and 6 * square_area < 10 * area < 16 * square_area:
            kind = SQUARE
    if 2 * longer < 5 * shorter and 10 * box < 26 * area and 13 * square_area < 10 * area < 36 * square_area:
        kind |= RECTANGLE
    return kind


def heading_of(dx: int, dy: int) -> int:
    """1/65536 turn of the vector from rectangle to square in the image, 0 up, positive clockwise; by CORDIC."""
    if dx == 0 and dy == 0:
        return 0
    x, y, angle = -dy << 16, dx << 16, 0
    if x < 0:
        x, y, angle = -x, -y, 1 << 31
    for k, step in enumerate(_TURNS):
        if y > 0:
            x, y, angle = x + (y >> k), y - (x >> k), angle + step
        else:
            x, y, angle = x - (y >> k), y + (x >> k), angle - step
    turns = ((angle + 32768) >> 16) & 0xFFFF
    return turns - 65536 if turns >= 32768 else turns


def min_area(altitude_cm: int, rules: Rules = "touchdown") -> int:
    """px²: half of the expected square, below which the logic need not list anything. Published: always 32."""
    if rules == "published":
        return MIN_AREA
    return max(MIN_AREA, _square_area(altitude_cm) // 2)


def _square_area(altitude_cm: int) -> int:
    """px², expected; at 1 cm it would not fit into the 20 bits of an area."""
    h = max(altitude_cm, LEAST_CM)
    return SQUARE_PX_CM * SQUARE_PX_CM // (h * h)


def find_marker(
    listed: ObjectList,
    altitude_cm: int,
    prior: SeenMarker | None = None,
    rules: Rules = "touchdown",
    sizes: tuple[int, int] | None = None,
) -> MarkerDetection:
    """prior: the marker in one of the last images, if there was one; the published rules do not look at it.

    sizes: px, ring and square expected by the published rules where a board has them; else of the altitude.
    """
    figures = _figures(listed, altitude_cm, rules, sizes or expected_sizes(altitude_cm))
    kinds = tuple(figure.kind for figure in figures)
    if rules == "published":
        marker = _published_marker(figures)
        return MarkerDetection(marker, "" if marker else "no ring that holds a square and a rectangle", kinds)
    return MarkerDetection(*_touchdown_marker(figures, altitude_cm, prior), kinds)


def _figures(listed: ObjectList, altitude_cm: int, rules: Rules, sizes: tuple[int, int]) -> list[Figure]:
    square_area = _square_area(altitude_cm)
    out = []
    for index, (area, sum_x, sum_y, x_min, x_max, y_min, y_max) in enumerate(listed.objects.tolist()):
        w, h = x_max - x_min + 1, y_max - y_min + 1
        if rules == "published":
            kind = published_kind(area, w, h, sizes)
        else:
            # a figure that the edge cuts has another centroid and area than the whole one
            cut = x_min == 0 or y_min == 0 or x_max == WIDTH - 1 or y_max == HEIGHT - 1
            kind = NOTHING if cut else touchdown_kind(area, w, h, square_area)
        out.append(Figure(index, kind, area, 16 * sum_x // area, 16 * sum_y // area, x_min, x_max, y_min, y_max))
    return out


def _of_kind(figures: Sequence[Figure], kind: int) -> list[Figure]:
    return [figure for figure in figures if figure.kind & kind]


def _marker_of(square: Figure, rectangle: Figure, ring: int) -> SeenMarker:
    dx, dy = square.x - rectangle.x, square.y - rectangle.y
    x, y = (square.x + rectangle.x) >> 1, (square.y + rectangle.y) >> 1
    return SeenMarker(x, y, heading_of(dx, dy), square, dx, dy, _side(square), rectangle.index, ring)


def _published_marker(figures: Sequence[Figure]) -> SeenMarker | None:
    """The first ring in the list whose box holds the centroids of a square and a rectangle."""

    def within(figure: Figure, ring: Figure) -> bool:
        across = 16 * ring.x_min <= figure.x <= 16 * ring.x_max
        return across and 16 * ring.y_min <= figure.y <= 16 * ring.y_max

    for ring in _of_kind(figures, RING):
        squares = [square for square in _of_kind(figures, SQUARE) if within(square, ring)]
        rectangles = [rectangle for rectangle in _of_kind(figures, RECTANGLE) if within(rectangle, ring)]
        if squares and rectangles:
            return _marker_of(squares[0], rectangles[0], ring.index)
    return None


def _side(square: Figure) -> int:
    """1/16 px."""
    return isqrt(256 * square.area)


def _are_a_pair(square: Figure, rectangle: Figure) -> bool:
    """Whether areas (1 : 2.18) and distance (0.52 m, 1.52 sides) fit each other."""
    distance_2 = (square.x - rectangle.x) ** 2 + (square.y - rectangle.y) ** 2
    if not 17 * square.area < 10 * rectangle.area < 28 * square.area:
        return False
    return 14 * 256 * square.area < 10 * distance_2 < 36 * 256 * square.area


def _is_inside(x: int, y: int, reach: int) -> bool:
    """Whether all within `reach` of a position is in the image; all in 1/16 px."""
    return reach <= x <= 16 * (WIDTH - 1) - reach and reach <= y <= 16 * (HEIGHT - 1) - reach


def _ring_around(marker: SeenMarker, rings: Sequence[Figure]) -> int:
    """Index of the ring that has the square's scale and the marker's middle; -1 if there is none."""
    diameter = 5 * marker.side
    for ring in rings:
        size = 8 * (ring.x_max - ring.x_min + 1 + ring.y_max - ring.y_min + 1)
        off_x = abs(8 * (ring.x_min + ring.x_max) - marker.x)
        off_y = abs(8 * (ring.y_min + ring.y_max) - marker.y)
        if 8 * diameter < 10 * size < 12 * diameter and 8 * max(off_x, off_y) < diameter:
            return ring.index
    return -1


def _is_near(marker: SeenMarker, prior: SeenMarker) -> bool:
    """Whether it can be the one that was there before: moved by less than two sides, of about the same size."""
    if max(abs(marker.square.x - prior.square.x), abs(marker.square.y - prior.square.y)) >= 2 * _side(prior.square):
        return False
    return 7 * prior.square.area < 10 * marker.square.area < 14 * prior.square.area


def _touchdown_marker(
    figures: Sequence[Figure], altitude_cm: int, prior: SeenMarker | None
) -> tuple[SeenMarker | None, str]:
    squares, rectangles, rings = (_of_kind(figures, kind) for kind in (SQUARE, RECTANGLE, RING))
    whole: list[SeenMarker] = []
    cut: list[SeenMarker] = []
    ringless = False
    for square in squares:
        for rectangle in rectangles:
            if not _are_a_pair(square, rectangle):
                continue
            pair = _marker_of(square, rectangle, -1)
            ring = _ring_around(pair, rings)
            if ring >= 0:
                whole.append(_marker_of(square, rectangle, ring))
            elif _is_inside(pair.x, pair.y, 45 * pair.side >> 4):
                ringless = True
            elif (prior is not None and _is_near(pair, prior)) or altitude_cm <= NEAR_CM:
                cut.append(pair)
    found = whole or cut
    if len(found) > 1:
        return None, "more than one marker"
    if found:
        return found[0], ""
    alone = None if prior is None else _square_alone(squares, prior)
    if alone is not None:
        return alone, ""
    if ringless:
        return None, "square and rectangle without a ring"
    return None, "no square with a rectangle"


def _square_alone(squares: Sequence[Figure], prior: SeenMarker) -> SeenMarker | None:
    """The square that was there before, when the rectangle beside it has left the image."""
    found = []
    for square in squares:
        side = _side(square)
        dx, dy = prior.dx * side // prior.side, prior.dy * side // prior.side
        here = SeenMarker(
            square.x - (dx >> 1), square.y - (dy >> 1), prior.heading, square, prior.dx, prior.dy, prior.side
        )
        if _is_near(here, prior) and not _is_inside(square.x - dx, square.y - dy, 18 * side >> 4):
            found.append(here)
    return found[0] if len(found) == 1 else None
