"""Images with boxes in a window on the screen, as in the rows "visualization" of airloop's Table 8."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skyloop.core.image_window import ImageWindow
from skyloop_client.messages import Array, Detections

SCALE = 2
"""Screen pixels per pixel of an image."""
YELLOW = (255, 210, 40)


class DetectionWindow:
    """Opens with the first image. Closing the window ends the flight."""

    def __init__(self, title: str) -> None:
        self._title = f"skyloop: {title}"
        self._window: ImageWindow | None = None

    def show(self, image: NDArray[np.uint8], found: Detections) -> None:
        if self._window is None:
            size = image.shape[1], image.shape[0]
            self._window = ImageWindow(self._title, size, instead="Or leave out window: true", scale=SCALE)
        self._window.show(with_boxes(image, found.boxes_px))

    def seen(self) -> NDArray[np.uint8]:
        """What is on the screen, for tests: (rows, columns, 3), first row on top."""
        assert self._window is not None
        return self._window.seen()

    def close(self) -> None:
        """It may be called twice."""
        if self._window is not None:
            self._window.close()
            self._window = None


def with_boxes(image: NDArray[np.uint8], boxes_px: Array) -> NDArray[np.uint8]:
    """A copy with a line of one pixel around each box."""
    drawn = image.copy()
    height, width = image.shape[:2]
    for left, top, right, bottom in np.round(boxes_px).astype(int).tolist():
        x0, x1 = sorted((min(max(left, 0), width - 1), min(max(right - 1, 0), width - 1)))
        y0, y1 = sorted((min(max(top, 0), height - 1), min(max(bottom - 1, 0), height - 1)))
        drawn[[y0, y1], x0 : x1 + 1] = YELLOW
        drawn[y0 : y1 + 1, [x0, x1]] = YELLOW
    return drawn
