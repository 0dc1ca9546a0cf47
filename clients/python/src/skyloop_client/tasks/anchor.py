"""An anchor, a board of known colour and size, followed through images by CamShift.

Definitions, the same in every language:
- Colour: OpenCV's 8-bit HSV (hue 0 to 179 in steps of 2°). A pixel is the anchor's when its hue is within `hue_reach`
  of `hue`, its saturation at least `saturation` and its value at least `value`; it then weighs 255, else 0.
- Tracking: CamShift (each run: mean shift of at most 10 steps or until less than 1 px) is run on one image again and
  again, each time from the window of the run before, at first from the whole image. Converged: no side of the window
  moved by more than 1 px from one run to the next, within 10 runs, and `smallest_px` of the anchor's pixels are in
  it. Otherwise nothing is known and the next image is begun with the whole image.
- ROI: u, v: mean column and row of the anchor's pixels in the window, on each side wider by a fifth of its width and
  height and 2 px; h: their mean number per column over the middle of the n columns that have any, less n // 4 on
  each side: a tilted camera empties the outer ones.
- angle = atan2(cx - u, fx), rad, positive to the left; depth = fy·height/h along the optical axis, since the apparent
  height of an upright board does not depend on the side it is seen from; distance = depth·√(1 + ((u-cx)/fx)² +
  ((v-cy)/fy)²), m from the camera.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop_client.errors import SetupError, TaskError

Window = tuple[int, int, int, int]
"""First column, first row, width, height, px."""
MOST_RUNS = 10
MEAN_SHIFT_STEPS, MEAN_SHIFT_PX = 10, 1.0


def opencv() -> ModuleType:
    """Imported when needed, because most tasks use no images."""
    try:
        import cv2
    except ImportError as error:
        raise SetupError(
            f"following an anchor needs OpenCV ({error}); install it: pip install opencv-python-headless"
        ) from None
    return cv2


@dataclass(frozen=True, slots=True)
class Anchor:
    """The appearance of an anchor."""

    hue: int = 120
    """In OpenCV's range 0 to 179. 120 is blue."""
    hue_reach: int = 3
    saturation: int = 200
    """Least saturation, of 255."""
    value: int = 60
    """Least value, of 255."""
    height: float = 0.5
    """m."""
    smallest_px: int = 12
    """Fewer pixels do not count as the anchor."""


BLUE_BOARD = Anchor()
"""The anchor of the world `corridor`."""


@dataclass(frozen=True, slots=True)
class Intrinsics:
    """Of a pinhole camera, px."""

    fx: float
    fy: float
    cx: float
    cy: float

    @staticmethod
    def from_details(details: Mapping[str, Any]) -> Intrinsics:
        """From the details of a camera's StreamInfo."""
        if details.get("model", "pinhole") != "pinhole":
            raise TaskError(f"an anchor is measured through a pinhole camera, not through one of {details['model']}")
        try:
            return Intrinsics(*(float(details[name]) for name in ("fx", "fy", "cx", "cy")))
        except KeyError as missing:
            raise TaskError(f"the stream's details lack {missing}; is it a camera?") from None


@dataclass(frozen=True, slots=True)
class Roi:
    """The position of the anchor in an image."""

    u: float
    """px, mean column."""
    v: float
    """px, mean row."""
    height: float
    """px."""
    pixels: int

    def angle(self, lens: Intrinsics) -> float:
        """rad in the image's horizontal plane, positive to the left."""
        return math.atan2(lens.cx - self.u, lens.fx)

    def distance(self, lens: Intrinsics, height: float) -> float:
        """m from the camera to an anchor that is `height` m tall."""
        across, down = (self.u - lens.cx) / lens.fx, (self.v - lens.cy) / lens.fy
        return lens.fy * height / self.height * math.sqrt(1.0 + across * across + down * down)


class AnchorTracker:
    """CamShift from image to image."""

    def __init__(self, anchor: Anchor) -> None:
        self.anchor = anchor
        self._window: Window | None = None

    def find(self, colour: NDArray[np.uint8]) -> Roi | None:
        """Search an image of (height, width, 3) RGB. None if CamShift does not converge."""
        weights = self._weights(colour)
        window = self._window or (0, 0, weights.shape[1], weights.shape[0])
        self._window = None
        for _ in range(MOST_RUNS):
            before, window = window, shifted(weights, window)
            if 0 in window[2:]:
                return None
            if max(abs(a - b) for a, b in zip(_sides(before), _sides(window), strict=True)) <= 1:
                roi = self._roi(weights, window)
                self._window = window if roi is not None else None
                return roi
        return None

    def _weights(self, colour: NDArray[np.uint8]) -> NDArray[np.uint8]:
        cv2, a = opencv(), self.anchor
        hsv = cv2.cvtColor(np.ascontiguousarray(colour), cv2.COLOR_RGB2HSV)
        low, high = (a.hue - a.hue_reach, a.saturation, a.value), (a.hue + a.hue_reach, 255, 255)
        weights: NDArray[np.uint8] = cv2.inRange(hsv, low, high)
        return weights

    def _roi(self, weights: NDArray[np.uint8], window: Window) -> Roi | None:
        left, top, width, height = window
        more_x, more_y = 2 + width // 5, 2 + height // 5
        x0, y0 = max(left - more_x, 0), max(top - more_y, 0)
        part = weights[y0 : top + height + more_y, x0 : left + width + more_x] > 0
        pixels = int(part.sum())
        if pixels < self.anchor.smallest_px:
            return None
        rows, columns = np.nonzero(part)
        counts = part.sum(axis=0)
        counts = counts[counts > 0]
        edge = len(counts) // 4
        tall = float(counts[edge : len(counts) - edge].mean())
        return Roi(x0 + float(columns.mean()), y0 + float(rows.mean()), tall, pixels)


def shifted(weights: NDArray[np.uint8], window: Window) -> Window:
    """One run of CamShift. The window is empty if it finds nothing."""
    cv2 = opencv()
    criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, MEAN_SHIFT_STEPS, MEAN_SHIFT_PX)
    _, found = cv2.CamShift(weights, window, criteria)
    left, top, width, height = (int(number) for number in found)
    return left, top, width, height


def _sides(window: Window) -> tuple[int, int, int, int]:
    left, top, width, height = window
    return left, top, left + width, top + height
