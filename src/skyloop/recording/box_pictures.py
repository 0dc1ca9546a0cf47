"""Boxes of detectors drawn into the images they were found in."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop_client.messages import CameraImage, Detections, Message

KEPT = 30
"""Images of a camera: a detector on a slow computer answers seconds later."""
SCALE = 2
"""Pixels of a picture per pixel of a small image, so that words fit beside boxes."""
SMALL_PX = 640
"""Columns: smaller images are enlarged."""
COLOURS = ("#ffd43b", "#4dabf7", "#ff8787", "#69db7c", "#da77f2", "#ffa94d", "#38d9a9", "#f783ac")
"""By number of the track; the first is also that of boxes without one."""
PREDICTED = "#ced4da"
"""Of a box without a score: a tracker expects somebody there, and no detector has found them."""
NEW = "#ffffff"
"""Of a box that a tracker does not believe in yet."""
LETTERS_PX = 13


class ImagesSeen:
    """The newest images of each camera, and boxes whose image is still to come."""

    def __init__(self) -> None:
        self._kept: dict[str, deque[CameraImage]] = {}
        self._waiting: dict[str, dict[str, Message]] = {}
        """By camera, and by stream of boxes."""

    def add(self, stream: str, image: CameraImage) -> None:
        self._kept.setdefault(stream, deque(maxlen=KEPT)).append(image)

    def waiting(self, camera: str) -> list[Message]:
        """Boxes that came before their image; they are given once."""
        return list(self._waiting.pop(camera, {}).values())

    def picture(self, message: Message) -> NDArray[np.uint8] | None:
        """The image of the boxes' camera with the boxes; None if it is not known yet, or not any more."""
        found: Detections = message.data
        camera = f"{message.stream.partition('/')[0]}/{found.source}"
        for image in reversed(self._kept.get(camera, ())):
            if image.t_ns == found.t_ns:
                return boxes_picture(image.colour, found)
        self._waiting.setdefault(camera, {})[message.stream] = message
        return None


def boxes_picture(colour: NDArray[np.uint8], found: Detections) -> NDArray[np.uint8]:
    from PIL import Image, ImageDraw

    picture = Image.fromarray(colour).convert("RGB")
    scale = SCALE if picture.width < SMALL_PX else 1
    picture = picture.resize((scale * picture.width, scale * picture.height))
    pen = ImageDraw.Draw(picture)
    for k, (left, top, right, bottom) in enumerate((scale * found.boxes_px).tolist()):
        number = None if found.tracks is None else int(found.tracks[k])
        score = float(found.scores[k])
        line = _colour(score, number)
        pen.rectangle((left, top, max(right, left + 1.0), max(bottom, top + 1.0)), outline=line, width=scale)
        _write(pen, (left, top), _words(found.classes[k], score, number), line)
    return np.asarray(picture)


def _colour(score: float, number: int | None) -> str:
    if score <= 0.0:
        return PREDICTED
    return NEW if number is not None and number < 0 else COLOURS[(number or 0) % len(COLOURS)]


def _words(name: str, score: float, number: int | None) -> str:
    if number is None:
        return f"{name} {score:.2f}"
    return name if number < 0 else f"{number}"


def _write(pen: Any, corner: tuple[float, float], text: str, colour: str) -> None:
    """Above the box, on black; below its upper edge where there is no room."""
    x, y = corner
    place = (x, y - LETTERS_PX - 2 if y >= LETTERS_PX + 2 else y + 2)
    pen.rectangle(pen.textbbox(place, text, font_size=LETTERS_PX), fill="black")
    pen.text(place, text, fill=colour, font_size=LETTERS_PX)
