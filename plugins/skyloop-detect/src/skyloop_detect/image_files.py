"""Reads images from files."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from skyloop_client.errors import DatasetError


def read_image(path: os.PathLike[str]) -> NDArray[np.uint8]:
    """(height, width, 3) red, green, blue."""
    try:
        with Image.open(path) as image:
            return np.asarray(image.convert("RGB"))
    except FileNotFoundError:
        raise DatasetError(f"'{path}' does not exist") from None
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError, ValueError, SyntaxError) as error:
        raise DatasetError(f"'{path}' is no image that can be read ({error})") from None
