"""Which of the two cameras leads: corners are found and followed in its images, and the other one tells their depth.

The left camera leads until it falls silent. Then the right one takes over, with or without the left one beside it. An
image that does not fit its calibration counts as missing.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from skyloop_autonomy.vio.calibration import CameraModel, StereoCalibration

log = logging.getLogger(__name__)

Image: TypeAlias = NDArray[np.generic]
"""As it comes: of any shape and type."""
SILENT_PAIRS = 4
"""Pairs in a row without an image of the leading camera after which the other one leads. Images are lost one at a time
now and then, and a change costs the window of past poses."""


@dataclass(frozen=True, slots=True, eq=False)
class FrontendImages:
    """The images of one instant, by the part that their cameras play."""

    leading: NDArray[np.uint8] | None
    second: NDArray[np.uint8] | None
    depth: Image | None


class StereoFrontend:
    """Sorts the images of each pair, and counts those in which the leading camera is missing."""

    def __init__(self, calibration: StereoCalibration) -> None:
        self.calibration = calibration
        """With the leading camera as its left one."""
        self.swapped = False
        """Whether the right camera leads."""
        self._silent = 0
        self._warned: set[str] = set()

    def sorted(self, left: object, right: object, depth: object) -> FrontendImages:
        """Images that do not fit are left out."""
        lens, other = self.calibration.left, self.calibration.right
        leading, second = (right, left) if self.swapped else (left, right)
        names = ("right", "left") if self.swapped else ("left", "right")
        return FrontendImages(
            self._fitting(names[0], leading, lens),
            None if other is None else self._fitting(names[1], second, other),
            self._fitting_depth(depth, lens),
        )

    def must_change(self, seen: FrontendImages) -> bool:
        """Takes note of a pair; True if the leading camera has been silent for so long that the other one must lead."""
        if seen.leading is not None:
            self._silent = 0
        elif seen.second is not None:
            self._silent += 1
        return self._silent >= SILENT_PAIRS

    def change(self) -> None:
        """From the next pair on the other camera leads."""
        self.calibration = self.calibration.swapped()
        self.swapped = not self.swapped
        self._silent = 0

    def _fitting(self, name: str, image: object, lens: CameraModel) -> NDArray[np.uint8] | None:
        if image is None:
            return None
        shape = (lens.height, lens.width)
        if isinstance(image, np.ndarray) and image.shape == shape and image.dtype == np.uint8:
            return np.ascontiguousarray(image)
        self._report(name, image, f"{lens.width}×{lens.height} px of type uint8")
        return None

    def _fitting_depth(self, depth: object, lens: CameraModel) -> Image | None:
        if depth is None:
            return None
        if isinstance(depth, np.ndarray) and depth.shape == (lens.height, lens.width) and depth.dtype.kind in "fiu":
            return depth
        self._report("depth", depth, f"{lens.width}×{lens.height} px of numbers")
        return None

    def _report(self, name: str, image: object, wanted: str) -> None:
        """Once per camera: a stream of wrong images must not fill the log."""
        if name in self._warned:
            return
        self._warned.add(name)
        what = f"{image.shape} of type {image.dtype}" if isinstance(image, np.ndarray) else repr(type(image).__name__)
        log.warning("odometry leaves out the %s image: it is %s, and its calibration says %s", name, what, wanted)
