"""OpenCV on one thread, so that the same images give the same bytes."""

from __future__ import annotations

from typing import Any

from skyloop_client.errors import ScenarioError


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
