"""The animation of a growing map: a small GIF with the track so far, the planned way, goals and a scale."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skyloop.recording.flight_plot import COLOURS, INK
from skyloop.recording.run_folder import writing_into
from skyloop_autonomy.reports.map_growth import MapFrame, VehicleGrowth
from skyloop_client.messages import Array

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

WIDTH, HEIGHT = 640, 520
"""px, most of the map; below and above it are words."""
HEAD, FOOT = 24, 24
"""px of the lines above and below the map."""
FINER = 2
"""Everything is drawn this much larger and then reduced, so that slanted lines are smooth."""
MARGIN = 0.7
"""m around what is drawn."""
FRAME_MS, LAST_MS = 150, 2500
MOST_BYTES = 2_000_000
MAP_COLOURS = ((219, 219, 219), (250, 250, 250), (89, 89, 89))
"""Of unknown, free and occupied cells."""
TRACK, WAY = COLOURS[0], COLOURS[4]
END_COLOURS = {"reached": COLOURS[2], "refused": COLOURS[1], "given up": COLOURS[3]}
SCALES = (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""m, lengths of the scale's bar."""


def draw_growth(path: Path, title: str, growth: VehicleGrowth) -> None:
    """Write the animation; with half of its frames if it would be too large."""
    frames = growth.frames
    sheet = Sheet(frames, growth)
    pictures = [sheet.picture(frame, title) for frame in frames]
    while True:
        times = [FRAME_MS] * (len(pictures) - 1) + [LAST_MS]
        with writing_into(path.parent):
            pictures[0].save(
                path, "GIF", save_all=True, append_images=pictures[1:], duration=times, loop=0, optimize=False
            )
        if path.stat().st_size <= MOST_BYTES or len(pictures) < 3:
            return
        # counted from the end, so that the last map stays
        pictures = pictures[::-2][::-1]


class Sheet:
    """The paper that all frames are drawn on: one extent, one scale, one set of colours."""

    def __init__(self, frames: Sequence[MapFrame], growth: VehicleGrowth) -> None:
        from PIL import Image, ImageFont

        self._growth, self._track = growth, growth.track.rows
        goals = [goal for _, goal in growth.ends] + [frame.goal for frame in frames if frame.goal is not None]
        positions = [*(frame.corner for frame in frames), *(frame.upper for frame in frames), *goals]
        positions += [*self._track[[0, -1], 1:], self._track[:, 1:].min(axis=0), self._track[:, 1:].max(axis=0)]
        low, high = np.min(positions, axis=0) - MARGIN, np.max(positions, axis=0) + MARGIN
        self._scale = float(min(WIDTH / (high[0] - low[0]), HEIGHT / (high[1] - low[1])))
        """px per m."""
        middle, size = 0.5 * (low + high), np.array([WIDTH, HEIGHT]) / self._scale
        # a narrow map gets a picture that is as wide as any other, for the words
        size[1] = high[1] - low[1]
        self._low, self._size = middle - 0.5 * size, size
        self.shape = WIDTH, round(size[1] * self._scale) + HEAD + FOOT
        self._font = ImageFont.load_default(13 * FINER)
        self._colours = Image.new("P", (1, 1))
        self._colours.putpalette(_palette().ravel().tolist())

    def picture(self, frame: MapFrame, title: str) -> Image:
        """One frame, as an image with a palette."""
        from PIL import Image, ImageDraw

        image = Image.new("RGB", (FINER * self.shape[0], FINER * self.shape[1]), MAP_COLOURS[0])
        lower, upper = self._px(frame.corner), self._px(frame.upper)
        cells = Image.fromarray(np.array(MAP_COLOURS, np.uint8)[frame.cells[::-1]])
        left, top = round(lower[0]), round(upper[1])
        size = max(1, round(upper[0]) - left), max(1, round(lower[1]) - top)
        image.paste(cells.resize(size, Image.Resampling.NEAREST), (left, top))
        draw = ImageDraw.Draw(image)
        self._line(draw, frame.way, WAY, 2)
        so_far = self._track[self._track[:, 0] <= frame.t, 1:]
        self._line(draw, so_far, TRACK, 2)
        self._marks(draw, frame, so_far)
        self._words(draw, frame, title)
        return image.reduce(FINER).quantize(palette=self._colours, dither=Image.Dither.NONE)

    def _px(self, position: Array) -> tuple[float, float]:
        x, y = (np.asarray(position, float) - self._low) * self._scale
        return FINER * float(x), FINER * float(self.shape[1] - FOOT - y)

    def _line(self, draw: ImageDraw, positions: Array, colour: str, width: float) -> None:
        if len(positions) > 1:
            draw.line([self._px(position) for position in positions], colour, round(FINER * width), joint="curve")

    def _marks(self, draw: ImageDraw, frame: MapFrame, so_far: Array) -> None:
        """Goals that have ended with their numbers, the present one, start and vehicle."""
        if frame.goal is not None:
            self._ring(draw, frame.goal, 7, outline=INK, width=2 * FINER)
            self._ring(draw, frame.goal, 2, fill=INK)
        if len(so_far):
            self._ring(draw, so_far[0], 3, fill="white", outline=TRACK, width=FINER)
            self._ring(draw, so_far[-1], 5, fill=TRACK, outline="white", width=FINER)
        for number, (state, goal) in enumerate(self._growth.ends[: frame.ended], start=1):
            self._cross(draw, goal, END_COLOURS[state])
            x, y = self._px(goal)
            self._text(draw, (x + FINER * 9, y), f"{number}", END_COLOURS[state], "lm")

    def _ring(self, draw: ImageDraw, position: Array, radius: float, **looks: Any) -> None:
        x, y = self._px(position)
        reach = FINER * radius
        draw.ellipse((x - reach, y - reach, x + reach, y + reach), **looks)

    def _cross(self, draw: ImageDraw, position: Array, colour: str) -> None:
        x, y = self._px(position)
        reach = 5 * FINER
        for way in (1, -1):
            draw.line((x - reach, y - way * reach, x + reach, y + way * reach), colour, 3 * FINER)

    def _text(self, draw: ImageDraw, at: tuple[float, float], text: str, colour: str, anchor: str) -> float:
        """The x at which the text ends."""
        draw.text(at, text, colour, font=self._font, anchor=anchor)
        return at[0] + float(draw.textlength(text, font=self._font))

    def _words(self, draw: ImageDraw, frame: MapFrame, title: str) -> None:
        """Title and time above; below what is what, and a scale in the map's corner."""
        width, height = (FINER * n for n in self.shape)
        draw.rectangle((0, 0, width, FINER * HEAD - 1), "white")
        draw.rectangle((0, height - FINER * FOOT, width, height), "white")
        line = FINER * HEAD / 2
        self._text(draw, (FINER * 8, line), title, INK, "lm")
        self._text(draw, (width - FINER * 8, line), f"{frame.t:.1f} s, {frame.known:.0f} sq m known", INK, "rm")
        line, x = height - FINER * FOOT / 2, FINER * 8.0
        for shade, text in zip(MAP_COLOURS, ("unknown", "free", "occupied"), strict=True):
            box = (x, line - FINER * 5, x + FINER * 12, line + FINER * 5)
            draw.rectangle(box, shade, outline=INK, width=1)
            x = self._text(draw, (x + FINER * 16, line), text, INK, "lm") + FINER * 10
        for colour, text in ((TRACK, "true track"), (WAY, "planned way")):
            draw.line((x, line, x + FINER * 18, line), colour, 3 * FINER)
            x = self._text(draw, (x + FINER * 22, line), text, INK, "lm") + FINER * 10
        draw.ellipse((x, line - FINER * 6, x + FINER * 12, line + FINER * 6), outline=INK, width=2 * FINER)
        x = self._text(draw, (x + FINER * 16, line), "goal", INK, "lm") + FINER * 10
        ended = {state for state, _ in self._growth.ends}
        for state, colour in ((state, END_COLOURS[state]) for state in END_COLOURS if state in ended):
            draw.line((x, line - FINER * 4, x + FINER * 8, line + FINER * 4), colour, 2 * FINER)
            draw.line((x, line + FINER * 4, x + FINER * 8, line - FINER * 4), colour, 2 * FINER)
            x = self._text(draw, (x + FINER * 12, line), state, INK, "lm") + FINER * 8
        self._bar(draw)

    def _bar(self, draw: ImageDraw) -> None:
        """A length in m, about a sixth of the picture."""
        length = max((m for m in SCALES if m * self._scale <= WIDTH / 6), default=SCALES[0])
        x, y = FINER * 12.0, FINER * (self.shape[1] - FOOT - 10.0)
        end = x + FINER * length * self._scale
        for (x0, y0), (x1, y1) in pairwise([(x, y - FINER * 5), (x, y), (end, y), (end, y - FINER * 5)]):
            draw.line((x0, y0, x1, y1), INK, 2 * FINER)
        self._text(draw, (0.5 * (x + end), y - FINER * 4), f"{length:g} m", INK, "ms")


def _palette() -> NDArray[np.uint8]:
    """(n, 3): the colours that are drawn, and what lies between each of them and what it is drawn on."""
    inks = [_rgb(colour) for colour in (INK, TRACK, WAY, *END_COLOURS.values())]
    papers = [*MAP_COLOURS, (255, 255, 255)]
    mixed = [
        np.round(np.array(ink) * share + np.array(paper) * (1.0 - share))
        for ink in inks
        for paper in papers
        for share in (0.25, 0.5, 0.75)
    ]
    return np.array([*papers, *inks, *mixed], np.uint8)


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
