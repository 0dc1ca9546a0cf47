"""PNG files of our own making, read by two libraries."""

from __future__ import annotations

import io
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from skyloop.recording.formats.png_image import depth_numbers, encode_png

GREY = [(1, 1), (7, 1), (1, 9), (33, 50)]
COLOUR = [(1, 1, 3), (4, 1, 3), (31, 17, 3)]


@pytest.mark.parametrize(
    ("shape", "dtype"), [(shape, np.uint8) for shape in GREY + COLOUR] + [(shape, np.uint16) for shape in GREY]
)
def test_pixels_come_back(shape: tuple[int, ...], dtype: type) -> None:
    pixels = np.random.default_rng(1).integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
    data = encode_png(pixels)
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(data))), pixels)
    read: Any = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    np.testing.assert_array_equal(read[..., ::-1] if len(shape) == 3 else read, pixels)
    assert data == encode_png(np.asfortranarray(pixels))


def test_depths_that_do_not_fit_are_none() -> None:
    depth = np.array([0.0, 0.0004, 0.0006, 1.2344, 65.535, 65.5356, np.inf, np.nan], np.float32)
    assert depth_numbers(depth, 1000.0).tolist() == [0, 0, 1, 1234, 65535, 0, 0, 0]
