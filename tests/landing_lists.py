"""Object lists of a landing marker as the logic would write them, made from the marker's numbers without an image."""

from __future__ import annotations

import math
import random

import numpy as np

from skyloop_landing.vision.object_list import HEIGHT, WIDTH, ObjectList

RING, INNER = 1.7135 / 2.0, 0.70
SQUARE = 0.343
RECTANGLE = (0.40, 0.64)
"""m along the heading and across it."""
OFFSET = 0.26
FOCAL = 640.0


def box_object(x: float, y: float, width: float, height: float, area: float) -> list[int]:
    """A row of `ObjectList.objects` for something with its centroid in the middle of its box."""
    x_min, x_max = max(round(x - width / 2.0), 0), min(round(x + width / 2.0), WIDTH - 1)
    y_min, y_max = max(round(y - height / 2.0), 0), min(round(y + height / 2.0), HEIGHT - 1)
    pixels = max(round(area), 1)
    middle = (min(max(x, 0.0), WIDTH - 1.0), min(max(y, 0.0), HEIGHT - 1.0))
    return [pixels, round(middle[0] * pixels), round(middle[1] * pixels), x_min, x_max, y_min, y_max]


def turned_box(along: float, across: float, angle: float) -> tuple[float, float]:
    c, s = abs(math.cos(angle)), abs(math.sin(angle))
    return across * c + along * s, across * s + along * c


def marker_objects(
    x: float, y: float, angle: float, altitude: float, jitter: random.Random | None = None
) -> list[list[int]]:
    """x, y: px of the middle. angle: rad, clockwise in the image, 0 up. `jitter` spoils the areas by up to a fifth."""
    px = FOCAL / altitude

    def spoilt() -> float:
        return 1.0 if jitter is None else jitter.uniform(0.85, 1.18)

    ahead = (math.sin(angle), -math.cos(angle))
    objects = [box_object(x, y, 2 * RING * px, 2 * RING * px, math.pi * (RING**2 - INNER**2) * px * px * spoilt())]
    for sign, (along, across) in ((1.0, (SQUARE, SQUARE)), (-1.0, RECTANGLE)):
        width, height = turned_box(along, across, angle)
        place = x + sign * OFFSET * px * ahead[0], y + sign * OFFSET * px * ahead[1]
        objects.append(box_object(*place, width * px, height * px, along * across * px * px * spoilt()))
    inside = [o for o in objects if o[3] <= o[4] and o[5] <= o[6] and 0 <= o[1] // o[0] < WIDTH]
    return sorted(inside, key=lambda o: (o[6], o[3]))


def clutter(chance: random.Random, count: int) -> list[list[int]]:
    out = []
    for _ in range(count):
        width, height = chance.uniform(4, 400), chance.uniform(4, 400)
        share = chance.uniform(0.15, 1.0)
        out.append(
            box_object(chance.uniform(0, WIDTH), chance.uniform(0, HEIGHT), width, height, share * width * height)
        )
    return out


def listed(objects: list[list[int]], frame: int = 1) -> ObjectList:
    return ObjectList(frame, np.array(objects, np.int64).reshape(-1, 7)[:256])
