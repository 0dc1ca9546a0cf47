"""The monitor of a landing: what the camera sees, with the figures, the marker and the command drawn on it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from skyloop_client.messages import Detections, LandingStatus

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

SHRUNK = 2
"""Pixels of the camera along an axis for one of the monitor."""
COLOURS = {"ring": "#4dabf7", "square": "#69db7c", "rectangle": "#ff8787"}
MARKER, COMMAND, TROUBLE, LINES, WORDS = "#ffd43b", "#ff922b", "#ff6b6b", "#868e96", "#ffffff"
PX_PER_M_S = 60.0
"""Length of the command's arrow."""
LETTERS_PX, BIG_PX = 12, 15
MARGIN_PX = 6
NAMES_PX = 64
"""From the right edge, where the names of the figures begin."""
BAR_PX = 100
"""Length of the bar of the vertical speed for 2 m/s."""
TURN_PX = 34
"""Radius of the arc of the yaw rate."""


def monitor_picture(
    image: NDArray[np.uint8], status: LandingStatus | None, figures: Detections | None
) -> NDArray[np.uint8]:
    """(height / 2, width / 2, 3). image: of the camera, in colour or grey; status and figures: found in it."""
    from PIL import Image, ImageDraw

    picture = Image.fromarray(image).convert("RGB").reduce(SHRUNK)
    pen = ImageDraw.Draw(picture)
    middle = picture.width / 2.0, picture.height / 2.0
    pen.line((0, middle[1], picture.width, middle[1]), fill=LINES)
    pen.line((middle[0], 0, middle[0], picture.height), fill=LINES)
    if figures is not None:
        _draw_figures(pen, picture.width, figures)
    if status is not None:
        _draw_command(pen, middle, status)
        _draw_words(pen, (picture.width, picture.height), status)
    return np.asarray(picture)


def _draw_figures(pen: ImageDraw, width: int, figures: Detections) -> None:
    """All that looks like a figure, thin; those of the marker thick, with an arrow to where it points. Their names are
    in a corner, where they hide nothing."""
    chosen: dict[str, tuple[float, float]] = {}
    for box, name, score in zip(figures.boxes_px / SHRUNK, figures.classes, figures.scores, strict=True):
        left, top, right, bottom = box.tolist()
        colour, is_chosen = COLOURS.get(name, WORDS), bool(score > 0.5)
        pen.rectangle((left, top, max(right, left + 1.0), max(bottom, top + 1.0)), outline=colour, width=1 + is_chosen)
        if is_chosen:
            chosen[name] = (left + right) / 2.0, (top + bottom) / 2.0
    if "square" in chosen and "rectangle" in chosen:
        (x0, y0), (x1, y1) = chosen["rectangle"], chosen["square"]
        _arrow(pen, (x0, y0), (x1, y1), MARKER)
        x, y = (x0 + x1) / 2.0, (y0 + y1) / 2.0
        pen.ellipse((x - 3.0, y - 3.0, x + 3.0, y + 3.0), outline=MARKER, width=2)
    for line, name in enumerate(sorted(chosen)):
        _write(pen, (width - NAMES_PX, MARGIN_PX + line * (LETTERS_PX + MARGIN_PX)), name, COLOURS.get(name, WORDS))


def _draw_command(pen: ImageDraw, middle: tuple[float, float], status: LandingStatus) -> None:
    """Forward is up in the image, right is right; a bar for the vertical speed, an arc for the yaw rate."""
    (x, y), (vx, vy, vz) = middle, status.velocity.tolist()
    _arrow(pen, (x, y), (x + PX_PER_M_S * vy, y - PX_PER_M_S * vx), COMMAND)
    bar = 2.0 * x - 3.0 * MARGIN_PX
    pen.line((bar, y - 0.5 * BAR_PX, bar, y + 0.5 * BAR_PX), fill=LINES)
    long = max(-0.5, min(0.25 * vz, 0.5)) * BAR_PX
    pen.rectangle((bar - 4.0, min(y, y + long), bar + 4.0, max(y, y + long)), fill=COMMAND)
    turn = math.degrees(status.yaw_rate)
    if abs(turn) >= 1.0:
        start, end = sorted((-90.0, -90.0 + max(-180.0, min(turn, 180.0))))
        pen.arc((x - TURN_PX, y - TURN_PX, x + TURN_PX, y + TURN_PX), start, end, fill=COMMAND, width=3)


def _draw_words(pen: ImageDraw, size: tuple[int, int], status: LandingStatus) -> None:
    vx, vy, vz = status.velocity.tolist()
    ahead, right = status.offset.tolist()
    seen = f"marker {_signed(ahead)} m ahead, {_signed(right)} m right, {_degrees(status.heading)}"
    told = f"command {_signed(vx)} ahead, {_signed(vy)} right, {_signed(vz)} down [m/s], {_degrees(status.yaw_rate)}/s"
    head = f"{status.t_ns * 1e-9:.2f} s   {status.stage}   altitude {status.altitude:.2f} m"
    _write(pen, (MARGIN_PX, MARGIN_PX), head, WORDS, BIG_PX)
    unseen = WORDS if status.stage == "land" else TROUBLE
    line = (seen, MARKER) if status.found else (status.reason, unseen)
    _write(pen, (MARGIN_PX, size[1] - 2.0 * (LETTERS_PX + MARGIN_PX)), *line)
    _write(pen, (MARGIN_PX, size[1] - LETTERS_PX - MARGIN_PX), told, COMMAND)


def _signed(value: float, digits: int = 2) -> str:
    """Without a minus before zero."""
    return f"{round(value, digits) + 0.0:+.{digits}f}"


def _degrees(angle: float) -> str:
    return f"{_signed(math.degrees(angle), 0)}°"


def _arrow(pen: ImageDraw, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    pen.line((*start, *end), fill=colour, width=3)
    length = math.dist(start, end)
    if length < 4.0:
        return
    tip = min(8.0, 0.5 * length)
    along = (end[0] - start[0]) / length * tip, (end[1] - start[1]) / length * tip
    back = end[0] - along[0], end[1] - along[1]
    side = -0.6 * along[1], 0.6 * along[0]
    pen.polygon([end, (back[0] + side[0], back[1] + side[1]), (back[0] - side[0], back[1] - side[1])], fill=colour)


def _write(pen: ImageDraw, at: tuple[float, float], text: str, colour: str, size: int = LETTERS_PX) -> None:
    """On black."""
    left, top, right, bottom = pen.textbbox(at, text, font_size=size)
    pen.rectangle((left - 2, top - 2, right + 2, bottom + 2), fill="black")
    pen.text(at, text, fill=colour, font_size=size)
