"""From pixels to tangents of directions and back, with OpenCV's lenses.

OpenCV comes from the extra `nav`, and works on one thread, so that the same images give the same bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skyloop_autonomy.vio.calibration import CameraModel
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array


class _Missing:
    def __getattr__(self, name: str) -> Any:
        raise ScenarioError("localisation with cameras needs OpenCV: pip install opencv-python-headless")


cv2: Any
try:
    import cv2 as _cv2

    cv2 = _cv2
except ImportError:
    cv2 = _Missing()
else:
    cv2.setNumThreads(1)


class PixelLens:
    def __init__(self, model: CameraModel) -> None:
        self.model = model
        self._matrix = np.array([[model.fx, 0.0, model.cx], [0.0, model.fy, model.cy], [0.0, 0.0, 1.0]])
        self._distortion = np.array(model.distortion) if model.is_distorted else None

    def tangents(self, pixels: Array) -> Array:
        """(n, 2) x/z, y/z of (n, 2) px."""
        m = self.model
        if self._distortion is None or not len(pixels):
            return (pixels - (m.cx, m.cy)) / (m.fx, m.fy)
        given = np.ascontiguousarray(pixels, np.float64)[:, None]
        if m.model == "fisheye":
            return np.asarray(cv2.fisheye.undistortPoints(given, self._matrix, self._distortion[:4])[:, 0])
        return np.asarray(cv2.undistortPoints(given, self._matrix, self._distortion)[:, 0])

    def pixels(self, tangents: Array) -> Array:
        """(n, 2) px of (n, 2) x/z, y/z."""
        m = self.model
        if self._distortion is None or not len(tangents):
            return tangents * (m.fx, m.fy) + (m.cx, m.cy)
        rays = np.concatenate([tangents, np.ones((len(tangents), 1))], axis=1)[:, None]
        none = np.zeros(3)
        if m.model == "fisheye":
            return np.asarray(cv2.fisheye.projectPoints(rays, none, none, self._matrix, self._distortion[:4])[0][:, 0])
        return np.asarray(cv2.projectPoints(rays, none, none, self._matrix, self._distortion)[0][:, 0])
